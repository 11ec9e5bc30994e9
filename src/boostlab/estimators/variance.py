"""Boosters that penalise the variance of the exponential loss, and the choice of their penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.contract import Rule
from boostlab.ensemble import Ensemble
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import Check, number, one_of, param
from boostlab.estimators.registry import booster
from boostlab.estimators.selection import Bench, cv_bernstein, validation
from boostlab.rules.ebboost import EBBoost
from boostlab.rules.fixed_point import FixedPointEBBoost, FixedPointVadaBoost
from boostlab.rules.fixed_point_classes import FixedPointVadaBoostOfClasses
from boostlab.rules.vadaboost import VadaBoost
from boostlab.rules.vadaboost_classes import VadaBoostOfClasses

_Rules = tuple[type[VadaBoost], type[VadaBoost]]

GRID = tuple(k / 10 for k in range(11))
BEYOND = (2.0, 5.0, 10.0)  # where the rule allows more than 1
_PENALTY = Check(number(0, 1e6).test, "a number in [0, 1] (where the cost itself is minimised, any of at least 0)")
_CHOOSERS = {"auto": cv_bernstein, "cv_bernstein": cv_bernstein, "validation": validation}


@dataclass(eq=False, repr=False)
class VariancePenalised(BoostingClassifier):
    """A booster whose variance penalty is a number or left to the data."""

    variance_penalty: float | str = param(0.5, _PENALTY | one_of("auto", "cv_bernstein", "fixed_point", "validation"))

    _settles: ClassVar[tuple[str, ...]] = ("variance_penalty", "variance_penalty_curve")

    @property
    def _rules(self) -> _Rules:
        """The rule with a given penalty, and the one that finds its own."""
        raise NotImplementedError

    @property
    def _exact(self) -> bool:
        """Whether the cost itself is minimised, so that penalties above 1 make sense."""
        return True

    def _rule(self) -> Rule:
        if self.variance_penalty == "fixed_point":
            return self._rules[1](exact=self._exact, patience=self.n_iter_no_change)  # type: ignore[call-arg]
        return self._rules[0](self._number("variance_penalty", meanwhile=0.5), self._exact)

    def _settle(self, bench: Bench) -> dict[str, Any]:
        if self.variance_penalty not in _CHOOSERS:
            return {}
        grid = GRID + BEYOND if self._exact else GRID
        rules = {value: self._rules[0](value, self._exact) for value in grid}
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


@booster("Shivaswamy & Jebara 2011", "you want lower variance of the loss with any weak learner")
@dataclass(eq=False, repr=False)
class VadaBoostClassifier(VariancePenalised):
    """VadaBoost: penalises the variance of the exponential loss, with any weighted weak learner.

    `predict_proba` uses the link 1 / (1 + exp(-2 F)), which is AdaBoost's and exact for `variance_penalty=0`, and
    1 / (1 + exp(-4 F)) for `variance_penalty=1`, where the loss is exp(-2 y F).  In between, and beyond, it is a score:
    calibrate it on held-out rows (`sklearn.calibration.CalibratedClassifierCV`) where probabilities matter.

    Three or more classes: the same cost of SAMME's losses (see `SAMMEClassifier`; derived in
    `docs/multiclass_vadaboost.md`).  Voters name classes and need only beat a random guess, the scores of the classes
    sum to zero in every row, and `predict_proba` is the softmax of the votes, or of twice the votes for
    `variance_penalty=1`.  With many classes use trees (`max_leaf_nodes`).

    Parameters
    ----------
    variance_penalty : float or str, default=0.5
        lambda: in [0, 1]; with step="exact" any number of at least 0.  A word leaves it to the data:

        - "auto" or "cv_bernstein" takes it from the grid 0, 0.1, ..., 1 (with step="exact" also 2, 5, 10) by five-fold
          cross-validation of the clipped exponential loss: the lowest empirical Bernstein bound wins.  The number of
          rounds (at most 100) is chosen inside the training folds and has nothing to do with `n_estimators`.  It takes
          110 to 140 short fits, which share the bins.
        - "validation" takes the value of the same grid with the fewest errors on the validation set (or on
          `validation_fraction` of the rows, which are then trained on like the others).
        - "fixed_point" estimates it anew before every round from the current training losses, and stops when mean loss
          + tau * its standard error has seen no new minimum for `n_iter_no_change` rounds.
    step : {"bound", "exact"}, default="bound"
        The paper's step, or the one that minimises the cost itself.
    {shared}
    variance_penalty_ : float
        The penalty used; with "fixed_point" the last round's (all of them are in `history_["variance_penalty"]`).
    variance_penalty_curve_ : dict of arrays
        Where the penalty was taken from a grid, one entry a value: loss, error, rounds (and for "auto" variance and
        bound); else empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import VadaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = VadaBoostClassifier(variance_penalty=0.3).fit(X, y)
    >>> bool((model.history_["objective"][1:] < model.history_["objective"][:-1]).all())
    True
    >>> chosen = VadaBoostClassifier(variance_penalty="fixed_point", n_estimators=20).fit(X, y)
    >>> 0 < chosen.variance_penalty_ <= 1
    True
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> VadaBoostClassifier(max_leaf_nodes=4, n_estimators=20).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    step: str = param("bound", one_of("bound", "exact"))

    _multiclass: ClassVar[bool] = True

    @property
    def _rules(self) -> _Rules:
        if self._several:
            return VadaBoostOfClasses, FixedPointVadaBoostOfClasses
        return VadaBoost, FixedPointVadaBoost

    @property
    def _exact(self) -> bool:
        return self.step == "exact"

    def _rule(self) -> Rule:
        if self.step == "bound" and self._number("variance_penalty", meanwhile=0.5) > 1:
            raise ValueError(
                f'variance_penalty={self.variance_penalty} must lie in [0, 1] with step="bound", whose bound fails '
                'beyond; use step="exact" for larger penalties.'
            )
        return super()._rule()


@booster("Shivaswamy & Jebara 2010", "you want the variance penalty minimised exactly over all stumps")
@dataclass(eq=False, repr=False)
class EBBoostClassifier(VariancePenalised):
    """EBBoost: minimises the variance-penalised cost exactly over all stumps.

    `predict_proba` is as for `VadaBoostClassifier`: exact for a penalty of 0 or 1, else a score.

    Parameters
    ----------
    variance_penalty : float or str, default=0.5
        lambda, at least 0; 0 is AdaBoost, 1 is AdaBoost with halved scores.  "auto" (or "cv_bernstein"), "validation"
        and "fixed_point" leave it to the data, as for `VadaBoostClassifier` with step="exact".
    {shared}
    variance_penalty_, variance_penalty_curve_
        The penalty used and how it was found, as for `VadaBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import EBBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> EBBoostClassifier(variance_penalty=2.0, n_estimators=20).fit(X, y).n_estimators_
    20
    """

    @property
    def _rules(self) -> _Rules:
        return EBBoost, FixedPointEBBoost
