"""AR-Boost: AdaBoost that forgives the errors of its current voter (Saha, Kunapuli, Ray, Maldjian & Natarajan 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import flag, number, one_of, param
from boostlab.boosters.plurality import Plurality
from boostlab.boosters.registry import booster
from boostlab.boosters.selection import SelectionData, cv_errors, misclassified, soft_misclassified
from boostlab.boosters.shrinkage import SHARE, leaves_of
from boostlab.contract import (
    NEGLIGIBLE,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Retry,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    formula,
    log,
)
from boostlab.ensemble.vote import Ensemble
from boostlab.learners import VoterPool

RHO = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)  # of which rho may be chosen


@formula
def said(h: float) -> float:
    """The vote."""
    return h + 0.0


@formula
def no_complement(h: float, previous: float) -> float:
    """Whether a vote is not the opposite of the last voter's."""
    return 1.0 if h != -previous else 0.0


@formula
def forgiving_log_odds(sums: Sums, numbers: list[float]) -> int:
    """Steps 2 and 3: numbers are alpha, nu, rho and the limit."""
    error = sums[1] / sums[0]
    if not 0.0 < error < numbers[3] - NEGLIGIBLE:
        return UNUSUAL
    numbers[0] = numbers[1] * 0.5 * log(numbers[2] * (1 - error) / error)
    return TAKEN


@dataclass(frozen=True)
class ARBoost(Exponential):
    """Adaptively regularised AdaBoost with the loss exp(-y F - lambda |y - h|), lambda = (1/2) ln rho.

    1. w_i proportional to exp(-y_i F(x_i)); h = the voter with the smallest weighted error eps.
    2. Stop if eps >= rho / (rho + 1).
    3. alpha = (1/2) ln(rho (1 - eps) / eps); F += alpha h.

    After step 3 the voter errs on rho / (rho + 1) of the weight, its complement on 1 / (rho + 1) only.

    Parameters
    ----------
    rho : float
        At least 1; rho = 1 is AdaBoost.
    forbid_repeat_complement : bool
        Ask for the best voter but the complement of the last one.
    learning_rate : float
        nu in (0, 1]: F += nu alpha h.  The regularised loss is convex in alpha, and every nu lowers it.
    """

    rho: float = 2.0
    forbid_repeat_complement: bool = False
    learning_rate: float = 1.0

    @property
    def excludes(self) -> bool:
        """Whether learners must be able to leave out a voter."""
        return self.forbid_repeat_complement

    def begin(self, s: State) -> None:
        """No voter, no complement."""
        super().begin(s)
        s.keep("previous", 0.0)
        s.own.complements = 0

    def usual(self, s: State) -> UsualRound | None:
        """All steps, if any voter may join."""
        if self.forbid_repeat_complement:
            return None
        numbers = {"alpha": 0.0, "nu": self.learning_rate, "rho": self.rho, "limit": self.limit(s, 0.5)}
        return self.by_error(forgiving_log_odds, numbers, after=no_complement, keeps=("previous", said))

    def limit(self, s: State, error: float) -> float:
        """Step 2: errors above 1/2 are welcome up to here."""
        return self.rho / (self.rho + 1)

    def task(self, s: State) -> Task:
        """Step 1."""
        without = -s.column("previous") if self.forbid_repeat_complement and s.t else None
        return Task(self.needs, s.exponentials(), s.y, without=without)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return self.learning_rate * 0.5 * log(self.rho * (1 - error) / error)

    def after(self, s: State, alpha: float) -> Sums:
        """Return how often the voter does not take its predecessor back."""
        return (s.total(no_complement),)

    def facts(self, s: State, error: float, alpha: float, after: Sums = ()) -> Facts:
        """`complements` counts the voters so far that took their predecessor back."""
        s.own.complements += after[0] == 0.0
        return {**super().facts(s, error, alpha, after), "complements": float(s.own.complements)}

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Steps 2 and 3."""
        if self.forbid_repeat_complement and s.total(no_complement) == 0.0:  # from a learner that drew its rows
            return Retry("the voter is the complement of the last one")
        answer = super().step(s, task, h)
        if isinstance(answer, Step):
            s.keep("previous", said)
        return answer


@dataclass(frozen=True)
class ARBoostOfClasses(Plurality):
    """SAMME that forgives its current voter's errors: the loss exp(-y'f / C - lambda |y - h|_1 / C).

    Codes are 1 and -1/(C-1), |.|_1 sums over the classes, and lambda = ((C-1)/2) ln rho.

    1. w_i proportional to exp(sum of alpha over the voters that are wrong on i).
    2. H = the voter with the smallest weighted error eps; stop if eps >= rho (C-1) / (rho (C-1) + 1).
    3. alpha = ln(rho (1 - eps) / eps) + ln(C - 1).

    After step 3 the voter errs on rho (C-1) / (rho (C-1) + 1) of the weight.

    Parameters
    ----------
    rho : float
        At least 1; rho = 1 is SAMME.
    learning_rate : float
        nu in (0, 1]: alpha is multiplied by it.
    """

    rho: float = 2.0
    learning_rate: float = 1.0

    def limit(self, s: State) -> float:
        """Step 2."""
        odds = self.rho * (s.n_classes - 1)
        return odds / (odds + 1)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return self.learning_rate * (log(self.rho * (1 - error) / error) + log(s.n_classes - 1))


@booster(
    "Saha, Kunapuli, Ray, Maldjian & Natarajan 2013",
    "voters are re-sampled or of one polarity and AdaBoost stops early (exact stumps alternate with complements)",
    family="adaptive_regularised",
    variants=dict(
        systematic=dict(resample="systematic"),
        no_complements=dict(estimator=VoterPool(), forbid_repeat_complement=True),
    ),
    grid=dict(learning_rate=(1.0, 0.1)),
    stronger=dict(rho="larger"),
)
@dataclass(eq=False, repr=False)
class ARBoostClassifier(BoostingClassifier):
    """AR-Boost: AdaBoost that forgives its current voter's errors.

    After a step the voter's complement looks good, so a learner that fits the weights exactly (the default stump) may
    alternate between the two and go nowhere (`history_["complements"]` counts that); use `resample=True`,
    `DecisionStump(polarity="+")`, `forbid_repeat_complement` or early stopping.  The training loss may rise.  The paper
    gives no probabilities, and `predict_proba` is a score (AdaBoost's link); calibrate it if you need more.  Three or
    more classes: default stumps tell one class from the rest; with trees, and voters that `estimator` names ("stump"),
    rho=1 is SAMME (see `SAMMEClassifier`), and a voter has no complement.

    Parameters
    ----------
    rho : float, "cv_error" or "cv_soft_margin", default=2.0
        At least 1; 1 is AdaBoost, larger forgives more.  A word takes it from the grid 1, 1.5, 2, 3, 4, 5, 6, 8, 10 by
        five-fold cross-validation of votes of 100 rounds (`n_estimators` has no part in it), of equals the smallest: by
        the share of errors, or (two classes) by the paper's criterion, the share of rows whose soft margin
        y F + lambda |y - h| is negative, h the last voter and lambda = (1/2) ln rho.  The paper prints that criterion
        with its signs turned round, by which the best vote would be the one that is always wrong; this is the soft
        margin as it defines it.  It forgives the more the larger rho is, and so leans towards large values.
    forbid_repeat_complement : bool, default=False
        Take the best voter but the complement of the last one; for stumps, a `VoterPool`, or `resample=True`.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it.  After a small step a voter's complement does not look
        good, so that exact stumps need no other cure.
    {shared}
    rho_ : float
        rho as used.
    rho_curve_ : dict of arrays
        Where rho was chosen, one entry a value: error, and with two classes soft_margin_error; else empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import ARBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ARBoostClassifier(rho=4, resample=True, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    rho: float | str = param(2.0, number(1, 1e6) | one_of("cv_error", "cv_soft_margin"))
    forbid_repeat_complement: bool = param(False, flag())
    learning_rate: float = param(1.0, SHARE)

    _multiclass: ClassVar[bool] = True
    _settles: ClassVar[tuple[str, ...]] = ("rho", "rho_curve")

    @property
    def _own_form(self) -> bool:
        """Default stumps know two classes: over 17 sets they err on 19.6 % one against the rest, else on 27.5 %."""
        return self.estimator is not None or leaves_of(None, self.max_depth, self.max_leaf_nodes) > 2

    @property
    def _of_classes(self) -> bool:
        """Whether the rule is the one of three or more classes."""
        return self._several and self._reduction(len(self.classes_)) is None

    def _settle(self, bench: SelectionData) -> dict[str, Any]:
        if not isinstance(self.rho, str):
            return {}
        measures = {"error": misclassified} | ({} if self._of_classes else {"soft_margin_error": soft_misclassified})
        curve = cv_errors(bench, "rho", {rho: self._of(rho) for rho in RHO}, measures)
        best = curve["error" if self.rho == "cv_error" else "soft_margin_error"].argmin()
        return {"rho": float(curve["rho"][best]), "rho_curve": curve}

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.rho_, self.rho_curve_ = self._number("rho", meanwhile=2.0), self._settled.get("rho_curve", {})

    def _rule(self) -> Rule:
        if self._of_classes and self.rho == "cv_soft_margin":
            raise ValueError('rho="cv_soft_margin" is for two classes; with more, use "cv_error" or give a number.')
        return self._of(self._number("rho", meanwhile=2.0))

    def _of(self, rho: float) -> Rule:
        """Return the rule for a rho."""
        if self._of_classes:
            if self.forbid_repeat_complement:
                raise ValueError(
                    "forbid_repeat_complement is for two classes: with more, no voter is another's complement; leave "
                    "it out."
                )
            return ARBoostOfClasses(rho, self._rate)
        return ARBoost(rho, bool(self.forbid_repeat_complement), self._rate)
