"""Small tables for tests."""

from __future__ import annotations

import numpy as np


def noisy_table(n=300, d=6, flips=0.1, seed=0):
    """A smooth binary problem with flipped labels and a column of few distinct values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = np.round(X[:, -1])
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * X[:, -1] > 0.7, 1, 0)
    return X, np.where(rng.random(n) < flips, 1 - y, y)
