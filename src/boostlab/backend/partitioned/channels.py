"""Channels whose rows are in parts: scales are chosen here, by the policy of rows in memory; parts round and sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Followed
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.scales import limits
from boostlab.backend.partitioned.answers import ALL, Answer, Call
from boostlab.backend.partitioned.column import Formed

if TYPE_CHECKING:
    from boostlab.backend.partitioned.rows import PartitionedRows

Array = npt.NDArray[Any]


class PartedFollower(Follower):
    """One channel (two, if it is sided), as `Follower` has it.

    Parameters
    ----------
    sample : PartitionedRows
        The rows.
    number : int
        How the parts know the channel.
    form, sided, lasting
        As for `Follower`.
    """

    def __init__(self, sample: PartitionedRows, number: int, form: int, sided: bool, lasting: bool) -> None:
        self.sample, self.number, self.form, self.sided = sample, number, form, sided
        self.rows, self.codes, self.width = sample.masses, sample.codes, 1 + sided
        self.q: Any = None  # True once the parts have rounded rows to compare with
        self.found: Answer | None = None  # the sums of rows that are rounded already
        self.power = self.minus = self.plus = self.turn = 0
        self.slots = np.zeros((0, 0), np.int64)
        self.most_change, self.compares = False, True
        self.headroom, self.least = limits(sample.n, lasting)

    def release(self) -> None:
        """The parts keep their integers."""

    def count(self, weight: Any, target: Any, counts: Any = None) -> None:
        """Round and sum all rows, with these integer masses or their own."""
        what = Formed(((self.form,), weight, target))
        self.power, _, gross = self.sample.rounded(what, counts)
        self.power -= self.headroom if gross > 0 else 0
        self.sample.order("round", self.number, what, counts, self.power)
        _, self.slots, self.minus, self.plus = self._sums()
        self.q = True

    def round(self, weight: Any, target: Any) -> None:
        """Let the parts round all rows at the scale of the last ones."""
        self.sample.order("round", self.number, Formed(((self.form,), weight, target)), None, self.power)

    def question(self, node: int) -> Call:
        """Return what to ask for the sums over a node."""
        return "label_sums", (self.number, self.sided, node)

    def write(self, answer: Answer, slots: Array, total: Array) -> None:
        """Write a node's sums to the first places."""
        _, mine, minus, plus = answer
        self._write(mine, minus, plus, slots, total)

    def _sums(self) -> Answer:
        return self.sample.ask_at_once([self.question(ALL)])[0]

    def _changes(self, what: tuple[Any, ...], q: Any, scatter: bool) -> tuple[Followed, Array | None]:
        found, self.found = self.found, None
        if found is None:
            self.round(*what[1:3])
            found = self._sums()
        rough, slots, minus, plus = found
        return Followed(0, 0, minus, plus, rough), slots


class PartedClassCount:
    """A channel a class, as `ClassCount` has it."""

    def __init__(self, sample: PartitionedRows, number: int, classes: Any) -> None:
        self.sample, self.number, self.classes, self.codes = sample, number, classes, sample.codes
        self.width = int(sample.largest(classes)) + 1

    def round(self, weight: Any, counts: Any = None) -> None:
        """Round all rows' weights, with these integer masses or their own."""
        self.power, self.whole, _ = self.sample.rounded(weight, counts)
        self.sample.order("round", self.number, weight, counts, self.power)

    def now(self, slots: Array, total: Array) -> None:
        """Write the classes' sums over all rows, per slot and in total, to the first places."""
        self.write(self.sample.ask_at_once([self.question(ALL)])[0], slots, total)
        self.grosses = total[: self.width].tolist()

    def release(self) -> None:
        """The parts keep their integers."""

    def question(self, node: int) -> Call:
        """Return what to ask for the sums over a node."""
        return "class_sums", (self.number, self.classes, self.width, node)

    def write(self, answer: Answer, slots: Array, total: Array) -> None:
        """Write a node's sums to the first places."""
        slots[: self.width], total[: self.width] = answer


class PartedPanel:
    """Channels of weights and targets that have a column a label, as `Panel` has them."""

    def __init__(
        self, sample: PartitionedRows, number: int, forms: tuple[int, ...], weight: Any, target: Any, counts: Any
    ) -> None:
        self.sample, self.number, self.codes = sample, number, sample.codes
        self.width = len(forms) * weight.shape[1]
        what = Formed((forms, weight, target))
        self.power, _, _ = sample.rounded(what, counts, self.width)
        sample.order("round", number, what, counts, self.power)

    def now(self, slots: Array, total: Array) -> None:
        """Write the channels' sums over all rows, per slot and in total, to the first places."""
        answer = self.sample.ask_at_once([self.question(ALL)])[0]
        self.write(answer, slots, total)
        self.grosses = [int(g) for g in answer[2]]

    def turned(self, votes: Any) -> Array:
        """Return the channels' sums over the sample, with rows' signs turned where votes are -1."""
        sums: Array = self.sample.ask("turned_sums", self.number, votes)[0]
        return sums

    def release(self) -> None:
        """The parts keep their integers."""

    def question(self, node: int) -> Call:
        """Return what to ask for the sums over a node."""
        return "panel_sums", (self.number, node)

    def write(self, answer: Answer, slots: Array, total: Array) -> None:
        """Write a node's sums to the first places."""
        slots[: self.width], total[: self.width] = answer[:2]
