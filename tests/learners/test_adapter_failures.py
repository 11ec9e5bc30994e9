"""Estimators whose fits fail: drawn again, or the end of training, which keeps its rounds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostlab.backend import Masses
from boostlab.boosters.adaboost import AdaBoost
from boostlab.data.table import Table
from boostlab.learners.adapter import EstimatorLearner
from learners.recording import SEEN, Unweighted
from tables import training_of


class Moody(Unweighted):
    """Refuses some fits."""

    refused = ()

    def fit(self, X, y):
        if len(SEEN) in self.refused:
            SEEN.append("refused")
            raise ValueError("not today")
        return super().fit(X, y)


class MoodyWeighted(DecisionTreeClassifier):
    """Refuses all fits after the second."""

    def fit(self, X, y, sample_weight=None):
        if len(SEEN) == 2:
            raise ValueError("not today")
        SEEN.append(0)
        return super().fit(X, y, sample_weight)


def moody_training(data, learner, restarts=3):
    X, y, _ = data
    return training_of(
        AdaBoost(),
        EstimatorLearner(learner),
        Table(X),
        Masses(30),
        (y > 0).astype(int),
        2,
        horizon=5,
        max_restarts=restarts,
        rng=np.random.default_rng(3),
    )


def test_an_estimator_that_never_worked_says_why(data, monkeypatch):
    monkeypatch.setattr(Moody, "refused", range(100))
    training = moody_training(data, Moody())
    with pytest.raises(ValueError, match="not today"):
        training.run(5)
    assert training.state.t == 0


def test_a_fit_that_fails_on_a_draw_is_drawn_again(data, monkeypatch):
    monkeypatch.setattr(Moody, "refused", (1, 2))
    training = moody_training(data, Moody())
    training.run(3)
    assert SEEN[1:3] == ["refused"] * 2
    assert training.state.t == 3


def test_draws_that_all_fail_end_training_and_keep_the_rounds(data, monkeypatch):
    monkeypatch.setattr(Moody, "refused", range(1, 100))
    training = moody_training(data, Moody())
    stop = training.run(5)
    assert training.state.t == 1
    assert SEEN.count("refused") == 4
    assert str(stop) == (
        "solver_failed: 3 restarts in one round all failed; the last: Moody could not be fitted: not today"
    )


def test_a_weighted_fit_that_fails_ends_training_and_keeps_the_rounds(data):
    training = moody_training(data, MoodyWeighted(max_depth=1))
    stop = training.run(5)
    assert training.state.t == 2
    assert str(stop) == "solver_failed: MoodyWeighted could not be fitted: not today"
