"""AdaBoost.MR: the paper's weights v, the rank loss and its bound, and AdaBoost.M2."""

from math import exp, log, sqrt

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, AdaBoostMRClassifier, VoterPool
from boostlab.data.table import Table


def rank_loss(F, codes):
    """The mean share of a row's wrong labels that have at least the right one's score, row by row."""
    K, wrong = F.shape[1], 0
    for f, c in zip(F, codes, strict=True):
        wrong += sum(f[k] >= f[c] for k in range(K) if k != c)
    return wrong / (len(codes) * (K - 1))


def test_two_rounds_by_hand():
    # AdaBoost.M2's example in votes -1 and +1.  x = 1 2 3 of classes 0 1 2, six pairs of a right and a wrong label of
    # weight 1/6.  Cut 1.5 says (0) below and (1, 2) above: four pairs are right, two undecided, r = 4/6.  alpha =
    # (1/2) ln 5; right pairs are multiplied by 1/sqrt(5), undecided ones not: s = 1 / (4 + 2 sqrt 5) and sqrt(5) s.
    # Cut 2.5 then says (0, 1) and (2); undecided are (1; 1) and (2; 0), so r = 1 - 2 s.
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])
    model = AdaBoostMRClassifier(n_estimators=2).fit(X, y)
    s = 1 / (4 + 2 * sqrt(5))
    one, two = model.estimators_
    assert (one.threshold, one.left.tolist(), one.right.tolist()) == (1.5, [1, -1, -1], [-1, 1, 1])
    assert (two.threshold, two.left.tolist(), two.right.tolist()) == (2.5, [1, 1, -1], [-1, -1, 1])
    np.testing.assert_allclose(model.history_["edge"], [2 / 3, 1 - 2 * s], rtol=0, atol=1e-15)
    a, b = 0.5 * log(5), 0.5 * log((2 - 2 * s) / (2 * s))
    np.testing.assert_allclose(model.estimator_weights_, [a, b], rtol=1e-14)
    Z = [(4 * exp(-a) + 2) / 6, 2 * s + (1 - 2 * s) * exp(-b)]
    np.testing.assert_allclose(model.history_["Z"], Z, rtol=1e-14)
    expected = [[a + b, b - a, -a - b], [b - a, a + b, a - b], [-a - b, a - b, a + b]]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_every_round_by_the_papers_weights(data, K):
    # Plain loops over v(i, l), as the paper has them: D(i, l0, l1) = v(i, l0) v(i, l1).
    X, codes = data(seed=1, n=50, d=3, noise=0.1, n_classes=K)
    model = AdaBoostMRClassifier(n_estimators=20).fit(X, codes)
    Y = np.where(np.arange(K) == codes[:, None], 1, -1)
    v = np.full((50, K), 1 / sqrt(50 * (K - 1)))
    F, product = np.zeros((50, K)), 1.0
    for t, (stump, alpha) in enumerate(zip(model.estimators_, model.estimator_weights_, strict=True)):
        h = stump.predict(X)
        r = 0.0
        for i, c in enumerate(codes):
            r += 0.5 * sum(v[i, k] * v[i, c] * (h[i, c] - h[i, k]) for k in range(K) if k != c)
        assert model.history_["edge"][t] == pytest.approx(r, abs=1e-12)
        assert alpha == pytest.approx(0.5 * log((1 + r) / (1 - r)), rel=1e-10)
        Z = 0.0
        for i, c in enumerate(codes):
            wrong = sum(v[i, k] * exp(alpha / 2 * h[i, k]) for k in range(K) if k != c)
            Z += wrong * v[i, c] * exp(-alpha / 2 * h[i, c])
        assert model.history_["Z"][t] == pytest.approx(Z, rel=1e-11)
        assert sqrt(1 - r * r) * (1 + 1e-12) >= Z
        v = v * np.exp(-alpha / 2 * Y * h) / sqrt(Z)
        F += alpha * h
        product *= Z
        assert model.history_["objective"][t] == pytest.approx(product, rel=1e-10)
        assert rank_loss(F, codes) <= product * (1 + 1e-12)
        assert np.mean(F.argmax(axis=1) != codes) <= (K - 1) * product * (1 + 1e-12)
    np.testing.assert_allclose(model._ensemble.scores(Table(X)), F, rtol=0, atol=1e-11)


@pytest.mark.parametrize("learner", [{}, {"max_leaf_nodes": 5}], ids=["stumps", "trees"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_m2_with_other_votes(data, learner, weighted):
    X, codes = data(seed=2, n=100, d=3, noise=0.15, n_classes=4)
    mass = np.random.default_rng(2).uniform(0.3, 2, 100) if weighted else None
    mr = AdaBoostMRClassifier(n_estimators=30, **learner).fit(X, codes, mass)
    m2 = AdaBoostM2Classifier(n_estimators=30, **learner).fit(X, codes, mass)
    for h, p in zip(mr.estimators_, m2.estimators_, strict=True):
        assert np.array_equal((1 + h.predict(X)) / 2, p.predict(X))
    np.testing.assert_allclose(2 * mr.estimator_weights_, m2.estimator_weights_, rtol=1e-10)
    for name in ("error", "edge", "Z", "objective"):
        np.testing.assert_allclose(mr.history_[name], m2.history_[name], rtol=1e-9)
    shift = m2.decision_function(X) - mr.decision_function(X)
    np.testing.assert_allclose(shift, m2.estimator_weights_.sum() / 2, rtol=1e-11)  # the same for all labels
    np.testing.assert_allclose(mr.predict_proba(X), m2.predict_proba(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(mr.margins(X, codes), m2.margins(X, codes), rtol=0, atol=1e-10)
    assert (mr.predict(X) == m2.predict(X)).all()


def test_two_classes_are_adaboost_over_stumps_with_free_leaves(data, all_stumps):
    X, codes = data(seed=3, n=70, d=2, noise=0.1)
    mass = np.random.default_rng(3).uniform(0.5, 1.5, 70)  # no ties
    pool = VoterPool([*all_stumps(X).callables(), lambda X: np.ones(len(X))])
    ada = AdaBoostClassifier(pool, n_estimators=30).fit(X, codes, mass)
    mr = AdaBoostMRClassifier(n_estimators=30).fit(X, codes, mass)
    np.testing.assert_allclose(mr.estimator_weights_, ada.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(mr.decision_function(X), 2 * ada.decision_function(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(mr.predict_proba(X), ada.predict_proba(X), rtol=0, atol=1e-10)


def test_a_perfect_voter_and_many_rounds(data):
    model = AdaBoostMRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    assert model.n_estimators_ == 1
    assert model.stop_reason_.startswith("perfect")
    assert model.estimator_weights_[0] == pytest.approx(0.5 * log(7), rel=1e-12)
    X, codes = data(seed=6, n=60, noise=0.0, n_classes=3)
    model = AdaBoostMRClassifier(n_estimators=2000).fit(X, codes)
    assert all(np.isfinite(c).all() for c in model.history_.values())
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X) == codes).all()
