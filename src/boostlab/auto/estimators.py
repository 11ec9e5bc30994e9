"""Estimators that choose a booster and its settings themselves.

Without a budget they are one recipe: LogitBoost (for numbers L2Boost) with trees of a few leaves in small steps, whose
number of rounds is found on held-out rows (below 1,000 rows by cross-validation) by a smooth measure, with patience in
proportion to the step; the booster is then fitted to all rows.  Categories of few rows are read as missing.  With a
budget they run the comparison of `boostlab.compare` on the training rows and fit what it recommends.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils.validation import check_is_fitted

from boostlab.boosters.l2boost import L2BoostRegressor
from boostlab.boosters.logitboost import LogitBoostClassifier
from boostlab.comparison.arrays import compare
from boostlab.comparison.metrics import find_metric
from boostlab.comparison.request import seconds_of
from boostlab.studies.request import RequestError

Array = npt.NDArray[Any]

RATE = 0.1
LEAVES = ((500, 3), (5_000, 8), (np.inf, 16))  # below so many rows; larger trees overfit few rows
MOST_ROUNDS = 1_000
PATIENCE = 3.0  # over the rate: rounds without a better validation score
HELD_OUT = 0.15
SMALL = 1_000  # rows below which all of them choose the number of rounds, by cross-validation
FOLDS = 5
RAREST = 10  # rows of a category below which it is read as missing: trees would memorise its rows


class _AutoBoost(BaseEstimator):
    """What the classifier and the regressor share."""

    def __init__(
        self,
        budget: float | str | None = None,
        *,
        metric: str | None = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.budget = budget
        self.metric = metric
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose a booster and its settings by the training rows, and fit it to all of them.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_rows, n_features)
            Whatever a booster's `fit` takes.
        y : array-like of shape (n_rows,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_rows,), optional
            Only without a budget.

        Returns
        -------
        self
        """
        if self.budget is None:
            self.best_estimator_, self.choice_ = self._untuned(X, y, sample_weight)
        else:
            if sample_weight is not None:
                raise ValueError("A comparison (budget) takes no sample_weight; leave the budget or the weights out.")
            self.best_estimator_, self.choice_ = self._compared(X, y)
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _booster(self, n_rows: int, rounds: int, early: bool) -> Any:
        """Return the untuned booster."""
        leaves = next(leaves for rows, leaves in LEAVES if n_rows < rows)
        options: dict[str, Any] = {"early_stopping": True, "n_iter_no_change": int(PATIENCE / RATE)} if early else {}
        return self._kind()(
            n_estimators=rounds,
            max_leaf_nodes=leaves,
            learning_rate=RATE,
            categorical_features=self.categorical_features,
            min_category_size=RAREST,
            scoring=self._smooth(),
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            **options,
        )

    def _kind(self) -> Any:
        raise NotImplementedError

    def _smooth(self) -> str:
        """Return the measure that says when to stop."""
        raise NotImplementedError

    def _untuned(self, X: Any, y: Any, weight: Any) -> tuple[Any, str]:
        """Find the number of rounds on held-out rows, and fit so many to all rows.

        A few held-out rows may be told apart ever more surely, so the curves of several parts are added before the
        best round is read off them.
        """
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        curves = []
        for rows, others in _parts(np.asarray(y), n_rows, self.random_state, self._stratified):
            fit = {} if weight is None else {"sample_weight": np.asarray(weight)[rows]}
            probe = self._booster(n_rows, MOST_ROUNDS, early=True)
            probe.fit(_take(X, rows), _take(y, rows), X_val=_take(X, others), y_val=_take(y, others), **fit)
            curves.append(len(others) * np.asarray(probe.history_["validation_score"], float))
        rounds = int(np.ceil((1 + _added(curves).argmin()) / (1.0 - HELD_OUT / 2)))  # more rows bear a few more
        model = self._booster(n_rows, min(rounds, MOST_ROUNDS), early=False)
        model.fit(X, y, sample_weight=weight)
        name = type(model).__name__.removesuffix("Classifier").removesuffix("Regressor")
        choice = (
            f"{name} with trees of {model.max_leaf_nodes} leaves, rate {RATE}; {model.n_estimators} rounds by "
            f"{self._smooth()} on held-out rows."
        )
        return model, choice

    def _compared(self, X: Any, y: Any) -> tuple[Any, str]:
        """Run the comparison for the time given, and fit what it recommends."""
        budget = seconds_of(self.budget) if isinstance(self.budget, str) else self.budget
        if not isinstance(budget, Real) or not budget > 0:
            raise RequestError(f'budget={self.budget!r} is not possible; give seconds, or a time such as "5m".')
        metric = self.metric or ("squared_error" if not self._stratified else None)
        jobs = 1 if self.n_jobs is None else self.n_jobs
        result = compare(
            X, y, metric=metric, with_peers=False, random_state=self.random_state, n_jobs=jobs, budget=float(budget)
        )
        if result.advice.pick is None:
            model, choice = self._untuned(X, y, None)
            return model, f"The budget was over before a first result, so untuned: {choice}"
        return result.best_estimator_, " ".join(result.advice.sentences)

    _stratified = True

    def predict(self, X: Any) -> Array:
        """Return the predicted class, or number, of every row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        array of shape (n_rows,)
        """
        check_is_fitted(self, "best_estimator_")
        answer: Array = self.best_estimator_.predict(X)
        return answer

    def save(self, path: Any) -> None:
        """Write the chosen booster to a model file, which `boostlab.load` reads.

        Parameters
        ----------
        path : path
            The file.
        """
        check_is_fitted(self, "best_estimator_")
        self.best_estimator_.save(path)

    @property
    def feature_importances_(self) -> Array:
        """The importances of the chosen booster."""
        check_is_fitted(self, "best_estimator_")
        importances: Array = self.best_estimator_.feature_importances_
        return importances

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


class AutoBoostClassifier(ClassifierMixin, _AutoBoost):
    """A good classifier without a question asked.

    Parameters
    ----------
    budget : float or str, optional
        Seconds, or a time such as "5m", for a comparison of boosters inside `fit`; None fits the untuned
        recipe: LogitBoost with trees of 3 leaves below 500 rows, 8 below 5,000 and 16 above, rate 0.1, rounds by early
        stopping on log loss.
    metric : str, optional
        What the comparison tunes and ranks by, as in `boostlab.compare`.
    categorical_features, n_jobs
        As for every booster.
    random_state : int, default=0
        Seed of the hold-out, the splits and the booster.

    Attributes
    ----------
    best_estimator_ : booster
        What was chosen, fitted to all rows.
    choice_ : str
        What was chosen and why, in a sentence or two.
    classes_ : array
        The class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import AutoBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoBoostClassifier().fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.93
    True
    """

    def _kind(self) -> Any:
        return LogitBoostClassifier

    def _smooth(self) -> str:
        return "log_loss"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose a booster and its settings by the training rows, and fit it to all of them.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), optional
            Only without a budget.

        Returns
        -------
        self
        """
        if self.metric is not None and find_metric(self.metric).needs == "numbers":
            raise RequestError(f"{self.metric} is no metric of classes; use AutoBoostRegressor, or another metric.")
        super().fit(X, y, sample_weight)
        self.classes_ = self.best_estimator_.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class, a column each, in the order of `classes_`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        check_is_fitted(self, "best_estimator_")
        answer: Array = self.best_estimator_.predict_proba(X)
        return answer

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the chosen booster.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self, "best_estimator_")
        answer: Array = self.best_estimator_.decision_function(X)
        return answer


class AutoBoostRegressor(RegressorMixin, _AutoBoost):
    """A good regressor without a question asked: `AutoBoostClassifier` for numbers, by L2Boost.

    Parameters
    ----------
    budget, metric, categorical_features, n_jobs, random_state
        As for `AutoBoostClassifier`; metrics are "squared_error" and "absolute_error".

    Attributes
    ----------
    best_estimator_, choice_
        As for `AutoBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from boostlab import AutoBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AutoBoostRegressor().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.35
    True
    """

    _stratified = False

    def _kind(self) -> Any:
        return L2BoostRegressor

    def _smooth(self) -> str:
        return "absolute_error" if self.metric == "absolute_error" else "squared_error"


def _parts(y: Array, n_rows: int, seed: int, stratified: bool) -> list[tuple[Array, Array]]:
    """Return rows to train on and to stop by: one hold-out, or for few rows every row once as one to stop by."""
    counts = np.unique(y, return_counts=True)[1] if stratified and len(y) == n_rows else np.zeros(0, int)
    if n_rows < SMALL:
        if len(counts) and counts.min() >= FOLDS:
            return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros(n_rows), y))
        return list(KFold(min(FOLDS, n_rows), shuffle=True, random_state=seed).split(np.zeros(n_rows)))
    by_class = len(counts) > 0 and counts.min() >= 2 and HELD_OUT * n_rows >= len(counts)
    labels = y if by_class else None
    train, test = train_test_split(np.arange(n_rows), test_size=HELD_OUT, random_state=seed, stratify=labels)
    return [(np.sort(train), np.sort(test))]


def _added(curves: list[Array]) -> Array:
    """Return the sum of curves; one that ended early stays where it was."""
    longest = max(map(len, curves))
    total: Array = np.sum([np.append(c, np.full(longest - len(c), c[-1])) for c in curves], axis=0)
    return total


def _take(X: Any, rows: Array) -> Any:
    """Return some rows of an array, a frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in rows]
