"""Rounds of voters on every label, many in one compiled call, give the model of the general loop, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import AdaBoostM2Classifier, AdaBoostMHClassifier, AdaBoostMRClassifier
from boostlab.backend.cpu import label_rounds
from boostlab.backend.cpu.label_rounds import LabelRounds
from boostlab.backend.cpu.threads import AtOnce
from boostlab.boosters import REGISTRY
from boostlab.boosters.labelwise import Labelwise, half_log_odds
from boostlab.contract import TAKEN, UNUSUAL
from boostlab.contract.rule import still_holds
from both_loops import assert_same, by_both, general, rounds_taken, table


def discovered():
    """Yield all boosters and variants whose rule says what a usual round of rows and labels is."""
    for name, entry in REGISTRY.items():
        for variant, params in {"": {}, **entry.variants}.items():
            rule = entry.cls(**params)._rule()
            if isinstance(rule, Labelwise) and still_holds(rule, "usual"):
                yield f"{name.removesuffix('Classifier')} {variant}".strip(), (entry.cls, params)


FOUND = dict(discovered())


def test_rules_of_votes_on_every_label_are_found():
    assert set(FOUND) == {"AdaBoostMR", "AdaBoostM2", "AdaBoostMH", "AdaBoostMH free"}


@pytest.fixture
def taken(monkeypatch):
    """How many rounds every call took."""
    return rounds_taken(monkeypatch, LabelRounds)


def noisy(n=300, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # no voter kept
@pytest.mark.parametrize("made", FOUND)
@settings(max_examples=25)
@given(kind=st.sampled_from(["numbers", "numbers", "missing", "sparse", "categories"]), seed=st.integers(0, 2**32))
def test_the_same_model_to_the_bit(made, kind, seed):
    rng = np.random.default_rng(seed)
    (cls, params), n, d = FOUND[made], int(rng.integers(8, 120)), int(rng.choice([1, 3, 8, 11]))
    classes = int(rng.integers(2, 6))
    X, y = table(rng, kind, n, d), np.append(np.arange(classes), rng.integers(0, classes, n - classes))
    if kind == "numbers" and rng.random() < 0.4 and X[:, 0].min() < 0.0 < X[:, 0].max():
        y = (X[:, 0] > 0.0).astype(int)  # there is a perfect voter
    weight = [None, None, rng.integers(1, 4, n), rng.random(n) + 0.01][rng.integers(4)]
    rounds, bins = int(rng.integers(1, 50)), int(rng.choice([7, 255, 400]))
    params = params | {"n_estimators": rounds, "n_jobs": 1, "max_bins": bins}
    assert_same(*by_both(cls, params, lambda model: model.fit(X, y, weight)))


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("made", FOUND)
def test_the_same_model_of_rows_that_threads_share(made, classes, taken):
    (cls, params), kinds = FOUND[made], ("numbers", "missing")
    for seed, (kind, bins) in enumerate(zip(kinds, (32, 7), strict=True)):
        X, (_, y) = table(np.random.default_rng(seed), kind, 5003, 4), noisy(5003, classes)
        made_of = params | {"n_estimators": 12, "max_bins": bins}
        one, two = by_both(cls, made_of | {"n_jobs": AtOnce(3)}, lambda model: model.fit(X, y))  # noqa: B023
        assert_same(one, two)
        assert_same(one, cls(n_jobs=1, **made_of).fit(X, y))
    assert sum(taken) == 4 * 12


def test_one_thread_takes_the_rounds_of_small_tables_and_the_general_loop_those_of_large_ones(taken, monkeypatch):
    (X, y), made_of = noisy(), {"n_estimators": 5, "n_jobs": AtOnce(3)}
    one = AdaBoostMRClassifier(**made_of).fit(X, y)
    assert taken == [5]
    for what, limit in (("WEIGHTS", 899), ("ALONE", 2999)):
        with monkeypatch.context() as patch:
            patch.setattr(label_rounds, what, limit)  # 900 weights, 3,000 cells
            assert_same(AdaBoostMRClassifier(**made_of).fit(X, y), one)
            assert taken == [5]


@pytest.mark.parametrize("made", FOUND)
def test_all_rounds_are_one_call(made, taken):
    cls, params = FOUND[made]
    assert cls(n_estimators=30, n_jobs=1, **params).fit(*noisy()).n_estimators_ == 30
    assert taken == [30]


@pytest.mark.parametrize("made", FOUND)
def test_watching_does_not_change_it(made):
    X, y = noisy()
    (cls, params), seen = FOUND[made], []
    alone = cls(n_estimators=30, n_jobs=1, **params).fit(X, y)
    watched = cls(n_estimators=30, callbacks=lambda state: seen.append(state.F), n_jobs=1, **params).fit(X, y)
    assert_same(alone, watched)
    assert len(seen) == 30
    params = params | {"n_estimators": 60, "early_stopping": True, "n_iter_no_change": 5, "random_state": 0}
    assert_same(*by_both(cls, params | {"n_jobs": 1}, lambda model: model.fit(X, y)))


@pytest.mark.parametrize("made", FOUND)
def test_a_warm_start_goes_on_where_it_stopped(made):
    X, y = noisy()
    cls, params = FOUND[made]

    def in_steps(model):
        for rounds in (1, 7, 60):
            model.set_params(n_estimators=rounds).fit(X, y)
        return model

    one, two = by_both(cls, params | {"warm_start": True, "n_jobs": 1}, in_steps)
    assert_same(one, two)
    assert_same(one, cls(n_estimators=60, n_jobs=1, **params).fit(X, y))


def test_a_perfect_voter_ends_it_as_in_the_general_loop(taken):
    X, y = noisy()
    y = (X[:, 0] > 0.0).astype(int)
    one, two = by_both(AdaBoostMRClassifier, {"n_estimators": 9, "n_jobs": 1}, lambda model: model.fit(X, y))
    assert_same(one, two)
    assert one.stop_reason_.startswith("perfect")
    assert taken == [0]


def test_ctrl_c_leaves_whole_rounds(monkeypatch):
    X, y = noisy()
    whole = AdaBoostMHClassifier(n_estimators=40).fit(X, y)
    model = AdaBoostMHClassifier(n_estimators=2, warm_start=True).fit(X, y)

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("boostlab.backend.cpu.label_rounds.MadeRounds", interrupted)  # the scores have moved
        model.set_params(n_estimators=40).fit(X, y)
    assert model.stop_reason_.startswith("interrupted")
    assert repr(model.estimators_) == repr(whole.estimators_[:2])


def test_columns_that_are_kept_stay_as_they_are():
    kept, copies = [], []

    def keep(state):
        kept.append(state.held.column("D"))
        copies.append(kept[-1].copy())

    X, y = noisy()
    model = AdaBoostM2Classifier(n_estimators=3, warm_start=True, n_jobs=1, callbacks=keep).fit(X, y)
    model.set_params(n_estimators=20, callbacks=None).fit(X, y)
    assert len(kept) == 3
    assert all(np.array_equal(x, then) for x, then in zip(kept, copies, strict=True))
    assert_same(model, general(AdaBoostM2Classifier)(n_estimators=20, n_jobs=1).fit(X, y))


@given(lost=st.floats(0.0, 2.0), whole=st.floats(0.5, 2.0), unit=st.sampled_from([0.5, 1.0]))
def test_the_step_takes_voters_with_an_edge_that_err(lost, whole, unit):
    numbers = [0.0, unit, whole, 0.0, 0.0, 0.0, 0.0, 0.0]
    error = lost / (2.0 * whole)
    said = half_log_odds([lost], numbers)
    assert said == (TAKEN if 0.0 < error < 0.5 - 1e-10 else UNUSUAL) or abs(error - 0.5) < 1e-9
    if said == TAKEN:
        assert numbers[0] == pytest.approx(unit * np.log((1 - error) / error))
