"""QuadBoost's experiment: its algorithms with their grids, and the test risks that come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.plan import Block, Method
from boostlab.studies.statistics import hodges_lehmann
from boostlab.studies.study import Results
from boostlab_reproductions.problems.quadboost import QUADBOOST, QUADBOOST_DEFAULTS
from boostlab_reproductions.protocols.quadboost import PoolProtocol
from boostlab_reproductions.published import published

Array = npt.NDArray[Any]

CONTROL = "AdaBoost, T from 1"
PLAIN, L1, L2, LINF = "QuadBoost", "QuadBoost-L1", "QuadBoost-L2", "QuadBoost-Linf"
PAPERS = (L1, L2, LINF, PLAIN, "LPBoost", "AdaBoost")  # in the order of its first table


def grid(first: float, last: float) -> list[float]:
    """Return the paper's ten values, evenly spaced on a logarithmic scale."""
    return [float(f"{x:.6g}") for x in np.logspace(first, last, 10)]


def rounds(first: int, last: int) -> list[int]:
    """Return the same as whole numbers."""
    return [int(x) for x in np.unique(np.rint(np.logspace(first, last, 10)))]


def _quad(name: str, regularizer: str | None, grid: dict[str, list[Any]], **params: Any) -> Method:
    fixed = {"regularizer": regularizer, **params} if regularizer else {}
    return Method(name, "QuadBoostClassifier", fixed, grid, how="quadratic")


METHODS = (
    _quad(L1, "l1", {"strength": grid(-4, 0)[::-1]}, n_estimators=100_000),
    _quad(L2, "l2", {"n_estimators": rounds(1, 5), "strength": grid(0, 3)[::-1]}),
    _quad(LINF, "linf", {"n_estimators": rounds(0, 5), "strength": grid(-4, -1)}),
    _quad(PLAIN, None, {"n_estimators": rounds(0, 3)}),
    Method("LPBoost", "LPBoostClassifier", {"n_estimators": 2000}, {"C": grid(-3, 3)}, how="program"),
    Method("AdaBoost", "AdaBoostClassifier", {}, {"n_estimators": rounds(2, 6)}, how="exponential"),
    Method(CONTROL, "AdaBoostClassifier", {}, {"n_estimators": rounds(0, 3)}, how="exponential"),
)
PROTOCOL = PoolProtocol()
QUICK_ROUNDS = rounds(2, 6)[:7]  # up to 46,416: the three beyond are hardly ever chosen and take nearly all the time
_FEWER = tuple(replace(m, grid={"n_estimators": QUICK_ROUNDS}) if m.name == "AdaBoost" else m for m in METHODS)
BLOCKS = (
    Block("splits", QUADBOOST, METHODS, PROTOCOL, {"quick": 0, "full": 10}),
    Block("splits, quick", QUADBOOST, _FEWER, PROTOCOL, {"quick": 5, "full": 0}),
)
DEFAULTS = Block("default readings", QUADBOOST_DEFAULTS, METHODS, PROTOCOL, {"quick": 0, "full": 10})


def block_of(results: Results) -> str:
    """Return the name of the block that was asked for."""
    return next((block.name for block in BLOCKS if results.rows(block.name)), BLOCKS[0].name)


@dataclass(frozen=True)
class Risks:
    """Test risks of all problems, methods and splits, and the number of test rows."""

    problems: list[str]
    methods: list[str]
    values: Array
    n_test: Array

    @classmethod
    def of(cls, results: Results, block: str = "") -> Risks:
        """Read them off the finished cells, of the block that was asked for or of another."""
        block = block or block_of(results)
        problems, methods, values = results.matrix(block)
        n_test = np.full(len(problems), np.nan)
        if values.size:
            n_test = np.nanmax(results.matrix(block, "n_test")[2].reshape(len(problems), -1), axis=1, initial=0)
        return cls(problems, methods, values, n_test)

    def column(self, method: str, split: int | None = None) -> Array:
        """Return a method's risks on one split, or their mean over the splits that are there."""
        block = self.values[:, self.methods.index(method)]
        if split is not None:
            return block[:, split] if block.shape[1] > split else np.full(len(block), np.nan)
        return mean(block)


def mean(values: Array) -> Array:
    """Return the mean over the last axis of what is there; NaN where nothing is."""
    count = np.isfinite(values).sum(axis=-1)
    return np.where(count > 0, np.nansum(values, axis=-1) / np.maximum(count, 1), np.nan)


def printed() -> dict[tuple[str, str], float]:
    """Return the paper's risks by problem and algorithm."""
    return {(row["dataset"], row["algorithm"]): float(row["test_risk"]) for row in published("quadboost_table1")}


def wins(a: Array, b: Array) -> tuple[int, int, int]:
    """Return on how many problems a is lower, equal and higher, of those where both are known."""
    d = np.round(a - b, 9)[np.isfinite(a) & np.isfinite(b)]
    return int((d < 0).sum()), int((d == 0).sum()), int((d > 0).sum())


def score(counts: Sequence[int]) -> str:
    """Return wins, ties and losses in words."""
    named = zip(counts, ("win", "tie", "loss"), ("wins", "ties", "losses"), strict=True)
    return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in named)


def pair_differences(results: Results, risks: Risks, a: str, b: str) -> list[dict[str, Any]]:
    """Return how far the mean risks of two algorithms lie apart, and how many voters each has."""
    ours, theirs = 100 * risks.column(a), 100 * risks.column(b)
    both = np.isfinite(ours) & np.isfinite(theirs)
    if both.sum() < 2:
        return []
    shift = hodges_lehmann(ours[both], theirs[both])
    found: dict[str, list[float]] = {a: [], b: []}
    for one in results.rows(block_of(results)):
        if one.method in found and one.outcome is not None and "voters" in one.outcome.numbers:
            found[one.method].append(float(one.outcome.numbers["voters"]))
    voters = [round(float(np.mean(n)), 1) if n else None for n in found.values()]
    return [
        {
            "pair": f"{a} : {b}",
            "data sets": int(both.sum()),
            "difference, points": round(shift.estimate, 2),
            "95 % from": round(shift.low, 2),
            "to": round(shift.high, 2),
            "mean difference": round(float(np.mean(ours[both] - theirs[both])), 2),
            "voters of the first": voters[0],
            "of the second": voters[1],
        }
    ]
