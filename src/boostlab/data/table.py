"""A table as a learner and its voters see it: numbers, and bin codes where bins were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Codes, DenseCodes
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.sparse_codes import SparseCodes
from boostlab.contract.voter import compact, of_labels
from boostlab.data.bins import MOST_BINS, Bins, Draft
from boostlab.data.matrix import Chosen, as_a_whole, by_rows, canonical_order, column, is_sparse, rows_within, take

Array = npt.NDArray[Any]

__all__ = ["MOST_BINS", "Bins", "Table"]


def reread(codes: Codes, threads: int) -> Codes:
    """Return the same codes for another reader: sparse ones have a place of their own to write to."""
    if isinstance(codes, SparseCodes):
        columns = codes.row_of, codes.code_of, codes.by_columns
        return SparseCodes(columns, (codes.slots, codes.by_rows), codes.zero, codes.starts, threads)
    assert isinstance(codes, DenseCodes)
    return codes.again(threads)


@dataclass
class Table:
    """Masses of numbers: raw (an array or a CSR matrix), and binned where bins were made."""

    X: Any
    bins: Bins | None = None
    codes: Codes | None = field(default=None, repr=False)
    threads: int = 1

    @classmethod
    def of(cls, X: Any, bins: Bins | None, threads: int = 1) -> Table:
        """Return X, with its codes if there are bins."""
        return cls(X, bins, None if bins is None else bins.encode(X, threads), threads)

    @classmethod
    def fit(
        cls, X: Any, rows: Masses, max_bins: int | str, threads: int = 1, n_categories: Mapping[int, int] | None = None
    ) -> Table:
        """Return X with bins of its own (see `Bins.fit`), and its codes."""
        binned = X.tocsc() if is_sparse(X) else X  # once for both
        draft = None if is_sparse(X) else Draft.of(X, max_bins)
        bins = Bins.fit(binned, rows, max_bins, threads, n_categories, draft)
        return cls(X, bins, bins.encode(binned, threads, draft), threads)

    @classmethod
    def raw(cls, X: Any) -> Table:
        """Return what a person passes to a voter: an array, anything that makes one, or a sparse matrix."""
        return cls(by_rows(X) if is_sparse(X) else np.asarray(X))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @cached_property
    def floats(self) -> Any:
        """The numbers as voters from outside expect them: float64 or float32, or a CSR matrix."""
        X = as_a_whole(self.X)
        return X if is_sparse(X) or X.dtype in (np.float64, np.float32) else X.astype(np.float64)

    @cached_property
    def _by_columns(self) -> Any:
        return self.X.tocsc() if is_sparse(self.X) else self.X

    def again(self, threads: int, codes: bool = True) -> Table:
        """Return the same rows for another use, by so many threads; without their codes, if they are not wanted."""
        if self.codes is None or not codes:
            return Table(self.X, threads=threads)
        return Table(self.X, self.bins, reread(self.codes, threads), threads)

    def moved_to(self, X: Any) -> None:
        """Read on from a table with the same numbers: the caller may have changed the one of the last fit."""
        base = X.X if isinstance(X, Chosen) else X
        if isinstance(self.X, Chosen):
            self.X = Chosen(base, self.X.rows)
        elif not is_sparse(X) or X.shape == self.X.shape:  # rows held out of a sparse table are a copy
            self.X = X
        for made in ("floats", "_by_columns"):
            self.__dict__.pop(made, None)

    def take(self, rows: Array) -> Table:
        """Return some rows (their numbers), with the codes they have: nothing is binned twice."""
        return Table(take(self.X, rows), self.bins, None if self.codes is None else self.codes.take(rows), self.threads)

    def rows_within(self, limit: int) -> Array:
        """Return the numbers of the rows whose scrambled key is at most a limit."""
        return rows_within(self.X, limit, self.threads)

    def canonical_order(self, labels: Array, mass: Array | None) -> Array:
        """Return an order of the rows that depends on their content only."""
        return canonical_order(self.X, labels, mass, self.threads)

    def split(
        self, feature: int, cut: int | None, threshold: float, left: float, right: float, missing: float | None = None
    ) -> Array:
        """Return `left` for the rows with feature <= threshold (bin <= cut), `missing` for NaN, `right` for the others.

        A threshold that is not one of the bins' cuts has the cut None.  Where `missing` is not given it is `right`.
        """
        missing = right if missing is None else missing
        if self.codes is None or self.bins is None or cut is None:
            x = column(self._by_columns, feature)
            low, high, none = compact(np.array([left, right, missing]))
            votes = np.where(x <= np.float64(threshold), low, high)  # not in float32
            if missing != right:
                votes[np.isnan(x)] = none
            return votes
        return self.codes.look_up(feature, self.slot_votes(feature, cut, left, right, missing))

    def split_rows(self, feature: int, cut: int | None, threshold: float, leaves: Array) -> Array:
        """Return the first row of leaves for the rows with feature <= threshold, the last for NaN, else the second."""
        if self.codes is None or self.bins is None or cut is None:
            leaf = self.split(feature, cut, threshold, 0.0, 1.0, 2.0)
            return leaves[leaf.astype(np.intp)]
        leaves = of_labels(leaves)
        votes = np.empty((self._n_slots(feature), leaves.shape[1]), leaves.dtype)
        votes[: cut + 1], votes[cut + 1 : -1], votes[-1] = leaves[0], leaves[1], leaves[2]
        return self.codes.look_up(feature, votes)

    def slot_votes(self, feature: int, cut: int, left: float, right: float, missing: float) -> Array:
        """Return the votes of a cut between bins, one a slot of its column."""
        size = self._n_slots(feature)
        labels = type(left) is float and abs(left) == abs(right) == abs(missing) == 1.0
        votes = np.empty(size, np.int8) if labels else np.full(size, right)
        votes[cut + 1 :] = right
        votes[: cut + 1] = left
        votes[-1] = missing
        return votes if labels else compact(votes)

    def _n_slots(self, feature: int) -> int:
        """Return the number of slots of a column, that for missing values included."""
        assert self.bins is not None
        return int(self.bins.starts[feature + 1] - self.bins.starts[feature]) + 2

    def category(self, feature: int, n_categories: int) -> Array:
        """Return the category number of every row; missing ones have the number n_categories."""
        if self.codes is not None:
            return self.codes.column(feature)
        x = column(self._by_columns, feature)
        return np.where(np.isnan(x), n_categories, x).astype(np.intp)
