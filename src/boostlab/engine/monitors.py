"""What looks on while an ensemble grows: validation, progress, callbacks.  Looking changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from boostlab.backend import Masses
from boostlab.contract import Rule, Stop
from boostlab.data.matrix import as_a_whole
from boostlab.engine.measures import (
    MEASURES,
    REGRESSION_MEASURES,
    ScaledLogLoss,
    absolute_error,
    error,
    exponential_loss,
    log_loss,
    squared_error,
)
from boostlab.engine.training import Training
from boostlab.ensemble.rounds import key_of
from boostlab.ensemble.vote import decide, probabilities, settle_within, shown, tie_of

Array = npt.NDArray[Any]


class _Snapshot(ClassifierMixin, BaseEstimator):
    """The vote as it stands, dressed as a fitted classifier for scikit-learn's scorers."""

    def __init__(self, rule: Rule | None = None, F: Array | None = None, classes: Array | None = None) -> None:
        self.rule, self.F, self.classes = rule, F, classes
        self.classes_ = classes

    def decision_function(self, X: Any) -> Any:
        return shown(self.rule, self.F)  # type: ignore[arg-type]

    def predict(self, X: Any) -> Any:
        return self.classes[decide(self.F)]  # type: ignore[index, arg-type]

    def predict_proba(self, X: Any) -> Any:
        return probabilities(self.rule, self.F)  # type: ignore[arg-type]


class _NumberSnapshot(RegressorMixin, BaseEstimator):
    """The same for a regressor."""

    def __init__(self, F: Array | None = None) -> None:
        self.F = F
        self.fitted_ = True

    def predict(self, X: Any) -> Any:
        return self.F


class Validation:
    """Follows a score on the training rows and on held-out rows; may stop when the latter no longer improves.

    Parameters
    ----------
    scoring : a name in `MEASURES`, a scikit-learn scorer's name, or a scorer
        What to follow.  The built-in measures are better when smaller, scorers when larger.
    classes : array
        The class labels.
    held_out : (X, codes, rows)
        The validation sample.
    train_X : array
        The training rows, for scorers.
    patience : int or None
        Stop after so many rounds without an improvement by more than `tol`; None only watches.
    tol : float
        What counts as an improvement; 0 is a strict decrease.
    """

    def __init__(
        self,
        scoring: Any,
        classes: Array,
        held_out: tuple[Array, Array, Masses],
        train_X: Array,
        patience: int | None,
        tol: float,
    ) -> None:
        self.held_out, self.train_X, self.classes = held_out, train_X, classes
        self.patience, self.tol = patience, tol
        self.best_round, self.best = 0, np.inf
        self.measures: dict[str, Callable[..., float]] = {"error": error, "exponential": exponential_loss}
        self.scaled = ScaledLogLoss(), ScaledLogLoss()  # of the training rows and of the others
        self.scoring = scoring
        self.begun = False
        self.scorer: Any = None
        if scoring not in MEASURES + REGRESSION_MEASURES:
            from sklearn.metrics import get_scorer

            self.scorer = get_scorer(scoring)
            X, codes, rows = held_out
            self.held_out, self.train_X = (as_a_whole(X), codes, rows), as_a_whole(train_X)
            accepted = signature(self.scorer).parameters.values()
            self.takes_weights = any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in accepted)

    def _begin(self, threads: int) -> None:
        """Let the held-out rows be as the training's: of the same types, and shared by as many threads."""
        X, codes, rows = self.held_out
        if isinstance(codes, np.ndarray) and len(self.classes):
            codes = codes.astype(np.min_scalar_type(-len(self.classes)), copy=False)
        self.held_out, self.begun = (X, codes, rows.on(threads)), True

    def _measure(self, rule: Rule, X: Array, codes: Array, rows: Masses, F: Array, tie: float) -> float:
        value = self._score(rule, X, codes, rows, F, tie)
        if not np.isfinite(value):
            raise ValueError(
                f"scoring={self.scoring!r} gave {value}; the validation set must be one it can be measured on "
                "(both classes, say), or choose another scoring."
            )
        return value

    def _score(self, rule: Rule, X: Array, codes: Array, rows: Masses, F: Array, tie: float) -> float:
        if self.scorer is not None:
            weights = {} if rows.uniform or not self.takes_weights else {"sample_weight": rows.masses}
            seen = _Snapshot(rule, settle_within(F, tie), self.classes)
            return float(self.scorer(seen, X, self.classes[codes], **weights))
        if self.scoring == "log_loss":
            return log_loss(rows, codes, F, rule, tie)
        if self.scoring == "scaled_log_loss":
            return self.scaled[codes is self.held_out[1]](rows, codes, F, tie)
        return self.measures[self.scoring](rows, codes, F, tie)

    def __call__(self, training: Training) -> Stop | None:
        """Score the round, and stop if patience has run out."""
        assert training.watched is not None
        if not self.begun:
            self._begin(training.rows.threads)
        s, rule = training.state, training.rule
        X, codes, rows = self.held_out
        tie = tie_of(s.bound.value)
        train = self._measure(rule, self.train_X, s.codes, s.held.masses, s.held.scores.now, tie)
        value = self._measure(rule, X, codes, rows, training.watched.scores.now, tie)
        s.rounds[-1].facts.update(train_score=train, validation_score=value)
        cost = value if self.scorer is None else -value
        if cost < self.best - self.tol:
            self.best, self.best_round = cost, s.t
        elif self.patience is not None and s.t - self.best_round >= self.patience:
            return Stop(
                "patience",
                f"no better validation score in {self.patience} rounds; the best was round {self.best_round}",
            )
        return None


class RegressionValidation(Validation):
    """The same for numbers, which the vote predicts less a baseline.

    Parameters
    ----------
    scoring : "squared_error", "absolute_error", a scikit-learn scorer's name, or a scorer
        What to follow.
    baseline : float
        What to add to the vote for scorers.
    held_out, train_X, patience, tol
        As for `Validation`.
    """

    def __init__(
        self,
        scoring: Any,
        baseline: float,
        held_out: tuple[Array, Array, Masses],
        train_X: Array,
        patience: int | None,
        tol: float,
    ) -> None:
        super().__init__(scoring, np.empty(0), held_out, train_X, patience, tol)
        self.baseline = baseline
        self.measures = {"squared_error": squared_error, "absolute_error": absolute_error}

    def _score(self, rule: Rule, X: Array, codes: Array, rows: Masses, F: Array, tie: float) -> float:
        if self.scorer is None:
            return self.measures[self.scoring](rows, codes, F, tie)
        weights = {} if rows.uniform or not self.takes_weights else {"sample_weight": rows.masses}
        seen = _NumberSnapshot(settle_within(F, tie) + self.baseline)
        return float(self.scorer(seen, X, codes + self.baseline, **weights))


class InformationCriterion:
    """Stops by the deviance of the training rows and a price on coefficients: AIC or BIC, without held-out rows.

    The deviance is -2 n times the mean log likelihood: of the rule's probabilities, or (numbers) of normal errors, n
    ln(mean (y - F)^2).  Every coefficient that is not 0 costs 2 (AIC) or ln n (BIC), n the number of examples: formal
    criteria, which count neither what it takes to find a voter nor how little a small step fits.

    Parameters
    ----------
    name : {"aic", "bic"}
        Which.
    numeric : bool
        Whether the vote predicts numbers.
    patience : int
        Stop after so many rounds without an improvement by more than `tol`.
    tol : float
        What counts as an improvement.
    """

    def __init__(self, name: str, numeric: bool, patience: int, tol: float) -> None:
        self.name, self.numeric, self.patience, self.tol = name, numeric, patience, tol
        self.best_round, self.best = 0, np.inf

    def criterion(self, training: Training) -> float:
        """Return the criterion of the vote so far."""
        s, F, tie = training.state, training.state.held.scores.now, tie_of(training.state.bound.value)
        n, voter = s.n, s.rounds[-1].voter
        if self.numeric:
            deviance = n * np.log(max(squared_error(s.held.masses, s.codes, F, tie), np.finfo(float).tiny))
        else:
            deviance = 2.0 * n * log_loss(s.held.masses, s.codes, F, training.rule, tie)
        count = np.count_nonzero(s.alphas) * (len(voter) if isinstance(voter, tuple) else 1)
        return float(deviance + count * (2.0 if self.name == "aic" else np.log(n)))

    def __call__(self, training: Training) -> Stop | None:
        """Take note of the round, and stop if patience has run out."""
        s = training.state
        value = s.rounds[-1].facts[self.name] = self.criterion(training)
        if value < self.best - self.tol:
            self.best, self.best_round = value, s.t
        elif s.t - self.best_round >= self.patience:
            name = self.name.upper()
            return Stop("patience", f"no better {name} in {self.patience} rounds; the best was round {self.best_round}")
        return None


class DistinctVoters:
    """Counts the different voters that have a coefficient, a voter and its complement once, as the fact "distinct"."""

    def __init__(self) -> None:
        self.sums: dict[Hashable, float] = {}
        self.count = self.seen = 0

    def __call__(self, training: Training) -> Stop | None:
        """Take note of the rounds that it has not seen."""
        for last in training.state.rounds[self.seen :]:
            key, sign = key_of(last.voter)
            before = self.sums.get(key, 0.0)
            self.sums[key] = after = before + sign * last.alpha
            self.count += (after != 0) - (before != 0)
            last.facts["distinct"] = float(self.count)
            self.seen += 1
        return None


class Callbacks:
    """Calls the user's functions f(state); one that returns a Stop ends training."""

    def __init__(self, functions: Any) -> None:
        self.functions = list(functions)

    def __call__(self, training: Training) -> Stop | None:
        """Call them all, even if the first says stop."""
        stop: Stop | None = None
        for f in self.functions:
            said = f(training.state)
            if said is not None and not isinstance(said, Stop):
                raise TypeError(f"A callback must return None or a boostlab.Stop, and {f!r} returned {said!r}.")
            stop = stop or said
        return stop


class Progress(contextlib.AbstractContextManager["Progress"]):
    """A bar with the round, the time left and the current errors, drawn at most ten times a second."""

    def __init__(self, rounds: int, name: str, measure: Callable[..., float] = error) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column

        whole = Column(no_wrap=True)  # only the bar gives way where the terminal is narrow
        self.bar = Bar(
            TextColumn("[bold]{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
            BarColumn(12),
            MofNCompleteColumn(table_column=whole),
            TextColumn("time left", table_column=whole),
            TimeRemainingColumn(compact=True, table_column=whole),
            TextColumn("{task.fields[errors]}", table_column=whole),
            console=Console(stderr=True),
            auto_refresh=False,
            expand=True,
        )
        self.measure = measure
        self.line = self.bar.add_task(name.removesuffix("Classifier"), total=rounds, errors="")
        self.drawn = -np.inf

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.refresh()
        self.bar.stop()

    def __call__(self, training: Training) -> Stop | None:
        """Draw, if the last drawing is old enough."""
        now = self.bar.get_time()
        if now - self.drawn >= 0.1:
            self.show(training)
            self.drawn = now
        return None

    def show(self, training: Training) -> None:
        """Draw the line of the current round."""
        s = training.state
        text = f"train {self.measure(s.held.masses, s.codes, s.held.scores.now, tie_of(s.bound.value)):.4f}"
        if s.rounds and "validation_score" in s.rounds[-1].facts:
            text += f" valid. {s.rounds[-1].facts['validation_score']:.4f}"
        self.bar.update(self.line, completed=s.t, errors=text)
        self.bar.refresh()
