"""Boost by majority: binomial weights, the potential, and the guarantee."""

from math import comb, log

import numpy as np
import pytest

from boostlab import BoostByMajorityClassifier, VoterPool
from boostlab.boosters.boost_by_majority import BoostByMajority, rounds_needed


def potential(k, gamma, i, r):
    """The chance to end wrong, from its definition."""
    n, p = k - i, 0.5 + gamma
    return sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(min(k // 2 - r, n) + 1))


@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("k", [1, 3, 11, 41])
def test_weights_are_the_binomials_and_potentials_recur(k, gamma):
    rule = BoostByMajority(gamma, k)
    for i in range(k):
        r = np.arange(i + 1)
        pot, later = rule.potential(i, r), rule.potential(i + 1, np.arange(i + 2))
        np.testing.assert_allclose(pot, [potential(k, gamma, i, int(x)) for x in r], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(pot, (0.5 - gamma) * later[:-1] + (0.5 + gamma) * later[1:], atol=1e-14)
        np.testing.assert_allclose(np.exp(rule.log_weight(i, r)), later[:-1] - later[1:], rtol=1e-9, atol=1e-14)
        for x in r:
            j = k // 2 - x
            exact = comb(k - i - 1, j) * (0.5 + gamma) ** j * (0.5 - gamma) ** (k - i - 1 - j) if j >= 0 else 0.0
            exact = exact if j <= k - i - 1 else 0.0
            assert np.exp(rule.log_weight(i, np.array([x])))[0] == pytest.approx(exact, rel=1e-11, abs=0)
    np.testing.assert_array_equal(rule.potential(k, np.arange(k + 1)), np.arange(k + 1) <= k // 2)


def test_many_rounds_do_not_underflow():
    # C(100000, j) is beyond any float; its logarithm is not.
    rule = BoostByMajority(0.01, 100_001)
    logs = rule.log_weight(0, np.array([0]))
    assert np.isfinite(logs).all()
    j, n = 50_000, 100_000
    assert logs[0] == pytest.approx(log(comb(n, j)) + j * log(0.51 * 0.49), rel=1e-9)


@pytest.mark.parametrize(("gamma", "eps"), [(0.05, 0.1), (0.1, 0.01), (0.2, 0.1), (0.3, 0.45), (0.49, 0.5)])
def test_rounds_needed_is_the_smallest(gamma, eps):
    k = rounds_needed(gamma, eps)
    assert k % 2 == 1
    assert potential(k, gamma, 0, 0) <= eps
    assert k == 1 or potential(k - 2, gamma, 0, 0) > eps


def test_every_round_and_the_guarantee(data, all_stumps, replay):
    X, codes = data(seed=1, n=120, noise=0.05)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    kept = 0
    for gamma, k in ((0.02, 61), (0.05, 101), (0.1, 41)):
        model = BoostByMajorityClassifier(gamma=gamma, n_estimators=k).fit(X, codes)
        assert (model.estimator_weights_ == 1.0).all()
        rule = BoostByMajority(gamma, k)
        mean = potential(k, gamma, 0, 0)
        for i, (before, h, _, after) in enumerate(replay(model, X)):
            r = np.rint((i + y * before) / 2).astype(int)
            w = np.exp(rule.log_weight(i, r))
            edge = (w * y * h).sum() / w.sum()
            assert edge == pytest.approx(np.abs(H @ (w * y)).max() / w.sum(), abs=1e-9)
            assert model.history_["error"][i] == pytest.approx((1 - edge) / 2, abs=1e-9)
            now = np.mean([potential(k, gamma, i + 1, int(x)) for x in np.rint((i + 1 + y * after) / 2)])
            assert model.history_["objective"][i] == pytest.approx(now, abs=1e-12)
            # It moves by (the error less 1/2 - gamma) times the weight.
            assert now - mean == pytest.approx(((1 - edge) / 2 - 0.5 + gamma) * w.mean(), abs=1e-12)
            kept += now <= mean + 1e-12
            mean = now
        violated = int((model.history_["error"] > 0.5 - gamma + 1e-12).sum())
        assert model.history_["violated"][-1] == violated
        code = model.stop_reason_.split(":")[0]
        assert (code == "assumption_violated") == (violated > 0)
        if not violated:
            assert (model.predict(X) != codes).mean() <= potential(k, gamma, 0, 0)
        if model.n_estimators_ == k:
            assert mean == pytest.approx((y * model.decision_function(X) < 0).mean(), abs=1e-12)
    assert kept > 50


def test_the_guarantee_with_voters_that_hold_the_assumption():
    # All 2^5 patterns of five voters: every distribution has a voter with an edge, because their majority errs nowhere
    # on the rows where at least three are right.
    agree = np.array([[1 if b >> j & 1 else -1 for b in range(32)] for j in range(5)])
    rows = np.flatnonzero(agree.sum(axis=0) > 0)
    y = np.where(np.arange(len(rows)) % 2, 1, -1)
    votes = agree[:, rows] * y
    X = np.arange(len(rows))[:, None]
    pool = VoterPool([lambda X, v=v: v[X[:, 0].astype(int)].astype(float) for v in votes])
    # The majority's margin is at least 1/5, so by the minimax theorem some voter has an edge of 1/5: gamma = 1/10.
    model = BoostByMajorityClassifier(pool, gamma=0.1, target_error=0.02, strict=True, n_estimators=500).fit(X, y)
    assert model.stop_reason_.split(":")[0] in {"time_up", "given_up"}
    assert model.history_["violated"][-1] == 0
    assert (np.diff(model.history_["objective"]) <= 1e-12).all()
    assert (model.predict(X) != y).mean() <= 0.02


def test_strict_stops_where_the_assumption_fails(data):
    X, y = data(seed=2, n=200, noise=0.3)
    loose = BoostByMajorityClassifier(gamma=0.15, n_estimators=61).fit(X, y)
    strict = BoostByMajorityClassifier(gamma=0.15, n_estimators=61, strict=True).fit(X, y)
    first = int((loose.history_["error"] > 0.35).argmax())
    assert loose.stop_reason_.startswith("assumption_violated")
    assert strict.stop_reason_.startswith("assumption_violated: 1 voters err on more than 0.35 of the weight")
    assert strict.n_estimators_ == first < loose.n_estimators_


def test_rows_beyond_hope_weigh_nothing():
    rule = BoostByMajority(0.1, 11)
    w = np.exp(rule.log_weight(8, np.arange(9)))  # three votes to come, six needed
    assert (w[:3] == 0).all()
    assert (w[3:6] > 0).all()
    assert (w[6:] == 0).all()


def test_the_plan_follows_n_estimators_and_the_target(data):
    X, y = data(seed=3, n=100, noise=0.1)
    assert BoostByMajorityClassifier(n_estimators=100).fit(X, y).n_planned_ == 99
    planned = BoostByMajorityClassifier(gamma=0.1, target_error=0.1, n_estimators=100).fit(X, y)
    assert planned.n_planned_ == rounds_needed(0.1, 0.1) == 41
    assert planned.n_estimators_ <= 41
    with pytest.raises(ValueError, match=r"gamma=0.05 and target_error=0.01 need 539 rounds, and n_estimators is 100"):
        BoostByMajorityClassifier(target_error=0.01).fit(X, y)
    with pytest.raises(ValueError, match="more than a million rounds"):
        BoostByMajorityClassifier(gamma=1e-9, target_error=0.01).fit(X, y)
    # A plan for more rounds is another plan: a warm start begins anew.
    warm = BoostByMajorityClassifier(n_estimators=11, warm_start=True).fit(X, y).set_params(n_estimators=21).fit(X, y)
    whole = BoostByMajorityClassifier(n_estimators=21).fit(X, y)
    assert warm.decision_function(X).tobytes() == whole.decision_function(X).tobytes()
    assert warm.n_planned_ == 21


def test_an_unlucky_draw_is_drawn_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(rng.random(300) < 0.4, rng.integers(0, 2, 300), X[:, 0] > 0)
    drawn = BoostByMajorityClassifier(resample=True, random_state=0, gamma=0.02, n_estimators=201)
    assert drawn.set_params(max_restarts=0).fit(X, y).n_estimators_ < 100
    assert drawn.set_params(max_restarts=10).fit(X, y).n_estimators_ > 190
    assert drawn.history_["violated"][-1] == (drawn.history_["error"] > 0.48 + 1e-12).sum()  # of those that were kept
