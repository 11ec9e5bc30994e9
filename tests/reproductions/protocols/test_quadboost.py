"""QuadBoost's protocol on toy data: who sees which rows, and runs on a pool that are those of the boosters."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from boostlab import AdaBoostClassifier, QuadBoostClassifier, VoterPool
from boostlab.studies.plan import Method
from boostlab_reproductions.protocols import quadboost as protocol
from boostlab_reproductions.protocols.quadboost import PATHS, PoolProtocol, n_train, pool, program, scores, squashed

PLAIN = Method("QuadBoost", "QuadBoostClassifier", {}, {"n_estimators": [1, 3, 10, 30]}, how="quadratic")
L2 = Method(
    "L2",
    "QuadBoostClassifier",
    {"regularizer": "l2"},
    {"n_estimators": [3, 30], "strength": [10.0, 1.0]},
    how="quadratic",
)
ADA = Method("AdaBoost", "AdaBoostClassifier", {}, {"n_estimators": [1, 10, 100]}, how="exponential")
LP = Method("LPBoost", "LPBoostClassifier", {"n_estimators": 200}, {"C": [0.01, 0.1, 1.0]}, how="program")


@dataclass(frozen=True)
class Toy:
    X: Any
    y: Any
    hash: str = "0123456789abcdef"

    def filled(self, train):
        return np.where(np.isnan(self.X), np.nanmean(self.X[train], axis=0), self.X)


def toy(n=120, d=4, seed=0, noise=0.8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * X[:, 1] ** 2 - 0.5 + noise * rng.normal(size=n) > 0, 1, -1)
    return Toy(X, y)


@pytest.mark.parametrize(("n", "half"), [(101, 51), (432, 216), (1000, 500), (1001, 500), (5620, 500)])
def test_half_of_the_rows_train_and_500_of_many(n, half):
    assert n_train(n) == half
    parts = PoolProtocol().parts(toy(n, 2), 0)
    assert len(parts.y) == len(parts.votes) == half
    assert sorted(np.concatenate([parts.train, parts.test])) == list(range(n))


def test_scaling_and_thresholds_come_from_the_training_rows():
    data = toy()
    train = np.arange(60)
    other = data.X.copy()
    other[60:] = 50.0 * other[60:] + 7.0
    np.testing.assert_array_equal(squashed(data.X, train)[:60], squashed(other, train)[:60])
    Z = squashed(data.X, train)
    np.testing.assert_allclose(np.arctanh(Z[train]).mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.arctanh(Z[train]).std(axis=0), 1)
    votes, moved = pool(Z, train, 10), pool(squashed(other, train), train, 10)
    np.testing.assert_array_equal(votes[:60], moved[:60])
    assert not np.array_equal(votes[60:], moved[60:])


def test_a_constant_column_has_no_voter():
    data = toy()
    X = np.column_stack([data.X, np.full(120, 3.3), np.r_[np.full(60, 0.1), np.arange(60.0)]])
    train = np.arange(60)
    assert np.array_equal(squashed(X, train)[:, -2:], np.zeros((120, 2)))
    assert pool(squashed(X, train), train, 10).shape[1] == pool(squashed(data.X, train), train, 10).shape[1]


def test_the_pool_is_that_of_voter_pool():
    data = toy()
    train = np.arange(60)
    Z = squashed(data.X, train)
    stumps = VoterPool()._stumps(Z[train])
    assert len(stumps) == 10 * Z.shape[1]
    theirs = np.array([s.predict(Z) for s in stumps]).T
    ours = pool(Z, train, 10)
    signed = ours * ours[train[:1]]
    same = (theirs * theirs[train[:1]])[train]
    assert ours.shape[1] == len({column.tobytes() for column in same.T})
    for column in theirs.T:  # every stump, or one that no training row tells from it
        assert (signed[train] == (column * column[train[0]])[train][:, None]).all(axis=0).any()
    kept = {column.tobytes() for column in theirs.T.astype(np.int8)}
    assert all(column.tobytes() in kept for column in np.ascontiguousarray(ours.T))


def test_all_methods_share_the_split_and_another_repeat_has_another():
    data, p = toy(), PoolProtocol()
    one, again, other = p.parts(data, 0), p.parts(data, 0), p.parts(data, 1)
    np.testing.assert_array_equal(one.train, again.train)
    np.testing.assert_array_equal(one.fold, again.fold)
    assert not np.array_equal(one.train, other.train)
    truths = [p.run(one, method).arrays["truth"] for method in (PLAIN, ADA, LP)]
    assert all(np.array_equal(t, (data.y[one.test] > 0).astype(np.int8)) for t in truths)


def test_folds_are_stratified_and_part_the_training_rows():
    parts = PoolProtocol().parts(toy(203, 3), 2)
    for label in (-1, 1):
        counts = np.bincount(parts.fold[parts.y == label], minlength=5)
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("method", [PLAIN, L2, ADA, LP], ids=lambda m: m.name)
def test_no_test_row_has_a_say(method):
    data, p = toy(), PoolProtocol()
    parts = p.parts(data, 0)
    rng = np.random.default_rng(1)
    X, y = data.X.copy(), data.y.copy()
    X[parts.test] = rng.normal(3, 9, X[parts.test].shape)
    y[parts.test] = rng.permutation(-y[parts.test])
    ours, theirs = (p.run(p.parts(d, 0), method) for d in (data, replace(data, X=X, y=y)))
    for name in ("chosen", "mistakes", "validation_error", "rounds", "voters", "stop"):
        assert ours.numbers[name] == theirs.numbers[name]
    assert not np.array_equal(ours.arrays["predictions"], theirs.arrays["predictions"])


def test_missing_values_are_filled_in_from_the_training_rows():
    data = toy()
    X = data.X.copy()
    X[::7, 1] = np.nan
    parts = PoolProtocol().parts(replace(data, X=X), 0)
    X[parts.test, 1] = 1e6 * np.nan_to_num(X[parts.test, 1])
    np.testing.assert_array_equal(parts.votes, PoolProtocol().parts(replace(data, X=X), 0).votes)


FORMS = [
    ("quadratic", {}, QuadBoostClassifier()),
    ("quadratic", {"regularizer": "l1", "strength": 0.03}, QuadBoostClassifier(regularizer="l1", strength=0.03)),
    ("quadratic", {"regularizer": "l2", "strength": 3.0}, QuadBoostClassifier(regularizer="l2", strength=3.0)),
    (
        "quadratic",
        {"regularizer": "linf", "strength": 0.0213},
        QuadBoostClassifier(regularizer="linf", strength=0.0213),
    ),
    ("exponential", {}, AdaBoostClassifier()),
]


@pytest.mark.parametrize(("how", "setting", "booster"), FORMS, ids=lambda x: x if isinstance(x, str) else "")
def test_a_compiled_run_is_that_of_the_booster(how, setting, booster):
    rounds = 300 if how == "exponential" else 1300
    parts = PoolProtocol().parts(toy(160, 3, noise=0.5), 0)
    H, H_test = parts.votes.astype(float), parts.test_votes.astype(float)
    model = booster.set_params(estimator=VoterPool(stumps_per_feature=1), n_estimators=rounds, n_jobs=1)
    model.fit(H, parts.y)
    stages = list(model.staged_decision_function(H_test))
    marks = np.array([1, 2, 7, 40, rounds])
    a, made = PATHS[how](parts.votes, parts.y, setting, marks)
    assert made == model.n_estimators_
    for t, row in zip(marks, a, strict=True):
        F = stages[min(int(t), made) - 1]
        np.testing.assert_allclose(H_test @ row, F, rtol=1e-6, atol=1e-7 * np.abs(F).max())


@pytest.mark.parametrize("method", [PLAIN, L2, ADA], ids=lambda m: m.name)
def test_stages_of_one_run_are_separate_runs(method):
    parts = PoolProtocol().parts(toy(), 0)
    setting, marks = protocol._settings(method)[0], protocol._marks(method)
    a, _ = PATHS[method.how](parts.votes, parts.y, setting, marks)
    for k, t in enumerate(marks):
        alone, made = PATHS[method.how](parts.votes, parts.y, setting, np.array([t]))
        np.testing.assert_array_equal(alone[0], a[k])
        assert made <= t


def test_adaboost_ends_with_a_perfect_voter_and_without_an_edge():
    votes = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], np.int8)
    a, made = PATHS["exponential"](votes, np.array([1, 1, -1, -1], np.int8), {}, np.array([5, 50]))
    assert made == 1
    np.testing.assert_allclose(a, [[0.5 * np.log(7), 0]] * 2)  # half an example stands for an error of 0
    a, made = PATHS["exponential"](votes, np.array([1, -1, -1, 1], np.int8), {}, np.array([5]))
    assert made == 0
    assert not a.any()


def test_the_program_is_solved_to_its_optimum():
    parts = PoolProtocol().parts(toy(90, 3), 0)
    votes, y, C = parts.votes.astype(float), parts.y, 0.3
    a, _ = program(parts.votes, y, {"C": C}, np.array([500]))
    ours = np.abs(a).sum() + C * np.maximum(0, 1 - y * (votes @ a[0])).sum()
    n, size = votes.shape
    agree = y[:, None] * votes
    cost = np.r_[np.ones(2 * size), np.full(n, C)]
    solved = linprog(cost, A_ub=-np.hstack([agree, -agree, np.eye(n)]), b_ub=-np.ones(n))
    assert ours == pytest.approx(solved.fun, rel=1e-6)


def test_of_equals_the_fewest_rounds_and_then_the_strongest_regularisation(monkeypatch):
    def constant(votes, y, setting, marks):
        return np.ones((len(marks), votes.shape[1])), int(marks[-1])

    monkeypatch.setitem(PATHS, "quadratic", constant)
    p = PoolProtocol()
    outcome = p.run(p.parts(toy(), 0), L2)
    assert outcome.numbers["chosen"] == {"n_estimators": 3, "strength": 10.0}


def test_the_chosen_pair_has_the_fewest_mistakes_in_cross_validation():
    p = PoolProtocol()
    parts = p.parts(toy(), 0)
    numbers = p.run(parts, L2).numbers
    mistakes = np.zeros((2, 2), int)
    for k in range(5):
        fit, held = parts.fold != k, parts.fold == k
        columns = protocol.varied(parts.votes[fit])
        for s, strength in enumerate([10.0, 1.0]):
            a, _ = PATHS["quadratic"](
                parts.votes[fit][:, columns],
                parts.y[fit],
                {"regularizer": "l2", "strength": strength},
                np.array([3, 30]),
            )
            said = np.where(scores(parts.votes[held][:, columns], a) > 0, 1, -1)
            mistakes[s] += (said != parts.y[held]).sum(axis=1)
    assert numbers["mistakes"] == mistakes.tolist()
    assert numbers["validation_error"] == mistakes.min() / len(parts.y)
