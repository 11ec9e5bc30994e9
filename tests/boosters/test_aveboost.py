"""AveBoost against rounds by hand, the mean of AdaBoost's weights, and a plain twin."""

from __future__ import annotations

from itertools import pairwise
from math import log

import numpy as np
import pytest

from boostlab import AveBoostClassifier


def test_two_rounds_by_hand():
    """Six rows; d_1 = 1/6.

    h_1 is + up to 2 and errs on row 6: eps = 1/6; c_1 = 1/10 where right and 1/2 on row 6; d_2 = 2/15 and 1/3.
    h_2 is + from 6 on and errs on rows 1 and 2: eps = 4/15; c_2 = 1/4 there, 1/11 on rows 3 to 5, 5/22 on row 6; so
    d_3 = (2 d_2 + c_2) / 3 is 31/180, 59/495 and 59/198, and h_3 = h_1 has the error 59/198.
    """
    X, y = np.arange(1.0, 7.0)[:, None], np.array([1, 1, 0, 0, 0, 1])
    seen = []
    model = AveBoostClassifier(n_estimators=3, callbacks=lambda s: seen.append(s.column("d") / len(y))).fit(X, y)
    assert [(v.threshold, v.left) for v in model.estimators_] == [(2.5, 1.0), (5.5, -1.0), (2.5, 1.0)]
    np.testing.assert_allclose(model.history_["error"], [1 / 6, 4 / 15, 59 / 198], rtol=1e-14)
    expected = [log(5) / 2, log(11 / 4) / 2, log(139 / 59) / 2]
    np.testing.assert_allclose(model.estimator_weights_, expected, rtol=1e-14)
    np.testing.assert_allclose(seen[0], [2 / 15] * 5 + [1 / 3], rtol=1e-14)
    np.testing.assert_allclose(seen[1], [31 / 180] * 2 + [59 / 495] * 3 + [59 / 198], rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_means_and_voters_the_best(data, all_stumps, weighted):
    """A plain twin: every round's voter has the smallest error under the mean of d_1, c_1, ..., c_t."""
    X, codes = data(seed=4, n=80, noise=0.2)
    y, H = 2.0 * codes - 1, all_stumps(X).H
    mass = np.random.default_rng(1).integers(1, 4, len(y)) if weighted else np.ones(len(y))
    model = AveBoostClassifier(n_estimators=60).fit(X, codes, mass if weighted else None)
    made = [mass / mass.sum()]
    for voter, alpha, error in zip(model.estimators_, model.estimator_weights_, model.history_["error"], strict=True):
        d, h = np.mean(made, axis=0), voter.predict(X)
        assert d.sum() == pytest.approx(1, abs=1e-12)
        assert error == pytest.approx(d[h != y].sum(), abs=1e-12)
        edges = H @ (d * y)
        assert 1 - 2 * error == pytest.approx(np.abs(edges).max(), abs=1e-12)
        assert alpha == pytest.approx(0.5 * log((1 - error) / error), rel=1e-10)
        made.append(d / np.where(h == y, 2 * (1 - error), 2 * error))
        assert made[-1][h != y].sum() == pytest.approx(0.5, abs=1e-12)
    loss = np.average(np.exp(-y * model.decision_function(X)), weights=mass)
    assert model.history_["objective"][-1] == pytest.approx(loss, rel=1e-11)


def test_weights_are_tamer_than_adaboosts(data):
    """In round t a row gains at most the factor 1 + (1 / (2 eps) - 1) / (t + 1); under AdaBoost it is 1 / (2 eps)."""
    X, y = data(seed=2, n=100, noise=0.2)
    seen = []
    model = AveBoostClassifier(n_estimators=50, callbacks=lambda s: seen.append(s.column("d").copy())).fit(X, y)
    for t, (before, after) in enumerate(pairwise(seen), start=2):
        eps = model.history_["error"][t - 1]
        assert (after / before <= 1 + (1 / (2 * eps) - 1) / (t + 1) + 1e-12).all()


def test_it_ends_without_an_edge_and_with_a_perfect_voter():
    model = AveBoostClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.stop_reason_.startswith("perfect")
    assert model.n_estimators_ == 1
    with pytest.warns(match="kept no voter"):
        assert AveBoostClassifier().fit([[0.0], [0.0]], [0, 1]).stop_reason_.startswith("no_edge")


def test_many_rounds_stay_finite(data):
    X, y = data(seed=6, n=60, noise=0.1)
    model = AveBoostClassifier(n_estimators=2000).fit(X, y)
    assert all(np.isfinite(column).all() for column in model.history_.values())
    assert np.isfinite(model.decision_function(X)).all()
