"""FilterBoost on a table: the batch form, and the oracle form in which the table is the oracle."""

from math import ceil, log

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from boostlab import FilterBoostClassifier, Stop
from boostlab.boosters.filterboost import FilterBoostOracle


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_batch_rounds(data, all_stumps, replay, noise):
    X, codes = data(seed=1, n=120, noise=noise)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = FilterBoostClassifier(target_error=0.0, n_estimators=150).fit(X, codes)
    loss = log(2)
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        q = 1 / (1 + np.exp(y * before))
        assert (y * before <= 0).mean() <= 2 * q.mean()
        edge = (q * y * h).sum() / q.sum()
        assert edge == pytest.approx(np.abs(H @ (q * y)).max() / q.sum(), abs=1e-12)
        assert alpha == pytest.approx(np.arctanh(edge), rel=1e-9)
        now = np.logaddexp(0, -y * after).mean()
        assert now <= loss - q.mean() * (1 - np.sqrt(1 - edge**2)) + 1e-12 < loss
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-10)
        loss = now
    assert model.n_estimators_ > 50


def test_batch_stops_by_its_bound(data):
    X, y = data(seed=2, n=150, noise=0.0)
    model = FilterBoostClassifier(target_error=0.1, n_estimators=1000).fit(X, y)
    assert model.stop_reason_.startswith("tolerance")
    q = [1 / (1 + np.exp((2 * y - 1) * F)) for F in model.staged_decision_function(X)]
    assert 2 * q[-1].mean() <= 0.1 < 2 * q[-2].mean()
    assert (model.predict(X) != y).mean() <= 0.1
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))), rtol=1e-12)


# -- the oracle --------------------------------------------------------------------------------------------------------


def oracle(**kwargs):
    return FilterBoostClassifier(mode="oracle", **{"random_state": 0, "n_estimators": 60, **kwargs})


def test_oracle_edges_are_below_the_true_ones_and_not_by_much(data, replay):
    # With probability 1 - delta every estimate g of an edge gamma has gamma (1 - tau) / (1 + tau) <= g <= gamma.
    X, codes = data(seed=3, n=300, noise=0.1)
    y = 2.0 * codes - 1
    model = oracle(tau=0.5, delta=0.1).fit(X, codes)
    assert model.n_estimators_ > 10
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        q = 1 / (1 + np.exp(y * before))
        edge = (q * y * h).sum() / q.sum()
        assert model.history_["error"][t] == pytest.approx((1 - edge) / 2, abs=1e-12)
        assert np.tanh(alpha) == pytest.approx(model.history_["edge"][t], rel=1e-9)
        assert edge * 0.5 / 1.5 <= np.tanh(alpha) <= edge
        assert np.logaddexp(0, -y * after).mean() < np.logaddexp(0, -y * before).mean()
        tested, drawn = model.history_["tested"][t], model.history_["drawn"][t]
        assert drawn >= tested + ceil(300 * log(t + 3))


def test_oracle_draws_as_many_as_the_filter_rate_asks(data):
    # The filter accepts the mean of q of what is drawn: 1/2 in round 1.
    X, y = data(seed=4, n=200)
    model = oracle(n_estimators=1, n_examples=20_000).fit(X, y)
    m = ceil(20_000 * log(3))
    drawn = model.history_["drawn"][0]
    assert 2 * (m + model.history_["tested"][0]) - 1200 < drawn < 4 * m
    learnt_from = []

    def look(s):
        learnt_from.append(s.own.calls.m)

    oracle(n_estimators=4, callbacks=look).fit(X, y)
    assert learnt_from == [ceil(300 * log(t + 2)) for t in (1, 2, 3, 4)]


def test_oracle_ends_by_its_own_test(data):
    X, y = data(seed=5, n=300, noise=0.0)
    model = oracle(target_error=0.3, n_estimators=1000).fit(X, y)
    assert model.stop_reason_.startswith("tolerance: none of")
    assert "with confidence 0.9" in model.stop_reason_
    assert (model.predict(X) != y).mean() <= 0.3
    q = 1 / (1 + np.exp((2 * y - 1) * model.decision_function(X)))
    assert q.mean() < 0.15  # an error of 0.3 would have at least this


def test_oracle_ends_on_pure_noise():
    rng = np.random.default_rng(6)
    X = np.repeat(rng.normal(size=(500, 2)), 2, axis=0)
    y = np.tile([0, 1], 500)  # every row with both labels
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = oracle(max_tested=20_000, max_restarts=3).fit(X, y)
    assert model.stop_reason_ == (
        "no_edge: 3 restarts in one round all failed; the last: no edge was found in 20000 filtered examples"
    )


def test_oracle_is_one_fit_for_one_seed_and_goes_on(data):
    X, y = data(seed=7, n=200, noise=0.1)
    one, two, other = (oracle(n_estimators=12, random_state=r).fit(X, y) for r in (0, 0, 1))
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()
    assert one.decision_function(X).tobytes() != other.decision_function(X).tobytes()
    longer = oracle(n_estimators=5, warm_start=True).fit(X, y).set_params(n_estimators=12).fit(X, y)
    assert longer.decision_function(X).tobytes() == one.decision_function(X).tobytes()
    early = oracle(early_stopping=True, n_iter_no_change=3).fit(X, y)
    assert early.n_estimators_ >= 1


def test_the_numbers_of_the_paper():
    rule = FilterBoostOracle(target_error=0.1, delta=0.2)
    calls = rule.calls(2)  # round t = 3: delta_t = delta / (3 t (t + 1))
    assert calls.delta == pytest.approx(0.2 / 36)
    assert calls.limits(2).tolist() == [ceil(20 * log(2 / calls.delta)), ceil(20 * log(6 / calls.delta))]
    assert isinstance(rule.judged(None, calls), Stop)
    with pytest.raises(ValueError, match="target_error=0 would never end"):
        oracle(target_error=0).fit([[0], [1]], [0, 1])
