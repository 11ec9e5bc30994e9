"""The search for the cut points of all columns of a table that comes in blocks, here or on other machines."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.threads import spread
from boostlab.data.cut_search import CutSearch, Seen
from boostlab.data.memory import free_memory

Array = npt.NDArray[Any]
Block = tuple[Array, Array | None]  # rows of numbers, and their integer masses

MOST_COUNTERS = 1 << 21  # in one pass
MOST_GATHERED = 1 << 23  # rows times columns
FEWEST = 1 << 15  # of either
COUNTER, GATHERED = 24, 32  # bytes of one: rows, mass and first key; a key, a mass, and both once more in order


def cuts_of_blocks(blocks: Callable[[], Iterable[Block]], search: TableSearch) -> tuple[Array, Array, Array]:
    """Return the columns' cut points, how many each has, and how many distinct values (at most limit + 1).

    Parameters
    ----------
    blocks : callable
        Returns all blocks, once more every time it is called: rows of numbers (NaN for missing ones) and integer
        masses, or None if every row counts once.
    search : TableSearch
        New, or after some passes.
    """
    while not search.done:
        for X, mass in blocks():
            search.see(X, mass)
        search.advance()
    return search.cuts()


class TableSearch:
    """The search for the cuts of all columns, in passes; blocks may be looked at here, or elsewhere and reported.

    Parameters
    ----------
    n_features : int
        Number of columns.
    limit : int
        The largest number of bins.
    n_categories : mapping, optional
        The categorical columns and how many categories each has.
    most_counters : int, optional
        In one pass, over all columns.
    threads : int, default=1
        How many share the columns of a block.
    """

    def __init__(
        self,
        n_features: int,
        limit: int,
        n_categories: Mapping[int, int] | None,
        most_counters: int | None = None,
        threads: int = 1,
    ) -> None:
        self.threads = threads
        # Where memory is short, an eighth of it is for counters and as much for gathered rows: more passes instead.
        spare = free_memory() // 8
        most = min(MOST_COUNTERS, max(spare // COUNTER, FEWEST))
        self.n_features, self.limit, self.most_counters = n_features, limit, most_counters or most
        self.n_categories = n_categories or {}
        numeric = [j for j in range(n_features) if j not in self.n_categories]
        share = self.most_counters // max(len(numeric), 1)
        gathered = min(MOST_GATHERED, max(spare // GATHERED, FEWEST)) // max(len(numeric), 1)
        self.columns = {j: CutSearch(limit, share, gathered) for j in numeric}
        self.first = True

    @property
    def open(self) -> dict[int, CutSearch]:
        """The columns that need another pass."""
        return {j: c for j, c in self.columns.items() if not c.done}

    @property
    def done(self) -> bool:
        """Whether another pass is of no use."""
        return not self.first and not self.open

    def see(self, X: Array, mass: Array | None) -> None:
        """Look at a block, a column at a time; several threads share the columns."""
        columns = list(self.open.items())

        def work(first: int, last: int) -> None:
            for j, column in columns[first:last]:
                column.see(np.ascontiguousarray(X[:, j], np.float64), mass, self.first)

        spread(work, len(columns), len(X) * len(columns) * 8, self.threads)

    def question(self) -> tuple[dict[int, CutSearch], bool]:
        """Return what others must know to look at a block (see `look`)."""
        return {j: c.blank() for j, c in self.open.items()}, self.first

    def hear(self, seen: Mapping[int, Seen]) -> None:
        """Take note of what others saw in this pass."""
        for j, report in seen.items():
            self.columns[j].hear(report, self.first)

    def advance(self) -> None:
        """Draw conclusions from a pass."""
        open_ = self.open
        for column in open_.values():
            column.advance(self.most_counters // max(len(open_), 1))
        self.first = False

    def cuts(self) -> tuple[Array, Array, Array]:
        """Return the cut points, how many each column has, and its distinct values (at most limit + 1)."""
        found = [
            (np.arange(self.n_categories[j] - 1) + 0.5, 0) if j in self.n_categories else self.columns[j].cuts()
            for j in range(self.n_features)
        ]
        points = np.concatenate([np.empty(0), *(cuts for cuts, _ in found)])
        return points, np.array([len(c) for c, _ in found], np.int64), np.array([d for _, d in found], np.int64)


def look(question: tuple[Mapping[int, CutSearch], bool], X: Array, mass: Array | None) -> dict[int, Seen]:
    """Look at a block for a search elsewhere, a column at a time."""
    columns, first = question
    reports = {}
    for j, column in columns.items():
        mine = copy.deepcopy(column)
        mine.see(np.ascontiguousarray(X[:, j], np.float64), mass, first)
        reports[j] = mine.report()
    return reports


def looked(limit: int, *reports: Mapping[int, Seen]) -> dict[int, Seen]:
    """Return what several looks at different rows saw together."""
    both = dict(reports[0])
    for report in reports[1:]:
        for j, seen in report.items():
            both[j] = both[j].with_(seen, limit)
    return both
