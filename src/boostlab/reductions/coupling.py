"""Class probabilities that agree best with those of binary problems: the generalised Bradley-Terry model."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LEAST = 1e-6  # probabilities below it are taken for it
TOL, SWEEPS = 1e-8, 1000
LIGHTEST = 2.0**-30  # a problem with a smaller share of the mass counts as if it had that
HALVINGS = 30  # of a step, until it goes down
LONGEST = 5.0  # by which the logarithm of a probability may move at once
NUMBERS = 2**21  # in an array of rows and pairs


def coupled(code: Array, R: Array, n: Array, sweeps: int = SWEEPS) -> Array:
    """Return class probabilities p that agree best with those of the binary problems.

    They minimise sum_l n_l KL(r_l, mu_l), where mu_l = p(side +1) / p(both sides): for all pairs this is the coupling
    of Hastie & Tibshirani (1998), for any code the generalised Bradley-Terry model of Huang, Weng & Lin (2006).  Each
    sweep lowers the sum; a row rests when no probability moves by 1e-8.  The sum of all pairs is convex in ln p, and
    Newton's steps take the place of sweeps, of which nearly certain answers would need thousands.

    Parameters
    ----------
    code : array of shape (n_classes, n_problems)
        See `codes`.
    R : array of shape (n_rows, n_problems)
        The probability of the side +1 in every problem, for rows of the classes that take part.
    n : array of shape (n_problems,)
        How many examples every problem had.
    sweeps : int
        How many sweeps, or Newton steps, there may be.
    """
    R, K, n = np.clip(R, LEAST, 1 - LEAST), len(code), tamed(n)
    asked = np.unique(np.abs(code), axis=1)
    if code.shape[1] != K * (K - 1) // 2 or asked.shape != code.shape or (asked.sum(axis=0) != 2).any():
        return _swept(code, R, n, sweeps)  # not every pair once
    step = max(1, NUMBERS // K**2)
    return np.concatenate([_coupled_pairs(code, R[i : i + step], n, sweeps) for i in range(0, max(1, len(R)), step)])


def tamed(n: Array) -> Array:
    """Return masses of problems, of which only ratios count, near 1 and without ratios that end in 0 / 0.

    Parameters
    ----------
    n : array of shape (n_problems,)
        Positive and finite.
    """
    power = int(np.frexp(n.max())[1])
    return np.maximum(np.ldexp(n, -power), LIGHTEST)  # a power of two: no rounding


def _swept(code: Array, R: Array, n: Array, sweeps: int = SWEEPS) -> Array:
    """Return the probabilities by sweeps that multiply them, for any code."""
    plus, minus = (code.T > 0).astype(np.float64), (code.T < 0).astype(np.float64)
    won, lost = n * R, n * (1 - R)
    p = won @ plus + lost @ minus
    p /= p.sum(axis=1, keepdims=True)
    moving = np.arange(len(R))
    for _ in range(sweeps):
        q, a, b = p[moving], won[moving], lost[moving]
        high, low = np.maximum(q @ plus.T, 1e-300), np.maximum(q @ minus.T, 1e-300)
        q = q * ((a / high) @ plus + (b / low) @ minus) / ((n / (high + low)) @ (plus + minus))
        q /= q.sum(axis=1, keepdims=True)
        change = np.abs(q - p[moving]).max(axis=1)
        p[moving] = q
        moving = moving[change >= TOL]
        if not len(moving):
            break
    return p


def _coupled_pairs(code: Array, R: Array, n: Array, sweeps: int) -> Array:
    """Return the probabilities by Newton's method on ln p, for all pairs in any order."""
    K = len(code)
    high, low = code.argmax(axis=0), code.argmin(axis=0)
    won = np.zeros((len(R), K, K))  # by class i against class j, as a share of all examples
    won[:, high, low], won[:, low, high] = n * R / np.sum(n), n * (1 - R) / np.sum(n)
    p = won.sum(axis=2)
    p /= p.sum(axis=1, keepdims=True)
    cost = _pairs_cost(won, p)
    moving = np.arange(len(R))
    for _ in range(sweeps):
        q, least = _lowered(won[moving], p[moving], cost[moving])
        change = np.abs(q - p[moving]).max(axis=1)
        p[moving], cost[moving] = q, least
        moving = moving[change >= TOL]
        if not len(moving):
            break
    return p


def _pairs_cost(won: Array, p: Array) -> Array:
    """Return the sum to be minimised, less what p does not change."""
    either = np.log(p[:, :, None] + p[:, None, :])
    return np.asarray(np.sum(won * (either - np.log(p)[:, :, None]), axis=(1, 2)))


def _solved(H: Array, right: Array) -> Array:
    """Return the solutions of systems, the shortest where masses or certain answers leave one singular."""
    try:
        return np.asarray(np.linalg.solve(H, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(H, hermitian=True) @ right)


def _lowered(won: Array, p: Array, cost: Array) -> tuple[Array, Array]:
    """Return probabilities one step further, or the same where no step goes down, and their costs."""
    K = p.shape[1]
    mu = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    met = won + won.swapaxes(1, 2)
    gradient = (met * mu - won).sum(axis=2)
    H = -met * mu * mu.swapaxes(1, 2)
    diagonal = -H.sum(axis=2)
    H[:, np.arange(K), np.arange(K)] = diagonal  # the diagonal of `met` is zero
    H += diagonal.mean(axis=1)[:, None, None] / K  # all ln p could move alike: this forbids it
    step = -_solved(H, gradient[:, :, None])[:, :, 0]
    step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / LONGEST)
    best, least, left = p.copy(), cost.copy(), np.arange(len(p))
    for _ in range(HALVINGS):
        q = p[left] * np.exp(step[left])
        q /= q.sum(axis=1, keepdims=True)
        now = _pairs_cost(won[left], q)
        down = now < cost[left]
        best[left[down]], least[left[down]] = q[down], now[down]
        left = left[~down]
        if not len(left):
            break
        step[left] /= 2
    return best, least
