"""AdaBoost.M2: mislabel weights, the pseudo-loss and its bound."""

from math import log, sqrt

import numpy as np
import pytest
from sklearn.datasets import load_iris

from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, VoterPool


def mislabels(codes, K):
    """D_1 = 1 / (n (K - 1)) on the wrong labels, 0 on the right ones."""
    D = np.full((len(codes), K), 1 / (len(codes) * (K - 1)))
    D[np.arange(len(codes)), codes] = 0.0
    return D


def pseudo_loss(D, p, codes):
    """(1/2) sum D(i, y) (1 - p(x_i, c_i) + p(x_i, y))."""
    right = p[np.arange(len(codes)), codes][:, None]
    return 0.5 * (D * (1 - right + p)).sum()


def best_pseudo_loss(D, codes, X):
    """The smallest pseudo-loss of any stump whose leaves say 0 or 1 for every class: all cuts, all leaves."""
    K = D.shape[1]
    cost = np.where(np.arange(K) == codes[:, None], -D.sum(axis=1, keepdims=True), D) / 2
    best = np.inf
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for cut in (values[:-1] + values[1:]) / 2:
            above = X[:, j] > cut
            parts = [np.minimum(cost[side].sum(axis=0), 0).sum() for side in (above, ~above)]
            best = min(best, 0.5 + sum(parts))
    return best


def test_two_rounds_by_hand():
    # x = 1 2 3 of classes 0 1 2; D = 1/6 on each of the six wrong labels.
    # Round 1.  Cut 1.5: the left leaf says 0; on the right a 1 saves 2/6 for x = 2 and costs 1/6 for x = 3, so the leaf
    #   says 1 and 2.  The pairs (2; 2) and (3; 1) are undecided: pseudo-loss (1/2)(1/6 + 1/6) = 1/6.  Cut 2.5 mirrors
    #   it and comes second.  alpha = ln 5, beta = 1/5.
    #   Decided pairs: D *= beta.  Undecided ones: D *= sqrt(beta).  With s and b the two values, b = sqrt(5) s and
    #   4 s + 2 b = 1: s = 1 / (4 + 2 sqrt 5) = (sqrt 5 - 2) / 2.
    # Round 2.  Cut 1.5 again: pseudo-loss b.  Cut 2.5: left {1, 2} says 0 (-2s + s < 0) and 1 (s - s - b < 0), not 2;
    #   right says 2.  Undecided are (1; 1) and (2; 0): pseudo-loss s, which is smaller.
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])
    model = AdaBoostM2Classifier(n_estimators=2).fit(X, y)
    s = (sqrt(5) - 2) / 2
    one, two = model.estimators_
    assert (one.threshold, one.left.tolist(), one.right.tolist()) == (1.5, [1, 0, 0], [0, 1, 1])
    assert (two.threshold, two.left.tolist(), two.right.tolist()) == (2.5, [1, 1, 0], [0, 0, 1])
    np.testing.assert_allclose(model.history_["error"], [1 / 6, s], rtol=0, atol=1e-15)
    a, b = log(5), log((1 - s) / s)
    np.testing.assert_allclose(model.estimator_weights_, [a, b], rtol=1e-14)
    np.testing.assert_allclose(
        model.decision_function(X), [[a + b, b, 0], [b, a + b, a], [0, a, a + b]], rtol=0, atol=1e-14
    )
    assert model.predict(X).tolist() == [0, 1, 2]


@pytest.mark.parametrize("K", [2, 3, 5])
def test_every_round(data, K):
    X, codes = data(seed=1, n=60, d=3, noise=0.1, n_classes=K)
    model = AdaBoostM2Classifier(n_estimators=40).fit(X, codes)
    D, bound, F = mislabels(codes, K), K - 1.0, np.zeros((60, K))
    for t, (stump, alpha) in enumerate(zip(model.estimators_, model.estimator_weights_, strict=True)):
        p = stump.predict(X)
        assert set(np.unique(p)) <= {0.0, 1.0}
        error = pseudo_loss(D, p, codes)
        assert error == pytest.approx(best_pseudo_loss(D, codes, X), abs=1e-12)
        assert alpha == pytest.approx(log((1 - error) / error), rel=1e-10)
        assert model.history_["error"][t] == pytest.approx(error, abs=1e-12)
        right = p[np.arange(60), codes][:, None]
        D = D * (error / (1 - error)) ** (0.5 * (1 + right - p))  # the paper's update
        D /= D.sum()
        F += alpha * p
        own = F[np.arange(60), codes][:, None]
        wrong = np.arange(K) != codes[:, None]
        E = np.where(wrong, np.exp((F - own) / 2), 0.0)
        np.testing.assert_allclose(D, E / E.sum(), rtol=0, atol=1e-12)  # the same weights from the scores
        assert D.sum() == pytest.approx(1)
        bound *= 2 * sqrt(error * (1 - error))
        mistakes = (((F - own) >= 0) & wrong).any(axis=1).mean()
        assert mistakes <= bound * (1 + 1e-12)
        assert model.history_["objective"][t] == pytest.approx(E.sum() / (60 * (K - 1)), rel=1e-10)
        # Z_t <= 2 sqrt(eps (1 - eps)), with equality where every pair is decided.
        assert E.sum() / 60 <= bound * (1 + 1e-10)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, F[:, 1] - F[:, 0] if K == 2 else F, rtol=0, atol=1e-12)


def test_sample_weights(data):
    X, codes = data(seed=2, n=50, d=3, n_classes=3)
    mass = np.random.default_rng(2).uniform(0.3, 2.0, 50)
    model = AdaBoostM2Classifier(n_estimators=10).fit(X, codes, mass)
    D = mislabels(codes, 3) * mass[:, None]
    D /= D.sum()
    for stump, said in zip(model.estimators_, model.history_["error"], strict=True):
        p = stump.predict(X)
        error = pseudo_loss(D, p, codes)
        assert said == pytest.approx(error, abs=1e-12)
        assert error == pytest.approx(best_pseudo_loss(D, codes, X), abs=1e-12)
        D = D * (error / (1 - error)) ** (0.5 * (1 + p[np.arange(50), codes][:, None] - p))
        D /= D.sum()


def test_two_classes_are_adaboost_over_stumps_with_free_leaves(all_stumps):
    # With K = 2 a leaf says 1 for one class and 0 for the other: p is complementary, the pseudo-loss is the error,
    # alpha is twice AdaBoost's and F_1 - F_0 twice its F.  But each leaf takes its own majority, so M2 also has the
    # constant voters that AdaBoost's stumps (opposite leaves) do not: give them to AdaBoost through a pool.
    rng = np.random.default_rng(3)
    X, codes = rng.integers(0, 4, (70, 2)).astype(float), (rng.random(70) < 0.2).astype(int)  # few ones, few cuts
    mass = np.random.default_rng(3).uniform(0.5, 1.5, 70)  # no ties
    pool = VoterPool([*all_stumps(X).callables(), lambda X: np.ones(len(X))])
    ada = AdaBoostClassifier(pool, n_estimators=60).fit(X, codes, mass)
    m2 = AdaBoostM2Classifier(n_estimators=60).fit(X, codes, mass)
    constant = [s for s in m2.estimators_ if (s.left == s.right).all()]
    assert constant  # it does happen
    assert all((s.left + s.right).tolist() == [1, 1] for s in m2.estimators_ if not (s.left == s.right).all())
    np.testing.assert_allclose(m2.estimator_weights_, 2 * ada.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(m2.decision_function(X), 2 * ada.decision_function(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(m2.predict_proba(X), ada.predict_proba(X), rtol=0, atol=1e-10)
    assert (m2.predict(X) == ada.predict(X)).all()


def test_balanced_first_round_with_two_classes_is_adaboosts(data):
    X, codes = data(seed=4, n=80, noise=0.1)
    ada, m2 = (c(n_estimators=1).fit(X, codes) for c in (AdaBoostClassifier, AdaBoostM2Classifier))
    np.testing.assert_allclose(m2.decision_function(X), 2 * ada.decision_function(X), atol=1e-12)


def test_iris():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostM2Classifier(n_estimators=100).fit(X[::2], y[::2])
    assert model.score(X[::2], y[::2]) == 1.0
    assert model.score(X[1::2], y[1::2]) >= 0.93
    errors = model.history_["error"]
    assert (model.predict(X[::2]) != y[::2]).mean() <= 2 * np.prod(2 * np.sqrt(errors * (1 - errors)))


def test_eleven_classes_like_vowels():
    # Eleven Gaussian clouds in ten dimensions, as in the vowel data; a single stump knows next to nothing.
    rng = np.random.default_rng(5)
    centres = 1.8 * rng.normal(size=(11, 10))
    y = np.repeat(np.arange(11), 30)
    X = centres[y] + rng.normal(size=(330, 10))
    names = np.array(list("abcdefghijk"))[y]
    model = AdaBoostM2Classifier(n_estimators=150).fit(X, names)
    first, *_, last = model.staged_predict(X)
    assert (first == names).mean() < 0.3
    assert (last == names).mean() > 0.9
    P = model.predict_proba(X)
    assert P.shape == (330, 11)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (model.classes_[P.argmax(axis=1)] == last).all()


def test_a_perfect_voter():
    # Two classes, one cut: kept with the floor 1/(2n), then the end.
    model = AdaBoostM2Classifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    assert model.n_estimators_ == 1
    assert model.stop_reason_.startswith("perfect")
    assert model.estimator_weights_[0] == pytest.approx(log(7), rel=1e-12)


def test_many_rounds_stay_finite(data):
    X, codes = data(seed=6, n=80, noise=0.0, n_classes=3)
    model = AdaBoostM2Classifier(n_estimators=3000).fit(X, codes)
    assert all(np.isfinite(c).all() for c in model.history_.values())
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X) == codes).all()
