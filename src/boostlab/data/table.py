"""A table of numbers as binned columns.

Columns become bins once.  A column with no more distinct values than bins is cut at the midpoints between them, so a
stump on it is exact; longer columns are cut at (weighted) quantiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.rows import Rows
from boostlab.data.threads import spread
from boostlab.kernels.bins import encode, split_votes

Array = npt.NDArray[Any]

MOST_BINS = 65_535


@dataclass
class Bins:
    """The cut points of every column: value x falls into bin `number of cuts below x`."""

    cuts: list[Array]
    categorical: frozenset[int] = frozenset()  # columns whose values are category numbers, one bin each

    @classmethod
    def fit(
        cls,
        X: Array,
        rows: Rows,
        max_bins: int | str = 255,
        threads: int = 1,
        n_categories: Mapping[int, int] | None = None,
    ) -> Bins:
        """Find the cut points of every column of X.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Finite numbers, or NaN for a missing value.
        rows : Rows
            The rows' masses: quantiles are weighted by them.
        max_bins : int or "exact"
            At most so many bins a column; "exact" cuts between all distinct values.
        threads : int
            How many threads share the columns.
        n_categories : mapping, optional
            The categorical columns (their values are 0, 1, ...) and how many categories each has.
        """
        n_categories = n_categories or {}
        limit = MOST_BINS if max_bins == "exact" else int(max_bins)
        mass = None if rows.uniform else rows.whole(np.ones(rows.n_rows))[0]
        cuts: list[Array] = [np.empty(0)] * X.shape[1]

        def work(first: int, last: int) -> None:
            for j in range(first, last):
                if j in n_categories:
                    cuts[j] = np.arange(n_categories[j] - 1) + 0.5
                    continue
                cuts[j] = _column_cuts(X[:, j], mass, limit, j if max_bins == "exact" else None)

        spread(work, X.shape[1], X.size * 8, threads)
        return cls(cuts, frozenset(n_categories))

    @property
    def n_bins(self) -> Array:
        """Number of bins of every column; a missing value has the code after the last bin."""
        return np.array([len(c) + 1 for c in self.cuts], np.int64)

    def encode(self, X: Array, threads: int = 1) -> Array:
        """Return the bin codes of X, one row per feature: uint8 up to 255 bins, else uint16."""
        widest = max((len(c) for c in self.cuts), default=0)
        codes = np.empty((X.shape[1], X.shape[0]), np.uint8 if widest < 255 else np.uint16)
        widths = [(1 << len(c).bit_length()) - 1 for c in self.cuts]
        starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        cuts, missing = np.full(starts[-1], np.inf), self.n_bins
        for start, c in zip(starts, self.cuts, strict=False):
            cuts[start : start + len(c)] = c
        spread(lambda a, b: encode(X, cuts, starts, missing, a, b, codes), X.shape[0], X.size * 8, threads)
        return codes


def _column_cuts(column: Array, mass: Array | None, limit: int, exact_column: int | None) -> Array:
    if mass is None:
        values = np.sort(column)
    else:
        order = np.argsort(column, kind="stable")
        values = column[order]
    if np.isnan(values[-1]):  # missing values are sorted to the end
        values = values[: len(values) - np.count_nonzero(np.isnan(values))]
        if len(values) == 0:
            return np.empty(0)
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)  # last row of every distinct value
    if len(ends) > limit:
        if exact_column is not None:
            raise ValueError(
                f'max_bins="exact" allows {MOST_BINS:,} distinct values a column, but column {exact_column} has '
                f"{len(ends):,}; give max_bins a number, for example 255."
            )
        below = ends + 1 if mass is None else np.cumsum(mass[order[: len(values)]])[ends]
        share = below / below[-1]
        picked = np.unique(np.searchsorted(share, np.arange(1, limit) / limit))
        picked = picked[picked < len(ends) - 1]
    else:
        picked = np.arange(len(ends) - 1)
    return _midpoints(values[ends[picked]].astype(np.float64), values[ends[picked + 1]].astype(np.float64))


def _midpoints(low: Array, high: Array) -> Array:
    """Return a number m with low <= m < high, halfway where floats allow."""
    middle = low / 2 + high / 2  # halves first: the sum of two huge numbers would overflow
    return np.where((low <= middle) & (middle < high), middle, low) + 0.0  # no negative zeros


@dataclass
class Table:
    """Rows of numbers as a learner and its voters see them: raw, and binned where bins were made."""

    X: Array
    bins: Bins | None = None
    codes: Array | None = field(default=None, repr=False)
    threads: int = 1

    @classmethod
    def of(cls, X: Array, bins: Bins | None, threads: int = 1) -> Table:
        """Return X, with its codes if there are bins."""
        return cls(X, bins, None if bins is None else bins.encode(X, threads), threads)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def split(
        self, feature: int, cut: int | None, threshold: float, left: float, right: float, missing: float | None = None
    ) -> Array:
        """Return `left` for the rows with feature <= threshold (bin <= cut), `missing` for NaN, `right` for the others.

        A threshold that is not one of the bins' cuts has the cut None.  Where `missing` is not given it is `right`.
        """
        missing = right if missing is None else missing
        if self.codes is None or self.bins is None or cut is None:
            x = self.X[:, feature]
            votes = np.where(x <= np.float64(threshold), left, right)  # not in float32
            if missing != right:
                votes[np.isnan(x)] = missing
            return votes
        out = np.empty(self.n_rows)
        absent = len(self.bins.cuts[feature]) + 1
        split_votes(self.codes[feature], cut, absent, left, right, missing, out)
        return out

    def category(self, feature: int, n_categories: int) -> Array:
        """Return the category number of every row; missing ones have the number n_categories."""
        if self.codes is not None:
            return self.codes[feature]
        x = self.X[:, feature]
        return np.where(np.isnan(x), n_categories, x).astype(np.intp)
