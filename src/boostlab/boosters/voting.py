"""What a fitted booster can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, column_or_1d

from boostlab.backend import count_threads
from boostlab.data.coded import CODES_OF_OTHERS, CodedMatrix
from boostlab.data.input_errors import check_labels, one_sentence
from boostlab.data.input_tables import Reading
from boostlab.data.lazy import is_collection, lazily, score_of_collection
from boostlab.data.sample import encode_labels
from boostlab.data.table import Table
from boostlab.ensemble.vote import Ensemble

Array = npt.NDArray[Any]


class Fitted(Reading):
    """A vote and how it reads a table."""

    _ensemble: Ensemble
    n_jobs: int | None

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "n_estimators_")
        numbers, threads = self._numbers(X)[0], count_threads(self.n_jobs)
        if isinstance(numbers, Table):  # its codes mean something to voters that were trained on them
            mine = numbers.bins is getattr(self, "_bins", None)
            if not mine and isinstance(numbers.X, CodedMatrix):
                cuts = self._ensemble.cuts
                if cuts is None or not numbers.X.tells(*cuts):
                    raise ValueError(f"{CODES_OF_OTHERS}, or give plain rows.")
            return numbers.again(threads, codes=mine)
        return Table(numbers, threads=threads)


class Predicting(Fitted):
    """Numbers and their stages of a fitted vote for numbers."""

    baseline_: float

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, R².

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The true numbers.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        float
        """
        if is_collection(X):
            return score_of_collection(self, X, y, sample_weight, True)
        return super().score(X, y, sample_weight)  # type: ignore[misc]

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the predicted numbers.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        table = self._table(X)
        return self.baseline_ + self._ensemble.scores(table)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predicted numbers after every round, in one pass.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Yields
        ------
        array of shape (n_rows,)
        """
        table = self._table(X)
        return (self.baseline_ + F for F in self._ensemble.staged_scores(table))


class Voting(Fitted):
    """Scores, labels, probabilities, stages and margins of a fitted vote."""

    classes_: Array

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label is predicted.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            True labels.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        float
        """
        if is_collection(X):
            return score_of_collection(self, X, y, sample_weight, False)
        return super().score(X, y, sample_weight)  # type: ignore[misc]

    @property
    def _vote(self) -> Any:
        """The vote, or that of several binary problems: both can be asked the same."""
        return self._ensemble

    def _decide(self, F: Any) -> Array:
        """Return class indices."""
        return self._vote.decide(F)

    def _probabilities(self, F: Any) -> Array:
        """Return class probabilities."""
        return self._vote.probabilities(F)

    @lazily
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
        return self._vote.shown(self._vote.scores(table))

    @lazily
    def predict(self, X: Any) -> Array:
        """Return the predicted labels: the most probable ones, or, with `cost`, those with the smallest expected cost.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        table = self._table(X)
        return self.classes_[self._decide(self._vote.scores(table))]

    @lazily
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities: calibrated ones (`calibrate`), else by the rule's own link.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        table = self._table(X)
        return self._probabilities(self._vote.scores(table))

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
            return np.log(self.predict_proba(X))

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
        return map(self._vote.shown, self._vote.staged_scores(table))

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
        return (self.classes_[self._vote.decide(F)] for F in self._vote.staged_scores(table))

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
        return map(self._vote.probabilities, self._vote.staged_scores(table))

    def _codes(self, y: Any, n_rows: int) -> Array:
        """Return the class numbers of the labels of n_rows rows, or say what is wrong with them."""
        with one_sentence():
            check_labels(y)
            labels = column_or_1d(y)
            if len(labels) != n_rows:
                raise ValueError(f"X has {n_rows} rows and y has {len(labels)} labels; give one label a row of X.")
            return encode_labels(labels, self.classes_, "y")

    def margins(self, X: Any, y: Any) -> Array:
        """Return the normalised margins: how clearly the vote favours the true label.

        They lie between -1 and 1, except where a scikit-learn estimator that votes with numbers or probabilities says
        more on new rows than it did in training.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            True labels.

        Returns
        -------
        array of shape (n_rows,)
            y F(x) divided by the sum of |alpha| max|h|; with one score a class, y F(x) is the true class's score less
            the best other, or half of that where votes go from -1 to 1.  Under a reduction (`multiclass`), the mean
            margin of the binary problems that tell the true class from another, for the other class for which it is
            smallest.
        """
        table = self._table(X)
        codes = self._codes(y, table.n_rows)
        return self._vote.margins(self._vote.scores(table), codes)

    def certificate(self, X: Any, y: Any, delta: float = 0.05, **options: Any) -> Any:
        """Return what can be promised about this model: training error, margins, every bound that applies.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The training rows.
        y : array-like of shape (n_rows,)
            Their labels.
        delta : float, default=0.05
            Probability of failure of every single bound.
        **options
            X_test and y_test, held-out rows for an interval of the error; and more: see
            `boostlab.theory.certificate`.

        Returns
        -------
        boostlab.theory.Certificate
            Prints as a table.
        """
        from boostlab.theory.certificate import certificate  # which knows what a model is

        return certificate(self, X, y, delta, **options)
