"""How good a vote is on a sample: measures that are better when smaller."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend import Masses
from boostlab.contract import Rule
from boostlab.ensemble.vote import decide, probabilities

Array = npt.NDArray[Any]

MEASURES = ("error", "exponential", "log_loss", "scaled_log_loss")
REGRESSION_MEASURES = ("squared_error", "absolute_error")


def error(rows: Masses, codes: Array, F: Array) -> float:
    """Return the share of the sample that the scores misclassify."""
    return rows.total(rows.map(_wrong, codes, F)) / rows.n


def _wrong(codes: Array, F: Array) -> Array:
    return (decide(F) != codes).astype(np.float64)


def exponential_loss(rows: Masses, codes: Array, F: Array) -> float:
    """Return the mean of exp(-y F)."""
    if F.ndim != 1:
        raise ValueError('scoring="exponential" is for boosters with one score; use "error" or "log_loss".')
    return rows.total(rows.map(_exponential, codes, F)) / rows.n


def _exponential(codes: Array, F: Array) -> Array:
    return np.exp(np.minimum(-np.where(codes == 1, F, -F), 700.0))


def log_loss(rows: Masses, codes: Array, F: Array, rule: Rule) -> float:
    """Return the mean of -log P(the true class)."""
    return rows.total(rows.map(partial(_minus_log, rule), codes, F)) / rows.n


def _minus_log(rule: Rule, codes: Array, F: Array) -> Array:
    P = probabilities(rule, F)[np.arange(len(codes)), codes]
    return -np.log(np.maximum(P, np.finfo(float).eps))  # scikit-learn's floor


def squared_error(rows: Masses, y: Array, F: Array) -> float:
    """Return the mean of (y - F)^2."""
    return rows.total((y - F) ** 2) / rows.n


def absolute_error(rows: Masses, y: Array, F: Array) -> float:
    """Return the mean of |y - F|."""
    return rows.total(np.abs(y - F)) / rows.n


class ScaledLogLoss:
    """The log loss of the scores times the factor that makes it smallest: scores need no scale to be compared.

    With l the mean of -log softmax(a F), the true class having the target (n+1)/(n+2) and the others an equal share of
    the rest (Platt 1999: so that separated rows do not ask for an infinite factor), Newton's method finds a, from where
    the last round's ended.
    """

    def __init__(self) -> None:
        self.factor = 1.0

    def __call__(self, rows: Masses, codes: Array, F: Array) -> float:
        """Return the smallest mean loss over the factor."""
        unit = float(np.abs(F).max()) if len(F) else 0.0
        if unit == 0.0:
            return float(np.log(2 if F.ndim == 1 else F.shape[1]))
        sure = (rows.n + 1.0) / (rows.n + 2.0)
        a, best = self.factor * unit, np.inf
        for _ in range(MOST_STEPS):
            sums = rows.totals_of(partial(_scaled, a, unit, sure), 3, codes, F)  # where the rows are
            loss, slope, curvature = (x / rows.n for x in sums)
            best = min(best, loss)
            gain = slope * slope / max(2.0 * curvature, SCALED)  # of the next step
            if gain <= SCALED or a < SCALED:  # or no factor helps
                break
            a = min(max(a - slope / max(curvature, SCALED), a / 4.0), 4.0 * a)
        self.factor = a / unit if a >= SCALED else 1.0
        return best


SCALED = 1e-9  # how far from the smallest loss a factor may be
MOST_STEPS = 30


def _scaled(a: float, unit: float, sure: float, codes: Array, F: Array) -> Array:
    """Return the loss of every row at the factor a, its slope and its curvature; scores are divided by a unit."""
    F = (np.stack([-F, F], axis=1) if F.ndim == 1 else F) / unit
    target = np.full(F.shape, (1.0 - sure) / (F.shape[1] - 1))
    target[np.arange(len(codes)), codes] = sure
    wanted = (target * F).sum(axis=1)
    top = a * F.max(axis=1, keepdims=True)
    e = np.exp(a * F - top)
    whole = e.sum(axis=1)
    P = e / whole[:, None]
    mean = (P * F).sum(axis=1)
    spread = (P * F * F).sum(axis=1) - mean * mean
    loss = top[:, 0] + np.log(whole) - a * wanted
    return np.stack([loss, mean - wanted, spread], axis=1)
