"""Two channels of numbers that are rounded together, the rows read once (see `kernels.pair_rounding`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import VALUE, exact_sums
from boostlab.backend.cpu.followed_histograms import WORTH, Follower
from boostlab.backend.cpu.kernels.pair_rounding import moments, pair_rounding
from boostlab.backend.cpu.scales import next_scale
from boostlab.contract.criterion import Residual

Array = npt.NDArray[Any]

NOWHERE = np.empty(0)


class Pair:
    """Two followers of the same weights and targets.

    Parameters
    ----------
    two : pair of Follower
        Whose integers are brought up to date; their histograms are stale then.
    residual : formula
        How far a row is from its node.
    threads : int
        How many threads share the rows.
    """

    def __init__(self, two: Sequence[Follower], residual: Residual, threads: int) -> None:
        self.two, self.masses, self.residual, self.threads = two, two[0].rows, residual, threads
        self._moments, self._spread = np.empty((0, 2), np.int64), np.empty((0, 1), np.int64)  # powers of the last sums
        self._turn, self._guesses = 0, dict[int, tuple[Array, Array]]()
        self._centred, self._given, self._target = np.empty(0), np.empty(0), np.empty(0)

    def take_turn(self, turn: int) -> None:
        """Guess by what this task of a round needed a round ago: sums of other classes have other powers of two."""
        if turn != self._turn:
            self._guesses[self._turn] = self._moments, self._spread
            self._moments, self._spread = self._guesses.get(turn, (self._moments, self._spread))
            self._turn = turn

    def mean(self, weight: Array, target: Array) -> float:
        """Return the weighted mean of the target."""
        w, t = _shown(weight), self._as_doubles(target)

        def one_pass(powers: Array) -> tuple[Array, Array]:
            tops, sums = np.zeros((self.threads, 2)), np.zeros((self.threads, len(powers), 2, 2), np.int64)
            cells = 2 * VALUE * (1 + len(powers)) * w.size
            moments.shared(cells, self.threads, w, t, *self.masses.as_arrays, powers, 0, w.size, tops, sums)
            return tops.max(axis=0), sums.sum(axis=0)

        found, self._moments = exact_sums(one_pass, 2, float(self.masses.n_examples), self._moments)
        signed, whole = (math.ldexp(signed, -power) for power, signed, _ in found)
        return signed / whole if whole > 0 else 0.0

    def update(self, weight: Array, target: Array) -> None:
        """Take the rows' new weights and targets."""
        self._rounded(weight, target, 0.0, False)

    def spread(self, weight: Array, target: Array, centre: float) -> tuple[Array, float]:
        """Do the same; return the sum of what rows are from 0, too."""
        centred, found = self._rounded(weight, target, centre, True)
        if found is None:
            return centred, self.masses.sums(self.residual(weight, centred, (0.0, 0.0)))[1]
        power, _, gross = found
        return centred, math.ldexp(gross, -power)

    def _rounded(self, weight: Array, target: Array, centre: float, spread: bool) -> Any:
        """Return the centred target, and what `exact_sums` says of the residuals if it was asked and is known."""
        two, n = self.two, len(weight)
        if any(f.q is None for f in two):
            centred = target - centre if centre else target
            for f in two:
                f.count(weight, centred)
            return centred, None
        if centre and len(self._centred) != n:
            self._centred = np.empty(n)
        w, t, facts = _shown(weight), self._as_doubles(target), list[Any]()
        to, centred = (self._centred, self._centred) if centre else (NOWHERE, t)
        kernel, forms = pair_rounding(self.residual), tuple(f.form for f in two)

        def one_pass(powers: Array) -> tuple[Array, Array]:
            tops, sums = np.zeros((self.threads, int(spread))), np.zeros((self.threads, len(powers), 1, 2), np.int64)
            given = forms, w, t, centre, *self.masses.as_arrays, tuple(f.power for f in two), powers, 0, n
            cells = VALUE * (4 + spread + len(powers)) * n
            facts.append(kernel.shared(cells, self.threads, *given, *(f.q for f in two), to, tops, sums))
            return tops.max(axis=0), sums.sum(axis=0)

        found = None
        if spread:
            (found,), self._spread = exact_sums(one_pass, 1, float(self.masses.n_examples), self._spread)
        while True:
            if not spread:
                one_pass(np.empty((0, 1), np.int64))
            if self._settled(weight, centred, facts):
                return centred, found
            spread = False

    def _as_doubles(self, target: Array) -> Array:
        """Return the target as kernels read it; labels, the same ones every round, are converted once."""
        if target.dtype == np.float64:
            return _shown(target)
        if self._given is not target:
            self._given, self._target = target, _shown(target)
        return self._target

    def _settled(self, weight: Array, centred: Array, facts: list[Any]) -> bool:
        """Take note of what the last pass found; False if a scale has changed, and another pass is needed."""
        first, last, again = facts[0], facts[-1], False
        for c, f in enumerate(self.two):
            changed = sum(of[4 * c] for of in first)
            signed, gross, rough = (sum(of[4 * c + i] for of in last) for i in (1, 2, 3))
            power, known = next_scale(f.power, gross, rough, f.headroom, f.least)
            f.most_change = changed > WORTH * len(weight)
            if not known:
                f.count(weight, centred)
            elif power == f.power:
                assert f.q is not None
                f.take(f.q, power, signed, gross)
            else:
                f.power, again = power, True
        return not again


def _shown(x: Array) -> Array:
    """Return doubles as kernels are compiled for them: contiguous, and not to be written to."""
    x = np.ascontiguousarray(x, np.float64).view()
    x.setflags(write=False)
    return x
