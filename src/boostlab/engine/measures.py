"""How good a vote is on a sample: measures that are better when smaller.

A measure is given the scores as they are, and how near to each other they are a tie (see `ensemble.vote.settle`): it
looks at them as the finished model would decide by them.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Row, Rule, exp, formula, largest_over_labels, log, log1p, sum_over_labels
from boostlab.contract.rule import is_softmax
from boostlab.ensemble.vote import probabilities, settle_within

Array = npt.NDArray[Any]
Rows = Any  # how much every row counts, where the rows are: `Masses`, or what stands for them

MEASURES = ("error", "exponential", "log_loss", "scaled_log_loss")
REGRESSION_MEASURES = ("squared_error", "absolute_error")

LEAST = float(np.finfo(float).eps)  # of a probability: scikit-learn's floor
MOST = -math.log(LEAST)
ABOVE_HALF = float(np.nextafter(0.5, 1.0))


@formula
def settled(F: float, tie: float) -> float:
    """One score as the vote decides by it."""
    return 0.0 if abs(F) <= tie else F


@formula
def below_top(F: float, top: float, tie: float) -> float:
    """How far one of several scores is below the largest, by which the vote decides."""
    return 0.0 if top - tie <= F else F - top


@largest_over_labels
def top(F: Row, l: int) -> float:
    """The largest score of a row."""
    return F[l]


# -- error ---------------------------------------------------------------------------------------------------------


@formula
def is_wrong(k: int, F: float, tie: float) -> float:
    """Whether one score decides for the other class."""
    return 1.0 if (tie < F) != (k == 1) else 0.0


@sum_over_labels
def objections(k: int, F: Row, top: float, l: int, tie: float) -> float:
    """How many labels say that a row's class is not the first of the largest scores."""
    largest = below_top(F[l], top, tie) == 0.0
    return 1.0 if (largest and l < k) or (not largest and l == k) else 0.0


@formula
def is_any(objections: float) -> float:
    """Whether there are some."""
    return 1.0 if objections > 0.0 else 0.0


def error(rows: Rows, codes: Array, F: Array, tie: float = 0.0) -> float:
    """Return the share of the sample that the scores misclassify."""
    if F.ndim == 1:
        (wrong,) = rows.sums_of(is_wrong, {"k": codes, "F": F}, tie)
    else:
        columns = {"k": codes, "F": F, "top": rows.values_of(top, {"F": F})[0]}
        (wrong,) = rows.sums_of(is_any, {"objections": rows.values_of(objections, columns, tie)[0]})
    return float(wrong / rows.n)


# -- losses --------------------------------------------------------------------------------------------------------


@formula
def exponential(k: int, F: float, tie: float) -> float:
    """exp(-y F)."""
    x = settled(F, tie)
    return exp(min(-x if k == 1 else x, 700.0))


def exponential_loss(rows: Rows, codes: Array, F: Array, tie: float = 0.0) -> float:
    """Return the mean of exp(-y F)."""
    if F.ndim != 1:
        raise ValueError('scoring="exponential" is for boosters with one score; use "error" or "log_loss".')
    return float(rows.sums_of(exponential, {"k": codes, "F": F}, tie)[0] / rows.n)


@formula
def logistic_loss(k: int, F: float, tie: float) -> float:
    """-log P(the true class) by `Rule.probability`, as `probabilities` has it."""
    x = settled(F, tie)
    P = 1.0 / (1.0 + exp(-2.0 * x))
    P = max(P, ABOVE_HALF) if x > 0.0 else min(P, 0.5)
    return -log(max(P if k == 1 else 1.0 - P, LEAST))


@sum_over_labels
def partition(F: Row, top: float, l: int, tie: float) -> float:
    """The sum of exp(F_l - the largest score)."""
    return exp(below_top(F[l], top, tie))


@formula
def softmax_loss(k: int, F: Row, top: float, partition: float, tie: float) -> float:
    """-log softmax(F) of the true class."""
    return min(log(partition) - below_top(F[k], top, tie), MOST)


def log_loss(rows: Rows, codes: Array, F: Array, rule: Rule, tie: float = 0.0) -> float:
    """Return the mean of -log P(the true class)."""
    if F.ndim == 1 and type(rule).probability is Rule.probability:
        return float(rows.sums_of(logistic_loss, {"k": codes, "F": F}, tie)[0] / rows.n)
    if is_softmax(rule):
        columns = {"F": F, "top": rows.values_of(top, {"F": F})[0]}
        columns |= {"k": codes, "partition": rows.values_of(partition, columns, tie)[0]}
        return float(rows.sums_of(softmax_loss, columns, tie)[0] / rows.n)
    return float(rows.total(rows.map(partial(_minus_log, rule, tie), codes, F)) / rows.n)


def _minus_log(rule: Rule, tie: float, codes: Array, F: Array) -> Array:
    P = probabilities(rule, settle_within(F, tie))[np.arange(len(codes)), codes]
    return -np.log(np.maximum(P, LEAST))


@formula
def squared_residual(y: float, F: float, tie: float) -> float:
    """(y - F)^2."""
    d = y - settled(F, tie)
    return d * d


def squared_error(rows: Rows, y: Array, F: Array, tie: float = 0.0) -> float:
    """Return the mean of (y - F)^2."""
    return float(rows.sums_of(squared_residual, {"y": y, "F": F}, tie)[0] / rows.n)


@formula
def absolute_residual(y: float, F: float, tie: float) -> float:
    """|y - F|."""
    return abs(y - settled(F, tie))


def absolute_error(rows: Rows, y: Array, F: Array, tie: float = 0.0) -> float:
    """Return the mean of |y - F|."""
    return float(rows.sums_of(absolute_residual, {"y": y, "F": F}, tie)[0] / rows.n)


# -- log loss of scaled scores -------------------------------------------------------------------------------------


@formula
def scaled(k: int, F: float, tie: float, unit: float, a: float, doubt: float) -> tuple[float, float, float]:
    """The loss of a row at the factor a of its score in units, its slope and its curvature.

    With m = y F the loss is |a m| + log(1 + exp(-2 |a m|)) - (1 - doubt) a m.
    """
    x = settled(F, tie) / unit
    size = abs(x)
    t = exp(-2.0 * (a * size))
    share = 1.0 / (1.0 + t)
    far = doubt if (x > 0.0) == (k == 1) else 2.0 - doubt  # from what the sign of a large score says
    return a * size * far + log1p(t), size * (far - 2.0 * t * share), 4.0 * (size * share) * (size * t * share)


@sum_over_labels
def moments(F: Row, top: float, l: int, tie: float, unit: float, a: float) -> tuple[float, float, float, float]:
    """The sums of e, e d, e d^2 and d, d being how far a label's score is below the largest and e = exp(a d)."""
    d = below_top(F[l], top, tie) / unit
    e = exp(a * d)
    return e, e * d, e * d * d, d


@formula
def scaled_of_classes(
    k: int,
    F: Row,
    top: float,
    whole: float,
    slope: float,
    bend: float,
    apart: float,
    tie: float,
    unit: float,
    a: float,
    sure: float,
    rest: float,
) -> tuple[float, float, float]:
    """The loss of a row with several scores, its slope and its curvature, from the sums over its labels."""
    d = below_top(F[k], top, tie) / unit
    wanted = sure * d + rest * (apart - d)
    mean = slope / whole
    return log(whole) - a * wanted, mean - wanted, bend / whole - mean * mean


class ScaledLogLoss:
    """The log loss of the scores times the factor that makes it smallest: scores need no scale to be compared.

    With l the mean of -log softmax(a F), the true class having the target (n+1)/(n+2) and the others an equal share of
    the rest (Platt 1999: so that separated rows do not ask for an infinite factor), Newton's method finds a, from where
    the last round's ended.
    """

    def __init__(self) -> None:
        self.factor = 1.0

    def __call__(self, rows: Rows, codes: Array, F: Array, tie: float = 0.0) -> float:
        """Return the smallest mean loss over the factor."""
        unit = rows.largest_size(F)
        if unit <= (tie if F.ndim == 1 else 0.0):
            return float(np.log(2 if F.ndim == 1 else F.shape[1]))
        tops = () if F.ndim == 1 else rows.values_of(top, {"F": F})
        a, best = self.factor * unit, np.inf
        for _ in range(MOST_STEPS):
            loss, slope, curvature = (x / rows.n for x in _sums(rows, codes, F, tops, tie, unit, a))
            best = min(best, loss)
            gain = slope * slope / max(2.0 * curvature, SCALED)  # of the next step
            if gain <= SCALED or a < SCALED:  # or no factor helps
                break
            a = min(max(a - slope / max(curvature, SCALED), a / 4.0), 4.0 * a)
        self.factor = a / unit if a >= SCALED else 1.0
        return float(best)


SCALED = 1e-9  # how far from the smallest loss a factor may be
MOST_STEPS = 30


def _sums(rows: Rows, codes: Array, F: Array, tops: Any, tie: float, unit: float, a: float) -> Any:
    """Return the sums of the loss at the factor a, of its slope and of its curvature."""
    doubt = 1.0 / (rows.n + 2.0)
    if F.ndim == 1:
        return rows.sums_of(scaled, {"k": codes, "F": F}, tie, unit, a, 2.0 * doubt)
    columns = {"F": F, "top": tops[0]}
    found = rows.values_of(moments, columns, tie, unit, a)
    columns |= {"k": codes, **dict(zip(("whole", "slope", "bend", "apart"), found, strict=True))}
    return rows.sums_of(scaled_of_classes, columns, tie, unit, a, 1.0 - doubt, doubt / (F.shape[1] - 1))
