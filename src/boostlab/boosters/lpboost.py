"""LPBoost: soft-margin linear programs by column generation (Demiriz, Bennett & Shawe-Taylor 2002).

`LPBoost` caps the row weights; `HingeLPBoost` has a price on slack: the hinge loss and the sum of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.boosters.corrective import NU, ROUNDING, Corrective, TotallyCorrective
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.contract import Array, Reweigh, Rule, State, Stop, Task
from boostlab.engine.training import Training
from boostlab.solvers.allowance import Allowance
from boostlab.solvers.edge_lp import EdgeLP

NO_SOFT_MARGIN = "no vote has a soft margin above 0"


@dataclass(frozen=True)
class LPBoost(Corrective):
    """Maximise the soft margin over all voters; every round re-weighs every voter.

    1. h = the voter with the largest edge g = sum d_i y_i h(x_i); d starts uniform, beta at minus infinity.
    2. Stop if g <= beta + tol: no voter outside the program can improve it.
    3. Add h and solve: min beta over d in the simplex with d_i <= 1/(nu n), the edge of every voter at most beta.
    4. The voters' weights are the dual variables of the edge constraints.
    """

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        super().begin(s)
        s.own.program = EdgeLP(s.mass[s.own.order], cap=self.cap(s), seconds=self.seconds)
        s.own.beta, s.own.values = -np.inf, []

    def weigh(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Steps 2 to 4."""
        own, edge = s.own, self.edge(s, task, h)
        if edge <= own.beta + self.tol and own.beta <= ROUNDING:
            return Stop("tolerance", f"{NO_SOFT_MARGIN}, the mean margin of its worst nu={self.nu:g} of the examples")
        if edge <= own.beta + self.tol:
            return Stop(
                "tolerance", f"the best edge {edge:.6g} exceeds beta = {own.beta:.6g} by no more than {self.tol:g}"
            )
        own.program.add((s.y * h)[own.order])
        solved = s.own.clock.give(own.program).solve()
        own.beta = solved.value
        own.values.append(own.beta)
        self.next_weights(s, solved.d)
        gap = max(own.lowest_edge - own.beta, 0.0)
        return Reweigh(solved.weights, {"edge": edge, "objective": own.beta, "duality_gap": gap})

    def finish(self, s: State) -> Reweigh | None:
        """Close the gap by the last edge, that of the voter which could not improve anything."""
        if len(s.own.values) < s.t:
            return None
        return Reweigh(s.alphas, {"duality_gap": max(s.own.lowest_edge - s.own.values[s.t - 1], 0.0)})


@dataclass(frozen=True)
class HingeLPBoost(Corrective):
    """LPBoost's other form: minimise sum alpha + C sum max(0, 1 - y F), by column generation.

    1. h = the voter with the largest g = sum u_i y_i h(x_i); u starts at C everywhere.
    2. Stop if g <= 1 + tol: no voter outside the program can improve it.
    3. Add h and solve: max sum u_i over 0 <= u_i <= C with sum u_i y_i h_j(x_i) <= 1 for every voter j.
    4. The voters' weights are the dual variables of these constraints; u / max(1, g) bounds the optimum from below.

    Parameters
    ----------
    C : float
        The price of slack, an example.
    tol : float
        By how much an edge must violate its constraint to count.
    seconds : float, optional
        The longest that all rounds together may take.
    """

    nu: float = 1.0  # not used
    C: float = 1.0

    def begin(self, s: State) -> None:
        """Without a voter every example has its full price."""
        s.own.order, s.own.clock = s.canonical_order(), Allowance(self.seconds, s.spent)
        s.own.program = EdgeLP(s.mass[s.own.order], price=self.C, seconds=self.seconds)
        s.own.d, s.own.bound, s.own.values = np.full(len(s.y), self.C), 0.0, []

    def weigh(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Steps 2 to 4; where the empty vote is optimal, the best voter alone stands for it."""
        own = s.own
        edge, whole = s.total(task.weight * s.y * h, task.weight)
        own.bound = max(own.bound, whole / max(1.0, edge))
        if edge <= 1 + self.tol:
            if s.t:
                return Stop("tolerance", f"the best edge {edge:.6g} exceeds 1 by no more than {self.tol:g}")
            empty = Stop("tolerance", f"C={self.C:g} is so small that no vote pays; the best voter stands alone")
            return Reweigh(np.ones(1), {"edge": edge, "objective": whole, "duality_gap": 0.0}, empty)
        own.program.add((s.y * h)[own.order])
        solved = s.own.clock.give(own.program).solve()
        own.values.append(solved.value)
        own.d = np.empty_like(solved.d)
        own.d[own.order] = solved.d
        gap = max(solved.value - own.bound, 0.0)
        return Reweigh(solved.weights, {"edge": edge, "objective": solved.value, "duality_gap": gap})

    def finish(self, s: State) -> Reweigh | None:
        """Close the gap by the last edge, that of the voter which could not improve anything."""
        if len(s.own.values) < s.t:
            return None
        return Reweigh(s.alphas, {"duality_gap": max(s.own.values[s.t - 1] - s.own.bound, 0.0)})


@booster(
    "Demiriz, Bennett & Shawe-Taylor 2002",
    "you want the largest soft margin, few voters, and a proof of optimality",
    family="totally_corrective",
    variants=dict(price=dict(C=0.05)),
    optimum=(dict(nu=0.3), 1e-9),
    tol_doc="By how much a new voter's edge must violate the program's optimum for training to go on.",
    grid=dict(nu=(0.1, 0.3)),
    trees=False,
    stronger=dict(nu="larger", C="larger"),
)
@dataclass(eq=False, repr=False)
class LPBoostClassifier(TotallyCorrective):
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
        The longest that `fit` may take, in seconds, with bins, binary problems and calibration; training then ends as
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

    def _complaint(self, training: Training) -> str:
        if self.C is None:
            return self._soft_margin_complaint(training)
        return super()._complaint(training)
