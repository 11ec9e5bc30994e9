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
from boostlab.voters.criteria import CRITERIA

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Stump:
    """A fitted stump: votes `left` where the feature is at most the threshold, else `right`.

    Votes are numbers, or one number per class.
    """

    feature: int
    cut: int | None  # the threshold's place among the bins' cuts, if it is one of them
    threshold: float
    left: Any
    right: Any

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        return float(max(np.max(np.abs(self.left)), np.max(np.abs(self.right))))

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        if np.ndim(self.left) == 0:
            return table.split(self.feature, self.cut, self.threshold, self.left, self.right)
        above = table.split(self.feature, self.cut, self.threshold, 0.0, 1.0).astype(np.intp)
        return np.stack([self.left, self.right])[above]

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table(np.asarray(X)))


class DecisionStump(Learner, BaseEstimator):
    """The best single cut of a single column, for use as a booster's `estimator`.

    Parameters
    ----------
    polarity : {"both", "+", "-"}, default="both"
        Which side of the cut may vote +1: the better one, only the one above ("+") or only the one below ("-").

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
        # Cuts that exist: bin b of column j is the last one below a cut if another bin follows.
        self.possible = np.arange(self.n_bins.max(initial=1)) < (self.n_bins - 1)[:, None]
        self.space: dict[int, Array] = {}  # histograms, by number of channels, re-used every round

    def best(self, task: Task) -> Stump | Stop:
        """Return the stump with the lowest cost; ties go to the first feature, then the first cut."""
        criterion = CRITERIA[task.criterion]
        if not self.possible.any():
            return Stop("no_edge", "every column is constant, so there is nothing to split")
        channels = criterion.channels(_tame(task.weight), task.target)
        if channels.ndim == 1:
            return self._best_edge(channels, task.counts)
        sums, total, gross, scale = self._sums(channels, task.counts)
        below = np.cumsum(sums, axis=1, out=sums)[:, :-1]  # integers, so both sides are exact
        left, right, gross = below * scale, (total - below) * scale, gross * scale
        cost = np.where(self.possible[:, :-1], criterion.cost(left, right, gross, task.params), np.inf)
        feature, cut = divmod(int(cost.argmin()), cost.shape[1])
        leaves = criterion.leaves(left[feature, cut], right[feature, cut], gross, task.params)
        return self._stump(feature, cut, *leaves)

    def added(self, voter: Stump, alpha: float) -> None:
        """Remember nothing."""

    def _best_edge(self, signed: Array, counts: Array | None) -> Stump | Stop:
        """One channel and opposite leaves: compare edges as the integers they are."""
        q, _, total, _ = self.rows.whole(signed, counts)
        hist = self._space(1)
        d, n = self.codes.shape
        spread(lambda a, b: histogram(self.codes, q, a, b, hist), d, d * n, self.threads)
        feature, cut, edge = best_edge(hist, self.n_bins, total, self.sides)
        up = self.sides > 0 or (self.sides == 0 and edge >= 0)
        return self._stump(feature, cut, *((-1.0, 1.0) if up else (1.0, -1.0)))

    def _sums(self, channels: Array, counts: Array | None) -> tuple[Array, Array, Array, Array]:
        """Return histograms of every channel, the channels' sums and gross sums, and the scale of each."""
        parts = [self.rows.whole(channels[:, c], counts) for c in range(channels.shape[1])]
        q = np.stack([p[0] for p in parts], axis=1)
        hist = self._space(q.shape[1])
        d = len(self.codes)
        spread(lambda a, b: histogram_channels(self.codes, q, a, b, hist), d, q.size * d, self.threads)
        scale = np.ldexp(1.0, [-p[1] for p in parts])
        return hist, np.array([p[2] for p in parts]), np.array([p[3] for p in parts]), scale

    def _space(self, channels: int) -> Array:
        if channels not in self.space:
            shape = (len(self.n_bins), int(self.n_bins.max()))
            self.space[channels] = np.zeros(shape if channels == 1 else (*shape, channels), np.int64)
        return self.space[channels]

    def _stump(self, feature: int, cut: int, left: Any, right: Any) -> Stump:
        return Stump(feature, cut, float(self.bins.cuts[feature][cut]), left, right)


def _tame(weight: Array) -> Array:
    """Return weights whose squares can be formed: scaled by a power of two if the largest is extreme."""
    power = int(np.frexp(weight.max())[1])
    return weight if abs(power) < 100 else np.ldexp(weight, -power)
