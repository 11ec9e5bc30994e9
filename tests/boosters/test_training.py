"""What the engine promises about a fit, whichever the rule."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss as sk_log_loss
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import AdaBoostClassifier, LPBoostClassifier, QuadBoostClassifier, Stop, VoterPool
from boostlab.backend.cpu.threads import AtOnce
from tables import noisy_table
from variants import every


def same_model(a, b):
    """Bit for bit the same vote."""
    same_alphas = np.array_equal(a.estimator_weights_, b.estimator_weights_)
    return same_alphas and all(repr(v) == repr(w) for v, w in zip(a.estimators_, b.estimators_, strict=True))


# -- the same bits ------------------------------------------------------------------------------------------


@every
def test_row_order_does_not_matter(make, table):
    X, y = table
    rounds = 12
    if make is LPBoostClassifier:
        X, y, rounds = X[:120], y[:120], 1000
    order = np.random.default_rng(5).permutation(len(y))
    a, b = (make(n_estimators=rounds, random_state=7).fit(X[r], y[r]) for r in (np.arange(len(y)), order))
    if make is LPBoostClassifier:  # vertices of a linear program are not unique, its value is
        assert a.history_["objective"][-1] == pytest.approx(b.history_["objective"][-1], abs=1e-9)
    else:
        assert same_model(a, b)
        assert np.array_equal(a.decision_function(X), b.decision_function(X))


@every
def test_threads_do_not_matter(make):
    X, y = noisy_table(20_000, 4, seed=2)  # several blocks of rows
    a, b = (make(n_estimators=3, n_jobs=jobs, random_state=0).fit(X, y) for jobs in (1, AtOnce(4)))
    assert same_model(a, b)
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))


@every
def test_same_seed_same_model_and_watching_changes_nothing(make, table, capsys):
    X, y = table
    plain = make(n_estimators=12, random_state=3).fit(X, y)
    seen = []
    watched = make(n_estimators=12, random_state=3, verbose=1, callbacks=lambda s: seen.append(s.F.sum()))
    watched.fit(X, y, X_val=X[:50], y_val=y[:50])
    assert same_model(plain, watched)
    assert len(seen) == plain.n_estimators_
    assert "time left" in capsys.readouterr().err


@every
def test_warm_start_equals_one_long_fit(make, table):
    X, y = table
    long = make(n_estimators=14, random_state=1).fit(X, y)
    grown = make(n_estimators=4, random_state=1, warm_start=True).fit(X, y)
    for n in (5, 9, 14):
        grown.set_params(n_estimators=n).fit(X, y)
        assert grown.n_estimators_ <= n
    assert same_model(long, grown)
    assert np.array_equal(long.decision_function(X), grown.decision_function(X))
    assert grown.stop_reason_ == long.stop_reason_
    assert set(grown.history_) == set(long.history_)


def test_warm_start_with_early_stopping_equals_one_long_fit(table):
    X, y = table
    kwargs = dict(early_stopping=True, n_iter_no_change=15, random_state=0)
    long = AdaBoostClassifier(n_estimators=200, **kwargs).fit(X, y)
    grown = AdaBoostClassifier(n_estimators=3, warm_start=True, **kwargs).fit(X, y)
    for n in (10, 200):
        grown.set_params(n_estimators=n).fit(X, y)
    assert same_model(long, grown)
    assert grown.stop_reason_ == long.stop_reason_


def test_warm_start_refuses_other_data_and_settings(table):
    X, y = table
    model = AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="the data changed"):
        model.fit(X + 1, y)
    with pytest.raises(ValueError, match="the parameter learning_rate changed"):
        model.set_params(learning_rate=0.5).fit(X, y)
    model.set_params(learning_rate="auto")
    with pytest.raises(ValueError, match="may only grow"):
        model.set_params(n_estimators=2).fit(X, y)


# -- stopping -------------------------------------------------------------------------------------------------


@every
def test_history_and_stop_reason_are_always_filled(make, table):
    X, y = table
    model = make(n_estimators=8, random_state=0).fit(X, y)
    code, _, detail = model.stop_reason_.partition(": ")
    planned = getattr(model, "n_planned_", 8)  # boost by majority casts an odd number of votes
    assert code == ("max_rounds" if planned == 8 else "time_up")
    assert detail
    assert {"alpha", "seconds", "objective"} <= set(model.history_)
    assert all(len(column) == planned for column in model.history_.values())
    assert all(np.isfinite(column).all() for column in model.history_.values())


@pytest.mark.parametrize("keep_best", [True, False])
@pytest.mark.parametrize("scoring", ["error", "exponential", "log_loss", "roc_auc", "accuracy"])
def test_early_stopping_on_ones_own_validation_set(scoring, keep_best, table):
    X, y = table
    X_val, y_val = noisy_table(200, seed=9)
    model = AdaBoostClassifier(
        n_estimators=500, early_stopping=True, n_iter_no_change=7, scoring=scoring, keep_best=keep_best
    ).fit(X, y, X_val=X_val, y_val=y_val)
    curve = model.history_["validation_score"]
    cost = -curve if scoring in ("roc_auc", "accuracy") else curve
    best = int(np.argmin(cost)) + 1
    assert model.stop_reason_.startswith("patience")
    assert len(curve) == best + 7
    assert model.n_estimators_ == (best if keep_best else len(curve))
    # The curve is what the staged model really scores.
    long = AdaBoostClassifier(n_estimators=len(curve)).fit(X, y)
    measure = {
        "error": lambda F: np.mean((F > 0) != y_val),
        "exponential": lambda F: np.mean(np.exp(-np.where(y_val == 1, F, -F))),
        "log_loss": lambda F: sk_log_loss(y_val, 1 / (1 + np.exp(-2 * F))),
        "roc_auc": lambda F: roc_auc_score(y_val, F),
        "accuracy": lambda F: np.mean((F > 0) == y_val),
    }[scoring]
    assert np.allclose([measure(F) for F in long.staged_decision_function(X_val)], curve, atol=1e-12)


def test_early_stopping_holds_out_a_share_of_every_class(table):
    X, y = table
    seen = []
    model = AdaBoostClassifier(
        n_estimators=50,
        early_stopping=True,
        validation_fraction=0.2,
        random_state=0,
        callbacks=lambda s: seen.append(s),
    ).fit(X, y)
    left = np.bincount(seen[0].codes)
    assert np.array_equal(left, np.bincount(y) - np.round(0.2 * np.bincount(y)).astype(int))
    assert "train_score" in model.history_


def test_weighted_validation_counts_weights(table):
    X, y = table
    X_val, y_val = noisy_table(60, seed=4)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    copies = np.repeat(np.arange(60), weights)
    a = AdaBoostClassifier(n_estimators=20).fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    b = AdaBoostClassifier(n_estimators=20).fit(X, y, X_val=X_val[copies], y_val=y_val[copies])
    assert np.allclose(a.history_["validation_score"], b.history_["validation_score"], atol=1e-15)


def test_tolerance_asks_for_more_than_any_improvement(table):
    X, y = table
    kwargs = dict(n_estimators=300, early_stopping=True, scoring="log_loss", n_iter_no_change=3, random_state=0)
    strict, coarse = (AdaBoostClassifier(tol=tol, **kwargs).fit(X, y) for tol in (0.0, 0.05))
    assert len(coarse.history_["alpha"]) < len(strict.history_["alpha"])


def test_corrective_rule_keeps_the_weights_of_its_best_round(table):
    X, y = table
    X_val, y_val = noisy_table(200, seed=9)
    kwargs = dict(early_stopping=True, n_iter_no_change=5, scoring="error")
    model = LPBoostClassifier(nu=0.3, **kwargs).fit(X, y, X_val=X_val, y_val=y_val)
    free = LPBoostClassifier(nu=0.3, n_estimators=model.n_estimators_).fit(X, y)
    assert np.allclose(model.decision_function(X_val), free.decision_function(X_val), atol=1e-12)
    assert model.history_["validation_score"].min() == np.mean(model.predict(X_val) != y_val)


def test_callbacks_may_stop_and_must_answer_properly(table):
    X, y = table
    stop_at_4 = lambda s: Stop("callback", "four is enough") if s.t == 4 else None  # noqa: E731
    model = AdaBoostClassifier(callbacks=[lambda s: None, stop_at_4]).fit(X, y)
    assert model.n_estimators_ == 4
    assert model.stop_reason_ == "callback: four is enough"
    with pytest.raises(TypeError, match=r"must return None or a boostlab\.Stop"):
        AdaBoostClassifier(callbacks=lambda s: True).fit(X, y)
    with pytest.raises(ValueError, match="is not a stop code"):
        Stop("enough")


def test_callbacks_may_look_but_not_touch(table):
    X, y = table

    def vandal(s):
        s.F[0] = 1e9

    with pytest.raises(ValueError, match="read-only"):
        AdaBoostClassifier(callbacks=vandal).fit(X, y)


@every
def test_ctrl_c_leaves_a_usable_model(make, table):
    X, y = table

    def interrupt(s):
        if s.t == 5:
            raise KeyboardInterrupt

    model = make(callbacks=interrupt, random_state=0, warm_start=True).fit(X, y)
    assert model.stop_reason_.startswith("interrupted")
    if not hasattr(model, "n_planned_"):  # else five rounds of a hundred are not all of five
        assert same_model(model, make(n_estimators=5, random_state=0).fit(X, y))
    # Going on after an interrupt is still one long fit.
    model.set_params(callbacks=None, n_estimators=9).fit(X, y)
    assert same_model(model, make(n_estimators=9, random_state=0).fit(X, y))


def test_ctrl_c_inside_a_learner(table):
    X, y = table

    class Tired(LogisticRegression):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            Tired.fits += 1
            if Tired.fits == 3:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    model = AdaBoostClassifier(Tired(), n_estimators=10).fit(X, y)
    assert model.n_estimators_ == 2
    assert model.stop_reason_.startswith("interrupted: Ctrl-C in round 3")
    assert np.isfinite(model.predict_proba(X)).all()


# -- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (dict(n_estimators=0), "n_estimators=0 is not possible; it must be a whole number of at least 1"),
        (dict(n_estimators=2.5), "n_estimators=2.5"),
        (dict(learning_rate=1.5), r"learning_rate=1.5 is not possible; it must be a number in \(0, 1\] or 'auto'"),
        (dict(algorithm="SAMME.R"), "'discrete' or 'real'"),
        (dict(max_bins=1), "max_bins=1 is not possible; it must be a whole number from 2 to 65535 or 'exact'"),
        (dict(validation_fraction=1.0), "validation_fraction=1.0"),
        (dict(callbacks=3), "a callable or a list of callables"),
        (dict(resample="maybe"), "resample='maybe'"),
        (dict(estimator="forest"), "is not a weak learner"),
        (dict(estimator=LogisticRegression), "is not a weak learner"),
        (dict(algorithm="real", fixed_step=0.1), "fixed_step is for"),
        (
            dict(algorithm="real", estimator=Ridge()),
            "needs a weak learner that can search the criterion 'z'",
        ),
    ],
)
def test_wrong_parameters_are_one_sentence(params, sentence, table):
    with pytest.raises(ValueError, match=sentence):
        AdaBoostClassifier(**params).fit(*table)


def test_an_empty_vote_warns_and_predicts():
    X, y = np.zeros((6, 2)), np.array(["no", "yes"] * 3)
    with pytest.warns(UserWarning, match=r"kept no voter \(no_edge: every column is constant"):
        model = AdaBoostClassifier().fit(X, y)
    assert set(model.predict(X)) == {"no"}
    assert model.predict_proba(X).tolist() == [[0.5, 0.5]] * 6
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    assert list(model.staged_predict(X)) == []
    assert model.margins(X, y).tolist() == [0.0] * 6
    assert all(len(c) == 0 for c in model.history_.values())
    assert "alpha" in model.history_


def test_real_votes_are_for_rules_that_weigh_them(table):
    X, y = table
    pool = VoterPool([lambda X: np.tanh(X[:, 0]), lambda X: np.tanh(X[:, 1])])
    with pytest.raises(ValueError, match=r"AdaBoost needs voters that say -1 or \+1.*QuadBoostClassifier"):
        AdaBoostClassifier(pool).fit(X, y)
    assert QuadBoostClassifier(pool, n_estimators=5).fit(X, y).n_estimators_ > 0


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(fixed_step=100.0),
        boostlab.ARBoostClassifier(rho=1e6),
        boostlab.VadaBoostClassifier(variance_penalty=1e6, step="exact"),
        boostlab.EBBoostClassifier(variance_penalty=1e6),
        boostlab.BrownBoostClassifier(target_error=1e-300, n_estimators=20),
        boostlab.BrownBoostClassifier(total_time=1e4, n_estimators=20),
        boostlab.BrownBoostClassifier(total_time=1e-6),
        boostlab.BrownBoostClassifier(target_error=1 - 1e-9),
        boostlab.WeightBoostClassifier(beta=1e6),
        boostlab.LogitBoostClassifier(z_max=1e6),
        QuadBoostClassifier(regularizer="l2", strength=1e12),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:.*kept no voter")
def test_extreme_but_legal_parameters_give_finite_models(model, table):
    X, y = table
    model.fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert all(np.isfinite(column).all() for column in model.history_.values())


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("zeros", [False, True])
def test_a_warm_start_reads_the_table_of_its_own_call(early, zeros):
    """A learner from outside looks at the numbers every round: not at those of a buffer that was used again."""
    X, y = noisy_table(150, seed=3)
    weight = np.where(np.arange(150) % 10 == 0, 0.0, 1.0) if zeros else None
    params = dict(warm_start=True, random_state=0, early_stopping=early, n_iter_no_change=50)
    make = partial(boostlab.AdaBoostClassifier, DecisionTreeClassifier(max_depth=2, random_state=0), **params)
    buffer = X.copy()
    warm = make(n_estimators=3).fit(buffer, y, weight)
    buffer[:] = 9.0
    warm.set_params(n_estimators=10).fit(X, y, weight)
    cold = make(n_estimators=10).fit(X, y, weight)
    assert warm.n_estimators_ == cold.n_estimators_
    assert np.array_equal(warm.decision_function(X), cold.decision_function(X))
