"""Entropic programs over capped row weights, solved by Newton steps in the voters' weights.

Both are the dual of "stay close to the uniform weights while every voter's edge stays small".  With a = sum_j v_j u_j,

    Theta(v) = min over q of  KL(q) + mean(q a),  mean(q) = 1,  0 <= q <= kappa

is concave and once differentiable; its minimiser is the capped Gibbs density, its gradient the edges, and its Hessian
is minus their covariance over the rows below the cap.  ERLPBoost maximises it over v >= 0 with sum v = eta, SoftBoost
maximises Theta(v) - theta sum v over v >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.solvers.allowance import OutOfTime, SolverError
from boostlab.solvers.one_thread import one_thread

Array = npt.NDArray[Any]

_ROUNDS = 100  # of pricing, which are seldom above three
STEPS, _MOST_STEPS = 30, 200  # of Newton steps, which are seldom above ten: from close by, and from anywhere
FAR_STEPS = 100  # of all steps on the way from a softer program: where more are needed the entropy hardly counts


class Stuck(SolverError):
    """Newton steps from here lead nowhere."""


class Infeasible(Exception):
    """No weights keep every edge below the limit."""


def capped_gibbs(a: Array, p: Array, kappa: float) -> tuple[Array, float, int]:
    """Return the density q = min(kappa, exp(-a - log_z)) with sum p q = 1, Theta, and how many rows are at the cap.

    Parameters
    ----------
    a : array
        What weight costs, one entry a row.
    p : array
        The rows' shares of the sample, with sum 1.
    kappa : float
        The largest density, at least 1; may be infinite.
    """
    order = np.argsort(a, kind="stable")
    x, share = -a[order], p[order]
    rest = np.logaddexp.accumulate((x + np.log(share))[::-1])[::-1]  # log of the Gibbs weight from here on
    capped = 0
    log_z = float(rest[0])
    if x[0] - log_z > log(kappa):
        left = 1.0 - kappa * np.concatenate([[0.0], np.cumsum(share)[:-1]])  # what the rows before leave over
        with np.errstate(divide="ignore", invalid="ignore"):
            fits = x + np.log(np.maximum(left, 0.0)) - rest <= log(kappa)
        capped = int(np.argmax(fits)) if fits.any() else len(a)
        if capped < len(a) and left[capped] > 0:
            log_z = float(rest[capped] - np.log(left[capped]))
        else:
            capped = len(a)  # the cap is 1, or rounding: every row that has weight is at the cap
    sorted_q = np.empty(len(a))
    if capped < len(a):
        sorted_q[:capped] = kappa
        sorted_q[capped:] = np.exp(np.minimum(x[capped:] - log_z, log(kappa)))
    else:
        filled = np.minimum(np.cumsum(kappa * share), 1.0)
        sorted_q = np.diff(filled, prepend=0.0) / share
    q = np.empty(len(a))
    q[order] = sorted_q
    return q, relative_entropy(q, p) + float((p * q) @ a), capped


def relative_entropy(q: Array, p: Array) -> float:
    """Return sum p q ln q."""
    return float(p @ (q * np.log(np.where(q > 0, q, 1.0))))


def newton_point(K: Array, g: Array, v: Array, keep_sum: bool) -> Array:
    """Return the x >= 0 that maximises g (x - v) - (x - v) K (x - v) / 2, with the sum of v if that is to stay.

    An active-set method from v on: the free entries go to their optimum or as far as the first that becomes zero; then
    the most promising zero is set free.
    """
    x, slope, free = v.copy(), g.copy(), v > 0
    for _ in range(4 * len(v) + 20):
        at = np.flatnonzero(free)
        price = 0.0
        if len(at):
            k = len(at)
            system = np.zeros((k + keep_sum, k + keep_sum))
            system[:k, :k] = K[np.ix_(at, at)]
            if keep_sum:
                system[k, :k] = system[:k, k] = 1.0
            try:
                step = np.linalg.solve(system, np.append(slope[at], [0.0] * keep_sum))
            except np.linalg.LinAlgError:
                break
            price, step = (float(step[k]), step[:k]) if keep_sum else (0.0, step)
            falling = step < 0
            reach = np.full(k, inf)
            reach[falling] = x[at][falling] / -step[falling]
            part = min(1.0, float(reach.min()))
            x[at] = np.maximum(x[at] + part * step, 0.0)
            slope = slope - part * (K[:, at] @ step)
            if part < 1.0:
                stuck = at[int(reach.argmin())]
                x[stuck], free[stuck] = 0.0, False
                continue
        gain = np.where(free, -inf, slope - price)
        best = int(gain.argmax())
        if gain[best] <= 1e-12 * (1.0 + abs(price)):
            break
        free[best] = True
    return x


@dataclass
class Entropic:
    """What a solve found: the density q, the voters' weights v, Theta(v) and the entropy of q."""

    q: Array
    v: Array
    theta: float
    entropy: float
    edges: Array
    steps: int


class CappedEntropy:
    """The two programs over a growing set of voters; every solve starts from the last one's weights.

    Newton steps see the voters that have weight and those that ask for some; the others are priced once these have
    settled, so that a step costs (voters in use)^2 times rows, and never looks at the rest.

    Parameters
    ----------
    mass : array
        How many examples every row stands for.
    kappa : float
        The largest density: 1/nu; may be infinite.
    seconds : float, optional
        The longest that one solve may take.
    most_steps : pair of ints
        Of Newton's method from close by, and of all on the way from a softer program.
    """

    def __init__(
        self, mass: Array, kappa: float, seconds: float | None = None, most_steps: tuple[int, int] = (STEPS, FAR_STEPS)
    ) -> None:
        self.p, self.kappa, self.seconds = mass / mass.sum(), kappa, seconds
        self.most_steps, self.most_far_steps = most_steps
        self.v = np.zeros(0)
        self._U: Array | None = None  # one row a voter, int8 while all say -1 and +1
        self.highest_entropy = log(kappa) if np.isfinite(kappa) else -log(self.p.min())

    @property
    def U(self) -> Array:
        """The voters' agreements, one row each."""
        assert self._U is not None
        return self._U[: len(self.v)]

    def add(self, u: Array) -> None:
        """Add a voter by its agreements u_i = y_i h(x_i); its weight is zero for now."""
        labels = bool((np.abs(u) == 1).all())
        if self._U is None:
            self._U = np.empty((16, len(u)), np.int8 if labels else np.float64)
        elif len(self.v) == len(self._U):
            self._U = np.concatenate([self._U, np.empty_like(self._U)])
        if not labels and self._U.dtype == np.int8:
            self._U = self._U.astype(np.float64)
        self._U[len(self.v)] = u
        self.v = np.append(self.v, 0.0)

    def edges(self, q: Array) -> Array:
        """Return every voter's edge under a density."""
        U, d = self.U, self.p * q
        if U.dtype != np.int8:
            return U @ d
        return np.concatenate([U[k : k + 64].astype(np.float64) @ d for k in range(0, len(U), 64)])

    def margins(self, weights: Array) -> Array:
        """Return every row's margin by a vote."""
        used = np.flatnonzero(weights)
        return weights[used] @ self.U[used].astype(np.float64)

    def penalised(self, eta: float, tol: float) -> Entropic:
        """Minimise the largest edge + KL / eta; the answer's v has the sum eta.

        Parameters
        ----------
        eta : float
            How little the entropy counts.
        tol : float
            How far the value may be from the optimum.
        """
        if not self.v.any():
            self.v[-1] = eta
        with one_thread():
            try:
                return self._climb(0.0, eta, tol, self.most_steps)
            except Stuck:
                return self._from_afar(eta, tol)

    def _from_afar(self, eta: float, tol: float) -> Entropic:
        """Let the entropy count a lot at first, and ever less: every optimum is close to the next."""
        softer = eta / 4.0 ** np.arange(int(np.log(max(eta, 1.0)) / log(4.0)), -1, -1)
        left = self.most_far_steps
        for now in softer[:-1].tolist():
            try:
                left -= self._climb(0.0, now, tol * eta / now, self.most_steps).steps
            except Stuck:
                left -= self.most_steps
            if left <= 0:
                raise Stuck(f"the entropic program took more than {self.most_far_steps} steps")
        return self._climb(0.0, eta, tol, left)

    def projected(self, limit: float, tol: float) -> Entropic:
        """Minimise KL with all edges at most `limit`, or raise `Infeasible`.

        Parameters
        ----------
        limit : float
            What no edge may exceed.
        tol : float
            By how much an edge may exceed it after all.
        """
        with one_thread():
            return self._climb(limit, None, tol, _MOST_STEPS)

    def _climb(self, limit: float, total: float | None, tol: float, most: int) -> Entropic:
        before, steps = self.v.copy(), 0
        if total is not None:
            self.v *= total / self.v.sum()
        end = inf if self.seconds is None else perf_counter() + self.seconds
        used = self.v > 0
        used[-1] = True
        try:
            for _ in range(_ROUNDS):
                at = np.flatnonzero(used)
                self.v[at], q, theta, taken = self._settle(at, limit, total, tol, end, most)
                steps += taken
                edges = self.edges(q)
                floor = limit if total is None else float(self.v @ edges) / total
                asking = (edges > floor + tol) & (self.v == 0)
                if not (asking & ~used).any():
                    return Entropic(q, self.v.copy(), theta, relative_entropy(q, self.p), edges, steps)
                worst = np.argsort(np.where(asking, -edges, inf), kind="stable")[:10]
                used[worst[asking[worst]]] = True
        except BaseException:
            self.v = before  # the next solve must not start from what failed
            raise
        raise Stuck("the entropic program did not settle")

    def _settle(
        self, at: Array, limit: float, total: float | None, tol: float, end: float, most: int
    ) -> tuple[Array, Array, float, int]:
        """Take Newton steps in some voters' weights until none of them can gain more than `tol`."""
        W, p, v = self.U[at].astype(np.float64), self.p, self.v[at]

        def value(v: Array) -> tuple[float, Array, float, int]:
            q, theta, capped = capped_gibbs(v @ W, p, self.kappa)
            return theta - limit * float(v.sum()), q, theta, capped

        now, q, theta, capped = value(v)
        damping = 0.0
        for step in range(most):
            if total is None and now > self.highest_entropy + 1e-6:
                raise Infeasible  # weak duality: no weights under the cap have so much entropy
            r = p * q
            g = W @ r - limit
            settled = float(v @ g)
            if total is None:
                done = g.max() <= tol and abs(settled) <= max(tol * float(v.sum()), 1e-12)
            else:
                done = g.max() - settled / total <= tol
            if done:
                return v, q, theta, step
            if perf_counter() > end:
                raise OutOfTime(f"the entropic program took longer than {self.seconds:g} seconds")
            if np.isfinite(self.kappa):
                r = np.where(q < self.kappa * (1 - 1e-12), r, 0.0)
            B = W * np.sqrt(r)
            K = B @ B.T
            if r.any():
                moved = W @ r
                K -= np.outer(moved, moved) / r.sum()
            size = K.trace() / len(K)
            K[np.diag_indices_from(K)] += 1e-9 * (1.0 + size) + damping * size + (1e-6 if capped == len(q) else 0.0)
            target = newton_point(K, g, v, total is not None)
            rise = float(g @ (target - v))
            length = 1.0
            while length > 1e-12:
                trial = v + length * (target - v)
                then = value(trial)
                if then[0] >= now + 1e-4 * length * rise:
                    break
                length /= 2
            else:
                if g.max() - (settled / total if total else 0.0) <= 100 * tol:
                    return v, q, theta, step  # rounding: no step gains anything
                raise Stuck("the entropic program made no progress")
            damping = damping / 4 if length == 1.0 else max(4 * damping, 1e-3)
            v, (now, q, theta, capped) = trial, then
        raise Stuck(f"the entropic program took more than {most} steps")
