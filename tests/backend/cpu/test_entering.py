"""Python calls kernels, and kernels their parts, with what Python would."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from boostlab.backend.cpu.compiling import KERNEL, LINKED, kernel, part
from boostlab.backend.cpu.kernels.workspace import array_at, doubles
from boostlab.backend.cpu.kernels.workspace import total as whole

pytestmark = pytest.mark.skipif("pipeline_class" not in KERNEL, reason=f"Numba is not {LINKED}x")


@part
def told(table, pair, yes, small, share):
    line, (first, last), flags = pair
    found = share
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            found += table[i, j] * (i + 1)
    return found + line[first] - line[last], (flags[1] if yes else flags[0]), small + table.size


@kernel
def entered(table, pair, yes, small, share, natural):
    found, flag, number = told(table, pair, yes, small, share)
    return found, flag, (number, natural + np.uint64(1))


@pytest.mark.parametrize("order", ["C", "F", "step"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_arguments_of_all_kinds_arrive(order, dtype):
    table = np.arange(12).reshape(3, 4).astype(dtype)
    table = np.repeat(table, 2, axis=1)[:, ::2] if order == "step" else np.asarray(table, order=order)
    pair = np.arange(5.0)[::-1], (1, -1), np.array([True, False])
    for yes, natural in ((True, 2**63), (False, 7)):
        given = table, pair, yes, np.int32(-3), np.float32(0.5), np.uint64(natural)
        found, flag, (number, more) = entered(*given)
        wanted = 0.5 + sum(float(table[i].sum()) * (i + 1) for i in range(3)) + 3.0 - 0.0
        assert (found, flag, number, more) == (wanted, not yes, 9, natural + 1)
        assert isinstance(flag, bool)
        assert isinstance(number, int)


@kernel
def filled(out, value):
    for i in range(out.size):
        out[i] = value


def test_what_is_no_such_argument_is_refused_and_nothing_is_written():
    out = np.zeros(3)
    filled(out, 1.0)
    for wrong in ((out, "x"), (out,), (out, 1.0, 2.0)):
        with pytest.raises((TypeError, TypingError)):
            filled(*wrong)
    assert filled(out, 2.5) is None
    assert out.tolist() == [2.5] * 3


@part
def checked(x, limit):
    if x > limit:
        raise ValueError(f"{x} is more than {limit}")
    return x


@kernel
def all_checked(x, limit, out):
    for i in range(x.size):
        out[i] = checked(x[i], limit)


def test_an_error_of_a_part_ends_the_kernel_and_says_why():
    out = np.zeros(4)
    with pytest.raises(ValueError, match="is more than"):
        all_checked(np.arange(4.0), 1.5, out)
    assert out.tolist() == [0.0, 1.0, 0.0, 0.0]
    all_checked(np.arange(4.0), 5.0, out)
    assert out.tolist() == [0.0, 1.0, 2.0, 3.0]


@kernel
def too_much(n):
    return doubles(n).size


def test_memory_that_there_is_not_is_an_error():
    assert too_much(5) == 5
    with pytest.raises(MemoryError, match="Allocation failed"):
        too_much(1 << 58)


@kernel
def seen_at(address, n):
    table = array_at(address, (n, 2), np.int64)
    table[1, 1] += 1
    return whole(table[n - 1]), table.size


def test_an_array_is_seen_at_its_address():
    x = np.arange(8)
    assert seen_at(x.ctypes.data, 4) == (13, 8)
    assert x.tolist() == [0, 1, 2, 4, 4, 5, 6, 7]


def test_kernels_call_parts_only():
    @kernel
    def caller(out):
        filled(out, 1.0)

    with pytest.raises(AssertionError, match="caller calls the kernel filled"):
        caller(np.zeros(2))
