"""Decision stumps on binned columns: one cut, two votes, the best one under any criterion.

Sums are exact.  Edges of weights that are kept up to a shift are compared to 2^-34 of all weights (`ShiftedEdge`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from boostlab.contract import (
    Channel,
    Cut,
    Found,
    Learner,
    LearnerRows,
    MixedTask,
    Place,
    Session,
    ShiftedTask,
    Stop,
    Task,
    class_error_sums,
    squared_error_sums,
    stored_learner,
)
from boostlab.contract.constraints import Constraints
from boostlab.contract.criterion import Criterion, Params
from boostlab.contract.slots import Split
from boostlab.contract.sums import errors_of_labels
from boostlab.learners.class_criteria import ByClass, ClassGini, Labels
from boostlab.learners.constrained_search import ConstrainedSearch
from boostlab.learners.criteria import CRITERIA, MixedEdge, ShiftedEdge
from boostlab.learners.fitted_stump import CategoryStump, Stump, Stumps
from boostlab.learners.ranking import ranked
from boostlab.learners.search import SplitSearch

Array = npt.NDArray[Any]
Sums = Mapping[Any, tuple[float, ...]]

MIXED, SHIFTED = MixedEdge(), ShiftedEdge()
NOT_MONOTONE = Stop("no_edge", "no cut keeps to the directions of `monotone`")
NAMES_BY: dict[str, ByClass] = {"gini": ClassGini(), "error": Labels()}  # what stumps name one of several classes by


@stored_learner
class DecisionStump(Learner, BaseEstimator):
    """The best single cut of a single column, for use as a booster's `estimator`.

    Missing values go to the better side of the cut; the categories of a categorical column are split by subsets.

    Parameters
    ----------
    polarity : {"both", "+", "-"}, default="both"
        Which side of a numeric cut may vote +1: the better one, only the one above ("+") or only the one below ("-").
    criterion : {"gini", "error"}, default="gini"
        What makes a stump good that names one of three or more classes: the smallest gini index, as in CART (and in
        scikit-learn's trees of depth 1), or the smallest weighted error.  Two classes, real votes and votes for every
        class have their booster's own criterion.

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, DecisionStump
    >>> AdaBoostClassifier(DecisionStump(polarity="+")).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).n_estimators_
    1
    """

    uses_bins = True
    excludes = constrains = True

    def __init__(self, polarity: str = "both", criterion: str = "gini") -> None:
        self.polarity = polarity
        self.criterion = criterion

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        return frozenset(CRITERIA) if self.polarity == "both" else frozenset(["edge"])

    def begin(self, rows: LearnerRows, rng: np.random.Generator) -> StumpSession:
        """Start work on a sample."""
        sides = {"both": 0, "+": 1, "-": -1}
        if self.polarity not in sides:
            raise ValueError(f'polarity={self.polarity!r} is not known; use "both", "+" or "-".')
        if self.criterion not in NAMES_BY:
            raise ValueError(f'criterion={self.criterion!r} is not known; use "gini" or "error".')
        return StumpSession(rows, sides[self.polarity], NAMES_BY[self.criterion], self.constraints)


class StumpSession(Session):
    """Stump search on one sample."""

    def __init__(
        self, rows: LearnerRows, sides: int, names_by: ByClass, constraints: Constraints | None = None
    ) -> None:
        self.rows, self.slots, self.search = rows, rows.slots, SplitSearch(rows)
        self.sides, self.names_by = sides, names_by
        self.directed = constraints is not None and constraints.directions is not None
        self.compiled = not self.directed
        if constraints is not None and self.directed:  # a stump is of one column: others cannot join
            self.search = ConstrainedSearch(rows, constraints)

    def best(self, task: Task) -> Found | Stop:
        """Return the stump with the lowest cost; ties go to the first feature, then the first cut."""
        criterion, search = self._criterion(task), self.search
        if self.slots.nothing:
            return Stop("no_edge", "every column is constant, so there is nothing to split")
        if isinstance(task, ShiftedTask):
            return self._best_shifted(task)
        if task.criterion == "edge" and self._may_mix(task):
            return self._best_mixture(task)
        if task.criterion == "edge":
            return self._best_edge(task, task.weight, task.target)
        weight, target = task.w if isinstance(task, MixedTask) else task.weight, task.target
        small = None if self.directed else self._best_of_few(criterion, task, weight, target, task.params)
        if small is not None:
            return small
        weight = weight if isinstance(task, MixedTask) else self.rows.tame(weight)
        channels = self.rows.channels(criterion, weight, target, task.counts)
        asked = criterion, channels.slots, channels.total, channels, task.params
        split = search.cheapest(*asked) if isinstance(search, ConstrainedSearch) else search.best(*asked)
        if split is None:
            return NOT_MONOTONE
        below, above = search.sides(split, channels)
        channels.release()
        left, right = below * channels.scale, above * channels.scale
        leaves = criterion.leaves(left, right, channels.gross, criterion.numbers(task.params))
        leaves = self._in_order(split, *leaves) if self.directed else leaves
        sums: Sums = {}
        if task.counts is None:
            if isinstance(task, MixedTask):
                sums = _squared_errors(channels.gross, right - left, leaves[1])
            elif isinstance(criterion, ByClass):
                sums = {class_error_sums: channels.errors(criterion, [below, above])}
        return self._found(self._stump(split.feature, split.cut, self.slots.low(split), *leaves), sums)

    def stump_search(self, criterion: str) -> tuple[Criterion, int] | None:
        """Return the criterion and the sides of compiled rounds; one-sided stumps are compared by their edges only."""
        if self.sides != 0 and criterion != "edge":
            return None
        return MIXED if criterion == "mixed" else CRITERIA[criterion], self.sides

    def _criterion(self, task: Task) -> Criterion:
        """Return what is searched for: for three or more classes what the learner says, else what the task names."""
        criterion = CRITERIA[task.criterion]
        return self.names_by if criterion.by_class and self.rows.n_named(task.target) > 2 else criterion

    def _best_edge(self, task: Task, weight: Array, target: Array) -> Found | Stop:
        """Compare one channel's sums, as the integers they are."""
        channel, place = self.rows.largest_edge(weight, target, task.counts, self.sides)
        if task.without is not None or self.directed:
            return self._best_but(task.without, channel.slots[0], channel.total)
        return self._found(*self._voter(place, channel, task.counts is not None))

    def _best_of_few(
        self, criterion: Criterion, task: Task, weight: Array, target: Array, params: Params
    ) -> Found | None:
        """Do the same by two sums on a small table of numbers; None if there is more to it."""
        if task.counts is not None:
            return None
        numbers = criterion.numbers(params)
        found = self.rows.cheapest_cut(criterion, weight, target, numbers)
        if found is None:
            return None
        left, right = found.leaves or criterion.leaves(found.left, found.right, found.gross, numbers)
        rise = found.right[0] - found.left[0], found.right[1] - found.left[1]
        sums = _squared_errors(found.gross, rise, right) if isinstance(task, MixedTask) else {}
        return self._found(self._cut_stump(found, (left, right)), sums)

    def _cut_stump(self, found: Cut, leaves: tuple[float, float]) -> Stump:
        """Return the stump of a cut."""
        feature, cut = found.feature, found.cut
        missing = leaves[0] if self.slots.missing_low(feature, cut, found.side) else leaves[1]
        return Stump(feature, cut, self.slots.threshold(feature, cut), *leaves, missing)

    def _found(self, voter: Stump | CategoryStump, sums: Sums) -> Found:
        """Add the votes on the training rows, where these are few: then asking the stump would cost more."""
        if not isinstance(voter, Stump) or not isinstance(voter.left, float) or voter.cut is None:
            return Found(voter, None, sums)
        votes = self.rows.cut_votes(voter.feature, voter.cut, voter.left, voter.right, voter.missing)
        return Found(voter, votes, sums)

    def worth(self, edge: Any) -> Any:
        """Return the edges that stumps on numbers have, which vote the better way if they may."""
        return abs(edge) if self.sides == 0 else self.sides * edge

    def voters(self, found: Array, leaves: Array | None = None) -> Sequence[Stump]:
        """Return many stumps on numbers at once: feature, cut, side of missing values, and what both sides vote.

        Without leaves these are -1 and +1, by the edge that comes next (see `kernels.stump_search.best_edge`).  Leaves
        that say something of every label have the shape (rounds, 2, labels).
        """
        if leaves is not None and leaves.ndim == 3:
            return [self._of_labels(*place, *both) for place, both in zip(found.tolist(), leaves, strict=True)]
        feature, cut, side, edge = found[:, :4].T
        _, threshold, low = self.slots.cuts_at(self.slots.starts[feature] + cut, side)
        if leaves is None:
            right = np.where((self.sides > 0) | ((self.sides == 0) & (edge >= 0)), 1.0, -1.0)
            left = -right
        else:
            left, right = leaves.T
        columns = feature, cut, threshold, left, right, np.where(low, left, right)
        return Stumps(*(column.copy() for column in columns))  # not all that was found

    def _of_labels(self, feature: int, cut: int, side: int, left: Array, right: Array) -> Stump:
        """Return a stump on numbers whose sides say something of every label."""
        missing = left if self.slots.missing_low(feature, cut, side) else right
        return Stump(feature, cut, self.slots.threshold(feature, cut), left, right, missing)

    def _voter(self, found: Place, channel: Channel, drawn: bool) -> tuple[Stump | CategoryStump, Sums]:
        """Return the stump that was found, and its sums (none for a draw).

        Parameters
        ----------
        found : feature, cut, side of missing values, edge
            See `kernels.stump_search.best_edge`.
        channel : Channel
            Where it was found.
        drawn : bool
            Whether the channel's rows are a draw.
        """
        slots = self.slots
        feature, cut, side, edge = found
        sums: Sums = {}
        if not drawn:  # the edge of the stump that is taken, so its error is known as well
            mine, whole = int(edge) if cut < 0 else self.worth(int(edge)), channel.gross
            errors = whole, (whole - mine) // 2
            sums = errors_of_labels(*(math.ldexp(x, -channel.power) for x in errors))
        if cut < 0:
            low = slots.signs(feature, channel.slots[0, slots.mine(feature)])
            return self._stump(feature, cut, low, -1.0, 1.0), sums
        up = self.sides > 0 or (self.sides == 0 and edge >= 0)
        left, right = (-1.0, 1.0) if up else (1.0, -1.0)
        missing = left if slots.missing_low(feature, cut, side) else right
        return Stump(feature, cut, slots.threshold(feature, cut), left, right, missing), sums

    def _may_mix(self, task: Task) -> TypeGuard[MixedTask]:
        free = self.sides == 0 and not self.directed
        return isinstance(task, MixedTask) and free and task.counts is None and task.without is None

    def _best_mixture(self, task: MixedTask) -> Found:
        """Follow w y and w^2 y, whose sums are known then."""
        numbers = {"a": task.a, "b": task.b}
        small = self._best_of_few(MIXED, task, task.w, task.labels, numbers)
        if small is not None:
            return small
        channels = self.rows.channels(MIXED, task.w, task.labels)
        split = self.search.best(MIXED, channels.slots, channels.total, channels, numbers)
        assert split is not None
        below, above = (sums * channels.scale for sums in self.search.sides(split, channels))
        left, right = MIXED.leaves(below, above, channels.gross, MIXED.numbers(numbers))
        stump = self._stump(split.feature, split.cut, self.slots.low(split), left, right)
        return self._found(stump, _squared_errors(channels.gross, above - below, right))

    def _best_shifted(self, task: ShiftedTask) -> Found:
        """Follow v and v y, and weigh their sums."""
        up, down = (1.0, -1.0) if self.sides == 0 else (float(self.sides), float(self.sides))
        params = {"minus": task.minus, "plus": task.plus, "up": up, "down": down}
        numbers = SHIFTED.numbers(params)
        cut = self.rows.cheapest_cut(SHIFTED, task.v, task.target, numbers)
        if cut is not None:
            assert cut.leaves is not None
            sums = self._shifted_errors(cut.below, cut.above, cut.leaves, numbers, cut.scale[0])
            return self._found(self._cut_stump(cut, cut.leaves), sums)
        channels = self.rows.channels(SHIFTED, task.v, task.target)
        split = self.search.best(SHIFTED, channels.slots, channels.total, channels, params)
        assert split is not None
        below, above = self.search.sides(split, channels)
        parts = (below * channels.scale).tolist(), (above * channels.scale).tolist()
        leaves = SHIFTED.leaves(*parts, channels.gross, numbers.tolist())
        sums = self._shifted_errors(below.tolist(), above.tolist(), leaves, numbers, float(channels.scale[0]))
        return self._found(self._stump(split.feature, split.cut, self.slots.low(split), *leaves), sums)

    def _shifted_errors(
        self, below: Sequence[int], above: Sequence[int], leaves: tuple[float, float], numbers: Array, unit: float
    ) -> Sums:
        """Return the sums of a voter, given those of v and v y on both sides."""
        return errors_of_labels(*(x * unit for x in SHIFTED.errors(below, above, leaves[1], numbers)))

    def _best_but(self, without: Array | None, hist: Array, total: int) -> Found | Stop:
        """Return the best stump that keeps to its column's direction and does not vote like `without`."""
        direction = self.search.direction if isinstance(self.search, ConstrainedSearch) else None
        for feature, cut, low, up in ranked(self.slots, hist, total, self.sides, direction):
            stump = self._stump(feature, cut, low, *((-1.0, 1.0) if up else (1.0, -1.0)))
            votes = self.rows.votes(stump)
            if without is None or not np.array_equal(votes, without):  # stumps of several columns may vote alike
                return Found(stump, votes)
        return NOT_MONOTONE if without is None else Stop("no_edge", "there is no other stump than the one to leave out")

    def _in_order(self, split: Split, left: Any, right: Any) -> tuple[Any, Any]:
        """Return leaves that keep to a direction, where rounding has them in the wrong order."""
        assert isinstance(self.search, ConstrainedSearch)
        turned = self.search.direction[self.slots.starts[split.feature] + split.cut] * (right - left) < 0
        return (left, left) if turned else (left, right)

    def _stump(self, feature: int, cut: int, low: Array, left: Any, right: Any) -> Stump | CategoryStump:
        if self.slots.categorical[feature]:
            leaves = np.stack([np.asarray(right), np.asarray(left)])
            return CategoryStump(feature, leaves[low.astype(np.intp)])
        threshold = self.slots.threshold(feature, cut)
        return Stump(feature, cut, threshold, left, right, left if low[-1] else right)


def _squared_errors(gross: Any, rise: Any, right: float) -> Sums:
    """Return the sums of w and w^2 for the stump that says `right` above a split, where w y and w^2 y sum to more."""
    wrong = [max(float(gross[c] - right * rise[c]), 0.0) / 2 for c in range(2)]
    return {squared_error_sums: (float(gross[0]), wrong[0], float(gross[1]), wrong[1])}
