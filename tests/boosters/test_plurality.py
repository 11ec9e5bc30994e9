"""SAMME, AdaBoost.M1 and AR-Boost for several classes: voters that name a class."""

from functools import partial
from math import exp, log, sqrt

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import AdaBoostClassifier, AdaBoostM1Classifier, ARBoostClassifier, DecisionStump, SAMMEClassifier
from boostlab.contract import Found, Learner, Session, Voter

BY_ERROR = DecisionStump(criterion="error")
HAND = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])


def rho_of(model):
    return {SAMMEClassifier: 1.0, AdaBoostClassifier: 1.0}.get(type(model), getattr(model, "rho", None))


def limit_of(model, K):
    """The weak-learning limit: (K-1)/K, rho (K-1) / (rho (K-1) + 1), or 1/2."""
    rho = rho_of(model)
    return 0.5 if rho is None else rho * (K - 1) / (rho * (K - 1) + 1)


def alpha_of(model, K, error):
    rho = rho_of(model)
    return log((1 - error) / error) + (0.0 if rho is None else log(rho) + log(K - 1))


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_the_textbooks_form_round_by_round(data, rate, tmp_path):
    # (2.31) as printed: alpha = (1/2) ln((1 - eps) / eps) + ln(K - 1), right rows times e^-alpha, wrong ones e^+alpha.
    X, y = data(seed=5, n=150, noise=0.1, n_classes=4)
    model = SAMMEClassifier(form="textbook", max_leaf_nodes=6, n_estimators=12, learning_rate=rate).fit(X, y)
    D, votes = np.full(150, 1 / 150), np.zeros((150, 4))
    for tree, alpha, error in zip(model.estimators_, model.estimator_weights_, model.history_["error"], strict=True):
        h = np.asarray(tree.predict(X), int)
        eps = D[h != y].sum()
        assert error == pytest.approx(eps, rel=1e-9)
        printed = rate * (0.5 * log((1 - eps) / eps) + log(3))
        assert alpha == pytest.approx(2 * printed, rel=1e-9)
        D = D * np.exp(np.where(h == y, -printed, printed))
        D /= D.sum()
        if rate == 1.0:
            assert D[h != y].sum() == pytest.approx(9 / 10, rel=1e-9)
        votes[np.arange(150), h] += printed
    assert model.n_estimators_ >= 3
    clear = np.sort(votes, axis=1)[:, -1] - np.sort(votes, axis=1)[:, -2] > 1e-9
    assert (model.predict(X)[clear] == votes.argmax(axis=1)[clear]).all()
    model.save(tmp_path / "m.boost")
    assert boostlab.load(tmp_path / "m.boost").form == "textbook"


def test_the_textbooks_form_is_ar_boost_and_of_two_classes_samme(data):
    X, y = data(seed=6, n=120, noise=0.1, n_classes=3)
    one = SAMMEClassifier(form="textbook", max_leaf_nodes=6, n_estimators=8).fit(X, y)
    two = ARBoostClassifier(rho=2.0, max_leaf_nodes=6, n_estimators=8).fit(X, y)
    k = one.n_estimators_
    assert k >= 2
    np.testing.assert_allclose(one.estimator_weights_, two.estimator_weights_[:k], rtol=1e-12)
    X, y = data(seed=6, n=120)
    one, two = (SAMMEClassifier(form=form, n_estimators=8).fit(X, y) for form in ("paper", "textbook"))
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


@pytest.mark.parametrize(
    ("model", "first", "second", "error"),
    [
        (SAMMEClassifier(BY_ERROR), log(2) + log(2), log(5) + log(2), 1 / 6),
        (AdaBoostM1Classifier(BY_ERROR), log(2), log(3), 1 / 4),
        (ARBoostClassifier(BY_ERROR, rho=2.0), log(2 * 2) + log(2), log(2 * 9) + log(2), 1 / 10),
    ],
    ids=["SAMME", "M1", "AR"],
)
def test_two_rounds_by_hand(model, first, second, error):
    # x = 1 2 3 of classes 0 1 2.  Round 1: the cuts 1.5 and 2.5 both leave one row wrong; the first wins, says 0 below
    #   and, of 1 and 2 with equal weight, 1 above.  eps = 1/3, and the weight of x = 3 is multiplied by exp(alpha):
    #   by 4 (SAMME), 2 (M1) or 8 (AR, rho = 2): the weights are 1 1 4, 1 1 2 or 1 1 8.
    # Round 2: the cut 1.5 says 0 below and 2 above and errs on x = 2: eps = 1/6, 1/4 or 1/10; 2.5 errs as much.
    X, y = HAND
    model.set_params(n_estimators=2).fit(X, y)
    one, two = model.estimators_
    assert (one.threshold, one.left, one.right) == (1.5, 0, 1)
    assert (two.threshold, two.left, two.right) == (1.5, 0, 2)
    np.testing.assert_allclose(model.history_["error"], [1 / 3, error], rtol=1e-14)
    np.testing.assert_allclose(model.estimator_weights_, [first, second], rtol=1e-13)
    F = np.array([[first + second, 0, 0], [0, first, second], [0, first, second]])
    said = np.array([[0, 1, 1], [0, 2, 2]])  # by both voters of the three rows, and in the paper's codes:
    h = np.where(np.arange(3) == said[..., None], 1.0, -0.5)
    np.testing.assert_allclose(model.decision_function(X), first * h[0] + second * h[1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(model.decision_function(X), 1.5 * (F - F.mean(axis=1, keepdims=True)), atol=1e-13)
    np.testing.assert_allclose(model.predict_proba(X), np.exp(F) / np.exp(F).sum(axis=1, keepdims=True), rtol=1e-12)
    assert model.predict(X).tolist() == [0, 2, 2]


def best_error(w, codes, X, K):
    """The smallest weighted error of any stump whose leaves name classes: all cuts, all leaves."""
    best = 1.0
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for cut in (values[:-1] + values[1:]) / 2:
            above = X[:, j] > cut
            right = sum(np.bincount(codes[side], w[side], minlength=K).max() for side in (above, ~above))
            best = min(best, 1 - right)
    return best


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize(
    "model",
    [SAMMEClassifier(BY_ERROR), AdaBoostM1Classifier(BY_ERROR), ARBoostClassifier(BY_ERROR, rho=3.0)],
    ids=["SAMME", "M1", "AR"],
)
def test_every_round(data, model, K, weighted):
    if K == 2 and isinstance(model, ARBoostClassifier):
        pytest.skip("two classes have their own rule")
    X, codes = data(seed=K, n=60, d=3, noise=0.1, n_classes=K)
    mass = np.random.default_rng(K).uniform(0.3, 2.0, 60) if weighted else np.ones(60)
    if isinstance(model, AdaBoostM1Classifier) and K == 5:
        model.set_params(estimator=None, max_leaf_nodes=8)
    model.set_params(n_estimators=25).fit(X, codes, mass)
    assert model.n_estimators_ > 3
    w, loss = mass / mass.sum(), 1.0
    F = np.zeros((60, K))
    for t, (voter, alpha) in enumerate(zip(model.estimators_, model.estimator_weights_, strict=True)):
        h = voter.predict(X)
        error = w[h != codes].sum()
        if model.max_leaf_nodes is None:
            assert error == pytest.approx(best_error(w, codes, X, K), abs=1e-12)
        assert error < limit_of(model, K)
        assert model.history_["error"][t] == pytest.approx(error, abs=1e-12)
        assert alpha == pytest.approx(alpha_of(model, K, error), rel=1e-9)
        w = w * np.exp(alpha * (h != codes))
        w /= w.sum()
        # After the update the voter is as bad as it could have been.
        assert w[h != codes].sum() == pytest.approx(limit_of(model, K), abs=1e-10)
        F[np.arange(60), h] += alpha
        share = 0.5 if isinstance(model, AdaBoostM1Classifier) else 1 - 1 / K
        loss *= (1 - error) * exp(-share * alpha) + error * exp((1 - share) * alpha)
        assert model.history_["objective"][t] == pytest.approx(loss, rel=1e-9)
        own = np.exp(-F[np.arange(60), codes])
        np.testing.assert_allclose(w, own * mass / (own @ mass), rtol=0, atol=1e-12)
    if isinstance(model, AdaBoostM1Classifier):
        errors = model.history_["error"]
        assert loss == pytest.approx(np.prod(2 * np.sqrt(errors * (1 - errors))), rel=1e-9)
    else:  # the mean of exp(-y'f / K), f = ((K-1)^2 / K) times the zero-sum score
        f = (K - 1) * (F - F.mean(axis=1, keepdims=True))
        y = np.where(np.arange(K) == codes[:, None], 1.0, -1 / (K - 1))
        assert loss == pytest.approx(np.average(np.exp(-(y * f).sum(axis=1) / K), weights=mass), rel=1e-9)
    scores = F[:, 1] - F[:, 0] if K == 2 else (F - F.mean(axis=1, keepdims=True)) * K / (K - 1)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=0, atol=1e-10)


@pytest.mark.parametrize("learning_rate", [1.0, 0.4])
@pytest.mark.parametrize("K", [3, 6])
def test_scikit_learns_samme_with_the_same_tree_inside_both(data, K, learning_rate):
    X, y = data(seed=3, n=200, d=4, noise=0.1, n_classes=K)
    tree = DecisionTreeClassifier(max_leaf_nodes=5)  # no two cuts are alike: what it draws does not matter
    theirs = SklearnAdaBoost(tree, n_estimators=20, learning_rate=learning_rate).fit(X, y)
    ours = SAMMEClassifier(tree, n_estimators=20, learning_rate=learning_rate).fit(X, y)
    own = SAMMEClassifier(max_leaf_nodes=5, max_bins="exact", n_estimators=20, learning_rate=learning_rate).fit(X, y)
    also = AdaBoostClassifier(max_leaf_nodes=5, max_bins="exact", n_estimators=20, learning_rate=learning_rate)
    for model in (ours, own, also.fit(X, y)):
        np.testing.assert_allclose(model.estimator_weights_, theirs.estimator_weights_, rtol=1e-7)
        np.testing.assert_allclose(model.history_["error"], theirs.estimator_errors_, rtol=1e-7)
        scores = model.decision_function(X) / model.estimator_weights_.sum()
        np.testing.assert_allclose(scores, theirs.decision_function(X), atol=1e-9)
        assert (model.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("make", [SAMMEClassifier, AdaBoostM1Classifier])
def test_two_classes_are_adaboost(data, make):
    X, y = data(seed=5, n=150, noise=0.15)
    mass = np.random.default_rng(5).uniform(0.5, 2.0, 150)
    ada = AdaBoostClassifier(max_leaf_nodes=4, n_estimators=30).fit(X, y, mass)
    model = make(max_leaf_nodes=4, n_estimators=30).fit(X, y, mass)
    np.testing.assert_allclose(model.estimator_weights_, 2 * ada.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), 2 * ada.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), ada.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(model.history_["objective"], ada.history_["objective"], rtol=1e-9)
    assert (model.predict(X) == ada.predict(X)).all()


def test_rho_one_is_samme(data):
    X, y = data(seed=6, n=120, n_classes=4)
    one, two = (m.set_params(max_leaf_nodes=4).fit(X, y) for m in (SAMMEClassifier(), ARBoostClassifier(rho=1.0)))
    assert np.array_equal(one.estimator_weights_, two.estimator_weights_)
    assert np.array_equal(one.decision_function(X), two.decision_function(X))
    assert one.history_["error"].tolist() == two.history_["error"].tolist()


def test_the_weak_learning_limits():
    # Both values of x hold every class once: every voter errs on 2/3, a random guess.
    X, y = np.repeat([[0.0], [1.0]], 3, axis=0), [0, 1, 2, 0, 1, 2]
    for model, limit in ((SAMMEClassifier(BY_ERROR), "0.6667"), (AdaBoostM1Classifier(BY_ERROR), "0.5")):
        with pytest.warns(UserWarning, match="kept no voter"):
            model.fit(X, y)
        assert model.stop_reason_ == f"no_edge: weighted error 0.6667, and the rule needs less than {limit}"
        assert model.predict(X).tolist() == [0] * 6
    model = ARBoostClassifier(BY_ERROR, rho=2.0, n_estimators=1).fit(X, y)  # 4/5 is its limit
    assert model.estimator_weights_[0] == pytest.approx(log(2 * 0.5) + log(2))
    # Errors between 1/2 and 2/3 are SAMME's, and not M1's.
    X, y = np.arange(6.0)[:, None], [0, 1, 2, 0, 1, 2]
    assert SAMMEClassifier(BY_ERROR, n_estimators=1).fit(X, y).history_["error"][0] == pytest.approx(0.5)
    with pytest.warns(UserWarning, match="kept no voter"):
        assert AdaBoostM1Classifier(BY_ERROR).fit(X, y).n_estimators_ == 0


class Mediocre(Learner, Session, Voter):
    """A learner whose voter is wrong on the first so many rows; rows are known by the table's only column."""

    bound = 1.0

    def __init__(self, wrong):
        self.wrong = wrong

    def searches(self):
        return frozenset(["labels"])

    def begin(self, rows, rng):
        return self

    def best(self, task):
        self.said = np.where(np.arange(len(task.target)) < self.wrong, (task.target + 1) % 3, task.target)
        return Found(self)

    def votes(self, table):
        return self.said[table.X[:, 0].astype(int)]


@pytest.mark.parametrize(
    ("make", "rows", "wrong"),
    [
        (SAMMEClassifier, 60, 40),  # (C-1)/C = 2/3
        (partial(ARBoostClassifier, rho=1.0), 60, 40),
        (partial(ARBoostClassifier, rho=2.0), 60, 48),  # rho (C-1) / (rho (C-1) + 1) = 4/5
        (partial(ARBoostClassifier, rho=7.0), 60, 56),  # 14/15
        (AdaBoostM1Classifier, 60, 30),
    ],
    ids=["SAMME", "rho1", "rho2", "rho7", "M1"],
)
def test_one_row_decides_at_the_weak_learning_limit(make, rows, wrong):
    X, y = np.arange(float(rows))[:, None], np.arange(rows) % 3
    below = make(Mediocre(wrong - 1), n_estimators=1).fit(X, y)
    assert below.n_estimators_ == 1
    assert below.estimator_weights_[0] == pytest.approx(alpha_of(below, 3, (wrong - 1) / rows), rel=1e-12)
    assert 0 < below.estimator_weights_[0] < 0.5
    for at in (wrong, wrong + 1):
        with pytest.warns(UserWarning, match="kept no voter"):
            model = make(Mediocre(at), n_estimators=1).fit(X, y)
        limit = limit_of(model, 3)
        assert limit == pytest.approx(wrong / rows)
        assert (
            model.stop_reason_ == f"no_edge: weighted error {at / rows:.4g}, and the rule needs less than {limit:.4g}"
        )


def test_a_perfect_voter_is_kept_with_a_floor_and_is_the_last():
    X, y = np.arange(9.0)[:, None], np.repeat(["a", "b", "c"], 3)
    model = SAMMEClassifier(max_leaf_nodes=3).fit(X, y)
    assert model.stop_reason_ == "perfect: round 1 makes no error"
    assert model.estimator_weights_[0] == pytest.approx(log(17) + log(2))  # eps is taken as 1/(2n)
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("make", [SAMMEClassifier, AdaBoostM1Classifier, AdaBoostClassifier, ARBoostClassifier])
def test_real_classes(make):
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "rosé", "white"])[y]
    model = make(max_leaf_nodes=8, n_estimators=40).fit(X[::2], names[::2])
    assert model.classes_.tolist() == ["red", "rosé", "white"]
    assert model.score(X[1::2], names[1::2]) > 0.9
    P, F = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(F.sum(axis=1), 0, atol=1e-10)
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    assert (model.classes_[F.argmax(axis=1)] == model.predict(X)).all()
    margins = model.margins(X, names)
    assert np.abs(margins).max() <= 1 + 1e-12
    assert ((margins > 0) == (model.predict(X) == names)).all()
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, P, atol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "learner",
    [GaussianNB(), LogisticRegression(max_iter=500), KNeighborsClassifier(3), LinearSVC(max_iter=5000)],
    ids=lambda e: type(e).__name__,
)
def test_any_classifier_may_vote(learner):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SAMMEClassifier(learner, n_estimators=5, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert all(np.isin(v.predict(X), [0, 1, 2]).all() for v in model.estimators_)


def test_a_class_with_one_example_and_a_class_a_draw_misses():
    X, y = load_iris(return_X_y=True)
    rows = [*range(100), 120]
    for resample in (False, True):
        model = SAMMEClassifier(max_leaf_nodes=4, resample=resample, n_estimators=15, random_state=0)
        assert model.fit(X[rows], y[rows]).score(X[rows], y[rows]) >= 100 / 101
        assert model.predict_proba(X).shape == (150, 3)
    early = SAMMEClassifier(max_leaf_nodes=4, early_stopping=True, scoring="log_loss", random_state=0)
    assert early.fit(X[rows], y[rows]).score(X[rows], y[rows]) > 0.9


def test_weights_are_copies_and_the_order_of_rows_does_not_matter(data):
    X, y = data(seed=7, n=80, n_classes=4)
    k = np.random.default_rng(7).integers(0, 4, 80)
    order = np.random.default_rng(8).permutation(k.sum())
    for make in (SAMMEClassifier, AdaBoostM1Classifier):
        one = make(max_leaf_nodes=5, n_estimators=20).fit(X, y, k)
        two = make(max_leaf_nodes=5, n_estimators=20).fit(X.repeat(k, axis=0)[order], y.repeat(k)[order])
        assert np.array_equal(one.estimator_weights_, two.estimator_weights_)
        assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_many_rounds_stay_finite(data):
    X, y = data(seed=8, n=80, noise=0.2, n_classes=3)
    model = SAMMEClassifier(n_estimators=1500).fit(X, y)
    assert model.n_estimators_ == 1500
    assert all(np.isfinite(c).all() for c in model.history_.values())
    assert np.isfinite(model.predict_proba(X)).all()


def test_settings_for_two_classes_only_are_refused():
    X, y = HAND
    for model in (AdaBoostClassifier(algorithm="real"), AdaBoostClassifier(fixed_step=0.1)):
        assert len(model.fit(X, y).estimators_) == len(set(y))  # a binary problem a class
    with pytest.raises(ValueError, match=r"no voter is another's complement; leave it out"):
        ARBoostClassifier("stump", forbid_repeat_complement=True).fit(X, y)
    with pytest.raises(ValueError, match=r"can search the criterion 'labels'"):
        SAMMEClassifier(boostlab.VoterPool()).fit(X, y)


def test_the_bound_of_m1():
    X, y = load_wine(return_X_y=True)
    model = AdaBoostM1Classifier(max_depth=2, n_estimators=10).fit(X, y)
    errors, bound = model.history_["error"], 1.0
    for error, said in zip(errors, model.staged_predict(X), strict=True):
        bound *= 2 * sqrt(error * (1 - error))
        assert (said != y).mean() <= bound + 1e-12
