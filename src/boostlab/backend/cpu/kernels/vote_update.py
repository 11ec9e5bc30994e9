"""What changes from one round to the next, and nothing else.

Loops run over slices, from 0 on: elsewhere the compiler does not know that no index is negative, and uses no vectors
(1.4 ns a row against 0.2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.functions import STAMP
from boostlab.backend.cpu.in_parts import InParts, in_parts
from boostlab.functions.exponential import exp

Array = np.ndarray[Any, Any]

NOTHING = -746.0  # whose exponential is 0


@in_parts
def wrong_mass(y: Array, h: Array, counts: Array, first: int, last: int) -> int:
    """Return how many rows first <= i < last are voted wrong, each counted so often (once if counts is empty)."""
    y, h, wrong = y[first:last], h[first:last], np.int64(0)
    if counts.size == 0:
        for i in range(h.size):
            wrong += h[i] != y[i]
        return wrong  # type: ignore[return-value]
    counts = counts[first:last]
    for i in range(h.size):
        wrong += counts[i] * (h[i] != y[i])
    return wrong  # type: ignore[return-value]


@in_parts
def scale_side(w: Array, y: Array, h: Array, wrong: bool, factor: float, first: int, last: int) -> None:
    """Multiply w by the factor where h is wrong (or where it is right), for first <= i < last."""
    w, y, h = w[first:last], y[first:last], h[first:last]
    if_wrong, if_right = (factor, 1.0) if wrong else (1.0, factor)
    for i in range(w.size):
        w[i] *= if_wrong if h[i] != y[i] else if_right


@in_parts
def mass_voted(h: Array, counts: Array, first: int, last: int) -> int:
    """Return how many rows first <= i < last are voted 1, each counted so often (once if counts is empty)."""
    h, voted = h[first:last], np.int64(0)
    if counts.size == 0:
        for i in range(h.size):
            voted += h[i] > 0
        return voted  # type: ignore[return-value]
    counts = counts[first:last]
    for i in range(h.size):
        voted += counts[i] * (h[i] > 0)
    return voted  # type: ignore[return-value]


@in_parts
def scale_voted(w: Array, y: Array, h: Array, side: int, right: float, wrong: float, first: int, last: int) -> None:
    """Multiply w where h is `side`, by one factor where it is right and by another where it is wrong, for first <= i <
    last.
    """
    w, y, h = w[first:last], y[first:last], h[first:last]
    for i in range(w.size):
        w[i] *= (right if y[i] == side else wrong) if h[i] == side else 1.0


@in_parts
def of_both_labels(v: Array, y: Array, minus: float, plus: float, first: int, last: int, w: Array) -> None:
    """Write v to w, multiplied by `minus` where y = -1 and by `plus` elsewhere, for first <= i < last."""
    v, y, w = v[first:last], y[first:last], w[first:last]
    for i in range(w.size):
        w[i] = v[i] * (plus if y[i] > 0 else minus)


@in_parts
def add_votes(F: Array, alpha: float, h: Array, first: int, last: int) -> None:
    """Add alpha * h to F, for first <= i < last."""
    F, h = F[first:last], h[first:last]
    for i in range(F.size):
        F[i] += alpha * h[i]


@in_parts
def add_to_decayed(F: Array, decay: float, alpha: float, h: Array, first: int, last: int) -> None:
    """Let F be decay * F + alpha * h, for first <= i < last."""
    F, h = F[first:last], h[first:last]
    for i in range(F.size):
        F[i] = decay * F[i] + alpha * h[i]


@in_parts
def add_names(F: Array, alphas: Array, H: Array, first: int, last: int) -> None:
    """Add alphas[t] to the score of the class H[t, i], for all t in order and first <= i < last."""
    for i in range(first, last):
        for t in range(alphas.size):
            F[i, H[t, i]] += alphas[t]


@part
def exp_below(x: Array, top: float) -> None:
    """Write exp(x - top) over x."""
    for i in range(x.size):
        d = x[i] - top
        some = not d <= NOTHING  # weights of 0 are left out: a product that underflows takes longer than others
        e = exp(d if some else 0.0)
        x[i] = e if some else 0.0


def _exp_less() -> InParts:
    stamp = STAMP

    def loop(x: Array, top: float, first: int, last: int) -> None:
        """Write exp(x - top) over x, for first <= i < last."""
        exp_below(x[first + max(0, stamp) : last], top)  # the stamp is negative: here the cache sees changes of `exp`

    return in_parts(loop)


def _exp_less_of_labels() -> InParts:
    stamp = STAMP

    def loop(x: Array, top: float, _out: Array, _each: int, _first: int, _last: int) -> None:
        """Write exp(x - top) over x, of shape (labels, rows), for the rows first <= i < last of all labels."""
        for label in range(max(0, stamp), x.shape[0]):
            exp_below(x[label, _first:_last], top)

    return InParts(loop, planned=True)


exp_less, exp_less_of_labels = _exp_less(), _exp_less_of_labels()


def exp_of(x: float) -> float:
    """Return the row function exp of one number: compiled, a third of the time that plain Python takes."""
    one = np.array([x])
    exp_less(one, 0.0, 0, 1)
    return one.item()
