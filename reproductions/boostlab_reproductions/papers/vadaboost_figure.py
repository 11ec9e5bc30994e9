"""Figure 2 of the VadaBoost paper: costs against rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.plan import Block, Method
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab_reproductions.problems import VADABOOST
from boostlab_reproductions.protocols.costs import CostCurves

Array = npt.NDArray[Any]

ADABOOST = "AdaBoost (squared)"
AT_ZERO, AT_HALF, EXACT = "VadaBoost, λ = 0", "VadaBoost, λ = 0.5", "EBBoost, λ = 0.5"
METHODS = (
    Method(ADABOOST, "AdaBoostClassifier"),
    Method(AT_ZERO, "VadaBoostClassifier", {"variance_penalty": 0.0}),
    Method(AT_HALF, "VadaBoostClassifier", {"variance_penalty": 0.5}),
    Method(EXACT, "EBBoostClassifier", {"variance_penalty": 0.5}),
)


def figure2() -> Study:
    """Return the study."""
    return Study(
        "vadaboost-figure2",
        "The cost that is paid for the bound",
        "Shivaswamy & Jebara, Variance Penalizing AdaBoost, NIPS 2011, Figure 2",
        (
            Block(
                "costs",
                tuple(problem for problem in VADABOOST if problem.name == "mnist38"),
                METHODS,
                CostCurves(rounds=1000),
                {"quick": 5, "full": 5},
            ),
        ),
        (
            "MNIST 3 against 8, stumps, half of 5,000 examples to train on, 1,000 rounds; the paper does not say.",
            "The cost is (3), whose value at the start is n²; 1 + cost is drawn as in the paper, and the cost / n².",
            "The picture shows the first repeat; claims are judged over all of them.",
        ),
        report,
        reads={"log_cost": None},
    )


def curves(results: Results) -> dict[str, list[Array]]:
    """Return the costs after rounds 0, 1, ..., divided by n^2, of all repeats."""
    found: dict[str, list[Array]] = {}
    for one in results.rows("costs"):
        if one.outcome is not None:
            found.setdefault(one.method, []).append(one.outcome.arrays["log_cost"].astype(np.float64))
    return {method.name: found[method.name] for method in METHODS if method.name in found}


def report(results: Results) -> Report:
    """Draw the figure, and say how many more rounds the bound costs."""
    logs = curves(results)
    n = next((one.outcome.numbers["n"] for one in results.rows("costs") if one.outcome is not None), 1)
    places = (1, 10, 50, 100, 200, 300, 500, 1000)
    costs = [
        {"method": method, **{f"round {t}": float(f"{np.exp(c[0][t]):.4g}") for t in places if t < len(c[0])}}
        for method, c in logs.items()
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        for method, c in logs.items():
            axes[0].plot(np.exp(np.logaddexp(0.0, c[0] + 2 * np.log(n))), label=method)
            axes[1].plot(np.exp(c[0]), label=method)
        for axis, title in zip(axes, ("1 + cost", "cost / n²"), strict=True):
            axis.set(yscale="log", xlabel="round", title=title)
        axes[0].legend()

    return Report({"costs": costs, "rounds": _rounds(logs)}, {"costs": draw}, _claims(logs), [])


def _needed(cost: Array, level: float) -> float:
    """Return the first round with a cost of at most this; NaN if there is none."""
    reached = np.flatnonzero(cost <= level + 1e-9)
    return float(reached[0]) if len(reached) else float("nan")


def _factors(logs: dict[str, list[Array]], slow: str, fast: str) -> dict[int, float]:
    """Return how many times the rounds of one method the other needs for the cost after 50, 100, ... of them."""
    factors = {}
    for t in (50, 100, 150, 200, 250, 300):
        pairs = zip(logs.get(slow, []), logs.get(fast, []), strict=False)
        needed = [_needed(s, f[t]) / t for s, f in pairs if t < len(f)]
        if needed:
            factors[t] = float(np.mean(needed))
    return factors


def _rounds(logs: dict[str, list[Array]]) -> list[dict[str, Any]]:
    rows = []
    for slow, fast in ((AT_ZERO, ADABOOST), (AT_HALF, EXACT)):
        for t, factor in _factors(logs, slow, fast).items():
            rows.append(
                {"method": slow, "against": fast, "its rounds": t, "times as many for its cost": round(factor, 3)}
            )
    return rows


def _claims(logs: dict[str, list[Array]]) -> list[Claim]:
    factors = _factors(logs, AT_ZERO, ADABOOST)
    if not factors:
        return [Claim("VadaBoost with λ = 0 needs at most twice AdaBoost's rounds", "cannot be judged", "No cells.")]
    known = [f for f in factors.values() if not np.isnan(f)]
    said = ", ".join(f"{f:.2f} at round {t}" for t, f in factors.items() if not np.isnan(f))
    exact = _factors(logs, AT_HALF, EXACT)
    told = ", ".join(f"{f:.2f} at round {t}" for t, f in exact.items())
    falls = all((np.diff(c) <= 1e-9).all() for cs in logs.values() for c in cs)
    return [
        Claim(
            "VadaBoost with λ = 0 needs roughly twice the rounds of AdaBoost for its squared cost",
            "holds" if known and max(known) <= 2.5 else "partly" if known and min(known) <= 2.5 else "does not hold",
            f"Times AdaBoost's rounds: {said}. Theorem 5 (at most twice) supposes voters of one fixed error; here "
            "AdaBoost's larger steps keep its voters' errors lower.",
        ),
        Claim(
            "With λ = 0.5 there is only a minor difference between the rounds that VadaBoost and EBBoost need",
            "holds" if exact and max(exact.values()) <= 1.4 else "partly" if exact else "cannot be judged",
            f"Times EBBoost's rounds: {told}.",
        ),
        Claim(
            "Every algorithm's own cost falls in every round", "holds" if falls else "does not hold", "All rounds seen."
        ),
    ]
