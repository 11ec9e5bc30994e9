"""A binned sample in memory: sums of its rows per slot, nodes of a tree, votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Codes, look_up_labels
from boostlab.backend.cpu.channels import CpuChannels
from boostlab.backend.cpu.exact_sums import NO_GUESS, address
from boostlab.backend.cpu.followed_histograms import ClassCount, Follower, Followers
from boostlab.backend.cpu.formulas import CELLS, values_of
from boostlab.backend.cpu.kernels.packed_codes import number_members
from boostlab.backend.cpu.kernels.pool_search import signed_sums
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.pairs import Pair
from boostlab.backend.cpu.panel import Panel
from boostlab.backend.cpu.shared_search import SharedSums
from boostlab.backend.cpu.small import Small, tame
from boostlab.backend.cpu.summing import Summing
from boostlab.backend.cpu.trees.best_first import BestFirst
from boostlab.backend.cpu.trees.full import Full
from boostlab.backend.cpu.trees.presorted import Presorted
from boostlab.backend.cpu.trees.small_best_first import SmallBestFirst
from boostlab.backend.search import largest_edge
from boostlab.contract.criterion import SIGNED, SIZE, Criterion, Residual
from boostlab.contract.growth import Strategy
from boostlab.contract.rows import Cut, NodeHalves, Place
from boostlab.contract.slots import Slots
from boostlab.contract.voter import votes_of

Array = npt.NDArray[Any]


@dataclass(slots=True)
class CpuNode:
    """Some rows: a stretch of one array of row numbers that all nodes share."""

    members: Array
    space: Array  # where rows are sorted

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.members)


class CpuSample:
    """The rows of a sample as learners see them (see `contract.rows.Sample`).

    Parameters
    ----------
    table : Table
        The columns, binned where a learner looks at bins.
    masses : Masses
        How much every row counts.
    way : str, optional
        The name of the way to sum channels, for tests; by default the first that serves.
    """

    def __init__(self, table: Any, masses: Masses, way: str | None = None) -> None:
        self.table, self.masses, self.way = table, masses.on(table.threads), way
        self.n, self.n_rows, self.threads = masses.n, masses.n_rows, table.threads
        self.n_sample = masses.n_examples
        self._counter: ClassCount | None = None
        self._pair: Pair | None = None
        self._panel_powers = NO_GUESS  # of two, that the last panel was rounded at
        self.turn = 0  # which of a round's tasks is at hand

    @property
    def codes(self) -> Codes:
        """The bin codes."""
        assert self.table.codes is not None, "this learner needs bins, and its table has none"
        return self.table.codes

    @property
    def mass(self) -> Array:
        """The mass of every row."""
        return self.masses.masses

    @cached_property
    def slots(self) -> Slots:
        """The slots of the histogram."""
        if self.masses.uniform:
            masses = self.codes.sums_of_equals(self.masses.unit)
        else:
            masses = self.codes.sums(self.masses.whole(np.ones(self.n_rows))[0])[0][0]
        return Slots(self.codes.starts, self.table.bins, masses)

    @cached_property
    def followers(self) -> Followers:
        """The followers of the channels, the same ones every round."""
        return Followers(partial(Follower, self.masses, self.codes))

    @cached_property
    def summing(self) -> Summing:
        """The way to sum channels."""
        ways = (way for way in (Small, SharedSums, Summing) if self.way in (None, way.name))
        return next(way for way in ways if way.serves(self))(self)

    @cached_property
    def hides_rows(self) -> bool:
        """Whether a slot has rows so light that the sample's masses do not show them: compiled trees would not."""
        if self.masses.uniform:
            return False
        taken = self.codes.sums(np.ones(self.n_rows, np.int64))[0][0] > 0
        return bool((taken & (self.slots.masses == 0)).any())

    @property
    def strategies(self) -> Sequence[type[Strategy]]:
        """Compiled growth."""
        return Presorted, Full, SmallBestFirst, BestFirst

    # -- sums --------------------------------------------------------------------------------------------------------

    def channels(
        self, criterion: Criterion, weight: Array, target: Array, counts: Array | None = None, census: bool = False
    ) -> CpuChannels:
        """Round a criterion's channels, each to a scale of its own, and sum them; they are compared with the last ones.

        Parameters
        ----------
        criterion : Criterion
            Says what to sum.
        weight, target : arrays of shape (n_rows,) or (n_rows, n_classes)
            Of a task, per unit of mass.
        counts : array, optional
            How often a draw picked each row.
        census : bool
            Whether to count the rows, too, in a last channel.
        """
        drawn = counts is not None
        shorter = None if drawn or census or weight.ndim > 1 else self.summing.channels(criterion, weight, target)
        if shorter is not None:
            return shorter
        asked: list[tuple[int, Array, Array, bool]] = []
        parts: list[Follower | ClassCount | Panel] = []
        if criterion.by_class:
            parts.append(self.counter(target))
            self.counter(target).round(weight, counts)
        elif weight.ndim == 2:
            parts.append(self._panel(criterion.forms, weight, target, counts))
        elif criterion.labels:
            asked = [(SIGNED, weight, target, True)]
        else:
            asked = [(form, weight, target, False) for form in criterion.forms]
        if census:
            ones = self.ones()
            asked.append((SIZE, ones, ones, False))
        if census or drawn or not self._updated_together(criterion, weight, target):
            parts.extend(self.followed(c, *what, counts) for c, what in enumerate(asked))
            return CpuChannels(parts)
        return CpuChannels(self.followers.known[:2])

    def _updated_together(self, criterion: Criterion, weight: Array, target: Array) -> bool:
        """Bring two channels of numbers up to date by one pass; False elsewhere."""
        residual = criterion.residual
        if residual is None or weight.ndim > 1:
            return False
        two = [self.follower(c, form) for c, form in enumerate(criterion.forms)]
        if self._pair is None or any(a is not b for a, b in zip(self._pair.two, two, strict=True)):
            self._pair = Pair(two, residual, self.threads)
        self._pair.update(weight, target)
        return True

    def counter(self, classes: Array) -> ClassCount:
        """Return the counter of the weights of these classes, the same one every round."""
        if self._counter is None or self._counter.classes is not classes:
            self._counter = self._class_count(classes)
        return self._counter

    def n_named(self, target: Array) -> int:
        """Return the number of classes that a target names."""
        return self.counter(target).width

    def followed(
        self,
        channel: int,
        form: int,
        weight: Array,
        target: Array,
        sided: bool = False,
        counts: Array | None = None,
        lasting: bool = False,
    ) -> Follower:
        """Round and sum one channel, compared with its last values unless the rows are drawn (see `Follower`)."""
        if counts is not None:
            drawn: Follower = self.followers.make(form, sided, False)
            drawn.count(weight, target, counts)
            return drawn
        follower = self.follower(channel, form, sided, lasting)
        follower.update(weight, target)
        return follower

    def follower(self, channel: int, form: int, sided: bool = False, lasting: bool = False) -> Follower:
        """Return the follower of a channel, the same one every round."""
        follower: Follower = self.followers.of(channel, form, sided, lasting)
        return follower

    def _class_count(self, classes: Array) -> ClassCount:
        return ClassCount(self.masses, self.codes, classes)

    def _panel(self, forms: tuple[int, ...], weight: Array, target: Array, counts: Array | None) -> Panel:
        panel = Panel(self.masses, self.codes, forms, weight, target, counts, self._panel_powers)
        self._panel_powers = panel.guess
        return panel

    def ones(self) -> Array:
        """Return a column of ones."""
        return np.ones(self.n_rows)

    def largest_edge(self, weight: Array, target: Array, counts: Array | None, sides: int) -> tuple[Follower, Place]:
        """Sum weight * target, and find the stump with the largest edge."""
        found = self.summing.edge(weight, target, sides) if counts is None else None
        if found is not None:
            return found
        channel = self.followed(0, SIGNED, weight, target, counts=counts, lasting=True)
        return channel, largest_edge(self.slots, channel.slots[0], channel.total, sides, self.threads)

    def cheapest_cut(self, criterion: Criterion, weight: Array, target: Array, numbers: Array) -> Cut | None:
        """Return the cheapest cut of a small table of numbers under a criterion of two channels; else None."""
        return self.summing.best(criterion, weight, target, numbers)

    def total(self, *xs: Any) -> Any:
        """Return the sum of each array over the sample."""
        return self.masses.total(*xs)

    def sums(self, x: Array, counts: Array | None = None) -> tuple[float, float]:
        """Return the sums of x and of |x| over the sample, or over a draw."""
        return self.masses.sums(x, counts)

    def values(self, what: Callable[..., Any], columns: Mapping[str, Array], /, *numbers: Any) -> tuple[Array, ...]:
        """Return a formula's values for every row, given its columns by name."""
        return tuple(values_of(what, columns, numbers, self.threads))

    def label_sums(self, votes: Array, x: Array, counts: Array | None) -> Array:
        """Return the sums of x times each row of votes that are -1 and +1, exactly."""
        q, k, _, _ = self.masses.whole(x, counts)
        sums = np.empty(len(votes), np.int64)
        signed_sums(votes, q, sums)
        return np.ldexp(sums.astype(np.float64), -k)

    def side_by_side(self, columns: Sequence[Array]) -> Array:
        """Return columns as those of one array, in which each lies by itself; rows of one array are this one."""
        whole = columns[0].base
        if whole is not None and whole.shape == (len(columns), self.n_rows) and _are_rows(columns, whole):
            return whole.T
        return np.stack(columns).T

    def tame(self, weight: Array) -> Array:
        """Return weights whose squares can be formed: scaled by a power of two if the largest is extreme."""
        return tame(weight, self.masses.largest(weight))

    def centred(self, weight: Array, target: Array, counts: Array | None) -> tuple[Array, float]:
        """Return the target less its weighted mean, and the mean."""
        (signed, _), (whole, _) = (self.sums(x, counts) for x in (weight * target, weight))
        centre = signed / whole if whole > 0 else 0.0
        return target - centre, centre

    # -- nodes -------------------------------------------------------------------------------------------------------

    def root(self) -> CpuNode:
        """Return the node of all rows."""
        members = np.arange(self.n_rows, dtype=np.int32 if self.n_rows < 2**31 else np.int64)
        return CpuNode(members, np.empty_like(members))

    def part(self, node: CpuNode, feature: int, low: Array) -> tuple[CpuNode, CpuNode]:
        """Part a node's rows: those in the column's low slots, and the others."""
        n_low = self.codes.part(feature, low, node.members, node.space)
        return CpuNode(node.members[:n_low], node.space), CpuNode(node.members[n_low:], node.space)

    def leaves_at_once(self, left: float) -> int:
        """Return how many leaves are parted at once: rows that are here are asked as often as need be."""
        return 1

    def halves(self, channels: CpuChannels, cuts: Sequence[tuple[Any, int, Array]]) -> list[NodeHalves]:
        """Part some nodes' rows and sum the smaller side of each."""
        found = []
        for cut in cuts:
            sides = self.part(*cut)
            smaller = int(sides[1].n_rows < sides[0].n_rows)
            found.append(NodeHalves(*sides, smaller, *channels.sums(sides[smaller].members)))
        return found

    def n_examples(self, node: CpuNode, counts: Array | None) -> float:
        """Return the number of examples that a node's rows stand for."""
        if counts is not None:
            return float(counts[node.members].sum())
        return float(node.n_rows) if self.masses.uniform else float(self.masses.of(node.members).sum())

    def largest_residual(
        self, node: CpuNode, residual: Residual, weight: Array, target: Array, counts: Array | None, sums: Array
    ) -> float:
        """Return the largest residual(w, t, sums) of a node's rows."""
        rows = node.members if counts is None else node.members[counts[node.members] > 0]
        return float(residual(weight[rows], target[rows], sums).max())

    # -- votes -------------------------------------------------------------------------------------------------------

    def leaf_votes(self, leaves: Sequence[CpuNode], values: Array) -> Array:
        """Return the votes of a tree, given its leaves' rows and what these vote."""
        if values.ndim == 1:
            out = np.empty(self.n_rows, values.dtype)
            for leaf, value in zip(leaves, values, strict=True):
                out[leaf.members] = value
            return out
        at, first = np.empty(self.n_rows, np.int32), leaves[0].members
        members = first if first.base is None else first.base  # of all nodes
        order = sorted(range(len(leaves)), key=lambda leaf: (address(leaves[leaf].members), leaves[leaf].n_rows))
        ends = np.cumsum([leaves[leaf].n_rows for leaf in order])
        number_members.shared(CELLS * self.n_rows, self.threads, members, ends, 0, self.n_rows, at)
        return look_up_labels(at, values[order], self.threads)

    def look_up(self, feature: int, values: Array) -> Array:
        """Return for every row the value of its slot in a column."""
        return self.codes.look_up(feature, values)

    def cut_votes(self, feature: int, cut: int, left: float, right: float, missing: float) -> Array | None:
        """Return the votes of a numeric cut of a small table; else None."""
        return self.summing.votes(feature, cut, left, right, missing)

    def votes(self, voter: Any) -> Array:
        """Return the votes of a voter, or of a tuple of them."""
        return votes_of(voter, self.table)


def _are_rows(columns: Sequence[Array], whole: Array) -> bool:
    """Return whether columns are the rows of an array, in their order."""
    places = [x.__array_interface__["data"][0] for x in (*columns, whole)]
    alike = all(x.base is whole and x.strides == whole.strides[1:] for x in columns)
    return alike and all(x == places[-1] + c * whole.strides[0] for c, x in enumerate(places[:-1]))
