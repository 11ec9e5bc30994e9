"""Code matrices: what every binary problem asks of every class.

A code has one row a class and one column a binary problem: +1 and -1 are the two sides of the problem, and a class of
entry 0 takes no part in it.  One-versus-rest and one-versus-one are codes, too.  Hamming decoding forgives
floor((d - 1) / 2) wrong columns, d the smallest distance between two rows (Dietterich & Bakiri 1995; Allwein, Schapire
& Singer 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import ceil, log2
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MOST_EXHAUSTIVE = 7  # classes: 63 columns
MOST_EXPLICIT = 15  # classes whose exhaustive code may be asked for: 16,383 columns
CANDIDATES = 1000  # random codes of which the best is taken
SELECTIONS = 100  # selections of code words of which the best is taken

# Primitive polynomials over {0, 1} of every degree, as bits.
_POLYNOMIALS = {3: 11, 4: 19, 5: 37, 6: 67, 7: 137, 8: 285, 9: 529, 10: 1033, 11: 2053, 12: 4179}


def one_vs_rest(n_classes: int) -> Array:
    """Return the code of every class against all others."""
    return (2 * np.eye(n_classes, dtype=np.int8) - 1).astype(np.int8)


def one_vs_one(n_classes: int) -> Array:
    """Return the code of all pairs (i, j), i < j, in order: -1 for i and +1 for j, so that no score means i."""
    pairs = list(combinations(range(n_classes), 2))
    code = np.zeros((n_classes, len(pairs)), np.int8)
    for column, (i, j) in enumerate(pairs):
        code[i, column], code[j, column] = -1, 1
    return code


def exhaustive(n_classes: int) -> Array:
    """Return the code of all ways to part the classes in two: 2^(K-1) - 1 columns, the first class always +1."""
    columns = np.arange(2 ** (n_classes - 1) - 2, -1, -1)
    bits = columns[None, :] >> np.arange(n_classes - 1)[::-1, None] & 1
    return np.vstack([np.ones(len(columns)), 2 * bits - 1]).astype(np.int8)


def random_code(
    n_classes: int, n_columns: int, rng: np.random.Generator, zeros: float = 0.0, candidates: int | None = None
) -> Array:
    """Return the best of many random codes: the largest smallest distance between rows.

    Parameters
    ----------
    n_classes, n_columns : int
        Its shape.
    rng : numpy Generator
        Where it comes from.
    zeros : float
        The probability of an entry 0; other entries are +1 and -1 alike.
    candidates : int
        How many codes are tried; `CANDIDATES` by default.
    """
    best, widest = None, 0.0
    for _ in range(candidates or CANDIDATES):
        code = _random_columns(n_classes, n_columns, rng, zeros)
        distance = min_distance(code) if code.size else 0.0
        if distance > widest:
            best, widest = code, distance
    if best is None:
        raise ValueError(
            f"No random code of {n_columns} columns tells {n_classes} classes apart; ask for more columns."
        )
    return best


def _random_columns(n_classes: int, n_columns: int, rng: np.random.Generator, zeros: float) -> Array:
    """Return columns that have both signs, no two of them equal or complements: as many as asked for, if there are."""
    n_columns = min(n_columns, _sparse_columns(n_classes) if zeros > 0 else _dense_columns(n_classes))
    drawn, places = np.empty((0, n_classes), np.int8), np.empty(0, np.intp)
    while len(places) < n_columns:  # the rarest of few columns may take several draws
        more = np.where(rng.random((4 * n_columns, n_classes)) < 0.5, np.int8(-1), np.int8(1))
        if zeros > 0:
            more[rng.random(more.shape) < zeros] = 0
        drawn = np.vstack([drawn, more[(more.max(axis=1) == 1) & (more.min(axis=1) == -1)]])
        first = drawn[np.arange(len(drawn)), (drawn != 0).argmax(axis=1)]
        with np.errstate(over="ignore"):  # beyond 40 classes different columns may share a number: one of them is lost
            numbers = (drawn * first[:, None]).astype(np.int64) @ np.int64(3) ** np.arange(n_classes)
        _, places = np.unique(numbers, return_index=True)
    return np.ascontiguousarray(drawn[np.sort(places)[:n_columns]].T)


def bch(n_classes: int, n_columns: int, rng: np.random.Generator) -> Array:
    """Return words of a BCH code of 2^m - 1 >= n_columns columns: the one with the largest distance that has enough.

    Of many selections of its words the one whose columns differ most is taken.  Up to seven classes it is the
    exhaustive code.

    Parameters
    ----------
    n_classes, n_columns : int
        The number of words, and the least number of columns.
    rng : numpy Generator
        Chooses among the words.
    """
    if n_classes <= MOST_EXHAUSTIVE:
        return exhaustive(n_classes)  # there are few columns, and all of them are a code of the largest distance
    m = max(3, ceil(log2(n_columns + 1)))
    best, widest = None, (-1.0, -1.0)
    while best is None:
        if m > min(max(_POLYNOMIALS), n_classes - 1):
            raise ValueError(
                f"There is no BCH code of {n_columns} columns for {n_classes} classes; ask for fewer columns."
            )
        words = _bch_words(m, n_classes)
        for _ in range(SELECTIONS if len(words) else 0):
            code = 2 * words[rng.choice(len(words), n_classes, replace=False)].astype(np.int8) - 1
            if is_proper(code):
                apart = min_distance(code), float(_column_distance(code))
                if apart > widest:
                    best, widest = code, apart
        m += 1
    return best


def _bch_words(m: int, n_classes: int) -> Array:
    """Return all words of the smallest primitive BCH code of length 2^m - 1 with at least 2 K of them, as bits."""
    n = 2**m - 1
    roots = _powers(m)
    generator, covered, found = [1], set[int](), [1]
    for power in range(1, n):  # the generator has the roots a, a^2, ..., a^(2t)
        if power not in covered:
            orbit = []
            while power not in orbit:
                orbit.append(power)
                power = power * 2 % n
            covered.update(orbit)
            generator = _times(generator, _minimal(orbit, roots, n))
            if 2 ** (n - len(generator) + 1) < 2 * n_classes:
                break
            found = generator
    k = n - len(found) + 1
    if 2**k > 2**16:  # more words than are worth looking at: the first 16 dimensions hold enough
        k = 16
    basis = np.zeros((k, n), np.int64)
    for i in range(k):
        basis[i, i : i + len(found)] = found
    messages = np.arange(2**k)[:, None] >> np.arange(k) & 1
    return messages @ basis % 2 if len(messages) >= n_classes else np.empty((0, n))


def _powers(m: int) -> list[int]:
    """Return the powers of a generator of the field of 2^m elements, as bits."""
    powers = [1]
    for _ in range(2**m - 2):
        x = powers[-1] << 1
        powers.append(x ^ _POLYNOMIALS[m] if x >> m else x)
    return powers


def _minimal(orbit: list[int], powers: list[int], n: int) -> list[int]:
    """Return the polynomial over {0, 1} whose roots are these powers, lowest coefficient first."""
    logs = {x: i for i, x in enumerate(powers)}
    polynomial = [1]
    for root in orbit:  # times (x + root)
        shifted = [0, *polynomial]
        for i, c in enumerate(polynomial):
            shifted[i] ^= powers[(logs[c] + root) % n] if c else 0
        polynomial = shifted
    return polynomial


def _times(a: list[int], b: list[int]) -> list[int]:
    return [int(c) % 2 for c in np.convolve(a, b)]


# -- what a code is worth ---------------------------------------------------------------------------------------------


def min_distance(code: Array) -> float:
    """Return the smallest distance between two rows: columns in which they differ, a zero counting one half."""
    rows = code.astype(np.float64)
    products = rows @ rows.T
    apart = (code.shape[1] - products) / 2
    return float(apart[np.triu_indices(len(code), 1)].min())


def _column_distance(code: Array) -> int:
    """Return how far the columns are from being equal or complements."""
    columns = code.astype(np.float64)
    agree = np.abs(columns.T @ columns)
    return int(len(code) - agree[np.triu_indices(code.shape[1], 1)].max(initial=0))


def _key(column: Array) -> bytes:
    """Return the same bytes for a column and its complement."""
    return max(column.tobytes(), (-column).astype(np.int8).tobytes())


def is_proper(code: Array) -> bool:
    """Return whether no column is constant, and no two are equal or complements, and all rows differ."""
    both = (code.max(axis=0) == 1) & (code.min(axis=0) == -1)
    keys = {_key(np.ascontiguousarray(c, np.int8)) for c in code.T}
    return bool(both.all()) and len(keys) == code.shape[1] and min_distance(code) > 0


Maker = Callable[[int, int, np.random.Generator], Array]

# Codes by name: made of the number of classes, a least number of columns (0 is the usual one), and chance.
CODES: dict[str, Maker] = {
    "ovr": lambda K, L, rng: one_vs_rest(K),
    "ovo": lambda K, L, rng: one_vs_one(K),
    "exhaustive": lambda K, L, rng: exhaustive(K),
    "bch": lambda K, L, rng: bch(K, L or ceil(10 * log2(K)), rng),
    "dense": lambda K, L, rng: random_code(K, min(L or ceil(10 * log2(K)), _dense_columns(K)), rng),
    "sparse": lambda K, L, rng: random_code(K, min(L or ceil(15 * log2(K)), _sparse_columns(K)), rng, 0.5),
}


def _dense_columns(n_classes: int) -> int:
    """Return how many different columns without zeros there are, a column and its complement once."""
    return 2 ** min(n_classes - 1, 40) - 1


def _sparse_columns(n_classes: int) -> int:
    """Return how many different columns there are: with both signs, a column and its complement once."""
    return (3 ** min(n_classes, 25) - 2 ** (min(n_classes, 25) + 1) + 1) // 2


def make_code(name: str, n_classes: int, n_columns: int | None, rng: np.random.Generator) -> Array:
    """Return a code by its name.

    Parameters
    ----------
    name : str
        "auto" (all ways to part up to seven classes, words of a BCH code for more), or a name in `CODES`.
    n_classes : int
        Number of rows.
    n_columns : int, optional
        At least so many columns, for codes that have a choice.
    rng : numpy Generator
        For codes that draw.
    """
    if n_classes == 2:
        return np.array([[-1], [1]], np.int8)
    if name == "auto":
        name = "exhaustive" if n_classes <= MOST_EXHAUSTIVE else "bch"
    if name == "exhaustive" and n_classes > MOST_EXPLICIT:
        raise ValueError(
            f'The exhaustive code of {n_classes} classes has 2^{n_classes - 1} - 1 columns; use "bch" or "dense".'
        )
    return CODES[name](n_classes, n_columns or 0, rng)


def check_code(code: Any, n_classes: int) -> Array:
    """Return a code that a person gives, or say what is wrong with it.

    Parameters
    ----------
    code : array-like of shape (n_classes, n_columns)
        Of -1, 0 and +1.
    n_classes : int
        How many rows it must have.
    """
    matrix = np.asarray(code)
    if matrix.ndim != 2 or len(matrix) != n_classes or not np.isin(matrix, (-1, 0, 1)).all():
        raise ValueError(
            f"A code has one row a class (there are {n_classes}) and entries -1, 0 and +1; this one has the shape "
            f"{matrix.shape}."
        )
    matrix = matrix.astype(np.int8)
    one_sided = (matrix.max(axis=0, initial=0) < 1) | (matrix.min(axis=0, initial=0) > -1)
    if one_sided.any() or matrix.shape[1] == 0:
        which = f"column {int(one_sided.argmax())} does not" if one_sided.any() else "it has no column"
        raise ValueError(f"Every column of a code must have a +1 and a -1, and {which}; drop it, or give it both.")
    if min_distance(matrix) <= 0:
        raise ValueError("Two rows of the code are the same, so nothing tells their classes apart; change one.")
    return matrix
