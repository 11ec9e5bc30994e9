"""Whatever a rule's decisions say, compiled rounds end: an answer that they do not know leaves the round to `step`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, AdaBoostMRClassifier, SoftMarginBoostClassifier
from boostlab.backend.cpu import fused
from boostlab.backend.cpu.label_rounds import LabelRounds
from boostlab.backend.cpu.threads import AtOnce
from boostlab.backend.cpu.usual import UsualRounds
from boostlab.boosters.madaboost import MadaBoostClassifier
from boostlab.contract import (
    AGAIN,
    OTHER,
    TAKEN,
    UNUSUAL,
    Rule,
    Step,
    Task,
    UsualRound,
    error_sums,
    exp,
    formula,
    log,
)
from both_loops import assert_same, rounds_taken


@formula
def weight(y: float, F: float) -> float:
    return exp(-y * F)


@formula
def loss_after(y: float, F: float, h: float, alpha: float) -> float:
    return exp(-y * (F + alpha * h))


@formula
def twice(y: float, F: float, h: float, alpha: float) -> float:
    return 2.0 * loss_after(y, F, h, alpha)


@formula
def thrice(y: float, F: float, h: float, alpha: float) -> float:
    return 3.0 * loss_after(y, F, h, alpha)


@formula
def half_log_odds(sums, numbers):
    numbers[0], numbers[1] = 0.5 * log((sums[0] - sums[1]) / sums[1]), 0.0
    return TAKEN


@formula
def as_told(sums, numbers):
    """Ask for every other sum, then say what the rule was made to say."""
    numbers[1] += 1.0
    if numbers[1] <= numbers[2]:
        return OTHER + int(numbers[1]) - 1
    return int(numbers[3])


def facts(state, numbers, sums, after):
    return {"loss": after[0]}


@dataclass(frozen=True)
class Odd(Rule):
    """AdaBoost, with a usual round that says what it is told to."""

    others: tuple[Any, ...] = ()
    says: int = TAKEN
    usually: bool = True
    taken: list[int] = field(default_factory=list)

    def task(self, s):
        return Task("edge", s.each(weight), s.y)

    def step(self, s, task, h):
        self.taken.append(s.t)
        whole, wrong = s.total(error_sums)
        alpha = 0.5 * log((whole - wrong) / wrong)
        return Step(alpha, {"loss": s.total((loss_after, *self.others)[-1], alpha)})

    def usual(self, s):
        if not self.usually:
            return None
        numbers = {"alpha": 0.1, "asked": 0.0, "others": float(len(self.others)), "says": float(self.says)}
        return UsualRound(
            half_log_odds, numbers, error_sums, facts, weight, after=loss_after, check=as_told, others=self.others
        )


class OddClassifier(MadaBoostClassifier):
    def _rule(self):
        return self.odd


def fitted(rule, n_jobs=1, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    model = OddClassifier(n_estimators=4, n_jobs=n_jobs)
    model.odd = rule
    return model.fit(X, X[:, 0] + rng.normal(size=n) > 0.0)


SMALL_AND_LARGE = pytest.mark.parametrize(("n", "n_jobs"), [(60, 1), (20_000, AtOnce(2))])


@SMALL_AND_LARGE
@pytest.mark.parametrize("others", [(), (twice,), (twice, thrice)])
def test_other_sums_are_looked_at_one_after_the_other(others, n, n_jobs):
    general = fitted(Odd(others, usually=False), n_jobs, n)
    rule = Odd(others)
    assert_same(fitted(rule, n_jobs, n), general)
    assert rule.taken in ([], [0])  # the first round may lack a scale


@SMALL_AND_LARGE
@pytest.mark.parametrize("says", [AGAIN, UNUSUAL, -2, OTHER, OTHER + 1, OTHER + 2, OTHER + 3, OTHER + 1000])
def test_an_answer_that_is_none_leaves_the_round_to_the_step(says, n, n_jobs):
    general, rule = fitted(Odd(usually=False), n_jobs, n), Odd(says=says)
    assert_same(fitted(rule, n_jobs, n), general)
    assert rule.taken == [0, 1, 2, 3]


def test_more_other_sums_than_there_are_places_for_are_refused():
    with pytest.raises(ValueError, match="3 other sums at most, not 4; join some"):
        UsualRound(half_log_odds, {"alpha": 0.1}, error_sums, facts, others=(twice, thrice, weight, loss_after))


@pytest.mark.parametrize("cls", [AdaBoostClassifier, SoftMarginBoostClassifier, AdaBoostMRClassifier])
def test_a_call_takes_so_many_rounds_at_most(cls, monkeypatch):
    """Ctrl-C is heard between calls, and what is told of rounds is no larger."""
    made = rounds_taken(monkeypatch, fused.FusedRounds, UsualRounds, LabelRounds)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + rng.normal(size=40) > 0.0
    alone = cls(n_estimators=20, n_jobs=1).fit(X, y)
    monkeypatch.setattr(fused, "AT_MOST", 6)
    made.clear()
    assert_same(cls(n_estimators=20, n_jobs=1).fit(X, y), alone)
    assert max(made) == 6
