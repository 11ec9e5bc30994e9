"""RLP-Boost: AdaBoost's voters, weighed by the soft-margin linear program (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.boosters.corrective import NU
from boostlab.boosters.params import one_of, param
from boostlab.boosters.registry import booster
from boostlab.boosters.reweighed import Reweighed, ReweighingClassifier
from boostlab.contract import Array, State
from boostlab.solvers.edge_lp import EdgeLP
from boostlab.solvers.soft_margin import check_nu, soft_margin

NUS = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)  # of equals the first: the softer margin


@dataclass(frozen=True)
class RLPBoost(Reweighed):
    """The weights with the largest soft margin: max rho - sum xi / (nu n), y F >= rho - xi, weights of sum 1.

    Parameters
    ----------
    nu : float
        In [1/n, 1]: at most this share of the sample lies below the margin.
    """

    nu: float = 0.1

    def program(self, U: Array, mass: Array) -> EdgeLP:
        """Open the linear program."""
        check_nu(self.nu, max(float(mass.sum()), len(mass)))
        program = EdgeLP(mass, cap=1.0 / (self.nu * float(mass.sum())), seconds=self.seconds)
        for u in U:
            program.add(u)
        return program

    def begin(self, s: State) -> None:
        """Refuse a nu that is too small before any work is done."""
        super().begin(s)
        check_nu(self.nu, s.size)

    def worth(self, s: State, margins: Array, alphas: Array) -> float:
        """Return the soft margin."""
        return soft_margin(margins / np.abs(alphas).sum(), s.mass, 1.0 / (self.nu * s.n))

    def solve(self, program: EdgeLP) -> tuple[Array, float]:
        """Solve, with this rule's cap."""
        check_nu(self.nu, max(program.size, program.n))
        program.set_cap(1.0 / (self.nu * program.size))
        solved = program.solve()
        return solved.weights, solved.value


@booster(
    "Rätsch, Onoda & Müller 2001",
    "you want AdaBoost's voters with soft-margin weights, and many values of nu at the price of one",
    family="totally_corrective",
    optimum=(dict(nu=0.3), 1e-8),
    grid=dict(nu=(0.1, 0.3)),
    trees=False,
    stronger=dict(nu="larger"),
)
@dataclass(eq=False, repr=False)
class RLPBoostClassifier(ReweighingClassifier):
    """RLP-Boost (LP_Reg-AdaBoost): AdaBoost's voters with the weights that maximise the soft margin.

    AdaBoost's rounds are in `history_` and in staged output; only the last stage has the program's weights.
    `history_["program"]` is the soft margin of AdaBoost's vote, and in the last round that of the program's.  `path`
    gives models for other values of `nu` without training again.  The scores lie in [-1, 1]; `predict_proba` is a score
    (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    nu : float in (0, 1] or "validation", default=0.1
        At most this share of the sample falls short of the margin.  "validation" takes the value of a grid with the
        fewest errors on the validation set (or on `validation_fraction` of the rows, which are then trained on like the
        others); the grid costs one fit of at most 100 rounds.
    time_limit : float, optional
        The longest that `fit` may take, in seconds, with bins, binary problems and calibration; AdaBoost's rounds have
        half of it.  Where the program finds no optimum in time, AdaBoost's weights stay.
    {shared}
    nu_ : float
        The value used.
    nu_curve_ : dict of arrays
        With "validation" the errors of the grid; else empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import RLPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RLPBoostClassifier(nu=0.1).fit(X, y)
    >>> softer, softest = model.path(X, y, [0.2, 0.4])
    >>> bool((model.estimator_weights_ > 0).sum() > (softest.estimator_weights_ > 0).sum())
    True
    """

    nu: float | str = param(0.1, NU | one_of("validation"))

    _settles: ClassVar[tuple[str, ...]] = ("nu", "nu_curve")
    _parameter: ClassVar[str] = "nu"
    _grid: ClassVar[tuple[float, ...]] = NUS

    def _weighing(self, value: float) -> Reweighed:
        return RLPBoost(seconds=self.time_limit, nu=value)
