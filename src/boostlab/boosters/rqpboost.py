"""RQP-Boost: AdaBoost's voters, weighed by a support vector machine's program (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.boosters.reweighed import Reweighed, ReweighingClassifier
from boostlab.contract import Array, State
from boostlab.solvers.hinge_qp import HingeQP

PRICES = tuple(10.0 ** (k / 2) for k in range(-4, 8))


@dataclass(frozen=True)
class RQPBoost(Reweighed):
    """The weights b >= 0 that minimise |b|^2 / 2 + C mean max(0, 1 - y F).

    Parameters
    ----------
    C : float
        The price of slack (the paper's for one example is C/n): near 0 every voter has its plain edge as its weight, a
        large C is a hard margin.
    """

    C: float = 3.0

    def program(self, U: Array, mass: Array) -> HingeQP:
        """Open the quadratic program."""
        return HingeQP(U, mass / mass.sum(), self.seconds)

    def worth(self, s: State, margins: Array, alphas: Array) -> float:
        """Return the cost."""
        return float(alphas @ alphas / 2 + self.C * s.total(np.maximum(0.0, 1.0 - margins)) / s.n)

    def solve(self, program: HingeQP) -> tuple[Array, float]:
        """Solve, with this rule's price."""
        return program.solve(self.C)


@booster(
    "Rätsch, Onoda & Müller 2001",
    "you want AdaBoost's voters weighed like a support vector machine's features",
    family="totally_corrective",
    optimum=({}, 1e-7),
    grid=dict(C=(0.3, 3.0)),
    stronger=dict(C="smaller"),
)
@dataclass(eq=False, repr=False)
class RQPBoostClassifier(ReweighingClassifier):
    """RQP-Boost (QP_Reg-AdaBoost): AdaBoost's voters with the weights of a quadratic program.

    Minimises half the sum of the squared weights + C times the mean of max(0, 1 - y F) over weights that are not
    negative.  (The paper's C is 2 C / n: it adds up the slack of all examples and does not halve the squares.)
    AdaBoost's rounds are in `history_` and in staged output; only the last stage has the program's weights.
    `history_["program"]` is the program's cost of AdaBoost's vote, and in the last round that of its own.  `path` gives
    models for other values of `C` without training again.  `predict_proba` is a score (AdaBoost's link), not a
    calibrated probability.

    Parameters
    ----------
    C : float or "validation", default=3.0
        The price of slack: near 0 the weights are the voters' plain edges, a large C is a hard margin.  "validation"
        takes it from a grid, as for `RLPBoostClassifier`.
    time_limit : float, optional
        The longest that `fit` may take, in seconds, with bins, binary problems and calibration; AdaBoost's rounds have
        half of it.  Where the program finds no optimum in time, AdaBoost's weights stay.
    {shared}
    C_ : float
        The value used.
    C_curve_ : dict of arrays
        With "validation" the errors of the grid; else empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import RQPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RQPBoostClassifier(C="validation", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    C: float | str = param(3.0, number(0, 1e6, "(]") | one_of("validation"))

    _settles: ClassVar[tuple[str, ...]] = ("C", "C_curve")
    _parameter: ClassVar[str] = "C"
    _grid: ClassVar[tuple[float, ...]] = PRICES

    def _weighing(self, value: float) -> Reweighed:
        return RQPBoost(seconds=self.time_limit, C=value)
