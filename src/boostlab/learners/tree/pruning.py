"""Cost-complexity pruning of a tree that is grown already: at which price of a leaf every split goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def prices(feature: Array, children: Array, gains: Array) -> Array:
    """Return for every node the smallest `ccp_alpha` that takes its split back; zero for leaves.

    Parameters
    ----------
    feature, children, gains : arrays
        Of a `Tree` that was grown with ccp_alpha=0.
    """
    inner = feature >= 0
    gain, splits = np.where(inner, gains, 0.0), inner.astype(np.int64)
    above = np.full(len(inner), -1)
    for parent in np.flatnonzero(inner):
        above[children[parent]] = parent
    for node in range(len(inner) - 1, 0, -1):  # children come after their parents
        gain[above[node]] += gain[node]
        splits[above[node]] += splits[node]
    price, dearest = np.zeros(len(inner)), 0.0
    strength = np.where(inner, gain / np.maximum(splits, 1), np.inf)  # what the splits at and below a node save a leaf
    while np.isfinite(strength).any():
        weakest = int(strength.argmin())
        dearest = max(dearest, float(strength[weakest]))
        gone = [weakest]
        for node in gone:  # grows while it is read
            price[node], strength[node] = dearest, np.inf
            gone.extend(int(c) for c in children[node] if strength[c] < np.inf)
        node = int(above[weakest])
        while node >= 0:
            gain[node] -= gain[weakest]
            splits[node] -= splits[weakest]
            strength[node] = gain[node] / splits[node]
            node = int(above[node])
    return price


def who_votes(feature: Array, children: Array, price: Array, ccp_alpha: float) -> Array:
    """Return for every node the one that votes for it in the pruned tree: itself, or a node above whose split is gone.

    Parameters
    ----------
    feature, children : arrays
        Of a `Tree`.
    price : array
        The answer of `prices`.
    ccp_alpha : float
        The price of a leaf; 0 takes no split back, also none without gain.
    """
    stands = np.arange(len(price))
    for node in np.flatnonzero(feature >= 0):
        if stands[node] != node or price[node] <= ccp_alpha > 0:
            stands[children[node]] = stands[node]
    return stands
