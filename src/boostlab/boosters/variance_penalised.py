"""Shared by VadaBoost and EBBoost: their formulas, and a variance penalty that is a number or left to the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import Check, number, one_of, param
from boostlab.boosters.selection import SelectionData, cv_bernstein, validation
from boostlab.contract import TAKEN, UNUSUAL, Facts, Rule, State, Sums, exp, formula, log
from boostlab.ensemble.vote import Ensemble

Rules = tuple[type[Any], type[Any]]
_PENALTY = Check(number(0, 1e6).test, "a number in [0, 1] (where the cost itself is minimised, any of at least 0)")
_CHOOSERS = {"auto": cv_bernstein, "cv_bernstein": cv_bernstein, "validation": validation}

NOTICED = 1 - 1e-8  # the cost falls by the square of the difference: less would be rounding


@formula
def squared_mixture(e: float, a: float, b: float) -> float:
    """(a e + b e^2)^2: the square of step 2's u, up to a common factor."""
    u = (b * e + a) * e
    return u * u


@formula
def both_sides(sums: Sums, lam: float, n: float) -> tuple[float, float, float, float, float, float]:
    """W and S where the voter is right (I) and wrong (J), w of sum 1 and S times n, and from them A and B."""
    W, W_J, S, S_J = sums[0], sums[1], sums[2], sums[3]
    W_I, W_J, S_I, S_J = (W - W_J) / W, W_J / W, n * (S - S_J) / (W * W), n * S_J / (W * W)
    return W_I, W_J, S_I, S_J, (1 - lam) * (W_I * W_I) + lam * S_I, (1 - lam) * (W_J * W_J) + lam * S_J


@formula
def quarter_log_odds(sums: Sums, numbers: list[float]) -> int:
    """Step 4: numbers are alpha, lambda, n, whether it is exact, and nu; a perfect voter is unusual."""
    lam = numbers[1]
    W_I, W_J, S_I, S_J, up, down = both_sides(sums, lam, numbers[2])
    if numbers[3] == 0.0:
        up, down = (1 - lam) * W_I + lam * S_I, (1 - lam) * W_J + lam * S_J
    if down >= up * NOTICED or down <= 0.0 or W_J == 0.0:
        return UNUSUAL
    numbers[0] = numbers[4] * (0.25 * log(up / down))
    return TAKEN


def facts_of(s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
    """Return what there is to say of a step: numbers are those of `quarter_log_odds`, a and b."""
    alpha, lam, n, _, _, a, b = numbers[:7]
    W_I, W_J, _, _, A, B = both_sides(sums, lam, n)
    spread, cross = a * sums[0] + b * sums[2], 2 * (1 - lam) * W_I * W_J
    V = A * math.exp(-2 * alpha) + B * math.exp(2 * alpha) + cross
    s.own.log_cost += math.log(V / (A + B + cross))
    apart = math.exp(alpha) - math.exp(-alpha)
    gap = cross / 2 * (apart * apart)  # U - V, what the bound gives away at this step
    facts = {"error": W_J, "edge": W_I - W_J, "bound_gap": gap, "objective": math.exp(s.own.log_cost)}
    return facts | {"variance_penalty": lam, "effective_size": spread * spread / after[0]}


@formula
def loss_after(y: float, F: float, h: float, alpha: float) -> float:
    """exp(-y (F + alpha h))."""
    return exp(min(-y * (F + alpha * h), 300.0))


@formula
def deviation_after(y: float, F: float, h: float, alpha: float, mean: float) -> float:
    """The squared distance of that from the mean."""
    d = loss_after(y, F, h, alpha) - mean
    return d * d


@dataclass(eq=False, repr=False)
class VariancePenalised(BoostingClassifier):
    """A booster whose variance penalty is a number or left to the data."""

    variance_penalty: float | str = param(0.5, _PENALTY | one_of("auto", "cv_bernstein", "fixed_point", "validation"))

    _settles: ClassVar[tuple[str, ...]] = ("variance_penalty", "variance_penalty_curve")
    _grid: ClassVar[tuple[float, ...]] = tuple(k / 10 for k in range(11))
    _beyond: ClassVar[tuple[float, ...]] = (2.0, 5.0, 10.0)  # where the rule allows more than 1

    @property
    def _rules(self) -> Rules:
        """The rule with a given penalty, and the one that finds its own."""
        raise NotImplementedError

    @property
    def _exact(self) -> bool:
        """Whether the cost itself is minimised, so that penalties above 1 make sense."""
        return True

    def _rule(self) -> Rule:
        if self.variance_penalty == "fixed_point":
            patience = self.n_iter_no_change or ceil(10 / self._rate)  # small steps take more of them
            return self._rules[1](exact=self._exact, learning_rate=self._rate, patience=patience)
        return self._rules[0](self._number("variance_penalty", meanwhile=0.5), self._exact, self._rate)

    def _settle(self, bench: SelectionData) -> dict[str, Any]:
        if self.variance_penalty not in _CHOOSERS:
            return {}
        grid = self._grid + self._beyond if self._exact else self._grid
        rules = {value: self._rules[0](value, self._exact, self._rate) for value in grid}
        value, curve = _CHOOSERS[str(self.variance_penalty)](bench, "variance_penalty", rules)
        return {"variance_penalty": value, "variance_penalty_curve": curve}

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        if self.variance_penalty == "fixed_point":
            last = ensemble.rounds[-1].facts if ensemble.rounds else {}
            self.variance_penalty_ = float(last.get("variance_penalty", 1.0))  # where it starts
        else:
            self.variance_penalty_ = self._number("variance_penalty", meanwhile=0.5)
        self.variance_penalty_curve_ = self._settled.get("variance_penalty_curve", {})
