"""Shared by RLP-Boost and RQP-Boost: AdaBoost's voters, weighed anew at the end (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostlab.backend import count_threads
from boostlab.boosters.adaboost import AdaBoost
from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.corrective import LIMIT
from boostlab.boosters.params import check_params, param
from boostlab.boosters.selection import SelectionData, mean, mistakes, parted, run
from boostlab.contract import Array, Retry, Reweigh, Rule, State, Step, Stop, Task
from boostlab.data.matrix import canonical_order
from boostlab.data.sample import check_sample
from boostlab.data.table import Table
from boostlab.ensemble.rounds import Rounds
from boostlab.ensemble.vote import Ensemble, settle, votes_of
from boostlab.solvers.allowance import Allowance, SolverError


@dataclass(frozen=True)
class Reweighed(AdaBoost):
    """Run AdaBoost, keep its voters, and let a program weigh them; voters that vote alike are one.

    Parameters
    ----------
    seconds : float, optional
        The longest that training may take: AdaBoost's rounds half of it, and the program what is left.  AdaBoost's own
        weights stay if it fails.
    """

    seconds: float | None = None

    keeps_votes: ClassVar[bool] = True

    def program(self, U: Array, mass: Array) -> Any:
        """Return the program over different voters, whose agreements y h are the rows of U."""
        raise NotImplementedError

    def solve(self, program: Any) -> tuple[Array, float]:
        """Return the weights and the optimum for this rule's parameter; a solved program goes on from there."""
        raise NotImplementedError

    def worth(self, s: State, margins: Array, alphas: Array) -> float:
        """Return what the program maximises or minimises, for a vote of AdaBoost's."""
        raise NotImplementedError

    def begin(self, s: State) -> None:
        """Start the clock."""
        super().begin(s)
        s.own.clock = Allowance(self.seconds, s.spent)

    def task(self, s: State) -> Task | Stop:
        """AdaBoost's, while there is time."""
        s.own.clock.end_round()  # which counts what the engine did with the last voter, too
        if self.seconds is not None and s.t and s.own.clock.left() <= (self.seconds - s.spent) / 2:
            return Stop("time_up", f"half of the limit of {self.seconds:g} seconds was over after {s.t} rounds")
        s.own.clock.begin_round()
        return super().task(s)

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """AdaBoost's step, and what the program thinks of it."""
        answer = super().step(s, task, h)
        if isinstance(answer, Step):
            alphas, F = np.append(s.alphas, answer.alpha), s.F + answer.alpha * h
            answer.facts = {**answer.facts, "program": self.worth(s, s.y * F, alphas)}
        return answer

    def open(self, U: Array, mass: Array) -> tuple[Any, Array]:
        """Return the program over voters with agreements U (of those that vote alike the first), and who they are."""
        first = np.unique(U, axis=0, return_index=True)[1]
        first.sort()
        return self.program(U[first], mass), first

    def weigh(self, program: Any, kept: Array, n_voters: int) -> Reweigh | Stop:
        """Solve and return all voters' weights."""
        alphas = np.zeros(n_voters)
        try:
            alphas[kept], value = self.solve(program)
        except SolverError as failure:
            return Stop("solver_failed", f"{failure}; the weights are those of before")
        if not alphas.any():
            return Stop("solver_failed", "the program gave no voter a weight; the weights are those of before")
        return Reweigh(alphas, {"program": value})

    def finish(self, s: State) -> Reweigh | None:
        """Weigh the voters once AdaBoost is done."""
        order = s.canonical_order()  # so that the solver's choice among optima does not depend on the rows' order
        program, kept = self.open((s.y * s.votes)[:, order], s.mass[order])
        if self.seconds is not None:
            s.own.clock.end_round()
            program.seconds = s.own.clock.left()
        answer = self.weigh(program, kept, s.t)
        return Reweigh(s.alphas, {}, answer) if isinstance(answer, Stop) else answer


@dataclass(eq=False, repr=False)
class ReweighingClassifier(BoostingClassifier):
    """AdaBoost whose voters are weighed anew by a program with one parameter, for which a grid is cheap."""

    time_limit: float | None = param(None, LIMIT)

    _parameter: ClassVar[str]  # the program's parameter
    _grid: ClassVar[tuple[float, ...]]

    def _weighing(self, value: float) -> Reweighed:
        """Return the rule for a value of the program's parameter."""
        raise NotImplementedError

    def _rule(self) -> Rule:
        return self._weighing(self._number(self._parameter, meanwhile=1.0))

    def _settle(self, bench: SelectionData) -> dict[str, Any]:
        if not isinstance(getattr(self, self._parameter), str):
            return {}
        train, judge = parted(bench, self._parameter)
        rule = self._weighing(1.0)
        training = bench.training(rule, train, judge, int(bench.rng.integers(2**62)))
        run(training, bench.rounds)
        s, watched = training.state, training.watched
        if not s.rounds or watched is None:
            return {self._parameter: self._grid[0]}
        order = s.canonical_order()
        opened = rule.open((s.y * s.votes)[:, order], s.mass[order])
        errors: dict[float, float] = {}
        for value in self._grid:
            if self._parameter == "nu" and value * s.size < 1:
                continue
            answer = self._weighing(value).weigh(*opened, s.t)
            if not isinstance(answer, Stop):
                F = settle(answer.alphas @ watched.scores.votes, float(np.abs(answer.alphas).sum()))
                errors[value] = mean(judge.sample, mistakes(judge.sample, F))
        if not errors:
            return {self._parameter: self._grid[0]}
        curve = {self._parameter: np.array(list(errors)), "error": np.array(list(errors.values()))}
        return {self._parameter: min(errors, key=errors.__getitem__), f"{self._parameter}_curve": curve}

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        setattr(self, f"{self._parameter}_", self._number(self._parameter, meanwhile=1.0))
        curve: Mapping[str, Array] = self._settled.get(f"{self._parameter}_curve", {})
        setattr(self, f"{self._parameter}_curve_", curve)

    def path(self, X: Any, y: Any, values: Iterable[float], sample_weight: Any = None) -> list[Self]:
        """Return models with the same voters, weighed for other values of the program's parameter.

        The voters are not trained again, and every program starts from the last one's solution: give the values in
        order.

        Parameters
        ----------
        X, y : table and labels
            The rows to weigh the voters by: those of `fit`.
        values : iterable of floats
            Of `nu`, or of `C`.
        sample_weight : array-like, optional
            As in `fit`.

        Returns
        -------
        list of fitted models
        """
        check_is_fitted(self, "n_estimators_")
        if len(self.classes_) > 2:
            raise ValueError(
                "A path is of one binary problem, and there are several; ask each of estimators_ for its own."
            )
        X, y = self._numbers(X, (y,), sample_weight=sample_weight)
        sample = check_sample(X, y, sample_weight, self.classes_, "y", self.class_weight)
        table = Table(sample.X, threads=count_threads(self.n_jobs))
        order, rounds = canonical_order(sample.X, sample.codes, sample.rows.masses), self._ensemble.rounds
        signs = np.where(sample.codes == 1, np.int8(1), np.int8(-1))
        U = np.array([(signs * votes_of(r.voter, table))[order] for r in rounds])
        models: list[Self] = []
        opened: Any = None
        for value in values:
            model = copy.copy(self)
            setattr(model, self._parameter, float(value))
            model._settled = {}
            check_params(model)
            rule = self._weighing(float(value))
            kept, history, reason = rounds, self.history_, self.stop_reason_
            if rounds:
                opened = opened or rule.open(U, sample.rows.masses[order])
                program, members = opened
                answer = rule.weigh(program, members, len(rounds))
                if isinstance(answer, Stop):
                    reason = str(answer)
                else:
                    facts = {**rounds[-1].facts, **answer.facts}
                    kept = Rounds([*rounds[:-1], replace(rounds[-1], alphas=answer.alphas, facts=facts)])
                    history = {name: column.copy() for name, column in history.items()}
                    history["program"][len(rounds) - 1] = answer.facts["program"]
            model._keep(Ensemble(rule, kept, len(self.classes_)), history, reason)
            model.feature_importances_ = model._ensemble.importances(self.n_features_in_)
            models.append(model)
        return models
