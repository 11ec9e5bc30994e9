"""The power of two that a sum is taken at, as the general loop's exact sums choose it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.exact_sums import _tried, exact_sums
from boostlab.backend.cpu.kernels.sum_powers import tried


@kernel
def tried_of(top: float, known: np.ndarray, size: float) -> int:
    return tried(top, known, len(known), size)[1]


def compiled(top, size, k0, gross0, k1, gross1):
    """The power that two known sums tell."""
    return tried_of(top, np.array([[k0, 0, gross0], [k1, 0, gross1]]), size)


def sums_at(x, power):
    """The sums of q and |q|; at powers so high that they overflow they are of no use."""
    q = np.rint(np.ldexp(x, min(power, 400)))
    big = np.abs(q).sum() >= 2.0**62
    return (0, 1) if big else (int(q.astype(np.int64).sum()), int(np.abs(q).astype(np.int64).sum()))


@given(
    x=st.lists(st.floats(-1e6, 1e6).filter(lambda v: v == 0.0 or abs(v) > 1e-12), min_size=1, max_size=40),
    one=st.integers(-45, 3),
    two=st.integers(-45, 3),
)
def test_the_power_that_two_others_tell_is_that_of_exact_sums(x, one, two):
    x = np.array(x)
    if not x.any():
        return
    size, top = float(len(x)), float(np.abs(x).max())
    first = 61 - math.frexp(size)[1] - math.frexp(top)[1]
    k0, k1 = first + one, first + two
    known = {k: list(sums_at(x, k)) for k in (k0, k1)}
    power = compiled(top, size, k0, known[k0][1], k1, known[k1][1])
    assert power == _tried(top, dict(known), size)[1]


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=40), st.integers(-60, 60))
def test_passes_end_where_the_sums_are_at_hand(x, guess):
    """Whatever is guessed, two or three passes find what `exact_sums` finds."""
    x = np.array(x)
    size, top = float(len(x)), float(np.abs(x).max())
    first = 61 - math.frexp(size)[1] - math.frexp(top)[1]
    ((power, signed, _),), _ = exact_sums(
        lambda powers: (np.array([top]), np.array([[sums_at(x, int(p))] for (p,) in powers]).reshape(-1, 1, 2)),
        1,
        size,
        np.empty((0, 1), np.int64),
    )
    k0, k1, passes = guess, guess, 0
    while True:
        passes += 1
        found = compiled(top, size, k0, sums_at(x, k0)[1], k1, sums_at(x, k1)[1])
        if found in (k0, k1):
            break
        k0, k1 = first, found
    assert found == power
    assert sums_at(x, found)[0] == signed
    assert passes <= 3
