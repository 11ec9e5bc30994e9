"""The shorter forms of what kernels do most mean what Python and NumPy mean by it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels.workspace import doubles

PLACES = np.array([-5, -2, -1, 0, 1, 3, 4, 9])


@part
def total(x):
    found = 0.0
    for k in range(x.size):
        found += x[k] * (k + 1)
    return found


@kernel
def elements(line, table, cube, flags, i, j, out):
    out[0] = line[i]
    out[1] = line[np.uint64(2)]
    out[-1] = line[-1]
    out[3] = table[i, j]
    out[4] = total(table[i])
    out[5] = total(cube[i, j])
    out[6] = total(cube[j][i])
    out[7] = cube[i, j, -2]
    table[j, i] = np.float32(2.5)
    cube[i, 1, j] += 1.0
    flags[i] = line[j] > 0.0
    flags[-2] = True
    out[8] = 1.0 if flags[i] and not flags[j] else 0.0
    out[9] = table.size + 10 * cube.shape[2] + 100 * cube.shape[0]


def arrays(order):
    rng = np.random.default_rng(0)
    line, table, cube = (rng.normal(size=(4,) * n) for n in (1, 2, 3))
    return line, np.asarray(table, order=order), np.asarray(cube, order=order), rng.random(4) < 0.5


@pytest.mark.parametrize("order", "CF")
def test_elements_are_those_of_numpy(order):
    for i, j in itertools.product(range(-4, 4), repeat=2):
        here, there = (*arrays(order), i, j, np.zeros(12)), (*arrays(order), i, j, np.zeros(12))
        elements(*here)
        elements.py_func(*there)
        for found, wanted in zip(here, there, strict=True):
            np.testing.assert_array_equal(found, wanted)


@kernel
def slices(line, table, i, a, b, out):
    out[0] = total(line[a:b])
    out[1] = total(line[a:])
    out[2] = total(line[:b])
    out[3] = total(line[a:][:b])
    out[4] = total(table[i, a:b])
    out[5] = total(table[a:b, i])
    out[6] = total(table[a:b][:, i])
    out[7] = line[a:b].size + 10 * table[a:b, a:].size + 100 * table[:, a:b].shape[0]
    out[8] = total(line[::2]) + total(line[b:a:-1])
    line[a:b] = 1.5


@pytest.mark.parametrize("order", "CF")
def test_slices_are_those_of_numpy(order):
    for a, b in itertools.product(PLACES, repeat=2):
        line, table, *_ = arrays(order)
        found, wanted, there = np.zeros(9), np.zeros(9), line.copy()
        slices(line, table, 1, a, b, found)
        slices.py_func(there, table, 1, a, b, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-15)
        np.testing.assert_array_equal(line, there)


@kernel
def loops(a, b, out):
    for k in range(b):
        out[0] += k
    for k in range(a, b):
        out[1] += k + 100
    for k in range(a, b, 2):
        out[2] += k + 100
    for k in range(b, a, -3):
        out[3] += k + 100
    for k in range(np.uint64(abs(a)), np.uint64(abs(b))):
        out[4] += k + np.uint64(100)
    k = 7
    for k in range(a, b):
        if k == 2:
            break
    out[5] = k


def test_loops_are_those_of_python():
    for a, b in itertools.product(PLACES, repeat=2):
        found, wanted = np.zeros(6), np.zeros(6)
        loops(a, b, found)
        loops.py_func(a, b, wanted)
        np.testing.assert_array_equal(found, wanted)


@kernel
def choices(x, y, i, out):
    out[0], out[1] = min(x, y), max(x, y)
    out[2], out[3] = min(y, x), max(y, x)
    out[4], out[5] = min(i, 3), max(2, i)
    out[6], out[7] = min(x, i), max(x, y, 0.5)


@pytest.mark.parametrize(("x", "y"), [*itertools.product([-1.5, -0.0, 0.0, 2.0, np.inf, np.nan], repeat=2)])
def test_the_smaller_and_the_larger_number_are_those_of_python(x, y):
    found, wanted = np.zeros(8), np.zeros(8)
    choices(x, y, 4, found)
    choices.py_func(x, y, 4, wanted)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@kernel
def owned_or_given(given, n, out):
    held = given
    for k in range(n):
        if k % 2:
            held = doubles(3)
            held[:] = float(k)
        view = held[1:]
        held = given[:3] if k % 3 == 0 else held
        out[k] = view[-1] + held[0]


def test_a_view_of_what_is_made_outlives_the_variable():
    given, found, wanted = np.arange(5.0), np.zeros(8), np.zeros(8)
    owned_or_given(given, 8, found)
    held = given
    for k in range(8):
        held = np.full(3, float(k)) if k % 2 else held
        view = held[1:]
        held = given[:3] if k % 3 == 0 else held
        wanted[k] = view[-1] + held[0]
    np.testing.assert_array_equal(found, wanted)


@kernel
def divided(x, y, out):
    out[0], out[1] = x // y, x % y
    out[2], out[3] = x // 7, x % 7
    out[4], out[5] = x // -3, x % -3
    x //= y
    out[6] = x
    x %= 5
    out[7] = x


LEAST = np.iinfo(np.int64).min


def test_quotients_and_remainders_are_those_of_python():
    numbers = [LEAST, LEAST + 1, -8, -7, -1, 1, 6, 7, 2**62, -LEAST - 1]
    for x, y in itertools.product(numbers, repeat=2):
        if (x, y) != (LEAST, -1):
            found, wanted = np.zeros((2, 8), np.int64)
            divided(x, y, found)
            divided.py_func(x, y, wanted)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("x", "y"), [(3, 0), (-3, 0), (LEAST, 0), (LEAST, -1)])
def test_where_there_is_no_quotient_it_is_0(x, y):
    found = np.full(8, 9)
    divided(x, y, found)
    assert found[:2].tolist() == [0, 0]


@kernel
def naturally_divided(x, y, out):
    out[0], out[1] = x // y, x % y
    out[2], out[3] = x // np.uint64(5), x % np.uint64(5)


def test_naturals_are_divided_as_such():
    for x, y in itertools.product([1, 9, 2**63, 2**64 - 1], repeat=2):
        found = np.zeros(4, np.uint64)
        naturally_divided(np.uint64(x), np.uint64(y), found)
        assert found.tolist() == [x // y, x % y, x // 5, x % 5]
    naturally_divided(np.uint64(3), np.uint64(0), found)
    assert found[:2].tolist() == [0, 0]


@kernel
def places(line, table, a, b, out):
    n = line.size
    for i in range(n):
        out[0] += line[i] * line[n - 1 - i]
        out[1] += line[i - n]  # counts from the end
        for j in range(i, n):
            out[2] += table[i, j] + table[j - i, i // 2] + line[(i * j) % n]
        for j in range(a, b):
            out[3] += line[j] + line[max(i, j)] + line[min(i, 2)]
    for i in range(-n, 0):
        out[4] += (i + n) * line[i] + table[i, i + n]
    out[5] = total(line[: n - 2]) + total(line[n // 2 :]) + total(table[n - 1, 1:n]) + line[: a - b].size


def test_places_counted_from_either_end_are_those_of_numpy():
    line, table, *_ = arrays("C")
    for a, b in itertools.product(range(-4, 5), repeat=2):
        found, wanted = np.zeros((2, 6))
        places(line, table, a, b, found)
        places.py_func(line, table, a, b, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


@kernel
def one_or_several_values(x, n):
    first = x[0]  # one value: no place on the stack
    if n > 1:
        sometimes = first + 1.0
    found = 0.0
    for k in range(n):
        last = k * first
        if n > 1:
            found += sometimes + last
        before = found
        found = before if k % 2 else before + last
    return found + first, n, n > 2, x.size == 3


def test_variables_keep_what_they_were_given():
    x = np.array([2.5, 1.0, 0.0])
    for n in range(1, 6):
        assert one_or_several_values(x, n) == one_or_several_values.py_func(x, n)


@kernel
def kept_by_number(x, n):
    found = {0: 0.0}
    for i in range(n):
        found[i % 3] = x[i]
    return found[0] + found[n - n]


def test_what_is_no_array_is_written_as_numba_does():
    assert kept_by_number(np.arange(7.0), 7) == 12.0
