"""Shared by all boosters: what `fit` says of votes that degenerate, which no one should take for a vote."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from boostlab.data.table import Table
from boostlab.engine.training import Training
from boostlab.ensemble.vote import Ensemble, Round, decide

Array = npt.NDArray[Any]

RARE = 0.05  # where less than this share has another label, naming the frequent one for all rows is no wonder
NATURAL = ("no_edge", "tolerance", "patience", "max_rounds", "assumption_violated", "time_up", "solver_failed")


class Complaining:
    """A booster that says when its vote is none."""

    n_estimators: int
    stop_reason_: str
    _ensemble: Ensemble
    _numeric: ClassVar[bool]
    _nothing: Any
    _fault: str = ""  # what was said of the last fit

    def _complaint(self, training: Training) -> str:
        """Return what is wrong with a vote that has voters, and what may help; nothing if all is well."""
        return "" if self._numeric else sentence(self._ensemble, training, self.n_estimators, self.stop_reason_)

    @property
    def _empty(self) -> str:
        """What to say of a vote without a voter."""
        return f"kept no voter ({self.stop_reason_}), so it predicts {self._nothing} for every row."

    def _complain(self, fault: str) -> None:
        """Warn of a vote that is none, in one sentence."""
        if fault:
            warnings.warn(f"{type(self).__name__} {fault}", ConvergenceWarning, stacklevel=4)
        self._fault = fault


def sentence(ensemble: Ensemble, training: Training, n_estimators: int, stop: str) -> str:
    """Return what is wrong with a vote on class labels, and what may help; nothing if it is a vote.

    Parameters
    ----------
    ensemble : Ensemble
        The rounds that are kept.
    training : Training
        It made them.
    n_estimators : int
        How many there might have been.
    stop : str
        Why it ended.
    """
    if len(ensemble) == 1 and n_estimators > 1 and stop.partition(":")[0] in NATURAL:
        return (
            f"kept a single voter ({stop}), which is no vote; stronger voters (max_leaf_nodes=8), a smaller "
            "learning_rate or no early_stopping may help."
        )
    F, of_others = _scores(ensemble, training), _share_of_others(training)
    if F is None or not _constant(F if of_others < RARE else _decided(F, training)):
        return ""
    return (
        f"predicts the same class for every row ({stop}), and {100 * of_others:.3g} % of the rows are of others; "
        'stronger voters (max_leaf_nodes=8), more rounds or class_weight="balanced" may help.'
    )


def _scores(ensemble: Ensemble, training: Training) -> Any:
    """Return the kept rounds' scores: of the sample where the training has them, else of watched rows if there are.

    None where that would take another look at rows that are not in this process.
    """
    rounds: Sequence[Round] = training.state.rounds
    if len(ensemble) == len(rounds) and ensemble.rounds[-1] is rounds[-1]:  # the rule had no last word
        return training.settled(training.state.held.scores)
    table = training.rows.table if training.watched is None else training.watched.table  # type: ignore[attr-defined]
    return ensemble.scores(table) if isinstance(table, Table) else None


def _decided(F: Any, training: Training) -> Any:
    """Return the classes that scores decide for, where the rows are."""
    return _classes(F) if isinstance(F, np.ndarray) else training.state.held.masses.map(_classes, F)


def _classes(F: Array) -> Array:
    return decide(F).astype(np.float64)


def _constant(values: Any) -> bool:
    """Return whether all rows have the same values."""
    columns = [values] if values.ndim == 1 else list(values.T)
    return len(values) > 0 and all(float(x.max()) == -float((-x).max()) for x in columns)


def _share_of_others(training: Training) -> float:
    """Return the share of the sample that is not of the most frequent class."""
    s = training.state
    counts = [s.held.masses.total((s.codes == c) * 1.0) for c in range(s.n_classes)]
    return 1.0 - max(counts) / s.n
