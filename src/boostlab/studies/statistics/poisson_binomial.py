"""The Poisson binomial test: on how many data sets is one algorithm better, given how sure that is on each.

References
----------
Lacoste, Laviolette & Marchand 2012, Bayesian comparison of machine learning algorithms on single and multiple datasets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betainc

Array = npt.NDArray[Any]


def discordant(y: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[int, int]:
    """Return on how many examples only the first, and only the second, of two classifiers is right.

    Parameters
    ----------
    y : array-like of shape (n,)
        The labels.
    a, b : array-like of shape (n,)
        Predictions of the two classifiers for the same examples.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> discordant([1, 1, 0, 0], [1, 1, 0, 1], [0, 1, 0, 0])
    (1, 1)
    """
    labels, first, second = np.asarray(y), np.asarray(a), np.asarray(b)
    if not labels.shape == first.shape == second.shape:
        raise ValueError(
            "Labels and predictions must be lists of one length; these have the shapes "
            f"{labels.shape}, {first.shape} and {second.shape}."
        )
    right_a, right_b = first == labels, second == labels
    return int(np.sum(right_a & ~right_b)), int(np.sum(right_b & ~right_a))


def chance_of_lower_risk(k_a: npt.ArrayLike, k_b: npt.ArrayLike, *, prior: float = 1.0) -> Array:
    """Return the posterior probability that the first of two classifiers has the lower risk.

    With a Dirichlet prior on the shares of examples that only the first, only the second, and both or none get right,
    it is the probability that a Beta(k_a + prior, k_b + prior) variable exceeds 1/2.

    Parameters
    ----------
    k_a, k_b : int or array-like of int
        What `discordant` returns.
    prior : float, default=1.0
        The prior's strength on either side.

    Returns
    -------
    array
        Of the shape of k_a and k_b.

    Examples
    --------
    >>> chance_of_lower_risk([5, 3], [5, 0]).tolist()
    [0.5, 0.9375]
    """
    if not prior > 0.0:
        raise ValueError(f"prior={prior!r} is not possible; it must be a number above 0.")
    won, lost = np.asarray(k_a, float), np.asarray(k_b, float)
    if (won < 0).any() or (lost < 0).any():
        raise ValueError("Numbers of examples cannot be negative.")
    return np.asarray(betainc(lost + prior, won + prior, 0.5))


def poisson_binomial(p: npt.ArrayLike) -> Array:
    """Return the distribution of the number of successes of independent trials, each with its own probability.

    Parameters
    ----------
    p : array-like of shape (n,)
        The probabilities.

    Returns
    -------
    array of shape (n + 1,)
        The probability of 0, 1, ..., n successes.

    Examples
    --------
    >>> poisson_binomial([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    chances = np.asarray(p, float)
    if chances.ndim != 1 or not ((chances >= 0.0) & (chances <= 1.0)).all():
        raise ValueError("Probabilities must be a list of numbers from 0 to 1.")
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1.0 - chance, chance])
    return distribution


def poisson_binomial_test(p: npt.ArrayLike) -> float:
    """Return the probability that the first algorithm is better on more than half of the data sets.

    Parameters
    ----------
    p : array-like of shape (n,)
        For every data set the probability that the first algorithm is the better one: from `chance_of_lower_risk`, or
        for cross-validated errors from `correlated_t`.

    Returns
    -------
    float
        The probability of being better on exactly half counts half.

    Examples
    --------
    >>> poisson_binomial_test([0.5] * 25)
    0.5
    """
    distribution = poisson_binomial(p)
    n = len(distribution) - 1
    more = distribution[n // 2 + 1 :].sum()
    fewer = distribution[: (n + 1) // 2].sum()
    half = 0.5 * distribution[n // 2] if n % 2 == 0 else 0.0
    return float((more + half) / (more + fewer + 2.0 * half))
