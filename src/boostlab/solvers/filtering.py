"""What FilterBoost asks of its filter: how long to wait for an example, and a test for the edge of a voter."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Calls:
    """The filter's calls in one round: call number r may draw (2 / eps) ln(r (r + 1) / delta) examples, and no more.

    If the error of the vote exceeds eps, more than an eps/2 of all examples is accepted, and the chance that some call
    of the round comes back empty is at most delta.

    Parameters
    ----------
    eps, delta : float
        As above.
    m : int
        How many examples the voter is to be trained on.
    """

    def __init__(self, eps: float, delta: float, m: int) -> None:
        self.eps, self.delta, self.m = eps, delta, m
        self.r = 0  # calls made
        self.drawn = 0  # examples drawn by them
        self.limit = self.limits(1)[0]  # of the last call

    def limits(self, n: int) -> Array:
        """Return how many examples each of the next n calls may draw."""
        r = np.arange(self.r + 1, self.r + n + 1, dtype=np.float64)
        return np.ceil(2.0 / self.eps * np.log(r * (r + 1) / self.delta)).astype(np.int64)

    def made(self, draws: Array) -> bool:
        """Take note of calls that had to draw so many examples each; whether all kept within their limits."""
        limits = self.limits(len(draws))
        over = draws > limits
        last = int(over.argmax()) if over.any() else len(draws) - 1
        self.r += last + 1
        self.drawn += int(np.minimum(draws, limits)[: last + 1].sum())
        self.limit = int(limits[last])
        return not over.any()


class FilteredEdge(NamedTuple):
    """What the test found: g is 0 if nothing was certain after n examples."""

    g: float
    n: int


def sequential_edge(right: Callable[[int], Array | None], delta: float, tau: float, n_max: int) -> FilteredEdge | None:
    """Return an edge g (above chance, in [-1/2, 1/2]) that lies within a factor of 1 and 1 + tau below the true one.

    Examples are looked at until |u| >= a (1 + 1 / tau), where u is the share of those that the voter gets right, less
    1/2, and a = sqrt(ln(n (n + 1) / delta) / (2 n)); then g = u / (1 + tau).  The chance of an error is below delta.
    Without an edge the test would never end, hence the cap n_max.

    Parameters
    ----------
    right : callable
        Returns whether the voter is right on each of the next n filtered examples, or None if the filter came back
        empty; then so does the test.
    delta, tau, n_max : float, float, int
        As above.
    """
    n, hits = 0, 0
    block = ceil((1 + 1 / tau) ** 2 * 2 * log(2 / delta))  # before that not even a perfect voter is certain
    while n < n_max:
        block = min(block, n_max - n)
        answers = right(block)
        if answers is None:
            return None
        k = np.arange(n + 1, n + block + 1, dtype=np.float64)
        u = (hits + np.cumsum(answers)) / k - 0.5
        sure = np.abs(u) >= np.sqrt(np.log(k * (k + 1) / delta) / (2 * k)) * (1 + 1 / tau)
        if sure.any():
            first = int(sure.argmax())
            return FilteredEdge(float(u[first]) / (1 + tau), n + first + 1)
        n, hits = n + block, hits + int(answers.sum())
        block = n  # as many again
    return FilteredEdge(0.0, n)
