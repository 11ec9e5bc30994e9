"""Data and slow, plain twins that the tests of the rules share."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest


def data(seed=0, n=100, d=4, noise=0.15, n_classes=2):
    """Continuous features and labels 0..n_classes-1 from a curved boundary; a share of the labels is replaced."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] - 0.5 * X[:, -1] + 0.4 * X[:, 0] * X[:, 1]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    flip = rng.random(n) < noise
    y[flip] = (y[flip] + rng.integers(1, n_classes, flip.sum())) % n_classes
    return X, y


@dataclass
class Stumps:
    """Every stump with opposite leaves on a table: row k votes H[k], which is +1 above the cut."""

    H: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray

    def callables(self):
        """The same stumps as functions of X."""
        return [
            lambda X, j=j, c=c: np.where(X[:, j] > c, 1.0, -1.0)
            for j, c in zip(self.feature.tolist(), self.threshold.tolist(), strict=True)
        ]


def all_stumps(X):
    """Enumerate the stumps, feature by feature, cut by cut, halfway between distinct values."""
    rows = []
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        rows += [(j, (a + b) / 2) for a, b in pairwise(values.tolist())]
    feature = np.array([j for j, _ in rows])
    threshold = np.array([c for _, c in rows])
    columns = X[:, feature].T
    H = np.where(columns > threshold[:, None], 1.0, -1.0)
    return Stumps(H, feature, threshold)


@pytest.fixture(name="data")
def _data():
    return data


@pytest.fixture(name="all_stumps")
def _all_stumps():
    return all_stumps


def replay(model, X):
    """Yield (F before, h, alpha, F after) of every round, scores as arrays of staged_decision_function."""
    before = np.zeros(len(X))
    for voter, alpha, after in zip(
        model.estimators_, model.estimator_weights_, model.staged_decision_function(X), strict=True
    ):
        yield before, np.asarray(voter.predict(X), float), float(alpha), after
        before = after


@pytest.fixture(name="replay")
def _replay():
    return replay


def same_stumps(one, two):
    """Whether two models hold the same stumps in the same order."""
    key = [
        [(s.feature, s.threshold, np.ravel(s.left).tolist(), np.ravel(s.right).tolist()) for s in m.estimators_]
        for m in (one, two)
    ]
    return key[0] == key[1]


@pytest.fixture(name="same_stumps")
def _same_stumps():
    return same_stumps
