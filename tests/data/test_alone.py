"""One thread's sums without asking for others are those of the codes."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.data import alone
from boostlab.data.rows import Rows
from boostlab.data.table import Table
from boostlab.kernels.slots import SIGNED
from tables import stored


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sided", [False, True])
def test_sums_and_what_changed(sparse, sided):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (50, 11)).astype(float)
    codes = Table.fit(stored(X) if sparse else X, Rows(50), 255).codes
    q = rng.integers(-9, 9, 50)
    for members in (None, np.array([3, 7, 8], np.int32)):
        ours, theirs = alone.sums_of(codes, q, members, sided), codes.sums(q, members, sided)
        np.testing.assert_array_equal(ours[0], theirs[0])
        assert ours[1:] == theirs[1:]
    what = SIGNED, rng.random(50), rng.choice([-1.0, 1.0], 50), *Rows(50).as_arrays, 20
    for scatter in (False, True):
        mine, other = q.copy(), q.copy()
        (ours, changes), (theirs, others) = (
            follow(what, sided, to, scatter)
            for follow, to in ((lambda *a: alone.follow(codes, *a), mine), (codes.follow, other))
        )
        assert ours == theirs
        np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(changes, others)
