"""What an estimator is fitted to for each criterion, and what its answers mean as votes."""

from __future__ import annotations

import pickle
from math import log

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab import DecisionTree
from boostlab.backend import CpuSample, Masses
from boostlab.contract import Task
from boostlab.data.table import Bins, Table
from boostlab.learners.adapter import ConstantVoter, EstimatorLearner

SMOOTH = {"smoothing": 0.01}


@pytest.fixture
def data():
    """Two columns, labels of both signs in every region, uneven weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=40) > 0, 1.0, -1.0), rng.uniform(0.2, 2, 40)


def best(estimator, X, task, mass=None):
    return (
        EstimatorLearner(estimator)
        .begin(CpuSample(Table(X), Masses(len(X), mass)), np.random.default_rng(0))
        .best(task)
        .voter
    )


def mislabel_task(codes, D):
    """The task of AdaBoost.M2 for weights D on wrong labels."""
    right = np.arange(D.shape[1]) == codes[:, None]
    return Task("hamming", np.where(right, D.sum(axis=1, keepdims=True), D), np.where(right, 1.0, -1.0), {"no": 0.0})


@pytest.fixture
def three():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 45)
    D = rng.random((45, 3)) * (np.arange(3) != codes[:, None])
    return rng.normal(size=(45, 2)) + np.eye(3)[codes][:, :2], codes, D


# -- z: half the log odds --------------------------------------------------------------------------------------------


def test_half_the_log_odds_of_probabilities(data):
    X, y, w = data
    voter = best(LogisticRegression(), X, Task("z", w, y, SMOOTH))
    p = LogisticRegression().fit(X, y > 0, w / w.mean()).predict_proba(X)[:, 1]
    votes = voter.votes(Table(X))
    np.testing.assert_allclose(votes, 0.5 * np.log((p + 0.01) / (1 - p + 0.01)), rtol=1e-9)
    assert voter.bound == np.abs(votes).max()
    assert voter.bound != 1.0


def test_smoothing_bounds_the_votes(data):
    X, y, w = data
    voter = best(DecisionTreeClassifier(), X, Task("z", w, y, SMOOTH))  # grown until it is sure everywhere
    limit = 0.5 * log(1.01 / 0.01)
    np.testing.assert_allclose(voter.votes(Table(X)), limit * y, rtol=1e-12)
    assert voter.bound == pytest.approx(limit, rel=1e-12)


def test_a_tree_of_scikit_learn_says_what_our_own_says(data):
    # Columns of few values, so that both see the same cuts; without smoothing a leaf's vote is half its log odds.
    X, y, w = data
    X = np.digitize(X, [-0.8, 0.1, 0.9]).astype(float)
    task, rows = Task("z", w, y, {"smoothing": 0.0}), Masses(40)
    own = DecisionTree(max_leaf_nodes=2).begin(
        CpuSample(Table.of(X, Bins.fit(X, rows)), rows), np.random.default_rng(0)
    )
    ours, theirs = own.best(task).voter, best(DecisionTreeClassifier(max_leaf_nodes=2), X, task)
    assert ours.threshold[0] == theirs.estimator.tree_.threshold[0]
    np.testing.assert_allclose(theirs.votes(Table(X)), ours.votes(Table(X)), rtol=1e-12)
    assert theirs.bound == pytest.approx(ours.bound, rel=1e-12)


@pytest.mark.parametrize("mass", [None, np.linspace(0.5, 3, 40)], ids=["uniform", "weighted"])
def test_labels_alone_part_the_rows_and_each_side_votes_its_best(data, mass):
    X, y, w = data
    voter = best(RidgeClassifier(), X, Task("z", w, y, {"smoothing": 0.0}), mass)
    weight = w if mass is None else w * mass
    said = RidgeClassifier().fit(X, y > 0, weight).predict(X)

    def Z(sides):  # of any two votes
        return (weight * np.exp(-y * sides[said.astype(int)])).sum() / weight.sum()

    found = minimize(Z, np.zeros(2), tol=1e-12)
    votes = voter.votes(Table(X))
    np.testing.assert_allclose(votes, found.x[said.astype(int)], atol=1e-5)
    parts = [[weight[(said == k) & (y == s)].sum() for s in (1, -1)] for k in (0, 1)]
    Z_here = (weight * np.exp(-y * votes)).sum() / weight.sum()
    assert Z_here == pytest.approx(2 * sum(np.sqrt(a * b) for a, b in parts) / weight.sum(), rel=1e-12)
    assert voter.bound == np.abs(votes).max()


def test_sides_are_smoothed_as_leaves_are(data):
    X, y, w = data
    X[:, 0] = np.where(y > 0, 1.0, -1.0)  # the classes part
    voter = best(RidgeClassifier(), X, Task("z", w, y, SMOOTH))
    plus, minus, s = w[y > 0].sum(), w[y < 0].sum(), 0.01 * w.sum()
    expected = np.where(y > 0, 0.5 * log((plus + s) / s), -0.5 * log((minus + s) / s))
    np.testing.assert_allclose(voter.votes(Table(X)), expected, rtol=1e-12)


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_a_draw_of_one_class_is_sure_of_it(data, label):
    X, y, _ = data
    counts = np.where(y == label, 2, 0)
    for estimator in (KNeighborsClassifier(), RidgeClassifier(), GaussianNB()):
        voter = best(estimator, X, Task("z", np.ones(40), y, SMOOTH, counts=counts))
        assert isinstance(voter, ConstantVoter)
        np.testing.assert_allclose(voter.votes(Table(X)), label * 0.5 * log(1.01 / 0.01), rtol=1e-12)
        assert voter.bound == pytest.approx(0.5 * log(1.01 / 0.01), rel=1e-12)


class Forgetful(GaussianNB):
    """Knows one class only, whatever it is shown."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X[y == 1], y[y == 1])


def test_a_classifier_that_forgot_a_class(data, three):
    X, y, w = data
    votes = best(Forgetful(), X, Task("z", w, y, SMOOTH)).votes(Table(X))
    np.testing.assert_allclose(votes, 0.5 * log(1.01 / 0.01), rtol=1e-12)
    X, codes, D = three
    P = best(Forgetful(), X, mislabel_task(codes, D)).votes(Table(X))
    assert np.array_equal(P, np.tile([0.0, 1.0, 0.0], (45, 1)))


# -- hamming: plausibilities -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [None, np.linspace(0.5, 3, 45)], ids=["uniform", "weighted"])
def test_a_row_counts_as_much_as_its_wrong_labels(three, mass):
    X, codes, D = three
    voter = best(LogisticRegression(), X, mislabel_task(codes, D), mass)
    weight = D.sum(axis=1) * (1.0 if mass is None else mass)
    size = max(45, 0 if mass is None else mass.sum())
    expected = LogisticRegression().fit(X, codes, weight * (size / weight.sum())).predict_proba(X)
    np.testing.assert_allclose(voter.votes(Table(X)), expected, rtol=1e-9)
    assert voter.bound == pytest.approx(expected.max(), rel=1e-9)


def test_labels_alone_are_zeros_and_ones(three):
    X, codes, D = three
    voter = best(RidgeClassifier(), X, mislabel_task(codes, D))
    expected = RidgeClassifier().fit(X, codes, D.sum(axis=1) / D.sum(axis=1).mean()).predict(X)
    assert np.array_equal(voter.votes(Table(X)), np.eye(3)[expected])
    assert voter.bound == 1.0


@pytest.mark.parametrize("criterion", ["hamming", "factored"])
def test_votes_for_every_label_go_from_no_to_yes(three, criterion):
    # AdaBoost.MH: a mistake k on a row of class c costs D(c) + D(k), so the row counts D(c) + mean of the others.
    X, codes, _ = three
    D = np.random.default_rng(4).random((45, 3))
    Y = np.where(np.arange(3) == codes[:, None], 1.0, -1.0)
    own = D[np.arange(45), codes]
    weight = own + (D.sum(axis=1) - own) / 2
    for estimator in (LogisticRegression(), RidgeClassifier()):
        voter = best(estimator, X, Task(criterion, D, Y, {"no": -1.0}))
        model = clone(estimator).fit(X, codes, weight / weight.mean())
        P = model.predict_proba(X) if hasattr(model, "predict_proba") else np.eye(3)[model.predict(X)]
        np.testing.assert_allclose(voter.votes(Table(X)), 2 * P - 1, rtol=0, atol=1e-7)


def test_log_odds_of_every_label(three):
    X, codes, _ = three
    D = np.random.default_rng(4).random((45, 3))
    Y, s = np.where(np.arange(3) == codes[:, None], 1.0, -1.0), 0.5 / (45 * 3)
    mass = np.linspace(0.5, 3, 45)
    voter = best(LogisticRegression(), X, Task("hamming_z", D, Y, {"smoothing": s}), mass)
    P = voter.estimator.predict_proba(X)
    np.testing.assert_allclose(voter.votes(Table(X)), 0.5 * np.log((P + s) / (1 - P + s)), rtol=1e-9)
    # Without probabilities the rows are parted by what is said, and every part votes its own log odds.
    voter = best(RidgeClassifier(), X, Task("hamming_z", D, Y, {"smoothing": s}), mass)
    said, w = voter.estimator.predict(X), D * mass[:, None]
    for k in range(3):
        plus, minus = ((w * (sign == Y))[said == k].sum(axis=0) for sign in (1, -1))
        expected = 0.5 * np.log((plus + s * w.sum()) / (minus + s * w.sum()))
        np.testing.assert_allclose(
            voter.votes(Table(X))[said == k], np.tile(expected, ((said == k).sum(), 1)), rtol=1e-9
        )


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(5), RidgeClassifier(), DecisionTreeClassifier(max_depth=2)])
@pytest.mark.parametrize("absent", [0, 1, 2])
def test_a_class_that_a_draw_lacks_is_implausible(three, estimator, absent):
    X, codes, D = three
    task = mislabel_task(codes, D)
    task.counts = np.where(codes == absent, 0, 3)
    task.weight = task.weight / task.weight.sum(axis=1, keepdims=True)  # as the engine does
    voter = best(estimator, X, task)
    P = voter.votes(Table(X))
    assert np.all(P[:, absent] == 0)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    present = np.flatnonzero(np.arange(3) != absent)
    shown = codes != absent
    assert (P[shown].argmax(axis=1) == codes[shown]).mean() > 0.6
    assert voter.estimator.classes_.tolist() == [0, 1]  # without gaps, as some libraries want them
    assert set(P.argmax(axis=1)) == set(present)


def test_a_draw_repeats_rows_by_their_counts(three):
    X, codes, D = three
    task = mislabel_task(codes, D)
    task.counts = np.random.default_rng(2).multinomial(60, np.full(45, 1 / 45))
    task.weight = task.weight / task.weight.sum(axis=1, keepdims=True)
    voter = best(KNeighborsClassifier(7), X, task)
    expected = KNeighborsClassifier(7).fit(X.repeat(task.counts, axis=0), codes.repeat(task.counts))
    assert np.array_equal(voter.votes(Table(X)), expected.predict_proba(X))


def test_a_draw_of_one_class_finds_nothing_else_plausible(three):
    X, codes, D = three
    task = mislabel_task(codes, D)
    task.counts = np.where(codes == 2, 1, 0)
    voter = best(KNeighborsClassifier(5), X, task)
    assert isinstance(voter, ConstantVoter)
    assert np.array_equal(voter.votes(Table(X)), np.tile([0.0, 0.0, 1.0], (45, 1)))
    assert voter.bound == 1.0


# -- least_squares ---------------------------------------------------------------------------------------------------


class WeightedMean(RegressorMixin, BaseEstimator):
    """Predicts the weighted mean, as a column."""

    seen: tuple = ()

    def fit(self, X, y, sample_weight=None):
        WeightedMean.seen = (y, sample_weight)
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.full((len(X), 1), self.mean_)


def test_a_regressor_fits_the_targets_as_they_are(data):
    X, _, w = data
    z = np.random.default_rng(3).normal(size=40) * 4
    voter = best(LinearRegression(), X, Task("least_squares", w, z))
    expected = LinearRegression().fit(X, z, sample_weight=w)
    np.testing.assert_allclose(voter.votes(Table(X)), expected.predict(X), rtol=1e-8)
    assert voter.bound == pytest.approx(np.abs(expected.predict(X)).max(), rel=1e-8)
    voter = best(WeightedMean(), X, Task("least_squares", w, z))
    assert np.array_equal(WeightedMean.seen[0], z)
    np.testing.assert_allclose(WeightedMean.seen[1], w / w.mean(), rtol=1e-12)
    assert voter.votes(Table(X)) == pytest.approx(np.average(z, weights=w), rel=1e-12)
    constant = best(WeightedMean(), X, Task("least_squares", w, np.ones(40)))  # nothing special about one value
    assert not isinstance(constant, ConstantVoter)


def test_a_classifier_parts_the_targets_and_each_side_votes_its_mean(data):
    X, y, w = data
    z = y * np.random.default_rng(4).uniform(0.1, 3, 40)
    voter = best(DecisionTreeClassifier(max_depth=1), X, Task("least_squares", w, z))
    assert set(voter.estimator.classes_) == {0, 1}
    weight = w * np.abs(z)
    twin = DecisionTreeClassifier(max_depth=1).fit(X, z > 0, weight / weight.mean())
    said = twin.predict(X)
    assert 0 < said.mean() < 1
    means = [np.average(z[said == k], weights=w[said == k]) for k in (False, True)]
    votes = voter.votes(Table(X))
    np.testing.assert_allclose(votes, np.where(said, means[1], means[0]), rtol=1e-12)
    h = np.where(said, 1.0, -1.0)
    multiple = (w * z * h).sum() / w.sum()
    assert (w * (z - votes) ** 2).sum() <= (w * (z - multiple * h) ** 2).sum()
    assert (w * (z - multiple * h) ** 2).sum() < (w * z**2).sum()
    assert voter.bound == pytest.approx(np.abs(means).max(), rel=1e-12)


def test_targets_of_one_sign_give_their_mean(data):
    X, _, w = data
    voter = best(LogisticRegression(), X, Task("least_squares", w, -np.linspace(1, 2, 40)))
    assert isinstance(voter, ConstantVoter)
    np.testing.assert_allclose(voter.votes(Table(X)), -np.average(np.linspace(1, 2, 40), weights=w), rtol=1e-12)


# -- edge by a regressor ---------------------------------------------------------------------------------------------


def test_labels_are_fitted_under_the_weights_and_cut_off(data):
    X, y, w = data
    X = X * 4
    voter = best(LinearRegression(), X, Task("edge", w, y))
    fit = LinearRegression().fit(X, y, sample_weight=w).predict(X)
    assert np.abs(fit).max() > 1
    np.testing.assert_allclose(voter.votes(Table(X)), np.clip(fit, -1, 1), rtol=1e-9)
    assert voter.bound == 1.0
    far = voter.votes(Table(100 * X))
    assert np.abs(far).max() == 1.0


def test_a_residual_is_fitted_itself(data):
    # Of all multiples of voters the fit of r under the masses lowers sum m (r - c h)^2 most.
    X, y, _ = data
    mass = np.linspace(0.5, 3, 40)
    r = 3 * y * np.random.default_rng(5).random(40)
    tree = DecisionTreeRegressor(max_leaf_nodes=3)
    voter = best(tree, X, Task("edge", np.abs(r), np.sign(r), linear=True), mass)
    expected = DecisionTreeRegressor(max_leaf_nodes=3).fit(X, r, mass).predict(X)
    h = voter.votes(Table(X))
    np.testing.assert_allclose(h, expected, rtol=1e-12)
    d, eta = (mass * r * h).sum(), (mass * h * h).sum()
    assert d / eta == pytest.approx(1.0, rel=1e-12)  # its own best multiple
    other = best(tree, X, Task("edge", np.abs(r), np.sign(r)), mass).votes(Table(X))
    assert d**2 / eta >= (mass * r * other).sum() ** 2 / (mass * other**2).sum()


def test_a_draw_of_a_residual_holds_its_signs_only(data):
    X, y, _ = data
    counts = np.random.default_rng(6).multinomial(40, np.full(40, 1 / 40))
    voter = best(KNeighborsRegressor(3), X, Task("edge", np.ones(40), y, linear=True, counts=counts))
    expected = KNeighborsRegressor(3).fit(X.repeat(counts, axis=0), y.repeat(counts)).predict(X)
    assert np.array_equal(voter.votes(Table(X)), expected)
    line = best(LinearRegression(), X, Task("edge", np.ones(40), y, linear=True, counts=counts))
    assert np.abs(line.votes(Table(10 * X))).max() == 1.0


# -- all ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["edge", "z", "least_squares", "hamming"])
@pytest.mark.parametrize("estimator", [RidgeClassifier(), DecisionTreeClassifier(max_depth=2)])
def test_voters_are_pickled_and_read_plain_arrays(data, three, criterion, estimator):
    X, y, w = data
    task = Task(criterion, w, y, SMOOTH)
    if criterion == "hamming":
        X, codes, D = three
        task = mislabel_task(codes, D)
    voter = best(estimator, X, task)
    votes = voter.votes(Table(X))
    assert votes.dtype == np.float64
    assert np.array_equal(pickle.loads(pickle.dumps(voter)).predict(X), votes)
    assert np.abs(votes).max() == voter.bound


class Infinite(LinearRegression):
    """Loses its numbers."""

    def predict(self, X):
        return np.full(len(X), np.inf)


def test_numbers_that_are_none_are_named(data):
    X, y, w = data
    with pytest.raises(ValueError, match="Infinite predicts NaN or infinity; scale the columns"):
        best(Infinite(), X, Task("least_squares", w, y))
