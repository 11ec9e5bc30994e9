"""Stumps and trees as rules that a person reads: "age > 37.5 → +1"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MOST_NAMES = 6  # categories that a rule lists


@dataclass(frozen=True)
class Names:
    """What to call columns, categories and classes.

    Parameters
    ----------
    columns : sequence of str, optional
        The features' names; by default x0, x1, ...
    categories : sequence, optional
        For every feature its categories in order, or None where it is a number.
    classes : sequence, optional
        The labels, where a vote is the number of a class.
    """

    columns: Sequence[Any] | None = None
    categories: Sequence[Sequence[Any] | None] | None = None
    classes: Sequence[Any] | None = None

    def column(self, j: int) -> str:
        """Return the name of a feature."""
        return f"x{j}" if self.columns is None else str(self.columns[j])

    def vote(self, vote: Any) -> str:
        """Return a vote: +1 and -1, another number, one a class, or the class that it names."""
        if np.ndim(vote):
            return f"({', '.join(map(self.vote, vote))})"
        if isinstance(vote, int | np.integer):
            return f"class {vote}" if self.classes is None else str(self.classes[int(vote)])
        return f"{float(vote):+.4g}"

    def above(self, j: int, threshold: float) -> str:
        """Return the test that a number is above a threshold."""
        return f"{self.column(j)} > {_number(threshold)}"

    def below(self, j: int, threshold: float) -> str:
        """Return the test that a number is not above a threshold."""
        return f"{self.column(j)} ≤ {_number(threshold)}"

    def among(self, j: int, codes: Sequence[int], missing: bool = False) -> str:
        """Return the test that a category is one of some."""
        known = None if self.categories is None else self.categories[j]
        names = [str(c if known is None else known[c]) for c in codes]
        if missing:
            names.append("missing")
        if len(names) == 1:
            return f"{self.column(j)} is {names[0]}"
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return f"{self.column(j)} in {{{', '.join(names[:MOST_NAMES])}{more}}}"


def threshold_rule(names: Names, j: int, threshold: float, left: Any, right: Any, missing: Any) -> str:
    """Return a stump on a number as a rule, by whose test missing values fall under "else"."""
    if not np.isfinite(threshold):  # parts missing values from all others
        absent = right if missing is None else missing
        return f"{names.column(j)} is missing → {names.vote(absent)}, else {names.vote(left)}"
    if missing is None or np.array_equal(missing, left):
        return f"{names.above(j, threshold)} → {names.vote(right)}, else {names.vote(left)}"
    return f"{names.below(j, threshold)} → {names.vote(left)}, else {names.vote(right)}"


def category_rule(names: Names, j: int, leaves: Array) -> str:
    """Return a stump on categories as a rule: the fewest categories are named."""
    distinct, group = np.unique(leaves, axis=0, return_inverse=True)
    group = np.ravel(group)
    sides = [np.flatnonzero(group[:-1] == g).tolist() for g in range(len(distinct))]
    order = sorted(range(len(distinct)), key=lambda g: (not sides[g], len(sides[g])))
    said = [
        f"{names.among(j, sides[g], bool(group[-1] == g))} → {names.vote(distinct[g])}"
        for g in order[: max(len(order) - 1, 1)]
    ]
    last = f"else {names.vote(distinct[order[-1]])}" if len(order) > 1 else ""
    return ", ".join(filter(None, [*said, last]))


def leaf_rules(names: Names, tree: Any) -> list[str]:
    """Return a tree as one rule a leaf, from left to right; missing values go right unless a test says otherwise."""
    lines: list[str] = []

    def walk(node: int, tests: list[str]) -> None:
        j = int(tree.feature[node])
        if j < 0:
            lines.append(f"{' and '.join(tests) or 'always'} → {names.vote(tree.values[node])}")
            return
        mine = tree.lows[tree.starts[node] : tree.starts[node + 1]]
        if len(mine):
            sides = names.among(j, np.flatnonzero(mine).tolist()), names.among(j, np.flatnonzero(~mine).tolist())
        else:
            at = float(tree.threshold[node])
            sides = names.below(j, at), names.above(j, at)
        low = f"({sides[0]} or missing)" if tree.missing_low[node] else sides[0]
        for child, test in zip(tree.children[node], (low, sides[1]), strict=True):
            walk(int(child), [*tests, test])

    walk(0, [])
    return lines


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:,.6g}"
