"""Where compiled rounds keep the histogram of a dense table: the columns of a word side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class InterleavedLayout:
    """Histograms of a word's columns side by side: every column has as many places as the longest of them.

    Parameters
    ----------
    starts, filled, categorical
        Where the columns' slots start; which slots have rows; which columns have categories.
    width : int
        Columns a word.

    Examples
    --------
    >>> layout = InterleavedLayout(
    ...     np.array([0, 3, 5]), np.array([True, True, False, True, False]), np.zeros(2, bool), 4
    ... )
    >>> layout.of(np.array([1, 2, 0, 3, 0])).reshape(-1, 4)
    array([[1, 3, 0, 0],
           [2, 0, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 0]])
    """

    def __init__(self, starts: Array, filled: Array, categorical: Array, width: int) -> None:
        d = len(categorical)
        slots = np.zeros((-(-d // width), width), np.int64)
        slots.flat[:d] = np.diff(starts)
        self.words = np.append(0, np.cumsum(width * slots.max(axis=1)))
        self.size = int(self.words[-1]) + width  # as `DenseCodes` has it: columns that only fill up a word come last
        base = np.repeat(self.words[:-1], width)
        base[d:] = self.words[-1]
        base += np.arange(len(base)) % width
        self.places = np.arange(0, width * starts[-1], width)  # of every slot
        self.places += np.repeat(base[:d] - width * starts[:-1], np.diff(starts))
        cuts = np.zeros_like(slots)
        usual = ~(categorical | filled[starts[1:] - 1])
        cuts.flat[:d] = np.where(usual, np.maximum(np.diff(starts) - 2, 0), 0)
        least = np.where(cuts > 0, cuts, np.iinfo(np.int64).max).min(axis=1)
        most = cuts.max(axis=1)
        self.arrays = base.astype(np.uint64), self.words, cuts.ravel(), np.minimum(least, most), most

    def of(self, hist: Array) -> Array:
        """Return a histogram in this layout."""
        out = np.zeros(self.size, np.int64)
        out[self.places] = hist[: len(self.places)]
        return out

    def back(self, laid: Array, hist: Array) -> None:
        """Write it to a histogram that has a column after the other."""
        np.take(laid, self.places, out=hist[: len(self.places)], mode="clip")
