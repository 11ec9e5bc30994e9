"""In which cell a value of a column lies, as for a counting sort (see `column_cuts`).

Cells are even; where a few values are far out they are even in a scale that draws the ends in, or else most values
would share a cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.workspace import doubles

Array = np.ndarray[Any, Any]

ABREAST = 64  # extremes that are followed side by side
SAMPLE = 128  # values that tell where the middle half of them is
FAR = 32.0  # of the middle half's width: ranges that are wider are drawn in


@part
def extremes(values: Array, low: Array, high: Array) -> None:
    """Let low[0] and high[0] be the smallest and the largest value but NaN, which is neither below nor above anything.

    Many are followed side by side, as vectors of the values' own type, in arrays of ABREAST numbers; infinity and minus
    infinity if there is none.
    """
    for k in range(ABREAST):
        low[k], high[k] = np.inf, -np.inf
    whole = values.size - values.size % ABREAST
    for start in range(0, whole, ABREAST):
        some = values[start : start + ABREAST]
        for k in range(ABREAST):
            v = some[k]
            low[k] = v if v < low[k] else low[k]
            high[k] = v if v > high[k] else high[k]
    for i in range(whole, values.size):
        v = values[i]
        low[0], high[0] = v if v < low[0] else low[0], v if v > high[0] else high[0]
    for k in range(1, ABREAST):
        low[0], high[0] = min(low[0], low[k]), max(high[0], high[k])


@part
def middle_of(values: Array) -> tuple[float, float]:
    """Return a median of a few values, and how wide their middle half is; 0 if that is too small to divide by."""
    few, n = doubles(SAMPLE), 0
    for k in range(SAMPLE):
        v = np.float64(values[k * values.size // SAMPLE])
        if v == v:
            p = n
            while p > 0 and few[p - 1] > v:
                few[p] = few[p - 1]
                p -= 1
            few[p] = v
            n += 1
    width = few[3 * n // 4] - few[n // 4] if n > 3 else 0.0
    return few[n // 2] if n > 0 else 0.0, width if 1e-300 < width < 1e300 else 0.0


@part
def _drawn_in(x: float) -> float:
    """Return x / (1 + |x|), in operations none of which falls, rounding included, when x grows."""
    r = 1.0 / (1.0 + abs(x))
    return 1.0 - r if x > 0.0 else r - 1.0


@part
def scale_of(low: float, high: float, middle: float, width: float, n_cells: int, out: Array) -> bool:
    """Write how values from `low` to `high` are laid in cells; return False if the range is too wide, or too narrow.

    That is: where the first cell starts, how many there are to a unit, and the number of the last.  Of a scale that
    draws the ends in: the middle, its inverse width, the last, where the first cell starts, how many there are to a
    unit.
    """
    steep, most = (n_cells - 1) / (high - low) if high > low else 1.0, 1e300 if out.itemsize == 8 else 1e30
    if not 1.0 / most < steep < most or not high - low < np.inf:
        return False
    out[0], out[1], out[2], out[3], out[4] = low, steep, n_cells - 1, 0.0, 0.0
    if width > 0.0 and high - low > FAR * width:
        per = 1.0 / width
        left = _drawn_in((low - middle) * per)
        out[0], out[1], out[3], out[4] = middle, per, left, (n_cells - 1) / (_drawn_in((high - middle) * per) - left)
    return True


@part
def lay_in_cells(values: Array, scale: Array, n_cells: int, out: Array) -> None:
    """Write the cell of every value, which never falls when values grow; n_cells for NaN.

    Even cells are found in the values' own type: vectors hold twice as many of float32.
    """
    if scale[4] == 0.0:
        start, per, top = scale[0], scale[1], scale[2]
        for i in range(values.size):
            v = values[i]
            x = (v - start) * per
            x = x if x < top else top  # NaN as well
            out[i] = np.int32(x) if v == v else n_cells
        return
    middle, inverse, last = np.float64(scale[0]), np.float64(scale[1]), np.float64(scale[2])
    left, steep = np.float64(scale[3]), np.float64(scale[4])
    for i in range(values.size):
        v = np.float64(values[i])
        x = (_drawn_in((v - middle) * inverse) - left) * steep
        x = x if x < last else last
        out[i] = np.int32(x) if v == v else n_cells
