"""The quadratic program of RQP-Boost, by a primal-dual interior-point method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from boostlab.solvers.allowance import SolverError
from boostlab.solvers.one_thread import one_thread

Array = npt.NDArray[Any]

STEPS = 100  # seldom above 25
_BLOCK = 4096  # rows that are float64 at a time


@dataclass(frozen=True)
class Point:
    """An interior point: b > 0 with z, slack xi with s, surplus r with l; l + s is the price C m at all times."""

    b: Array
    z: Array
    xi: Array
    s: Array
    r: Array
    l: Array

    def gap(self) -> float:
        """Return the sum of all complementary products."""
        return float(self.b @ self.z + self.xi @ self.s + self.r @ self.l)


class HingeQP:
    """Minimise |b|^2 / 2 + C sum m_i max(0, 1 - sum_j b_j u_ji) over b >= 0.

    Every step solves a system as large as there are voters, whatever the number of rows (rows times voters^2 to set it
    up); the number of steps hardly depends on the data.  A second solve with another C starts from an early point of
    the last one, with l scaled to the new price.

    Parameters
    ----------
    U : array of shape (n_voters, n_rows)
        Agreements u_ji = y_i h_j(x_i), int8 where they are labels; they are not copied.
    mass : array
        m_i, how many examples row i stands for.
    seconds : float, optional
        The longest that one solve may take.
    most_steps : int
        Of one solve.
    """

    def __init__(self, U: Array, mass: Array, seconds: float | None = None, most_steps: int = STEPS) -> None:
        self.U, self.mass, self.seconds, self.most_steps = U, mass, seconds, most_steps
        self.steps = 0
        self._start: tuple[float, Point] | None = None

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        """Give the agreements of some rows after the others as float64; all of them stay as they are (int8)."""
        for k in range(0, self.U.shape[1], _BLOCK):
            rows = slice(k, k + _BLOCK)
            yield rows, self.U[:, rows].astype(np.float64)

    def votes(self, b: Array) -> Array:
        """Return sum_j b_j u_ji for every row i."""
        return np.concatenate([b @ block for _, block in self._blocks()])

    def edges(self, l: Array) -> Array:
        """Return sum_i l_i u_ji for every voter j."""
        return sum((block @ l[rows] for rows, block in self._blocks()), np.zeros(len(self.U)))

    def _gram(self, D: Array) -> Array:
        """Return sum_i D_i u_ji u_ki for all pairs of voters."""
        k = len(self.U)
        return sum(((block * D[rows]) @ block.T for rows, block in self._blocks()), np.zeros((k, k)))

    def cost(self, b: Array, C: float) -> float:
        """Return what is minimised."""
        return float(b @ b / 2 + C * self.mass @ np.maximum(0.0, 1.0 - self.votes(b)))

    def solve(self, C: float, tol: float = 1e-9) -> tuple[Array, float]:
        """Return b and its cost, which is within tol * (1 + cost) of the optimum.

        Parameters
        ----------
        C : float
            The price of slack, an example.
        tol : float
            Relative accuracy.
        """
        with one_thread():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> tuple[Array, float]:
        end = np.inf if self.seconds is None else perf_counter() + self.seconds
        point = self._first(C)
        self._start = None
        most = self.most_steps
        for self.steps in range(most):
            b = np.maximum(self.edges(point.l), 0.0)
            cost, best = min(((self.cost(x, C), x) for x in (b, point.b)), key=lambda pair: pair[0])
            left = cost - float(point.l.sum() - b @ b / 2)  # the dual value of prices 0 <= l <= C m: no b costs less
            if self._start is None and left <= 1 + cost:
                self._start = (C, point)
            if left <= tol * (1 + cost):
                return best, cost
            if perf_counter() > end:
                raise SolverError(f"the quadratic program took longer than {self.seconds:g} seconds")
            try:
                point = self._step(point, C)
            except (LinAlgError, FloatingPointError, ValueError) as failure:
                raise SolverError(f"the quadratic program broke down ({failure})") from failure
        raise SolverError(f"the quadratic program took more than {most} steps")

    def _first(self, C: float) -> Point:
        price = C * self.mass
        if self._start is not None:
            before, point = self._start
            scaled = point.l * (C / before)
            return replace(point, l=scaled, s=price - scaled)
        b = np.maximum(self.edges(price) / 2, 1e-2)
        b *= min(1.0, 1.0 / float(b.max()))
        a = self.votes(b)
        apart = 0.5
        return Point(
            b,
            np.full(len(b), apart),
            np.maximum(1.0 - a, 0) + apart,
            price / 2,
            np.maximum(a - 1.0, 0) + apart,
            price / 2,
        )

    def _step(self, p: Point, C: float) -> Point:
        """Take Mehrotra's step: one system, solved for the direction to the optimum and for the corrected one."""
        k = len(p.b)
        on_rows = self.votes(p.b) + p.xi - 1.0 - p.r
        on_voters = p.b - self.edges(p.l) - p.z
        D = 1.0 / (p.xi / p.s + p.r / p.l)
        system = self._gram(D)
        system[np.diag_indices(k)] += 1.0 + p.z / p.b
        factor = cho_factor(system, lower=True)

        def direction(bz: Array, xs: Array, rl: Array) -> tuple[Array, ...]:
            """Return the Newton direction towards products bz, xs, rl."""
            rows = on_rows + xs / p.s - p.xi - rl / p.l + p.r
            db = cho_solve(factor, -on_voters + bz / p.b - p.z - self.edges(D * rows))
            dl = -D * (rows + self.votes(db))
            dz = bz / p.b - p.z - p.z / p.b * db
            return db, dz, (xs - p.xi * p.s + p.xi * dl) / p.s, -dl, (rl - p.r * dl) / p.l - p.r, dl

        parts = (p.b, p.z, p.xi, p.s, p.r, p.l)
        mu = p.gap() / (k + 2 * len(p.l))
        ahead = direction(np.zeros(k), np.zeros(len(p.l)), np.zeros(len(p.l)))
        reach = _reach(parts, ahead)
        there = sum(float((a + reach * da) @ (c + reach * dc)) for a, da, c, dc in _pairs(parts, ahead))
        aim = mu * min(1.0, max(there / p.gap(), 0.0)) ** 3
        steps = direction(*(aim - da * dc for _, da, _, dc in _pairs(parts, ahead)))
        reach = min(1.0, 0.995 * _reach(parts, steps, 1 / 0.995))
        return Point(*(x + reach * dx for x, dx in zip(parts, steps, strict=True)))


def _pairs(parts: tuple[Array, ...], steps: tuple[Array, ...]) -> list[tuple[Array, Array, Array, Array]]:
    return [(parts[i], steps[i], parts[i + 1], steps[i + 1]) for i in (0, 2, 4)]


def _reach(parts: tuple[Array, ...], steps: tuple[Array, ...], most: float = 1.0) -> float:
    """Return how far one may go before an entry becomes negative."""
    for x, dx in zip(parts, steps, strict=True):
        if not np.isfinite(dx).all():
            raise FloatingPointError("a step is not finite")
        falling = dx < 0
        if falling.any():
            most = min(most, float((x[falling] / -dx[falling]).min()))
    return most
