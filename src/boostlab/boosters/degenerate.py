"""Shared by all boosters: what `fit` says of votes that degenerate, which no one should take for a vote."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from boostlab.data.table import Table
from boostlab.engine.training import Training
from boostlab.ensemble.vote import Ensemble, decide, settle

Array = npt.NDArray[Any]

SOME = 4096  # rows
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
    counts = _counts(training)
    errs = counts is None or counts[2] > 0.0
    if len(ensemble) == 1 and n_estimators > 1 and stop.partition(":")[0] in NATURAL and errs:
        return (
            f"kept a single voter ({stop}), which is no vote; stronger voters (max_leaf_nodes=8), a smaller "
            "learning_rate or no early_stopping may help."
        )
    of_others = _share_of_others(training, counts)
    if not _says_one_thing(ensemble, training, counts, of_others < RARE):
        return ""
    return (
        f"predicts the same class for every row ({stop}), and {100 * of_others:.3g} % of the rows are of others; "
        'stronger voters (max_leaf_nodes=8), more rounds or class_weight="balanced" may help.'
    )


def _facts(tie: float, codes: Array, F: Array) -> Array:
    """Return for every row whether it is of class 1, is named so, and is named wrong, by one score a row."""
    ones, named = codes == 1, tie < F
    return np.stack([ones, named, ones != named]).T


def _counts(training: Training) -> tuple[float, float, float] | None:
    """Return the sums of `_facts` over the sample; None where there are more scores a row."""
    s = training.state
    if training.rule.n_outputs != "one":
        return None
    tie = 1e-12 * s.bound.value
    ones, named, wrong = s.held.masses.totals_of(partial(_facts, tie), 3, s.codes, s.held.scores.F)
    return ones, named, wrong


def _says_one_thing(ensemble: Ensemble, training: Training, counts: Any, of_scores: bool) -> bool:
    """Return whether all rows have the same class, or the same scores, by the rounds that are kept.

    By sums over the sample where the training has their scores, else by watched rows if there are, else by the sample
    again; not where that would take another look at rows that are not in this process.
    """
    s = training.state
    if len(ensemble) < len(s.rounds) or not ensemble.rounds.ends_with_last_of(s.rounds):  # or the rule had a last word
        rows: Any = training.rows
        table = rows.table if training.watched is None else training.watched.table
        if not isinstance(table, Table):
            return False
        F = ensemble.scores(table)
        return _constant(F if of_scores else _classes(F))
    if counts is not None:
        return _constant(s.held.scores.F) if of_scores else counts[1] in (0.0, s.n)
    F = s.held.scores.F
    if isinstance(F, np.ndarray):  # some rows mostly tell
        some = settle(F[:SOME], s.bound.value)
        if not _constant(some if of_scores else _classes(some)):
            return False
    F = training.settled(s.held.scores)
    return _constant(F if of_scores else s.held.masses.map(_classes, F))


def _classes(F: Array) -> Array:
    return decide(F).astype(np.float64)


def _constant(values: Any) -> bool:
    """Return whether all rows have the same values."""
    if isinstance(values, np.ndarray):
        return len(values) > 0 and bool((values.max(axis=0) == values.min(axis=0)).all())
    columns = [values] if values.ndim == 1 else list(values.T)
    return len(values) > 0 and all(float(x.max()) == -float((-x).max()) for x in columns)


def _share_of_others(training: Training, counts: Any) -> float:
    """Return the share of the sample that is not of the most frequent class."""
    s = training.state
    if counts is not None:
        return float(min(counts[0], s.n - counts[0]) / s.n)
    each = [s.held.masses.total((s.codes == c) * 1.0) for c in range(s.n_classes)]
    return 1.0 - max(each) / s.n
