"""Shared by VadaBoost and EBBoost: a variance penalty that is estimated anew every round."""

from __future__ import annotations

from dataclasses import replace
from math import inf, sqrt
from typing import Any

from boostlab.boosters.variance_penalised import deviation_after, loss_after, quarter_log_odds, squared_mixture
from boostlab.contract import (
    AGAIN,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    UsualRound,
    formula,
    log,
    squared_error_sums,
)


@formula
def squared_deviation(e: float, mean: float) -> float:
    """(e - mean)^2."""
    return (e - mean) * (e - mean)


@formula
def loss_and_deviation(e: float, mean: float) -> tuple[float, float]:
    """e and (e - mean)^2."""
    return e, squared_deviation(e, mean)


@formula
def mixture_and_losses_after(
    e: float, y: float, F: float, h: float, a: float, b: float, alpha: float, mean_after: float
) -> tuple[float, float, float]:
    """What is summed for the effective size, and for the penalised loss after the step."""
    return squared_mixture(e, a, b), loss_after(y, F, h, alpha), deviation_after(y, F, h, alpha, mean_after)


@formula
def fixed_point(sums: Sums, numbers: list[float]) -> int:
    """Lambda, by two looks: numbers[7:] are tau, the size, the look, the mean, the mean after, the objective, the
    lowest one, its round, this round and the patience.
    """
    if numbers[9] == 0.0:
        numbers[9], numbers[10] = 1.0, sums[0] / numbers[2]
        return AGAIN
    error, numbers[9] = sqrt(sums[1] / numbers[2] / (numbers[8] - 1)), 0.0
    numbers[1] = min(1.0, numbers[7] * numbers[10] / ((numbers[8] - 1) * error)) if error > 0.0 else 1.0
    return TAKEN


@formula
def is_patient(after: Sums, numbers: list[float]) -> int:
    """The penalised loss after the step, by two looks, and whether there has been a lower one for long."""
    if numbers[9] == 0.0:
        numbers[9], numbers[11] = 1.0, after[1] / numbers[2]
        return AGAIN
    numbers[9], numbers[12] = 0.0, numbers[11] + numbers[7] * sqrt(after[2] / numbers[2] / (numbers[8] - 1))
    if numbers[12] < numbers[13]:
        numbers[13], numbers[14] = numbers[12], numbers[15]
    elif numbers[15] - numbers[14] >= numbers[16]:
        return UNUSUAL
    numbers[15] += 1.0
    return TAKEN


class FixedPoint(Rule):
    """Sample variance penalisation, mean + tau sqrt(variance / n), through the cost of VadaBoost.

    1. The two costs of the losses e = exp(-y F) have parallel gradients for lambda = tau mean sqrt(n) / ((n - 1) sd),
       with tau = sqrt(2 ln(2 / delta)), the empirical Bernstein bound's.
    2. Before every round lambda is set to that, cut to [0, 1] (1 at F = 0, where it does not matter).
    3. The objective is mean + tau sd / sqrt(n).  It is concave in mean^2 and variance, so it falls with the cost of
       every round whose lambda was not cut; stop when it has seen no new minimum for `patience` rounds.
    """

    patience: int
    delta: float
    _facts: Any  # of the rule that it is mixed with, as these are
    after: Any
    loss_after: Any
    deviation_after: Any

    @property
    def tau(self) -> float:
        """What the standard error counts."""
        return sqrt(2 * log(2 / self.delta))

    def begin(self, s: State) -> None:
        """No minimum has been seen."""
        super().begin(s)
        s.own.lowest, s.own.lowest_at = inf, 0

    def penalty(self, s: State) -> float:
        """Steps 1 and 2; the scale of e does not matter."""
        mean = s.total(s.exponentials()) / s.n
        error = sqrt(s.total(squared_deviation, mean) / s.n / (s.size - 1))
        return min(1.0, self.tau * mean / ((s.size - 1) * error)) if error > 0 else 1.0

    def numbers(self, s: State, a: float | None = None, b: float = 0.0) -> dict[str, float]:
        """Return those of a round, of the penalty's looks and of the patience."""
        numbers = {"tau": self.tau, "size": s.size, "look": 0.0, "mean": 0.0, "mean_after": 0.0, "objective": 0.0}
        numbers |= {"lowest": s.own.lowest, "lowest_at": s.own.lowest_at, "t": s.t, "patience": self.patience}
        known: dict[str, float] = super().numbers(s, a, b)  # type: ignore[misc]
        return known | numbers

    def estimated(self, s: State, plan: Any, a: float | None = None, criterion: str | None = None) -> UsualRound:
        """Return a usual round with this plan."""
        return UsualRound(
            quarter_log_odds,
            self.numbers(s, a),
            squared_error_sums,
            self._told,
            before=loss_and_deviation,
            plan=plan,
            after=mixture_and_losses_after,
            check=is_patient,
            criterion=criterion,
        )

    def _told(self, s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
        s.own.lowest, s.own.lowest_at = numbers[13], numbers[14]
        return {**self._facts(s, numbers, sums, after), "objective": numbers[12]}

    def step(self, s: State, task: Any, h: Array) -> Step | Stop:
        """Step 3."""
        answer: Step | Stop = super().step(s, task, h)  # type: ignore[assignment]
        if isinstance(answer, Stop):
            return answer
        numbers = self.after(s, answer.alpha)
        mean = s.total(self.loss_after, *numbers) / s.n
        objective = mean + self.tau * sqrt(s.total(self.deviation_after, *numbers, mean) / s.n / (s.size - 1))
        if objective < s.own.lowest:
            s.own.lowest, s.own.lowest_at = objective, s.t
        elif s.t - s.own.lowest_at >= self.patience and answer.stop is None:
            answer = replace(answer, stop=Stop("patience", f"no lower penalised loss in {self.patience} rounds"))
        return replace(answer, facts={**answer.facts, "variance_penalty": s.own.lam, "objective": objective})
