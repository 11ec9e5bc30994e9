"""One part of the rows: what a worker holds, the orders that change it, and the questions it answers with integers.

Orders make columns, nodes and rounded channels, and move the scores; carried out again in the same order on the same
rows they leave the same bits.  Questions change nothing, so that an answer may be asked for twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels import fixed_point
from boostlab.backend.cpu.kernels.vote_update import (
    exp_less,
    mass_voted,
    of_both_labels,
    scale_side,
    scale_voted,
    wrong_mass,
)
from boostlab.backend.cpu.label_histograms import sums_of
from boostlab.backend.cpu.masses import as_matrix
from boostlab.backend.cpu.rows import CpuRows
from boostlab.backend.cpu.sample import CpuNode
from boostlab.backend.partitioned.answers import ALL, Answer, Call, less
from boostlab.backend.partitioned.column import Formed, Ref
from boostlab.contract import Reweigh, Step
from boostlab.contract.criterion import SIZE, SQUARE, Residual
from boostlab.contract.formula import is_formula
from boostlab.contract.voter import votes_of

Array = npt.NDArray[Any]
Formula = Callable[..., Any]
Facts = tuple[int, int, str]  # of a column: dimensions, values a row, type


class PartRows(CpuRows):
    """A part's own rows; their exponential weights are scaled by what all parts say, and are set by `Part`."""

    w = np.empty(0)

    def exponentials(self) -> Array:
        """Return the part's exponential weights."""
        return self.w


class Part:
    """Some rows of a sample.

    Parameters
    ----------
    rows : PartRows
        These rows; what it says of the sample as a whole is not asked for.
    """

    def __init__(self, rows: PartRows) -> None:
        self.rows = rows
        self.columns: dict[int, Array] = {}
        self.q: dict[int, Array] = {}  # rounded channels
        self.rough: dict[int, float] = {}  # the sums of their magnitudes in floating point
        self.nodes: dict[int, CpuNode] = {}
        self.kin: dict[int, tuple[int, int]] = {}  # of a node: its parent, and the other child
        self.sums: dict[tuple[int, int], Answer] = {}  # of a channel and a node, for the node's children
        self.top = ALL  # the number of a tree's root
        self.w_before: Array | None = None  # the last scaling of the exponential weights

    def obey(self, order: Call) -> Any:
        """Carry an order out; one that makes columns says what they are like."""
        with np.errstate(over="ignore", invalid="ignore"):  # of weights that are scaled once they are known to be large
            return getattr(self, order[0])(*order[1])

    def answer(self, question: Call) -> Answer:
        """Answer a question, or several at once."""
        if isinstance(question[0], str):
            return getattr(self, question[0])(*question[1])
        asked = zip(question[0], question[1], strict=True)
        return tuple(value for name, args in asked for value in getattr(self, name)(*args))

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget columns that nothing refers to any more."""
        for number in numbers:
            self.columns.pop(number, None)

    def _of(self, x: Any) -> Any:
        return self.columns[x.number] if isinstance(x, Ref) else x

    def _put(self, number: int, x: Array) -> Facts:
        self.columns[number] = x
        return x.ndim, x.shape[1] if x.ndim == 2 else 1, x.dtype.str

    # -- columns -----------------------------------------------------------------------------------------------------

    def named(self, number: int, name: str) -> Facts:
        """Take a column by its name."""
        return self._put(number, self.rows.scores.F if name == "F" else self.rows.column(name))

    def same(self, number: int, x: Ref) -> Facts:
        """Give a column one more name."""
        return self._put(number, self._of(x))

    def ones(self, number: int) -> Facts:
        """Make a column of ones."""
        return self._put(number, np.ones(self.rows.n_rows))

    def elementwise(self, number: int, function: Any, inputs: Sequence[Any]) -> Facts:
        """Apply one of NumPy's elementwise functions."""
        return self._put(number, function(*map(self._of, inputs)))

    def stacked(self, number: int, columns: Sequence[Any]) -> Facts:
        """Put columns side by side."""
        return self._put(number, np.stack([*map(self._of, columns)]).T)

    def chosen(self, number: int, args: Sequence[Any]) -> Facts:
        """Choose by a condition."""
        return self._put(number, np.where(*map(self._of, args)))

    def mapped(self, number: int, function: Callable[..., Array], args: Sequence[Any]) -> Facts:
        """Apply a function of rows, each by itself."""
        return self._put(number, function(*map(self._of, args)))

    def label(self, number: int, x: Ref, label: int) -> Facts:
        """Take one class's column."""
        return self._put(number, np.ascontiguousarray(self._of(x)[:, label]))

    def over_labels(self, number: int, x: Ref) -> Facts:
        """Sum the classes of every row."""
        return self._put(number, self._of(x).sum(axis=1))

    def each(self, numbers: Sequence[int], what: Formula, given: Sequence[Any]) -> list[Facts]:
        """Evaluate a formula."""
        values = self.rows.each(what, *given)
        return [self._put(n, v) for n, v in zip(numbers, [values] if len(numbers) == 1 else values, strict=True)]

    def values(self, numbers: Sequence[int], what: Formula, columns: Any, given: Sequence[Any]) -> list[Facts]:
        """Evaluate a formula of some columns."""
        made = self.rows.values(what, {name: self._of(x) for name, x in columns}, *given)
        return [self._put(n, v) for n, v in zip(numbers, made, strict=True)]

    def keep(self, name: str, what: Any, given: Sequence[Any]) -> None:
        """Remember a column by name."""
        self.rows.keep(name, self._of(what), *given)

    def look_at(self, weight: Ref | None, target: Ref | None, h: Ref) -> None:
        """Let formulas see a task and the votes in question."""
        task = None if weight is None else SimpleNamespace(weight=self._of(weight), target=self._of(target))
        self.rows.look_at(task, self._of(h), {})

    def largest(self, what: Any, given: Sequence[Any]) -> tuple[float]:
        """Return the largest value; less than any number if there are no rows."""
        return (self._extreme(what, given, 1.0),)

    def smallest(self, what: Any, given: Sequence[Any]) -> tuple[float]:
        """Return the smallest value; more than any number if there are no rows."""
        return (self._extreme(what, given, -1.0),)

    def _extreme(self, what: Any, given: Sequence[Any], sign: float) -> float:
        if self.rows.n_rows == 0:
            return -sign * math.inf
        if is_formula(what):
            return self.rows.extreme(what, tuple(given), sign)
        x = np.asarray(self._of(what))
        return float(x.max() if sign > 0 else x.min())

    def scaled_exp(self, number: int, logs: Ref, top: float) -> Facts:
        """Return exp(logs - top)."""
        w = np.array(self._of(logs), np.float64)
        exp_less(w.ravel("K"), top, 0, w.size)
        return self._put(number, w)

    # -- sums --------------------------------------------------------------------------------------------------------

    def tops_and_sums(
        self, what: Any, given: Sequence[Any], counts: Ref | None, powers: Sequence[Sequence[int]]
    ) -> tuple[Array, Array]:
        """Return the largest magnitude of every value, and the sums of q and |q| at powers of two."""
        units = self._units(what, given, counts)
        tops, sums = np.zeros(len(units)), np.zeros((len(powers), len(units), 2), np.int64)
        for v, (x, by) in enumerate(units):
            tops[v] = np.abs(x).max(initial=0.0)
            if len(by) and math.isfinite(tops[v]):
                tops[v] = np.abs(x[by > 0]).max(initial=0.0)
            if math.isfinite(tops[v]):
                for p, row in enumerate(powers):
                    sums[p, v] = fixed_point.sums_at(x, by, row[v])
        return tops, sums

    def _units(self, what: Any, given: Sequence[Any], counts: Ref | None) -> list[tuple[Array, Array]]:
        """Return every value as a matrix, real masses folded in, and integer masses."""
        masses = self.rows.masses
        if is_formula(what):
            values = [x.T for x in self.rows.evaluate(what, tuple(given), np.empty(self.rows.shape_of(what)))]
        elif isinstance(what, Formed):
            values = [self._form(*what)]
        elif isinstance(what, tuple) and not isinstance(what, Ref):
            values = [self._of(x) for x in what]
        else:
            values = [self._of(what)]
        if counts is None:
            return [masses.as_units(x) for x in values]
        return [(as_matrix(x), self._of(counts)) for x in values]

    def _form(self, forms: Sequence[int], weight: Ref, target: Ref) -> Array:
        w, t = self._of(weight), self._of(target)
        parts = []
        for form in forms:
            x = w * w if form == SQUARE else w
            parts.append(x if form == SIZE else x * t)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def round(self, channel: int, what: Any, counts: Ref | None, power: int) -> None:
        """Round a channel's values at a power of two."""
        ((x, by),) = self._units(what, (), counts)
        q = np.empty(x.shape, np.int64)
        fixed_point.fixed(x, by, power, q)
        self.q[channel] = q
        self.sums = {key: kept for key, kept in self.sums.items() if key[0] != channel}
        times = by[:, None] if len(by) else 1.0
        self.rough[channel] = math.ldexp(float((np.abs(x) * times).sum()), power)

    def label_sums(self, channel: int, sided: bool, node: int) -> tuple[float, Array, int, int]:
        """Return a channel's rough sum, its sums per slot over a node, and those of both signs."""

        def count(members: Array | None) -> Answer:
            slots, minus, plus = self.rows.codes.sums(self.q[channel][:, 0], members, sided)
            return slots, int(minus), int(plus)

        return self.rough[channel], *self._sums(channel, node, count)

    def class_sums(self, channel: int, classes: Ref, n_classes: int, node: int) -> tuple[Array, Array]:
        """Return a channel's sums per class and slot over a node, and per class."""
        q, k = self.q[channel][:, 0], self._of(classes)
        return self._sums(channel, node, lambda m: self.rows.codes.class_sums(q, k, n_classes, m))

    def panel_sums(self, channel: int, node: int) -> tuple[Array, Array, Array]:
        """Return the sums of each of a channel's columns per slot over a node, in total, and in magnitude (of all)."""
        q = self.q[channel]
        gross = np.abs(q).sum(axis=0) if node == ALL else np.zeros(q.shape[1], np.int64)
        return *self._sums(channel, node, lambda m: sums_of(self.rows.codes, q, m)), gross

    def turned_sums(self, channel: int, votes: Ref) -> tuple[Array]:
        """Return the sums of each of a channel's columns, with rows' signs turned where votes are -1."""
        return (np.where(self._of(votes)[:, None] > 0, self.q[channel], -self.q[channel]).sum(axis=0),)

    def _sums(self, channel: int, node: int, count: Callable[[Array | None], Answer]) -> Answer:
        """Return a channel's sums over a node: counted, or its parent's less those of a smaller sibling.

        Sums of nodes that may have children are kept until they have, if the node's codes take more memory than they.
        """
        if (channel, node) in self.sums:
            return self.sums[channel, node]
        parent, sibling = self.kin.get(node, (node, node))
        whole = self.sums.get((channel, parent))
        other: Answer | None
        if whole is not None and self.nodes[sibling].n_rows < self.nodes[node].n_rows:
            other = count(self.nodes[sibling].members)
            found = less(whole, other)
        else:
            found = count(None if node == ALL else self.nodes[node].members)
            other = None if whole is None else less(whole, found)
        sides = [(node, found)] if other is None else [(node, found), (sibling, other)]
        for side, sums in sides:
            n_rows = self.rows.n_rows if side == ALL else self.nodes[side].n_rows
            if n_rows * len(self.rows.codes.starts) > sums[0].nbytes:
                self.sums[channel, side] = sums
        if parent not in (node, ALL):
            self.sums.pop((channel, parent), None)
        return found

    def slot_masses(self, power: int) -> tuple[Array]:
        """Return the rows' masses per slot, as integers."""
        x, by = self.rows.masses.as_units(np.ones(self.rows.n_rows))
        q = np.empty(x.shape, np.int64)
        fixed_point.fixed(x, by, power, q)
        return (self.rows.codes.sums(q[:, 0])[0][0],)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def _members(self, node: int) -> Array | None:
        return None if node < 0 else self.nodes[node].members

    def root(self, node: int) -> None:
        """Begin a tree: all rows."""
        self.nodes, self.kin, self.top = {node: self.rows.root()}, {}, node
        self.sums = {key: kept for key, kept in self.sums.items() if key[1] == ALL}

    def part(self, node: int, feature: int, low: Array, children: tuple[int, int]) -> None:
        """Part a node's rows."""
        sides = self.rows.part(self.nodes[node], feature, low)
        parent = ALL if node == self.top else node
        for child, other, side in zip(children, children[::-1], sides, strict=True):
            self.nodes[child], self.kin[child] = side, (parent, other)

    def sizes(self, nodes: Sequence[int]) -> tuple[Array]:
        """Return how many rows are in each node."""
        return (np.array([self.nodes[node].n_rows for node in nodes], np.int64),)

    def n_examples(self, node: int, counts: Ref | None) -> tuple[float]:
        """Return the number of examples that a node's rows stand for."""
        return (self.rows.n_examples(self.nodes[node], None if counts is None else self._of(counts)),)

    def largest_residual(
        self, node: int, residual: Residual, weight: Ref, target: Ref, counts: Ref | None, sums: Array
    ) -> tuple[float]:
        """Return the largest residual of a node's rows."""
        given = (*map(self._of, (weight, target)), None if counts is None else self._of(counts))
        members = self.nodes[node].members
        if given[2] is not None:
            members = members[given[2][members] > 0]
        return (float(residual(given[0][members], given[1][members], sums).max(initial=-math.inf)),)

    # -- votes -------------------------------------------------------------------------------------------------------

    def leaf_votes(self, number: int, leaves: Sequence[int], values: Array) -> Facts:
        """Make the votes of a tree from its leaves' rows."""
        return self._put(number, self.rows.leaf_votes([self.nodes[n] for n in leaves], values))

    def look_up(self, number: int, feature: int, values: Array) -> Facts:
        """Take the value of every row's slot in a column."""
        return self._put(number, self.rows.look_up(feature, values))

    def votes(self, number: int, voter: Any) -> Facts:
        """Ask a voter."""
        return self._put(number, votes_of(voter, self.rows.table))

    def advance(self, answer: Step | Reweigh, h: Ref) -> None:
        """Let a voter join the scores."""
        self.rows.join(answer, self._of(h))

    def reference(self, limit: int | None, columns: Array) -> tuple[Array, Array]:
        """Return the numbers, in some columns, and masses of the rows whose key is within a limit; None: all rows."""
        table = self.rows.table
        kept = np.arange(self.rows.n_rows) if limit is None else table.rows_within(limit)
        return np.asarray(table.X[kept])[:, columns], self.rows.masses.share(kept).masses

    # -- exponential weights -----------------------------------------------------------------------------------------

    def _logs(self) -> Array:
        F = self.rows.scores.now
        return -self.rows.y * F if F.ndim == 1 else -F[np.arange(len(F)), self.rows.k]

    def largest_log(self) -> tuple[float]:
        """Return the largest logarithm of a weight."""
        return (float(self._logs().max(initial=-math.inf)),)

    def renew_weights(self, number: int, top: float) -> Facts:
        """Compute all weights from the scores."""
        self.rows.w = w = self._logs()
        exp_less(w, top, 0, len(w))
        return self._put(number, w)

    def wrong_mass(self, h: Ref, labels: bool) -> tuple[int]:
        """Return how many examples a vote is wrong on."""
        y = self.rows.y if labels else self.rows.k
        return (int(wrong_mass(y, self._of(h), self.rows.masses.as_arrays[0], 0, self.rows.n_rows)),)

    def mass_voted(self, h: Ref) -> tuple[int]:
        """Return how many examples are voted 1."""
        return (int(mass_voted(self._of(h), self.rows.masses.as_arrays[0], 0, self.rows.n_rows)),)

    def scale_voted(self, h: Ref, side: int, right: float, wrong: float) -> None:
        """Multiply the weights on one side of a vote."""
        scale_voted(self.rows.w, self.rows.y, self._of(h), side, right, wrong, 0, self.rows.n_rows)

    def of_both_labels(self, number: int, v: Ref, minus: float, plus: float) -> Facts:
        """Multiply weights by one number for each label."""
        w = np.empty(self.rows.n_rows)
        of_both_labels(self._of(v), self.rows.y, minus, plus, 0, len(w), w)
        return self._put(number, w)

    def label_masses(self, labels: bool, n: int) -> tuple[Array]:
        """Return how many examples of each of n labels, or classes, are in every slot."""
        classes = (self.rows.y > 0).astype(np.int8) if labels else self.rows.k
        counts = self.rows.masses.as_arrays[0]
        q = counts.astype(np.int64) if len(counts) else np.ones(self.rows.n_rows, np.int64)
        return (self.rows.codes.class_sums(q, classes, n)[0],)

    def scale_side(self, h: Ref, labels: bool, wrong: bool, factor: float, surely: bool) -> None:
        """Multiply the weights of one side; those before are kept where it is not sure that it is this one."""
        self.w_before = None if surely else self.rows.w.copy()
        y = self.rows.y if labels else self.rows.k
        scale_side(self.rows.w, y, self._of(h), wrong, factor, 0, self.rows.n_rows)

    def unscale(self) -> None:
        """Take the last scaling of weights back."""
        assert self.w_before is not None
        self.rows.w[:] = self.w_before

    def sure(self) -> None:
        """Forget the weights before the last scaling."""
        self.w_before = None
