"""What every round of training looked at: the weights of the rows, recorded while a copy of the model trains again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from boostlab.backend import CpuSample
from boostlab.contract import Found, Learner, Session, Stop, Task
from boostlab.theory.bound import Array
from boostlab.theory.models import vote_of


class _WeightRecorder(Learner):
    """A learner that passes everything on to another one and remembers the weights it was last asked with."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.draws, self.uses_bins, self.excludes = learner.draws, learner.uses_bins, learner.excludes
        self.labels, self.instead = learner.labels, learner.instead
        self.seen: list[Array] = []  # of the round at work, one a task

    @property
    def name(self) -> str:
        return self.learner.name

    def searches(self) -> frozenset[str]:
        return self.learner.searches()

    def begin(self, rows: CpuSample, rng: np.random.Generator) -> Session:
        return _RecordedSession(self, self.learner.begin(rows, rng), rows)

    def round(self, n_tasks: int) -> Array:
        """Return the weights of the round just kept (the sum over its tasks), and begin a new one."""
        weights = np.sum(self.seen[-n_tasks:], axis=0)
        self.seen.clear()
        total = weights.sum()
        return weights / total if total > 0 else weights


class _RecordedSession(Session):
    """A session under observation."""

    def __init__(self, witness: _WeightRecorder, session: Session, rows: CpuSample) -> None:
        self._witness, self._session, self._rows = witness, session, rows
        self.labels, self.directed = session.labels, session.directed

    def best(self, task: Task) -> Found | Stop:
        pull = np.abs(task.weight * task.target)
        masses = self._rows.mass if task.counts is None else task.counts
        self._witness.seen.append((pull if pull.ndim == 1 else pull.sum(axis=1)) * masses)
        return self._session.best(task)

    def added(self, voter: Any, alpha: float) -> None:
        self._session.added(voter, alpha)

    def forget(self) -> None:
        self._session.forget()


@dataclass(frozen=True)
class RowWeights:
    """The weights that training gave to the rows.

    Attributes
    ----------
    by_round : array of shape (n_rounds, n_rows)
        Every line sums to 1: how hard each row pulled at the round's voter, its weight times the size of its target
        (1 for labels; LogitBoost's p(1 - p) |z| = |y - p|); with re-sampling, times how often it was drawn.
    influence : array of shape (n_rows,)
        The average weight of a row, rounds counting by |alpha| (Raetsch, Onoda and Mueller's influence).
    effective_size : array of shape (n_rounds,)
        1 / sum w^2: with how many rows of equal weight the round was concerned.
    """

    by_round: Array
    influence: Array
    effective_size: Array


def row_weights(model: Any, X: Any, y: Any, sample_weight: Any = None) -> RowWeights:
    """Return the weights of the training rows in every round, by training a copy of the model once more.

    The copy has the model's parameters and number of rounds.  On the same rows it is the same training, unless rows
    were held out for early stopping (the copy trains on all of them) or `random_state` is None where chance plays a
    part.

    Parameters
    ----------
    model : fitted booster
    X : array-like of shape (n_rows, n_features)
        The training rows.
    y : array-like of shape (n_rows,)
        Their labels.
    sample_weight : array-like of shape (n_rows,), optional
        As given to `fit`; above zero.

    Returns
    -------
    RowWeights

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> seen = row_weights(model, X, y)
    >>> seen.by_round.shape, bool((seen.by_round[0] == 0.01).all())
    ((20, 100), True)
    """
    rule = vote_of(model).rule
    if model.n_estimators_ == 0:
        raise ValueError("The model kept no voter, so there are no rounds whose weights could be looked at.")
    if sample_weight is not None and not (np.asarray(sample_weight) > 0).all():
        raise ValueError("Masses of weight zero are not trained on; leave them out of X, y and sample_weight.")
    copy = clone(model)
    learner = model._learner_for(rule)
    witness = _WeightRecorder(learner)
    lines: list[Array] = []

    def note(state: Any) -> Stop | None:
        voter = state.rounds[-1].voter
        lines.append(witness.round(len(voter) if isinstance(voter, tuple) else 1))
        return None

    for name in getattr(model, "_settles", ()):
        if isinstance(getattr(copy, name, None), str) and hasattr(model, f"{name}_"):
            value = float(getattr(model, f"{name}_"))
            if getattr(model, name) != "fixed_point":  # a word that stays one: the rule itself decides, every round
                copy.set_params(**{name: value})
    trained = model.n_estimators_ if model.shapes is None else int(np.isfinite(model.history_["seconds"]).sum())
    copy.set_params(n_estimators=trained, early_stopping=False, warm_start=False, verbose=0)
    copy.set_params(max_depth=None, max_leaf_nodes=None, estimator=witness, callbacks=note)
    copy.set_params(monotone=None, interactions=None, shapes=None)  # which the learner keeps to
    copy.fit(X, y, sample_weight)
    by_round = np.array(lines)
    alphas = np.abs(copy.history_["alpha"])
    share = alphas / alphas.sum() if alphas.sum() > 0 else np.full(len(alphas), 1 / len(alphas))
    return RowWeights(by_round, share @ by_round, 1 / (by_round**2).sum(axis=1))
