"""Many rounds in one compiled call give the model of the general loop, to the bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from boostlab import AdaBoostClassifier, DecisionStump, L1BoostClassifier
from boostlab.backend import CpuRows
from boostlab.backend.cpu.fused import FusedRounds
from boostlab.backend.cpu.threads import AtOnce
from boostlab.engine.training import Training


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


def without_calls(model, *data):
    """Fit with the same rule, whose rounds the general loop takes one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CpuRows, "fused", lambda *args: None)
        return model.fit(*data)


def by_both(X, y, weight, params, run=lambda fit, model, *data: fit(model, *data), cls=AdaBoostClassifier):
    """Return the model of compiled rounds and that of the general loop."""
    return [run(fit, cls(**params), X, y, weight) for fit in (cls.fit, without_calls)]


def assert_same(one, two):
    assert one.stop_reason_ == two.stop_reason_
    assert repr(one.estimators_) == repr(two.estimators_)
    assert np.array_equal(one.estimator_weights_, two.estimator_weights_)
    assert one.history_.keys() == two.history_.keys()
    for name in one.history_.keys() - {"seconds"}:
        assert np.array_equal(one.history_[name], two.history_[name], equal_nan=True), name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # no voter kept
@pytest.mark.parametrize("kind", ["numbers", "missing", "sparse", "categories"])
@settings(max_examples=18)
@given(n_jobs=st.sampled_from([1, 3]), seed=st.integers(0, 2**32))
def test_the_same_model_to_the_bit(kind, n_jobs, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 150)), int(rng.choice([1, 3, 8, 11, 26]))
    X = table(rng, kind, n, d)
    y = np.append([0, 1], rng.integers(0, 2, n - 2)) if rng.random() < 0.3 else np.arange(n) % 3 == 0
    weight = [None, rng.integers(1, 4, n), rng.random(n) + 0.01][rng.integers(3)]
    params = {
        "n_estimators": int(rng.integers(1, 60)),
        "n_jobs": AtOnce(n_jobs),
        "max_bins": int(rng.choice([2, 7, 255, 400])),
    }
    cls, more = [
        (AdaBoostClassifier, {}),
        (AdaBoostClassifier, {"learning_rate": 0.1}),
        (AdaBoostClassifier, {"fixed_step": 0.3}),
        (AdaBoostClassifier, {"fixed_step": 3.0}),
        (AdaBoostClassifier, {"fixed_step": 30.0}),
        (L1BoostClassifier, {"beta": 0.1}),
        (L1BoostClassifier, {"beta": 0.0, "penalty": "additive"}),
    ][rng.integers(7)]
    params |= more
    if kind != "sparse" and rng.random() < 0.3:
        params["estimator"] = DecisionStump(polarity=str(rng.choice(["+", "-"])))
    assert_same(*by_both(X, y, weight, params, cls=cls))


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n) > 0.4)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_watching_does_not_change_it(n_jobs):
    X, y = noisy()
    common = {"n_estimators": 80, "n_jobs": AtOnce(n_jobs)}
    for params in ({"early_stopping": True, "n_iter_no_change": 50}, {"callbacks": lambda state: None}):
        one, two = by_both(X, y, None, {"random_state": 0, **common, **params})
        assert_same(one, two)
    alone = AdaBoostClassifier(**common).fit(X, y)
    assert_same(one, alone)


def test_a_warm_start_goes_on_where_it_stopped():
    X, y = noisy()

    def in_steps(fit, model, X, y, weight):
        for rounds in (1, 7, 60):
            fit(model.set_params(n_estimators=rounds), X, y, weight)
        return model

    one, two = by_both(X, y, None, {"warm_start": True}, in_steps)
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


@pytest.mark.parametrize("weight", [None, "counts", "masses"])
def test_weights_and_scales_are_made_anew_inside_a_call(weight, monkeypatch):
    """On few rows a call ends only where the integers do not tell which scale would fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=120) > 0.7
    weights = {None: None, "counts": rng.integers(1, 4, 120), "masses": rng.random(120) + 0.1}[weight]
    calls, rounds, steps = [], FusedRounds.rounds, []

    def counted(self, state, most):
        made = rounds(self, state, most)
        calls.append(0 if made is None else len(made.alphas))
        return made

    monkeypatch.setattr(FusedRounds, "rounds", counted)
    monkeypatch.setattr(Training, "_round", lambda self, inner=Training._round: steps.append(1) or inner(self))
    one = AdaBoostClassifier(n_estimators=500, n_jobs=1).fit(X, y, weights)
    assert not steps
    assert np.abs(2 * one.estimator_weights_).sum() > 2 * 40.0  # so far no weight may move
    assert len(calls) <= 3
    monkeypatch.undo()
    assert_same(one, without_calls(AdaBoostClassifier(n_estimators=500, n_jobs=1), X, y, weights))


@pytest.mark.parametrize("seed", [0, 6, 7, 43])
def test_rows_too_light_for_their_slots_go_where_the_general_loop_sends_them(seed):
    """A missing value of a row whose mass no slot shows goes with the heavier side."""
    rng = np.random.default_rng(seed)
    X, y, weight = table(rng, "missing", 9, 8), np.arange(9) % 3 == 0, 10.0 ** rng.uniform(-12, 12, 9)
    assert_same(*by_both(X, y, weight, {"n_estimators": 30}))
    assert_same(*by_both(X, y, weight, {"n_estimators": 30}, cls=L1BoostClassifier))


def test_ctrl_c_leaves_whole_rounds(monkeypatch):
    """An interrupt between the pass over the rows and the record of the rounds: what is kept is a prefix."""
    X, y = noisy()
    whole = AdaBoostClassifier(n_estimators=40).fit(X, y)
    model = AdaBoostClassifier(n_estimators=2, warm_start=True).fit(X, y)

    def interrupted(self, *args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FusedRounds, "_settle", interrupted)
        model.set_params(n_estimators=40).fit(X, y)
    assert model.stop_reason_.startswith("interrupted")
    assert model.n_estimators_ == 2
    assert repr(model.estimators_) == repr(whole.estimators_[:2])
    assert_same(model.fit(X, y), whole)


@pytest.fixture
def taken(monkeypatch):
    """How many rounds were taken in compiled calls, and how many by the general loop."""
    count = {"compiled": 0, "general": 0}

    def compiled(self, most, t, function=FusedRounds.rounds):
        made = function(self, most, t)
        count["compiled"] += 0 if made is None else len(made.alphas)
        return made

    def general(self, function=Training._round):
        count["general"] += 1
        return function(self)

    monkeypatch.setattr(FusedRounds, "rounds", compiled)
    monkeypatch.setattr(Training, "_round", general)
    return count


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_rounds_are_compiled(n_jobs, taken):
    """The tests above would hold as well if none were."""
    X, y = noisy(5_000)
    AdaBoostClassifier(n_estimators=20, n_jobs=AtOnce(n_jobs)).fit(X, y)
    assert taken == {"compiled": 20, "general": 0}


@pytest.mark.parametrize("watch", [{"callbacks": lambda state: None}, {"early_stopping": True}, {"verbose": 1}])
@pytest.mark.parametrize("n", [300, 2_000])
def test_single_rounds_of_few_rows_are_general(n, watch, taken):
    """Laying the histogram out for one round costs more than the round."""
    X, y = noisy(n)
    AdaBoostClassifier(n_estimators=20, n_iter_no_change=20, random_state=0, **watch).fit(X, y)
    assert taken == {"compiled": 0, "general": 20}


def test_single_rounds_of_many_rows_are_compiled(taken):
    X, y = noisy(4_000)
    X = X.round()  # few slots
    AdaBoostClassifier(n_estimators=20, callbacks=lambda state: None).fit(X, y)
    assert taken == {"compiled": 20, "general": 0}


def test_a_histogram_that_would_grow_too_wide_is_left_as_it_is(taken):
    """Of the eight columns of a word one is long."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(600, 1_600)).astype(float)
    X[:, ::8] = rng.normal(size=(600, 200))
    y = X[:, 0] + X[:, 1] + rng.normal(size=600) > 0.5
    one, two = by_both(X, y, None, {"n_estimators": 5})
    assert taken == {"compiled": 0, "general": 10}
    assert_same(one, two)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "missing", "sparse", "categories"])
def test_compiled_and_general_rounds_take_turns(kind, weighted, taken):
    """Watched and unwatched stretches of one training."""
    rng = np.random.default_rng(1)
    X = table(rng, kind, 150, 5)
    y = rng.integers(0, 2, 150)
    weight = rng.random(150) + 0.01 if weighted else None
    model = AdaBoostClassifier(warm_start=True)
    for rounds in (1, 6, 9, 30, 31, 60, 90):
        watch = None if rounds % 2 == 0 else (lambda state: None)
        model.set_params(n_estimators=rounds, callbacks=watch).fit(X, y, weight)
    assert taken["compiled"] > 0
    assert taken["general"] > 0 or kind == "sparse"
    assert_same(model, AdaBoostClassifier(n_estimators=90).fit(X, y, weight))
