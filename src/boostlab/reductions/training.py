"""Train a binary booster on every problem of a reduction: one table, binned once, shared by all of them."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from boostlab.data.sample import SIDES, Sample
from boostlab.reductions.form import ReductionForm, form_of
from boostlab.reductions.reduced import Reduced

Array = npt.NDArray[Any]
Booster = Any  # a classifier of `boostlab.boosters`, which calls `reduce`

FOLLOWS = ("n_estimators", "callbacks", "verbose", "n_jobs")  # what may change between warm starts


def reduce(booster: Booster, name: str, sample: Sample, held_out: Sample | None) -> None:
    """Train a booster on three or more classes by reducing them to binary problems.

    Parameters
    ----------
    booster : BoostingClassifier
        Whose parameters all binary boosters have; it gets their vote and their records.
    name : {"ovr", "ovo", "ecoc"}
        The form of reduction.
    sample, held_out : Sample
        Rows to train on, and to follow where there are any.
    """
    goes_on = booster._goes_on(sample, held_out)
    booster.classes_ = sample.classes
    masses = sample.class_masses()
    form = form_of(name, masses, np.random.default_rng(booster._seed()))
    if goes_on and isinstance(booster._ensemble, Reduced):
        models = [_going_on(model, booster) for model in booster.estimators_]
    else:
        models = [binary(booster) for _ in range(form.n_problems)]
    if models[0]._learner().uses_bins:
        sample, held_out = models[0]._with_bins(sample, held_out)
    time = None if booster._time is None else booster._time.part(form.n_problems)
    for column, model in zip(form.code.T, models, strict=True):
        model._time, model._smaller_side = time, smaller_side(column, masses)
        part, judge = sample.problem(column), None if held_out is None else held_out.problem(column)
        _train(model, part, judge if judge is not None and judge.rows.n_rows else None)
    booster.__dict__.pop("_training", None)
    keep(booster, models, form)
    booster._bins = None if sample.table is None else sample.table.bins
    _warn(booster, models)


def smaller_side(column: Array, masses: Array) -> float:
    """Return the share of the smaller side of a binary problem.

    Examples
    --------
    >>> smaller_side(np.array([1, -1, -1]), np.array([10.0, 20.0, 20.0]))
    0.2
    """
    sides = [float(masses[column * side > 0].sum()) for side in (-1, 1)]
    return min(sides) / sum(sides)


def binary(booster: Booster) -> Booster:
    """Return an unfitted booster for one binary problem, that reads tables as this one does."""
    model: Booster = clone(booster).set_params(multiclass="auto", class_weight=None, calibrate=None, cost=None)
    for read in ("_columns", "n_features_in_", "feature_names_in_"):
        if hasattr(booster, read):
            setattr(model, read, getattr(booster, read))
    model.classes_ = SIDES
    return model


def _going_on(model: Booster, booster: Booster) -> Booster:
    """Return a binary booster that goes on with its training; the old one stays, in case this fit fails."""
    twin: Booster = object.__new__(type(model))
    twin.__dict__.update(model.__dict__)
    return twin.set_params(**{name: getattr(booster, name) for name in FOLLOWS})


def _train(model: Booster, part: Sample, judge: Sample | None) -> None:
    if model.early_stopping and judge is None and np.bincount(part.codes, minlength=2).max() < 2:
        model.early_stopping = False  # one row a side: there is none to hold out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # `_warn` sums them up
        model._run(model._opened(part, judge))
    model._time = None
    if model.stop_reason_.startswith("interrupted"):
        raise KeyboardInterrupt  # without the other problems there is no vote


def keep(booster: Any, models: list[Booster], form: ReductionForm) -> None:
    """Take the binary boosters, trained or loaded, as the model's own."""
    booster._ensemble = Reduced([model._ensemble for model in models], form)
    booster._settled = {}
    booster.estimators_ = models
    booster.estimator_weights_ = [model.estimator_weights_ for model in models]
    booster.history_ = [model.history_ for model in models]
    booster.n_estimators_ = len(booster._ensemble)
    booster.stop_reason_ = stop_reason([model.stop_reason_ for model in models])
    booster.feature_importances_ = booster._ensemble.importances(booster.n_features_in_)
    for name in booster._settles:
        setattr(booster, f"{name}_", [getattr(model, f"{name}_") for model in models])


def stop_reason(reasons: list[str]) -> str:
    """Return why the trainings ended, the most frequent code first."""
    (code, count), *others = Counter(reason.split(":")[0] for reason in reasons).most_common()
    rest = "".join(f", {other} in {n}" for other, n in others)
    return f"{code}: in {count} of {len(reasons)} binary problems{rest}"


def _warn(booster: Booster, models: list[Booster]) -> None:
    silent = [model.stop_reason_ for model in models if not model.n_estimators_]
    if silent:
        warnings.warn(
            f"{type(booster).__name__} kept no voter in {len(silent)} of {len(models)} binary problems ({silent[0]}), "
            "so these say for every row which side has more examples.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return
    faults = [model._fault for model in models if model._fault]
    if len(faults) * 2 > len(models):  # a side that is rare in one problem is no wonder
        warnings.warn(
            f"{type(booster).__name__}: in {len(faults)} of {len(models)} binary problems the booster {faults[0]}",
            ConvergenceWarning,
            stacklevel=4,
        )
