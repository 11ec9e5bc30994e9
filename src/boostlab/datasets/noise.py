"""Label noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def flip_labels(y: npt.ArrayLike, share: float, random_state: int | np.random.Generator | None = None) -> Array:
    """Return the labels with a share of them wrong.

    Exactly round(share * n) labels change, chosen evenly among all; with two classes to the other class, with more to
    any of the others with equal chance.  With one seed a larger share flips the same labels and some more, so that
    levels of noise can be compared.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class labels of any kind, of at least two classes.
    share : float in [0, 1]
        How many of them to change.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    array of shape (n_rows,)
        A new array; y stays as it is.

    Examples
    --------
    >>> y = np.array(["yes", "no"] * 50)
    >>> int((flip_labels(y, 0.2, random_state=0) != y).sum())
    20
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share={share!r} is not possible; it must be a number from 0 to 1.")
    labels = np.array(y)
    classes, codes = np.unique(labels, return_inverse=True)
    count = round(share * len(labels))
    if count and len(classes) < 2:
        raise ValueError("All labels are the same, so there is no other class to flip any to.")
    rng = np.random.default_rng(random_state)
    flipped = rng.permutation(len(labels))
    # Moves are drawn for all rows, also those that stay, so that they do not depend on the share.
    moves = rng.integers(1, max(len(classes), 2), len(labels))
    flipped = flipped[:count]
    labels[flipped] = classes[(codes[flipped] + moves[flipped]) % len(classes)]
    return labels
