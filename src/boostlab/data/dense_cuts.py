"""The cut points of a dense table's columns."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.in_parts import parts_now
from boostlab.backend.cpu.kernels.binning import copy_columns, cut_sorted
from boostlab.backend.cpu.kernels.column_cuts import GROUP_NUMBERS, cut_columns, cut_columns_together
from boostlab.backend.cpu.kernels.spin_barrier import BARRIER_NUMBERS
from boostlab.backend.cpu.kernels.value_cells import ABREAST
from boostlab.backend.cpu.threads import spread
from boostlab.data.matrix import float_type, is_plain, seen

Array = npt.NDArray[Any]

NONE = np.empty(0, np.int64)
MANY = 1 << 14  # values of a column that are laid in cells: several times as fast as a whole sort
CELLS = 1 << 14
A_CUT = 16  # rows for which there is a cut, at least: else a whole sort is as fast

ROW, LIGHT_ROW = 32, 24  # bytes of a row, whose columns are copied at once to be cut; masses take space as well
GROUPS = 4  # of threads, at most, each of which has a column at a time
A_SHARE = 16  # times as many cells as cuts, for each group: else most values of a column are put in order
FEW = 8  # columns whose values that are put in order, of a group, have the space of one column
A_CALL = 1 << 26  # values that a thread cuts in one call, some 0.2 s: Ctrl-C is heard between calls


class Cuts(NamedTuple):
    """Where columns are cut."""

    points: Array
    counts: Array  # of every column
    distinct: Array  # how many distinct values every column has, unless a bound on them is enough
    rows: Array | None = None  # in every slot, where that is known


def dense_cuts(
    X: Array,
    mass: Array | None,
    limit: int,
    threads: int,
    n_categories: Mapping[int, int],
    exact: bool,
    space: Array | None = None,
) -> Cuts:
    """Return the columns' cut points.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Finite numbers, or NaN.
    mass : integer array, optional
        Of the rows; None if each is 1.
    limit : int
        The largest number of bins.
    threads : int
        How many threads share the work.
    n_categories : mapping
        The categorical columns, and how many categories each has.
    exact : bool
        Whether distinct values are counted, however many there are.
    space : array, optional
        Memory that is free meanwhile: that of the codes.
    """
    rows: Array | None = None
    whole = mass if mass is None else mass.astype(np.int64, copy=False)  # once for all threads
    if not exact and len(X) >= max(MANY, A_CUT * limit) and len(X) < 1 << 31:
        cuts, rows = LongColumns(X, whole, limit, threads, space=space).cuts(n_categories)
        distinct = np.zeros(X.shape[1], np.int64)
    else:
        cuts, distinct = _short_columns(X, whole, limit, threads, n_categories)
    for j, n in n_categories.items():
        cuts[j] = np.arange(n - 1) + 0.5
    return Cuts(np.concatenate([np.empty(0), *cuts]), np.array([len(c) for c in cuts], np.int64), distinct, rows)


def _short_columns(
    X: Array, mass: Array | None, limit: int, threads: int, n_categories: Mapping[int, int]
) -> tuple[list[Array], Array]:
    """Return the cut points of columns that are sorted whole, and how many distinct values each has."""
    d, n = X.shape[1], len(X)
    cuts: list[Array] = [np.empty(0)] * d
    distinct, most = np.zeros(d, np.int64), max(min(limit, n), 1)
    # Made here and not by the threads, each of which has a heap of its own that would stay as large as its largest use.
    spaces = [(np.empty(n, float_type(X)), np.empty(most)) for _ in range(min(threads, max(d, 1)))]

    def work(first: int, last: int) -> None:
        values, points = spaces.pop()
        for j in range(first, last):
            if j not in n_categories:
                np.copyto(values, X[:, j], casting="unsafe")
                cuts[j], distinct[j] = sorted_cuts(values, mass, limit, points)

    spread(work, d, X.size * 8, threads)
    return cuts, distinct


def sorted_cuts(values: Array, mass: Array | None, limit: int, points: Array) -> tuple[Array, int]:
    """Return the cut points of one column, and how many distinct values it has.

    Parameters
    ----------
    values : array
        The column, which is sorted in place.
    mass : int64 array, optional
        Of the rows.
    limit : int
        The largest number of bins.
    points : array
        Workspace for cut points.
    """
    if mass is None:
        values.sort()
        n, distinct = cut_sorted(values, NONE, limit, points)
    else:
        order = np.argsort(values, kind="stable")
        n, distinct = cut_sorted(values[order], np.cumsum(mass[order], dtype=np.int64), limit, points)
    return points[:n].copy(), distinct


class LongColumns:
    """Cuts columns that are long enough to be laid in cells (see `kernels.column_cuts`), some at once.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        The table.
    mass : int64 array, optional
        Of the rows.
    limit : int
        The largest number of bins.
    threads : int
        How many threads share the columns.
    cells : int
        How many cells values are laid in.
    space : array, optional
        Memory for copies of columns, if it is enough for some of them.
    """

    def __init__(
        self,
        X: Array,
        mass: Array | None,
        limit: int,
        threads: int,
        cells: int = CELLS,
        space: Array | None = None,
    ) -> None:
        self.X, self.limit, self.threads, self.n_cells = X, limit, threads, cells
        self.mass = NONE if mass is None else mass
        n, d = X.shape
        self.kind = np.dtype(float_type(X))
        most = (ROW if mass is None else LIGHT_ROW) // self.kind.itemsize
        self.space = None if space is None else space.reshape(-1).view(self.kind)
        if self.space is not None and len(self.space) >= n * most:
            most = len(self.space) // n
        else:
            self.space = None
        most = max(min(most, d, threads * A_CALL // n), 1)
        self.several = -(-d // -(-d // most)) if d else 1  # the same number every time, about
        self.parts = parts_now(4 * n * self.several, threads)
        groups = max(min(self.parts, self.several, GROUPS, cells // (A_SHARE * limit)), 1)
        self.groups = 1 << groups.bit_length() - 1
        self.parts = min(self.parts, self.groups * max(n // cells, 1))  # no more cells are counted than values

    def cuts(self, skip: Container[int] = ()) -> tuple[list[Array], Array | None]:
        """Return every column's cut points, none of those to skip; and how many rows every slot has, where each row
        counts once and all columns could be laid in cells.
        """
        n, d = self.X.shape
        columns = np.empty(self.several * n, self.kind) if self.space is None else self.space[: self.several * n]
        columns = columns.reshape(self.several, n)
        work = self._workspace()
        cuts, upto = [np.empty(0)] * d, [NONE] * d
        for first in range(0, d, self.several):
            some = columns[: d - first]
            self._copy(first, some)
            found = np.empty(len(some), np.int64)
            points, ranks = np.empty((len(some), self.limit)), np.empty((len(some), self.limit + 1), np.int64)
            which = np.array([k for k in range(len(some)) if first + k not in skip], np.int64)
            self._cut(some, which, *work, points, ranks, found)
            for k, count in zip(which.tolist(), found[which].tolist(), strict=True):
                if count >= 0:
                    cuts[first + k], upto[first + k] = points[k, :count], ranks[k, : count + 2]
                else:
                    cuts[first + k] = self._whole(some[k])
        known = d > 0 and len(self.mass) == 0 and all(map(len, upto))
        return cuts, _rows_of_slots(upto) if known else None

    def _workspace(self) -> tuple[Any, ...]:
        """Return workspace for all threads: space for values in order, and what else `cut_columns` wants."""
        n, weighted, groups, parts = len(self.X), len(self.mass) > 0, self.groups, self.parts
        share, size = n // FEW if groups > 1 else 0, self.n_cells + 1
        return (
            (np.empty(n, self.kind), np.empty(n if weighted else 0, np.int64)),
            (np.empty((groups, share), self.kind), np.empty((groups, share if weighted else 0), np.int64)),
            np.empty((parts, size), np.int32),
            np.empty((parts, size if weighted else 0), np.int64),
            np.empty((groups, size), np.int64),
            np.empty((groups, size), np.bool_),
            np.empty((groups, 2 * self.limit, 6), np.int64),
            np.empty((parts, 3, ABREAST), self.kind),
        )

    def _cut(self, columns: Array, which: Array, *work: Any) -> None:
        """Cut some columns."""
        numbers = np.zeros((self.groups, GROUP_NUMBERS), np.int64)
        turns = np.zeros((3, BARRIER_NUMBERS), np.int64)
        given = columns, seen(self.mass), self.limit, self.n_cells, which, turns, numbers, *work
        if self.groups == self.parts:
            cut_columns.in_so_many(self.parts, *given, turns[2])
        else:
            cut_columns_together.together(self.parts, lambda team, _: (*given, team))

    def _copy(self, first: int, columns: Array) -> None:
        """Copy some columns, from `first` on."""
        if is_plain(self.X):
            n = len(self.X)
            copy_columns.shared(2 * columns.size, self.threads, seen(self.X), first, columns, 0, n)
            return

        def work(start: int, end: int) -> None:
            for k in range(start, end):
                np.copyto(columns[k], self.X[:, first + k], casting="unsafe")

        spread(work, len(columns), columns.size * 8, self.threads)

    def _whole(self, values: Array) -> Array:
        """Return the cut points of a column by a whole sort."""
        return sorted_cuts(values, self.mass if len(self.mass) else None, self.limit, np.empty(self.limit))[0]


def _rows_of_slots(upto: list[Array]) -> Array:
    """Return how many rows every slot has, given every column's number of rows up to each of its slots."""
    flat = np.concatenate([NONE, *upto])
    rows = np.diff(flat, prepend=0)
    starts = np.cumsum([0, *map(len, upto[:-1])])
    rows[starts] = flat[starts]
    return rows
