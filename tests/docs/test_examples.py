"""The example files keep their mathematical promises, and all that the recipe says comes with a booster."""

from __future__ import annotations

import doctest
import importlib.util
import pickle
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import boostlab
from boostlab import AdaBoostClassifier, VoterPool
from boostlab.boosters import REGISTRY
from boostlab.model_io import ModelFileError
from tables import noisy_table

FILES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
LEARNERS = {
    "stump": {},
    "tree": {"max_depth": 2},
    "pool": {"estimator": VoterPool()},
    "scikit-learn": {"estimator": DecisionTreeClassifier(max_depth=2)},
    "drawn": {"resample": True, "random_state": 0},
}


@pytest.fixture(scope="module")
def examples():
    """Import the files by path; afterwards no other test finds their boosters in the registry."""
    before, modules = set(REGISTRY), {}
    for path in FILES:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        modules[path.stem] = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[path.stem])
    new = {name: REGISTRY[name].cls for name in REGISTRY if name not in before}
    yield SimpleNamespace(modules=modules, boosters=new, **new)
    for name in new:
        del REGISTRY[name]
    for name in modules:
        del sys.modules[name]


@pytest.fixture(params=["MajorityOfThreeClassifier", "LogisticVarianceClassifier"])
def make(examples, request):
    return examples.boosters[request.param]


def signs(model, X):
    return np.array([np.sign(voter.predict(X)) for voter in model.estimators_])


def pool_of(columns):
    """A table of one column, the row's number, and a pool of voters that say columns[k][row]."""
    votes = np.asarray(columns, float)
    X = np.arange(votes.shape[1])[:, None]
    return X, VoterPool([lambda X, v=v: v[X[:, 0].astype(int)] for v in votes])


# -- the majority of three --------------------------------------------------------------------------------------------


def test_three_independent_voters_reach_the_bound(examples):
    """By hand: voters that err independently on 1/4 of 64 rows; the majority errs on 3/16 - 2/64 = 10/64."""
    agree = np.array(list(product([1, 1, 1, -1], repeat=3))).T
    y = np.where(np.arange(64) % 2, 1, -1)
    X, pool = pool_of(agree * y)
    model = examples.MajorityOfThreeClassifier(pool).fit(X, y)
    assert model.history_["error"] == pytest.approx([0.25] * 3, abs=1e-15)
    assert model.history_["bound"] == pytest.approx([0.25, 0.25, 10 / 64], abs=1e-15)
    assert (model.predict(X) != y).sum() == 10
    assert [voter.index for voter in model.estimators_] == [0, 1, 2]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(4))
def test_errors_and_majority_from_their_definitions(examples, learner, seed):
    X, y = noisy_table(60, 3, flips=0.1, seed=seed)
    model = examples.MajorityOfThreeClassifier(**LEARNERS[learner]).fit(X, y)
    right = signs(model, X) == 2 * y - 1
    h1, h2, h3 = right
    n = len(y)
    eps1 = Fraction(int((~h1).sum()), n)
    D2 = [1 / (2 * n * (1 - eps1)) if ok else 1 / (2 * n * eps1) for ok in h1]
    eps2 = sum(w for w, ok in zip(D2, h2, strict=True) if not ok)
    apart = h1 != h2
    eps3 = Fraction(int((apart & ~h3).sum()), int(apart.sum()))
    assert sum(D2) == 1
    assert model.history_["error"] == pytest.approx([float(eps1), float(eps2), float(eps3)], rel=1e-12)
    error = Fraction(int((right.sum(axis=0) < 2).sum()), n)
    e = max(eps1, eps2, eps3)
    assert Fraction(int((model.predict(X) != y).sum()), n) == error <= 3 * e**2 - 2 * e**3
    assert model.history_["bound"][-1] == pytest.approx(float(3 * e**2 - 2 * e**3), rel=1e-12)


def test_every_voter_is_the_best_stump_of_its_distribution(examples):
    X, y = noisy_table(50, 3, seed=7)
    y = 2 * y - 1
    cuts = [(j, c) for j in range(3) for c in (np.unique(X[:, j])[1:] + np.unique(X[:, j])[:-1]) / 2]
    H = np.array([sign * np.where(X[:, j] > c, 1, -1) for j, c in cuts for sign in (1, -1)])
    model = examples.MajorityOfThreeClassifier(max_bins="exact").fit(X, y)
    h = signs(model, X)
    wrong1 = h[0] != y
    D = [np.full(50, 1 / 50), np.where(wrong1, 0.5 / wrong1.sum(), 0.5 / (~wrong1).sum()), h[0] != h[1]]
    best = [min(w[v != y].sum() / w.sum() for v in H) for w in D]
    assert model.history_["error"] == pytest.approx(best, rel=1e-12)


def test_until_there_is_a_third_the_first_decides(examples):
    y = np.array([1, -1] * 4)
    one, two = np.where(np.arange(8) == 0, -y, y), np.where(np.arange(8) == 1, -y, y)
    X, pool = pool_of([one])
    alone = examples.MajorityOfThreeClassifier(pool).fit(X, y)  # h2 can only be h1, or its complement
    assert alone.stop_reason_ == "no_edge: voter 2 errs on 0.5 of its distribution"
    assert np.array_equal(alone.predict(X), one)
    X, pool = pool_of([one, two])
    pair = examples.MajorityOfThreeClassifier(pool).fit(X, y)  # they disagree on two rows, each right on one
    assert pair.stop_reason_ == "no_edge: voter 3 errs on 0.5 of its distribution"
    assert pair.estimator_weights_.tolist() == [1.0, 0.0]
    assert np.array_equal(pair.predict(X), one)
    perfect = examples.MajorityOfThreeClassifier().fit([[0], [1]], [0, 1])
    assert (perfect.n_estimators_, perfect.stop_reason_) == (1, "perfect: the first voter makes no error")


def test_a_majority_of_majorities(examples):
    X, y = noisy_table(400, seed=3)
    cls = examples.MajorityOfThreeClassifier
    flat, deep = cls().fit(X, y), cls(cls()).fit(X, y)
    e = deep.history_["error"].max()
    assert deep.history_["error"][0] == pytest.approx(1 - flat.score(X, y))
    assert 1 - deep.score(X, y) <= 3 * e**2 - 2 * e**3
    assert deep.score(X, y) > flat.score(X, y)


# -- variance penalisation of the logistic loss -----------------------------------------------------------------------


def logistic_cost(F, y, lam, weight=None):
    losses = np.log1p(np.exp(-2 * y * F))
    m = np.average(losses, weights=weight)
    return m**2 + lam * np.average((losses - m) ** 2, weights=weight)


@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0, 3.0, 1000.0])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_cost_falls_every_round(examples, learner, lam):
    X, y = noisy_table(200, 3, flips=0.15, seed=1)
    model = examples.LogisticVarianceClassifier(variance_penalty=lam, n_estimators=25, **LEARNERS[learner]).fit(X, y)
    costs = [logistic_cost(F, 2 * y - 1, lam) for F in model.staged_decision_function(X)]
    assert model.n_estimators_ == 25
    assert model.history_["objective"] == pytest.approx(costs, rel=1e-9)
    assert (np.diff([np.log(2) ** 2, *model.history_["objective"]]) < 0).all()


@pytest.mark.parametrize("lam", [0.0, 0.4, 1.0, 6.0])
def test_the_task_is_the_negative_gradient(examples, lam):
    rng = np.random.default_rng(2)
    F, y = rng.normal(size=9), rng.choice([-1.0, 1.0], 9)
    s = SimpleNamespace(F=F, y=y, n=9.0, total=np.sum)
    task = examples.modules["logistic_variance"].LogisticVariance(lam).task(s)
    slope = [(logistic_cost(F + 1e-6 * e, y, lam) - logistic_cost(F - 1e-6 * e, y, lam)) / 2e-6 for e in np.eye(9)]
    assert task.weight * task.target == pytest.approx(-9 / 4 * np.array(slope), abs=1e-8)
    assert (task.weight >= 0).all()
    told_otherwise = task.target != y
    assert told_otherwise.any() == (lam > 1)
    if lam == 0:
        assert task.weight / task.weight.sum() == pytest.approx(expit(-2 * y * F) / expit(-2 * y * F).sum())


def test_one_round_by_hand(examples):
    """One voter, right on 3 of 4 rows, lambda = 0: a logistic regression with one coefficient, (1/2) ln 3."""
    X, pool = pool_of([[1, 1, -1, 1]])
    model = examples.LogisticVarianceClassifier(pool, variance_penalty=0, n_estimators=1).fit(X, [1, 1, -1, -1])
    assert model.estimator_weights_ == pytest.approx([0.5 * np.log(3)], abs=1e-5)
    assert model.history_["edge"] == pytest.approx([0.5])
    assert model.predict_proba(X)[:, 1] == pytest.approx([0.75, 0.75, 0.25, 0.75], abs=1e-5)


@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0])
def test_on_a_small_pool_it_finds_the_optimum(examples, lam):
    """J is convex for lambda <= 1; the oracles are scikit-learn's logistic regression and a solver."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(4, 80))  # voters may say any numbers
    y = np.where(H.sum(axis=0) + 2 * rng.normal(size=80) > 0, 1, -1)
    X, pool = pool_of(H)
    model = examples.LogisticVarianceClassifier(pool, variance_penalty=lam, n_estimators=400).fit(X, y)
    solved = minimize(lambda a: logistic_cost(a @ H, y, lam), np.zeros(4), tol=1e-12)
    assert model.history_["objective"][-1] == pytest.approx(solved.fun, rel=1e-8)
    if lam == 0:
        twin = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000).fit(H.T, y)
        assert model.decision_function(X) == pytest.approx(twin.decision_function(H.T) / 2, abs=1e-3)


def test_rows_told_otherwise_lose_margin(examples):
    """Beyond lambda = 1 the spread of the losses shrinks, at the price of their mean."""
    X, y = noisy_table(300, 3, flips=0, seed=5)
    spread, mean = [], []
    for lam in (0.0, 10.0):
        model = examples.LogisticVarianceClassifier(variance_penalty=lam, n_estimators=60).fit(X, y)
        losses = np.log1p(np.exp(-2 * (2 * y - 1) * model.decision_function(X)))
        spread.append(losses.std() / losses.mean())
        mean.append(losses.mean())
    assert spread[1] < 0.5 * spread[0]
    assert mean[1] > mean[0]


# -- what comes with every booster ------------------------------------------------------------------------------------


def test_scikit_learns_checks_pass(make):
    expected = {"check_class_weight_classifiers": "an exact stump may give the light class a region of its own"}
    check_estimator(make(n_estimators=8), expected_failed_checks=expected, on_skip=None)


def test_weight_k_equals_k_copies_and_order_does_not_matter(make):
    X, y = noisy_table(80, 3, seed=2)
    k = np.random.default_rng(0).integers(1, 4, 80)
    shuffled = np.random.default_rng(1).permutation(k.sum())
    one = make(n_estimators=15).fit(X, y, sample_weight=k)
    two = make(n_estimators=15).fit(np.repeat(X, k, axis=0)[shuffled], np.repeat(y, k)[shuffled])
    assert np.array_equal(one.decision_function(X), two.decision_function(X))
    assert np.array_equal(one.history_["alpha"], two.history_["alpha"])


def test_lives_in_pipelines_and_searches(make):
    X, y = noisy_table(150, seed=4)
    pipe = make_pipeline(StandardScaler(), make(n_estimators=10))
    name = pipe.steps[-1][0]
    search = GridSearchCV(pipe, {f"{name}__max_depth": [1, 2]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.6
    twin = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(twin.decision_function(X), search.best_estimator_.decision_function(X))


def test_early_stopping_keeps_the_best_rounds(make):
    X, y = noisy_table(200, seed=6)
    X_val, y_val = noisy_table(200, seed=7)
    model = make(n_estimators=60, early_stopping=True, n_iter_no_change=5, scoring="error")
    model.fit(X, y, X_val=X_val, y_val=y_val)
    errors = [np.mean(p != y_val) for p in make(n_estimators=60).fit(X, y).staged_predict(X_val)]
    seen = model.history_["validation_score"]
    assert seen == pytest.approx(errors[: len(seen)])
    assert model.n_estimators_ == 1 + np.argmin(seen)
    assert np.mean(model.predict(X_val) != y_val) == min(seen)


def test_warm_start_equals_one_long_fit(make):
    X, y = noisy_table(150, seed=8)
    model = make(n_estimators=2, warm_start=True).fit(X, y).set_params(n_estimators=9).fit(X, y)
    assert np.array_equal(model.decision_function(X), make(n_estimators=9).fit(X, y).decision_function(X))


def test_parameters_are_checked_and_documented(make):
    with pytest.raises(ValueError, match=r"n_estimators=0 is not possible"):
        make(n_estimators=0).fit([[0], [1]], [0, 1])
    assert "early_stopping : bool" in make.__doc__
    assert "stop_reason_ : str" in make.__doc__
    assert clone(make(n_estimators=7)).n_estimators == 7


def test_model_files_while_the_class_is_registered(make, tmp_path):
    X, y = noisy_table(100, seed=9)
    path = tmp_path / "own.boost"
    model = make(n_estimators=8, max_depth=2).fit(X, y)
    model.save(path)
    again = boostlab.load(path)
    assert type(again) is make
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    entry = REGISTRY.pop(make.__name__)
    try:
        with pytest.raises(ModelFileError, match="not a booster of boostlab"):
            boostlab.load(path)
        with pytest.raises(ModelFileError, match="not one of boostlab's own boosters"):
            model.save(path)
    finally:
        REGISTRY[make.__name__] = entry
    foreign = make(DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(X, y)
    with pytest.raises(ModelFileError, match="joblib"):
        foreign.save(path)


def test_the_logistic_booster_is_milder_than_adaboost_on_noise(examples):
    """Its reason to exist: the first voter is AdaBoost's, later ones chase flipped labels less."""
    X, y = noisy_table(300, flips=0.25, seed=10)
    mild = examples.LogisticVarianceClassifier(variance_penalty=0, n_estimators=100).fit(X, y)
    harsh = AdaBoostClassifier(n_estimators=100).fit(X, y)
    assert mild.estimators_[0].feature == harsh.estimators_[0].feature
    assert mild.estimators_[0].threshold == harsh.estimators_[0].threshold
    weights = [np.exp(-(2 * y - 1) * harsh.decision_function(X)), expit(-2 * (2 * y - 1) * mild.decision_function(X))]
    shares = [w.max() / w.sum() for w in weights]
    assert shares[1] < shares[0]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_files_are_short_and_their_examples_run(examples, path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 90
    result = doctest.testmod(examples.modules[path.stem])
    assert result.attempted >= 2
    assert result.failed == 0
