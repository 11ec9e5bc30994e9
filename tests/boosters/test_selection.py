"""Variance penalties that the data decide: the bound, the folds, and what a choice must not depend on."""

from __future__ import annotations

import pickle
import warnings
from math import e, log, sqrt

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from boostlab import EBBoostClassifier, VadaBoostClassifier, VoterPool
from boostlab.backend.cpu.masses import Masses
from boostlab.boosters import selection
from boostlab.data.sample import Sample
from boostlab.data.table import Bins
from boostlab.engine.training import Training
from boostlab.model_io import ModelFileError, load, save
from boostlab.model_io import model as model_file
from tables import noisy_table


class SmallGrid:
    """Tries few penalties, by trials of few rounds."""

    _grid, _beyond = (0.0, 0.4, 1.0), (3.0,)
    _trial_rounds = 30


class FewVada(SmallGrid, VadaBoostClassifier):
    pass


class FewEB(SmallGrid, EBBoostClassifier):
    pass


class BriefVada(VadaBoostClassifier):
    _trial_rounds = 2


class BriefEB(EBBoostClassifier):
    _trial_rounds = 2


def few_values(n=100, seed=0):
    """A table whose columns have three values, all of them common: every part of it has the same bins."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 4)).astype(float)
    score = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + rng.normal(size=n)
    return X, (score > np.median(score)).astype(int)


def chance_of(random_state):
    """The generator that a fit with this seed gives to the choice."""
    seed = int(check_random_state(random_state).randint(2**31))
    return np.random.default_rng(seed).spawn(1)[0]


def sample_of(X, y, mass=None):
    return Sample(X, y, Masses(len(y), mass), np.unique(y))


def loss_of(y, F):
    return np.minimum(np.exp(-np.where(y == 1, F, -F)), e) / e


def best_round(model, X, y, mass):
    """The round of the lowest mean clipped loss, with the patience of a trial."""
    lowest, at = 1 / e, 0
    for t, F in enumerate(model.staged_decision_function(X), start=1):
        loss = np.average(loss_of(y, F), weights=mass)
        if loss < lowest - 1e-15:
            lowest, at = loss, t
        elif t - at >= selection.PATIENCE:
            break
    return at


# -- cross-validation and a bound -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "params", "weighted"),
    [
        (FewVada, {}, False),
        (FewVada, {}, True),
        (FewVada, {"step": "exact"}, False),
        (FewEB, {}, True),
    ],
    ids=["bound", "weighted", "exact", "ebboost"],
)
def test_the_choice_against_fits_of_its_own(make, params, weighted):
    X, y = few_values()
    mass = np.random.default_rng(3).uniform(0.5, 3.0, len(y)) if weighted else np.ones(len(y))
    model = make(variance_penalty="auto", n_estimators=5, random_state=7, **params).fit(X, y, mass)
    grid = [0.0, 0.4, 1.0, 3.0] if make is FewEB or params else [0.0, 0.4, 1.0]
    fold = selection.folds(sample_of(X, y, mass), chance_of(7), "")
    Z, wrong, rounds = np.zeros((len(grid), len(y))), np.zeros((len(grid), len(y))), np.zeros((len(grid), 5))
    for i, lam in enumerate(grid):
        for k in range(5):
            inner = fold == (k + 1) % 5
            fewer, train, held = (fold != k) & ~inner, fold != k, fold == k
            fit = lambda rows, T, lam=lam: make(variance_penalty=lam, n_estimators=T, **params).fit(  # noqa: E731
                X[rows], y[rows], mass[rows]
            )
            T = best_round(fit(fewer, make._trial_rounds), X[inner], y[inner], mass[inner])
            F = fit(train, T).decision_function(X[held]) if T else np.zeros(held.sum())
            Z[i, held], wrong[i, held], rounds[i, k] = loss_of(y[held], F), (F > 0) != y[held], T
    n = max(mass.sum(), len(y))
    price = log(2 * len(grid) / 0.05)
    for i in range(len(grid)):
        m, v = np.average(Z[i], weights=mass), np.cov(Z[i], aweights=mass, ddof=0) * n / (n - 1)
        bound = m + sqrt(2 * v * price / n) + 7 * price / (3 * (n - 1))
        here = {name: column[i] for name, column in model.variance_penalty_curve_.items()}
        assert here["variance_penalty"] == grid[i]
        assert here["rounds"] == rounds[i].mean()
        assert here["loss"] == pytest.approx(m, rel=1e-11)
        assert here["variance"] == pytest.approx(v, rel=1e-10)
        assert here["bound"] == pytest.approx(bound, rel=1e-11)
        assert here["error"] == pytest.approx(np.average(wrong[i], weights=mass), abs=1e-12)
    assert model.variance_penalty_ == grid[int(model.variance_penalty_curve_["bound"].argmin())]
    assert model.n_estimators_ == 5


def test_the_grids_have_interior_points_and_beyond():
    X, y = few_values(60)
    for make, beyond in [
        (BriefVada(), []),
        (BriefVada(step="exact"), [2, 5, 10]),
        (BriefEB(), [2, 5, 10]),
    ]:
        model = make.set_params(variance_penalty="cv_bernstein", n_estimators=2, random_state=0).fit(X, y)
        grid = model.variance_penalty_curve_["variance_penalty"]
        np.testing.assert_allclose(grid, [*np.arange(11) / 10, *beyond], atol=1e-15)
        assert model.variance_penalty_ in grid


@pytest.mark.parametrize("word", ["auto", "validation"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"resample": True},
        {"early_stopping": True, "n_iter_no_change": 3},
        {"max_depth": 2},
        {"class_weight": "balanced"},
    ],
    ids=lambda p: next(iter(p), "plain"),
)
def test_the_model_is_that_of_the_number_chosen(word, params):
    X, y = noisy_table(120, seed=2)
    chosen = FewVada(variance_penalty=word, n_estimators=15, random_state=3, **params).fit(X, y)
    given = FewVada(variance_penalty=chosen.variance_penalty_, n_estimators=15, random_state=3, **params).fit(X, y)
    assert np.array_equal(chosen.estimator_weights_, given.estimator_weights_)
    assert np.array_equal(chosen.decision_function(X), given.decision_function(X))
    assert given.variance_penalty_ == chosen.variance_penalty_
    assert given.variance_penalty_curve_ == {}


def test_row_order_and_threads_do_not_matter():
    X, y = noisy_table(90, seed=4)
    mass = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    order = np.random.default_rng(1).permutation(len(y))
    for word in ("auto", "validation"):
        curves = [
            FewVada(variance_penalty=word, n_estimators=2, random_state=5, n_jobs=jobs)
            .fit(X[rows], y[rows], mass[rows])
            .variance_penalty_curve_
            for rows, jobs in ((np.arange(len(y)), 1), (order, 3))
        ]
        for name in curves[0]:
            assert np.array_equal(curves[0][name], curves[1][name]), name


def test_auto_is_the_same_word():
    X, y = few_values(60)
    one, two = (
        FewVada(variance_penalty=word, n_estimators=2, random_state=1).fit(X, y).variance_penalty_curve_
        for word in ("auto", "cv_bernstein")
    )
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_folds_are_stratified():
    X, y = noisy_table(103, seed=1)
    y[:] = 0
    y[:23] = 1
    fold = selection.folds(sample_of(X, y), np.random.default_rng(0), "")
    for c in (0, 1):
        sizes = np.bincount(fold[y == c], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    assert np.ptp(np.bincount(fold)) <= 1


def test_nothing_is_binned_twice(monkeypatch):
    X, y = noisy_table(80, seed=1)
    calls = []
    for name in ("fit", "encode"):
        inner = getattr(Bins, name)
        if name == "fit":
            monkeypatch.setattr(
                Bins, name, classmethod(lambda cls, *a, f=inner.__func__: calls.append("fit") or f(cls, *a))
            )
        else:
            monkeypatch.setattr(Bins, name, lambda self, *a, f=inner: calls.append("encode") or f(self, *a))
    FewVada(variance_penalty="auto", n_estimators=2).fit(X, y)
    assert calls == ["fit", "encode"]


def test_a_warm_start_does_not_choose_again():
    X, y = noisy_table(100, seed=3)
    long = FewVada(variance_penalty="auto", n_estimators=30, random_state=1).fit(X, y)
    grown = FewVada(variance_penalty="auto", n_estimators=4, random_state=1, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=30).fit(X, y)
    assert np.array_equal(long.estimator_weights_, grown.estimator_weights_)
    again = pickle.loads(pickle.dumps(grown)).set_params(n_estimators=33).fit(X, y)  # from the beginning
    assert again.variance_penalty_ == long.variance_penalty_
    assert np.array_equal(again.estimator_weights_[:30], long.estimator_weights_)


@pytest.mark.parametrize(
    "learner",
    [
        RidgeClassifier(),
        KNeighborsClassifier(7),
        make_pipeline(StandardScaler(), RidgeClassifier(0.1)),
        VoterPool(stumps_per_feature=3),
        "tree",
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_any_learner(learner):
    class Brief(VadaBoostClassifier):
        _grid, _trial_rounds = (0.2, 0.8), 2

    X, y = noisy_table(40, seed=3)
    for word in ("auto", "validation", "fixed_point"):
        model = Brief(learner, variance_penalty=word, n_estimators=4, random_state=0).fit(X, y)
        again = clone(model).fit(X, y)
        assert 0 <= model.variance_penalty_ == again.variance_penalty_ <= 1
        assert np.array_equal(model.decision_function(X), again.decision_function(X))


def test_frames_and_pipelines():
    X, y = noisy_table(90, seed=3)
    frame = pandas.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down"), "c": X[:, 2]})
    frame.loc[::9, "a"] = np.nan
    model = FewEB(variance_penalty="auto", n_estimators=6, random_state=0).fit(frame, y)
    assert model.variance_penalty_ in (0.0, 0.4, 1.0, 3.0)
    pipe = make_pipeline(StandardScaler(), FewVada(variance_penalty="auto", n_estimators=6, random_state=0))
    inner = clone(pipe[-1]).fit(StandardScaler().fit_transform(X), y)
    assert pipe.fit(X, y)[-1].variance_penalty_ == inner.variance_penalty_


def test_small_tables():
    X, y = noisy_table(40, seed=3)
    few = np.r_[np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:3]]
    model = VadaBoostClassifier(variance_penalty="auto", n_estimators=3, random_state=0).fit(X[few], y[few])
    assert np.isfinite(model.variance_penalty_curve_["bound"]).all()  # three folds
    for n in (1, 2):
        fewer = few[: 20 + n]
        with pytest.raises(ValueError, match=f"at least three rows of every class, and class 1 has {n}; give"):
            VadaBoostClassifier(variance_penalty="auto").fit(X[fewer], y[fewer])
    with pytest.raises(ValueError, match="one class has a single row; pass X_val and y_val, or give a number"):
        VadaBoostClassifier(variance_penalty="validation").fit(X[few[:21]], y[few[:21]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tiny = VadaBoostClassifier(variance_penalty="fixed_point").fit([[0.0], [1.0]], [0, 1])
    assert tiny.variance_penalty_ == 1.0
    constant = np.zeros((12, 2)), np.array([0, 1] * 6)
    with pytest.warns(UserWarning, match="kept no voter"):
        model = VadaBoostClassifier(variance_penalty="auto").fit(*constant)
    assert model.variance_penalty_ == 0.0  # all alike: the first
    assert (model.variance_penalty_curve_["rounds"] == 0).all()


def test_words_that_are_not_known():
    with pytest.raises(ValueError, match=r"variance_penalty='cv'.*'auto' or 'cv_bernstein' or 'fixed_point'"):
        VadaBoostClassifier(variance_penalty="cv").fit([[0.0], [1.0]], [0, 1])


def test_ctrl_c_while_choosing_ends_the_fit(monkeypatch):
    X, y = noisy_table(60, seed=3)
    inner, calls = Training._rounds, []

    def tired(self, most):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return inner(self, most)

    monkeypatch.setattr(Training, "_rounds", tired)
    model = VadaBoostClassifier(variance_penalty="auto", warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "n_estimators_")
    monkeypatch.undo()
    assert model.set_params(variance_penalty=0.5, n_estimators=3).fit(X, y).n_estimators_ == 3


# -- validation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [True, False], ids=["given", "held out"])
def test_validation_counts_errors(given):
    X, y = few_values(140, seed=5)
    if given:
        X_val, y_val = few_values(60, seed=6)
        train, params = np.ones(len(y), bool), dict(X_val=X_val, y_val=y_val)
    else:
        rng = chance_of(2)
        rng.integers(2**62)
        held = selection.held_rows(sample_of(X, y), 0.3, rng)
        train, X_val, y_val, params = ~held, X[held], y[held], {}
    model = FewVada(variance_penalty="validation", validation_fraction=0.3, n_estimators=4, random_state=2).fit(
        X, y, **params
    )
    curve = model.variance_penalty_curve_
    for lam, error, loss, rounds in zip(
        *(curve[k] for k in ("variance_penalty", "error", "loss", "rounds")), strict=True
    ):
        one = VadaBoostClassifier(variance_penalty=lam, n_estimators=FewVada._trial_rounds).fit(X[train], y[train])
        seen = [(np.mean((F > 0) != y_val), loss_of(y_val, F).mean()) for F in one.staged_decision_function(X_val)]
        assert seen[int(rounds) - 1] == pytest.approx((error, loss), rel=1e-12)
        assert error <= min(v for v, _ in seen[: int(rounds) + selection.PATIENCE])
    assert model.variance_penalty_ == curve["variance_penalty"][curve["error"].argmin()]
    assert model.history_["alpha"].shape == (4,)


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["auto", "validation", "fixed_point", 0.3])
def test_files_hold_what_was_chosen(word, tmp_path):
    X, y = noisy_table(80, seed=3)
    old = EBBoostClassifier(variance_penalty=word, n_estimators=6, random_state=0).fit(X, y)
    save(old, tmp_path / "m.boost")
    new = load(tmp_path / "m.boost")
    assert new.variance_penalty == word
    assert new.variance_penalty_ == old.variance_penalty_
    assert new.variance_penalty_curve_.keys() == old.variance_penalty_curve_.keys()
    assert all(np.array_equal(new.variance_penalty_curve_[k], v) for k, v in old.variance_penalty_curve_.items())
    assert np.array_equal(new.predict_proba(X), old.predict_proba(X))
    with pytest.raises(ModelFileError, match="its parameters changed"):
        save(old.set_params(variance_penalty=0.77), tmp_path / "n.boost")


def test_damaged_choices_are_refused():
    X, y = noisy_table(80, seed=3)
    header, arrays = model_file.pack(VadaBoostClassifier(variance_penalty="auto", n_estimators=2).fit(X, y))
    curve = header["settled"]["variance_penalty_curve"]
    assert model_file.unpack(header, arrays).variance_penalty_ == header["settled"]["variance_penalty"]
    for settled in (
        None,
        {"variance_penalty": -1.0},
        {"variance_penalty": 3.0},  # more than the bound allows
        {"variance_penalty": "auto"},
        {"variance_penalty": True},
        {"strength": 0.5},
        {"variance_penalty": {"map": []}},
        {"variance_penalty": 0.5, "variance_penalty_curve": 3.0},
        {"variance_penalty": 0.5, "variance_penalty_curve": {"map": [["a", [1.0]]]}},
        {
            "variance_penalty": 0.5,
            "variance_penalty_curve": {"map": [*curve["map"], ["b", {"array": "<f8", "values": []}]]},
        },
    ):
        with pytest.raises(Exception, match=r"damaged|decided|variance_penalty") as told:
            model_file.unpack({**header, "settled": settled}, arrays)
        assert type(told.value).__module__ == "boostlab.model_io.problems"
