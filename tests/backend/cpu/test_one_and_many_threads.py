"""Sums of one thread, and what changed, are those that threads share."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.threads import AtOnce
from boostlab.contract.criterion import SIGNED
from boostlab.data.table import Table
from tables import stored


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sided", [False, True])
def test_sums_and_what_changed(sparse, sided):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (50, 11)).astype(float)
    one, many = (Table.fit(stored(X) if sparse else X, Masses(50), 255, t).codes for t in (1, AtOnce(3)))
    assert one.one_thread != sparse
    assert not many.one_thread
    q = rng.integers(-9, 9, 50)
    for members in (None, np.array([3, 7, 8], np.int32)):
        ours, theirs = one.sums(q, members, sided), many.sums(q, members, sided)
        np.testing.assert_array_equal(ours[0], theirs[0])
        assert ours[1:] == theirs[1:]
    what = SIGNED, rng.random(50), rng.choice([-1.0, 1.0], 50), *Masses(50).as_arrays, 20
    before = many.sums(q, sided=sided)[0]
    followed, expected = many.follow(what, sided, other := q.copy(), True, before.copy())
    if not sided:  # rows that change sides are counted anew by who asks
        np.testing.assert_array_equal(expected, many.sums(other)[0])
    for sums in (one.sums(q, sided=sided)[0], before.copy()):  # with and without room behind the slots
        ours, slots = one.follow(what, sided, mine := q.copy(), True, sums)
        assert ours[:4] == followed[:4]
        assert ours.rough == pytest.approx(followed.rough)
        np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(slots, expected)
    ours, slots = one.follow(what, sided, mine := q.copy(), False, before)
    np.testing.assert_array_equal(mine, other)
    assert slots is None
    assert (ours.minus, ours.plus) == (followed.minus, followed.plus)
