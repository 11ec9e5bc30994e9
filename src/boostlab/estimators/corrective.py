"""Boosters that set all voters' weights anew every round."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from boostlab.contract import Rule
from boostlab.ensemble import Round
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import number, one_of, param, whole
from boostlab.estimators.registry import booster
from boostlab.rules.erlpboost import ERLPBoost
from boostlab.rules.lpboost import NO_SOFT_MARGIN, LPBoost
from boostlab.rules.lpboost_hinge import HingeLPBoost
from boostlab.rules.softboost import SoftBoost, TotalBoost

LIMIT = one_of(None) | number(0, brackets="()")  # of seconds
NU = number(0, 1, "(]")
_TOL_DOC = "How far from the largest soft margin training may end: the smaller, the more rounds."


@dataclass(eq=False, repr=False)
class CorrectiveClassifier(BoostingClassifier):
    """What the boosters share that solve a program every round."""

    n_estimators: int = param(1000, whole(1))
    tol: float = param(0.01, number(0, 1, "()"))
    time_limit: float | None = param(None, LIMIT)

    _tol_is_the_rules: ClassVar[bool] = True


@booster(
    "Demiriz, Bennett & Shawe-Taylor 2002",
    "you want the largest soft margin, few voters, and a proof of optimality",
    tol_doc="By how much a new voter's edge must violate the program's optimum for training to go on.",
)
@dataclass(eq=False, repr=False)
class LPBoostClassifier(CorrectiveClassifier):
    """LPBoost: the soft-margin linear program over all voters, solved by column generation.

    Before the end (`stop_reason_` other than "tolerance") the weights are those of an unfinished program and may vote
    badly; with noisy labels choose `nu` above the share of wrong labels, which also ends sooner.  The scores lie in
    [-1, 1] (with `C` they are not normalised), and `predict_proba` is a score (AdaBoost's link), not a calibrated
    probability.  The optimal value is unique, the weights need not be: weight k and k copies give the same value.

    `history_` has the program's optimum as "objective", and as "duality_gap" what all voters together could still
    improve it by, if the weak learner finds the best voter.

    Parameters
    ----------
    nu : float in (0, 1], default=0.1
        At most this share of the sample falls short of the margin.
    C : float, optional
        Minimise sum of weights + C sum max(0, 1 - y F) instead, in which `nu` has no part.
    time_limit : float, optional
        The longest that training may take, in seconds (under a reduction, that of one binary problem); it then ends as
        "time_up", with the last weights found.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import LPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LPBoostClassifier(nu=0.2).fit(X, y)
    >>> model.stop_reason_.split(":")[0], model.score(X, y) > 0.95
    ('tolerance', True)
    >>> bool(model.history_["duality_gap"][-1] < 1e-6)
    True
    """

    tol: float = param(1e-6, number(0))
    nu: float = param(0.1, NU)
    C: float | None = param(None, one_of(None) | number(0, 1e6, "(]"))

    def _rule(self) -> Rule:
        if self.C is not None:
            return HingeLPBoost(C=float(self.C), tol=self.tol, seconds=self.time_limit)
        return LPBoost(self.nu, self.tol, self.time_limit)

    def _conclude(self, rule: Rule, rounds: Sequence[Round], history: dict[str, Any], stop: str) -> None:
        super()._conclude(rule, rounds, history, stop)
        if NO_SOFT_MARGIN in stop:
            warnings.warn(
                "LPBoostClassifier found no vote with a positive soft margin, so its predictions are worth little; "
                f"raise nu={self.nu:g} well above the share of wrong labels, or use stronger voters (max_depth).",
                ConvergenceWarning,
                stacklevel=4,
            )


@booster(
    "Warmuth, Glocer & Vishwanathan 2008",
    "you want nearly the largest soft margin, in fewer and steadier rounds than LPBoost",
    tol_doc=_TOL_DOC,
)
@dataclass(eq=False, repr=False)
class ERLPBoostClassifier(CorrectiveClassifier):
    """ERLPBoost: LPBoost whose row weights stay close to uniform.

    It ends after at most max(4 / tol, 8 ln(1/nu) / tol^2) rounds with a soft margin within `tol` of the largest; in
    practice after far fewer.  `history_` has the vote's soft margin ("objective"), how far it can be from the largest
    ("duality_gap"), the regularised objective ("potential", which never falls) and the Newton steps of the round
    ("evaluations").  With a tiny `tol` (1e-4, say) Newton steps may get stuck; it then goes on as LPBoost, to the same
    optimum but without a limit on rounds, and the last two are NaN.  `predict_proba` is a score (AdaBoost's link), not
    a calibrated probability.

    Parameters
    ----------
    nu : float in (0, 1], default=0.1
        At most this share of the sample falls short of the margin.
    time_limit : float, optional
        The longest that training may take, in seconds (under a reduction, that of one binary problem); it then ends as
        "time_up", with the last weights found.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import ERLPBoostClassifier, LPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model, exact = ERLPBoostClassifier(nu=0.2).fit(X, y), LPBoostClassifier(nu=0.2).fit(X, y)
    >>> short = exact.history_["objective"][-1] - model.history_["objective"][-1]
    >>> bool(short < 0.01), model.n_estimators_ < exact.n_estimators_
    (True, True)
    """

    nu: float = param(0.1, NU)

    def _rule(self) -> Rule:
        return ERLPBoost(self.nu, self.tol, self.time_limit)


@booster(
    "Warmuth, Glocer & Rätsch 2007",
    "you want the soft margin by a plain projection of the row weights",
    tol_doc=_TOL_DOC,
)
@dataclass(eq=False, repr=False)
class SoftBoostClassifier(CorrectiveClassifier):
    """SoftBoost: the row weights closest to uniform under which every voter's edge is below a falling target.

    It ends after at most 2 ln(1/nu) / tol^2 rounds with a soft margin within `tol` of the largest.  Its first rounds
    are slow: ERLPBoost needs fewer.  `history_` has the vote's soft margin ("objective"), how far it can be from the
    largest ("duality_gap"), the entropy of the row weights ("potential", which never falls) and the Newton steps of
    the round ("evaluations").  `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    nu : float in (0, 1], default=0.1
        At most this share of the sample falls short of the margin.
    time_limit : float, optional
        The longest that training may take, in seconds (under a reduction, that of one binary problem); it then ends as
        "time_up", with the last weights found.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import SoftBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SoftBoostClassifier(nu=0.2).fit(X, y)
    >>> model.stop_reason_.split(":")[0], model.score(X, y) > 0.95
    ('tolerance', True)
    """

    nu: float = param(0.1, NU)

    def _rule(self) -> Rule:
        return SoftBoost(self.nu, self.tol, self.time_limit)


@booster(
    "Warmuth, Liao & Rätsch 2006",
    "labels are clean and you want the largest minimum margin, with a certificate",
    tol_doc="How far from the largest minimum margin training may end: the smaller, the more rounds.",
)
@dataclass(eq=False, repr=False)
class TotalBoostClassifier(CorrectiveClassifier):
    """TotalBoost: SoftBoost for the hard margin.

    It ends after at most 2 ln(n) / tol^2 rounds with a smallest margin within `tol` of the largest possible.  One wrong
    label limits it: use the others where labels are noisy.  `history_` is as for `SoftBoostClassifier`.

    Parameters
    ----------
    time_limit : float, optional
        The longest that training may take, in seconds (under a reduction, that of one binary problem); it then ends as
        "time_up", with the last weights found.
    {shared}

    Examples
    --------
    >>> from boostlab import TotalBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(60, random_state=1)
    >>> model = TotalBoostClassifier().fit(X, y)
    >>> bool(0.38 < model.margins(X, y).min() < 0.40)
    True
    """

    def _rule(self) -> Rule:
        return TotalBoost(tol=self.tol, seconds=self.time_limit)
