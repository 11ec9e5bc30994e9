"""The fast lane gives the model of the general loop, to the bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from boostlab import AdaBoostClassifier, DecisionStump, L1BoostClassifier
from boostlab.data import threads
from boostlab.march import March


def table(rng, kind, n, d):
    X = rng.normal(size=(n, d)).round(rng.integers(0, 3))
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "sparse":
        return sparse.csr_array(np.where(rng.random(X.shape) < 0.7, 0.0, X))
    if kind == "categories":
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
        frame["c"] = pd.Categorical(rng.choice(list("abcde"), n))
        return frame
    return X


def by_both(X, y, weight, params, monkeypatch, run=lambda model, *data: model.fit(*data), cls=AdaBoostClassifier):
    """Return the model of the fast lane and that of the general loop."""
    models = [run(cls(**params), X, y, weight)]
    with monkeypatch.context() as patch:
        patch.setattr(March, "of", classmethod(lambda cls, training: None))
        models.append(run(cls(**params), X, y, weight))
    return models


def assert_same(one, two):
    assert one.stop_reason_ == two.stop_reason_
    assert repr(one.estimators_) == repr(two.estimators_)
    assert np.array_equal(one.estimator_weights_, two.estimator_weights_)
    assert one.history_.keys() == two.history_.keys()
    for name in one.history_.keys() - {"seconds"}:
        assert np.array_equal(one.history_[name], two.history_[name], equal_nan=True), name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # no voter kept
@pytest.mark.parametrize("kind", ["numbers", "missing", "sparse", "categories"])
@pytest.mark.parametrize("n_jobs", [1, 3])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_the_same_model_to_the_bit(kind, n_jobs, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 150)), int(rng.choice([1, 3, 8, 11, 26]))
    X = table(rng, kind, n, d)
    y = np.append([0, 1], rng.integers(0, 2, n - 2)) if rng.random() < 0.3 else np.arange(n) % 3 == 0
    weight = [None, rng.integers(1, 4, n), rng.random(n) + 0.01][rng.integers(3)]
    params = {
        "n_estimators": int(rng.integers(1, 120)),
        "n_jobs": n_jobs,
        "max_bins": int(rng.choice([2, 7, 255, 400])),
    }
    cls, more = [
        (AdaBoostClassifier, {}),
        (AdaBoostClassifier, {"learning_rate": 0.1}),
        (AdaBoostClassifier, {"fixed_step": 0.3}),
        (AdaBoostClassifier, {"fixed_step": 30.0}),
        (L1BoostClassifier, {"beta": 0.1}),
        (L1BoostClassifier, {"beta": 0.0, "penalty": "additive"}),
    ][rng.integers(6)]
    params |= more
    if kind != "sparse" and rng.random() < 0.3:
        params["estimator"] = DecisionStump(polarity=str(rng.choice(["+", "-"])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "WORTH", 1)
        assert_same(*by_both(X, y, weight, params, patch, cls=cls))


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n) > 0.4)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_whoever_watches_does_not_change_it(n_jobs, monkeypatch):
    monkeypatch.setattr(threads, "WORTH", 1)
    X, y = noisy()
    for params in ({"early_stopping": True, "n_iter_no_change": 50}, {"callbacks": lambda state: None}):
        one, two = by_both(X, y, None, {"n_estimators": 80, "random_state": 0, "n_jobs": n_jobs, **params}, monkeypatch)
        assert_same(one, two)
    alone = AdaBoostClassifier(n_estimators=80, n_jobs=n_jobs).fit(X, y)
    assert_same(one, alone)


def test_a_warm_start_goes_on_where_it_stopped(monkeypatch):
    X, y = noisy()

    def in_steps(model, X, y, weight):
        for rounds in (1, 7, 60):
            model.set_params(n_estimators=rounds).fit(X, y, weight)
        return model

    one, two = by_both(X, y, None, {"warm_start": True}, monkeypatch, in_steps)
    assert_same(one, two)
    assert_same(one, AdaBoostClassifier(n_estimators=60).fit(X, y))


def test_scores_that_were_looked_at_stay_as_they_were():
    X, y = noisy()
    seen = []
    AdaBoostClassifier(n_estimators=20, callbacks=lambda state: seen.append(state.F)).fit(X, y)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    for kept, staged in zip(seen, model.staged_decision_function(X), strict=True):
        np.testing.assert_allclose(kept, staged, rtol=0, atol=1e-12)
    assert not seen[0].flags.writeable


def test_ctrl_c_leaves_whole_rounds(monkeypatch):
    """An interrupt between the pass over the rows and the record of the round: what is kept is a prefix."""
    X, y = noisy()
    whole = AdaBoostClassifier(n_estimators=40).fit(X, y)
    settle, calls = March._settle, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        settle(self, *args)

    model = AdaBoostClassifier(n_estimators=40, warm_start=True, callbacks=lambda state: None)
    with monkeypatch.context() as patch:
        patch.setattr(March, "_settle", interrupted)
        model.fit(X, y)
    assert model.stop_reason_.startswith("interrupted")
    assert model.n_estimators_ == 2
    assert repr(model.estimators_) == repr(whole.estimators_[:2])
    assert_same(model.fit(X, y), whole)


def test_the_fast_lane_is_taken(monkeypatch):
    """The tests above would hold as well if nobody took it."""
    X, y = noisy(5_000)
    taken = {"one": 0, "many": 0}

    def counting(name, function):
        def counted(self, *args):
            made = function(self, *args)
            taken[name] += 1
            return made

        return counted

    monkeypatch.setattr(March, "_one", counting("one", March._one))
    monkeypatch.setattr(March, "_many", counting("many", March._many))
    AdaBoostClassifier(n_estimators=20, n_jobs=1).fit(X, y)
    assert taken["many"] > 0
    taken["many"] = taken["one"] = 0
    monkeypatch.setattr(threads, "WORTH", 1)
    AdaBoostClassifier(n_estimators=20, n_jobs=2).fit(X, y)
    assert taken == {"one": 0, "many": 1}
