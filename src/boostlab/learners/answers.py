"""What a scikit-learn estimator is fitted to for each criterion, and what its answers mean as votes.

A criterion is served by a `Question`: its `problem` is what the estimator is fitted to, its `reading` (or, for labels,
its `sides`) turns what the fitted estimator says into votes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from boostlab.contract import Task

Array = npt.NDArray[Any]
Reading = Callable[[Any, Any], Array]  # from a fitted estimator and a table to votes


# -- what fitted estimators say --------------------------------------------------------------------------------------


def said_labels(model: Any, X: Any, n_classes: int) -> Array:
    """Return the predicted labels, which are the class indices 0..n_classes-1 that the estimator was shown."""
    said = np.asarray(model.predict(X)).reshape(X.shape[0], -1)[:, 0]
    known = np.isin(said, np.arange(n_classes))
    if not known.all():
        raise ValueError(
            f"{type(model).__name__} was shown the labels 0 to {n_classes - 1} and predicts {said[~known][0]!r}; a "
            "classifier must predict the labels of its training rows."
        )
    return said.astype(np.intp)


def said_probabilities(model: Any, X: Any, n_classes: int) -> Array:
    """Return the predicted probabilities, one column a class; a class that the estimator does not know has 0."""
    said = np.asarray(model.predict_proba(X), dtype=np.float64)
    P = np.zeros((X.shape[0], n_classes))
    P[:, np.asarray(getattr(model, "classes_", np.arange(n_classes)), dtype=np.intp)] = said
    return P


# -- readings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sides:
    """One vote for every label that may be said."""

    votes: Array

    def __call__(self, model: Any, X: Any) -> Array:
        """Return the votes."""
        return self.votes[said_labels(model, X, len(self.votes))]


@dataclass(frozen=True, slots=True)
class LogOdds:
    """Half the log odds of the second of two classes, (1/2) ln((p + s) / (1 - p + s))."""

    smoothing: float

    def __call__(self, model: Any, X: Any) -> Array:
        """Return the votes."""
        P = said_probabilities(model, X, 2) + self.smoothing
        return 0.5 * np.log(P[:, 1] / P[:, 0])


@dataclass(frozen=True, slots=True)
class Plausibilities:
    """The probabilities p of all classes, 0 for those that the estimator was not shown, as numbers from `no` to 1."""

    classes: Array  # those it was shown
    n_classes: int
    no: float = 0.0

    def __call__(self, model: Any, X: Any) -> Array:
        """Return the votes."""
        votes = np.zeros((X.shape[0], self.n_classes))
        votes[:, self.classes] = said_probabilities(model, X, len(self.classes))
        return votes if self.no == 0.0 else self.no + (1.0 - self.no) * votes


@dataclass(frozen=True, slots=True)
class LogOddsOfAll:
    """Half the log odds of every class, (1/2) ln((p + s) / (1 - p + s))."""

    classes: Array  # those it was shown
    n_classes: int
    smoothing: float

    def __call__(self, model: Any, X: Any) -> Array:
        """Return the votes."""
        P = Plausibilities(self.classes, self.n_classes)(model, X)
        return 0.5 * np.log((P + self.smoothing) / (np.maximum(1.0 - P, 0.0) + self.smoothing))


@dataclass(frozen=True, slots=True)
class Numbers:
    """The predicted numbers, cut off at +-limit."""

    limit: float = np.inf

    def __call__(self, model: Any, X: Any) -> Array:
        """Return the votes."""
        said = np.asarray(model.predict(X), dtype=np.float64).reshape(X.shape[0], -1)[:, 0]
        return np.clip(said, -self.limit, self.limit)


# -- questions -------------------------------------------------------------------------------------------------------


class Question:
    """How one kind of estimator serves one criterion."""

    def problem(self, task: Task) -> tuple[Array, Array]:
        """Return what to fit: a weight for every row, per unit of its mass, and a class index or number to predict."""
        raise NotImplementedError

    def reading(self, task: Task, classes: Array) -> Reading:
        """Return how to read the fitted estimator, which was shown these classes."""
        raise NotImplementedError


class LabelQuestion(Question):
    """A question for classifiers."""

    rates: ClassVar[bool] = True  # whether probabilities, where a classifier has them, say more than its labels

    def problem(self, task: Task) -> tuple[Array, Array]:
        """The signs under the weights."""
        return task.weight, (task.target > 0).astype(np.intp)

    def sides(self, task: Task, mass: Array, said: Array) -> Array:
        """Return the votes for every class that may be said, given what is said of the rows and their masses."""
        raise NotImplementedError


class Label(LabelQuestion):
    """edge: the predicted label is the vote."""

    rates = False

    def sides(self, task: Task, mass: Array, said: Array) -> Array:
        """-1 and +1."""
        return np.array([-1.0, 1.0])


class Odds(LabelQuestion):
    """z: half the log odds, of the predicted probabilities (Friedman, Hastie & Tibshirani 2000).

    A classifier that only says labels parts the rows in two, and each side votes half its own log odds, which is the
    smallest Z that the parting allows (Schapire & Singer 1999, section 4.1).
    """

    def reading(self, task: Task, classes: Array) -> LogOdds:
        """By probabilities."""
        return LogOdds(task.params["smoothing"])

    def sides(self, task: Task, mass: Array, said: Array) -> Array:
        """Half the log odds of both sides, smoothed by a share of the total weight as a stump's leaves are."""
        w = task.weight * mass
        plus, minus = (np.bincount(said, w * side, minlength=2) for side in (task.target > 0, task.target < 0))
        s = task.params["smoothing"] * w.sum()
        return 0.5 * np.log((plus + s) / (minus + s))


class Means(LabelQuestion):
    """least_squares by a classifier: it tells positive from negative targets, and each side votes its weighted mean.

    Of all voters h with votes -1 and +1 the one whose multiple fits z best under w has the largest |sum w z h|: the
    smallest error on the labels sign(z) under the weights w |z|.  Two means fit at least as well as one multiple.
    """

    rates = False

    def problem(self, task: Task) -> tuple[Array, Array]:
        """The signs of the targets, under the weights times their magnitudes."""
        return task.weight * np.abs(task.target), (task.target > 0).astype(np.intp)

    def sides(self, task: Task, mass: Array, said: Array) -> Array:
        """The weighted means."""
        w = task.weight * mass
        below, above = np.bincount(said, w, minlength=2), np.bincount(said, w * task.target, minlength=2)
        return np.divide(above, below, out=np.zeros(2), where=below > 0)


class Rating(LabelQuestion):
    """hamming, factored: the probabilities, or the predicted class, say yes or no to every class.

    A row that is taken for class k costs its weights on k and on its own class; so it counts as much as its own class
    and the mean of the others.  For AdaBoost.M2 that is in proportion to its wrong labels together (Freund & Schapire
    1997).
    """

    def problem(self, task: Task) -> tuple[Array, Array]:
        """The classes, and what a mistake costs."""
        codes = task.target.argmax(axis=1)  # 1 on the right class, -1 on the others
        own, all_ = task.weight[np.arange(len(codes)), codes], task.weight.sum(axis=1)
        return own + (all_ - own) / (task.weight.shape[1] - 1), codes

    def reading(self, task: Task, classes: Array) -> Reading:
        """By probabilities."""
        return Plausibilities(classes, task.weight.shape[1], task.params["no"])

    def sides(self, task: Task, mass: Array, said: Array) -> Array:
        """Yes to the class that is said."""
        no = task.params["no"]
        return no + (1.0 - no) * np.eye(task.weight.shape[1])


class OddsOfAll(Rating):
    """hamming_z: half the log odds of every class, of the predicted probabilities.

    A classifier that only says classes parts the rows, and each part votes half its own log odds, as a leaf does.
    """

    def reading(self, task: Task, classes: Array) -> Reading:
        """By probabilities."""
        return LogOddsOfAll(classes, task.weight.shape[1], task.params["smoothing"])

    def sides(self, task: Task, mass: Array, said: Array) -> Array:
        """Half the log odds of every class among the rows of which each is said."""
        w, K = task.weight * mass[:, None], task.weight.shape[1]
        plus, minus = (
            np.stack([np.bincount(said, x, minlength=K) for x in (w * side).T], axis=1)
            for side in (task.target > 0, task.target < 0)
        )
        s = task.params["smoothing"] * w.sum()
        return 0.5 * np.log((plus + s) / (minus + s))


class Naming(LabelQuestion):
    """labels: the predicted class is the vote."""

    rates = False

    def problem(self, task: Task) -> tuple[Array, Array]:
        """The classes under the weights."""
        return task.weight, task.target.astype(np.intp)

    def sides(self, task: Task, mass: Array, said: Array) -> Array:
        """Every class's number."""
        return np.arange(int(task.target.max()) + 1)


class Fit(Question):
    """least_squares by a regressor: itself."""

    def problem(self, task: Task) -> tuple[Array, Array]:
        """The targets as they are."""
        return task.weight, task.target

    def reading(self, task: Task, classes: Array) -> Numbers:
        """As predicted."""
        return Numbers()


class Confidence(Question):
    """edge by a regressor, for rules that weigh real votes.

    Where weight times target is a residual, its least-squares fit is the voter whose multiple lowers the squared error
    most.  Else the fit of the labels, cut off at +-1, says how sure it is of a label.
    """

    def _residual(self, task: Task) -> bool:
        return task.linear and task.counts is None  # a draw has spent the residual's sizes

    def problem(self, task: Task) -> tuple[Array, Array]:
        """The residual, or the labels under the weights."""
        if self._residual(task):
            return np.ones(len(task.weight)), task.weight * task.target
        return task.weight, task.target

    def reading(self, task: Task, classes: Array) -> Numbers:
        """As predicted, or cut off."""
        return Numbers() if self._residual(task) else Numbers(1.0)


OF_CLASSIFIERS: dict[str, LabelQuestion] = {
    "edge": Label(),
    "z": Odds(),
    "least_squares": Means(),
    "labels": Naming(),
    "hamming": Rating(),
    "factored": Rating(),
    "hamming_z": OddsOfAll(),
}
OF_REGRESSORS: dict[str, Question] = {"edge": Confidence(), "least_squares": Fit()}


def read(question: Question, task: Task, mass: Array, model: Any, classes: Array, X: Any) -> tuple[Reading, Array]:
    """Return how a fitted estimator is to be read, and its votes on the training rows.

    Parameters
    ----------
    question, task
        What it was fitted for.
    mass : array
        The rows' masses in the sample or draw.
    model : estimator
        Fitted.
    classes : array
        The classes it was shown; it knows them as 0, 1, ...
    X : array
        The training rows.
    """
    if isinstance(question, LabelQuestion) and not (question.rates and hasattr(model, "predict_proba")):
        said = said_labels(model, X, len(classes))
        votes = question.sides(task, mass, classes[said])[classes]
        return Sides(votes), votes[said]
    reading = question.reading(task, classes)
    return reading, reading(model, X)
