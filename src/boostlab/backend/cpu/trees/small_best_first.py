"""Best-first growth on tables so small that one call rounds and sums a round's channels anew (see `small.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from boostlab.backend.cpu.followed_histograms import Follower, pays_to_compare
from boostlab.backend.cpu.small import Small
from boostlab.backend.cpu.trees.best_first import BestFirst, RoundedRows
from boostlab.contract import Stop, Task
from boostlab.contract.criterion import SIGNED, Separable
from boostlab.contract.growth import Grown, Limits

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]


class SmallBestFirst(BestFirst):
    """Best-first growth whose channels are those that stumps of small tables use.

    Parameters
    ----------
    learner : Limits
        When to stop.
    rows : CpuSample
        The sample.
    """

    name = "best_first_small"

    @classmethod
    def serves(cls, learner: Limits, rows: CpuSample, criterion: Separable, task: Task) -> bool:
        """Return whether `best_first` does, on a table where it does not pay to find the rows that changed."""
        small = isinstance(rows.summing, Small) and not pays_to_compare(rows.codes)
        return small and super().serves(learner, rows, criterion, task)

    def grow_each(self, criterion: Separable, tasks: Sequence[Task]) -> list[Grown | Stop] | None:
        """Return None: one tree after the other has less to do than threads that meet."""
        return None

    def _channels(self, criterion: Separable, task: Task) -> RoundedRows:
        if criterion.by_class or criterion.labels:
            return super()._channels(criterion, task)
        return self._one_by_one(criterion, task)

    def _signed(self, criterion: Separable, weight: Array, task: Task) -> tuple[Follower, Any]:
        if task.counts is not None:
            return super()._signed(criterion, weight, task)
        if self._not_rounded(criterion, weight, task.target):
            self.rows.followed(0, SIGNED, weight, task.target, True)
        return self.rows.follower(0, SIGNED, True), None

    def _both(self, criterion: Separable, weight: Array, target: Array, counts: Array | None) -> Sequence[Follower]:
        if counts is not None:
            return super()._both(criterion, weight, target, counts)
        forms = list(enumerate(criterion.forms))
        if self._not_rounded(criterion, weight, target):
            for c, form in forms:
                self.rows.followed(c, form, weight, target)
        return [self.rows.follower(c, form) for c, form in forms]

    def _not_rounded(self, criterion: Separable, weight: Array, target: Array) -> bool:
        """Round by one call; return whether that was not possible."""
        small = self.rows.summing
        assert isinstance(small, Small)
        return small.rounded(criterion, weight, target) is None
