"""What the corrective boosters cost:  python benchmarks/corrective.py fits | solves | entropic | grid.

fits       rounds, seconds and the solver's share for LPBoost, ERLPBoost, SoftBoost and TotalBoost
solves     LPBoost's warm-started program beside scipy.optimize.linprog, which solves every round from scratch
entropic   the entropic program of one round by Newton steps, SLSQP, sequential quadratic steps and a cone solver
grid       RLP-Boost and RQP-Boost over a grid, beside a fit for every value

All seconds are the processor's, on one thread.  Tables come from the folder that BOOSTLAB_DATA names.  The cone solver
is Clarabel, and is left out where it is missing.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import LinearConstraint, linprog, minimize
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parent))

from boostlab import (
    ERLPBoostClassifier,
    LPBoostClassifier,
    RLPBoostClassifier,
    RQPBoostClassifier,
    SoftBoostClassifier,
    TotalBoostClassifier,
)
from boostlab.solvers.capped_entropy import CappedEntropy, capped_gibbs
from boostlab.solvers.edge_lp import EdgeLP
from data import Missing, Stored

Array = npt.NDArray[Any]

TABLES = {
    "ionosphere": Stored("ionosphere.csv.gz", 0),
    "pima": Stored("pima.csv.gz", 0),
    "spambase": Stored("spambase.csv.gz", 0),
    "twonorm": Stored("twonorm.csv.gz", 0),
}
SOLVES = [(EdgeLP, "add"), (EdgeLP, "solve"), (CappedEntropy, "penalised"), (CappedEntropy, "projected")]


@contextmanager
def timed() -> Iterator[list[float]]:
    """Measure the seconds spent in the programs."""
    spent, before = [0.0], [getattr(cls, name) for cls, name in SOLVES]
    for (cls, name), method in zip(SOLVES, before, strict=True):

        def call(self: Any, *args: Any, method: Callable[..., Any] = method) -> Any:
            start = time.process_time()
            try:
                return method(self, *args)
            finally:
                spent[0] += time.process_time() - start

        setattr(cls, name, call)
    try:
        yield spent
    finally:
        for (cls, name), method in zip(SOLVES, before, strict=True):
            setattr(cls, name, method)


def voters(X: Array, y: Array, nu: float, rounds: int) -> Array:
    """Return the agreements y h of the voters that ERLPBoost finds, one row each."""
    model = ERLPBoostClassifier(nu=nu, n_estimators=rounds, tol=2e-3, n_jobs=1).fit(X, y)
    return np.array([(2 * y - 1) * v.predict(X) for v in model.estimators_]).astype(np.int8)


def fits(args: argparse.Namespace) -> None:
    """Fit every booster to every table."""
    print("table         rows    nu booster      rounds  seconds  solver  objective  stop")
    for name in args.tables:
        X, y = TABLES[name].make(small=False)
        X, y = X[: args.rows], y[: args.rows]
        for nu in args.nu:
            for make in (LPBoostClassifier, ERLPBoostClassifier, SoftBoostClassifier, TotalBoostClassifier):
                own = {} if make is TotalBoostClassifier else {"nu": nu}
                with timed() as spent:
                    start = time.process_time()
                    model = make(n_estimators=args.rounds, n_jobs=1, **own).fit(X, y)
                    whole = time.process_time() - start
                stop = model.stop_reason_.partition(":")[0]
                print(
                    f"{name:12}{len(y):6}{nu:6.2f} {make.__name__.removesuffix('Classifier'):12}{model.n_estimators_:7}"
                    f"{whole:9.2f}{spent[0] / whole:8.0%}{model.history_['objective'][-1]:11.5f}  {stop}",
                    flush=True,
                )


def from_scratch(U: Array, cap: float) -> float:
    """Solve LPBoost's program with scipy, as one would without a solver that remembers."""
    t, n = U.shape
    return float(
        linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.column_stack([U, -np.ones(t)]),
            b_ub=np.zeros(t),
            A_eq=np.append(np.ones(n), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, cap)] * n + [(None, None)],
        ).fun
    )


def solves(args: argparse.Namespace) -> None:
    """Add the voters one by one, and solve after every one."""
    X, y = TABLES[args.tables[0]].make(small=False)
    X, y = X[: args.rows or 2500], y[: args.rows or 2500]
    nu = args.nu[0]
    model = LPBoostClassifier(nu=nu, n_estimators=args.rounds, n_jobs=1).fit(X, y)
    U = np.array([(2 * y - 1) * v.predict(X) for v in model.estimators_]).astype(np.int8)
    n = len(y)
    program, warm = EdgeLP(np.ones(n), cap=1 / (nu * n)), []
    picked = set(np.unique(np.linspace(1, len(U), 10).astype(int)).tolist())
    scratch: dict[int, float] = {}
    for t, u in enumerate(U, start=1):
        start = time.process_time()
        program.add(u)
        solved = program.solve()
        warm.append(time.process_time() - start)
        if t in picked:
            start = time.process_time()
            value = from_scratch(U[:t].astype(float), 1 / (nu * n))
            scratch[t] = time.process_time() - start
            assert abs(value - solved.value) < 1e-6
            print(f"{t:4} voters: warm {1e3 * warm[-1]:8.1f} ms, from scratch {1e3 * scratch[t]:9.1f} ms", flush=True)
    every = np.interp(np.arange(1, len(U) + 1), list(scratch), list(scratch.values())).sum()
    print(f"{args.tables[0]}, n={n}, nu={nu}, {len(U)} voters: warm-started {sum(warm):.1f} s, from scratch about")
    print(f"{every:.0f} s (ten solves measured, the others interpolated): {every / sum(warm):.1f} times as much")


def entropic(args: argparse.Namespace) -> None:
    """Solve one ERLPBoost program with all voters by every method, to the same gap."""
    for name in args.tables:
        X, y = TABLES[name].make(small=False)
        X, y = X[: args.rows], y[: args.rows]
        nu, eps, n = args.nu[0], 0.01, len(y)
        U = voters(X, y, nu, args.rounds)
        eta, kappa, p = 2 / eps * np.log(1 / nu), 1 / nu, np.full(n, 1 / n)
        print(f"{name}, n={n}, {len(U)} voters, nu={nu}, eps={eps}: seconds, and the gap left")
        for label, method in METHODS.items():
            try:
                start = time.process_time()
                q = method(U, p, kappa, eta)
                seconds = time.process_time() - start
            except (ImportError, ArithmeticError) as why:
                print(f"  {label:30} {why}")
                continue
            newton = by_newton(U, p, kappa, eta)
            gap = worth(q, U, p, eta) - worth(newton, U, p, eta)
            print(f"  {label:30}{seconds:9.3f} s{gap:12.1e}", flush=True)


def worth(q: Array, U: Array, p: Array, eta: float) -> float:
    """Return the largest edge + KL / eta."""
    q = np.maximum(q, 0)
    return float((U @ (p * q)).max() + p @ (q * np.log(np.where(q > 0, q, 1.0))) / eta)


def by_newton(U: Array, p: Array, kappa: float, eta: float) -> Array:
    """The library's own method, from nothing."""
    program = CappedEntropy(np.ones(len(p)), kappa)
    for u in U:
        program.add(u)
    return program.penalised(eta, 1e-6).q


def by_slsqp(U: Array, p: Array, kappa: float, eta: float) -> Array:
    """The smooth dual over the simplex, by scipy's SLSQP."""
    W = U.astype(float)

    def cost(w: Array) -> tuple[float, Array]:
        q, theta, _ = capped_gibbs(eta * (w @ W), p, kappa)
        return -theta / eta, -(W @ (p * q))

    t = len(W)
    simplex = LinearConstraint(np.ones((1, t)), 1, 1)
    found = minimize(
        cost,
        np.full(t, 1 / t),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * t,
        constraints=simplex,
        options={"maxiter": 300, "ftol": 1e-9},
    )
    return capped_gibbs(eta * (found.x @ W), p, kappa)[0]


def by_quadratic_steps(U: Array, p: Array, kappa: float, eta: float) -> Array:
    """Sequential quadratic programs in the row weights, each by HiGHS."""
    import highspy

    n = len(p)
    q, last = np.ones(n), np.inf
    for _ in range(50):
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("time_limit", 20.0)
        solver.addVars(n, np.zeros(n), np.full(n, kappa))
        solver.addVar(-highspy.kHighsInf, highspy.kHighsInf)
        floor = np.maximum(q, 1e-9)
        for i in range(n):
            solver.changeColCost(i, float(p[i] * np.log(floor[i]) / eta))
        solver.changeColCost(n, 1.0)
        columns = np.arange(n + 1, dtype=np.int32)
        solver.addRow(1.0, 1.0, n, columns[:n], p)
        for u in U:
            solver.addRow(-highspy.kHighsInf, 0.0, n + 1, columns, np.append(p * u, -1.0))
        diagonal = np.append(p / (eta * floor), 0.0)
        solver.passHessian(
            n + 1, n + 1, 1, np.arange(n + 2, dtype=np.int32)[: n + 1], np.arange(n + 1, dtype=np.int32), diagonal
        )
        solver.run()
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise ArithmeticError(f"HiGHS ended with {solver.modelStatusToString(status)!r}")
        q = np.maximum(np.asarray(solver.getSolution().col_value)[:n], 0.0)
        value = worth(q, U, p, eta)
        if last - value < 1e-7:
            break
        last = value
    return q


def by_cones(U: Array, p: Array, kappa: float, eta: float) -> Array:
    """One exponential cone a row, by Clarabel."""
    import clarabel  # type: ignore[import-not-found]
    from scipy import sparse

    t, n = U.shape
    cost = np.concatenate([np.zeros(n), p / eta, [1.0]])  # q, s >= q ln q, beta
    one, zero = sparse.identity(n), sparse.csr_matrix((n, n))
    none = sparse.csr_matrix((n, 1))
    rows = [
        sparse.hstack([sparse.csr_matrix(p), sparse.csr_matrix((1, n + 1))]),  # sum p q = 1
        sparse.hstack([one, zero, none]),  # q <= kappa
        sparse.hstack([sparse.csr_matrix(U * p), sparse.csr_matrix((t, n)), -np.ones((t, 1))]),  # edges <= beta
    ]
    cones = sparse.lil_matrix((3 * n, 2 * n + 1))  # (-s, q, 1): 1 >= q exp(-s / q)
    for i in range(n):
        cones[3 * i, n + i] = 1.0
        cones[3 * i + 1, i] = -1.0
    A = sparse.vstack([*rows, cones]).tocsc()
    b = np.concatenate([[1.0], np.full(n, kappa), np.zeros(t), np.tile([0.0, 0.0, 1.0], n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    kinds = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n + t), *[clarabel.ExponentialConeT()] * n]
    P = sparse.csc_matrix((2 * n + 1, 2 * n + 1))
    return np.asarray(clarabel.DefaultSolver(P, cost, A, b, kinds, settings).solve().x)[:n]


METHODS = {
    "Newton in the voters' weights": by_newton,
    "SLSQP in the voters' weights": by_slsqp,
    "quadratic steps (HiGHS)": by_quadratic_steps,
    "exponential cones (Clarabel)": by_cones,
}


def grid(args: argparse.Namespace) -> None:
    """Weigh one set of voters for a grid of values."""
    grids: dict[Any, Array] = {
        RLPBoostClassifier: np.linspace(0.5, 0.05, 20),
        RQPBoostClassifier: np.logspace(-2, 3, 20),
    }
    for name in args.tables:
        X, y = TABLES[name].make(small=False)
        for make, values in grids.items():
            start = time.process_time()
            models = make(n_estimators=100, n_jobs=1).fit(X, y).path(X, y, values)
            together = time.process_time() - start
            start = time.process_time()
            parameter = models[0]._parameter
            apart = [make(n_estimators=100, n_jobs=1, **{parameter: v}).fit(X, y) for v in values.tolist()]
            one_by_one = time.process_time() - start
            pairs = [(a.history_["program"][-1], b.history_["program"][-1]) for a, b in zip(models, apart, strict=True)]
            assert all(abs(a - b) <= 1e-6 * (1 + abs(b)) for a, b in pairs)
            label = make.__name__.removesuffix("Classifier")
            print(f"{name:12}{label:10} 20 values: path {together:7.2f} s, fits {one_by_one:7.2f} s", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fits", "solves", "entropic", "grid"])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--nu", nargs="+", type=float, default=[0.1, 0.3])
    parser.add_argument("--rounds", type=int, default=None, help="1000 for fits, else 300")
    parser.add_argument("--rows", type=int, default=None)
    args = parser.parse_args()
    args.rounds = args.rounds or (1000 if args.what == "fits" else 300)
    warnings.simplefilter("ignore")
    try:
        with threadpool_limits(1):
            {"fits": fits, "solves": solves, "entropic": entropic, "grid": grid}[args.what](args)
    except Missing as missing:
        sys.exit(str(missing))


if __name__ == "__main__":
    main()
