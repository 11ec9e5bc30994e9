"""A histogram that follows its rows: only those that changed are summed again.

After a vote of -1 and +1, exponential weights kept up to a common factor change only where the vote was wrong.  Sums
are integers, so a histogram plus the sums of the changes is, to the bit, the histogram counted anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.codes import Codes
from boostlab.data.rows import Rows
from boostlab.data.threads import gather
from boostlab.kernels.follow import follow, measure

Array = npt.NDArray[Any]

MOST = 1 << 62  # of the sum of |q|, so that no sum can overflow
LEAST = 1 << 54  # below, digits would be lost
ROOM = 4  # bits that a new scale leaves for the sum to grow into: some twenty rounds of AdaBoost
FEW = 4096  # rows that are counted anew faster than compared
WORTH = 0.7  # the share of changed rows from which on counting anew is faster


class Follower:
    """One channel: its rows as integers, their sums, and their histogram.

    The scale stays the same from round to round while the sum of magnitudes lies in [2^54, 2^62).
    """

    def __init__(self, rows: Rows, codes: Codes) -> None:
        self.rows, self.codes = rows, codes
        self.q: Array | None = None  # None: nothing to compare with
        self.power = self.total = self.gross = 0
        self.slots = np.zeros(0, np.int64)

    def update(self, x: Array) -> None:
        """Take the rows' new values (per unit of mass); the array is used up."""
        counts = self.rows.fold(x)
        if self.q is None or not self._follow(x, counts):
            self.count(x, counts)

    def count(self, x: Array, counts: Array) -> None:
        """Sum all rows, with these integer masses."""
        self.q, self.power, self.total, self.gross = self.rows.whole(x, counts, ROOM)
        self.slots = self.codes.sums(self.q)

    def _follow(self, x: Array, counts: Array) -> bool:
        """Sum what changed; False if the scale no longer fits."""
        n, threads, k = len(x), self.codes.threads, self.power
        found = gather(lambda a, b: measure(x, counts, k, a, b), n, n, threads)
        # Where the sum in floating point is a number and well below 2^63, the integers did not overflow.
        if not sum(rough for _, _, rough in found) < 1.4 * MOST:
            return False
        total, gross = (sum(int(part[i]) for part in found) for i in (0, 1))
        if not LEAST <= gross < MOST:
            return False
        q, self.q = self.q, None  # not to be trusted until all is done
        assert q is not None
        rows, changes = np.empty(n, np.int32 if n < 2**31 else np.int64), x.view(np.int64)
        parts = gather(lambda a, b: (a, follow(x, counts, k, a, b, q, rows, changes)), n, 2 * n, threads)
        members, changes = (np.concatenate([of[a : a + size] for a, size in parts]) for of in (rows, changes))
        if len(members) > WORTH * n or n < FEW:
            self.slots = self.codes.sums(q)
        elif len(members):
            self.slots = self.slots + self.codes.sums(changes, members)
        self.total, self.gross, self.q = total, gross, q
        return True
