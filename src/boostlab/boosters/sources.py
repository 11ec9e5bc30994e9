"""Shared by all boosters: where rows come from and live, in this process or on the workers of a Dask cluster.

The choice is made here, by what the user passes; the rest of a fit is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from boostlab.backend import CpuRows, Masses, count_threads
from boostlab.boosters.selection import SamplePart, SelectionData
from boostlab.contract import Learner, Rule
from boostlab.data.coded import CodedMatrix
from boostlab.data.lazy import is_collection
from boostlab.data.sample import Sample
from boostlab.data.table import Table
from boostlab.engine.measures import MEASURES, REGRESSION_MEASURES


class Samples(NamedTuple):
    """What `fit` was given, checked."""

    sample: Any
    held_out: Any
    calibrated: tuple[Sample, Masses] | None  # what it takes to calibrate


class Given(NamedTuple):
    """The arguments of `fit`."""

    X: Any
    y: Any
    sample_weight: Any
    X_val: Any
    y_val: Any
    sample_weight_val: Any


class Laid(Protocol):
    """A sample with bins, ready for a rule."""

    bins: Any  # that predictions may use
    selection: tuple[Any, Any]  # the sample and the validation sample, for parameters that the data decide

    def rows(self, rule: Rule) -> tuple[Any, Any, Any, Any]:
        """Return the rows, those to watch, and both samples as monitors see them."""


@contextmanager
def samples(booster: Any, given: Given) -> Iterator[Samples]:
    """Read what `fit` was given, and let go of it afterwards."""
    if (given.X_val is None) != (given.y_val is None):
        raise ValueError("X_val and y_val go together: give both or neither.")
    if given.X_val is None and given.sample_weight_val is not None:
        raise ValueError("sample_weight_val needs X_val and y_val.")
    if not is_collection(given.X):
        yield _in_memory(booster, given)
        return
    from boostlab.data.dask.clients import current_cluster  # needs dask

    _refuse(booster, given)
    with current_cluster() as cluster:
        yield _on_cluster(booster, given, cluster)


def _in_memory(booster: Any, given: Given) -> Samples:
    X, y = booster._numbers(given.X, (given.y,), reset=True, sample_weight=given.sample_weight)
    sample = booster._sample(X, y, given.sample_weight)
    held_out = None if given.X_val is None else _validation(booster, given, sample)
    calibrated = booster._for_calibration(sample, X, y, given.sample_weight)
    return Samples(sample if calibrated is None else calibrated[0], held_out, calibrated)


def _validation(booster: Any, given: Given, sample: Any) -> Sample:
    if is_collection(given.X_val):
        raise TypeError("X_val is a Dask collection and X is not; give X_val in memory, or both as collections.")
    X, y = booster._numbers(given.X_val, (given.y_val,), where="y_val")
    found: Sample = booster._sample(X, y, given.sample_weight_val, sample)
    return found


def _on_cluster(booster: Any, given: Given, cluster: Any) -> Samples:
    from boostlab.data.dask.sample import read, read_like

    weights = given.sample_weight, getattr(booster, "class_weight", None)
    sample = read(cluster, booster, given.X, given.y, weights[0], booster._numeric, weights[1])
    held_out: Any = None
    if given.X_val is not None and is_collection(given.X_val):
        held_out = read_like(sample, given.X_val, given.y_val, given.sample_weight_val)
    elif given.X_val is not None:
        held_out = _validation(booster, given, sample)
    return Samples(sample, held_out, None)


def _refuse(booster: Any, given: Given) -> None:
    """Say what does not work on rows that are elsewhere, and what does."""
    name, elsewhere = type(booster).__name__, "and the rows are on a Dask cluster"
    if getattr(booster, "calibrate", None) is not None or getattr(booster, "cost", None) is not None:
        raise TypeError(
            f"{name}: calibrate and cost train on folds of all rows, {elsewhere}; fit without them, and calibrate on "
            "rows in memory (sklearn.calibration.CalibratedClassifierCV of a FrozenEstimator)."
        )
    if booster.warm_start:
        raise TypeError(f"{name}: warm_start keeps rows between fits, {elsewhere}; fit with more n_estimators instead.")
    if booster.resample:
        raise TypeError(f"{name}: resample draws from all rows in one order, {elsewhere}; fit with resample=False.")
    if booster.early_stopping is True and given.X_val is None:
        raise TypeError(f"{name}: early_stopping holds out rows in one order, {elsewhere}; give X_val and y_val.")
    scoring = getattr(booster, "scoring", None)
    known = isinstance(scoring, str) and scoring in ("auto", *MEASURES, *REGRESSION_MEASURES)
    if given.X_val is not None and not known:
        raise TypeError(
            f"{name}: scoring={scoring!r} is computed from all rows in one place, {elsewhere}; use 'error', "
            "'exponential' or 'log_loss' ('squared_error' or 'absolute_error' for a regressor)."
        )


def lay(booster: Any, given: Any, sample: Any, held_out: Any, learner: Learner) -> Laid:
    """Return a sample with bins: those of all rows that `fit` was given."""
    return (InMemory if isinstance(sample, Sample) else OnCluster)(booster, given, sample, held_out, learner)


def with_bins(booster: Any, sample: Any, held_out: Any) -> tuple[Any, Any]:
    """Return samples with bins, unless they have some, for several trainings."""
    if not isinstance(sample, Sample):
        sample = sample.binned(booster.max_bins)
        if held_out is not None and not isinstance(held_out, Sample):
            held_out = held_out.coded(sample.bins)
        return sample, held_out
    threads = count_threads(booster.n_jobs)
    table = booster._binned_table(sample, threads)
    if held_out is not None:
        held_out = replace(held_out, table=held_out.coded(table.bins, threads))
    return replace(sample, table=table), held_out


class InMemory:
    """Rows in this process.

    Parameters
    ----------
    booster : Booster
        Whose rows.
    given : Sample
        All rows that `fit` was given, which have a say in the bins: a Binned of them gives the same model.
    sample, held_out : Sample
        Rows to train on, and to watch.
    learner : Learner
        Says whether bins are needed.
    """

    def __init__(self, booster: Any, given: Sample, sample: Sample, held_out: Sample | None, learner: Learner) -> None:
        if isinstance(given.X, CodedMatrix):
            _check_learner(booster, learner, "this table, which came in batches, holds bin codes")
        threads = count_threads(booster.n_jobs)
        table = booster._binned_table(given, threads, sample) if learner.uses_bins else Table(sample.X, threads=threads)
        self.bins = None if sample.table is None else table.bins
        self.n_classes, self.samples = booster._n_classes, (sample, held_out)
        watched = None if held_out is None else SamplePart(held_out.plain(), held_out.coded(table.bins, threads))
        self.selection = SamplePart(sample.plain(), table), watched

    def rows(self, rule: Rule) -> tuple[Any, Any, Any, Any]:
        """Return the rows, those to watch, and both samples as monitors see them."""
        (sample, held_out), (whole, watched) = self.samples, self.selection
        rows = CpuRows(rule, whole.table, sample.rows, sample.codes, self.n_classes)
        return rows, None if watched is None else watched.table, sample, held_out


class OnCluster:
    """Rows on the workers of a Dask cluster.

    Parameters
    ----------
    booster, given, sample, held_out, learner
        As for `InMemory`; validation rows may be in this process.
    """

    bins = None

    def __init__(self, booster: Any, given: Any, sample: Any, held_out: Any, learner: Learner) -> None:
        _check_learner(booster, learner, "rows on a Dask cluster are bin codes")
        self.threads, self.n_classes = count_threads(booster.n_jobs), booster._n_classes
        self.sample = sample.binned(booster.max_bins)
        self.here = isinstance(held_out, Sample)
        self.held_out = held_out
        if self.here:
            self.watched = held_out.coded(self.sample.bins, self.threads)
        elif held_out is not None:
            self.held_out = held_out.coded(self.sample.bins)
        self.selection = _NotHere(), _NotHere()

    def rows(self, rule: Rule) -> tuple[Any, Any, Any, Any]:
        """Return the rows, those to watch, and both samples as monitors see them."""
        rows = self.sample.for_rule(rule, self.n_classes, self.threads)
        sample = Sample(None, rows.k, rows.masses, self.sample.classes)
        if self.held_out is None or self.here:
            return rows, self.watched if self.here else None, sample, self.held_out
        watched = self.held_out.for_rule(rule, self.n_classes, self.threads)
        return rows, watched, sample, Sample(None, watched.k, watched.masses, self.sample.classes)


def _check_learner(booster: Any, learner: Learner, codes: str) -> None:
    """Refuse a learner that looks at numbers where there are none."""
    if not learner.uses_bins:
        raise TypeError(
            f"{type(booster.estimator).__name__} looks at numbers, and {codes}; use stumps or trees (max_depth, "
            "max_leaf_nodes), or fit on a table in memory."
        )


class _NotHere:
    """Stands for rows where a parameter that is a word would look at them."""

    def __getattr__(self, name: str) -> Any:
        raise TypeError(
            "A parameter that the data decide is found by trials on all rows, and these are on a Dask cluster; give a "
            "number instead of the word."
        )


def selection_of(booster: Any, laid: Laid, learner: Learner, rng: np.random.Generator) -> SelectionData:
    """Return what parameters that the data decide are found by."""
    whole, watched = laid.selection
    return SelectionData(
        *(whole, watched, learner, booster.resample, booster.max_restarts, rng),
        *(booster.validation_fraction, booster._trial_rounds),
    )
