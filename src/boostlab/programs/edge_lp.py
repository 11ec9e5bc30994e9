"""The dual program of LPBoost, kept alive between rounds so that every solve starts where the last one ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class SolverError(RuntimeError):
    """A solver ended without an optimum."""


class EdgeLP:
    """Minimise beta over d with sum m_i d_i = 1, 0 <= d_i <= cap, and sum m_i d_i u_ji <= beta for every voter j.

    Adding a voter adds a row, which keeps the last basis dual feasible: the dual simplex goes on from there.  The
    solver sees densities (d times the sum of masses: 1 everywhere for uniform weights), so that its tolerances mean the
    same whatever the number of rows and the scale of the masses.

    Parameters
    ----------
    mass : array
        m_i, how many examples row i stands for.
    cap : float
        The largest weight of one example.
    """

    def __init__(self, mass: Array, cap: float) -> None:
        self.size = float(mass.sum())
        cap, mass = cap * self.size, mass / mass.mean()
        import highspy  # slow to import, and only this program needs it

        self.mass, self.n = mass, len(mass)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self.solver = highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
        self.solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
        everywhere = np.arange(self.n, dtype=np.int32)
        self.solver.addVars(self.n, np.zeros(self.n), np.full(self.n, cap))
        self.solver.addVar(-highspy.kHighsInf, highspy.kHighsInf)  # beta
        self.solver.changeColCost(self.n, 1.0)
        self.solver.addRow(self.n, self.n, self.n, everywhere, mass)
        self._none = -highspy.kHighsInf
        self._columns = np.arange(self.n + 1, dtype=np.int32)

    def add(self, u: Array) -> None:
        """Add a voter by its agreements u_i = y_i h(x_i)."""
        self.solver.addRow(
            self._none, 0.0, self.n + 1, self._columns, np.append(self.mass * u, -1.0)
        )  # the variable is n beta

    def solve(self) -> tuple[Array, float, Array]:
        """Return d, beta and the voters' weights (not negative, sum 1)."""
        self.solver.run()
        status = self.solver.getModelStatus()
        if status != self._optimal:
            raise SolverError(f"HiGHS ended with {self.solver.modelStatusToString(status)!r}")
        solution = self.solver.getSolution()
        values = np.asarray(solution.col_value)
        weights = np.maximum(-np.asarray(solution.row_dual)[1:], 0.0)
        return np.maximum(values[: self.n], 0.0) / self.size, float(values[self.n]) / self.n, weights / weights.sum()
