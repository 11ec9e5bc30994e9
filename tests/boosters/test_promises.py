"""Promises that once were broken: ties, scales of weights, warm starts after an interrupt, scorers, frozen state."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    LPBoostClassifier,
    QuadBoostClassifier,
    Stop,
    VadaBoostClassifier,
)
from boostlab.boosters import REGISTRY
from boostlab.boosters.vadaboost import VadaBoost
from boostlab.ensemble.vote import decide, settle
from tables import noisy_table
from variants import every


@pytest.mark.parametrize("rounds", [2, 10, 60, 61])
def test_ties_are_decided_alike_by_table_stages_and_history(rounds):
    X, y = noisy_table(500, seed=7)
    model = AdaBoostClassifier(fixed_step=0.1, n_estimators=rounds).fit(X, y, X_val=X, y_val=y)
    *_, last = model.staged_predict(X)
    assert np.array_equal(last, model.predict(X))
    assert model.history_["validation_score"][-1] == np.mean(model.predict(X) != y)
    assert rounds % 2 or (model.decision_function(X) == 0).any()  # equal steps do tie, and a tie is exactly zero


def test_multiclass_ties_go_to_the_first_class():
    F = np.array([[0.1 + 0.2, 0.3, -1.0], [0.3, 0.1 + 0.2, 0.3], [0.0, 1e-9, 0.0]])
    assert F[:2].argmax(axis=1).tolist() == [0, 1]  # by rounding alone
    assert decide(settle(F, 1.0)).tolist() == [0, 0, 1]
    assert decide(settle(F[:2, [1, 0, 2]], 1.0)).tolist() == [0, 0]


# -- the scale of weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGISTRY)
def test_the_scale_of_sample_weights_means_nothing(name):
    X, y = noisy_table(150, seed=5)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    one = REGISTRY[name].cls(n_estimators=8).fit(X, y, weights)
    for scale in (1e-300, 3e6, 1e300):
        two = REGISTRY[name].cls(n_estimators=8).fit(X, y, weights * scale)
        assert one.n_estimators_ == two.n_estimators_ > 0, scale
        assert np.allclose(one.decision_function(X), two.decision_function(X), atol=1e-9), scale


def test_heavy_weights_do_not_ask_for_endless_draws():
    X, y = noisy_table(100, seed=5)
    weights = np.random.default_rng(0).integers(10**5, 10**6, len(y)).astype(float)
    seen = []
    AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=2, random_state=0, callbacks=seen.append).fit(
        X, y, weights
    )
    assert seen
    assert seen[0].held.masses.draw_size == len(y)


# -- programs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copies", [1, 3])
def test_lpboost_does_not_see_the_row_order(copies):
    X, y = noisy_table(150 // copies, seed=5)
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    weights = np.random.default_rng(2).uniform(0.2, 3.0, len(y))  # equal rows, different weights
    order = np.random.default_rng(1).permutation(len(y))
    one, two = (
        LPBoostClassifier(nu=0.4, n_estimators=60).fit(X[r], y[r], weights[r]) for r in (np.arange(len(y)), order)
    )
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


# -- warm starts --------------------------------------------------------------------------------------------------


def test_warm_start_refuses_another_validation_set_or_seed():
    X, y = noisy_table(200, seed=1)
    model = AdaBoostClassifier(n_estimators=5, warm_start=True, random_state=1).fit(X, y, X_val=X[:50], y_val=y[:50])
    model.set_params(n_estimators=8)
    for kwargs in ({}, dict(X_val=X[50:], y_val=y[50:])):
        with pytest.raises(ValueError, match="the data changed"):
            model.fit(X, y, **kwargs)
    with pytest.raises(ValueError, match="the parameter random_state changed"):
        model.set_params(random_state=2).fit(X, y, X_val=X[:50], y_val=y[:50])


@every
@pytest.mark.parametrize("seed", [None, 3])
def test_an_interrupt_costs_nothing(make, seed):
    X, y = noisy_table(150, seed=1)
    rounds = []

    def watch(s):
        rounds.append(s.t)
        if len(rounds) == 4:
            raise KeyboardInterrupt

    model = make(n_estimators=9, random_state=seed, warm_start=True, callbacks=watch).fit(X, y)
    before = [repr(v) for v in model.estimators_]
    assert len(before) == 4
    model.fit(X, y)
    assert rounds == list(range(1, model.n_estimators_ + 1))  # went on where it was
    assert [repr(v) for v in model.estimators_[:4]] == before


def test_an_interrupt_inside_a_learner_costs_its_round_only():
    X, y = noisy_table(150, seed=1)

    class Tired(KNeighborsClassifier):
        fits = 0

        def fit(self, X, y):
            Tired.fits += 1
            if Tired.fits == 4:
                raise KeyboardInterrupt
            return super().fit(X, y)

    model = AdaBoostClassifier(Tired(3), n_estimators=6, random_state=0, warm_start=True).fit(X, y)
    assert model.n_estimators_ == 3
    model.fit(X, y)
    whole = AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=6, random_state=0).fit(X, y)
    assert np.array_equal(model.estimator_weights_, whole.estimator_weights_)


def test_training_goes_on_after_a_callback_stopped_it():
    X, y = noisy_table(150, seed=1)
    stop = lambda s: Stop("callback", "enough") if s.t == 5 else None  # noqa: E731
    model = AdaBoostClassifier(callbacks=stop, warm_start=True).fit(X, y)
    model.set_params(callbacks=None, n_estimators=20).fit(X, y)
    assert np.array_equal(model.estimator_weights_, AdaBoostClassifier(n_estimators=20).fit(X, y).estimator_weights_)


@pytest.mark.parametrize("at", [1, 2, 5])
def test_an_interrupt_while_watching_forgets_no_stop_and_no_score(at):
    X, y = noisy_table(200, seed=1)
    calls = []

    def scorer(model, X, y):
        calls.append(1)
        if len(calls) == 2 * at:  # while the validation rows of round `at` are scored
            raise KeyboardInterrupt
        return float(np.mean(model.predict(X) == y))

    plain = lambda model, X, y: float(np.mean(model.predict(X) == y))  # noqa: E731
    val = dict(X_val=X[:80], y_val=y[:80])
    kwargs = dict(n_estimators=40, early_stopping=True, n_iter_no_change=4)
    model = AdaBoostClassifier(scoring=scorer, warm_start=True, **kwargs).fit(X[80:], y[80:], **val)
    assert model.stop_reason_.startswith("interrupted")
    model.fit(X[80:], y[80:], **val)
    whole = AdaBoostClassifier(scoring=plain, **kwargs).fit(X[80:], y[80:], **val)
    assert np.array_equal(model.history_["validation_score"], whole.history_["validation_score"])
    assert model.stop_reason_ == whole.stop_reason_
    assert model.n_estimators_ == whole.n_estimators_


def test_an_interrupt_in_the_last_round_does_not_add_another():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)

    def interrupt_once(s, seen=[]):  # noqa: B006
        seen.append(s.t)
        if len(seen) == 1:
            raise KeyboardInterrupt

    model = AdaBoostClassifier(warm_start=True, callbacks=interrupt_once).fit(X, y)
    model.fit(X, y)
    assert model.n_estimators_ == 1
    assert model.stop_reason_.startswith("perfect")


def test_an_interrupt_inside_a_rule_starts_anew(monkeypatch):
    X, y = noisy_table(150, seed=1)
    facts, calls = VadaBoost._facts, []

    def torn(self, *what):
        told = facts(self, *what)  # the rule has taken note of the round
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return told

    monkeypatch.setattr(VadaBoost, "_facts", torn)
    model = VadaBoostClassifier(n_estimators=6, warm_start=True, callbacks=lambda state: None).fit(X, y)
    assert model.n_estimators_ == 2
    model.fit(X, y)
    monkeypatch.undo()
    whole = VadaBoostClassifier(n_estimators=6).fit(X, y)
    assert np.array_equal(model.history_["objective"], whole.history_["objective"])


def test_an_error_in_a_learner_does_not_change_what_follows():
    X, y = noisy_table(150, seed=1)

    class Moody(KNeighborsClassifier):
        fits = 0

        def fit(self, X, y):
            Moody.fits += 1
            if Moody.fits == 4:
                raise RuntimeError("not today")
            return super().fit(X, y)

    model = AdaBoostClassifier(Moody(3), n_estimators=3, random_state=0, warm_start=True).fit(X, y)
    with pytest.raises(RuntimeError, match="not today"):
        model.set_params(n_estimators=6).fit(X, y)
    model.fit(X, y)
    whole = AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=6, random_state=0).fit(X, y)
    assert np.array_equal(model.estimator_weights_, whole.estimator_weights_)


def test_a_failed_first_fit_leaves_nothing_to_go_on_with():
    X, y = noisy_table(100, seed=1)
    model = LPBoostClassifier(nu=1e-6, warm_start=True)
    with pytest.raises(ValueError, match="too small"):
        model.fit(X, y)
    assert model.set_params(nu=0.3).fit(X, y).n_estimators_ > 0


def test_settings_inside_learners_count():
    X, y = noisy_table(100, seed=1)
    learner = DecisionTreeClassifier(max_depth=1)
    model = AdaBoostClassifier(learner, n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    learner.set_params(max_depth=3)
    with pytest.raises(ValueError, match="the parameter estimator"):
        model.set_params(n_estimators=4).fit(X, y)


# -- scorers --------------------------------------------------------------------------------------------------------


def test_scorers_of_every_kind():
    X, y = noisy_table(200, seed=1)
    val = dict(X_val=X[:80], y_val=y[:80])
    two = AdaBoostM2Classifier(n_estimators=8, scoring="roc_auc").fit(X, y, **val)
    assert two.history_["validation_score"][-1] == pytest.approx(
        roc_auc_score(y[:80], two.decision_function(X[:80])), abs=1e-12
    )
    plain = lambda model, X, y: float(np.mean(model.predict(X) == y))  # noqa: E731
    weighted = make_scorer(roc_auc_score, response_method="decision_function")
    for scorer in (plain, weighted):
        model = AdaBoostClassifier(n_estimators=5, scoring=scorer)
        model.fit(X, y, np.arange(len(y)) % 3 + 0.5, sample_weight_val=np.arange(80) % 2 + 0.5, **val)
        assert np.isfinite(model.history_["validation_score"]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, about one class
        with pytest.raises(ValueError, match=r"scoring='roc_auc' gave nan|Only one class"):
            AdaBoostClassifier(scoring="roc_auc").fit(X, y, X_val=X[y == 1], y_val=y[y == 1])
    for junk in (None, "junk", 3):
        with pytest.raises(ValueError, match=r"scoring=.* is not possible"):
            AdaBoostClassifier(scoring=junk).fit(X, y)


def test_log_loss_bears_certain_mistakes():
    X, y = noisy_table(400, seed=3)
    ours, theirs = (
        QuadBoostClassifier(n_estimators=60, scoring=s).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2]).history_
        for s in ("log_loss", "neg_log_loss")
    )
    assert np.allclose(ours["validation_score"], -theirs["validation_score"], rtol=1e-6)


# -- small ones -----------------------------------------------------------------------------------------------------


def test_hold_out_tells_equal_rows_by_their_weights():
    X, y = noisy_table(150, seed=2)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    weights = np.random.default_rng(0).uniform(0.1, 5, len(y))
    order = np.random.default_rng(1).permutation(len(y))
    one, two = (
        AdaBoostClassifier(early_stopping=True, random_state=3).fit(X[r], y[r], weights[r])
        for r in (np.arange(len(y)), order)
    )
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_callbacks_cannot_change_labels():
    X, y = noisy_table(100, seed=2)

    def vandal(s):
        s.y[:] = -s.y

    with pytest.raises(ValueError, match="read-only"):
        AdaBoostClassifier(callbacks=vandal).fit(X, y)
    assert y.flags.writeable


def test_asking_before_fitting():
    for ask in ("predict", "decision_function", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(AdaBoostClassifier(), ask)([[1.0]])
    with pytest.raises(NotFittedError):
        AdaBoostClassifier().margins([[1.0]], [1])


def test_kernels_compile_where_nothing_can_be_written(tmp_path):
    # Numba looks for a writable place beside the source, then in the user's cache; here there is none.
    # All kernels are defined when a booster is loaded; a small one is enough to show that they compile.
    code = (
        "from numba.core import caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "from boostlab import AdaBoostClassifier\n"
        "from boostlab.backend.cpu.kernels.vote_update import exp_less, exp_of\n"
        "print(exp_of(0.0), type(exp_less._enter._cache).__name__)\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "PYTHONPATH": path}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert out.stdout.split() == ["1.0", "NullCache"], out.stderr
    assert out.stderr.count("boostlab compiles its kernels") == 1


def test_the_progress_line_fits_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    X, y = noisy_table(200, seed=1)
    boostlab.VadaBoostClassifier(
        n_estimators=100_000, verbose=1, callbacks=lambda s: Stop("callback") if s.t > 3 else None
    ).fit(X, y, X_val=X, y_val=y)
    line = capsys.readouterr().err
    for part in ("4/100000", "time left", "train 0.", "valid. 0.", "VadaBoost"):
        assert part in line, line
