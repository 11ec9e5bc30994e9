"""The loop that every booster shares: task, voter, step, advance, monitors."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Facts, Found, Learner, Retry, Reweigh, Rows, Rule, Step, Stop, Task
from boostlab.contract.rule import plain_of, usual_of
from boostlab.engine.state import TrainingState
from boostlab.ensemble.rounds import ManyRounds, Round, Rounds, columns
from boostlab.ensemble.vote import constant, settle

Array = npt.NDArray[Any]


Monitor = Callable[["Training"], Stop | None]

# What a rule may say of a drawn voter that another draw may repair, and what it is called if none does.
AGAIN = {"no_edge": "no_edge", "tolerance": "no_edge", "assumption_violated": "assumption_violated"}

NO_WEIGHT = Stop("tolerance", "no row has any weight left, so there is nothing to draw")


class Training:
    """One booster at work: may be run to some round, looked at, and run on.

    Parameters
    ----------
    rule, learner
        What to ask and whom.
    rows : Rows
        The sample, for this rule.
    horizon : int
        The largest number of rounds, for rules that plan ahead.
    resample : bool or "systematic"
        Train every voter on a weighted draw of the rows instead of on weighted rows.
    max_restarts : int
        How often a round may draw again when a drawn voter is refused, or retry when the rule says so.
    rng : numpy Generator
        The only source of chance.
    watched : Table, optional
        Other rows whose scores are to be followed as well (a validation set).
    spent : float
        How many of the rule's seconds are gone before the first round.
    """

    def __init__(
        self,
        rule: Rule,
        learner: Learner,
        rows: Rows,
        *,
        horizon: int,
        resample: bool | str = False,
        max_restarts: int = 10,
        rng: np.random.Generator | None = None,
        watched: Any = None,
        spent: float = 0.0,
    ) -> None:
        self.rule, self.rows = rule, rows
        self.rng = np.random.default_rng(0) if rng is None else rng
        self.state = TrainingState(rule, rows, horizon)
        self.state.rng, self.state.spent = self.rng, spent
        self.session = learner.begin(rows, self.rng)
        if rule.labels_only and not self.session.labels:
            raise ValueError(
                f"{type(rule).__name__} needs voters that say -1 or +1, and those of {type(learner).__name__} say "
                "other numbers; take their signs, or use QuadBoostClassifier or LPBoostClassifier, which weigh them."
            )
        self.draws = bool(resample) or learner.draws
        if rule.excludes and not (learner.excludes or self.draws):
            raise ValueError(
                f"{type(rule).__name__} must be able to leave a voter out, and {type(learner).__name__} cannot; use "
                "stumps, a VoterPool, or resample=True, which draws again."
            )
        self.systematic = resample == "systematic"
        self.max_restarts = max_restarts
        self.watched = None if watched is None else rows.watch(watched)
        self.monitors: list[Monitor] = []  # those that stay for the whole training
        self.late_monitors: list[Monitor] = []  # those of them that may see many rounds at once
        self.stop: Stop | None = None
        self.last: Stop | None = None  # what the rule said when it set the coefficients for good
        self.torn = False  # whether the rule may remember a round that the training does not hold
        self.looked = 0  # rounds that the training's own monitors have seen
        self._start = time.perf_counter()
        rule.begin(self.state)
        self.fused = self._fused()  # many rounds in one call, where the rule and the learner allow it

    def run(self, until: int, monitors: Sequence[Monitor] = ()) -> Stop:
        """Go on until round `until`, or until the rule, a monitor or the user says stop.

        What the rule and the training's own monitors say is final.  What the monitors given here say, and Ctrl-C, ends
        this call only: the training may be run on.
        """
        state, kept, chance = self.state, -1, self.rng.bit_generator.state
        wish: Stop | None = None
        try:
            self._look()  # at a round whose watching was interrupted
            while self.stop is None and wish is None and state.t < until:
                kept, chance, self._start = state.t, self.rng.bit_generator.state, time.perf_counter()
                self.stop = self._rounds(1 if monitors or self.monitors else until - state.t)
                self.torn = False
                if state.t > kept:
                    self._look()
                    for monitor in monitors:
                        said = monitor(self)
                        wish = wish or said
        except BaseException as error:
            if state.t == kept:
                self.rng.bit_generator.state = chance  # the round that was lost will draw as it would have
            if not isinstance(error, KeyboardInterrupt):
                raise
            wish = Stop("interrupted", f"Ctrl-C in round {state.t + 1}; the {state.t} rounds before it are kept")
        if self.fused is not None:
            self.fused.release()
        return self.stop or wish or Stop("max_rounds", f"{until} rounds, the limit n_estimators")

    def _look(self) -> None:
        """Let the training's own monitors see the last round, once."""
        if self.looked < self.state.t:
            for monitor in (*self.monitors, *self.late_monitors):
                said = monitor(self)
                self.stop = self.stop or said
            self.looked = self.state.t

    def _rounds(self, most: int) -> Stop | None:
        """Take at least one round, and no more than `most`: many in one call where that pays, else a single one."""
        if self.fused is not None and self.fused.pays(most) and self._fused_rounds(most):
            return None
        return self._round()

    def _fused(self) -> Any:
        """Return the compiled rounds of stumps under a rule whose step is a formula, on rows that are not drawn."""
        if self.draws or not self.session.compiled:
            return None
        plain, usual = plain_of(self.rule, self.state), usual_of(self.rule, self.state)
        if plain is None and usual is None:
            return None
        search = self.session.stump_search(self.rule.needs if usual is None else usual.criterion or self.rule.needs)
        self.rows.keep_shifted(plain is not None and search is not None)
        return None if search is None else self.rows.fused(plain, *search)

    def _fused_rounds(self, most: int) -> int:
        """Take up to `most` rounds in one compiled call; return how many: none if the next one is unusual."""
        start, state = time.perf_counter(), self.state
        self.torn = True
        made = self.fused.rounds(state, most)
        if made is None:
            return 0
        voters, each = self.session.voters(made.places, made.leaves), (time.perf_counter() - start) / len(made.alphas)
        self.join(voters, made.largest, made.alphas, made.facts, each, made.decays)
        return len(made.alphas)

    def _round(self) -> Stop | None:
        refused = Stop("no_edge")
        for _ in range(1 + self.max_restarts):
            asked = self.rule.task(self.state)
            if isinstance(asked, Stop):
                return asked
            self._check_task(asked)
            asked = self.rows.shifted(asked) if isinstance(asked, Task) else asked
            found = self._learn(asked)
            if isinstance(found, Stop):
                if found is NO_WEIGHT or not self._drawn(asked):
                    return found
                refused = found  # the draw may have been unlucky
                continue
            single, self.state.found = isinstance(asked, Task), found
            voter = found[0].voter if single else tuple(f.voter for f in found)
            h = self._votes(found[0]) if single else self.rows.side_by_side([self._votes(f) for f in found])
            self.rows.look_at(asked, h, found[0].sums if single else {})
            self.state.standing = self.state.bound.standing(voter)
            self.torn = True  # until the round is whole: the rule may remember what the rounds do not hold
            answer = self.rule.step(self.state, asked, h)
            if self.session.directed and _turns(answer):
                return Stop("no_edge", "a coefficient is negative, which would turn voters that are to be monotone")
            if isinstance(answer, Stop) and answer.code in AGAIN and self._drawn(asked):
                refused = Stop(AGAIN[answer.code], answer.detail)  # boosting with restart: the draw may be unlucky
                continue
            if not isinstance(answer, Retry):
                break
            refused = Stop("no_edge", answer.reason)
        else:
            tried = f"{self.max_restarts} restarts in one round all failed; the last: " if self.max_restarts else ""
            return Stop(refused.code, tried + refused.detail)
        if isinstance(answer, Stop):
            return answer
        self._check_answer(answer)
        self._keep(voter, h, answer, time.perf_counter() - self._start)
        return answer.stop

    # -- voter -------------------------------------------------------------------------------------------------------

    def _drawn(self, asked: Task | Sequence[Task | float]) -> bool:
        if self.draws or isinstance(asked, Task):
            return self.draws or asked.draw is not None  # type: ignore[union-attr]
        return any(t.draw is not None for t in _tasks(asked))

    def _learn(self, asked: Task | Sequence[Task | float]) -> list[Found] | Stop:
        """Return the learner's answers, one a task, or why there is no voter."""
        if isinstance(asked, Task):
            self.rows.turn = 0
            answer = self._best(asked)
            return answer if isinstance(answer, Stop) else [answer]
        answers, failed, known = list[Found](), 0, iter(self._best_each(_tasks(asked)))
        for turn, task in enumerate(asked):
            self.rows.turn = turn
            found = (next(known, None) or self._best(task)) if isinstance(task, Task) else Found(constant(task))
            if isinstance(found, Stop):
                failed += 1
                if not self.rule.each_alone or failed == len(_tasks(asked)):
                    return found
                found = Found(constant(0.0))
            answers.append(found)
        return answers

    def _best_each(self, tasks: Sequence[Task]) -> Sequence[Found | Stop]:
        """Return the learner's answers to several tasks; none if it looks for one after the other."""
        if len(tasks) < 2 or self._drawn(tasks):
            return ()
        return self.session.best_each(tasks) or ()

    def _best(self, task: Task) -> Found | Stop:
        """Return the learner's answer to one task."""
        if self._drawn(task) and not task.weight.any():
            return NO_WEIGHT
        answer = self.session.best(self._draw(task))
        if not isinstance(answer, Found | Stop):
            raise TypeError(f"{type(self.session).__name__}.best must return Found or Stop, and gave {answer!r}.")
        return answer

    def _votes(self, found: Found) -> Array:
        """Return a voter's votes on the sample."""
        return self.rows.votes(found.voter) if found.votes is None else found.votes

    def _draw(self, task: Task) -> Task:
        """Replace weights by the counts of a draw, where one is asked for."""
        if not self.draws and task.draw is None:
            return task
        counts = self.rows.draw(task.weight, task.draw, self.rng, self.systematic)
        weight = np.ones(len(counts))
        if task.by_label:
            rows = task.weight.sum(axis=1, keepdims=True)
            weight = np.divide(task.weight, rows, out=np.zeros_like(task.weight), where=rows > 0)
        kept = dict(params=task.params, linear=task.linear, without=task.without, gain=task.gain)
        return Task(task.criterion, weight, task.target, counts=counts, **kept)  # type: ignore[arg-type]

    # -- advance -----------------------------------------------------------------------------------------------------

    def _keep(self, voter: Any, h: Array, answer: Step | Reweigh, seconds: float) -> None:
        """Let a voter with the votes h join that took so long to find."""
        state = self.state
        state.found = ()  # the votes are not held beside the next round's
        self.rows.advance(answer, h, voter)
        if self.watched is not None:
            self.watched.advance(answer, voter)
        if isinstance(answer, Reweigh):
            alpha, decay, alphas = float(answer.alphas[-1]), 1.0, answer.alphas
        else:
            alpha, decay, alphas = float(answer.alpha), answer.decay, None
        facts = {"alpha": alpha, **answer.facts, "seconds": seconds}
        each = answer.each if isinstance(answer, Step) else None
        new = Round(voter, alpha, decay, alphas, facts, each)
        state.bound.add(new)
        if isinstance(answer, Step) and answer.decay == 1.0:
            self.session.added(voter, new.alpha)
        else:
            self.session.forget()
        state.rounds.append(new)  # last and at once: an interrupt leaves whole rounds only

    def join(
        self,
        voters: Sequence[Any],
        largest: Sequence[float],
        alphas: Sequence[float],
        facts: Mapping[str, Any] | Sequence[Facts],
        seconds: float,
        decays: Sequence[float] | None = None,
    ) -> None:
        """Take note of voters, whose votes are at most so large, that the sample's scores know already.

        The facts are columns, or those of each.
        """
        if self.watched is not None:
            for voter, alpha, decay in zip(voters, alphas, decays or repeat(1.0, len(alphas)), strict=True):
                self.watched.advance(Step(alpha, decay=decay), voter)
        self.state.bound.add_many(largest, alphas, decays)
        facts = facts if isinstance(facts, Mapping) else columns(facts)
        told = {"alpha": alphas, **facts, "seconds": np.full(len(alphas), seconds)}
        self.state.rounds.join(ManyRounds(voters, alphas, told, decays))

    def settled(self, scores: Any) -> Array:
        """Return scores as the finished model would decide by them."""
        return scores.map(settle, self.state.bound.value)

    def finished(self, rounds: int | None = None) -> Rounds:
        """Return the first rounds (all by default), with the rule's last word on coefficients; `last` is its stop."""
        state = copy.copy(self.state)
        state.rounds = self.state.rounds[:rounds]
        last = self.rule.finish(state) if state.rounds else None
        if last is None or (self.session.directed and _turns(last)):
            return state.rounds
        end, self.last = state.rounds[-1], last.stop
        settled = replace(end, alphas=np.asarray(last.alphas), facts={**end.facts, **last.facts})
        return Rounds([*state.rounds[:-1], settled])

    # -- a rule's promises -------------------------------------------------------------------------------------------

    def _check_task(self, asked: Task | Sequence[Task | float]) -> None:
        if isinstance(asked, Task) and asked.criterion == self.rule.needs:
            return
        for task in _tasks(asked):
            if task.criterion != self.rule.needs:
                name = type(self.rule).__name__
                raise ValueError(
                    f"{name} needs {self.rule.needs!r} and its task names {task.criterion!r}; make them agree."
                )

    def _check_answer(self, answer: Any) -> None:
        """Refuse an answer that breaks the contract."""
        if type(answer) is Step and answer.each is None and answer.decay == 1.0 and math.isfinite(answer.alpha):
            return  # the usual one
        name = f"{type(self.rule).__name__}.step"
        if self.rule.comes_back and (not isinstance(answer, Step) or answer.decay != 1.0):
            raise TypeError(f"{name} must answer Step without decay, Retry or Stop: its voters come back.")
        if isinstance(answer, Step):
            if not np.isfinite(answer.alpha):
                raise ArithmeticError(f"{name} gave alpha = {answer.alpha}; it must be a finite number.")
            if answer.each is not None and not np.isfinite([answer.each.alphas, answer.each.decays]).all():
                raise ArithmeticError(f"{name} gave a class an alpha or decay that is not finite.")
        elif isinstance(answer, Reweigh):
            if not self.rule.keeps_votes or self.rule.n_outputs != "one":
                raise TypeError(f"{name} re-weighs: its rule must set keeps_votes = True and have one score a row.")
            answer.alphas = np.asarray(answer.alphas, dtype=np.float64)
            if answer.alphas.shape != (self.state.t + 1,) or not np.isfinite(answer.alphas).all():
                raise ValueError(
                    f"{name} must re-weigh all {self.state.t + 1} voters, this one last, by finite numbers."
                )
        else:
            raise TypeError(f"{name} must answer Step, Reweigh, Retry or Stop, and gave {answer!r}.")


def _tasks(asked: Task | Sequence[Task | float]) -> list[Task]:
    return [t for t in ((asked,) if isinstance(asked, Task) else asked) if isinstance(t, Task)]


def _turns(answer: Any) -> bool:
    """Return whether an answer gives a voter a negative coefficient."""
    if isinstance(answer, Reweigh):
        return bool((np.asarray(answer.alphas) < 0).any())
    return isinstance(answer, Step) and (answer.alpha < 0 or answer.decay < 0)
