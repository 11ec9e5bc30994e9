"""Usual rounds of rules in formulas, many in one compiled call, give the model of the general loop, to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import (
    ArcGVClassifier,
    AveBoostClassifier,
    BrownBoostClassifier,
    DecisionStump,
    EBBoostClassifier,
    GentleBoostClassifier,
    L1BoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    MadaBoostClassifier,
    QuadBoostClassifier,
    RobustBoostClassifier,
    SoftMarginBoostClassifier,
    VadaBoostClassifier,
)
from boostlab.backend.cpu.kernels.usual_rounds import INTEGERS, SAID
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.sample import CpuSample
from boostlab.backend.cpu.small import ROWS
from boostlab.backend.cpu.threads import AtOnce
from boostlab.backend.cpu.usual import UsualRounds, decisions_of
from boostlab.boosters import REGISTRY
from boostlab.boosters.adaboost import lower_normaliser
from boostlab.boosters.gentleboost import GentleBoost
from boostlab.boosters.l2boost import lower_risk
from boostlab.boosters.logitboost import LogitBoost, lower_loss
from boostlab.contract import TAKEN, UNUSUAL
from boostlab.contract.rule import still_holds
from boostlab.data.table import Table
from both_loops import assert_same, by_both, general, rounds_taken, table

Array = np.ndarray[Any, Any]


def discovered():
    """Yield all boosters and variants of one score whose rounds are usual ones on stumps: their rules say so."""
    for name, entry in REGISTRY.items():
        for variant, params in {"": {}, **entry.variants}.items():
            if params.keys() & {"estimator", "resample"}:
                continue
            rule = entry.cls(**params)._rule()
            plain = still_holds(rule, "plain") and "additive" not in params.values()
            if still_holds(rule, "usual") and not plain and rule.n_outputs == "one":
                yield f"{name.removesuffix('Classifier')} {variant}".strip(), (entry.cls, params)


FOUND = dict(discovered())

# What is boosted, and how; the longest steps overshoot and are halved.
MADE = FOUND | {
    "LogitBoost, slow": (LogitBoostClassifier, {"learning_rate": 0.2, "z_max": 2.0}),
    "LogitBoost, wild": (LogitBoostClassifier, {"z_max": 1e3}),
    "GentleBoost, slow": (GentleBoostClassifier, {"learning_rate": 0.3}),
    "L2Boost of numbers": (L2BoostRegressor, {}),
    "VadaBoost, exact": (VadaBoostClassifier, {"step": "exact", "variance_penalty": 3.0, "learning_rate": 0.5}),
    "VadaBoost as AdaBoost": (VadaBoostClassifier, {"variance_penalty": 0.0}),
    "EBBoost, large": (EBBoostClassifier, {"variance_penalty": 5.0, "learning_rate": 0.7}),
    "EBBoost, fixed point": (EBBoostClassifier, {"variance_penalty": "fixed_point"}),
    "ArcGV, capped": (ArcGVClassifier, {"cap": 0.2, "margin_floor": -0.3}),
    "ArcGV, close": (ArcGVClassifier, {"target": "smallest_edge", "accuracy": 0.01}),
    "L1Boost, cheap": (L1BoostClassifier, {"penalty": "additive", "beta": 1e-4}),
    "MadaBoost, to the end": (MadaBoostClassifier, {"target_error": 0.0, "exponent": 0.5}),
    "QuadBoost l1": (QuadBoostClassifier, {"regularizer": "l1"}),
    "QuadBoost l2": (QuadBoostClassifier, {"regularizer": "l2", "strength": 0.5}),
    "QuadBoost linf": (QuadBoostClassifier, {"regularizer": "linf"}),
    "BrownBoost, soon over": (BrownBoostClassifier, {"target_error": 0.45}),
    "BrownBoost, long": (BrownBoostClassifier, {"total_time": 300.0}),
    "BrownBoost, slow": (BrownBoostClassifier, {"learning_rate": 0.5}),
    "RobustBoost, soon over": (RobustBoostClassifier, {"target_error": 0.3}),
    "RobustBoost, smooth and soon over": (RobustBoostClassifier, {"target_error": 0.35, "clip": False}),
    "RobustBoost with a goal": (RobustBoostClassifier, {"target_error": 0.2, "goal_margin": 0.5, "sigma_f": 1.0}),
    "RobustBoost, slow": (RobustBoostClassifier, {"learning_rate": 0.5}),
    "SoftMargin, cumulative": (SoftMarginBoostClassifier, {"penalty": "cumulative", "C": 0.001}),
    "SoftMargin, slow": (SoftMarginBoostClassifier, {"learning_rate": 0.3}),
    "SoftMargin literal, slow": (SoftMarginBoostClassifier, {"penalty": "literal", "learning_rate": 0.5}),
    "SoftMargin, much slack": (SoftMarginBoostClassifier, {"C": 0.6, "power": 2}),
    "SoftMargin as AdaBoost": (SoftMarginBoostClassifier, {"C": 0.0}),
    "polarity": (MadaBoostClassifier, {"estimator": DecisionStump(polarity="+")}),
    "polarity of a mixture": (VadaBoostClassifier, {"estimator": DecisionStump(polarity="-")}),
}


def test_rules_whose_step_is_a_formula_of_sums_are_found():
    """Real voters and labels, one and two channels, weights that follow, are formulas, or are kept."""
    assert {"VadaBoost", "EBBoost", "MadaBoost", "FilterBoost", "ArcGV", "ARBoost", "QuadBoost", "AveBoost"} <= set(
        FOUND
    )
    assert {
        "BrownBoost",
        "RobustBoost",
        "RobustBoost smooth",
        "SoftMarginBoost",
        "SoftMarginBoost power2",
        "SoftMarginBoost literal",
    } <= set(FOUND)
    assert {"L1Boost additive", "LogitBoost", "LogitBoost printed", "GentleBoost", "L2Boost"} <= set(FOUND)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # no voter kept
@pytest.mark.parametrize("made", MADE)
@settings(max_examples=12)
@given(kind=st.sampled_from(["numbers", "numbers", "missing", "sparse", "categories"]), seed=st.integers(0, 2**32))
def test_the_same_model_to_the_bit(made, kind, seed):
    rng = np.random.default_rng(seed)
    (cls, params), n, d = MADE[made], int(rng.integers(4, 120)), int(rng.choice([1, 3, 8, 11]))
    X = table(rng, kind, n, d)
    y = np.append([0, 1], rng.integers(0, 2, n - 2)) if rng.random() < 0.5 else np.arange(n) % 3 == 0
    if kind == "numbers" and rng.random() < 0.3 and X[:, 0].min() < 0.0 < X[:, 0].max():
        y = X[:, 0] > 0.0  # there is a perfect voter
    y = y * (1.0 + 1e-3 * rng.random(n)) if cls is L2BoostRegressor else y
    weight = [None, rng.integers(1, 4, n), rng.random(n) + 0.01][rng.integers(3)]
    params = params | {
        "n_estimators": int(rng.integers(1, 50)),
        "n_jobs": 1,
        "max_bins": int(rng.choice([7, 255, 400])),
    }
    assert_same(*by_both(cls, params, lambda model: model.fit(X, y, weight)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # no voter kept
@pytest.mark.parametrize("made", MADE)
def test_the_same_model_of_rows_that_threads_share(made, taken):
    """A table that is not small; the last thread's share is another one, and may be no column at all."""
    (cls, params), n = MADE[made], ROWS + 5
    for seed, kind in enumerate(("numbers", "missing", "categories")):
        rng = np.random.default_rng(seed)
        X = table(rng, kind, n, 2 + seed)
        y = (np.asarray(X)[:, 0].astype(float) + rng.normal(size=n) > 0.3).astype(int)
        y = y * (1.0 + 1e-3 * rng.random(n)) if cls is L2BoostRegressor else y
        weight = [None, rng.integers(1, 4, n), rng.random(n) + 0.01][seed]
        made_of = params | {"n_estimators": 12, "max_bins": [255, 7, 400][seed]}
        one, two = by_both(cls, made_of | {"n_jobs": AtOnce(3)}, lambda model: model.fit(X, y, weight))  # noqa: B023
        assert_same(one, two)
        assert_same(one, cls(n_jobs=1, **made_of).fit(X, y, weight))
    assert sum(taken) > 0 or made not in FOUND


def large(n=20_000, wrong=0.005):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] > 0).astype(int) ^ (rng.random(n) < wrong)


@pytest.mark.parametrize("n_jobs", [1, AtOnce(2)])
@pytest.mark.parametrize("cls", [VadaBoostClassifier, EBBoostClassifier])
def test_channels_whose_scales_the_general_loop_found_are_taken_over(cls, n_jobs):
    """Weights so small that a scale cannot be told from the last one: each follower has integers of its own then."""
    params = {"n_estimators": 8, "variance_penalty": 0.0, "n_jobs": n_jobs}
    assert_same(*by_both(cls, params, lambda model: model.fit(*large())))


@pytest.mark.parametrize("heavy", [5e7, 1e5])
def test_sums_that_need_many_powers_end(heavy):
    X, y = large(wrong=0.0)
    weight = np.full(len(y), heavy)
    y[0], weight[0] = 1 - y[0], 1.0
    assert_same(*by_both(VadaBoostClassifier, {"n_estimators": 6}, lambda model: model.fit(X, y, weight)))


def test_columns_that_are_kept_stay_as_they_are():
    kept, copies = [], []

    def keep(state):
        kept.append(state.held.column("d"))
        copies.append(kept[-1].copy())

    AveBoostClassifier(n_estimators=5, callbacks=keep).fit(*large(wrong=0.2))
    assert len(kept) == 5
    assert all(np.array_equal(x, then) for x, then in zip(kept, copies, strict=True))


def test_weights_and_targets_may_be_one_array():
    """Calls tell arrays apart by their addresses when they are prepared."""
    X, y = large(wrong=0.2)
    weight, target = np.random.default_rng(1).random((2, len(y)))
    found = []
    for first in (weight, target):
        masses = Masses(len(y))
        sample = CpuSample(Table.fit(X, masses, 32, 1), masses, way="shared")
        sample.largest_edge(first, first, None, 0)
        found.append(sample.largest_edge(weight, target, None, 0)[1])
    assert found[0] == found[1]


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n) > 0.4).astype(int)


@pytest.fixture
def taken(monkeypatch):
    """How many rounds every call took."""
    return rounds_taken(monkeypatch, UsualRounds)


@pytest.mark.parametrize("made", FOUND)
def test_all_rounds_are_one_call(made, taken):
    cls, params = FOUND[made]
    rounds = cls(n_estimators=30, **params).fit(*noisy()).n_estimators_
    assert sum(taken) >= rounds - 1  # weights that were made anew may need a scale that the general loop finds
    assert len(taken) <= 3


@pytest.mark.parametrize("made", FOUND)
def test_watching_does_not_change_it(made, taken):
    X, y = noisy()
    (cls, params), seen = FOUND[made], []
    alone = cls(n_estimators=30, **params).fit(X, y)
    del taken[:]
    watched = cls(n_estimators=30, callbacks=lambda state: seen.append(state.F), **params).fit(X, y)
    assert_same(alone, watched)
    assert taken[:4] == [1] * 4
    for kept, staged in zip(seen, alone.staged_decision_function(X), strict=True):
        np.testing.assert_allclose(kept, staged, rtol=0, atol=1e-12)
    params = params | {"n_estimators": 60, "early_stopping": True, "n_iter_no_change": 5, "random_state": 0}
    assert_same(*by_both(cls, params, lambda model: model.fit(X, y)))


@pytest.mark.parametrize("made", FOUND)
def test_a_warm_start_goes_on_where_it_stopped(made):
    X, y = noisy()
    cls, params = FOUND[made]

    def in_steps(model):
        for rounds in (1, 7, 60):
            model.set_params(n_estimators=rounds).fit(X, y)
        return model

    one, two = by_both(cls, params | {"warm_start": True}, in_steps)
    assert_same(one, two)
    assert_same(one, cls(n_estimators=60, **params).fit(X, y))


def test_weights_that_leave_their_range_are_made_anew(taken):
    """Followed weights are computed anew after their logarithms have moved by 40."""
    X, y = noisy(60)
    model = VadaBoostClassifier(n_estimators=400, variance_penalty=0.0).fit(X, y)
    assert np.abs(2 * model.estimator_weights_).sum() > 40.0
    assert sum(taken) == 399  # the general loop takes a round where their scale cannot be told from the last one
    assert_same(model, general(VadaBoostClassifier)(n_estimators=400, variance_penalty=0.0).fit(X, y))


def test_a_category_that_is_best_is_left_to_the_general_loop(taken):
    rng = np.random.default_rng(0)
    c = rng.choice(list("abcde"), 300)
    X = pd.DataFrame({"x": rng.normal(size=300), "c": pd.Categorical(c)})
    y = (np.isin(c, ["a", "d"]) ^ (rng.random(300) < 0.2)) + (X["x"] > 1.5)
    models = by_both(MadaBoostClassifier, {"n_estimators": 40}, lambda model: model.fit(X, y > 0))
    assert 0 < sum(taken) < 40
    assert taken.count(0) > 0
    assert_same(*models)


def test_both_loops_take_turns(taken):
    """Where a step along a clipped response does not lower the loss, the general loop asks the round again."""
    X, y = noisy()
    one = LogitBoostClassifier(n_estimators=200).fit(X, y)
    assert taken.count(0) == 1
    assert sum(taken) == 199
    assert_same(one, general(LogitBoostClassifier)(n_estimators=200).fit(X, y))


def test_ctrl_c_leaves_whole_rounds(monkeypatch):
    X, y = noisy()
    whole = LogitBoostClassifier(n_estimators=40).fit(X, y)
    model = LogitBoostClassifier(n_estimators=2, warm_start=True).fit(X, y)

    def interrupted(self, *args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LogitBoost, "_facts", interrupted)  # the scores have moved, and no round is noted
        model.set_params(n_estimators=40).fit(X, y)
    assert model.stop_reason_.startswith("interrupted")
    assert repr(model.estimators_) == repr(whole.estimators_[:2])


def test_a_rule_that_was_changed_is_asked_round_by_round(taken):
    @dataclass(frozen=True)
    class Halved(LogitBoost):
        def step(self, s, task, h):
            answer = super().step(s, task, h)
            answer.alpha /= 2
            return answer

    @dataclass(frozen=True)
    class Renamed(GentleBoost):
        title: ClassVar[str] = "the same in all that counts"

    class Booster(LogitBoostClassifier):
        def _rule(self):
            return Halved(self.z_max, self._rate, True)

    assert still_holds(LogitBoost(), "usual")
    assert still_holds(Renamed(), "usual")
    assert not still_holds(Halved(), "usual")
    assert set(Booster(n_estimators=5).fit(*noisy()).estimator_weights_) == {0.5}
    assert not taken


# -- steps -----------------------------------------------------------------------------------------------------------

NU, SUMS = st.sampled_from([1.0, 0.25, 2.0**-11]), st.floats(-2.0, 2.0)


@pytest.mark.parametrize("step", [lower_loss, lower_normaliser, lower_risk])
@given(sums=st.tuples(SUMS, SUMS, SUMS), numbers=st.tuples(NU, NU, st.just(2.0), st.sampled_from([0.0, 1e-11, 0.7])))
def test_compiled_steps_are_the_formulas(step, sums, numbers):
    if sums[0] == 0.0:
        sums = (0.5, *sums[1:])
    mine, compiled = list(numbers), np.array(numbers)
    said = step(sums, mine)
    assert decided(step, 1, sums, compiled) == said
    assert compiled.tolist() == mine
    assert said == TAKEN or mine[1:] == list(numbers[1:])


def decided(step, which, sums, numbers):
    """Return what a compiled decision says, which may change the numbers."""
    all_numbers, ints = np.append(numbers, sums)[None], np.zeros((1, INTEGERS), np.int64)
    decisions_of(None, step, None)(which, len(numbers), len(numbers) + len(sums), all_numbers, ints)
    numbers[:] = all_numbers[0, : len(numbers)]
    return ints[0, SAID]


def test_a_decision_that_is_not_taken_is_unusual():
    for which in (0, 2):
        assert decided(lower_risk, which, np.ones(2), np.ones(4)) == UNUSUAL


def test_a_loss_that_does_not_fall_is_tried_at_twelve_steps():
    numbers, tried = [0.5, 0.5, 1.0, 0.3], []
    while True:
        tried.append(numbers[0])
        if lower_loss([0.3], numbers) == UNUSUAL:
            break
    assert tried == [0.5 / 2**k for k in range(12)]
    assert lower_loss([0.1], [1.0, 1.0, 1.0, 1e-11]) == UNUSUAL  # the task stops there
