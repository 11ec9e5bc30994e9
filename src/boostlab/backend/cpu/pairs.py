"""Two channels of numbers that are rounded together, the rows read once (see `kernels.pair_rounding`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import VALUE, exact_sums
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.kernels.pair_rounding import moments, pair_rounding
from boostlab.backend.cpu.scales import next_scale
from boostlab.contract.criterion import Residual

Array = npt.NDArray[Any]

NO_POWERS = np.empty((0, 0), np.int64)


class Pair:
    """Two followers of the weight and target of a task, or of several tasks' one after the other.

    Parameters
    ----------
    two : pair of Follower
        Whose scales go from task to task.
    residual : formula
        How far a row is from its node.
    threads : int
        How many threads share the rows.
    """

    def __init__(self, two: Sequence[Follower], residual: Residual, threads: int) -> None:
        self.two, self.masses, self.residual, self.threads = two, two[0].rows, residual, threads
        for f in two:  # targets are numbers, which change on every row
            f.compared = False
        self.q: list[Array] = []  # the integers of both channels, a row a task
        self.found: list[list[tuple[int, int, int]]] = []  # per task and channel: the power, the sums of q and |q|
        self._moments = self._spread = NO_POWERS  # that the last sums took
        self._turn, self._guesses = 0, dict[int, tuple[Array, Array]]()
        self._given, self._target = np.empty(0), np.empty(0)

    def take_turn(self, turn: int) -> None:
        """Guess by what the tasks from this one on needed a round ago: other classes' sums have other powers of two."""
        if turn != self._turn:
            self._guesses[self._turn] = self._moments, self._spread
            self._moments, self._spread = self._guesses.get(turn, (self._moments, self._spread))
            self._turn = turn

    def means(self, weights: Array, targets: Array) -> list[float]:
        """Return the weighted means of tasks' targets, of shape (tasks, rows)."""
        tasks, n = weights.shape

        def one_pass(powers: Array) -> tuple[Array, Array]:
            tops, sums = self._empty_sums(2 * tasks, powers)
            given = weights, targets, *self.masses.as_arrays, powers
            moments.shared(2 * VALUE * (1 + len(powers)) * weights.size, self.threads, *given, 0, n, tops, sums)
            return _joined(tops, sums)

        sums, self._moments = self._exact(one_pass, 2 * tasks, self._moments)
        signed, whole = ([math.ldexp(s, -power) for power, s, _ in some] for some in (sums[:tasks], sums[tasks:]))
        return [s / w if w > 0 else 0.0 for s, w in zip(signed, whole, strict=True)]

    def update(self, weight: Array, target: Array) -> None:
        """Take the rows' new weights and targets of a task."""
        if not self._is_scaled:
            self._scale(weight, target)
            return
        self.q = [np.empty((1, len(weight)), np.int64) for _ in self.two]
        self._rounded(shown(weight)[None], self._as_doubles(target)[None], [0.0], False)
        for f, q, found in zip(self.two, self.q, self.found[0], strict=True):
            f.take(q[0], *found)
        self.q = []

    @property
    def _is_scaled(self) -> bool:
        return all(f.scaled for f in self.two)

    def _scale(self, weight: Array, target: Array) -> None:
        """Let each channel find a scale to begin with: first the one whose values take memory."""
        for f in reversed(self.two):
            f.count(weight, target)

    def spread(self, weights: Array, targets: Array, centres: Sequence[float]) -> list[float]:
        """Round the rows of several tasks, targets less their centres; return the sums of what rows are from 0."""
        tasks, n = weights.shape
        if not self._is_scaled:
            self._scale(weights[0], targets[0] - centres[0])
        self.q = []  # not held beside the new ones
        for f in self.two:
            f.release()
        self.q = [np.empty((tasks, n), np.int64) for _ in self.two]
        return self._rounded(weights, targets, centres, True)

    def _rounded(self, weights: Array, targets: Array, centres: Sequence[float], spread: bool) -> list[float]:
        """Write all tasks' integers; return the sums of the residuals if they are asked for."""
        given, sums = (weights, targets, np.array(centres)), list[float]()
        self.found = []
        if spread:
            tasks = len(weights)
            found, self._spread = self._exact(lambda powers: self._pass(given, powers, 0, tasks), tasks, self._spread)
            sums = [math.ldexp(gross, -power) for power, _, gross in found]
        else:
            self._pass(given, NO_POWERS)
        while (done := self._settled(*given)) < len(weights):
            self._pass(given, NO_POWERS, done)
        return sums

    def _pass(
        self, given: tuple[Array, ...], powers: Array, done: int = 0, n_residuals: int = 0
    ) -> tuple[Array, Array]:
        """Round the rows of all tasks but the first ones, which are done; return what `exact_sums` asks for."""
        weights, targets, centres = (x[done:] for x in given)
        (tasks, n), q = weights.shape, [q[done:] for q in self.q]
        tops, sums = self._empty_sums(n_residuals, powers)
        whole, rough = np.zeros((self.threads, tasks, 2, 3), np.int64), np.zeros((self.threads, tasks, 2))
        forms, scales = (tuple(getattr(f, name) for f in self.two) for name in ("form", "power"))
        what = forms, weights, targets, centres, *self.masses.as_arrays, scales, powers
        cells = VALUE * (5 + len(powers)) * weights.size
        kernel = pair_rounding(self.residual)
        kernel.shared(cells, self.threads, *what, 0, n, *q, (whole, rough), tops, sums)
        self._whole, self._rough = _sum(whole), _sum(rough)
        return _joined(tops, sums)

    def _settled(self, weights: Array, targets: Array, centres: Array) -> int:
        """Take note of what the last pass found; return how many tasks are done: the others need another pass.

        A scale that one task's sums have changed is the next one's, as if one had been rounded after the other.
        """
        first, used = len(self.found), [f.power for f in self.two]
        for task, (whole, rough) in enumerate(zip(self._whole.tolist(), self._rough.tolist(), strict=True), first):
            found = list[tuple[int, int, int]]()
            for f, q, (_, signed, gross), roughly in zip(self.two, self.q, whole, rough, strict=True):
                power, known = next_scale(f.power, gross, roughly, f.headroom, f.least)
                if not known:
                    f.count(weights[task], targets[task] - centres[task])
                    q[task] = f.q
                    f.q = q[task]
                    found.append((f.power, f.total, f.gross))
                elif power == f.power:
                    found.append((power, signed, gross))
                else:
                    f.power = power
            if len(found) == 2:
                self.found.append(found)
            if [f.power for f in self.two] != used:
                break
        return len(self.found)

    def _exact(self, one_pass: Callable[[Array], Any], n_values: int, guess: Array) -> Any:
        guess = guess if guess.shape[1] == n_values else np.empty((0, n_values), np.int64)
        return exact_sums(one_pass, n_values, float(self.masses.n_examples), guess)

    def _empty_sums(self, n_values: int, powers: Array) -> tuple[Array, Array]:
        return np.zeros((self.threads, n_values)), np.zeros((self.threads, len(powers), n_values, 2), np.int64)

    def _as_doubles(self, target: Array) -> Array:
        """Return the target as kernels read it; labels, the same ones every round, are converted once."""
        if target.dtype == np.float64:
            return shown(target)
        if self._given is not target:
            self._given, self._target = target, shown(target)
        return self._target


def _sum(of_parts: Array) -> Array:
    """Return the sum of what parts have found."""
    whole: Array = of_parts[0] if len(of_parts) == 1 else of_parts.sum(axis=0)
    return whole


def _joined(tops: Array, sums: Array) -> tuple[Array, Array]:
    """Return the largest magnitudes and the sums of all parts."""
    return tops[0] if len(tops) == 1 else tops.max(axis=0), _sum(sums)


def shown(x: Array) -> Array:
    """Return doubles as kernels are compiled for them: contiguous, and not to be written to."""
    x = np.ascontiguousarray(x, np.float64).view()
    x.setflags(write=False)
    return x
