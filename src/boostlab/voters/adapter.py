"""Any scikit-learn classifier, regressor or pipeline as a weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from boostlab.contract import Learner, Stop, Task
from boostlab.data.rows import Rows
from boostlab.data.table import Table

Array = npt.NDArray[Any]


@dataclass(slots=True)
class EstimatorVoter:
    """A fitted scikit-learn estimator that votes with its predictions."""

    estimator: Any
    bound: float = 1.0

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        return np.asarray(self.estimator.predict(table.floats), dtype=np.float64)

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table.raw(X))


@dataclass(slots=True)
class ConstantVoter:
    """The only label a classifier was shown."""

    label: float
    bound: float = 1.0

    def votes(self, table: Table) -> Array:
        """Return the label for every row."""
        return np.full(table.n_rows, self.label)


class EstimatorLearner(Learner):
    """Trains a fresh clone every round.

    With `sample_weight` the clone gets the task's weights scaled to mean one, so that a minimum weight per leaf means
    what its author meant; without, it asks the engine for a draw in proportion to the weights.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.draws = not has_fit_parameter(_last_step(estimator), "sample_weight")

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        if is_classifier(self.estimator):
            return frozenset(["edge"])
        return frozenset(["least_squares"] if is_regressor(self.estimator) else [])

    def begin(self, table: Table, rows: Rows, rng: np.random.Generator) -> EstimatorSession:
        """Start work on a sample."""
        return EstimatorSession(self, table, rows, rng)


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


class EstimatorSession:
    """Training of one scikit-learn estimator after another on one sample."""

    def __init__(self, learner: EstimatorLearner, table: Table, rows: Rows, rng: np.random.Generator) -> None:
        self.learner, self.table, self.rows, self.rng = learner, table, rows, rng
        self.regression = is_regressor(learner.estimator)

    def best(self, task: Task) -> EstimatorVoter | ConstantVoter | Stop:
        """Fit a clone to the task's targets under its weights."""
        mass = self.rows.masses if task.counts is None else task.counts
        weight = task.weight * mass
        rows = np.flatnonzero(weight > 0)
        X, target, weight = self.table.floats[rows], task.target[rows], weight[rows]
        if len(rows) == 0:
            return Stop("no_edge", "no row has any weight left")
        if not self.regression:
            target = np.where(target > 0, 1, -1)
            if (target == target[0]).all():
                return ConstantVoter(float(target[0]))
        model = clone(self.learner.estimator)
        for name in model.get_params(deep=True):
            if name == "random_state" or name.endswith("__random_state"):
                model.set_params(**{name: int(self.rng.integers(2**31))})
        if not self.learner.draws:
            step = f"{model.steps[-1][0]}__sample_weight" if hasattr(model, "steps") else "sample_weight"
            model.fit(X, target, **{step: weight * (len(weight) / weight.sum())})
        else:  # the engine has drawn: weights are counts
            picked = np.repeat(np.arange(len(rows)), weight.astype(np.intp))
            model.fit(X[picked], target[picked])
        if not self.regression:
            return EstimatorVoter(model)
        return EstimatorVoter(model, float(np.abs(model.predict(self.table.floats)).max()))

    def added(self, voter: Any, alpha: float) -> None:
        """Remember nothing."""
