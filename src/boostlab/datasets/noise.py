"""Label noise of three kinds: evenly, by class, or near the border."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def flip_labels(
    y: npt.ArrayLike,
    share: float,
    random_state: int | np.random.Generator | None = None,
    *,
    independent: bool = False,
) -> Array:
    """Return the labels with a share of them wrong, whatever their class.

    A label changes with two classes to the other class, with more to any of the others with equal chance.  With one
    seed a larger share flips the same labels and some more, so that levels of noise can be compared.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class labels of any kind, of at least two classes.
    share : float in [0, 1]
        How many of them to change.
    random_state : int, numpy Generator or None, default=None
        Seed.
    independent : bool, default=False
        Whether each label changes with probability `share`, whatever becomes of the others; otherwise exactly
        round(share * n_rows) of them change, chosen evenly among all.

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
    _check_share(share)
    labels = np.array(y)
    rng = np.random.default_rng(random_state)
    if independent:
        flipped = np.flatnonzero(rng.random(len(labels)) < share)
    else:
        flipped = rng.permutation(len(labels))[: round(share * len(labels))]
    return _moved(labels, flipped, rng)


def flip_by_class(
    y: npt.ArrayLike, shares: Mapping[Any, float], random_state: int | np.random.Generator | None = None
) -> Array:
    """Return the labels with a share of each class wrong, another share for another class.

    Exactly round(share * size) labels of a class change, chosen evenly among them; in all else this is `flip_labels`.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class labels of any kind, of at least two classes.
    shares : dict
        Classes, and how many of their labels to change, from 0 to 1; none of a class that is not named.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    array of shape (n_rows,)
        A new array; y stays as it is.

    Examples
    --------
    >>> y = np.array([1] * 50 + [-1] * 50)
    >>> noisy = flip_by_class(y, {1: 0.4}, random_state=0)
    >>> int((noisy[:50] != 1).sum()), int((noisy[50:] != -1).sum())
    (20, 0)
    """
    labels = np.array(y)
    rng = np.random.default_rng(random_state)
    order = rng.permutation(len(labels))
    flipped = [np.zeros(0, int)]
    for label, share in shares.items():
        _check_share(share)
        of_class = order[labels[order] == label]
        if not len(of_class):
            raise ValueError(f"There is no label {label!r}; the classes are {', '.join(map(repr, np.unique(labels)))}.")
        flipped.append(of_class[: round(share * len(of_class))])
    return _moved(labels, np.concatenate(flipped), rng)


def flip_by_margin(
    y: npt.ArrayLike,
    margins: npt.ArrayLike,
    share: float,
    random_state: int | np.random.Generator | None = None,
    *,
    concentration: float = 1.0,
) -> Array:
    """Return the labels with a share of them wrong, most of them near the border between the classes.

    Exactly round(share * n_rows) labels change, drawn without replacement with chances proportional to
    exp(-concentration |margin| / median |margin|); in all else this is `flip_labels`.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class labels of any kind, of at least two classes.
    margins : array-like of shape (n_rows,)
        How far from the border every row is, by any clean measure: the decision function of a model, or the known
        distance in artificial data.  Signs do not matter.
    share : float in [0, 1]
        How many of the labels to change.
    random_state : int, numpy Generator or None, default=None
        Seed.
    concentration : float, default=1.0
        How much noise prefers the border; with 0 it does not.

    Returns
    -------
    array of shape (n_rows,)
        A new array; y stays as it is.

    Examples
    --------
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(1000, random_state=0)
    >>> distance = np.abs(X.sum(axis=1))
    >>> flipped = flip_by_margin(y, distance, 0.2, random_state=0, concentration=3) != y
    >>> int(flipped.sum()), bool(distance[flipped].mean() < 0.6 * distance.mean())
    (200, True)
    """
    _check_share(share)
    if not 0.0 <= concentration < np.inf:
        raise ValueError(f"concentration={concentration!r} is not possible; it must be a number of at least 0.")
    labels, distance = np.array(y), np.abs(np.asarray(margins, float))
    if distance.shape != labels.shape or not np.isfinite(distance).all():
        raise ValueError("margins must be one finite number a label.")
    scale = float(np.median(distance)) or float(distance.mean()) or 1.0
    rng = np.random.default_rng(random_state)
    # The largest of log chance plus a Gumbel variable are a draw without replacement, and a larger share more of it.
    keys = rng.gumbel(size=len(labels)) - concentration * distance / scale
    return _moved(labels, np.argsort(-keys, kind="stable")[: round(share * len(labels))], rng)


def _check_share(share: float) -> None:
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share={share!r} is not possible; it must be a number from 0 to 1.")


def _moved(labels: Array, flipped: Array, rng: np.random.Generator) -> Array:
    """Return the labels with some moved to other classes."""
    classes, codes = np.unique(labels, return_inverse=True)
    if len(flipped) and len(classes) < 2:
        raise ValueError("All labels are the same, so there is no other class to flip any to.")
    # Moves are drawn for all rows, also those that stay, so that they do not depend on the share.
    moves = rng.integers(1, max(len(classes), 2), len(labels))
    labels[flipped] = classes[(codes[flipped] + moves[flipped]) % len(classes)]
    return labels
