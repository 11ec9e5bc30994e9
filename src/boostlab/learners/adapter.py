"""Any scikit-learn classifier, regressor or pipeline as a weak learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from boostlab.backend import CpuSample
from boostlab.contract import Found, Learner, Session, Stop, Task, Voter
from boostlab.contract.voter import magnitude
from boostlab.data.table import Table
from boostlab.learners.answers import OF_CLASSIFIERS, OF_REGRESSORS, LabelQuestion, Question, Reading, read

Array = npt.NDArray[Any]


@dataclass(slots=True)
class EstimatorVoter(Voter):
    """A fitted scikit-learn estimator and how its predictions are read as votes."""

    estimator: Any
    reading: Reading
    bound: float = 1.0  # the largest magnitude of a vote on the training rows

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        return _finite(self.reading(self.estimator, table.floats), self.estimator)

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table.raw(X))

    def importances(self, n_features: int) -> tuple[list[int], list[float]]:
        """The estimator's own, if it has one a feature."""
        given = getattr(self.estimator, "feature_importances_", None)
        if given is None or len(given) != n_features:
            return [], []
        return list(range(n_features)), np.nan_to_num(np.asarray(given)).tolist()

    @property
    def shown_kind(self) -> str:
        """The estimator's."""
        return type(self.estimator).__name__


@dataclass(slots=True)
class ConstantVoter(Voter):
    """What to say when only one class was shown: one number, or one a class."""

    vote: Any

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        return magnitude(self.vote)

    def cuts(self) -> tuple[Sequence[int], Sequence[float]]:
        """None."""
        return (), ()

    def votes(self, table: Table) -> Array:
        """Return the same for every row."""
        return np.full((table.n_rows, *np.shape(self.vote)), self.vote)

    def predict(self, X: Array) -> Array:
        """Return the same for the rows of a plain array."""
        return self.votes(Table(np.asarray(X)))


class EstimatorLearner(Learner):
    """Trains a fresh clone every round.

    With `sample_weight` the clone gets the task's weights scaled to mean one, so that a minimum weight per leaf means
    what its author meant; without, it asks the engine for a draw in proportion to the weights.  Classes are shown to it
    as 0, 1, ..., whatever they are called.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.draws = not _takes_weights(estimator)
        self.classifier, self.regressor = _is(is_classifier, estimator), _is(is_regressor, estimator)
        self.labels = self.classifier
        if self.classifier:
            self.instead = "use a regressor, a classifier that takes sample_weight, or stumps (estimator=None)"
        else:
            self.instead = "use a classifier in its place, or stumps (estimator=None)"

    @property
    def name(self) -> str:
        """The estimator's kind; of a pipeline its last step's."""
        return type(_path(self.estimator)[1]).__name__

    @property
    def questions(self) -> Mapping[str, Question]:
        """What it can be asked."""
        if not self.classifier:
            return OF_REGRESSORS if self.regressor else {}
        # A draw follows the weights w; positive and negative targets are told apart under w |z|.
        return {k: q for k, q in OF_CLASSIFIERS.items() if not (self.draws and k == "least_squares")}

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        return frozenset(self.questions)

    def begin(self, rows: CpuSample, rng: np.random.Generator) -> EstimatorSession:
        """Start work on a sample."""
        return EstimatorSession(self, rows, rng)


class EstimatorSession(Session):
    """Training of one scikit-learn estimator after another on one sample."""

    def __init__(self, learner: EstimatorLearner, rows: CpuSample, rng: np.random.Generator) -> None:
        self.learner, self.table, self.rows, self.rng = learner, rows.table, rows, rng
        self.labels = learner.labels
        self.worked = False  # whether a clone could be fitted

    def best(self, task: Task) -> Found | Stop:
        """Fit a clone to the task's targets under its weights."""
        question = self.learner.questions[task.criterion]
        mass = self.rows.mass if task.counts is None else task.counts.astype(np.float64)
        weight, target = question.problem(task)
        weight = weight * mass
        rows = np.flatnonzero(weight > 0)
        if len(rows) == 0:
            return Stop("no_edge", "no row has any weight left")
        weight, target, classes = weight[rows], target[rows], np.empty(0, np.intp)
        if isinstance(question, LabelQuestion):
            classes, target = np.unique(target, return_inverse=True)
            if len(classes) == 1:
                said = np.full(self.rows.n_rows, classes[0])
                return Found(ConstantVoter(question.sides(task, mass, said)[classes[0]]))
        try:
            counts = None if task.counts is None else task.counts[rows]
            size = max(float(mass[rows].sum()), float(len(rows)))  # a row of mass k is k examples
            model = self._fitted(rows, target, weight * (size / weight.sum()), counts)
            reading, votes = read(question, task, mass, model, classes, self.table.floats)
            _finite(votes, model)
        except (ValueError, ArithmeticError) as error:
            if not self.worked:  # let the user see why
                raise
            return Stop("solver_failed", f"{self.learner.name} could not be fitted: {error}")
        self.worked = True
        return Found(EstimatorVoter(model, reading, magnitude(votes)), votes)

    def _fitted(self, rows: Array, target: Array, weight: Array, counts: Array | None) -> Any:
        """Return a clone, fitted to some rows; in a draw their weights are at least their counts."""
        model = clone(self.learner.estimator)
        for name in model.get_params(deep=True):
            if name == "random_state" or name.endswith("__random_state"):
                model.set_params(**{name: int(self.rng.integers(2**31))})
        if self.learner.draws:
            assert counts is not None, "the engine draws for a learner without weights"
            picked = np.repeat(np.arange(len(rows)), counts)
            return model.fit(self.table.floats[rows[picked]], target[picked])
        weights = _weight_arguments(model, weight)
        return model.fit(self.table.floats[rows], target, **weights)


def _is(kind: Any, estimator: Any) -> bool:
    try:
        return bool(kind(estimator))
    except AttributeError:  # it does not say what it is
        return False


def _finite(votes: Array, model: Any) -> Array:
    if not np.isfinite(votes).all():
        raise ValueError(
            f"{type(_path(model)[1]).__name__} predicts NaN or infinity; scale the columns, or regularise it more."
        )
    return votes


# -- who takes weights, and under which name -------------------------------------------------------------------------


def _path(estimator: Any) -> tuple[list[str], Any]:
    """Return the last step of a pipeline (of the last one, where they are nested) and the names that lead to it."""
    names = []
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        names.append(name)
    return names, estimator


def _takes_weights(estimator: Any) -> bool:
    last = _path(estimator)[1]
    return has_fit_parameter(last, "sample_weight") and _request(last) is not False


def _routes() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def _request(part: Any) -> Any:
    """Return what is set as `sample_weight` by set_fit_request: None is nothing, False that it gets no weights."""
    if not _routes() or not hasattr(part, "get_metadata_routing"):
        return None
    try:
        asked = getattr(part.get_metadata_routing(), "fit", None)  # routers to others have none
    except NotImplementedError:  # some of scikit-learn's own take no weights while routing is on
        return False
    return None if asked is None else asked.requests.get("sample_weight")


def _weight_arguments(model: Any, weight: Array) -> dict[str, Array]:
    """Return the weights under the names by which `fit` takes them."""
    names, last = _path(model)
    if not _routes():
        return {"__".join([*names, "sample_weight"]): weight}
    alias = _request(last)
    # Where the user has not said who gets the weights, the last step and its parts do, as without routing.
    for path, part in model.get_params(deep=True).items():
        if hasattr(part, "set_fit_request") and has_fit_parameter(part, "sample_weight") and _request(part) is None:
            part.set_fit_request(sample_weight=path.split("__")[: len(names)] == names)
    return {alias if names and isinstance(alias, str) else "sample_weight": weight}
