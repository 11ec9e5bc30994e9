"""Sums by blocks of rows: the bits of `Masses.total`, whatever the blocks, the threads and the powers guessed at."""

from __future__ import annotations

import copy
import tracemalloc
from math import inf

import numpy as np
import pytest

from boostlab.backend.cpu.block_sums import BLOCK_DOUBLES, Blocks
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.passes import SPACE, sums_of_array
from boostlab.backend.cpu.rows import CpuRows
from boostlab.contract import Row, Rule, formula
from boostlab.data.table import Table

N = 2 * BLOCK_DOUBLES + 77
NO_GUESS = np.empty((0, 3), np.int64)
RNG = np.random.default_rng(0)
MASSES = {
    "none": Masses(N),
    "counts": Masses(N, RNG.integers(1, 5, N).astype(float)),
    "real": Masses(N, RNG.random(N) + 0.1),
    "both": Masses(N, RNG.choice([0.3, 0.7], N), RNG.integers(1, 5, N)),
}


@formula
def squares(F: float, by: float) -> tuple[float, float]:
    return by * F * F, F


class _ByClass(Rule):
    n_outputs = "class"


@formula
def twice(F: float) -> float:
    return 2.0 * F


@formula
def itself(x: float) -> float:
    return x


def of(values):
    def evaluate(first, last, out):
        out[:] = values[:, first:last]

    return evaluate


def values(seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.normal(size=N), 10.0 ** -rng.uniform(0, 30, N), np.zeros(N) if seed % 2 else np.ones(N)])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", MASSES)
def test_the_bits_of_total(kind, threads):
    masses = MASSES[kind]
    blocks, guess = Blocks(masses, threads), NO_GUESS
    for seed, factor in ((0, 1.0), (1, 1.0), (2, 1e-200), (3, 1e200), (3, 1.0)):  # the last guess fits, or is far off
        x = values(seed) * factor
        found, guess = blocks.totals(of(x), 3, guess)
        assert found == list(masses.total(*x))
        assert found == list(masses.on(threads).total(*x))


def test_a_guess_that_fits_saves_passes():
    blocks, x, seen = Blocks(MASSES["none"], 1), values(0), []

    def evaluate(first, last, out):
        seen.append(first)
        of(x)(first, last, out)

    found, guess = blocks.totals(evaluate, 3, NO_GUESS)
    passes = seen.count(0)
    assert passes > 1
    seen.clear()
    assert blocks.totals(evaluate, 3, guess)[0] == found
    assert seen.count(0) == 1


def test_the_sums_of_a_round_before_say_which_powers_fit():
    """The largest value moves across powers of two, and one pass is all: sums at another power tell what is needed."""
    made, rng = rows(2 * BLOCK_DOUBLES), np.random.default_rng(2)
    F = made.scores.now
    F[0] = 300.0
    made.total(twice)
    for top in (260.0, 250.0, 257.0, 130.0, 255.0):  # but for the largest, nothing changes
        F[0] = -top
        assert made.total(twice) == made.masses.total(2 * F)
        assert made._formula_sums.passes.made == 1
    F[:] = rng.normal(size=F.size)
    for factor in (1.0, 3.0, 1e3, 1e-3, 1e200, 1e-300, 1.0):  # and where all do, more passes are made
        F *= factor
        assert made.total(twice) == made.masses.total(2 * F)


def rows(n, threads=1, masses=None):
    made = CpuRows(Rule(), Table(np.zeros((n, 1)), threads=threads), masses or Masses(n), np.arange(n) % 2, 2)
    made.scores.now[:] = np.random.default_rng(1).normal(size=n)
    return made


@pytest.mark.parametrize("threads", [1, 3])
def test_formulas_of_many_rows(threads):
    made = rows(3 * BLOCK_DOUBLES, threads)
    F = made.scores.now
    for by in (1.0, 1.0, 1e9):
        assert made.total(squares, by) == made.masses.total(by * F * F, F)
    assert made.total(twice) == made.masses.total(2 * F)
    assert made.largest(twice) == 2 * F.max()
    assert made.smallest(twice) == 2 * F.min()


@pytest.mark.parametrize("threads", [1, 5])
@pytest.mark.parametrize("kind", MASSES)
def test_formulas_of_rows_with_masses(kind, threads):
    made = rows(N, threads, MASSES[kind])
    F = made.scores.now
    for by in (1.0, 1e-200, 1e200):
        assert made.total(squares, by) == MASSES[kind].total(by * F * F, F)


def test_rows_that_are_copied_have_memory_of_their_own():
    made = rows(2 * BLOCK_DOUBLES)
    whole = made.total(squares, 1.0)
    again = copy.deepcopy(made._formula_sums)
    mine, other = (sums.passes._plan[list(SPACE)] for sums in (made._formula_sums, again))
    assert not (mine == other).any()  # it would write where the other looks
    made._formula_sums = again
    assert made.total(squares, 1.0) == whole


def test_the_largest_of_values_that_are_no_numbers_is_none():
    made = rows(2 * BLOCK_DOUBLES, 3)
    made.scores.now[BLOCK_DOUBLES // 3] = np.nan
    assert np.isnan(made.largest(twice))
    assert np.isnan(made.smallest(twice))


def test_a_sum_that_is_not_finite_is_refused():
    made = rows(2 * BLOCK_DOUBLES)
    for bad in (np.inf, np.nan):
        made.scores.now[BLOCK_DOUBLES + 5] = bad
        with pytest.raises(ArithmeticError, match="met NaN or infinity"):
            made.total(twice)


def test_values_are_not_held_for_all_rows():
    n = 40 * BLOCK_DOUBLES
    made = rows(n)
    made.total(squares, 1.0)  # compiles
    made = rows(n)
    tracemalloc.start()
    made.total(squares, 1.0)
    made.largest(twice)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n / 4


@formula
def toward(F: Row, k: int, l: int, by: float) -> float:
    return -inf if l == k else by * F[l]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("labels", [0, 2])
def test_weights_and_their_largest_logarithm_are_those_of_two_passes(threads, labels):
    rule, what = (_ByClass(), toward) if labels else (Rule(), twice)
    made = CpuRows(rule, Table(np.zeros((N, 1)), threads=threads), Masses(N), np.arange(N) % 2, 2)
    made.scores.now[:] = np.random.default_rng(3).normal(size=made.scores.now.shape)
    numbers = (0.7,) if labels else ()
    logs = made.each(what, *numbers)
    for _ in range(2):
        found, expected = made.scaled_exp(what, *numbers), made.scaled_exp(logs)
        assert found[1] == expected[1] == logs.max()
        assert found[0].shape == logs.shape
        assert found[0].tobytes("F") == expected[0].tobytes("F")
        w, top, total = made.exp_and_sum(what, *numbers)
        assert (top, total) == (expected[1], made.masses.total(expected[0]))
        assert w.tobytes("F") == expected[0].tobytes("F")


@pytest.mark.parametrize("threads", [1, 3])
def test_integers_are_those_of_the_power_that_is_returned(threads):
    rng, guess = np.random.default_rng(4), np.empty((0, 1), np.int64)
    for scale in (1.0, 1.0, 1e-3, 3.0, 1e250, 1e-280):
        x, q = scale * rng.normal(size=N), np.empty(N, np.int64)
        (power, signed, gross), guess = sums_of_array(x, threads, guess, q)
        half = power // 2  # 2^power may leave floats
        np.testing.assert_array_equal(q, np.rint(np.ldexp(np.ldexp(x, half), power - half)))
        assert (signed, gross) == (int(q.sum()), int(np.abs(q).sum()))
        assert Masses(N).whole(x)[1:] == (power, signed, gross)


@pytest.mark.parametrize("what", [lambda x: np.exp(x), lambda x: np.zeros(N)])
def test_weights_of_a_formula_are_tame_without_another_look(what):
    made = CpuRows(Rule(), Table(np.zeros((N, 1))), Masses(N), np.arange(N) % 2, 2)
    for scale in (1.0, 1.0, 1e200, 1.0):
        made.keep("x", scale * what(np.random.default_rng(5).normal(size=N)))
        weight = made.each(itself)
        again = made.tame(weight)
        assert again is weight if scale == 1.0 or not weight.any() else again.max() < 2.0
    w = made.weigh(itself)
    assert made.tame(w) is w
