"""Measures as compiled formulas: the values of plain NumPy, the same bits for any threads and order of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_softmax, softmax

from boostlab.backend import Masses
from boostlab.boosters.adaboost_mr import AdaBoostMR
from boostlab.boosters.logitboost import LogitBoost, LogitBoostOfClasses
from boostlab.boosters.madaboost import MadaBoost
from boostlab.contract.rule import is_softmax
from boostlab.engine import measures
from boostlab.engine.measures import ScaledLogLoss
from boostlab.ensemble.vote import decide, probabilities, settle_within
from tables import class_numbers

EPS = np.finfo(float).eps
MANY = 1 << 15  # rows whose values are not held at once


# -- the twins: measures as NumPy says them, of scores that are settled -----------------------------------------------


def errors(rule, codes, F):
    return decide(F) != codes


def exponentials(rule, codes, F):
    return np.exp(np.minimum(np.where(codes == 1, -F, F), 700.0))


def log_losses(rule, codes, F):
    P = probabilities(rule, F)[np.arange(len(codes)), codes]
    return -np.log(np.maximum(P, EPS))


TWINS = {
    "error": (lambda rule: measures.error, errors),
    "exponential": (lambda rule: measures.exponential_loss, exponentials),
    "log_loss": (lambda rule: lambda *args: measures.log_loss(*args[:3], rule, *args[3:]), log_losses),
}


def scaled_terms(codes, F, a, unit, sure):
    """The loss of every row at the factor a of its scores in units, its slope and its curvature."""
    F = (np.stack([-F, F], axis=1) if F.ndim == 1 else F) / unit
    target = np.full(F.shape, (1.0 - sure) / (F.shape[1] - 1))
    target[np.arange(len(codes)), codes] = sure
    P = softmax(a * F, axis=1)
    mean = (P * F).sum(axis=1)
    spread = (P * (F - mean[:, None]) ** 2).sum(axis=1)
    return -(target * log_softmax(a * F, axis=1)).sum(axis=1), mean - (target * F).sum(axis=1), spread


MAGNITUDES = st.one_of(
    st.sampled_from([0.0, 1e-300, 1e-13, 1.0, 40.0, 745.0, 1e5, 1e300]),
    st.floats(-16, 16).map(lambda power: 10.0**power),
)


@st.composite
def scored(draw, most_classes=4):
    """Classes, scores (one a row, or one a class) of any size, a tie, and masses."""
    n, K = draw(st.integers(1, 12)), draw(st.integers(2, most_classes))
    size = n if K == 2 else n * K
    signs = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=size, max_size=size))
    F = np.array(signs) * draw(st.lists(MAGNITUDES, min_size=size, max_size=size))
    codes = class_numbers(draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n)))
    mass = np.array(draw(st.lists(st.sampled_from([1.0, 2.0, 7.0]), min_size=n, max_size=n)))
    mass = mass * draw(st.sampled_from([1.0, 0.3]))
    F = F if K == 2 else F.reshape(K, n).T
    return codes, F, draw(st.sampled_from([0.0, 1e-12 * np.abs(F).max()])), Masses(n, mass)


@given(scored(), st.sampled_from(sorted(TWINS)))
def test_measures_are_those_of_numpy(table, name):
    codes, F, tie, rows = table
    rule = LogitBoost() if F.ndim == 1 else LogitBoostOfClasses()
    measure, twin = (f for f in (TWINS[name][0](rule), TWINS[name][1]))
    if name == "exponential" and F.ndim > 1:
        with pytest.raises(ValueError, match="one score"):
            measure(rows, codes, F, tie)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        expected = rows.masses @ twin(rule, codes, settle_within(F, tie)) / rows.n
    assert measure(rows, codes, F, tie) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(scored(most_classes=2))
def test_losses_of_numbers_are_those_of_numpy(table):
    _, F, tie, rows = table
    F = np.clip(F, -1e100, 1e100)  # whose squares are numbers
    y = np.roll(F, 1) / 2 + 1.0
    d = y - settle_within(F, tie)
    for measure, twin in ((measures.squared_error, d * d), (measures.absolute_error, np.abs(d))):
        assert measure(rows, y, F, tie) == pytest.approx(rows.masses @ twin / rows.n, rel=1e-12)


@given(scored(), st.floats(-6, 6).map(math.exp))
def test_the_sums_of_the_scaled_log_loss_are_those_of_numpy(table, a):
    codes, F, tie, rows = table
    unit = rows.largest_size(F)
    assert unit == np.abs(F).max()
    if unit == 0.0:
        return
    tops = () if F.ndim == 1 else rows.values_of(measures.top, {"F": F})
    found = measures._sums(rows, codes, F, tops, tie, unit, a)
    expected = scaled_terms(codes, settle_within(F, tie), a, unit, (rows.n + 1) / (rows.n + 2))
    for sum_, terms in zip(found, expected, strict=True):
        scale = rows.masses @ np.abs(terms) + 1e-3 * rows.n * min(a, 1.0)
        assert sum_ == pytest.approx(rows.masses @ terms, rel=0, abs=1e-12 * scale)


@given(scored())
def test_the_scaled_log_loss_is_at_most_that_of_no_vote(table):
    codes, F, tie, rows = table
    top = max(np.abs(F).max(), 1e-290)
    F, tie = F / top, tie / top  # the first factor, 1, is that of scores of a usual size
    loss, no_vote = ScaledLogLoss()(rows, codes, F, tie), math.log(2 if F.ndim == 1 else F.shape[1])
    assert -1e-15 <= loss <= no_vote + 1e-6
    if not settle_within(F, tie).any():
        assert loss == pytest.approx(no_vote, rel=1e-15)


def many(n_classes, kind, seed=0):
    rng = np.random.default_rng(seed)
    n = MANY + 777
    codes = class_numbers(rng.integers(0, n_classes, n))
    F = rng.normal(size=(n_classes, n)).T
    F[np.arange(n), codes] += 0.5
    F = F[:, 1] - F[:, 0] if n_classes == 2 else F
    mass = {"plain": None, "counts": rng.integers(1, 4, n).astype(float), "real": rng.random(n) + 0.1}[kind]
    return codes, F, mass


def values_of(codes, F, mass, threads):
    rows = Masses(len(codes), mass).on(threads)
    rules = [LogitBoost(), MadaBoost()] if F.ndim == 1 else [LogitBoostOfClasses(), AdaBoostMR()]
    scaled = ScaledLogLoss()
    found = [measures.error(rows, codes, F, 1e-3)]
    found += [measures.log_loss(rows, codes, F, rule, 1e-3) for rule in rules]
    found += [
        scaled(rows, codes, shrunk * F, 1e-12) for shrunk in (1.0, 0.9)
    ]  # the second begins where the first ended
    if F.ndim == 1:
        found.append(measures.exponential_loss(rows, codes, F, 1e-3))
        found.append(measures.squared_error(rows, codes.astype(float), F, 1e-3))
    return found


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["plain", "counts", "real"])
def test_many_rows_by_any_threads_and_in_any_order(n_classes, kind):
    codes, F, mass = many(n_classes, kind)
    expected = values_of(codes, F, mass, 1)
    order = np.random.default_rng(1).permutation(len(codes))
    turned = F[order] if n_classes == 2 else np.ascontiguousarray(F[order].T).T
    for threads in (2, 3):
        assert values_of(codes, F, mass, threads) == expected
    assert values_of(class_numbers(codes[order]), turned, None if mass is None else mass[order], 2) == expected
    masses = np.ones(len(codes)) if mass is None else mass
    settled = settle_within(F, 1e-3)
    mean = masses / masses.sum()
    assert expected[0] == pytest.approx(mean @ errors(None, codes, settled), rel=1e-12)
    rule = LogitBoost() if n_classes == 2 else LogitBoostOfClasses()
    assert expected[1] == pytest.approx(mean @ log_losses(rule, codes, settled), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_counts_are_copies(n_classes):
    codes, F, mass = many(n_classes, "counts")
    few = slice(0, 9000)
    codes, F, mass = codes[few], F[few], mass[few].astype(int)
    copies = np.repeat(np.arange(9000), mass)
    assert values_of(codes, F, mass.astype(float), 2) == values_of(class_numbers(codes[copies]), F[copies], None, 2)


def test_a_link_that_is_not_the_usual_one():
    codes = class_numbers([0, 1, 1, 0])
    F = np.array([-1.0, 2.0, -0.5, 0.0])
    p = expit(np.where(codes == 1, F, -F))
    assert measures.log_loss(Masses(4), codes, F, MadaBoost()) == pytest.approx(-np.log(p).mean(), rel=1e-14)


class Sharper(LogitBoostOfClasses):
    """Says nothing of its own probabilities."""

    def probability(self, F):
        return softmax(2.0 * F, axis=1)


def test_the_softmax_is_that_of_the_class_that_says_so():
    assert is_softmax(LogitBoostOfClasses())
    assert not is_softmax(Sharper())
    assert not is_softmax(MadaBoost())
    F, codes = np.array([[0.0, 1.0, -1.0], [2.0, 0.5, 0.0]]), class_numbers([1, 2])
    for rule, factor in ((LogitBoostOfClasses(), 1.0), (Sharper(), 2.0)):
        expected = -log_softmax(factor * F, axis=1)[[0, 1], codes].mean()
        assert measures.log_loss(Masses(2), codes, F, rule) == pytest.approx(expected, rel=1e-14)


def test_ties_are_decided_as_the_vote_does():
    codes = class_numbers([0, 1, 0, 1])
    F = np.array([1e-9, 1e-9, -1e-9, 1e-7])
    assert measures.error(Masses(4), codes, F, 1e-8) == 0.25
    classes = class_numbers([0, 1, 2])
    F = np.array([[1.0 - 1e-9, 1.0, 0.0]] * 3)
    assert measures.error(Masses(3), classes, F, 1e-8) == pytest.approx(2 / 3)  # all are named 0
    assert measures.error(Masses(3), classes, F) == pytest.approx(2 / 3)  # all are named 1


def test_scores_that_are_not_numbers_are_refused():
    codes, F = class_numbers([0, 1]), np.array([1.0, np.nan])
    for measure in (ScaledLogLoss(), measures.exponential_loss):
        with pytest.raises(ArithmeticError, match="NaN or infinity"):
            measure(Masses(2), codes, F)
