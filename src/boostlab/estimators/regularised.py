"""AdaBoost with a margin to aim at, a price on votes, or slack for hard examples."""

from __future__ import annotations

from dataclasses import dataclass

from boostlab.contract import Rule
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import number, one_of, param, whole
from boostlab.estimators.registry import booster
from boostlab.rules.arc_gv import ArcGV
from boostlab.rules.l1boost import L1Boost
from boostlab.rules.soft_margin import SoftMargin


@booster("Breiman 1999; Rätsch & Warmuth 2005", "labels are clean and you want the largest minimum margin")
@dataclass(eq=False, repr=False)
class ArcGVClassifier(BoostingClassifier):
    """Arc-gv and AdaBoost*_v: AdaBoost that maximises the minimum margin.

    On noisy labels the minimum margin belongs to a wrong one; look at `LPBoostClassifier` for a soft margin.  AdaBoost
    with a fixed margin target (AdaBoost_rho) is `L1BoostClassifier(beta=rho)`.  Every round's `target`,
    `minimum_margin` and `average_margin` are in `history_`; the median is `numpy.median(model.margins(X, y))`.  Scores
    grow with every round, and `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    margin_floor : float in (-1, 1), default=0.0
        Arc-gv aims at the minimum margin so far, but never below this; at 0 it is AdaBoost as long as it errs on the
        training rows.
    cap : float, optional
        The largest coefficient of a voter; Breiman used 1.
    target : {"minimum_margin", "smallest_edge"}, default="minimum_margin"
        Arc-gv; or AdaBoost*_v, which aims at the smallest edge so far less `accuracy` and ends when the minimum margin
        is that close to the largest possible (with a learner that finds the best voter, such as the default stump).
    accuracy : float in (0, 1), default=0.1
        v of AdaBoost*_v, which takes at most 2 ln(n) / v^2 rounds; arc-gv does not use it.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import ArcGVClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ArcGVClassifier(n_estimators=300).fit(X, y)
    >>> bool(model.margins(X, y).min() > 0.03)
    True
    """

    margin_floor: float = param(0.0, number(-1, 1, "()"))
    cap: float | None = param(None, one_of(None) | number(0, 100, "(]"))
    target: str = param("minimum_margin", one_of("minimum_margin", "smallest_edge"))
    accuracy: float = param(0.1, number(0, 1, "()"))

    def _rule(self) -> Rule:
        return ArcGV(self.margin_floor, self.cap, self.target, self.accuracy)


@booster("Xi, Xiang, Ramadge & Schapire 2009; Duchi & Singer 2009", "you want few voters and a price on every vote")
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


@booster("Rätsch, Onoda & Müller 2001", "some labels are wrong: examples that stay hard get slack")
@dataclass(eq=False, repr=False)
class SoftMarginBoostClassifier(BoostingClassifier):
    """AdaBoost_Reg: the more weight an example has received, the less its margin matters.

    `C` does not depend on the sample size: it multiplies weights whose mean is 1.  (The paper's C, for weights that sum
    to 1, is C n with power 1 and C n^2 otherwise.)  Choose it small: a voter is paid for the slack it hands out, after
    which its complement looks good, so that from about 0.3 on neighbouring stumps undo one another; from 1 on the
    first voter stays alone ("given_up").  `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    C : float, default=0.05
        How much slack; 0 is AdaBoost.
    power : {1, 2}, default=1
        Of an example's influence, its average weight, in its slack; with penalty="influence" only.
    penalty : {"influence", "cumulative", "literal"}, default="influence"
        Slack by the influence times the sum of the coefficients, or by the square of all weight received, which grows
        with the rounds and wants a C of about 0.001.  "literal" is F^2, as AR-Boost's paper prints it (a slip, it
        seems, for the weights): it forgives every score that is far from 0, right or wrong, and wants a C of about
        0.01; the sample size has no part in it.
    {shared}

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, SoftMarginBoostClassifier
    >>> from boostlab.datasets import flip_labels, twonorm
    >>> X, y = twonorm(400, random_state=0)
    >>> X_test, y_test = twonorm(4000, random_state=1)
    >>> noisy = flip_labels(y, 0.2, random_state=2)
    >>> hard, soft = AdaBoostClassifier(), SoftMarginBoostClassifier(C=0.1)
    >>> soft.fit(X, noisy).score(X_test, y_test) > hard.fit(X, noisy).score(X_test, y_test) + 0.03
    True
    """

    C: float = param(0.05, number(0, 1e6))
    power: int = param(1, whole(1, 2))
    penalty: str = param("influence", one_of("influence", "cumulative", "literal"))

    def _rule(self) -> Rule:
        return SoftMargin(float(self.C), int(self.power), self.penalty)
