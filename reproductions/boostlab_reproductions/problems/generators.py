"""Generators of the field, for problems whose best answer is known and that no table of data could have tuned.

Each takes the number of rows and a seed, and returns a table and labels 0, 1 (LED: the ten digits).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Made = tuple[Array, Array]


def _above_median(score: Array) -> Array:
    return (score > np.median(score)).astype(int)


def threenorm(n: int, random_state: int = 0) -> Made:
    """Breiman 1998: 20 columns, one class from two normals at (a, ..., a) and (-a, ..., -a), the other between."""
    rng = np.random.default_rng(random_state)
    y, side = rng.integers(0, 2, n), rng.choice([-1.0, 1.0], n)
    a = 2 / np.sqrt(20)
    alternating = np.where(np.arange(20) % 2 == 0, a, -a)
    return np.where(y[:, None] == 0, side[:, None] * a, alternating) + rng.normal(size=(n, 20)), y


def friedman1(n: int, random_state: int = 0) -> Made:
    """Friedman 1991, #1, above or below the median: ten uniform columns, five of which matter; noise 1."""
    rng = np.random.default_rng(random_state)
    X = rng.random((n, 10))
    score = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, _above_median(score + rng.normal(size=n))


def _circuit(rng: np.random.Generator, n: int) -> Array:
    X = rng.random((n, 4))
    low, high = np.array([0.0, 40 * np.pi, 0.0, 1.0]), np.array([100.0, 560 * np.pi, 1.0, 11.0])
    return np.asarray(low + X * (high - low))


def friedman2(n: int, random_state: int = 0) -> Made:
    """Friedman 1991, #2, the impedance of a circuit above or below the median; a signal-to-noise ratio of 3."""
    rng = np.random.default_rng(random_state)
    X = _circuit(rng, n)
    score = np.hypot(X[:, 0], X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]))
    return X, _above_median(score + 125 * rng.normal(size=n))


def friedman3(n: int, random_state: int = 0) -> Made:
    """Friedman 1991, #3, its phase angle; a signal-to-noise ratio of 3."""
    rng = np.random.default_rng(random_state)
    X = _circuit(rng, n)
    score = np.arctan2(X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]), X[:, 0])
    return X, _above_median(score + 0.1 * rng.normal(size=n))


def _person(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw the nine columns of Agrawal, Imielinski & Swami 1993."""
    salary = rng.uniform(20e3, 150e3, n)
    zipcode = rng.integers(0, 9, n)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75e3, 0.0, rng.uniform(10e3, 75e3, n)),
        "age": rng.integers(20, 81, n).astype(float),
        "elevel": rng.integers(0, 5, n).astype(float),
        "car": rng.integers(0, 20, n).astype(float),
        "zipcode": zipcode.astype(float),
        "hvalue": (9.0 - zipcode) * 1e5 * rng.uniform(0.5, 1.5, n),
        "hyears": rng.integers(1, 31, n).astype(float),
        "loan": rng.uniform(0, 500e3, n),
    }


def _between(x: Array, low: float, high: float) -> Array:
    return (low <= x) & (x <= high)


def _agrawal2(p: dict[str, Array]) -> Array:
    age, salary = p["age"], p["salary"]
    young, old = age < 40, age >= 60
    middle = ~young & ~old
    return (
        (young & _between(salary, 50e3, 100e3))
        | (middle & _between(salary, 75e3, 125e3))
        | (old & _between(salary, 25e3, 75e3))
    )


def _agrawal4(p: dict[str, Array]) -> Array:
    age, level, salary = p["age"], p["elevel"], p["salary"]
    young, old = age < 40, age >= 60
    low, high = _between(salary, 25e3, 75e3), _between(salary, 50e3, 100e3)
    middle = np.where(_between(level, 1, 3), high, _between(salary, 75e3, 125e3))
    return np.asarray(
        np.where(young, np.where(level <= 1, low, high), np.where(old, np.where(level >= 2, high, low), middle))
    )


def _agrawal6(p: dict[str, Array]) -> Array:
    return _agrawal2({**p, "salary": p["salary"] + p["commission"]})


def _agrawal8(p: dict[str, Array]) -> Array:
    return 2 * (p["salary"] + p["commission"]) / 3 - 5000 * p["elevel"] - 20e3 > 0


def _agrawal10(p: dict[str, Array]) -> Array:
    equity = 0.1 * p["hvalue"] * np.maximum(p["hyears"] - 20, 0)
    return 2 * (p["salary"] + p["commission"]) / 3 - 5000 * p["elevel"] + equity / 5 - 10e3 > 0


def _agrawal(function: Callable[[dict[str, Array]], Array]) -> Callable[..., Made]:
    def made(n: int, random_state: int = 0) -> Made:
        rng = np.random.default_rng(random_state)
        person = _person(rng, n)
        y = function(person).astype(int)
        return np.column_stack(list(person.values())), np.where(rng.random(n) < 0.05, 1 - y, y)

    made.__doc__ = f"Agrawal, Imielinski & Swami 1993, function {function.__name__[8:]}, 5 % of the labels flipped."
    return made


agrawal2, agrawal4, agrawal6, agrawal8, agrawal10 = map(
    _agrawal, (_agrawal2, _agrawal4, _agrawal6, _agrawal8, _agrawal10)
)

_SEGMENTS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)


def led24(n: int, random_state: int = 0) -> Made:
    """Breiman et al. 1984: the digit on a display of seven segments, each wrong in 10 %, beside 17 random bits."""
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 10, n)
    lit = np.array([[int(c) for c in digit] for digit in _SEGMENTS])[y]
    lit = np.where(rng.random(lit.shape) < 0.1, 1 - lit, lit)
    return np.column_stack([lit, rng.integers(0, 2, (n, 17))]).astype(float), y


def mease_wyner(n: int, random_state: int = 0) -> Made:
    """Mease & Wyner 2008: P(1) is 0.1, or 0.9 where the first 5 of 20 uniform columns sum to more than 2.5."""
    rng = np.random.default_rng(random_state)
    X = rng.random((n, 20))
    return X, (rng.random(n) < np.where(X[:, :5].sum(axis=1) > 2.5, 0.9, 0.1)).astype(int)


def madelon(n: int, random_state: int = 0) -> Made:
    """Guyon 2003: clusters on the corners of a cube of five columns, five combinations of them, ten of noise."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n, 20, n_informative=5, n_redundant=5, n_clusters_per_class=4, flip_y=0.02, random_state=random_state
    )
    return X, y


def moons(n: int, random_state: int = 0) -> Made:
    """Two interleaving half circles with noise 0.3."""
    from sklearn.datasets import make_moons

    X, y = make_moons(n, noise=0.3, random_state=random_state)
    return X, y


def hyperplane(n: int, random_state: int = 0) -> Made:
    """Hulten, Spencer & Domingos 2001: a random hyperplane through ten uniform columns, 10 % of the labels flipped."""
    rng = np.random.default_rng(random_state)
    X, w = rng.random((n, 10)), rng.random(10)
    y = (X @ w > w.sum() / 2).astype(int)
    return X, np.where(rng.random(n) < 0.1, 1 - y, y)


def sea(n: int, random_state: int = 0) -> Made:
    """Street & Kim 2001: two of three uniform columns sum to at most 8; 10 % of the labels flipped."""
    rng = np.random.default_rng(random_state)
    X = 10 * rng.random((n, 3))
    y = (X[:, 0] + X[:, 1] <= 8).astype(int)
    return X, np.where(rng.random(n) < 0.1, 1 - y, y)


def mixture(n: int, random_state: int = 0) -> Made:
    """Hastie, Tibshirani & Friedman 2009: each class ten normals in the plane, whose means are drawn once."""
    rng = np.random.default_rng(random_state)
    means = np.stack([rng.normal(centre, 1.0, (10, 2)) for centre in ([1.0, 0.0], [0.0, 1.0])])
    y = rng.integers(0, 2, n)
    return means[y, rng.integers(0, 10, n)] + rng.normal(0, np.sqrt(0.2), (n, 2)), y
