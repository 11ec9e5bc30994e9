"""Corners of the contract that few rules use: decay, a last word on the weights, retries, and drawn tasks."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from boostlab import DecisionStump
from boostlab.boosters.adaboost import AdaBoost
from boostlab.boosters.logitboost import LogitBoostOfClasses
from boostlab.contract import Learner, Retry, Reweigh, Rule, Session, Step, Task
from boostlab.data.table import Table
from boostlab.ensemble.rounds import history
from boostlab.ensemble.vote import Ensemble, coefficients
from tables import train

# -- decay -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fading(AdaBoost):
    """AdaBoost that lets earlier voters fade, as RobustBoost does."""

    keep: float = 0.9

    def step(self, s, task, h):
        answer = super().step(s, task, h)
        if isinstance(answer, Step):
            answer.decay = self.keep
        return answer


def test_decay_multiplies_all_earlier_coefficients(data):
    X, codes = data(seed=6, n=100, noise=0.2)
    y = 2.0 * codes - 1
    training, _ = train(Fading(), X, codes, rounds=25)
    rounds = training.finished()
    H = np.array([r.voter.predict(X) for r in rounds])
    alphas = np.array([r.alpha for r in rounds])
    F = np.zeros(len(y))
    ensemble = Ensemble(Fading(), rounds, 2)
    for t, G in enumerate(ensemble.staged_scores(Table(X))):
        w = np.exp(-y * F)
        w /= w.sum()
        error = w[H[t] != y].sum()  # the decayed scores drive the weights
        assert alphas[t] == pytest.approx(0.5 * np.log((1 - error) / error), rel=1e-10)
        F = 0.9 * F + alphas[t] * H[t]
        np.testing.assert_allclose(G, F, rtol=0, atol=1e-12)
        np.testing.assert_allclose(coefficients(rounds[: t + 1]), alphas[: t + 1] * 0.9 ** np.arange(t, -1, -1))
    np.testing.assert_allclose(training.state.F, F, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ensemble.scores(Table(X)), F, rtol=0, atol=1e-12)  # through the lookup table
    np.testing.assert_allclose(training.state.alphas @ H, F, rtol=0, atol=1e-12)
    assert ensemble.bound == pytest.approx(coefficients(rounds).sum())


# -- a last word -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LastWord(AdaBoost):
    """AdaBoost's voters with the weights of a least-squares fit at the end, as RLP and RQP do with theirs."""

    keeps_votes: ClassVar[bool] = True

    def finish(self, s):
        alphas = np.linalg.lstsq(s.votes.T.astype(float), s.y, rcond=None)[0]
        return Reweigh(alphas, {"residual": float(((s.votes.T @ alphas - s.y) ** 2).mean())})


def test_finish_sets_the_weights_once_more(data):
    X, codes = data(seed=7, n=100, noise=0.2)
    y = 2.0 * codes - 1
    training, _ = train(LastWord(), X, codes, rounds=15)
    plain, _ = train(AdaBoost(), X, codes, rounds=15)
    rounds = training.finished()
    H = np.array([r.voter.predict(X) for r in rounds])
    best = np.linalg.lstsq(H.T, y, rcond=None)[0]
    ensemble = Ensemble(LastWord(), rounds, 2)
    np.testing.assert_allclose(ensemble.alphas, best, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ensemble.scores(Table(X)), best @ H, rtol=0, atol=1e-10)
    *earlier, last = ensemble.staged_scores(Table(X))
    np.testing.assert_allclose(last, best @ H, rtol=0, atol=1e-10)
    for t, F in enumerate(earlier, start=1):  # before the end they are AdaBoost's
        np.testing.assert_allclose(F, [r.alpha for r in plain.state.rounds[:t]] @ H[:t], rtol=0, atol=1e-12)
    facts = history(rounds)
    assert np.isnan(facts["residual"][:-1]).all()
    assert facts["residual"][-1] == pytest.approx(((y - best @ H) ** 2).mean(), rel=1e-10)
    # The last word is not part of the training, which may go on as if nothing had been said.
    np.testing.assert_allclose(training.state.F, plain.state.F, rtol=0, atol=1e-13)
    training.run(20)
    plain.run(20)
    np.testing.assert_allclose(training.state.F, plain.state.F, rtol=0, atol=1e-13)


def test_no_voter_no_last_word():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    training, stop = train(LastWord(), X, np.array([0, 1, 0, 1]))
    assert stop.code == "no_edge"
    assert training.finished() == []


# -- retries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Picky(AdaBoost):
    """Refuses every voter `times` times before it takes one."""

    times: int = 2

    def begin(self, s):
        super().begin(s)
        s.own.refused, s.own.asked = 0, 0

    def task(self, s):
        s.own.asked += 1
        return super().task(s)

    def step(self, s, task, h):
        if s.own.refused < self.times:
            s.own.refused += 1
            return Retry(f"refusal {s.own.refused}")
        s.own.refused = 0
        return super().step(s, task, h)


def test_a_retry_asks_again_and_changes_nothing_else(data):
    X, codes = data(seed=8, n=80, noise=0.2)
    training, stop = train(Picky(times=2), X, codes, rounds=10, max_restarts=2)
    plain, _ = train(AdaBoost(), X, codes, rounds=10)
    assert stop.code == "max_rounds"
    assert training.state.own.asked == 30
    np.testing.assert_allclose(training.state.F, plain.state.F, rtol=0, atol=1e-13)


def test_too_many_retries_end_training(data):
    X, codes = data(seed=8, n=80, noise=0.2)
    training, stop = train(Picky(times=3), X, codes, rounds=10, max_restarts=2)
    assert stop.code == "no_edge"
    assert "2 restarts" in str(stop)
    assert "refusal 3" in str(stop)
    assert training.state.t == 0
    assert training.state.own.asked == 3
    assert training.run(10) is stop  # the end is the end


# -- drawn tasks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filtered(AdaBoost):
    """AdaBoost whose voters see m drawn rows, as FilterBoost's do; the error is measured on all."""

    m: int = 50

    def task(self, s):
        s.own.task = super().task(s)
        return Task("edge", s.own.task.weight, s.y, draw=self.m)

    def step(self, s, task, h):
        assert task.counts is None  # the rule is shown what it asked for, not what was drawn
        assert (task.weight == s.own.task.weight).all()
        return super().step(s, task, h)


class Witness(Learner, Session):
    """A stump that writes down what it is given."""

    uses_bins = True

    def searches(self):
        return frozenset(["edge"])

    def begin(self, rows, rng):
        self.inner, self.seen = DecisionStump().begin(rows, rng), []
        return self

    def best(self, task):
        self.seen.append(task)
        return self.inner.best(task)


@pytest.mark.parametrize("m", [7, 50, 400])
def test_a_drawn_task_holds_m_rows(data, m):
    X, codes = data(seed=9, n=120, noise=0.1)
    y = 2.0 * codes - 1
    learner = Witness()
    training, _ = train(Filtered(m=m), X, codes, learner, rounds=12, rng=np.random.default_rng(3))
    assert training.state.t >= 1
    assert all(t.counts.sum() == m and (t.weight == 1).all() for t in learner.seen)
    F = np.zeros(len(y))
    for r in training.state.rounds:
        h = r.voter.predict(X)
        w = np.exp(-y * F)
        error = w[h != y].sum() / w.sum()
        assert r.facts["error"] == pytest.approx(error, abs=1e-12)
        F = F + r.alpha * h
    again, _ = train(Filtered(m=m), X, codes, Witness(), rounds=12, rng=np.random.default_rng(3))
    assert again.state.F.tobytes() == training.state.F.tobytes()


def test_draws_are_in_proportion_to_mass_times_weight():
    # One row of weight 0 is never drawn; the others come as often as they should, to five standard deviations.
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(12, 2)), np.arange(12) % 2
    weight = np.array([0.0, 1, 2, 3, 4, 5, 1, 1, 1, 1, 1, 1])
    mass = np.array([1.0, 3, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1])

    @dataclass(frozen=True)
    class Once(Rule):
        def task(self, s):
            return Task("edge", weight, s.y, draw=40_000)

        def step(self, s, task, h):
            return Step(0.0)

    learner = Witness()
    train(Once(), X, codes, learner, rounds=3, mass=mass, rng=np.random.default_rng(1))
    p = weight * mass / (weight * mass).sum()
    counts = sum(t.counts for t in learner.seen)
    assert counts[0] == 0
    assert (np.abs(counts - 120_000 * p) <= 5 * np.sqrt(120_000 * p * (1 - p))).all()
    assert len({t.counts.tobytes() for t in learner.seen}) == 3


def test_an_unlucky_draw_is_drawn_again(data):
    # Three rows of forty: many a drawn stump is no better than chance on all of them.
    rng = np.random.default_rng(2)
    X, codes = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    kept, asked = [], []
    for restarts in (0, 10):
        learner = Witness()
        training, _ = train(
            Filtered(m=3), X, codes, learner, rounds=40, max_restarts=restarts, rng=np.random.default_rng(5)
        )
        kept.append(training.state.t)
        asked.append(len(learner.seen))
    assert kept[0] < kept[1]
    assert asked[0] == kept[0] + 1  # ended by the first failure
    assert asked[1] > kept[1]


def test_each_of_k_tasks_has_its_own_draw(data):
    X, codes = data(seed=10, n=90, n_classes=3)

    class DrawnLogit(LogitBoostOfClasses):
        def task(self, s):
            tasks = super().task(s)
            for t in tasks:
                t.draw = 60
            return tasks

    class LeastSquaresWitness(Witness):
        def searches(self):
            return frozenset(["least_squares"])

    learner = LeastSquaresWitness()
    training, _ = train(DrawnLogit(learning_rate=0.5), X, codes, learner, rounds=4)
    assert training.state.t == 4
    assert len(learner.seen) == 12
    assert all(t.counts.sum() == 60 for t in learner.seen)
    assert len({t.counts.tobytes() for t in learner.seen}) == 12
    assert np.abs(training.state.F.sum(axis=1)).max() <= 1e-12
