"""Shared by VadaBoost and EBBoost: a variance penalty that is a number or left to the data."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import Check, number, one_of, param
from boostlab.boosters.selection import SelectionData, cv_bernstein, validation
from boostlab.contract import Rule
from boostlab.ensemble.vote import Ensemble

Rules = tuple[type[Any], type[Any]]
_PENALTY = Check(number(0, 1e6).test, "a number in [0, 1] (where the cost itself is minimised, any of at least 0)")
_CHOOSERS = {"auto": cv_bernstein, "cv_bernstein": cv_bernstein, "validation": validation}


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
