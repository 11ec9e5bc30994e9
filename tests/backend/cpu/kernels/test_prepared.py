"""Prepared calls do what their kernel does, with the numbers that they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.prepared import ARGUMENTS, CHANGING, NUMBER, ROW, copy_to_each, give, make, prepare

Array = np.ndarray[Any, Any]


@in_parts
def weighted(x: Array, by: float, plus: float, first: int, last: int, out: Array) -> float:
    """Write by * x + plus; return the last."""
    found = 0.0
    for i in range(first, last):
        out[i] = found = by * x[i] + plus
    return found


NAMES = [f"a{i}" for i in range((ROW - CHANGING) // 2 + 1)]  # one more than may change


def of_many_numbers() -> Any:
    """Return a kernel of so many numbers, which writes them."""
    scope: dict[str, Any] = {}
    told = "; ".join(f"out[{i}] = {name}" for i, name in enumerate(NAMES))
    exec(f"def told({', '.join(NAMES)}, first, last, out): {told}", scope)
    scope["told"].__module__ = __name__
    return in_parts(scope["told"])


@kernel
def all_of(calls: Array, numbers: Array) -> bool:
    """Make all calls with these numbers."""
    well = True
    for which in range(calls.shape[0]):
        give(calls, which, numbers)
        well &= make(calls, which, 0, 1)
    return well


def test_prepared_calls_do_what_their_kernel_does():
    x, outs, found = np.arange(5.0), np.zeros((3, 5)), np.zeros((3, 1), np.int64)
    calls = np.zeros((3, ROW), np.int64)
    for which, changing in enumerate((None, {1: 0}, {1: 2, 2: 1})):
        prepare(calls[which], weighted, (x, 3.0, 0.5, 0, 5, outs[which]), found[which : which + 1], changing)
    assert not outs.any()
    assert calls[:, NUMBER].tolist() == [0, 1, 2]
    assert all_of(calls, np.array([-0.5, 7.0, 2.0]))
    np.testing.assert_array_equal(outs, [3.0 * x + 0.5, -0.5 * x + 0.5, 2.0 * x + 7.0])
    assert found.view(np.float64).tolist() == [[12.5], [-1.5], [15.0]]
    copies = np.stack([calls, np.zeros_like(calls)])
    copy_to_each(copies)
    assert len(set(copies[..., ARGUMENTS].ravel())) == 6
    outs[:] = 0.0
    assert all_of(copies[1], np.array([2.0, 0.0, 1.0]))
    np.testing.assert_array_equal(outs, [3.0 * x + 0.5, 2.0 * x + 0.5, x])


def test_a_row_has_places_for_many_numbers():
    told, n = of_many_numbers(), len(NAMES) - 1
    calls, out, found = np.zeros((1, ROW), np.int64), np.zeros(n + 1), np.zeros((1, 1), np.int64)
    args = *[0.0] * n, 0.25, 0, 1, out
    prepare(calls[0], told, args, found, {at: n - 1 - at for at in range(n)})
    assert all_of(calls, np.arange(float(n)))
    assert out.tolist() == [*range(n)[::-1], 0.25]
    with pytest.raises(AssertionError, match="more numbers change"):
        prepare(calls[0], told, args, found, dict.fromkeys(range(n + 1), 0))


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(MemoryError, match="no memory"):
        weighted.pack(
            np.zeros(8, np.int64), np.arange(5.0), 3.0, 0.5, 0, 5, np.zeros(5), found=np.zeros((1, 1), np.int64)
        )
