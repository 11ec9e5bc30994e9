"""L1-regularised AdaBoost, with a penalty that multiplies the exponential loss or is added to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import atanh, sqrt

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.contract import Array, Plain, Rule, State, exp, formula, log


@formula
def less_a_constant(error: float, numbers: tuple[float, ...]) -> float:
    """artanh(g) - artanh(b), where numbers[0] is artanh(b)."""
    return 0.5 * log((1 - error) / error) - numbers[0]


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
        return math.exp(min(s.own.log_loss + self.beta * s.own.S, 700.0))


@booster(
    "Xi, Xiang, Ramadge & Schapire 2009; Duchi & Singer 2009",
    "you want few voters and a price on every vote",
    family="adaptive_regularised",
    variants=dict(additive=dict(penalty="additive")),
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

    def _rule(self) -> Rule:
        return L1Boost(self.beta, self.penalty)
