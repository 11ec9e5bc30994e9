"""A table of which only the bin codes are left: every number is told as far as its bin says."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

CODES_OF_OTHERS = (
    "This table came in batches and holds bin codes, and the cuts of its bins are not those of the training table; "
    "read it by the same bins (Binned.from_batches or from_parquet with like=...)"
)


class CodedMatrix:
    """Rows of bin codes that read as numbers: each is the largest of its bin that is a cut, a category, or NaN.

    Stumps and trees that cut at the bins' points send such a number where they would send the one it stands for.

    Parameters
    ----------
    codes : DenseCodes
        The codes.
    bins : Bins
        The cut points.
    keys : array of shape (n_rows,)
        A 64-bit key of every row's own numbers, which draws and hold-outs order the rows by.
    """

    def __init__(self, codes: Any, bins: Any, keys: Array) -> None:
        self.codes, self.bins, self.keys = codes, bins, keys
        starts = codes.starts
        self.values = np.full(starts[-1], np.nan)  # one a slot; missing values have the last of a column
        for j in range(bins.n_features):
            cuts, n = bins.of(j), int(bins.n_bins[j])
            last = 0.0 if not len(cuts) else np.nextafter(cuts[-1], np.inf)
            mine = np.arange(n, dtype=float) if j in bins.categorical else np.append(cuts, last)
            self.values[starts[j] : starts[j] + n] = mine

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.codes.n_rows, self.bins.n_features

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return np.dtype(np.float64)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        """Return the numbers of some rows, or of some rows and columns."""
        rows, *columns = key if isinstance(key, tuple) else (key,)
        cells, starts, d = self.codes.cells, self.codes.starts, self.shape[1]
        if columns and isinstance(columns[0], int | np.integer):
            j, per_word = int(columns[0]), cells.shape[2]
            return self.values[starts[j] + cells[j // per_word, rows, j % per_word].astype(np.int64)]
        some = cells[:, rows]
        wide = some.transpose(1, 0, 2).reshape(some.shape[1], some.shape[0] * some.shape[2])[:, :d]
        numbers = self.values[starts[:-1] + wide.astype(np.int64)]
        return numbers[:, columns[0]] if columns else numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)

    def tells(self, features: Array, thresholds: Array) -> bool:
        """Return whether the codes tell on which side of every threshold a row is: it is one of the bins' cuts."""
        finite = np.isfinite(thresholds)
        features, thresholds = features[finite], thresholds[finite]
        return all(np.isin(thresholds[features == j], self.bins.of(j)).all() for j in np.unique(features).tolist())

    def take(self, rows: Array) -> CodedMatrix:
        """Return some rows, by their numbers."""
        return CodedMatrix(self.codes.take(rows), self.bins, self.keys[rows])
