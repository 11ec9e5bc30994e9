"""The linear programs of LPBoost, kept alive between rounds so that every solve starts where the last one ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.solvers.allowance import OutOfTime, SolverError

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Solved:
    """An optimum: the weight d of every example, the value of the program, and the voters' weights (not negative)."""

    d: Array
    value: float
    weights: Array


class EdgeLP:
    """Row weights under which no voter has a large edge, and the voters' weights that are dual to them.

    `EdgeLP(mass, cap=...)` is the soft margin: minimise beta over d with sum m_i d_i = 1, 0 <= d_i <= cap, and
    sum m_i d_i u_ji <= beta for every voter j.  Its dual variables w are the vote (sum 1) with the largest soft margin.

    `EdgeLP(mass, price=C)` is the hinge loss: maximise sum m_i d_i over 0 <= d_i <= C with sum m_i d_i u_ji <= 1 for
    every voter j.  Its dual variables minimise sum w_j + C sum m_i max(0, 1 - sum_j w_j u_ji).

    Both are one program in d, S = sum m_i d_i and beta: S fixed and beta minimised, or beta fixed and S maximised.
    With S at hand the edge of a voter that says -1 and +1 is c S - 2 c (weight of the rows where u is not c), so its
    constraint has entries for the rarer of its two answers only.  Adding a voter adds a row, which keeps the last basis
    dual feasible: the dual simplex goes on from there; so it does when the cap changes.  The solver sees densities (1
    everywhere for uniform weights), so that its tolerances mean the same whatever the number of rows and the scale of
    the masses.

    Parameters
    ----------
    mass : array
        m_i, how many examples row i stands for.
    cap : float, optional
        The largest weight of one example.
    price : float, optional
        C; give one of the two.
    seconds : float, optional
        The longest that one solve may take.
    """

    def __init__(
        self, mass: Array, *, cap: float | None = None, price: float | None = None, seconds: float | None = None
    ) -> None:
        import highspy  # slow to import, and only this program needs it

        self.size, self.n, self.mass = float(mass.sum()), len(mass), mass / mass.mean()
        self.seconds, self.price, self.n_voters = seconds, price, 0
        self._highspy = highspy
        self.solver = highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
        self.solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
        self.solver.setOptionValue("simplex_dual_edge_weight_strategy", 1)  # Devex: nothing to set up for every solve
        n, infinity = self.n, highspy.kHighsInf
        self.solver.addVars(n, np.zeros(n), np.ones(n))
        if price is None:
            assert cap is not None
            self.solver.addVar(n, n)
            self.solver.addVar(-infinity, infinity)
            self.solver.changeColCost(n + 1, 1.0)
            self.set_cap(cap)
        else:
            limit = n / (price * self.size)
            self.solver.addVar(0.0, infinity)
            self.solver.addVar(limit, limit)
            self.solver.changeColCost(n, -1.0)
        self._row(0.0, 0.0, np.arange(n + 1), np.append(self.mass, -1.0))

    def set_cap(self, cap: float) -> None:
        """Change the cap, which may be infinite; the next solve starts from the last one's basis."""
        columns, n = np.arange(self.n, dtype=np.int32), self.n
        self.solver.changeColsBounds(n, columns, np.zeros(n), np.full(n, cap * self.size))

    def _row(self, low: float, high: float, columns: Array, values: Array) -> None:
        self.solver.addRow(low, high, len(columns), columns.astype(np.int32), values)

    def add(self, u: Array) -> None:
        """Add a voter by its agreements u_i = y_i h(x_i)."""
        right = u == 1
        base = 1.0 if 2 * np.count_nonzero(right) >= self.n else -1.0
        others = np.flatnonzero(u != base)
        if not (right | (u == -1)).all():
            base, others = 0.0, np.flatnonzero(u)
        values = self.mass[others] * (u[others] - base)
        ends, last = ([self.n, self.n + 1], [base, -1.0]) if base else ([self.n + 1], [-1.0])
        self._row(-self._highspy.kHighsInf, 0.0, np.append(others, ends), np.append(values, last))
        self.n_voters += 1

    def _run(self) -> Any:
        """Solve within the time and return what HiGHS says of it (its clock runs on from one solve to the next)."""
        if self.seconds is not None:
            self.solver.setOptionValue("time_limit", self.solver.getRunTime() + self.seconds)
        self.solver.run()
        return self.solver.getModelStatus()

    def solve(self) -> Solved:
        """Return the optimum; a solve that fails is tried once more without the old basis."""
        kinds = self._highspy.HighsModelStatus
        status = self._run()
        if status not in (kinds.kOptimal, kinds.kTimeLimit):
            self.solver.clearSolver()
            status = self._run()
        if status == kinds.kTimeLimit:
            raise OutOfTime(f"HiGHS found no optimum of {self.n_voters} voters within {self.seconds:g} seconds")
        if status != kinds.kOptimal:
            raise SolverError(f"HiGHS ended with {self.solver.modelStatusToString(status)!r}")
        solution = self.solver.getSolution()
        values = np.asarray(solution.col_value)
        weights = np.maximum(-np.asarray(solution.row_dual)[1:], 0.0)
        d = np.maximum(values[: self.n], 0.0)
        if not (np.isfinite(values).all() and np.isfinite(weights).all()):
            raise SolverError("HiGHS returned numbers that are not finite")
        if self.price is not None:
            return Solved(d * self.price, float(values[self.n]) * self.price * self.size / self.n, weights)
        if not weights.any():
            raise SolverError("HiGHS returned no weights")
        return Solved(d / self.size, float(values[self.n + 1]) / self.n, weights / weights.sum())
