"""A binned table: which slot of its column every cell is in, and sums of row values per slot.

Column j owns the slots starts[j] to starts[j + 1] - 1 of one flat histogram: one a bin, the last for missing values.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.code_kernels import EIGHT, FOUR, Kernels
from boostlab.backend.cpu.in_parts import parts_now
from boostlab.backend.cpu.kernels.packed_codes import look_up, look_up_rows
from boostlab.backend.cpu.kernels.row_parting import part_members
from boostlab.backend.cpu.kernels.whole_histogram import whole_histogram
from boostlab.backend.cpu.threads import at_once, is_worth

Array = npt.NDArray[Any]

ALL = np.empty(0, np.int32)  # stands for all rows
IN_CACHE = 1 << 24  # bytes of codes, up to which they stay in a processor's caches
LINE = 8  # words of a cache line
MANY = 100_000  # cells that NumPy counts in a millisecond; from which on two classes are summed side by side
OWN_ROWS = 2  # words of a thread's rows a slot, from which on threads sum rows of their own
FOLLOWED = 4  # cells of a histogram, that bringing one row up to date costs as much as
NOTHING = np.empty(0, np.int64)  # a histogram that is not wanted


class Followed(NamedTuple):
    """What happened to a channel."""

    changed: int  # rows
    turned: int  # rows whose sign changed
    minus: int  # the sum of the magnitudes of negative numbers
    plus: int  # and of positive ones
    rough: float  # the sum of all magnitudes in floating point


def look_up_labels(code: Array, table: Array, threads: int) -> Array:
    """Return for every row the row of a table that its code says; a label's numbers lie side by side."""
    out, labels = np.empty((table.shape[1], len(code)), table.dtype), np.ascontiguousarray(table.T)
    look_up_rows.shared(out.size * 2, threads, code, labels, 0, len(code), out)
    return out.T


class Codes:
    """What dense and sparse codes have in common."""

    dense: bool
    read: tuple[Array, Array]  # what the kernels read
    width: int  # cells of a row, about
    spare = 0  # slots that a histogram has beyond its own

    def __init__(self, n_rows: int, starts: Array, threads: int) -> None:
        self.n_rows, self.starts, self.threads = n_rows, starts, threads

    @property
    def _kernels(self) -> Kernels:
        raise NotImplementedError

    @property
    def one_thread(self) -> bool:
        """Whether one thread can do as well as several, and compiled calls can read the codes."""
        return self.dense and not is_worth(self.n_rows * self.width, self.threads)

    @property
    def n_slots(self) -> int:
        """Number of slots of all columns."""
        return int(self.starts[-1])

    @property
    def kind(self) -> str:
        """What compiled rounds call these codes (see kernels/fused_rounds.py)."""
        raise NotImplementedError

    @property
    def to_read(self) -> tuple[Array, ...]:
        """What compiled rounds read."""
        raise NotImplementedError

    @property
    def team_size(self) -> int:
        """How many threads compiled rounds are worth."""
        return 1

    @property
    def parts_rows(self) -> bool:
        """Whether threads share the rows of a sum; where there are more slots than rows they share the columns."""
        return True

    def reading(self, feature: int, table: Array) -> tuple[Array, Array]:
        """Return codes of one column's cells, and the table (one entry a slot of the column) in their order."""
        raise NotImplementedError

    def sums_of_equals(self, each: int) -> Array:
        """Return the sums per slot of the same integer a row."""
        return self.sums(np.full(self.n_rows, each))[0][0]

    def sums(self, q: Array, members: Array | None = None, sided: bool = False) -> tuple[Array, int, int]:
        """Return the sums of the integers q per slot over all rows or the members, and their sums.

        Parameters
        ----------
        q : int64 array of shape (n_rows,)
            One integer a row.
        members : array, optional
            The rows to sum.
        sided : bool
            Whether to sum the magnitudes of negative and of positive numbers apart.

        Returns
        -------
        slots : array of shape (1, n_slots), or (2, n_slots) if sided
        minus, plus : the sums of the magnitudes of the negative numbers, and of the positive ones
        """
        rows = ALL if members is None else members
        size = self.n_rows if members is None else len(members)
        kernels = self._kernels
        if self.one_thread:  # on some hundred rows, to share the work takes longer than the work
            out = np.zeros((1 + sided, self.n_slots + self.spare), np.int64)
            minus, plus = kernels.sums(*self.read, q, rows, sided, 0, size, out.reshape(-1))
            return out[:, : self.n_slots], minus, plus

        shape = (1 + sided) * (self.n_slots + self.spare)
        slots, found = kernels.sums.added(
            size * self.width, self.threads, (shape,), *self.read, q, rows, sided, 0, size
        )
        minus, plus = map(sum, zip(*found, strict=True))
        return self.complete(slots.reshape(1 + sided, -1), [minus, plus] if sided else [plus - minus]), minus, plus

    def histogram(self, q: Array, sided: bool = False) -> Array:
        """Return the sums of the integers q per slot over all rows, magnitudes by their signs if it is sided."""
        return self.sums(q, sided=sided)[0]

    def class_sums(self, q: Array, classes: Array, n_classes: int, members: Array | None = None) -> tuple[Array, Array]:
        """Return the sums of the integers q per class and slot over all rows or the members, and per class.

        Parameters
        ----------
        q : int64 array of shape (n_rows,)
            One integer a row.
        classes : integer array of shape (n_rows,)
            The class of every row, from 0 to n_classes - 1.
        n_classes : int
            Number of classes.
        members : array, optional
            The rows to sum.

        Returns
        -------
        slots : array of shape (n_classes, n_slots)
        totals : array of shape (n_classes,)
        """
        rows = ALL if members is None else members
        size = self.n_rows if members is None else len(members)
        padded = self.n_slots + self.spare
        sums, _ = self._kernels.class_sums.added(
            size * self.width, self.threads, (n_classes * (padded + 1),), *self.read, q, classes, rows, padded, 0, size
        )
        totals = sums[n_classes * padded :]
        return self.complete(sums[: n_classes * padded].reshape(n_classes, padded), totals.tolist()), totals

    def follow(
        self, what: tuple[Any, ...], sided: bool, q: Array, scatter: bool, slots: Array
    ) -> tuple[Followed, Array | None]:
        """Bring q up to date.

        Parameters
        ----------
        what : form, weight, target, counts, mass, k
            What q is made of; see kernels/histogram.py.
        sided : bool
            As in `sums`.
        q : int64 array
            One integer a row, changed in place.
        scatter : bool
            Whether to sum what changed.
        slots : array
            The sums per slot before, as from `sums`; they may be changed in place.

        Returns
        -------
        followed : Followed
        slots : the sums per slot of the new q; None if they were not asked for
        """
        if self.one_thread:
            return self._follow_alone(what, sided, q, scatter, slots)
        shape = (1 + sided) * (self.n_slots + self.spare) if scatter else 0
        cells = self.n_rows * self.width // 2 if scatter else FOLLOWED * self.n_rows
        changes, found = self._kernels.follow.added(
            cells, self.threads, (shape,), *self.read, *what, sided, 0, self.n_rows, q
        )
        changed, turned, below, above, minus, plus, rough = map(sum, zip(*found, strict=True))
        followed = Followed(changed, turned, minus, plus, rough)
        if not scatter:
            return followed, None
        return followed, np.add(
            slots, self.complete(changes.reshape(1 + sided, -1), [below, above] if sided else [above]), out=slots
        )

    def _follow_alone(
        self, what: tuple[Any, ...], sided: bool, q: Array, scatter: bool, slots: Array
    ) -> tuple[Followed, Array | None]:
        """Do the same in this thread, changes added where the sums before lie."""
        out = NOTHING
        if scatter:
            owner = slots.base
            if owner is None or owner.size != (1 + sided) * (self.n_slots + self.spare) or not owner.flags.c_contiguous:
                owner = np.zeros((1 + sided, self.n_slots + self.spare), np.int64)
                owner[:, : self.n_slots] = slots
            out = owner.reshape(-1)
            slots = out.reshape(1 + sided, -1)[:, : self.n_slots]
        found = self._kernels.follow(*self.read, *what, sided, 0, self.n_rows, q, out)
        return Followed(found[0], found[1], found[4], found[5], found[6]), slots if scatter else None

    def complete(self, slots: Array, totals: list[int]) -> Array:
        """Return the sums of all slots, given those of the cells that were looked at."""
        return slots[:, : self.n_slots]

    def padded(self, slots: Array) -> Array:
        """Return a copy of a histogram with the padding that compiled rounds need."""
        return np.append(slots, np.zeros(self.spare, np.int64))

    def take(self, rows: Array) -> Codes:
        """Return the codes of some rows."""
        raise NotImplementedError

    def column(self, feature: int) -> Array:
        """Return the codes of one column."""
        width = int(self.starts[feature + 1] - self.starts[feature])
        return self.look_up(feature, np.arange(width, dtype=np.int64))

    def look_up(self, feature: int, table: Array) -> Array:
        """Return for every row the table's entry for its slot: a number, or a row of numbers."""
        code, table = self.reading(feature, table)
        if table.ndim == 2:
            return look_up_labels(code, table, self.threads)
        out = np.empty(self.n_rows, table.dtype)
        look_up.shared(out.size * 2, self.threads, code, table, 0, self.n_rows, out)
        return out

    def part(self, feature: int, low: Array, members: Array, space: Array) -> int:
        """Reorder the members so that rows in a low slot of the column come first; return how many they are."""
        return part_members(*self.reading(feature, low), members, space, self.threads)


class DenseCodes(Codes):
    """A byte a cell (two where a column has more than 255 bins), in groups of columns that share a 64-bit word.

    Parameters
    ----------
    cells : array of shape (groups, rows, per_word)
        The codes.
    starts : array
        Where the slots of every column start.
    threads : int
        How many threads may share the work.
    by_rows : bool, optional
        Whether trees sum rows of nodes from a copy with a row's words side by side; by default for large tables.
    """

    dense = True
    rows_of_slots: Array | None = None  # how many rows every slot has, where that is known

    def __init__(self, cells: Array, starts: Array, threads: int = 1, by_rows: bool | None = None) -> None:
        super().__init__(cells.shape[1], starts, threads)
        large = cells.nbytes > IN_CACHE and len(cells) > 1 and not isinstance(cells, np.memmap)
        self.by_rows = large if by_rows is None else by_rows
        self.cells = cells  # of shape (groups, rows, codes of a word)
        self.words = cells.view(np.uint64)[..., 0]
        per_word = cells.shape[2]
        # Columns that only fill up the last word have a slot each behind the others: adds to the same would wait.
        base = self.n_slots + np.arange(len(cells) * per_word, dtype=np.uint64) % np.uint64(per_word)
        base[: len(starts) - 1] = starts[:-1]
        self.read, self.width, self.spare = (self.words, base), len(base), per_word

    @property
    def _kernels(self) -> Kernels:
        return EIGHT if self.cells.shape[2] == 8 else FOUR

    @staticmethod
    def shape_of(n_rows: int, n_features: int, widest: int) -> tuple[tuple[int, int, int], Any]:
        """Return the shape and type of the cells of a table whose columns have at most `widest` slots."""
        per_word, kind = (8, np.uint8) if widest <= 256 else (4, np.uint16)
        return (-(-n_features // per_word), n_rows, per_word), kind

    def reading(self, feature: int, table: Array) -> tuple[Array, Array]:
        """Return one column's cells and the table as it is."""
        per_word = self.cells.shape[2]
        return self.cells[feature // per_word, :, feature % per_word], table

    @cached_property
    def for_nodes(self) -> tuple[Array, int, int]:
        """The words as a flat array, and how far rows and groups are apart there, for sums over the rows of nodes.

        The rows of a node are far apart: of the cache line that a word lies in, the other words are other rows', which
        are not summed.  By rows, the words that share a line are all summed.
        """
        n, groups = self.n_rows, len(self.cells)
        if not self.by_rows:
            return self.words.reshape(-1), 1, n
        padded = -(-groups // LINE) * LINE
        step = padded if 4 * (padded - groups) <= groups else groups
        space = np.empty(n * step + LINE, np.uint64)
        flat = space[-(space.ctypes.data // space.itemsize) % LINE :][: n * step]  # rows start where cache lines do
        flat.reshape(n, step)[:, :groups] = self.words.T
        return flat, step, 1

    def again(self, threads: int) -> DenseCodes:
        """Return the same codes for another reader."""
        same = copy(self)
        same.threads = threads
        return same

    @property
    def kind(self) -> str:
        """Eight or four columns share a word."""
        return "eight" if self.cells.shape[2] == 8 else "four"

    @property
    def to_read(self) -> tuple[Array, ...]:
        """Cells, words, and where the slots of every column start."""
        return self.cells, *self.read

    @property
    def team_size(self) -> int:
        """All threads that can run at the same time, where a round has work for them: they meet in every round."""
        if not is_worth(self.n_rows * self.width // 2, self.threads):
            return 1
        return min(at_once(self.threads), self.n_rows if self.parts_rows else len(self.cells))

    @property
    def parts_rows(self) -> bool:
        """Whether there are fewer slots than rows, about."""
        return self.n_slots < 2 * self.n_rows

    def sums_of_equals(self, each: int) -> Array:
        """Return the sums per slot of the same integer a row; of few cells by NumPy, which need not be compiled."""
        if self.rows_of_slots is not None:
            return each * self.rows_of_slots
        if self.cells.size > MANY:
            return super().sums_of_equals(each)
        _, base = self.read
        at = self.cells.transpose(0, 2, 1) + base.reshape(len(self.cells), -1, 1).astype(np.intp)
        return each * np.bincount(at.ravel(), minlength=self.n_slots)[: self.n_slots]

    def histogram(self, q: Array, sided: bool = False) -> Array:
        """Return the sums of the integers q per slot over all rows."""
        if self.one_thread:
            return super().histogram(q, sided)
        return np.stack(self._channels("sides", q, q)) if sided else self.whole("one", q, q)[None]

    def pair_histogram(self, q: Array, p: Array) -> list[Array]:
        """Return the sums of two integers a row per slot, over all rows."""
        return self._channels("two", q, p)

    def class_sums(self, q: Array, classes: Array, n_classes: int, members: Array | None = None) -> tuple[Array, Array]:
        """Return the same as for all codes: for two classes and all rows by one vector addition a cell."""
        if members is not None or n_classes != 2 or self.n_rows * self.width < MANY:
            return super().class_sums(q, classes, n_classes, members)
        slots = self.whole("classes", q, classes).reshape(-1, 2).T.copy()
        return slots, slots[:, : self.starts[1]].sum(axis=1)  # every row is in a slot of a column

    def histograms(self, q: Array, slots: Array) -> None:
        """Write the sums of each row of q, of shape (channels, rows), to a row of slots: two by two."""
        for c in range(0, len(q) - 1, 2):
            slots[c : c + 2] = self.whole("two", q[c], q[c + 1]).reshape(-1, 2).T
        if len(q) % 2:
            slots[len(q) - 1] = self.whole("one", q[-1], q[-1])

    def _channels(self, of: str, q: Array, p: Array) -> list[Array]:
        slots = self.whole(of, q, p)
        return [slots[channel::2].copy() for channel in (0, 1)]

    def whole(self, of: str, q: Array, p: Array) -> Array:
        """Return a histogram of all rows (see kernels/whole_histogram.py): channels of a slot lie side by side."""
        out = np.empty((1, (1 if of == "one" else 2) * self.n_slots), np.int64)
        self.whole_of_each(of, q[None], p[None], out)
        return out[0]

    def whole_of_each(self, of: str, q: Array, p: Array, out: Array) -> None:
        """Write a histogram of all rows for each row of q and p, evenly spread over the rows of `out`."""
        tasks, channels = len(q), 1 if of == "one" else 2
        size, numbers = parts_now(2 * tasks * self.n_rows * self.width, self.threads), channels * self.n_slots
        facts = size, self.words, self.read[1] * np.uint64(channels), self.starts, q, p
        own_rows = tasks == 1 < size and OWN_ROWS * size * self.n_slots < self.n_rows * len(self.words)

        def arguments(team: Array, workspace: Callable[[int], Array]) -> tuple[Any, ...]:
            return team, *facts, workspace(size * numbers).reshape(size, numbers), len(out) // tasks, out, own_rows

        whole_histogram(self.cells.shape[2], of).together(size, arguments)

    def take(self, rows: Array) -> DenseCodes:
        """Return the codes of some rows (their numbers)."""
        return DenseCodes(np.ascontiguousarray(self.cells[:, rows]), self.starts, self.threads)
