"""Shared by LPBoost and its kin: all voters' weights are set anew every round, by a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import number, one_of, param, whole
from boostlab.contract import Array, Reweigh, Rule, State, Stop, Task
from boostlab.engine.training import Training
from boostlab.solvers.allowance import Allowance, OutOfTime, SolverError
from boostlab.solvers.soft_margin import check_nu

LIMIT = one_of(None) | number(0, brackets="()")  # of the seconds that a program may take
NU = number(0, 1, "(]")
ROUNDING = 1e-9  # a soft margin this small is none
TOL_DOC = "How far from the largest soft margin training may end: the smaller, the more rounds."


def failed(s: State, failure: SolverError) -> Reweigh | Stop:
    """End with the last weights that a solver found; before there are any, the first voter votes alone."""
    late = f"the limit of {s.own.clock.seconds} seconds came in round {s.t + 1}, before an optimum"
    stop = Stop("time_up", late) if isinstance(failure, OutOfTime) else Stop("solver_failed", str(failure))
    return stop if s.t else Reweigh(np.ones(1), {}, stop)


@dataclass(frozen=True)
class Corrective(Rule):
    """Voters by their edge under weights d with d_i <= 1/(nu n), which a program chooses.

    The best edge under such d is at least any vote's soft margin; the duality gap is the distance of the two.

    Parameters
    ----------
    nu : float
        In [1/n, 1]: at most this share of the sample lies below the margin.
    tol, seconds : float
        How far from the optimum training may end, and the longest that all rounds together may take.
    """

    nu: float = 0.1
    tol: float = 1e-6
    seconds: float | None = None

    keeps_votes: ClassVar[bool] = True

    def cap(self, s: State) -> float:
        """Return the largest weight of an example."""
        return 1.0 / (self.nu * s.n)

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        check_nu(self.nu, s.size)
        s.own.clock = Allowance(self.seconds, s.spent)
        s.own.order = s.canonical_order()  # optima do not see the rows' order
        s.own.d, s.own.lowest_edge, s.own.converged = np.full(len(s.y), 1.0 / s.n), np.inf, 0

    def task(self, s: State) -> Task:
        """Ask for the largest edge under d."""
        s.own.clock.begin_round()
        return Task("edge", s.own.d, s.y)

    def step(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Let the program weigh the voters, if there is time."""
        try:
            return self.weigh(s, task, h)
        except SolverError as failure:
            return failed(s, failure)
        finally:
            s.own.clock.end_round()

    def weigh(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Return the weights of all voters, this one last; a solver may fail."""
        raise NotImplementedError

    def edge(self, s: State, task: Task, h: Array) -> float:
        """Return the voter's edge and remember the smallest."""
        signed, whole = s.total(task.weight * s.y * h, task.weight)
        s.own.lowest_edge = min(s.own.lowest_edge, signed / whole)
        return float(signed / whole)

    def next_weights(self, s: State, d: Array) -> None:
        """Take d, which a program gave in its order of the rows, for the next task."""
        s.own.d = np.empty_like(d)
        s.own.d[s.own.order] = d


@dataclass(eq=False, repr=False)
class TotallyCorrective(BoostingClassifier):
    """What the boosters share that solve a program every round."""

    n_estimators: int = param(1000, whole(1))
    tol: float = param(0.01, number(0, 1, "()"))
    time_limit: float | None = param(None, LIMIT)

    _tol_is_the_rules: ClassVar[bool] = True

    def _soft_margin_complaint(self, training: Training) -> str:
        """Return what is wrong with a vote whose soft margin is `history_["objective"]`."""
        kept = len(self._ensemble.rounds)
        margins = self.history_.get("objective", ())
        if kept and len(margins) >= kept and margins[kept - 1] <= ROUNDING:
            return (
                "found no vote with a positive soft margin, so its predictions are worth little; raise "
                f"nu={self.nu:g} well above the share of wrong labels, or use stronger voters (max_leaf_nodes=8)."
            )
        return super()._complaint(training)
