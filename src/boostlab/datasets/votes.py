"""Data sets whose features are themselves simple votes, made to show what boosting can and cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def xor() -> tuple[Array, Array]:
    """Return the four points of the textbook's XOR problem, which no line separates and three stumps do.

    Returns
    -------
    X : array of shape (4, 2)
        (+1, 0), (-1, 0), (0, +1), (0, -1).
    y : array of shape (4,)
        +1, +1, -1, -1.

    References
    ----------
    Zhou, Ensemble Methods, section 2.3.

    Examples
    --------
    >>> X, y = xor()
    >>> X[y == 1].tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    return np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.array([1, 1, -1, -1])


def long_servedio(n_rows: int = 800, random_state: int | np.random.Generator | None = None) -> tuple[Array, Array]:
    """Return the problem on which a little label noise defeats every booster with a convex loss.

    Every row has a label y, -1 or +1 with equal chance, and 21 features -1 or +1.  It is of one of three kinds: with
    chance 1/4 it has a large margin, all features are y; with chance 1/4 it is a puller, y on the first 11 features and
    -y on the last 10; with chance 1/2 it is a penaliser, y on 5 random features of the first 11 and on 6 random ones of
    the last 10, -y elsewhere.  The majority of the features is always right, so the best possible error is 0; add noise
    with `flip_labels`.

    Parameters
    ----------
    n_rows : int, default=800
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_rows, 21)
    y : array of shape (n_rows,)
        Labels -1 and +1.

    References
    ----------
    Long & Servedio 2010, Random classification noise defeats all convex potential boosters.

    Examples
    --------
    >>> X, y = long_servedio(1000, random_state=0)
    >>> bool((np.sign(X.sum(axis=1)) == y).all())
    True
    """
    rng = np.random.default_rng(random_state)
    y = rng.choice([-1, 1], n_rows)
    kind = rng.choice(3, n_rows, p=[0.25, 0.25, 0.5])
    agrees = np.ones((n_rows, 21), bool)
    agrees[kind == 1, 11:] = False
    penalisers = np.flatnonzero(kind == 2)
    agrees[penalisers, :11] = _rows_with(5, 11, len(penalisers), rng)
    agrees[penalisers, 11:] = _rows_with(6, 10, len(penalisers), rng)
    return np.where(agrees, y[:, None], -y[:, None]).astype(float), y


def _rows_with(chosen: int, of: int, n_rows: int, rng: np.random.Generator) -> Array:
    """Return rows of booleans, each true at its own random choice of places."""
    return rng.permuted(np.tile(np.arange(of) < chosen, (n_rows, 1)), axis=1)
