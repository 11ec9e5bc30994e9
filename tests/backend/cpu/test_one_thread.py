"""One thread's sums without asking for others are those of the codes."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu import one_thread as alone
from boostlab.backend.cpu.masses import Masses
from boostlab.contract.criterion import SIGNED
from boostlab.data.table import Table
from tables import stored


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sided", [False, True])
def test_sums_and_what_changed(sparse, sided):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (50, 11)).astype(float)
    codes = Table.fit(stored(X) if sparse else X, Masses(50), 255).codes
    q = rng.integers(-9, 9, 50)
    for members in (None, np.array([3, 7, 8], np.int32)):
        ours, theirs = alone.sums_of(codes, q, members, sided), codes.sums(q, members, sided)
        np.testing.assert_array_equal(ours[0], theirs[0])
        assert ours[1:] == theirs[1:]
    what = SIGNED, rng.random(50), rng.choice([-1.0, 1.0], 50), *Masses(50).as_arrays, 20
    followed, changes = codes.follow(what, sided, other := q.copy(), scatter=True)
    summed, laid = codes.sums(q, sided=sided)[0], alone.sums_of(codes, q, sided=sided)[0]
    for before in (summed, laid, laid.copy()):  # with and without room behind the slots
        expected = before + changes
        ours, slots = alone.follow(codes, what, sided, mine := q.copy(), True, before)
        assert ours == followed
        np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(slots, expected)
    ours, slots = alone.follow(codes, what, sided, mine := q.copy(), False, laid)
    np.testing.assert_array_equal(mine, other)
    assert slots is None
    assert (ours.minus, ours.plus) == (followed.minus, followed.plus)
