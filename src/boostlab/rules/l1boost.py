"""L1-regularised AdaBoost, with a penalty that multiplies the exponential loss or is added to it."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, exp, log, sqrt

from boostlab.contract import Array, Plain, State, formula
from boostlab.rules.exponential import Exponential


@formula
def less_a_constant(error: float, numbers: tuple[float, ...]) -> float:
    """artanh(g) - artanh(b), where numbers[0] is artanh(b)."""
    return 0.5 * log((1 - error) / error) - numbers[0]


@dataclass(frozen=True)
class L1Boost(Exponential):
    """Stagewise minimisation of L exp(beta S) or L + beta S, where L = mean exp(-y F) and S = the sum of the alphas.

    1. w_i proportional to exp(-y_i F(x_i)); h = the voter with the smallest weighted error eps; its edge g = 1 - 2 eps.
    2. b = beta (multiplicative; AdaBoost_rho of Rätsch & Warmuth 2005 with rho = beta), or beta / L (additive; Duchi &
       Singer 2009).  Stop if g <= b + 1e-6: no voter outside the vote lowers the loss to speak of.
    3. Multiplicative: alpha = artanh(g) - artanh(b).
       Additive: exp(alpha) = 2 (1 - eps) / (b + sqrt(b^2 + 4 eps (1 - eps))).
    4. F += alpha h.

    Parameters
    ----------
    beta : float
        In [0, 1); 0 is AdaBoost.
    penalty : {"multiplicative", "additive"}
        Which loss.
    """

    beta: float = 0.05
    penalty: str = "multiplicative"

    def begin(self, s: State) -> None:
        """No vote, no penalty."""
        super().begin(s)
        s.own.S = 0.0

    def plain(self, s: State) -> Plain | None:
        """Step 3 as a formula, where b does not change."""
        if self.penalty == "additive" and self.beta > 0:
            return None
        return Plain(less_a_constant, (atanh(self.beta),), self.limit(s, 0.5), self.facts)

    def b(self, s: State) -> float:
        """Step 2."""
        return self.beta if self.penalty == "multiplicative" else self.beta * exp(min(-s.own.log_loss, 700.0))

    def limit(self, s: State, error: float) -> float:
        """Step 2 (without a penalty AdaBoost's)."""
        return max(1 - self.b(s) - (1e-6 if self.beta > 0 else 0.0), 0.0) / 2

    def floored(self, s: State, error: float) -> float:
        """Where the penalty is added, even a perfect voter has a best alpha, ln(1 / b)."""
        return error if self.penalty == "additive" and self.beta > 0 else super().floored(s, error)

    def vote(self, s: State, error: float) -> float:
        """Step 3; without a penalty both are AdaBoost's, to the bit."""
        b = self.b(s)
        if self.penalty == "multiplicative" or b == 0:
            return less_a_constant(error, (atanh(b),))
        return log(2 * (1 - error) / (b + sqrt(b * b + 4 * error * (1 - error))))

    def loss(self, s: State, error: float, alpha: float, h: Array) -> float:
        """Return the penalised loss after the step."""
        L = super().loss(s, error, alpha, h)
        s.own.S += alpha
        if self.penalty == "additive":
            return L + self.beta * s.own.S
        return exp(min(s.own.log_loss + self.beta * s.own.S, 700.0))
