"""Data sets made of normal distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_FEATURES = 20  # of twonorm and ringnorm
_SHIFT = 2.0 / np.sqrt(_FEATURES)  # Breiman's a
_RADIUS = 9.34182  # the median of the chi-squared distribution with 10 degrees of freedom: both classes equally likely


def twonorm(n_rows: int = 400, random_state: int | np.random.Generator | None = None) -> tuple[Array, Array]:
    """Return Breiman's twonorm: two unit normals side by side in 20 dimensions.

    A row is +1 or -1 with equal chance and then normal with unit covariance around (a, ..., a) or (-a, ..., -a), where
    a = 2 / sqrt(20).  The best possible error is 2.3 percent, by the sign of the sum of the features.

    Parameters
    ----------
    n_rows : int, default=400
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_rows, 20)
    y : array of shape (n_rows,)
        Labels -1 and +1.

    References
    ----------
    Breiman 1996, Bias, variance, and arcing classifiers.

    Examples
    --------
    >>> X, y = twonorm(1000, random_state=0)
    >>> X.shape, bool(((X.sum(axis=1) > 0) == (y > 0)).mean() > 0.96)
    ((1000, 20), True)
    """
    rng = np.random.default_rng(random_state)
    y = rng.choice([-1, 1], n_rows)
    return rng.standard_normal((n_rows, _FEATURES)) + _SHIFT * y[:, None], y


def ringnorm(n_rows: int = 400, random_state: int | np.random.Generator | None = None) -> tuple[Array, Array]:
    """Return Breiman's ringnorm: a wide normal around a narrow one in 20 dimensions.

    A row is +1 or -1 with equal chance.  Breiman's class 1, here +1, is normal around 0 with covariance 4 I; his
    class 2, here -1, is normal around (a, ..., a) with covariance I, where a = 2 / sqrt(20).  The best possible error
    is 1.3 percent, by a sphere.

    Parameters
    ----------
    n_rows : int, default=400
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_rows, 20)
    y : array of shape (n_rows,)
        Labels -1 and +1.

    References
    ----------
    Breiman 1996, Bias, variance, and arcing classifiers.

    Examples
    --------
    >>> X, y = ringnorm(1000, random_state=0)
    >>> X[y == 1].std().round(), X[y == -1].std().round()
    (np.float64(2.0), np.float64(1.0))
    """
    rng = np.random.default_rng(random_state)
    y = rng.choice([-1, 1], n_rows)
    Z = rng.standard_normal((n_rows, _FEATURES))
    return np.where(y[:, None] == 1, 2.0 * Z, Z + _SHIFT), y


def three_gaussians(
    n_rows: int = 600, side: float = 3.5, random_state: int | np.random.Generator | None = None
) -> tuple[Array, Array]:
    """Return three round normal clouds in the plane, one a class.

    A row is 0, 1 or 2 with equal chance and then normal with unit covariance around that corner of an equilateral
    triangle, which is centred at the origin.  With the default side the best possible error is 7.0 percent, by the
    nearest corner.

    Parameters
    ----------
    n_rows : int, default=600
        Number of rows.
    side : float, default=3.5
        The distance between two centres, in standard deviations.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_rows, 2)
    y : array of shape (n_rows,)
        Labels 0, 1 and 2.

    References
    ----------
    After the three-Gaussians figure in the boosting chapter of Zhou, Ensemble Methods, which does not give its numbers.

    Examples
    --------
    >>> X, y = three_gaussians(300, side=10, random_state=0)
    >>> np.linalg.norm(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)).round()
    np.float64(10.0)
    """
    rng = np.random.default_rng(random_state)
    angles = 2.0 * np.pi * np.arange(3) / 3.0 + np.pi / 2.0
    centres = side / np.sqrt(3.0) * np.column_stack([np.cos(angles), np.sin(angles)])
    y = rng.integers(3, size=n_rows)
    return rng.standard_normal((n_rows, 2)) + centres[y], y


def chi2_spheres(n_rows: int = 2000, random_state: int | np.random.Generator | None = None) -> tuple[Array, Array]:
    """Return a sphere inside its surroundings: the classes differ in distance, not in direction.

    The 10 features are independent standard normals, and y = +1 where the sum of their squares is below 9.34182, the
    median of its chi-squared distribution; else -1.  The best possible error is 0.

    Parameters
    ----------
    n_rows : int, default=2000
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_rows, 10)
    y : array of shape (n_rows,)
        Labels -1 and +1.

    References
    ----------
    Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, equation (10.2), with the labels exchanged, as
    in the AR-Boost paper.

    Examples
    --------
    >>> X, y = chi2_spheres(1000, random_state=0)
    >>> bool(((X**2).sum(axis=1) < 9.34182)[y == 1].all())
    True
    """
    X = np.random.default_rng(random_state).standard_normal((n_rows, 10))
    return X, np.where((X**2).sum(axis=1) < _RADIUS, 1, -1)
