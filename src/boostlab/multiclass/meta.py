"""What `PairwiseClassifier` and `ECOCClassifier` share: one binary classifier a column of a code."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted, has_fit_parameter, validate_data

from boostlab.boosters.base import BoostingClassifier
from boostlab.data.binned import Binned
from boostlab.data.frames import is_frame
from boostlab.data.input_errors import check_labels, one_sentence
from boostlab.data.sample import SIDES
from boostlab.reductions.decoding import agreeing
from boostlab.reductions.form import ReductionForm

Array = npt.NDArray[Any]


def _has_probabilities(self: CodedClassifier) -> bool:
    asked = self.estimators_[0] if hasattr(self, "estimators_") else self.estimator
    return hasattr(asked, "predict_proba")


class CodedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier made of binary ones, by a code and a decoder."""

    estimator: Any
    n_jobs: int | None
    classes_: Array
    estimators_: list[Any]
    n_features_in_: int

    _coded: ClassVar[bool] = True  # what `boostlab.model_io` knows it by

    def _form(self, masses: Array) -> ReductionForm:
        """Return the form of reduction for classes of these masses."""
        raise NotImplementedError

    def _decoder(self) -> str:
        """Return the name of what puts the answers together, if the parameters are possible."""
        raise NotImplementedError

    def _told(self, form: ReductionForm) -> ReductionForm:
        """Show what there is to know of the form, and return it as it decides."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train a binary classifier for every column of the code.

        Parameters
        ----------
        X : array, frame, sparse matrix or Binned of shape (n_rows, n_features)
            What the estimator takes; boosters of this package share one `Binned`.
        y : array-like of shape (n_rows,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_rows,), optional
            Handed on, if the estimator takes weights; rows of weight zero are left out.

        Returns
        -------
        self
        """
        self._check_estimator()
        with one_sentence():
            X, y, weight = self._checked(X, y, sample_weight)
        if weight is not None and not (weight > 0).all():
            kept = np.flatnonzero(weight > 0)
            X, y, weight = _safe_indexing(X, kept), y[kept], weight[kept]
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y holds only one class ({classes[0]}); a classifier needs at least two classes to tell apart."
            )
        self.classes_ = classes
        self._decoding = form = self._told(self._form(np.bincount(codes, weights=weight).astype(np.float64)))
        if form.by_probabilities and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"{type(self).__name__} asks its classifiers for probabilities, and {type(self.estimator).__name__} "
                "has no predict_proba; choose another way to put votes together, or calibrate it "
                "(sklearn.calibration.CalibratedClassifierCV)."
            )
        jobs = 1 if self._boosts else self.n_jobs  # boosters have threads of their own, and one table
        self.estimators_ = Parallel(n_jobs=jobs)(
            delayed(_fitted)(self.estimator, X, column[codes], weight) for column in form.code.T
        )
        return self

    def _check_estimator(self) -> None:
        e = self.estimator
        if isinstance(e, type) or not hasattr(e, "fit") or not is_classifier(e):
            raise TypeError(
                f"{type(self).__name__}: estimator={e!r} is not a classifier; give one that is not yet fitted, such as "
                "AdaBoostClassifier()."
            )

    @property
    def _boosts(self) -> bool:
        return isinstance(self.estimator, BoostingClassifier)

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """Return a table whose rows can be chosen, labels, and weights if there are any."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        check_labels(y)
        if self._boosts:
            if not isinstance(X, Binned):
                e = self.estimator
                how = dict(max_bins=e.max_bins, categorical_features=e.categorical_features, n_jobs=e.n_jobs)
                X = Binned.fit(X, sample_weight=sample_weight, **how)
            self._seen = X.reader()
            self.n_features_in_ = X.n_features_in_
            self.__dict__.pop("feature_names_in_", None)
            if hasattr(X, "feature_names_in_"):
                self.feature_names_in_ = X.feature_names_in_
        else:
            X = self._plain(X, reset=True)
        y = _check_y(y, estimator=self)
        check_classification_targets(y)
        check_consistent_length(X, y)
        if sample_weight is None:
            return X, y, None
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator).__name__} takes no sample_weight; leave it out, or use another estimator."
            )
        return X, y, _check_sample_weight(sample_weight, np.empty((len(y), 1)), ensure_non_negative=True)

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        if self._boosts:
            return X if isinstance(X, Binned) else self._seen.reading(X)  # read once for all of them
        return self._plain(X, reset=False)

    def _plain(self, X: Any, reset: bool) -> Any:
        """Return a table whose rows can be chosen; what is in it is the estimator's business."""
        X = X.numbers if isinstance(X, Binned) else X
        rules: dict[str, Any] = dict(accept_sparse="csr", dtype=None, ensure_all_finite=False)
        table = validate_data(self, X, reset=reset, **(dict(skip_check_array=True) if is_frame(X) else rules))
        return X if is_frame(X) else table

    def _answers(self, X: Any, chances: bool) -> tuple[Array | None, Array | None]:
        """Return the binary scores, unless the decoder wants probabilities only, and the probabilities if wanted."""
        X = self._read(X)
        by_chance = self._decoding.by_probabilities
        F = None if by_chance else np.stack([_scores(e, X) for e in self.estimators_], axis=1)
        R = np.stack([_chances(e, X) for e in self.estimators_], axis=1) if by_chance or chances else None
        return F, R

    def decision_function(self, X: Any) -> Array:
        """Return the decoder's scores: of class 1 over class 0 for two classes, else one a class.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        F, R = self._answers(X, chances=False)
        if len(self.classes_) == 2:
            return F[:, 0] if F is not None else R[:, 0] - 0.5  # type: ignore[index]
        return self._decoding.scores(F, R)

    def predict(self, X: Any) -> Array:
        """Return the predicted labels; they are always the most probable ones.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        D = self.decision_function(X)
        return self.classes_[(D > 0).astype(np.intp) if D.ndim == 1 else D.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, those that agree best with the binary classifiers' (see `boostlab.multiclass`).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        F, R = self._answers(X, chances=True)
        assert R is not None
        if len(self.classes_) == 2:
            P = np.column_stack([1 - R, R])
            return P if F is None else agreeing(P, (F[:, 0] > 0).astype(np.intp))
        return self._decoding.probabilities(F, R)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the class probabilities; -inf where a probability is 0.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def contributions(self, X: Any, background: Any = None) -> Any:
        """Return what every feature adds to the scores of the binary classifiers, if these are boosters.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows to explain.
        background : array-like of shape (m, n_features), optional
            As for a booster's `contributions`.

        Returns
        -------
        boostlab.explain.Contributions
            `values` of shape (n_rows, n_features, n_problems), or (n_rows, n_features) of one problem.  Classes are
            decided for by counting or by a loss, which is no sum; `output_names` says which classes a score parts.
        """
        check_is_fitted(self)
        if not self._boosts:
            raise ValueError(
                f"{type(self.estimator).__name__} has no exact contributions; use a booster of boostlab as the "
                "estimator, or a model-agnostic tool such as sklearn.inspection."
            )
        from boostlab.explain.shapley import side_by_side  # not needed to train

        X, rows = self._read(X), None if background is None else self._read(background)
        return side_by_side([e.contributions(X, rows) for e in self.estimators_], self._decoding.code, self.classes_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `boostlab.load` reads, if its estimator is a booster of this package.

        Parameters
        ----------
        path : str or path
            Where to; an older file there is replaced once the new one is complete.
        """
        from boostlab.model_io import save  # not needed to train

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn should know: a table is what the estimator takes."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _fitted(estimator: Any, X: Any, sides: Array, weight: Array | None) -> Any:
    """Return a clone that was trained on the rows that take part, with labels 0 and 1."""
    rows = np.flatnonzero(sides)
    labels = SIDES[(sides[rows] > 0).astype(np.intp)]
    if len(rows) < len(sides):
        X, weight = _safe_indexing(X, rows), None if weight is None else weight[rows]
    weights = {} if weight is None else {"sample_weight": weight}
    return clone(estimator).fit(X, labels, **weights)


def _scores(model: Any, X: Any) -> Array:
    """Return a binary classifier's scores: its own, else half its log odds, else the labels -1 and +1."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), np.float64)
    if hasattr(model, "predict_proba"):
        p = np.clip(_chances(model, X), 1e-12, 1 - 1e-12)
        return np.asarray(np.log(p / (1 - p)) / 2)
    return np.where(np.asarray(model.predict(X)) == 1, 1.0, -1.0)


def _chances(model: Any, X: Any) -> Array:
    return np.asarray(model.predict_proba(X), np.float64)[:, 1]
