"""The scikit-learn face that all boosters share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from boostlab.contract import Rule
from boostlab.data.columns import Columns, has_categories, is_frame
from boostlab.data.table import MOST_BINS, Bins, Table
from boostlab.data.threads import count_threads
from boostlab.engine import Monitor, Training, history
from boostlab.ensemble import Ensemble, decide, probabilities
from boostlab.estimators.params import Check, check_params, flag, number, one_of, param, whole
from boostlab.estimators.sample import Sample, check_sample, encode_labels, hold_out
from boostlab.monitors import Callbacks, Progress, Validation
from boostlab.voters import as_learner

Array = npt.NDArray[Any]

_CALLABLES = Check(
    lambda v: v is None or callable(v) or (isinstance(v, Sequence) and all(map(callable, v))),
    "a callable or a list of callables",
)
_MAPPING = Check(lambda v: isinstance(v, Mapping), "a mapping from labels to weights")
_FREE = (
    "n_estimators",
    "callbacks",
    "verbose",
    "n_jobs",
    "warm_start",
    "random_state",
)  # may change between warm starts


@dataclass(eq=False, repr=False)
class BoostingClassifier(ClassifierMixin, BaseEstimator):
    """Everything about a booster but its rule.  A subclass adds its parameters and says which rule they make."""

    estimator: Any = param(None)
    _: KW_ONLY
    max_depth: int | None = param(None, one_of(None) | whole(1))
    max_leaf_nodes: int | None = param(None, one_of(None) | whole(2))
    n_estimators: int = param(100, whole(1))
    resample: bool | str = param(False, flag() | one_of("systematic"))
    max_restarts: int = param(10, whole(0))
    max_bins: int | str = param(255, whole(2, MOST_BINS) | one_of("exact"))
    categorical_features: Any = param("from_dtype")
    early_stopping: bool = param(False, flag())
    validation_fraction: float = param(0.1, number(0, 1, "()"))
    n_iter_no_change: int = param(10, whole(1))
    tol: float = param(0.0, number(0))
    scoring: Any = param("error")
    keep_best: bool = param(True, flag())
    class_weight: Any = param(None, one_of(None, "balanced") | _MAPPING)
    warm_start: bool = param(False, flag())
    callbacks: Any = param(None, _CALLABLES)
    verbose: int = param(0, whole(0) | flag())
    n_jobs: int | None = param(None, one_of(None) | whole(1) | whole(-64, -1))
    random_state: Any = param(None)

    _multiclass: ClassVar[bool] = False  # whether the rule takes three or more classes
    _tol_is_the_rules: ClassVar[bool] = False  # whether `tol` belongs to the rule rather than to early stopping

    def _rule(self) -> Rule:
        """Return the rule these parameters make."""
        raise NotImplementedError

    # -- fit -----------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> BoostingClassifier:
        """Train on a table.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            Numbers, NaN for missing values; columns of text or categories in a pandas or polars frame.
        y : array-like of shape (n_rows,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_rows,), optional
            Not negative; weight k equals k copies of a row.
        X_val, y_val, sample_weight_val : optional
            A validation set to follow, and to stop by if `early_stopping` is on.

        Returns
        -------
        self
        """
        check_params(self)
        self._columns: Columns | None = None
        X, y = self._numbers(X, y, reset=True)
        sample = check_sample(X, y, sample_weight, None, "y", self.class_weight)
        self._check_classes(sample)
        held_out = self._validation_sample(X_val, y_val, sample_weight_val, sample)
        training = self._resumed(sample) if self.warm_start else None
        if training is None:
            training = self._begin(sample, held_out)
        self._run(training)
        return self

    def _numbers(self, X: Any, y: Any = None, reset: bool = False) -> tuple[Array, Any]:
        """Return a checked table of floats (NaN for missing values, numbers for categories), and the labels."""
        if reset and (has_categories(X) or self.categorical_features not in ("from_dtype", None)):
            validate_data(self, X, skip_check_array=True)  # notes the columns' names and number
            X = X if is_frame(X) else np.asarray(X)
            self._columns = Columns.fit(X, self.categorical_features)
        rules = dict(dtype=[np.float64, np.float32], order="C", ensure_all_finite="allow-nan")
        if self._columns is None:
            if y is None:
                return validate_data(self, X, reset=reset, **rules), None
            X, y = validate_data(self, X, y, reset=reset, **rules)
            return X, y
        validate_data(self, X, reset=False, skip_check_array=True)
        X = self._columns.numbers(X if is_frame(X) else np.asarray(X, dtype=object))
        return (check_array(X, **rules), None) if y is None else check_X_y(X, y, **rules)

    def _check_classes(self, sample: Sample) -> None:
        if len(sample.classes) > 2 and not self._multiclass:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} was given {len(sample.classes)} classes; "
                "wrap it in sklearn.multiclass.OneVsRestClassifier."
            )

    def _validation_sample(self, X_val: Any, y_val: Any, weight: Any, sample: Sample) -> Sample | None:
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: give both or neither.")
        if X_val is None:
            if weight is not None:
                raise ValueError("sample_weight_val needs X_val and y_val.")
            return None
        X_val, y_val = self._numbers(X_val, y_val)
        return check_sample(X_val, y_val, weight, sample.classes, "y_val")

    def _begin(self, sample: Sample, held_out: Sample | None) -> Training:
        """Set up a new training: bins, rule, learner, and what to watch."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        if self.warm_start:
            self._settings = sample.fingerprint(), self._fixed_params()
        if self.early_stopping and held_out is None:
            sample, held_out = hold_out(sample, self.validation_fraction, rng)
        threads = count_threads(self.n_jobs)
        rule = self._rule()
        learner = as_learner(self.estimator, rule, type(self).__name__, self.max_depth, self.max_leaf_nodes)
        n_categories: dict[int, int] = {} if self._columns is None else self._columns.n_categories
        bins = None
        if learner.uses_bins:
            bins = Bins.fit(sample.X, sample.rows, self.max_bins, threads, n_categories)
        self.classes_ = sample.classes
        training = Training(
            rule,
            learner,
            Table.of(sample.X, bins, threads),
            sample.rows,
            sample.codes,
            len(sample.classes),
            horizon=self.n_estimators,
            resample=self.resample,
            max_restarts=self.max_restarts,
            rng=rng,
            watched=None if held_out is None else Table.of(held_out.X, bins, threads),
        )
        if held_out is not None:
            patience = self.n_iter_no_change if self.early_stopping else None
            tol = 0.0 if self._tol_is_the_rules else self.tol
            validation = (held_out.X, held_out.codes, held_out.rows)
            training.monitors.append(Validation(self.scoring, sample.classes, validation, sample.X, patience, tol))
        return training

    def _run(self, training: Training) -> None:
        """Run the training and keep what a fitted model needs."""
        monitors: list[Monitor] = []
        if self.callbacks is not None:
            monitors.append(Callbacks([self.callbacks] if callable(self.callbacks) else self.callbacks))
        with ExitStack() as stack:
            if self.verbose:
                progress = stack.enter_context(Progress(self.n_estimators, type(self).__name__))
                monitors.append(progress)
            stop = training.run(self.n_estimators, monitors)
            if self.verbose:
                progress.show(training.state)
        rounds = training.finished()
        self.history_ = history(rounds)
        if self.early_stopping and self.keep_best:
            best = min(m.best_round for m in training.monitors if isinstance(m, Validation))
            rounds = rounds[: best or None]  # none yet if Ctrl-C came before the first score
        self._ensemble = Ensemble(training.rule, rounds, len(self.classes_), count_threads(self.n_jobs))
        self.stop_reason_ = str(stop)
        self.n_estimators_ = len(rounds)
        self.estimators_ = self._ensemble.voters
        self.estimator_weights_ = self._ensemble.alphas
        self.feature_importances_ = self._ensemble.importances(self.n_features_in_)
        if self.warm_start:
            self._training = training
        else:
            self.__dict__.pop("_training", None)
        if not rounds:
            warnings.warn(
                f"{type(self).__name__} kept no voter ({stop}), so it predicts {self.classes_[0]} for every row.",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- warm start ----------------------------------------------------------------------------------

    def _fixed_params(self) -> dict[str, str]:
        return {k: repr(v) for k, v in self.get_params(deep=False).items() if k not in _FREE}

    def _resumed(self, sample: Sample) -> Training | None:
        """Return the training to go on with; None starts anew, which gives the same model, only later."""
        training: Training | None = getattr(self, "_training", None)
        if training is None or training.torn:
            return None
        data, settings = self._settings
        changed = [k for k, v in self._fixed_params().items() if settings[k] != v]
        if data != sample.fingerprint() or changed:
            what = f"the parameter {changed[0]}" if changed else "the data"
            raise ValueError(
                f"warm_start goes on with the last fit, but {what} changed since; set warm_start=False to start anew, "
                "or fit a clone."
            )
        if self.n_estimators < training.state.t:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {training.state.t} rounds already trained; "
                "with warm_start it may only grow."
            )
        training.state.horizon = self.n_estimators
        return training

    def __getstate__(self) -> dict[str, Any]:
        """Leave the live training behind: a copy that warm-starts trains from the beginning, to the same model."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_training", None)
        return state

    # -- predict -------------------------------------------------------------------------------------

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "n_estimators_")
        return Table(self._numbers(X)[0])

    def decision_function(self, X: Any) -> Array:
        """Return the scores: of class 1 over class 0 for two classes, else one a class.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        table = self._table(X)
        return _one_column(self._ensemble.scores(table))

    def predict(self, X: Any) -> Array:
        """Return the predicted labels; they are always the most probable ones.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        table = self._table(X)
        return self.classes_[decide(self._ensemble.scores(table))]

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities through the rule's own link (see its documentation for what they mean).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        table = self._table(X)
        return probabilities(self._ensemble.rule, self._ensemble.scores(table))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores after every round, in one pass.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Yields
        ------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        table = self._table(X)
        return map(_one_column, self._ensemble.staged_scores(table))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predicted labels after every round.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Yields
        ------
        array of shape (n_rows,)
        """
        table = self._table(X)
        return (self.classes_[decide(F)] for F in self._ensemble.staged_scores(table))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield class probabilities after every round.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Yields
        ------
        array of shape (n_rows, n_classes)
        """
        table = self._table(X)
        return (probabilities(self._ensemble.rule, F) for F in self._ensemble.staged_scores(table))

    def margins(self, X: Any, y: Any) -> Array:
        """Return the normalised margins: how clearly the vote favours the true label, from -1 to 1.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            True labels.

        Returns
        -------
        array of shape (n_rows,)
            y F(x) divided by the sum of |alpha| max|h|; with one score a class, y F(x) is the true class's score less
            the best other.
        """
        F = self._ensemble.scores(self._table(X))
        codes = encode_labels(np.asarray(y), self.classes_, "y")
        if len(codes) != len(F):
            raise ValueError(f"X has {len(F)} rows and y has {len(codes)} labels; they must be as many.")
        if F.ndim == 1:
            margins = np.where(codes == 1, F, -F)
        else:
            rows = np.arange(len(F))
            others = F.copy()
            others[rows, codes] = -np.inf
            margins = F[rows, codes] - others.max(axis=1)
        bound = self._ensemble.bound
        return margins / bound if bound > 0 else margins

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn should know."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multiclass
        tags.input_tags.allow_nan = True
        return tags


def _one_column(F: Array) -> Array:
    return F[:, 1] - F[:, 0] if F.ndim == 2 and F.shape[1] == 2 else F
