"""Estimators that record what they are trained on, and how the tests of the adapter ask for a voter."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from boostlab.backend import CpuSample, Masses
from boostlab.contract import Stop
from boostlab.data.table import Table
from boostlab.learners.adapter import EstimatorLearner

SEEN = []  # what the recording estimators were given, since every round trains a clone


class Weighted(ClassifierMixin, BaseEstimator):
    """Says the heavier class, and records what it was trained on."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        SEEN.append((X, y, sample_weight))
        self.classes_ = np.unique(y)
        self.label_ = int((sample_weight * (2 * y - 1)).sum() > 0)
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


class Unweighted(ClassifierMixin, BaseEstimator):
    """Nearest class mean of the first column; takes no weights."""

    def fit(self, X, y):
        SEEN.append((X, y, None))
        low, high = (X[y == label, 0].mean() for label in (0, 1))
        self.middle_, self.above_ = (low + high) / 2, int(high >= low)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > self.middle_, self.above_, 1 - self.above_)


def thirty_rows():
    """Return a table, labels and tiny weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0), rng.random(30) * 1e-5


def best(estimator, X, task, mass=None, seed=0):
    rng = np.random.default_rng(seed)
    found = EstimatorLearner(estimator).begin(CpuSample(Table(X), Masses(len(X), mass)), rng).best(task)
    return found if isinstance(found, Stop) else found.voter
