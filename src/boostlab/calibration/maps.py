"""Increasing maps from a score to the probability of a class, fitted to scores of rows that the model has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

Array = npt.NDArray[Any]

MOST_GROUPS = 500  # of scores, for Venn-Abers


@dataclass(frozen=True, eq=False)
class Sigmoid:
    """1 / (1 + exp(-(a s + b))) (Platt 1999, with his smoothed targets, by Newton's method; Lin, Lin & Weng 2007)."""

    a: float
    b: float

    kind: ClassVar[str] = "sigmoid"

    @classmethod
    def fit(cls, s: Array, y: Array, mass: Array) -> Sigmoid:
        """Fit to scores, truth values and masses."""
        plus, minus = float(mass @ y), float(mass @ (1.0 - y))
        t = np.where(y > 0, (plus + 1) / (plus + 2), 1 / (minus + 2))
        scale = float(np.abs(s).max(initial=0.0)) or 1.0
        x = np.column_stack([s / scale, np.ones(len(s))])
        w = np.array([0.0, np.log((plus + 1) / (minus + 1))])

        def loss(w: Array) -> float:
            z = x @ w
            return float(mass @ (np.logaddexp(0.0, z) - t * z))

        now = loss(w)
        for _ in range(100):
            p = expit(x @ w)
            gradient = x.T @ (mass * (p - t))
            H = (x * (mass * p * (1 - p))[:, None]).T @ x + 1e-12 * mass.sum() * np.eye(2)
            step = np.linalg.solve(H, gradient)
            for _ in range(40):
                if (after := loss(w - step)) <= now:
                    break
                step = step / 2
            done = now - after <= 1e-14 * abs(now)
            w, now = w - step, after
            if done:
                break
        return cls(float(w[0] / scale), float(w[1]))

    def __call__(self, s: Array) -> Array:
        """Return probabilities."""
        return np.asarray(expit(self.a * s + self.b))

    @property
    def numbers(self) -> tuple[Array, ...]:
        """What a model file holds."""
        return (np.array([self.a, self.b]),)

    @classmethod
    def of(cls, numbers: tuple[Array, ...]) -> Sigmoid:
        """Return the map that a model file holds."""
        return cls(float(numbers[0][0]), float(numbers[0][1]))


@dataclass(frozen=True, eq=False)
class Isotonic:
    """The best increasing function, straight between its steps (Zadrozny & Elkan 2002)."""

    x: Array
    p: Array

    kind: ClassVar[str] = "isotonic"

    @classmethod
    def fit(cls, s: Array, y: Array, mass: Array) -> Isotonic:
        """Fit to scores, truth values and masses."""
        x, share, weight = grouped(s, y, mass)
        p = isotonic_regression(share, sample_weight=weight, y_min=0.0, y_max=1.0)
        ends = np.ones(len(p), bool)  # only the ends of level stretches matter
        ends[1:-1] = (np.diff(p[:-1]) != 0) | (np.diff(p[1:]) != 0)
        return cls(x[ends], p[ends])

    def __call__(self, s: Array) -> Array:
        """Return probabilities."""
        return np.interp(s, self.x, self.p)

    @property
    def numbers(self) -> tuple[Array, ...]:
        """What a model file holds."""
        return self.x, self.p

    @classmethod
    def of(cls, numbers: tuple[Array, ...]) -> Isotonic:
        """Return the map that a model file holds."""
        return cls(*numbers)


@dataclass(frozen=True, eq=False)
class VennAbers:
    """Venn-Abers predictors (Vovk & Petej 2014): isotonic fits with the row as a 0 and as a 1, p1 / (1 - p0 + p1).

    Scores are first put into at most 500 groups of equal mass, which keeps the guarantee.
    """

    edges: Array  # a score belongs to the group of the first edge that is not below it
    low: Array  # p0 of every group
    high: Array  # p1

    kind: ClassVar[str] = "venn-abers"

    @classmethod
    def fit(cls, s: Array, y: Array, mass: Array) -> VennAbers:
        """Fit to scores, truth values and masses."""
        x, share, weight = grouped(s, y, mass)
        place = np.floor((np.cumsum(weight) - weight) / weight.sum() * MOST_GROUPS).astype(np.intp)
        _, group = np.unique(np.minimum(place, MOST_GROUPS - 1), return_inverse=True)
        n = int(group.max()) + 1
        whole = np.bincount(group, weight, n)
        ones = np.bincount(group, weight * share, n)
        last = np.searchsorted(group, np.arange(n), "right") - 1
        edges = (x[last[:-1]] + x[last[:-1] + 1]) / 2
        one = float(mass.sum() / len(mass))  # the row to predict weighs what a row does
        told = np.empty((2, n))
        for g in range(n):
            own = whole.copy()
            own[g] += one
            for label in (0, 1):
                top = ones.copy()
                top[g] += one * label
                told[label, g] = isotonic_regression(top / own, sample_weight=own)[g]
        return cls(edges, told[0], told[1])

    def __call__(self, s: Array) -> Array:
        """Return probabilities."""
        g = np.searchsorted(self.edges, s, "left")
        p0, p1 = self.low[g], self.high[g]
        return np.asarray(p1 / (1.0 - p0 + p1))

    @property
    def numbers(self) -> tuple[Array, ...]:
        """What a model file holds."""
        return self.edges, self.low, self.high

    @classmethod
    def of(cls, numbers: tuple[Array, ...]) -> VennAbers:
        """Return the map that a model file holds."""
        return cls(*numbers)


KINDS: dict[str, Any] = {cls.kind: cls for cls in (Sigmoid, Isotonic, VennAbers)}


def grouped(s: Array, y: Array, mass: Array) -> tuple[Array, Array, Array]:
    """Return the distinct scores in order, the share of ones among each, and their masses."""
    x, place = np.unique(s, return_inverse=True)
    weight = np.bincount(place, mass, len(x))
    return x, np.bincount(place, mass * y, len(x)) / weight, weight


@dataclass(frozen=True, eq=False)
class Calibration:
    """One map for two classes, or one a class, whose probabilities are divided by their sum."""

    maps: list[Any]

    @classmethod
    def fit(cls, kind: str, S: Array, codes: Array, mass: Array) -> Calibration:
        """Fit to the scores of rows that their models have not seen.

        Parameters
        ----------
        kind : {"sigmoid", "isotonic", "venn-abers"}
            The map.
        S : array of shape (n_rows,) or (n_rows, n_classes)
            Scores.
        codes : array of shape (n_rows,)
            Class indices.
        mass : array of shape (n_rows,)
            Masses.
        """
        columns = [(S, codes == 1)] if S.ndim == 1 else [(S[:, k], codes == k) for k in range(S.shape[1])]
        maps = []
        for s, is_one in columns:
            y = is_one.astype(np.float64)
            order = np.lexsort((mass, y, s))  # sums do not depend on the order of rows
            maps.append(KINDS[kind].fit(s[order], y[order], mass[order]))
        return cls(maps)

    def probabilities(self, S: Array) -> Array:
        """Return one probability a class."""
        if S.ndim == 1:
            p = self.maps[0](S)
            return np.column_stack([1.0 - p, p])
        P = np.column_stack([f(S[:, k]) for k, f in enumerate(self.maps)])
        whole = P.sum(axis=1, keepdims=True)
        return np.divide(P, whole, out=np.full(P.shape, 1.0 / P.shape[1]), where=whole > 0)
