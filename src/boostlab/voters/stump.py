"""Decision stumps on binned columns: one cut, two votes, the exact best one under any criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from boostlab.contract import Learner, Stop, Task
from boostlab.data.rows import Rows
from boostlab.data.table import Table
from boostlab.data.threads import spread
from boostlab.kernels.histogram import best_edge, histogram, histogram_channels
from boostlab.voters.criteria import CRITERIA, Criterion

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Stump:
    """A fitted stump: votes `left` where the feature is at most the threshold, `missing` where it is NaN, else `right`.

    Votes are numbers, or one number per class; `missing` is `right` where it is not given.
    """

    feature: int
    cut: int | None  # the threshold's place among the bins' cuts, if it is one of them
    threshold: float
    left: Any
    right: Any
    missing: Any = None

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        return float(max(np.max(np.abs(self.left)), np.max(np.abs(self.right))))

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        if np.ndim(self.left) == 0:
            return table.split(self.feature, self.cut, self.threshold, self.left, self.right, self.missing)
        leaf = table.split(self.feature, self.cut, self.threshold, 0.0, 1.0, 2.0).astype(np.intp)
        missing = self.right if self.missing is None else self.missing
        return np.stack([self.left, self.right, missing])[leaf]

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table(np.asarray(X)))


@dataclass(slots=True)
class CategoryStump:
    """A fitted stump on a categorical feature: one vote per category, the last for missing and unknown ones."""

    feature: int
    leaves: Array

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        return float(np.abs(self.leaves).max())

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        return self.leaves[table.category(self.feature, len(self.leaves) - 1)]

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array of category numbers."""
        return self.votes(Table(np.asarray(X)))


class DecisionStump(Learner, BaseEstimator):
    """The best single cut of a single column, for use as a booster's `estimator`.

    Missing values go to the better side of the cut; the categories of a categorical column are split by subsets.

    Parameters
    ----------
    polarity : {"both", "+", "-"}, default="both"
        Which side of a numeric cut may vote +1: the better one, only the one above ("+") or only the one below ("-").

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, DecisionStump
    >>> AdaBoostClassifier(DecisionStump(polarity="+")).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).n_estimators_
    1
    """

    uses_bins = True

    def __init__(self, polarity: str = "both") -> None:
        self.polarity = polarity

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        return frozenset(CRITERIA) if self.polarity == "both" else frozenset(["edge"])

    def begin(self, table: Table, rows: Rows, rng: np.random.Generator) -> StumpSession:
        """Start work on a sample."""
        sides = {"both": 0, "+": 1, "-": -1}
        if self.polarity not in sides:
            raise ValueError(f'polarity={self.polarity!r} is not known; use "both", "+" or "-".')
        return StumpSession(table, rows, sides[self.polarity])


class StumpSession:
    """Stump search on one sample."""

    def __init__(self, table: Table, rows: Rows, sides: int) -> None:
        assert table.codes is not None
        assert table.bins is not None
        self.codes, self.bins, self.rows, self.threads = table.codes, table.bins, rows, table.threads
        self.n_bins = self.bins.n_bins
        self.sides = sides
        self.space: dict[int, Array] = {}  # histograms, by number of channels, re-used every round
        self.masses = self._histogram(rows.whole(np.ones(rows.n_rows))[0]).copy()  # of every slot, missing values last
        self.filled = self.masses > 0
        d = len(self.n_bins)
        self.filled[self.filled.sum(axis=1) < 2] = False  # constant columns, or nothing but missing values
        self.categorical = np.isin(np.arange(d), sorted(self.bins.categorical))
        self.some_missing = self.filled[np.arange(d), self.n_bins] & ~self.categorical
        # Cuts that exist, missing values above: after every bin that another bin or a missing value follows.
        slots = np.where(self.categorical, self.filled.sum(axis=1), self.n_bins + self.some_missing)
        at = np.arange(self.filled.shape[1] - 1)
        self.possible = at < (slots - 1)[:, None]
        self.possible_below = (at < (self.n_bins - 1)[:, None]) & self.some_missing[:, None]

    def best(self, task: Task) -> Stump | CategoryStump | Stop:
        """Return the stump with the lowest cost; ties go to the first feature, then the first cut."""
        criterion = CRITERIA[task.criterion]
        if not self.possible.any():
            return Stop("no_edge", "every column is constant, so there is nothing to split")
        channels = criterion.channels(_tame(task.weight), task.target)
        if channels.ndim == 1:
            return self._best_edge(channels, task.counts)
        sums, total, gross, scale = self._sums(channels, task.counts)
        order = self._order_categories(criterion, sums, scale)
        absent = sums[np.arange(len(sums)), self.n_bins]
        below = np.cumsum(sums, axis=1, out=sums)[:, :-1]  # integers, so both sides are exact
        gross = gross * scale

        def cost(left: Array, possible: Array) -> Array:
            costs = criterion.cost(left * scale, (total - left) * scale, gross, task.params)
            return np.where(possible, costs, np.inf)

        costs = [cost(below, self.possible)]
        if self.some_missing.any():
            costs.append(cost(below + absent[:, None], self.possible_below))
        best = np.stack(costs, axis=-1)
        feature, cut, side = (int(i) for i in np.unravel_index(best.argmin(), best.shape))
        left = below[feature, cut] + side * absent[feature]
        leaves = criterion.leaves(left * scale, (total - left) * scale, gross, task.params)
        if self.categorical[feature]:
            return self._category_stump(feature, order[feature][: cut + 1], *leaves)
        return self._stump(feature, cut, side, *leaves)

    def added(self, voter: Any, alpha: float) -> None:
        """Remember nothing."""

    # -- sums --------------------------------------------------------------------------------------------------------

    def _space(self, channels: int) -> Array:
        if channels not in self.space:
            shape = (len(self.n_bins), int(self.n_bins.max(initial=0)) + 1)
            self.space[channels] = np.zeros(shape if channels == 1 else (*shape, channels), np.int64)
        return self.space[channels]

    def _histogram(self, q: Array) -> Array:
        """Sum integers per feature and slot."""
        hist = self._space(q.shape[1] if q.ndim > 1 else 1)
        kernel = histogram if q.ndim == 1 else histogram_channels
        d = len(self.codes)
        spread(lambda a, b: kernel(self.codes, q, a, b, hist), d, q.size * d, self.threads)
        return hist

    def _sums(self, channels: Array, counts: Array | None) -> tuple[Array, Array, Array, Array]:
        """Return histograms of every channel, the channels' sums and gross sums, and the scale of each."""
        parts = [self.rows.whole(channels[:, c], counts) for c in range(channels.shape[1])]
        hist = self._histogram(np.stack([p[0] for p in parts], axis=1))
        scale = np.ldexp(1.0, [-p[1] for p in parts])
        return hist, np.array([p[2] for p in parts]), np.array([p[3] for p in parts]), scale

    def _order_categories(self, criterion: Criterion, sums: Array, scale: Array) -> dict[int, Array]:
        """Sort the slots of categorical columns, missing values among them, so that the best subset is a cut."""
        order = {}
        for j in self.bins.categorical:
            rank = np.where(self.filled[j], criterion.rank(sums[j] * scale), np.inf)  # empty slots last
            order[j] = np.argsort(rank, kind="stable")
            sums[j] = sums[j, order[j]]
        return order

    # -- stumps ------------------------------------------------------------------------------------------------------

    def _best_edge(self, signed: Array, counts: Array | None) -> Stump | CategoryStump:
        """One channel and opposite leaves: compare edges as the integers they are."""
        q, _, total, _ = self.rows.whole(signed, counts)
        hist = self._histogram(q)
        feature, cut, side, edge = best_edge(hist, self.n_bins, self.filled, self.categorical, total, self.sides)
        if cut < 0:
            return self._category_signs(feature, hist[feature])
        up = self.sides > 0 or (self.sides == 0 and edge >= 0)
        return self._stump(feature, cut, side, *((-1.0, 1.0) if up else (1.0, -1.0)))

    def _stump(self, feature: int, cut: int, side: int, left: Any, right: Any) -> Stump:
        cuts = self.bins.cuts[feature]
        threshold = float(cuts[cut]) if cut < len(cuts) else np.inf  # the last cut parts values from missing ones
        if not self.some_missing[feature]:  # never seen: go with the heavier side
            low = self.masses[feature, : cut + 1].sum()
            side = int(2 * low > self.masses[feature].sum())
        return Stump(feature, cut, threshold, left, right, left if side else right)

    def _category_signs(self, feature: int, sums: Array) -> CategoryStump:
        """Every category takes the sign of its own sum; if all agree, the lightest takes the other."""
        filled = np.flatnonzero(self.filled[feature])
        signs = np.where(sums[filled] >= 0, 1.0, -1.0)
        if (signs == signs[0]).all():
            signs[np.abs(sums[filled]).argmin()] *= -1.0
        return self._category_stump(feature, filled[signs < 0], -1.0, 1.0)

    def _category_stump(self, feature: int, low: Array, left: Any, right: Any) -> CategoryStump:
        """Give the slots `low` the left leaf and the others the right one; empty slots go with the missing values."""
        filled, masses = self.filled[feature], self.masses[feature]
        is_low = np.isin(np.arange(len(filled)), low)
        last = int(self.n_bins[feature])
        unknown_low = is_low[last] if filled[last] else 2 * masses[is_low].sum() > masses.sum()
        is_low[~filled] = unknown_low
        leaves = np.stack([np.asarray(right), np.asarray(left)])[is_low[: last + 1].astype(np.intp)]
        return CategoryStump(feature, leaves)


def _tame(weight: Array) -> Array:
    """Return weights whose squares can be formed: scaled by a power of two if the largest is extreme."""
    power = int(np.frexp(weight.max())[1])
    return weight if abs(power) < 100 else np.ldexp(weight, -power)
