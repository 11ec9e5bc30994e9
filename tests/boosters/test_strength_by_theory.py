"""QuadBoost's strength by theory: the Rademacher complexity of the voters."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from boostlab import QuadBoostClassifier, VoterPool
from boostlab.model_io import load, save
from tables import noisy_table


@pytest.mark.parametrize("learner", [None, VoterPool(stumps_per_feature=4)], ids=["stumps", "pool"])
def test_strength_by_theory(learner):
    X, y = noisy_table(400, flips=0.0, seed=1)
    kwargs = dict(regularizer="l1", n_estimators=50, random_state=3)
    model = QuadBoostClassifier(learner, strength="theory", **kwargs).fit(X, y)
    given = QuadBoostClassifier(learner, strength=model.strength_, **kwargs).fit(X, y)
    assert np.array_equal(model.decision_function(X), given.decision_function(X))
    assert model.n_estimators_ > 0
    order = np.random.default_rng(0).permutation(len(y))
    assert (
        QuadBoostClassifier(learner, strength="theory", **kwargs).fit(X[order], y[order]).strength_ == model.strength_
    )
    # Twice the mean of the largest correlation with random signs, from signs of our own.
    rng = np.random.default_rng(9)
    voters = learner or VoterPool(
        [lambda X, j=j, c=c: np.where(X[:, j] > c, 1, -1) for j in range(6) for c in X[:-1, j]]
    )
    H = np.array([m(X) if callable(m) else m.predict(X) for m in (voters.voters or voters._stumps(X))])
    sups = [np.abs(H @ rng.choice([-1, 1], len(y))).max() / len(y) for _ in range(200)]
    assert abs(model.strength_ - 2 * np.mean(sups)) < 4 * 2 * np.std(sups) * sqrt(2 / 200)


@pytest.mark.parametrize("form", ["l2", "linf"])
@pytest.mark.parametrize("learner", [None, VoterPool(stumps_per_feature=4)], ids=["stumps", "pool"])
def test_strengths_that_rise_with_the_voters(form, learner, tmp_path):
    X, y = noisy_table(400, flips=0.0, seed=1)
    kwargs = dict(n_estimators=25, random_state=3, strength="theory")
    R = QuadBoostClassifier(learner, regularizer="l1", **kwargs).fit(X, y).strength_ / 2
    model = QuadBoostClassifier(learner, regularizer=form, **kwargs).fit(X, y)
    assert model.strength_ == pytest.approx(4 * R, rel=1e-12)
    assert model.n_estimators_ >= 3
    s, F, alphas = np.where(y == 1, 1.0, -1.0), np.zeros(len(y)), []
    for n, (voter, alpha, said) in enumerate(
        zip(model.estimators_, model.estimator_weights_, model.history_["objective"], strict=True), start=1
    ):
        h = voter.predict(X)
        d, M = ((s - F) * h).mean(), max(alphas, default=0.0)
        grid = np.sort(
            np.append(np.linspace(0, 2 * d, 20_001), M)
        )  # by brute force: the step that minimises risk and penalty
        risk = ((s - F) ** 2).mean() - 2 * grid * d + grid**2
        if form == "l2":
            cost = risk + 4 * R * np.sqrt(n) * (np.sum(np.square(alphas)) + grid**2)
        else:
            cost = risk + 4 * R * n * np.maximum(M, grid)
        assert alpha == pytest.approx(grid[cost.argmin()], abs=2e-4 * d)
        assert said == pytest.approx(cost.min(), abs=1e-6)
        F, alphas = F + alpha * h, [*alphas, alpha]
    save(model, tmp_path / "m.boost")
    again = load(tmp_path / "m.boost")
    assert again.strength_ == model.strength_
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


def test_theory_where_it_applies(tmp_path):
    X, y = noisy_table(100, seed=1)
    with pytest.raises(ValueError, match=r'strength="theory" is for a regularizer'):
        QuadBoostClassifier(strength="theory").fit(X, y)
    for form in ("l2", "linf"):
        for other in ({"mode": "coordinate"}, {"criterion": "risk"}):
            with pytest.raises(ValueError, match='is for mode="stagewise" and criterion="correlation"; give a number'):
                QuadBoostClassifier(VoterPool(), regularizer=form, strength="theory", **other).fit(X, y)
    pool = VoterPool(stumps_per_feature=2)
    model = QuadBoostClassifier(pool, regularizer="l1", strength="theory", mode="coordinate", random_state=0).fit(X, y)
    r = np.where(y == 1, 1.0, -1.0) - model.decision_function(X)
    correlations = [abs((r * m.predict(X)).mean()) for m in pool._stumps(X)]
    assert max(correlations) == pytest.approx(model.strength_, abs=1e-8)
    save(model, tmp_path / "m.boost")
    assert load(tmp_path / "m.boost").strength_ == model.strength_
