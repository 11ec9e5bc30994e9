"""The exponential weights of a sample, wherever its rows are, and tasks that look at them."""

from __future__ import annotations

from typing import Any

from boostlab.contract import Reweigh, ShiftedTask, Step, Task
from boostlab.contract.slots import Slots

MOST_CUTS = 1 << 19  # of all columns, whose two sums take as much memory as a large cache has
FEW_ROWS = 1 << 10  # below which a table may have twice as many


class KeptWeights:
    """What rows say of exp(-y F), which follows the votes from the first time that it is asked for."""

    rule: Any
    n_rows: int
    exponential_weights: Any = None
    _shifts = False  # whether they are kept up to a shift of the scores

    @property
    def slots(self) -> Slots:
        """The slots of the histogram."""
        raise NotImplementedError

    def new_weights(self, shifts: bool) -> Any:
        """Return the weights of the scores now, kept up to a shift or to a common factor."""
        raise NotImplementedError

    def weights(self) -> Any:
        """Return the weights, which follow the scores from now on."""
        if self.exponential_weights is None:
            self.exponential_weights = self.new_weights(self._shifts)
        return self.exponential_weights

    def exponentials(self) -> Any:
        """Return exp(-y F) or exp(-F_k) up to a common factor, which follow the votes."""
        return self.weights().w

    def keep_shifted(self, shifts: bool) -> None:
        """Keep exponentials up to a shift of the scores, where that pays, or up to a common factor only.

        To weigh the sums of both labels costs more than is saved where they are very many; on few rows compiled rounds,
        which there are with a shift only, save some more.
        """
        shifts = shifts and self.slots.n_cuts <= MOST_CUTS * (2 if self.n_rows < FEW_ROWS else 1)
        if shifts != self._shifts:
            self._shifts, self.exponential_weights = shifts, None

    def shifted(self, task: Task) -> Task:
        """Return a task with the weights without their shift, where its weights are such exponentials."""
        weights = self.exponential_weights
        if not self._shifts or weights is None or task.weight is not weights.w:
            return task
        return ShiftedTask(task.criterion, task.weight, task.target, weights.v, *weights.at.factors)

    def move_weights(self, answer: Step | Reweigh, h: Any, voter: Any, *scores: Any) -> None:
        """Let weights that a rule has asked for follow a vote; others than usual ones make them forgotten."""
        weights = self.exponential_weights
        if weights is not None:
            if isinstance(answer, Step) and answer.decay == 1.0 and self.rule.additive and weights.follows(h):
                weights.advance(answer.alpha, h, *scores, voter)
            else:
                self.exponential_weights = None
