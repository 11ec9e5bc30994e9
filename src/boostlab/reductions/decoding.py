"""From the answers to all binary problems to scores, one a class: plain functions of arrays.

`F[i, l]` is the score of row i in problem l, positive for the side +1 of the code; `R[i, l]` is the probability of that
side, given that the row is of a class that takes part; `n[l]` is how many examples the problem had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.utils.multiclass import _ovr_decision_function

from boostlab.reductions.coupling import LEAST

Array = npt.NDArray[Any]

ALIKE = 1e-12  # probabilities that differ by this share of them differ by rounding only


def strongest(code: Array, F: Array) -> Array:
    """Return the scores of one-versus-rest problems as they are."""
    return F


def voted(code: Array, F: Array) -> Array:
    """Return how many pairs each class wins, plus less than 1/3 by the sum of its scores, which settles ties.

    The pairs must be in order, each -1 for its first class; the formula is scikit-learn's.
    """
    scores: Array = _ovr_decision_function((F > 0).astype(np.intp), F, len(code))
    return scores


def hamming(code: Array, F: Array) -> Array:
    """Return less the number of columns in which a class's row differs from the answers; a zero counts one half."""
    signs = np.where(F > 0, 1.0, -1.0)
    return (signs @ code.T.astype(np.float64) - code.shape[1]) / 2


def loss_based(code: Array, F: Array) -> Array:
    """Return less the logarithm of sum_l exp(-M_kl F_l): the exponential loss if the row were of class k."""
    return np.stack([-logsumexp(-row * F, axis=1) for row in code.astype(np.float64)], axis=1)


def dag(code: Array, F: Array, order: Sequence[int] | None = None) -> Array:
    """Return when each class leaves the list: the first class meets the last, the loser goes, until one is left.

    The winner scores K - 1, the last loser K - 2, and so on (Platt, Cristianini & Shawe-Taylor 2000).

    Parameters
    ----------
    code, F
        All pairs in order.
    order : sequence of int, optional
        The list at the start; 0, 1, ... by default.
    """
    K, n = len(code), len(F)
    lists = np.arange(K) if order is None else np.asarray(order)
    first, last = np.zeros(n, np.intp), np.full(n, K - 1)
    rows, scores = np.arange(n), np.empty((n, K))
    for left in range(K - 1):
        a, b = lists[first], lists[last]
        i, j = np.minimum(a, b), np.maximum(a, b)
        column = i * (2 * K - i - 1) // 2 + j - i - 1
        wins = np.where(F[rows, column] > 0, j, i)
        loses = np.where(wins == a, b, a)
        scores[rows, loses] = left
        first, last = first + (loses == a), last - (loses == b)
    scores[rows, lists[first]] = K - 1
    return scores


def least_squares(code: Array, R: Array, n: Array) -> Array:
    """Return p that minimises the sum over pairs of (r_ji p_i - r_ij p_j)^2 (Wu, Lin & Weng 2004): one linear system.

    Parameters
    ----------
    code, R
        All pairs in order.
    n
        Not used: all pairs count alike.
    """
    K = len(code)
    R = np.clip(R, LEAST, 1 - LEAST)
    i, j = np.triu_indices(K, 1)
    r = np.zeros((len(R), K, K))
    r[:, j, i], r[:, i, j] = R, 1 - R  # r_ij is the probability of i in the pair (i, j)
    system = np.zeros((len(R), K + 1, K + 1))
    system[:, :K, :K] = -r.swapaxes(1, 2) * r
    system[:, np.arange(K), np.arange(K)] = (r**2).sum(axis=1)
    system[:, :K, K] = system[:, K, :K] = 1.0
    right = np.zeros((len(R), K + 1, 1))
    right[:, K] = 1.0
    p = np.clip(np.linalg.solve(system, right)[:, :K, 0], 0.0, None)
    return p / p.sum(axis=1, keepdims=True)


def normalised(code: Array, R: Array, n: Array) -> Array:
    """Return the probabilities of one-versus-rest problems, scaled to sum 1 in every row."""
    whole = R.sum(axis=1, keepdims=True)
    return np.divide(R, whole, out=np.full(R.shape, 1 / R.shape[1]), where=whole > 0)


def agreeing(P: Array, best: Array) -> Array:
    """Return probabilities whose largest is the class that was chosen: where it is not, the two change places.

    Those of a row that differ by rounding only become equal, so that their logarithms have the same order.
    """
    P, rows = _tied(P), np.arange(len(P))
    top = P.argmax(axis=1)
    P[rows, best], P[rows, top] = P[rows, top], P[rows, best]
    equal = P.argmax(axis=1) != best  # an earlier class has as much
    P[rows[equal], best[equal]] *= 1 + 2 * ALIKE
    return P


def _tied(P: Array) -> Array:
    """Return probabilities in which each one that is alike to the next larger one of its row is equal to it."""
    order, tied = np.argsort(P, axis=1), np.sort(P, axis=1)
    for c in range(P.shape[1] - 2, -1, -1):
        larger = tied[:, c + 1]
        tied[:, c] = np.where(tied[:, c] >= (1 - ALIKE) * larger, larger, tied[:, c])
    out = np.empty_like(P)
    np.put_along_axis(out, order, tied, axis=1)
    return out


def margins(code: Array, f: Array, codes: Array) -> Array:
    """Return how clearly the binary answers favour the true class over every other one.

    For another class k it is the mean margin of the problems that have the true class y on one side and k on the other
    (where a sparse code has none, of those that treat them differently): sum_l (M_yl - M_kl) f_l / sum_l |M_yl - M_kl|.
    The smallest counts.  It lies between -1 and 1; with two classes it is the margin, with all pairs the smallest of
    the true class's pairs.

    Parameters
    ----------
    code : array
        The code M.
    f : array of shape (n_rows, n_columns)
        The binary scores, each divided by the largest that is possible.
    codes : array of shape (n_rows,)
        The true classes.
    """
    M = code.astype(np.float64)
    out = np.empty(len(f))
    for y in range(len(M)):
        members = np.flatnonzero(codes == y)
        others = np.delete(M, y, axis=0)
        opposed = M[y] * others == -1
        apart = np.where(opposed | ~opposed.any(axis=1, keepdims=True), M[y] - others, 0.0)
        out[members] = (f[members] @ apart.T / np.abs(apart).sum(axis=1)).min(axis=1)
    return out
