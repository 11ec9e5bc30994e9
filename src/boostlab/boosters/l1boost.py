"""L1-regularised AdaBoost, with a penalty that multiplies the exponential loss or is added to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import atanh, sqrt

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import SHARE
from boostlab.contract import NEGLIGIBLE, TAKEN, UNUSUAL, Plain, Rule, State, Sums, UsualRound, exp, formula, log

TINY = 1e-6  # by how much an edge must be worth its price


@formula
def less_a_constant(error: float, numbers: tuple[float, ...]) -> float:
    """artanh(g) - artanh(b), times nu, where numbers are artanh(b) and nu."""
    return numbers[1] * (0.5 * log((1 - error) / error) - numbers[0])


@formula
def less_a_price(sums: Sums, numbers: list[float]) -> int:
    """Steps 2 and 3 where the penalty is added: numbers are alpha, nu, beta and ln L."""
    error, b = sums[1] / sums[0], numbers[2] * exp(min(-numbers[3], 700.0))
    if not (b > 0.0 and 0.0 < error < max(1.0 - b - TINY, 0.0) / 2.0 - NEGLIGIBLE):
        return UNUSUAL
    alpha = numbers[1] * log(2 * (1 - error) / (b + sqrt(b * b + 4 * error * (1 - error))))
    numbers[0] = alpha
    numbers[3] += math.log((1 - error) * math.exp(-alpha) + error * math.exp(alpha))
    return TAKEN


@dataclass(frozen=True)
class L1Boost(Exponential):
    """Stagewise minimisation of L exp(beta S) or L + beta S, where L = mean exp(-y F) and S = the sum of the alphas.

    1. w_i proportional to exp(-y_i F(x_i)); h = the voter with the smallest weighted error eps; its edge g = 1 - 2 eps.
    2. b = beta (multiplicative; AdaBoost_rho of Rätsch & Warmuth 2005 with rho = beta), or beta / L (additive; Duchi &
       Singer 2009).  Stop if g <= b + 1e-6: no voter outside the vote lowers the loss noticeably.
    3. Multiplicative: alpha = artanh(g) - artanh(b).
       Additive: exp(alpha) = 2 (1 - eps) / (b + sqrt(b^2 + 4 eps (1 - eps))).
    4. F += alpha h.

    Parameters
    ----------
    beta : float
        In [0, 1); 0 is AdaBoost.
    penalty : {"multiplicative", "additive"}
        Which loss.
    learning_rate : float
        nu in (0, 1]: F += nu alpha h.  Both losses are convex in alpha, and every nu lowers them.
    """

    beta: float = 0.05
    penalty: str = "multiplicative"
    learning_rate: float = 1.0

    def begin(self, s: State) -> None:
        """No vote, no penalty."""
        super().begin(s)
        s.own.S = 0.0

    def plain(self, s: State) -> Plain | None:
        """Step 3 as a formula, where b does not change."""
        if self.penalty == "additive" and self.beta > 0:
            return None
        return Plain(less_a_constant, (atanh(self.beta), self.learning_rate), self.limit(s, 0.5), self.facts_of_many)

    def usual(self, s: State) -> UsualRound:
        """Steps 2 and 3, where b changes."""
        numbers = {"alpha": 0.0, "nu": self.learning_rate, "beta": self.beta, "log_loss": s.own.log_loss}
        return self.by_error(less_a_price, numbers)

    def b(self, s: State) -> float:
        """Step 2."""
        return self.beta if self.penalty == "multiplicative" else self.beta * exp(min(-s.own.log_loss, 700.0))

    def limit(self, s: State, error: float) -> float:
        """Step 2 (without a penalty AdaBoost's)."""
        return max(1 - self.b(s) - (TINY if self.beta > 0 else 0.0), 0.0) / 2

    def floored(self, s: State, error: float) -> float:
        """Where the penalty is added, even a perfect voter has a best alpha, ln(1 / b)."""
        return error if self.penalty == "additive" and self.beta > 0 else super().floored(s, error)

    def vote(self, s: State, error: float) -> float:
        """Step 3; without a penalty both are AdaBoost's, to the bit."""
        b = self.b(s)
        if self.penalty == "multiplicative" or b == 0:
            return less_a_constant(error, (atanh(b), self.learning_rate))
        return self.learning_rate * log(2 * (1 - error) / (b + sqrt(b * b + 4 * error * (1 - error))))

    def loss(self, s: State, error: float, alpha: float, after: Sums) -> float:
        """Return the penalised loss after the step."""
        L = super().loss(s, error, alpha, after)
        s.own.S += alpha
        if self.penalty == "additive":
            return L + self.beta * s.own.S
        return math.exp(min(s.own.log_loss + self.beta * s.own.S, 700.0))


@booster(
    "Xi, Xiang, Ramadge & Schapire 2009; Duchi & Singer 2009",
    "you want few voters and a price on every vote",
    family="adaptive_regularised",
    variants=dict(additive=dict(penalty="additive")),
    grid=dict(beta=(0.01, 0.05), learning_rate=(1.0, 0.1)),
    stronger=dict(beta="larger"),
)
@dataclass(eq=False, repr=False)
class L1BoostClassifier(BoostingClassifier):
    """AdaBoost with an L1 penalty on the coefficients.

    Training ends where no voter's edge is worth its price.  With penalty="multiplicative" this is AdaBoost_rho (Rätsch
    & Warmuth 2005), AdaBoost aimed at the margin `beta`.  Coefficients only grow: voters that joined are never made
    quieter.  `predict_proba` is a score (AdaBoost's link) that the penalty draws towards 1/2.

    Parameters
    ----------
    beta : float in [0, 1), default=0.05
        The price of a unit of coefficient, and the edge below which a voter is not worth it; 0 is AdaBoost.
    penalty : {"multiplicative", "additive"}, default="multiplicative"
        Minimise mean exp(-y F) times exp(beta S), or plus beta S, where S is the sum of the coefficients.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import L1BoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = L1BoostClassifier(beta=0.1, penalty="additive").fit(X, y)
    >>> model.stop_reason_.split(":")[0], model.n_estimators_ < 20, model.score(X, y) > 0.9
    ('no_edge', True, True)
    """

    beta: float = param(0.05, number(0, 1, "[)"))
    penalty: str = param("multiplicative", one_of("multiplicative", "additive"))
    learning_rate: float = param(1.0, SHARE)

    def _rule(self) -> Rule:
        return L1Boost(self.beta, self.penalty, self._rate)
