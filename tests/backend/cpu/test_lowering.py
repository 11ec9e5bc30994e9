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
