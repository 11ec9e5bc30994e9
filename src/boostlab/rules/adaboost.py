"""AdaBoost (Freund & Schapire 1997), discrete, with epsilon-boost's two ways of taking small steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from boostlab.contract import Plain, State, formula
from boostlab.rules.exponential import Exponential


@formula
def half_log_odds(error: float, numbers: tuple[float, ...]) -> float:
    """(1/2) ln((1 - eps) / eps), times nu."""
    return numbers[0] * 0.5 * log((1 - error) / error)


@formula
def constant(error: float, numbers: tuple[float, ...]) -> float:
    """The fixed step."""
    return numbers[0]


@dataclass(frozen=True)
class AdaBoost(Exponential):
    """Stagewise minimisation of the mean of exp(-y F).

    1. w_i proportional to exp(-y_i F(x_i)).
    2. h = the voter with the smallest weighted error; eps = that error.
    3. Stop if eps >= 1/2.
    4. alpha = (1/2) ln((1 - eps) / eps); F += alpha h.
    5. Stop after a voter with eps = 0.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: F += nu alpha h, and the shrunken F drives the next weights (epsilon-boost).
    fixed_step : float, optional
        Every voter votes with this constant instead (Friedman 2001; Rosset, Zhu & Hastie 2004).
    """

    learning_rate: float = 1.0
    fixed_step: float | None = None

    def plain(self, s: State) -> Plain:
        """Step 4 as a formula."""
        if self.fixed_step is not None:
            return Plain(constant, (self.fixed_step,), 0.5, self.facts)
        return Plain(half_log_odds, (self.learning_rate,), 0.5, self.facts)

    def vote(self, s: State, error: float) -> float:
        """Step 4."""
        if self.fixed_step is not None:
            return self.fixed_step
        return half_log_odds(error, (self.learning_rate,))
