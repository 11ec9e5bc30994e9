"""Channels whose rows are in parts: scales are chosen here, by the policy of rows in memory; parts round and sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Followed
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.scales import limits
from boostlab.backend.partitioned.part import Formed

if TYPE_CHECKING:
    from boostlab.backend.partitioned.rows import PartitionedRows

Array = npt.NDArray[Any]

ALL = -1  # the node of all rows


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
        self.power = self.minus = self.plus = 0
        self.slots = np.zeros((0, 0), np.int64)
        self.most_change, self.compares = False, True
        self.room, self.least = limits(sample.n, lasting)

    def count(self, weight: Any, target: Any, counts: Any = None) -> None:
        """Round and sum all rows, with these integer masses or their own."""
        what = Formed(((self.form,), weight, target))
        self.power, _, gross = self.sample.rounded(what, counts)
        self.power -= self.room if gross > 0 else 0
        self.sample.order("round", self.number, what, counts, self.power)
        _, self.slots, self.minus, self.plus = self._sums(ALL)
        self.q = True

    def among(self, members: Any, slots: Array, total: Array) -> None:
        """Write the channels' sums over a node."""
        _, mine, minus, plus = self._sums(members.number)
        self._write(mine, minus, plus, slots, total)

    def _sums(self, node: int) -> Any:
        return self.sample.ask("label_sums", self.number, self.sided, node)

    def _changes(self, what: tuple[Any, ...], q: Any, scatter: bool) -> tuple[Followed, Array | None]:
        form, weight, target, power = what
        self.sample.order("round", self.number, Formed(((form,), weight, target)), None, power)
        rough, slots, minus, plus = self._sums(ALL)
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
        self._write(ALL, slots, total)
        self.grosses = total[: self.width].tolist()

    def among(self, members: Any, slots: Array, total: Array) -> None:
        """Write the classes' sums over a node."""
        self._write(members.number, slots, total)

    def _write(self, node: int, slots: Array, total: Array) -> None:
        found = self.sample.ask("class_sums", self.number, self.classes, self.width, node)
        slots[: self.width], total[: self.width] = found


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
        self.grosses = [int(g) for g in self._write(ALL, slots, total)]

    def among(self, members: Any, slots: Array, total: Array) -> None:
        """Write the channels' sums over a node."""
        self._write(members.number, slots, total)

    def _write(self, node: int, slots: Array, total: Array) -> Array:
        slots[: self.width], total[: self.width], grosses = self.sample.ask("panel_sums", self.number, node)
        return grosses
