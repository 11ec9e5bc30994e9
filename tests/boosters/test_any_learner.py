"""scikit-learn's estimators as weak learners: what must fall falls, and hand-made twins agree."""

from __future__ import annotations

from functools import partial
from math import log

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    BrownBoostClassifier,
    LogitBoostClassifier,
    LPBoostClassifier,
    QuadBoostClassifier,
    VadaBoostClassifier,
)
from tables import noisy_table

CLASSIFIERS = {
    "ridge": RidgeClassifier(),
    "logistic": LogisticRegression(),
    "svc": SVC(),
    "mlp": MLPClassifier((8,), learning_rate_init=0.05, max_iter=30),
    "neighbours": KNeighborsClassifier(15),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=2),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
}
REGRESSORS = {
    "ridge": Ridge(),
    "svr": SVR(),
    "mlp": MLPRegressor(hidden_layer_sizes=(8,), learning_rate_init=0.05, max_iter=30),
    "neighbours": KNeighborsRegressor(15),
    "tree": DecisionTreeRegressor(max_depth=2),
    "pipeline": make_pipeline(StandardScaler(), Ridge()),
}
pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
classifiers = pytest.mark.parametrize("learner", CLASSIFIERS.values(), ids=CLASSIFIERS)
regressors = pytest.mark.parametrize("learner", REGRESSORS.values(), ids=REGRESSORS)


@pytest.fixture(scope="module")
def two():
    return noisy_table(150, flips=0.05, seed=1)


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, 120)
    centres = np.array([[0.0, 1.2, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.5]])
    return rng.normal(size=(120, 3)) + 1.4 * centres[codes], np.array(["a", "b", "c"])[codes]


def falls(model, start=1.0):
    """Whether every round lowered the objective, from that of no voter at all."""
    objective = model.history_["objective"]
    return model.n_estimators_ >= 1 and np.all(np.diff(np.concatenate([[start], objective])) < 0)


# -- costs that must fall --------------------------------------------------------------------------------------------


@classifiers
@pytest.mark.parametrize(
    "make",
    [AdaBoostClassifier, partial(AdaBoostClassifier, algorithm="real"), QuadBoostClassifier, VadaBoostClassifier],
    ids=["discrete", "real", "quad", "vada"],
)
def test_every_round_lowers_the_cost(two, make, learner):
    X, y = two
    model = make(learner, n_estimators=6, random_state=0).fit(X, y)
    assert falls(model)
    assert model.score(X, y) > max(y.mean(), 1 - y.mean())
    F = model.decision_function(X)
    *_, staged = model.staged_decision_function(X)
    np.testing.assert_allclose(staged, F, rtol=0, atol=1e-12)
    v = np.where(y == 1, F, -F)
    costs = {"AdaBoost": np.exp(-v).mean(), "QuadBoost": ((1 - v) ** 2).mean()}
    name = type(model).__name__.removesuffix("Classifier")
    if name in costs:
        assert model.history_["objective"][-1] == pytest.approx(costs[name], rel=1e-9)
    margins = model.margins(X, y)
    assert np.abs(margins).max() <= 1 + 1e-12


@pytest.mark.parametrize(
    "learner",
    [e for k, e in (*CLASSIFIERS.items(), *REGRESSORS.items()) if e is not CLASSIFIERS["neighbours"]],
    ids=[*(k for k in CLASSIFIERS if k != "neighbours"), *(f"{k}-regressor" for k in REGRESSORS)],
)
def test_every_round_lowers_the_logistic_loss(two, learner):
    X, y = two
    model = LogitBoostClassifier(learner, n_estimators=6, random_state=0).fit(X, y)
    assert falls(model, log(2))
    F = model.decision_function(X)
    loss = np.logaddexp(0, -2 * np.where(y == 1, F, -F)).mean()
    assert model.history_["objective"][-1] == pytest.approx(loss, rel=1e-9)


@regressors
def test_regressors_lower_the_quadratic_risk(two, learner):
    X, y = two
    model = QuadBoostClassifier(learner, n_estimators=6, random_state=0).fit(X, y)
    assert falls(model)
    F = model.decision_function(X)
    assert model.history_["objective"][-1] == pytest.approx(((2 * y - 1 - F) ** 2).mean(), rel=1e-9)


@pytest.mark.parametrize(
    "learner",
    [*CLASSIFIERS.values(), *REGRESSORS.values()],
    ids=[*CLASSIFIERS, *(f"{k}-regressor" for k in REGRESSORS)],
)
def test_the_linear_programs_gap_closes(two, learner):
    X, y = two
    model = LPBoostClassifier(learner, nu=0.4, n_estimators=6, random_state=0).fit(X, y)
    gap, beta = model.history_["duality_gap"], model.history_["objective"]
    assert np.all(np.diff(gap) <= 1e-9)
    assert np.all(np.diff(beta) >= -1e-9)
    if len(gap) > 1:
        assert gap[-1] < gap[0]
    F = model.decision_function(X)
    assert np.abs(F).max() <= 1 + 1e-9  # votes in [-1, 1], weights of sum 1


@pytest.mark.parametrize("learner", [Ridge(), DecisionTreeRegressor(max_depth=2), KNeighborsRegressor(15)])
def test_brownboost_weighs_real_votes(two, learner):
    X, y = two
    model = BrownBoostClassifier(learner, target_error=0.2, n_estimators=6, random_state=0).fit(X, y)
    assert model.n_estimators_ >= 1
    np.testing.assert_allclose(model.history_["objective"], 0.2, atol=1e-6)  # the potential is kept
    assert np.all(np.diff(model.history_["time_left"]) < 0)
    assert model.score(X, y) > max(y.mean(), 1 - y.mean())


@classifiers
def test_three_classes_by_pseudo_loss(three, learner):
    X, y = three
    model = AdaBoostM2Classifier(learner, n_estimators=6, random_state=0).fit(X, y)
    assert falls(model)
    assert np.all(model.history_["error"] < 0.5)
    assert model.score(X, y) > 0.7
    errors = model.history_["error"]
    assert (model.predict(X) != y).mean() <= 2 * np.prod(2 * np.sqrt(errors * (1 - errors)))  # Freund and Schapire's
    assert np.abs(model.margins(X, y)).max() <= 1 + 1e-12


@pytest.mark.parametrize(
    ("make", "learner"),
    [
        (partial(AdaBoostClassifier, algorithm="real"), LogisticRegression()),
        (partial(AdaBoostClassifier, algorithm="real"), RidgeClassifier()),
        (LogitBoostClassifier, DecisionTreeClassifier(max_depth=1)),
        (QuadBoostClassifier, Ridge()),
        (AdaBoostM2Classifier, KNeighborsClassifier(9)),
        (AdaBoostM2Classifier, RidgeClassifier()),
    ],
)
def test_models_travel_and_repeat(two, three, tmp_path, make, learner):
    X, y = three if make is AdaBoostM2Classifier else two
    model, again = (make(learner, n_estimators=4, random_state=3).fit(X, y) for _ in range(2))
    F = model.decision_function(X)
    assert np.array_equal(again.decision_function(X), F)
    joblib.dump(model, tmp_path / "model")
    assert np.array_equal(joblib.load(tmp_path / "model").decision_function(X), F)
    with pytest.raises(ValueError, match="joblib"):
        model.save(tmp_path / "file")


# -- hand-made twins -------------------------------------------------------------------------------------------------


def test_real_adaboost_by_hand(two):
    X, codes = two
    y, n = 2.0 * codes - 1, len(codes)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = AdaBoostClassifier(tree, algorithm="real", n_estimators=10, random_state=0).fit(X, codes)
    F, s = np.zeros(n), 0.5 / n
    for t in range(10):
        w = np.exp(-y * F)
        p = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, codes, w / w.mean()).predict_proba(X)[:, 1]
        f = 0.5 * np.log((p + s) / (1 - p + s))
        F = F + f
        assert model.history_["Z"][t] == pytest.approx((w * np.exp(-y * f)).sum() / w.sum(), rel=1e-9)
    assert np.all(model.estimator_weights_ == 1.0)
    np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-9)


def test_our_tree_and_scikit_learns_say_the_same_where_leaves_agree():
    # One column of three values: both trees split it twice, whatever the criterion, and the leaves are the values.
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, 3000).astype(float)[:, None]
    codes = (rng.random(3000) < np.array([0.2, 0.6, 0.75])[X[:, 0].astype(int)]).astype(int)
    ours = AdaBoostClassifier(max_leaf_nodes=3, algorithm="real", n_estimators=1, learning_rate=1.0).fit(X, codes)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_leaf_nodes=3), algorithm="real", n_estimators=1).fit(
        X, codes
    )
    s = 0.5 / 3000  # of the whole weight in our leaves, of the leaf's own in theirs
    np.testing.assert_allclose(theirs.decision_function(X), ours.decision_function(X), rtol=0, atol=10 * s)
    share = codes[X[:, 0] == 2].mean()
    assert theirs.decision_function([[2.0]])[0] == pytest.approx(0.5 * log((share + s) / (1 - share + s)), rel=1e-9)
    assert np.array_equal(theirs.predict(X), ours.predict(X))


def test_a_step_too_sure_is_halved(two):
    # A deep tree on a draw is sure of everything, and wrong on some rows it has not seen.
    X, y = two
    tree = DecisionTreeClassifier()
    model = AdaBoostClassifier(tree, algorithm="real", resample=True, n_estimators=5, random_state=0).fit(X, y)
    steps = model.estimator_weights_
    assert np.any(steps < 1)
    assert set(steps) <= {2.0**-k for k in range(12)}
    assert falls(model)
    for alpha, voter, before in zip(
        steps, model.estimators_, [np.zeros(len(y)), *model.staged_decision_function(X)], strict=False
    ):
        v = (2 * y - 1) * voter.predict(X)
        w = np.exp(-(2 * y - 1) * before)
        Z = [(w * np.exp(-a * v)).sum() / w.sum() for a in (alpha, 2 * alpha)]
        assert Z[0] < 1
        assert alpha == 1 or Z[1] >= 1


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=2, random_state=0), RidgeClassifier()])
@pytest.mark.parametrize("mass", [None, np.linspace(0.5, 2, 120)], ids=["uniform", "weighted"])
def test_pseudo_loss_by_hand(three, learner, mass):
    X, y = three
    K, codes = 3, np.searchsorted(["a", "b", "c"], y)
    model = AdaBoostM2Classifier(learner, n_estimators=8, random_state=0).fit(X, y, mass)
    right = np.arange(K) == codes[:, None]
    D = np.where(right, 0.0, 1.0) * (1.0 if mass is None else mass[:, None])
    F = np.zeros((120, K))
    for t in range(8):
        D /= D.sum()
        W = D.sum(axis=1)
        twin = type(learner)(**{**learner.get_params(), "random_state": 0}).fit(X, codes, W / W.mean())
        p = twin.predict_proba(X) if hasattr(twin, "predict_proba") else np.eye(K)[twin.predict(X)]
        p_right = p[right][:, None]
        error = 0.5 * (D * (1 - p_right + p)).sum()
        assert model.history_["error"][t] == pytest.approx(error, abs=1e-9)
        F += log((1 - error) / error) * p
        D = D * (error / (1 - error)) ** (0.5 * (1 + p_right - p))
    np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-8)


def test_two_classes_by_labels_are_adaboost(two):
    # p is 0 or 1 and complementary: the pseudo-loss is the error, alpha and the score are twice AdaBoost's.
    X, y = two
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)

    class LabelsOnly(DecisionTreeClassifier):
        predict_proba = property()  # hidden

    ada = AdaBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y)
    m2 = AdaBoostM2Classifier(LabelsOnly(max_depth=2), n_estimators=8, random_state=0).fit(X, y)
    np.testing.assert_allclose(m2.estimator_weights_, 2 * ada.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(m2.decision_function(X), 2 * ada.decision_function(X), rtol=0, atol=1e-9)


def test_quadboost_with_a_regressor_is_l2boost(two):
    X, codes = two
    y = 2.0 * codes - 1
    tree = DecisionTreeRegressor(max_depth=2)
    model = QuadBoostClassifier(tree, n_estimators=10, random_state=0).fit(X, codes)
    F = np.zeros(len(y))
    for _ in range(10):
        F += DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y - F).predict(X)
    np.testing.assert_allclose(model.estimator_weights_, 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-9)


def test_quadboost_with_least_squares_is_done_in_one_round(two):
    X, codes = two
    model = QuadBoostClassifier(LinearRegression()).fit(X, codes)
    assert model.n_estimators_ == 1
    assert model.stop_reason_.startswith("tolerance")
    expected = LinearRegression().fit(X, 2.0 * codes - 1).predict(X)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-10)


def test_logitboost_starts_alike_with_a_classifier_and_a_regressor(two):
    # Round 1: weights 1/4 and targets +-2, where gini and least squares choose the same split.
    X, codes = two
    by_label, by_number = (
        LogitBoostClassifier(tree, n_estimators=1, random_state=0).fit(X, codes)
        for tree in (DecisionTreeClassifier(max_depth=1), DecisionTreeRegressor(max_depth=1))
    )
    F = by_number.decision_function(X)
    assert len(set(np.sign(F))) == 2  # so the classifier's labels part the rows as its leaves do
    np.testing.assert_allclose(by_label.decision_function(X), F, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "learner"),
    [
        (partial(AdaBoostClassifier, algorithm="real"), DecisionTreeClassifier(max_depth=2)),
        (LogitBoostClassifier, DecisionTreeClassifier(max_depth=2)),
        (QuadBoostClassifier, DecisionTreeRegressor(max_depth=2)),
        (AdaBoostM2Classifier, DecisionTreeClassifier(max_depth=2)),
    ],
    ids=["real", "logit", "quad", "m2"],
)
def test_weight_k_equals_k_copies(two, three, make, learner):
    X, y = three if make is AdaBoostM2Classifier else two
    k = np.random.default_rng(5).integers(1, 4, len(y))
    weighted = make(learner, n_estimators=5, random_state=0).fit(X, y, k)
    copied = make(learner, n_estimators=5, random_state=0).fit(X.repeat(k, axis=0), y.repeat(k))
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("learner", [RidgeClassifier(alpha=20), LogisticRegression(C=0.05, tol=1e-10)])
def test_mass_k_is_k_copies_for_learners_that_regularise(learner):
    """A penalty is measured against the sample's size, so the weights must sum to the number of examples."""
    rng = np.random.default_rng(0)
    X, copies = rng.normal(size=(60, 4)), rng.integers(1, 6, 60)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=60) > 0).astype(int)
    one = AdaBoostClassifier(learner, n_estimators=5).fit(X, y, copies)
    many = AdaBoostClassifier(learner, n_estimators=5).fit(X.repeat(copies, axis=0), y.repeat(copies))
    assert one.n_estimators_ == many.n_estimators_
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), rtol=1e-6)
