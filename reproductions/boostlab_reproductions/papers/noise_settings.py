"""Settings of the noise study: errors of all methods on all sets, and the tests over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.statistics import Friedman, friedman, holm, sign_test, wilcoxon
from boostlab.studies.study import Results
from boostlab.studies.tables import mean_and_error

Array = npt.NDArray[Any]

PLAIN, CONTROL, JITTER = "AdaBoost", "AdaBoost, rate chosen", "AdaBoost, best of 6"
CONVEX = ("AdaBoost", CONTROL, "Real AdaBoost", "LogitBoost", "GentleBoost", "L2Boost", "MadaBoost", "FilterBoost")
GIVES_UP = ("Boost by majority", "BrownBoost", "RobustBoost", "RobustBoost, smooth")


@dataclass(frozen=True, eq=False)
class NoiseSetting:
    """One learner, kind and level of noise: the mean error of every method on every set."""

    where: str
    kind: str
    percent: int
    block: str
    problems: list[str]
    methods: list[str]
    errors: Array  # (sets, methods), NaN where there is none
    repeats: Array  # (sets, methods, repeats)

    @property
    def name(self) -> str:
        return f"{self.where}, {self.kind}, {self.percent} %"

    def of(self, method: str) -> Array:
        """Return a method's errors on the sets."""
        if method not in self.methods:
            return np.full(len(self.problems), np.nan)
        return np.asarray(self.errors[:, self.methods.index(method)])

    def whole(self) -> tuple[list[str], Array]:
        """Return the methods with a result on every set, and their errors."""
        kept = [j for j in range(len(self.methods)) if not np.isnan(self.errors[:, j]).any()]
        return [self.methods[j] for j in kept], self.errors[:, kept]


def settings_of(results: Results) -> list[NoiseSetting]:
    """Return the settings with results, in the study's order."""
    found: dict[str, NoiseSetting] = {}
    for block in results.blocks:
        if not results.rows(block):
            continue
        where, kind, level = block.split(", ")
        problems, methods, values = results.matrix(block)
        errors = np.array([[mean_and_error(cell)[0] for cell in row] for row in values])
        found[block] = NoiseSetting(where, kind, int(level.split()[0]), block, problems, methods, errors, values)
    return list(found.values())


def friedman_of(s: NoiseSetting) -> Friedman | None:
    """Return Friedman's test over the methods with a result on every set, if there are enough."""
    methods, errors = s.whole()
    return friedman(errors) if len(methods) > 1 and len(errors) > 1 else None


def against_control(methods: list[str], errors: Array) -> dict[str, tuple[int, int, float, float]]:
    """Return wins, losses, Wilcoxon's p and Holm's of every method against the control, over the sets."""
    if CONTROL not in methods:
        return {}
    control = errors[:, methods.index(CONTROL)]
    others = [m for m in methods if m != CONTROL]
    columns = [errors[:, methods.index(m)] for m in others]
    p = [wilcoxon(column, control).p for column in columns]
    signs = [sign_test(column, control) for column in columns]
    return {
        m: (sign.wins, sign.losses, raw, float(corrected))
        for m, sign, raw, corrected in zip(others, signs, p, holm(p), strict=True)
    }


def pooled(settings: list[NoiseSetting]) -> tuple[list[str], Array]:
    """Return the methods that are complete in all settings, and their errors on the sets, averaged over settings."""
    if not settings:
        return [], np.zeros((0, 0))
    methods = [m for m in settings[0].methods if all(m in s.whole()[0] for s in settings)]
    common = [p for p in settings[0].problems if all(p in s.problems for s in settings)]
    if not methods:
        return [], np.zeros((0, 0))
    rows = [np.stack([s.of(m)[[s.problems.index(p) for p in common]] for m in methods], axis=1) for s in settings]
    return methods, np.mean(rows, axis=0) if methods else np.zeros((len(common), 0))
