"""Probabilities from out-of-fold scores, and decisions by expected cost, for every classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from boostlab.backend import Masses, count_threads
from boostlab.boosters.voting import Voting
from boostlab.calibration.costs import best_threshold, cheapest, cost_matrix
from boostlab.calibration.maps import Calibration
from boostlab.data.sample import Sample, check_sample
from boostlab.data.table import Table
from boostlab.reductions.training import reduce

Array = npt.NDArray[Any]

FOLDS = 5


class Calibrating(Voting):
    """A vote with calibrated probabilities and costs, where these are asked for."""

    calibrate: str | None
    cost: Any
    class_weight: Any
    _learner: Any
    _with_bins: Any
    _calibration: Calibration | None = None
    cost_matrix_: Array

    @property
    def _n_trainings(self) -> int:
        """One, and one a fold of the calibration."""
        return 1 if self._how() is None else 1 + FOLDS

    def _how(self) -> str | None:
        """Return how to calibrate: costs are compared with probabilities, which a raw link does not give."""
        return self.calibrate or ("sigmoid" if self.cost is not None else None)

    def _for_calibration(self, sample: Sample, X: Any, y: Any, weight: Any) -> tuple[Sample, Masses] | None:
        """Return the sample with bins, for all folds, and the rows' masses without class weights; None: not asked."""
        for last in ("_calibration", "cost_matrix_"):
            self.__dict__.pop(last, None)
        if self._how() is None:
            return None
        plain = sample if self.class_weight is None else check_sample(X, y, weight, sample.classes, "y")
        rows = plain.rows if plain.rows.n_rows == sample.rows.n_rows else sample.rows
        self.classes_ = sample.classes
        return (self._with_bins(sample, None)[0] if self._learner().uses_bins else sample), rows

    def _calibrate(self, sample: Sample, rows: Masses) -> None:
        """Fit the map from scores to probabilities, by scores of models that have not seen their rows."""
        how = self._how()
        if how is None:
            return
        if self.cost is not None:
            self.cost_matrix_ = cost_matrix(self.cost, sample.classes)
        mass = np.ones(sample.rows.n_rows) if rows.mass is None else np.asarray(rows.mass)
        mass = mass if rows.counts is None else mass * rows.counts
        self._calibration = Calibration.fit(how, out_of_fold(self, sample), sample.codes, mass)

    def _probabilities(self, F: Any) -> Array:
        if self._calibration is None:
            return super()._probabilities(F)
        return self._calibration.probabilities(self._vote.shown(F))

    def _decide(self, F: Any) -> Array:
        if self._calibration is None:
            return super()._decide(F)
        P = self._probabilities(F)
        return P.argmax(axis=1) if self.cost is None else cheapest(P, self.cost_matrix_)

    def threshold_for(self, X: Any, y: Any, metric: Any = "f1") -> float:
        """Return the threshold of `decision_function` above which to predict the second class.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows that `fit` has not seen.
        y : array-like of shape (n_rows,)
            Their labels, of two classes.
        metric : {"f1", "accuracy", "balanced_accuracy", "cost"} or callable, default="f1"
            What is to be best: "cost" takes the model's own costs; a callable f(y_true, y_pred) of 0 and 1 (1 for the
            second class) returns a number, larger being better.

        Returns
        -------
        float
            `model.decision_function(X) > threshold` predicts the second class.
        """
        s = self.decision_function(X)
        if len(self.classes_) != 2:
            raise ValueError(
                f"A threshold parts two classes, and this model has {len(self.classes_)}; use cost= instead."
            )
        codes = self._codes(y, len(s))
        return best_threshold(s, codes == 1, metric, getattr(self, "cost_matrix_", None))


def folds_of(sample: Sample) -> Array:
    """Return every row's fold: the rows of each class in turn, in an order that depends on their content only."""
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    n = min(FOLDS, int(counts.min()))
    if n < 2:
        raise ValueError(
            f"Calibration holds out rows of every class, and there is one row of {sample.classes[counts.argmin()]!r}; "
            "give more rows, or calibrate=None."
        )
    order, fold = sample.canonical_order(), np.empty(len(sample.codes), np.intp)
    for c in range(len(sample.classes)):
        members = order[sample.codes[order] == c]
        fold[members] = np.arange(len(members)) % n
    return fold


def out_of_fold(booster: Any, sample: Sample) -> Array:
    """Return the score of every row by a model that was trained on the other folds, with the bins of all rows.

    Parameters
    ----------
    booster : BoostingClassifier
        Whose parameters the models have.
    sample : Sample
        The rows, binned already where the learner uses bins.
    """
    fold, out = folds_of(sample), np.empty(0)
    threads = count_threads(booster.n_jobs)
    for f in range(int(fold.max()) + 1):
        held = np.flatnonzero(fold == f)
        one = _fitted(booster, sample.part(np.flatnonzero(fold != f)))
        S = one._vote.shown(one._vote.scores(Table(sample.part(held).X, threads=threads)))
        if not len(out):
            out = np.empty((len(fold), *S.shape[1:]))
        out[held] = S
    return out


def _fitted(booster: Any, part: Sample) -> Any:
    """Return a plain model of some rows."""
    once = dict(calibrate=None, cost=None, callbacks=None, verbose=0, warm_start=False, class_weight=None)
    one = clone(booster).set_params(**once)
    for read in ("_columns", "n_features_in_", "feature_names_in_"):
        if hasattr(booster, read):
            setattr(one, read, getattr(booster, read))
    one.classes_, one._time = part.classes, booster._time
    reduction = one._reduction(len(part.classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the model of all rows says it
        if reduction is None:
            one._run(one._opened(part, None))
        else:
            reduce(one, reduction, part, None)
    if one.stop_reason_.startswith("interrupted"):
        raise KeyboardInterrupt
    return one
