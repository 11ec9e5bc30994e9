"""Chance that depends on the data, the repeat and the purpose, and on nothing else: all methods see the same."""

from __future__ import annotations

import hashlib

import numpy as np


def chance(data_hash: str, repeat: int, purpose: str) -> np.random.Generator:
    """Return a generator of its own for every purpose in every repeat on every data set.

    Parameters
    ----------
    data_hash : str
        Hash of the data (or their name).
    repeat : int
        Number of the repeat.
    purpose : str
        What the numbers are for: "split", "flips".

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> first, again, other = (chance("abc", 0, purpose).integers(2**40) for purpose in ("split", "split", "flips"))
    >>> first == again, first == other
    (np.True_, np.False_)
    """
    return np.random.default_rng(np.random.SeedSequence(seed_word(data_hash, repeat, purpose)))


def seed_word(data_hash: str, repeat: int, purpose: str) -> int:
    """Return what the SeedSequence of such a generator is made of."""
    digest = hashlib.sha256(f"{data_hash}/{repeat}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:16], "big")
