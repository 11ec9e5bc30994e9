"""The loop that every booster shares: task, voter, step, advance, monitors."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Learner, Retry, Reweigh, Rule, Step, Stop, Task
from boostlab.data.losses import Exponentials
from boostlab.data.matrix import canonical_order
from boostlab.data.rows import Rows
from boostlab.data.table import Table
from boostlab.ensemble import Bound, Round, coefficients, settle, votes_of
from boostlab.kernels.lookup import weighted_votes

Array = npt.NDArray[Any]


class Scores:
    """The running vote on one set of rows; votes are added, never predicted again."""

    def __init__(self, rule: Rule, n_rows: int, n_classes: int) -> None:
        shape = (n_rows,) if rule.n_outputs == "one" else (n_rows, n_classes)
        self.rule = rule
        self._F: Array | None = _frozen(np.zeros(shape))
        self._votes: Array | None = None  # one row a voter: int8 while all votes are labels
        self._alphas: Array | None = None
        self._kept = 0

    @property
    def F(self) -> Array:
        """The scores now."""
        if self._F is None:
            assert self._alphas is not None
            F = np.zeros(self.votes.shape[1])
            weighted_votes(self.votes, self._alphas, F)
            self._F = _frozen(F)
        return self._F

    @property
    def votes(self) -> Array:
        """The kept voters' votes, one row each."""
        assert self._votes is not None, "this rule does not keep votes"
        votes = self._votes[: self._kept]
        votes.setflags(write=False)
        return votes

    def keep(self, h: Array) -> None:
        """Remember a voter's votes, for rules that look back."""
        labels = bool(((h == 1.0) | (h == -1.0)).all())
        if self._votes is None:
            self._votes = np.empty((16, len(h)), np.int8 if labels else np.float64)
        elif self._kept == len(self._votes):
            self._votes = np.concatenate([self._votes, np.empty_like(self._votes)])
        if not labels and self._votes.dtype == np.int8:
            self._votes = self._votes.astype(np.float64)
        self._votes[self._kept] = h
        self._kept += 1

    def advance(self, answer: Step | Reweigh, h: Array) -> None:
        """Let one more voter speak."""
        if isinstance(answer, Reweigh):
            self._F, self._alphas = None, answer.alphas  # summed up when somebody asks
            return
        F = self.F if answer.decay == 1.0 else answer.decay * self.F
        self._F = _frozen(self.rule.combine(F, answer.alpha, h))


def _frozen(F: Array) -> Array:
    F.setflags(write=False)  # callbacks may look, not touch
    return F


class State:
    """The sample and the vote so far, as rules and monitors see them (see `contract.State`)."""

    def __init__(self, rule: Rule, table: Table, rows: Rows, codes: Array, n_classes: int, horizon: int) -> None:
        self.table, self.rows, self.codes, self.n_classes, self.horizon = table, rows, codes, n_classes, horizon
        self._order: Array | None = None
        self.n, self.size = rows.n, max(rows.n, float(rows.n_rows))
        self.y = np.where(codes == 1, np.int8(1), np.int8(-1))
        self.scores = Scores(rule, rows.n_rows, n_classes)
        self.rounds: list[Round] = []
        self.bound, self.standing = Bound(rule.comes_back), 0.0
        self.losses: Exponentials | None = None
        self.y.setflags(write=False)
        self.codes.setflags(write=False)
        self.own = SimpleNamespace()
        self.total: Callable[..., Any] = rows.total
        self.largest: Callable[[Array], float] = rows.largest
        self.smallest: Callable[[Array], float] = rows.smallest

    @property
    def mass(self) -> Array:
        """The mass of every row."""
        return self.rows.masses

    @property
    def F(self) -> Array:
        """The scores so far."""
        return self.scores.F

    @property
    def t(self) -> int:
        """Number of rounds kept."""
        return len(self.rounds)

    @property
    def votes(self) -> Array:
        """The votes of the voters so far, one row each."""
        return self.scores.votes[: self.t]

    @property
    def alphas(self) -> Array:
        """The coefficients now."""
        return coefficients(self.rounds)

    def canonical_order(self) -> Array:
        """Return an order of the rows that depends on their content only."""
        if self._order is None:
            self._order = canonical_order(self.table.X, self.codes, self.rows.masses, self.table.threads)
        return self._order

    def weigh(self, logs: Array) -> Array:
        """Return exp(logs), scaled so that the largest is 1."""
        logs = logs - self.largest(logs)
        return np.exp(logs, out=logs)

    def exponentials(self) -> Array:
        """Return exp(-y F) up to a common factor, computed anew only where the last voter was wrong."""
        if self.losses is None:
            self.losses = Exponentials(self.y, self.F)
        return self.losses.w

    def follow_losses(self, rule: Rule, answer: Step | Reweigh, h: Array) -> None:
        """Keep the exponentials up to date, where a rule has asked for them."""
        if self.losses is not None:
            if isinstance(answer, Step) and answer.decay == 1.0 and rule.additive and h.dtype == np.int8:
                self.losses.advance(self.F, answer.alpha, h)
            else:
                self.losses = None


Monitor = Callable[["Training"], Stop | None]


class Training:
    """One booster at work: may be run to some round, looked at, and run on.

    Parameters
    ----------
    rule, learner
        What to ask and whom.
    table, rows, codes, n_classes
        The sample: binned columns, masses, class indices.
    horizon : int
        The largest number of rounds, for rules that plan ahead.
    resample : bool or "systematic"
        Train every voter on a weighted draw of the rows instead of on weighted rows.
    max_restarts : int
        How often a round may draw again when a drawn voter is refused, or retry when the rule says so.
    rng : numpy Generator
        The only source of chance.
    watched : Table, optional
        Rows whose scores are to be followed as well (a validation set).
    """

    def __init__(
        self,
        rule: Rule,
        learner: Learner,
        table: Table,
        rows: Rows,
        codes: Array,
        n_classes: int,
        *,
        horizon: int,
        resample: bool | str = False,
        max_restarts: int = 10,
        rng: np.random.Generator | None = None,
        watched: Table | None = None,
    ) -> None:
        self.rule, self.table, self.rows = rule, table, rows
        self.rng = np.random.default_rng(0) if rng is None else rng
        self.state = State(rule, table, rows, codes, n_classes, horizon)
        self.session = learner.begin(table, rows, self.rng)
        if rule.labels_only and not getattr(self.session, "labels", True):
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
        self.watched = watched
        self.watched_scores = None if watched is None else Scores(rule, watched.n_rows, n_classes)
        self.monitors: list[Monitor] = []  # those that stay for the whole training
        self.stop: Stop | None = None
        self.last: Stop | None = None  # what the rule said when it set the coefficients for good
        self.torn = False  # whether the rule may remember a round that the training does not hold
        self.looked = 0  # rounds that the training's own monitors have seen
        self._start = time.perf_counter()
        rule.begin(self.state)

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
                self.stop = self._round()
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
        return self.stop or wish or Stop("max_rounds", f"{until} rounds, the limit n_estimators")

    def _look(self) -> None:
        """Let the training's own monitors see the last round, once."""
        if self.looked < self.state.t:
            for monitor in self.monitors:
                said = monitor(self)
                self.stop = self.stop or said
            self.looked = self.state.t

    def _round(self) -> Stop | None:
        refused = Stop("no_edge")
        for _ in range(1 + self.max_restarts):
            asked = self.rule.task(self.state)
            if isinstance(asked, Stop):
                return asked
            self._check_task(asked)
            voter = self._learn(asked)
            if isinstance(voter, Stop):
                if not self._drawn(asked):
                    return voter
                refused = voter  # the draw may have been unlucky
                continue
            h = self._votes(voter)
            self.state.standing = self.state.bound.standing(voter)
            self.torn = True  # until the round is whole: the rule may remember what the rounds do not hold
            answer = self.rule.step(self.state, asked, h)
            if isinstance(answer, Stop) and answer.code in ("no_edge", "tolerance") and self._drawn(asked):
                answer = Retry(answer.detail)  # boosting with restart: the draw may have been unlucky
            if not isinstance(answer, Retry):
                break
            refused = Stop("no_edge", answer.reason)
        else:
            tried = f"{self.max_restarts} restarts in one round all failed; the last: " if self.max_restarts else ""
            return Stop(refused.code, tried + refused.detail)
        if isinstance(answer, Stop):
            return answer
        self._check_answer(answer)
        self._advance(voter, h, answer)
        return answer.stop

    # -- voter -------------------------------------------------------------------------------------------------------

    def _drawn(self, asked: Task | Sequence[Task]) -> bool:
        return self.draws or any(t.draw is not None for t in ((asked,) if isinstance(asked, Task) else asked))

    def _learn(self, asked: Task | Sequence[Task]) -> Any:
        if isinstance(asked, Task):
            return self.session.best(self._draw(asked))
        voters = []
        for task in asked:
            voter = self.session.best(self._draw(task))
            if isinstance(voter, Stop):
                return voter
            voters.append(voter)
        return tuple(voters)

    def _votes(self, voter: Any) -> Array:
        """Return the voter's votes on the sample; a session that knows them already may say so by `output`."""
        if hasattr(self.session, "output") and not isinstance(voter, tuple):
            return self.session.output(voter, self.table)
        return votes_of(voter, self.table)

    def _draw(self, task: Task) -> Task:
        """Replace weights by the counts of a draw, where one is asked for."""
        if not self.draws and task.draw is None:
            return task
        size = task.draw or self.rows.draw_size
        counts = self.rows.draw(task.weight, size, self.rng, self.state.canonical_order(), self.systematic)
        weight = np.ones(len(counts))
        if task.weight.ndim > 1:
            rows = task.weight.sum(axis=1, keepdims=True)
            weight = np.divide(task.weight, rows, out=np.zeros_like(task.weight), where=rows > 0)
        kept = dict(params=task.params, linear=task.linear, without=task.without, gain=task.gain)
        return Task(task.criterion, weight, task.target, counts=counts, **kept)  # type: ignore[arg-type]

    # -- advance -----------------------------------------------------------------------------------------------------

    def _advance(self, voter: Any, h: Array, answer: Step | Reweigh) -> None:
        state = self.state
        followed = [(state.scores, h)]
        if self.watched is not None and self.watched_scores is not None:
            followed.append((self.watched_scores, votes_of(voter, self.watched)))
        for scores, votes in followed:
            if self.rule.keeps_votes:
                scores.keep(votes)
            scores.advance(answer, votes)
        if isinstance(answer, Reweigh):
            new = Round(voter, float(answer.alphas[-1]), alphas=answer.alphas)
        else:
            new = Round(voter, float(answer.alpha), answer.decay)
        new.facts.update(alpha=new.alpha, **answer.facts, seconds=time.perf_counter() - self._start)
        state.follow_losses(self.rule, answer, h)
        state.bound.add(new)
        if isinstance(answer, Step) and answer.decay == 1.0:
            self.session.added(voter, new.alpha)
        elif hasattr(self.session, "forget"):
            self.session.forget()  # earlier coefficients changed: what it remembers no longer holds
        state.rounds.append(new)  # last and at once: an interrupt leaves whole rounds only

    def settled(self, scores: Scores) -> Array:
        """Return scores as the finished model would decide by them."""
        return settle(scores.F, self.state.bound.value)

    def finished(self, rounds: int | None = None) -> list[Round]:
        """Return the first rounds (all by default), with the rule's last word on coefficients; `last` is its stop."""
        state = copy.copy(self.state)
        state.rounds = self.state.rounds[:rounds]
        last = self.rule.finish(state) if state.rounds else None
        if last is None:
            return state.rounds
        end, self.last = state.rounds[-1], last.stop
        return [*state.rounds[:-1], replace(end, alphas=np.asarray(last.alphas), facts={**end.facts, **last.facts})]

    # -- a rule's promises -------------------------------------------------------------------------------------------

    def _check_task(self, asked: Task | Sequence[Task]) -> None:
        for task in (asked,) if isinstance(asked, Task) else asked:
            if task.criterion != self.rule.needs:
                name = type(self.rule).__name__
                raise ValueError(
                    f"{name} needs {self.rule.needs!r} and its task names {task.criterion!r}; make them agree."
                )

    def _check_answer(self, answer: Any) -> None:
        name = f"{type(self.rule).__name__}.step"
        if self.rule.comes_back and (not isinstance(answer, Step) or answer.decay != 1.0):
            raise TypeError(f"{name} must answer Step without decay, Retry or Stop: its voters come back.")
        if isinstance(answer, Step):
            if not np.isfinite(answer.alpha):
                raise ArithmeticError(f"{name} gave alpha = {answer.alpha}; it must be a finite number.")
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


def history(rounds: Sequence[Round]) -> dict[str, Any]:
    """Return the rounds' facts as columns of equal length (NaN where a round has no such fact)."""
    names = dict.fromkeys(["alpha", *(name for r in rounds for name in r.facts)])
    return {name: np.array([r.facts.get(name, np.nan) for r in rounds]) for name in names}
