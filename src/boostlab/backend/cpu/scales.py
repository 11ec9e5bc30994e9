"""Fixed-point scales that last: when a channel's 2^k is kept from round to round, and which one follows it.

A sum over rows is a sum of integers q = rint(x 2^k).  A scale that stays the same lets histograms be followed instead
of counted anew; it stays while the sum of |q| lies in [least, 2^62).
"""

from __future__ import annotations

import math

import numpy as np

from boostlab.backend.cpu.compiling import part

MOST = 1 << 62  # of the sum of |q|, so that no sum can overflow
LEAST = 1 << 54  # below, digits would be lost, where examples are many
FEWEST = 1 << 32  # below, the integers do not tell which scale would fit
HEADROOM = 4  # bits that a new scale leaves for the sum to grow into: some twenty rounds of AdaBoost
_ONE = np.int64(1)


def limits(n: float, lasting: bool) -> tuple[int, int]:
    """Return the bits that a new scale leaves free, and the least sum of |q| with which a scale is kept.

    Parameters
    ----------
    n : float
        Number of examples.
    lasting : bool
        Whether, where examples are few, some bits may be given up for a scale that lasts longer: for sums that are only
        compared, not divided by each other.
    """
    spare = max(0, 18 - int(math.log2(max(n, 1.0)))) // 2 if lasting else 0
    return HEADROOM + spare, LEAST >> spare


@part
def keeps(gross: int, least: int) -> bool:
    """Return whether a scale is kept with which the magnitudes sum to gross."""
    return least <= gross and gross < MOST


@part
def next_scale(k: int, gross: int, rough: float, headroom: int, least: int) -> tuple[int, bool]:
    """Return the scale after one with which the magnitudes sum to gross (k itself, if it is kept), and if it is known.

    It is not where too few digits are left, or where the integers may have overflowed: not if their sum in floating
    point, `rough`, is a number and well below 2^63.
    """
    if not rough < 1.4 * 2.0**62 or gross < FEWEST:
        return k, False
    if keeps(gross, least):
        return k, True
    bits = 0
    while gross > 0:
        gross >>= _ONE  # type: ignore[assignment]
        bits += 1
    return k + 62 - headroom - bits, True  # as a count anew would leave it, or one bit less
