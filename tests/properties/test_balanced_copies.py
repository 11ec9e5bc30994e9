"""Weight k is k copies of a row, to the bit, also where classes are balanced or weighted."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from boostlab import ARBoostClassifier
from boostlab.backend.cpu.masses import Masses
from variants import PROGRAMS, every

CLASSES = ["balanced", {0: 0.3, 1: 1.7}, {0: 2, 1: 3}, {0: 0.1, 1: 0.1}]


def table(seed, n=14, n_classes=2):
    """Few values, so that stumps tie."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 3)).astype(float)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    return X, y, rng.integers(1, 6, n)


def scores_of_both(make, X, y, counts, Z):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = make().fit(X, y, counts)
        copied = make().fit(X.repeat(counts, axis=0), y.repeat(counts))
    return weighted.decision_function(Z), copied.decision_function(Z)


@every
def test_every_booster(make):
    name = getattr(make, "__name__", None) or make.func.__name__
    if name in PROGRAMS:
        pytest.skip("the coefficients are a program's, equal to its tolerance only")
    for seed in range(len(CLASSES)):
        X, y, counts = table(seed)
        for rounds, weights in ((1, "balanced"), (7, CLASSES[seed]))[seed % 2 :]:
            fixed = dict(n_estimators=rounds, class_weight=weights, random_state=0, n_jobs=1)
            one, two = scores_of_both(lambda f=fixed: make(**f), X, y, counts, X)
            assert np.array_equal(one, two), (seed, rounds, weights)


def test_arboost_of_one_round():
    """Ties between stumps were decided by rounding: scores 1.99 apart."""
    for seed in range(100):
        X, y, counts = table(seed)
        one, two = scores_of_both(lambda: ARBoostClassifier(n_estimators=1, class_weight="balanced"), X, y, counts, X)
        assert np.array_equal(one, two), seed


@pytest.mark.parametrize("multiclass", ["auto", "ovr", "ovo"])
@pytest.mark.parametrize("weights", ["balanced", {0: 0.3, 1: 1.7, 2: 0.5}])
def test_three_classes(multiclass, weights):
    for seed in range(10):
        X, y, counts = table(seed, 20, 3)
        fixed = dict(n_estimators=5, class_weight=weights, multiclass=multiclass)
        one, two = scores_of_both(lambda f=fixed: ARBoostClassifier(**f), X, y, counts, X)
        assert np.array_equal(one, two), seed


def test_rows_with_counts_and_masses():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 30))
        counts, unit = rng.integers(1, 9, n), rng.random(n).round(2) + 0.01
        rows, copies = Masses(n, unit, counts.astype(float)), Masses(int(counts.sum()), unit.repeat(counts))
        x = rng.normal(size=n)
        assert rows.n == copies.n
        assert rows.n_examples == copies.n_examples == counts.sum()
        assert rows.total(x) == copies.total(x.repeat(counts))
        assert rows.sums(x) == copies.sums(x.repeat(counts))
        part = np.flatnonzero(rng.random(n) < 0.7)
        if len(part):
            assert rows.take(part).total(x[part]) == copies.take(
                np.flatnonzero(np.isin(np.arange(n).repeat(counts), part))
            ).total(x[part].repeat(counts[part]))
        np.testing.assert_allclose(rows.masses, counts * unit, rtol=1e-15)
    assert Masses(3, np.array([2.0, 1.0, 1.0]), np.array([1.0, 5.0, 2.0])).counts.tolist() == [2, 5, 2]
    assert Masses(2, np.ones(2), np.ones(2)).uniform
