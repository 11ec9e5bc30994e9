"""Sums over rows as `fixed_sums` makes them, by passes that several threads share.

Powers of two to round at follow from the largest magnitude and the integer sums alone; a pass gives both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.fixed_point import fixed_part
from boostlab.backend.cpu.kernels.totals import tops_and_sums

Array = npt.NDArray[Any]

VALUE = 2  # cells of a histogram, that a value's magnitude, or its sums at one power, cost as much as
ENOUGH = 1 << 60  # of the sum of |q|
NO_GUESS = np.empty((0, 1), np.int64)


def sums_of_array(x: Array, threads: int, guess: Array = NO_GUESS) -> tuple[tuple[int, int, int], Array]:
    """Return the power of two, the sum of q and that of |q| for an array of values that count once each; and a next
    guess.
    """
    values, none = x.reshape(1, -1), (np.empty(0, np.int32), np.empty(0))

    def one_pass(powers: Array) -> tuple[Array, Array]:
        tops, sums = np.zeros((threads, 1)), np.zeros((threads, len(powers), 1, 2), np.int64)
        cells = VALUE * (1 + len(powers)) * values.size
        tops_and_sums.shared(cells, threads, values, *none, powers, 0, values.size, tops, sums)
        return tops.max(axis=0), sums.sum(axis=0)

    found, powers = exact_sums(one_pass, 1, float(values.size), guess)
    return found[0], powers


def rounded(x: Array, power: int, threads: int) -> tuple[Array, int, int]:
    """Return q = rint(x * 2^power), and the sums of q and |q|."""
    out, flat = np.empty(x.shape, np.int64), x.reshape(-1)
    found = fixed_part.shared(VALUE * flat.size, threads, flat, power, 0, flat.size, out.reshape(-1))
    return out, sum(signed for signed, _ in found), sum(gross for _, gross in found)


def exact_sums(
    one_pass: Callable[[Array], tuple[Array, Array]], n_values: int, size: float, guess: Array
) -> tuple[list[tuple[int, int, int]], Array]:
    """Return for each value the power of two, the sum of q and that of |q|, as `fixed_sums` does; and a next guess.

    Parameters
    ----------
    one_pass : callable
        Returns the largest magnitude of every value, and the sums of q and |q| at powers of two.
    n_values : int
        How many values there are a row.
    size : float
        Number of rows, counts included.
    guess : int array of shape (any, n_values)
        Powers of two that values may be rounded at.
    """
    known: list[dict[int, tuple[int, int]]] = [{} for _ in range(n_values)]  # sums of q and |q|, by powers
    powers = guess
    while True:
        tops, found = one_pass(powers)
        if not np.isfinite(tops).all():
            raise ArithmeticError("A sum over rows met NaN or infinity; the rule that asked must bound its values.")
        for row, sums in zip(powers.tolist(), found.tolist(), strict=True):
            for mine, power, (signed, gross) in zip(known, row, sums, strict=True):
                mine[power] = signed, gross
        trails = [_trail(top, mine, size) for top, mine in zip(tops.tolist(), known, strict=True)]
        powers = np.array([[trail[-1] for trail in trails]])
        if all(trail[-1] in mine for trail, mine in zip(trails, known, strict=True)):
            first = np.array([[trail[0] for trail in trails]])
            ends = [(trail[-1], *mine[trail[-1]]) for trail, mine in zip(trails, known, strict=True)]
            return ends, first if (first == powers).all() else np.concatenate([first, powers])


def _trail(top: float, known: dict[int, tuple[int, int]], size: float) -> list[int]:
    """Return the powers that `fixed_sums` tries, as far as the sums are known; the last is the one to sum at."""
    if top == 0.0:
        known[0] = 0, 0
        return [0]
    powers = [61 - math.frexp(size)[1] - math.frexp(top)[1]]
    while powers[-1] in known and (gross := known[powers[-1]][1]) < ENOUGH:
        hidden = gross + int(0.5 * size) + 1  # rounding has hidden at most half a unit a value
        powers.append(powers[-1] + 62 - hidden.bit_length())
    return powers
