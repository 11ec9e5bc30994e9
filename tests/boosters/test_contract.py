"""What the engine says to a rule that breaks its promises, and what it does for rules that look back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, DecisionTree, SoftMarginBoostClassifier, VoterPool
from boostlab.backend.cpu.masses import Masses
from boostlab.boosters.adaboost import AdaBoost
from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.quadboost import QuadBoost
from boostlab.contract import Found, Reweigh, Rule, Session, Step, Task, error_sums
from boostlab.data.table import Bins, Table
from boostlab.learners import DecisionStump
from tables import noisy_table, training_of


@dataclass(frozen=True)
class Says(Rule):
    """Answers every voter with whatever it is told to."""

    answer: Any = None
    criterion: str = "edge"

    def task(self, s):
        return Task(self.criterion, np.ones(len(s.y)), s.y)

    def step(self, s, task, h):
        return self.answer


@dataclass(frozen=True)
class Keeps(Says):
    keeps_votes: ClassVar[bool] = True


def train(rule, learner=None, rounds=3):
    X, y = noisy_table(80, seed=1)
    rows, learner = Masses(len(y)), learner or DecisionStump()
    table = Table.of(X, Bins.fit(X, rows) if learner.uses_bins else None)
    training = training_of(rule, learner, table, rows, y, 2, horizon=rounds)
    training.run(rounds)
    return training


@pytest.mark.parametrize(
    ("rule", "error", "sentence"),
    [
        (Says(None), TypeError, "must answer Step, Reweigh, Retry or Stop, and gave None"),
        (Says(Step(float("nan"))), ArithmeticError, "alpha = nan"),
        (Says(Step(1.0), criterion="z"), ValueError, "needs 'edge' and its task names 'z'"),
        (Says(Reweigh(np.ones(1))), TypeError, "keeps_votes = True"),
        (Keeps(Reweigh(np.ones(4))), ValueError, "re-weigh all 1 voters"),
        (Keeps(Reweigh(np.array([np.inf]))), ValueError, "finite"),
    ],
)
def test_broken_promises_are_one_sentence(rule, error, sentence):
    with pytest.raises(error, match=sentence):
        train(rule)


def test_a_list_will_do_for_coefficients():
    assert train(Keeps(Reweigh([0.5])), rounds=1).state.alphas.tolist() == [0.5]


@dataclass(frozen=True)
class LastWord(Rule):
    """AdaBoost-like steps; in the end every voter that is kept votes 1/2."""

    keeps_votes: ClassVar[bool] = True

    def task(self, s):
        return Task("edge", s.weigh(-s.y * s.F), s.y)

    def step(self, s, task, h):
        return Step(0.2)

    def finish(self, s):
        assert len(s.votes) == s.t == len(s.alphas)
        return Reweigh(np.full(s.t, 0.5))


@dataclass(eq=False, repr=False)
class LastWordClassifier(BoostingClassifier):
    def _rule(self):
        return LastWord()


def test_the_last_word_is_about_the_rounds_that_are_kept():
    X, y = noisy_table(200, seed=3)
    model = LastWordClassifier(n_estimators=60, early_stopping=True, n_iter_no_change=5, random_state=0).fit(X, y)
    assert 1 <= model.n_estimators_ < len(model.history_["alpha"])
    assert (model.estimator_weights_ == 0.5).all()


@dataclass(frozen=True)
class Turning(Rule):
    """A positive coefficient, then negative ones; in the end all are negative."""

    keeps_votes: ClassVar[bool] = True

    def task(self, s):
        return Task("edge", s.weigh(-s.y * s.F), s.y)

    def step(self, s, task, h):
        return Step(-0.2 if s.t else 0.5)

    def finish(self, s):
        return Reweigh(np.full(s.t, -0.5))


@dataclass(eq=False, repr=False)
class TurningClassifier(BoostingClassifier):
    def _rule(self):
        return Turning()


def test_no_negative_coefficient_turns_a_monotone_voter():
    X, y = noisy_table(100, seed=3)
    free = TurningClassifier(n_estimators=3).fit(X, y)
    assert free.estimator_weights_.tolist() == [-0.5, -0.5, -0.5]
    kept = TurningClassifier(n_estimators=3, monotone={0: 1}).fit(X, y)
    assert kept.estimator_weights_.tolist() == [0.5]
    assert kept.stop_reason_.startswith("no_edge: a coefficient is negative")


@dataclass(frozen=True)
class Fading(Rule):
    """Residual steps that fade; `linear` promises what a pool may rely on."""

    linear: bool = True

    def task(self, s):
        r = s.y - s.F
        return Task("edge", np.abs(r), np.sign(r), linear=self.linear)

    def step(self, s, task, h):
        return Step(0.5 * s.total((s.y - s.F) * h) / s.n, decay=0.7)


def test_a_pool_does_not_trust_its_memory_after_a_decay():
    one, two = (train(Fading(linear), VoterPool(), rounds=12) for linear in (True, False))
    assert [r.voter.index for r in one.state.rounds] == [r.voter.index for r in two.state.rounds]
    assert np.allclose(one.state.alphas, two.state.alphas)


class Unlucky(DecisionStump):
    """A learner that needs draws and whose first voter is always wrong."""

    draws = True

    def begin(self, rows, rng):
        session, self.asked = super().begin(rows, rng), 0
        best = session.best

        def turned(task):
            self.asked += 1
            found = best(task)
            stump = found.voter
            if self.asked == 1:
                stump.left, stump.right, stump.missing = -stump.left, -stump.right, -stump.missing
                return Found(stump)
            return found

        session.best = turned
        return session


class Knowing(DecisionStump):
    """A learner whose session answers in a way of its own."""

    def __init__(self, answer):
        self.answer = answer

    def searches(self):
        return frozenset(["edge"])

    def begin(self, rows, rng):
        session, answer = DecisionStump().begin(rows, rng), self.answer

        class Knows(Session):
            def best(self, task):
                return answer(session.best(task), rows.table)

        return Knows()


@pytest.mark.filterwarnings("error")
def test_the_votes_and_sums_that_a_learner_knows_are_not_asked_for_again():
    plain = train(AdaBoost(), rounds=1)
    error = plain.state.rounds[0].facts["error"]
    told = train(AdaBoost(), Knowing(lambda found, _: Found(found.voter, None, {error_sums: (8.0, 1.0)})), rounds=1)
    assert told.state.rounds[0].facts["error"] == 1 / 8 != error
    turned = train(AdaBoost(), Knowing(lambda found, table: Found(found.voter, -found.voter.votes(table))), rounds=1)
    assert turned.stop.code == "no_edge"  # the votes are believed, and their sums made
    asked = train(AdaBoost(), Knowing(lambda found, _: Found(found.voter)), rounds=1)
    assert asked.state.rounds[0].facts["error"] == error


def test_an_answer_that_is_not_found_is_refused():
    with pytest.raises(TypeError, match=r"Knows\.best must return Found or Stop, and gave Stump"):
        train(AdaBoost(), Knowing(lambda found, _: found.voter), rounds=1)


@pytest.mark.parametrize("rule", [QuadBoost(), AdaBoost()], ids=["tolerance", "no_edge"])
def test_an_unlucky_draw_is_drawn_again_whatever_the_rule_calls_it(rule):
    learner = Unlucky()
    training = train(rule, learner, rounds=1)
    assert training.state.t == 1
    assert learner.asked == 2


def test_votes_are_read_only():
    training = train(Keeps(Step(0.1)))
    with pytest.raises(ValueError, match="read-only"):
        training.state.votes[:] = 1


class Unlike(Says):
    """Never wants the same votes twice."""

    excludes: ClassVar[bool] = True

    def task(self, s):
        return Task("edge", np.ones(len(s.y)), s.y, without=s.own.__dict__.get("last"))

    def step(self, s, task, h):
        assert task.without is None or (h != task.without).any()
        s.own.last = h
        return Step(1.0)


def test_leaving_out_a_voter_takes_a_learner_that_can():
    with pytest.raises(ValueError, match=r"Unlike must be able to leave a voter out, and DecisionTree cannot; use"):
        train(Unlike(), DecisionTree())
    assert train(Unlike(), rounds=4).state.t == 4
    assert train(Unlike(), VoterPool(), rounds=4).state.t == 4


def test_a_voter_that_is_wrong_on_a_weightless_row_is_not_perfect():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    heavy = AdaBoostClassifier(n_estimators=3).fit(X, y, [1e30, 1e30, 1.0])  # a cut at 0.5 errs on 1 of 2e30
    assert not heavy.stop_reason_.startswith("perfect")
    assert heavy.fit(X[:2], y[:2]).stop_reason_.startswith("perfect")


@pytest.mark.parametrize("power", [1, 2])
def test_weights_that_vanish_do_not_make_a_voter_perfect(power):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    model = SoftMarginBoostClassifier(C=0.05, power=power).fit(X, y, np.r_[1e6, np.ones(29)])
    assert model.score(X, y) < 1
    assert not model.stop_reason_.startswith("perfect")
