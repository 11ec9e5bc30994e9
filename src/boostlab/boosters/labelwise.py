"""Shared by AdaBoost.MH, MR and M2: a weight on every row and label, and voters that vote on every label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.contract import (
    NEGLIGIBLE,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    LabelRound,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    exp,
    formula,
    log,
    perfect,
)

# A usual round's numbers, behind alpha: what half the log odds is multiplied by; the weights' sum, and its logarithm
# for the weights as they are and for F = 0; and what a round tells.
HALF_UNIT, WHOLE, LOG_LOSS, LOG_FIRST, ERROR, Z, OBJECTIVE = range(1, 8)


@formula
def sign_of_label(k: int, l: int) -> float:
    """Y(i, l): 1 for the right label, else -1."""
    return 1.0 if l == k else -1.0


@formula
def half_log_odds(sums: Sums, numbers: list[float]) -> int:
    """Set alpha, where voters have an edge and none is perfect."""
    error = sums[0] / (2.0 * numbers[WHOLE])
    if not 0.0 < error < 0.5 - NEGLIGIBLE:
        return UNUSUAL
    numbers[0] = numbers[HALF_UNIT] * log((1 - error) / error)
    numbers[ERROR] = error
    return TAKEN


@formula
def fall_of_loss(sums: Sums, numbers: list[float]) -> int:
    """Note Z and the loss."""
    before, numbers[WHOLE] = numbers[LOG_LOSS], sums[1]
    numbers[LOG_LOSS] = sums[0] + log(sums[1])
    numbers[Z] = exp(numbers[LOG_LOSS] - before)
    numbers[OBJECTIVE] = exp(min(numbers[LOG_LOSS] - numbers[LOG_FIRST], 700.0))
    return TAKEN


def facts_of(s: State, numbers: Sums) -> Facts:
    """Remember the weights' sum, and return what a usual round tells."""
    s.own.whole, s.own.log_loss, error = numbers[WHOLE], numbers[LOG_LOSS], numbers[ERROR]
    return {"error": error, "edge": 1 - 2 * error, "Z": numbers[Z], "objective": numbers[OBJECTIVE]}


@dataclass(frozen=True)
class Labelwise(Rule):
    """Weights D(i, l) = exp(exponents), a voter by how far it agrees with them; a subclass says what these are.

    With the agreement u(i, l) in [-1, 1] and r = sum D u, alpha = (1/2) ln((1 + r) / (1 - r)) has the normaliser
    Z = sum D exp(-alpha u) <= sqrt(1 - r^2), with equality where all u are -1 and +1.
    """

    n_outputs: ClassVar[str] = "class"
    apart: ClassVar[float] = 2.0
    unit: ClassVar[float] = 1.0  # what alpha is multiplied by, where votes are smaller in proportion

    # Formulas of a row and a label l: D for F = 0; the logarithm of D after the step alpha h, minus infinity where
    # there is no weight; 1 - u; and D (1 - u).
    first: ClassVar[Any]
    log_weight_after: ClassVar[Any]
    disagreement: ClassVar[Any]
    lost: ClassVar[Any]

    def begin(self, s: State) -> None:
        """Weigh the rows and labels for F = 0."""
        s.keep("Y", sign_of_label)
        s.keep("D", self.first)
        s.own.whole = s.total(s.column("D"))
        s.own.log_loss = s.own.log_first = log(s.own.whole)

    def label_round(self, s: State, params: dict[str, float], *weigh: Any) -> LabelRound:
        """Return the usual round, of tasks with these parameters and weights (D by default)."""
        own = s.own
        numbers = dict(alpha=0.0, half_unit=self.unit * 0.5, whole=own.whole, log_loss=own.log_loss)
        numbers |= dict(log_first=own.log_first, error=0.0, Z=0.0, objective=0.0)
        decided = half_log_odds, numbers, self.lost, facts_of, self.log_weight_after, fall_of_loss
        return LabelRound(*decided, params, weigh)

    def _weigh(self, s: State, alpha: float) -> None:
        """Note D after the step, up to a factor, and the logarithm of its sum."""
        D, top, s.own.whole = s.exp_and_sum(self.log_weight_after, alpha)
        s.keep("D", D)
        s.own.log_loss = top + log(s.own.whole)

    def step(self, s: State, task: object, h: Array) -> Step | Stop:
        """Measure the agreement; stop, or let the voter join."""
        lost = s.total(self.lost)
        error = lost / (2.0 * s.own.whole)  # (1 - r) / 2
        if error >= 0.5 - NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g} over rows and labels, and the rule needs less than 0.5")
        floored = error or 0.5 / s.size
        alpha = self.unit * 0.5 * log((1 - floored) / floored)
        stop = perfect(s, self.disagreement) if lost == 0 else None
        before = s.own.log_loss
        self._weigh(s, alpha)
        Z, loss = exp(s.own.log_loss - before), exp(min(s.own.log_loss - s.own.log_first, 700.0))
        return Step(alpha, {"error": error, "edge": 1 - 2 * error, "Z": Z, "objective": loss}, stop)
