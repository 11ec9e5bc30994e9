"""What the reports of the VadaBoost paper and the EBBoost slides share: tables of errors, who wins, who really does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.statistics import mark_best, paired_t_test, wilcoxon
from boostlab.studies.statistics.attainable import power
from boostlab.studies.study import Results
from boostlab.studies.tables import Spread, mean_and_error

Array = npt.NDArray[Any]
Row = dict[str, Any]

LEVEL = 0.01  # of the papers' t-test
RATIO = 0.5  # test rows by training rows, for the corrected test

MARKS = (
    "Test errors in percent, mean ± standard error over {repeats}. Bold: the smallest mean of a row, and those not "
    "significantly different from it (paired t-test, 1 percent)."
)


@dataclass(frozen=True)
class PairedErrors:
    """Errors in percent on the same splits.

    Parameters
    ----------
    problems : list of str
        The data sets.
    of : mapping from str to array of shape (n_problems, n_repeats)
        One array a method; NaN where there is no result.
    """

    problems: list[str]
    of: Mapping[str, Array]

    @classmethod
    def read(cls, results: Results, block: str, value: str = "test_error") -> PairedErrors:
        """Take one of the numbers of a block's cells."""
        problems, methods, values = results.matrix(block, value)
        return cls(problems, {method: 100 * values[:, j] for j, method in enumerate(methods)})

    def rows(self, names: Iterable[str]) -> PairedErrors:
        """Return the errors on some of the data sets."""
        wanted = set(names)
        at = [i for i, name in enumerate(self.problems) if name in wanted]
        return PairedErrors([self.problems[i] for i in at], {m: values[at] for m, values in self.of.items()})

    def columns(self, methods: Sequence[str]) -> PairedErrors:
        """Return the errors of some of the methods, as far as they are there."""
        return PairedErrors(self.problems, {m: self.of[m] for m in methods if m in self.of})

    def joined(self, other: PairedErrors, names: Mapping[str, str]) -> PairedErrors:
        """Return these errors and some of another table on the same splits, by other names."""
        at = [other.problems.index(p) if p in other.problems else -1 for p in self.problems]
        more: dict[str, Array] = {}
        for name, here in names.items():
            if name in other.of:
                theirs = np.vstack([other.of[name], np.full((1, other.of[name].shape[1]), np.nan)])
                more[here] = theirs[at]
        return PairedErrors(self.problems, {**self.of, **more})

    def below(self, other: PairedErrors) -> PairedErrors:
        """Return these data sets and those of another table of the same methods."""
        size = max((a.shape[1] for e in (self, other) for a in e.of.values()), default=0)

        def wide(values: Array) -> Array:
            return np.pad(values, ((0, 0), (0, size - values.shape[1])), constant_values=np.nan)

        of = {m: np.vstack([wide(self.of[m]), wide(other.of[m])]) for m in self.of if m in other.of}
        return PairedErrors([*self.problems, *other.problems], of)

    def means(self, method: str) -> Array:
        """Return a method's mean on every data set."""
        known = (values[~np.isnan(values)] for values in self.of[method])
        return np.array([values.mean() if len(values) else np.nan for values in known])

    def on_common(self) -> PairedErrors:
        """Return the errors of the repeats that all methods have; a data set that has none is left out."""
        arrays = list(self.of.values())
        size = min((a.shape[1] for a in arrays), default=0)
        both = np.all([np.isfinite(a[:, :size]) for a in arrays], axis=0) if arrays else np.zeros((0, 0), bool)
        at = np.flatnonzero(both.any(axis=1))
        of = {m: np.where(both, a[:, :size], np.nan)[at] for m, a in self.of.items()}
        return PairedErrors([self.problems[i] for i in at], of)


def error_table(errors: PairedErrors) -> list[Row]:
    """Return a row a data set: mean ± standard error, bold the best and what is not significantly different from it.

    Who is best is asked of the repeats that all methods have.
    """
    common = errors.on_common()
    rows = []
    for i, problem in enumerate(errors.problems):
        bold = dict.fromkeys(errors.of, False)
        if problem in common.problems:
            k = common.problems.index(problem)
            marks = mark_best(np.stack([values[k] for values in common.of.values()], axis=1), level=LEVEL)
            bold = {m: bool(b) for m, b in zip(common.of, marks.marked, strict=True)}
        cells = {m: Spread(*mean_and_error(values[i]), 2, bold[m]) for m, values in errors.of.items()}
        rows.append({"data": problem, **cells})
    return rows


def row_minima(errors: PairedErrors) -> dict[str, int]:
    """Return on how many data sets every method has the smallest mean as it would be printed, ties included."""
    common = errors.on_common()
    means = np.array([np.round(common.means(m), 2) for m in common.of])
    if not means.size:
        return dict.fromkeys(errors.of, 0)
    lowest = means == means.min(axis=0)
    return {m: int(n) for m, n in zip(common.of, lowest.sum(axis=1), strict=True)}


def undecided(errors: PairedErrors) -> int:
    """Return on how many data sets the paired t-test does not tell the smallest mean from another method's."""
    common = errors.on_common()
    rows = zip(*common.of.values(), strict=True)
    return sum(int(mark_best(np.stack(row, axis=1), level=LEVEL).marked.sum()) > 1 for row in rows)


def repeats_of(errors: PairedErrors) -> str:
    """Return "10 repeats", or "2 to 10 repeats" where data sets or methods have different numbers."""
    counts = sorted({int(n) for values in errors.of.values() for n in np.isfinite(values).sum(axis=1) if n})
    text = " to ".join(str(n) for n in dict.fromkeys([counts[0], counts[-1]])) if counts else "0"
    return f"{text} repeat" if text == "1" else f"{text} repeats"


@dataclass(frozen=True)
class Contest:
    """Method a against method b over data sets.

    Attributes
    ----------
    better, worse, equal : int
        Data sets on which a's mean is lower, higher, the same.
    clearly_better, clearly_worse : int
        Those of them with p <= 1 percent in the paired t-test.
    truly_better, truly_worse : int
        The same by the corrected test.
    difference : float
        The mean of a - b over data sets, in percent points.
    p : float
        Wilcoxon's, over data sets.
    spread : float
        The standard deviation of a - b over data sets.
    """

    a: str
    b: str
    better: int
    worse: int
    equal: int
    clearly_better: int
    clearly_worse: int
    truly_better: int
    truly_worse: int
    difference: float
    p: float
    spread: float = float("nan")

    @classmethod
    def between(cls, errors: PairedErrors, a: str, b: str) -> Contest:
        """Compare two methods over the repeats that both have."""
        common = errors.columns((a, b)).on_common()
        gaps = common.means(a) - common.means(b)
        gaps = np.where(np.abs(gaps) < 1e-9, 0.0, gaps)
        plain, corrected = (_significant(common, a, b, ratio) for ratio in (None, RATIO))
        p = wilcoxon(common.means(a), common.means(b)).p if len(gaps) else float("nan")
        better, worse = int((gaps < 0).sum()), int((gaps > 0).sum())
        mean = float(gaps.mean()) if len(gaps) else float("nan")
        spread = float(gaps.std(ddof=1)) if len(gaps) > 1 else float("nan")
        return cls(a, b, better, worse, len(gaps) - better - worse, *plain, *corrected, mean, p, spread)

    def row(self) -> Row:
        """Return it as a row of a table."""
        return {
            "method": self.a,
            "against": self.b,
            "sets better": self.better,
            "worse": self.worse,
            "equal": self.equal,
            "mean difference": round(self.difference, 3),
            "p (Wilcoxon)": float(f"{self.p:.2g}"),
            "better by t-test": self.clearly_better,
            "worse by t-test": self.clearly_worse,
            "better, corrected": self.truly_better,
            "worse, corrected": self.truly_worse,
        }

    def __str__(self) -> str:
        return (
            f"Better on {self.better} sets and worse on {self.worse} (significantly by the "
            f"paired t-test at 1 percent on {self.clearly_better} and {self.clearly_worse}, by the corrected one on "
            f"{self.truly_better} and {self.truly_worse}); mean difference {self.difference:+.2f} points, Wilcoxon "
            f"p = {self.p:.2g}"
        )

    @property
    def n_sets(self) -> int:
        """Number of data sets."""
        return self.better + self.worse + self.equal

    def power(self, effect: float) -> float:
        """Return the chance that these sets and repeats show a mean difference of this size."""
        return power(effect, self.spread, self.n_sets)

    def wins(self, p: float | None = None) -> bool:
        """Return whether a is better over all data sets, by its own p or by one that is corrected."""
        return self.difference < 0 and (self.p if p is None else p) <= 0.05 and self.better > self.worse


def _significant(errors: PairedErrors, a: str, b: str, ratio: float | None) -> tuple[int, int]:
    """Return on how many data sets a is significantly better than b, and worse."""
    pairs = zip(errors.of[a], errors.of[b], strict=True)
    tests = [paired_t_test(x[~np.isnan(x)], y[~np.isnan(y)], test_ratio=ratio) for x, y in pairs]
    sure = [test.difference for test in tests if test.p <= LEVEL]
    return sum(d < 0 for d in sure), sum(d > 0 for d in sure)


def fixed_values(results: Results, block: str, method: str) -> tuple[list[float], PairedErrors]:
    """Return a method's grid, and the errors of every value of it without any choice, named by the value."""
    done = [one for one in results.rows(block) if one.method == method and one.outcome is not None]
    problems, _, values = results.matrix(block)
    grids = [one.outcome.numbers["grid"] for one in done if one.outcome is not None]
    grid = [float(v) for v in grids[0]["values"]] if grids else []
    of = {f"{v:g}": np.full((len(problems), values.shape[2]), np.nan) for v in grid}
    for one in done:
        assert one.outcome is not None
        numbers = one.outcome.numbers
        for value, wrong in zip(numbers["grid"]["values"], numbers["grid"]["test"], strict=True):
            of[f"{float(value):g}"][problems.index(one.problem), one.repeat] = 100 * wrong / numbers["sizes"][2]
    return grid, PairedErrors(problems, of)


def among_first(results: Results, block: str, method: str, n: int) -> PairedErrors:
    """Return a method's errors had it chosen among the first n values of its grid only."""
    problems, _, values = results.matrix(block)
    chosen = np.full((len(problems), values.shape[2]), np.nan)
    for one in results.rows(block):
        if one.method == method and one.outcome is not None:
            numbers = one.outcome.numbers
            at = int(np.argmin(numbers["grid"]["validation"][:n]))  # the first of equals
            chosen[problems.index(one.problem), one.repeat] = 100 * numbers["grid"]["test"][at] / numbers["sizes"][2]
    return PairedErrors(problems, {method: chosen})


def chosen_how_often(results: Results, block: str, method: str, name: str) -> dict[str, int]:
    """Return how often every value was chosen."""
    counts: dict[str, int] = {}
    for one in results.rows(block):
        if one.method == method and one.outcome is not None:
            value = f"{float(one.outcome.numbers['chosen'][name]):g}"
            counts[value] = counts.get(value, 0) + 1
    return counts


def counted(counts: Mapping[str, int], least: int = 0) -> str:
    """Return "EBBoost 10, RQP-Boost 6", the largest first."""
    shown = sorted(((n, m) for m, n in counts.items() if n >= least), key=lambda pair: -pair[0])
    return ", ".join(f"{m} {n}" for n, m in shown)
