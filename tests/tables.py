"""Small tables for tests."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from boostlab.backend import CpuRows, Masses
from boostlab.contract import Rule
from boostlab.data.table import Bins, Table
from boostlab.engine.training import Training
from boostlab.learners import DecisionStump

# Every numeric type of numpy, and both byte orders.
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i2", ">u4", ">f4", ">f8"]


def noisy_table(n=300, d=6, flips=0.1, seed=0):
    """A smooth binary problem with flipped labels and a column of few distinct values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = np.round(X[:, -1])
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * X[:, -1] > 0.7, 1, 0)
    return X, np.where(rng.random(n) < flips, 1 - y, y)


def sparse_numbers(n=150, seed=0, missing=True):
    """Mostly zeros, as an array: values of both signs, an empty and a full column, empty rows, missing values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7)) * (rng.random((n, 7)) < 0.35)
    X[:, 1] = np.round(2 * X[:, 1])
    X[:, 2] = np.abs(X[:, 2])
    X[:, 4] = 0.0
    X[:, 5] = np.round(rng.normal(size=n), 1) + 0.05
    y = (X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * X[:, 5] + 0.3 * rng.normal(size=n) > 0).astype(int)
    X[:5] = 0.0
    if missing:
        X[rng.random(X.shape) < [0.1, 0.1, 0, 0, 0, 0.05, 0]] = np.nan
    return X, y


def stored(X, seed=0):
    """The CSR matrix of an array, with a few of its zeros stored."""
    X = np.asarray(X)
    kept = (X != 0) | (np.random.default_rng(seed).random(X.shape) < 0.05)
    i, j = np.nonzero(kept)
    return sparse.csr_array((X[kept], j, np.searchsorted(i, np.arange(len(X) + 1))), shape=X.shape)


def class_numbers(y):
    """Return classes as boosters show them to learners: kernels need not be compiled for another type."""
    y = np.asarray(y).astype(np.int8)
    y.flags.writeable = False
    return y


def rows_in_memory(F, h, y=1, mass=None):
    """Return rows with these scores, votes, labels -1 and +1 and masses, as a rule's formulas see them."""
    F = np.asarray(F, float)
    codes = np.broadcast_to((np.asarray(y) > 0).astype(int), F.shape).copy()
    rows = CpuRows(Rule(), Table(np.zeros((len(F), 1))), Masses(len(F), mass), codes, 2)
    rows.scores.own[...] = F
    rows.h = np.asarray(h)
    return rows


def training_of(rule, learner, table, masses, codes, n_classes, **settings):
    """Return a training on rows in memory."""
    return Training(rule, learner, CpuRows(rule, table, masses, codes, n_classes), **settings)


def train(rule, X, codes, learner=None, rounds=30, mass=None, **settings):
    """Run a rule on a table, without an estimator around it."""
    rows = Masses(len(codes), mass)
    table = Table.of(X, Bins.fit(X, rows))
    training = training_of(
        rule, learner or DecisionStump(), table, rows, codes, int(codes.max()) + 1, horizon=rounds, **settings
    )
    return training, training.run(rounds)
