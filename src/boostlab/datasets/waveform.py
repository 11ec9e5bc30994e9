"""The waveform recognition problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_POSITIONS = np.arange(1, 22)
_WAVES = np.maximum(6 - np.abs(_POSITIONS - np.array([[11], [15], [7]])), 0)  # h1, h2(i) = h1(i - 4), h3(i) = h1(i + 4)
_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])  # the two waves each class mixes


def waveform(n_rows: int = 300, random_state: int | np.random.Generator | None = None) -> tuple[Array, Array]:
    """Return Breiman's waveform data: random mixtures of two of three triangular waves, in noise.

    The waves are h1(i) = max(6 - |i - 11|, 0), h2(i) = h1(i - 4) and h3(i) = h1(i + 4) for i = 1, ..., 21.  A row is 0,
    1 or 2 with equal chance; with one u uniform on (0, 1) a row and standard normal noise e on every feature it is
    u h1 + (1 - u) h2 + e, u h1 + (1 - u) h3 + e, or u h2 + (1 - u) h3 + e.  The best possible error is about 13
    percent.

    Parameters
    ----------
    n_rows : int, default=300
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_rows, 21)
    y : array of shape (n_rows,)
        Labels 0, 1 and 2.

    References
    ----------
    Breiman, Friedman, Olshen & Stone 1984, Classification and Regression Trees, section 2.6.2.

    Examples
    --------
    >>> X, y = waveform(3000, random_state=0)
    >>> X[y == 0].mean(axis=0)[[0, 12]].round().astype(int)  # no wave at i = 1; at 13 both h1 and h2 are 4
    array([0, 4])
    """
    rng = np.random.default_rng(random_state)
    y = rng.integers(3, size=n_rows)
    u = rng.random((n_rows, 1))
    first, second = _WAVES[_PAIRS[y, 0]], _WAVES[_PAIRS[y, 1]]
    return u * first + (1 - u) * second + rng.standard_normal((n_rows, len(_POSITIONS))), y
