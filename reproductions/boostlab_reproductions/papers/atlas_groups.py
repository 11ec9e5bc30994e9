"""Which booster for what: groups of sets, and who does best in each, at defaults and tuned.

The groups were registered before the run.  `rows` makes the table; it is written beside the study's page as CSV, and
the advice of `boostlab compare` and the documentation read that file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.statistics import average_ranks, hodges_lehmann, wilcoxon
from boostlab.studies.study import Results
from boostlab_reproductions.papers.atlas_contenders import OWN, contender_of, is_tuned

Array = npt.NDArray[Any]
Facts = Mapping[str, float]

TABLE = "which booster for what"
FEWEST = 6  # sets of a group that recommends
FEW_ROWS = 500  # that train
HALF = 0.5  # of an equal share: a smallest class below it is imbalanced
LEVEL, ROPE = 0.05, 0.5  # of a test, and percent points that are practically none
SHOWN = 4  # of those that are as good
WHOLE = 0.9  # of the sets: a method with fewer is not ranked


@dataclass(frozen=True)
class Group:
    """Sets of one kind: a block, and a condition on what is known of a set."""

    name: str
    block: str
    classes: str  # "two" or "several"
    holds: Callable[[Facts], bool] = lambda facts: True
    rows: str = ""
    balance: str = ""
    noise: int = 0
    value: str = "test_error"


def groups(two: str, several: str, noise: str, sizes: Sequence[int]) -> Iterator[Group]:
    """Yield the registered groups, given the names of the blocks."""
    for block, classes in ((two, "two"), (several, "several")):
        yield Group(block, block, classes)
        yield Group(f"{block}, few rows", block, classes, _is_small, rows="few")
        yield Group(f"{block}, more rows", block, classes, lambda facts: not _is_small(facts), rows="more")
        yield Group(f"{block}, imbalanced", block, classes, _is_imbalanced, balance="imbalanced", value="auc")
        yield Group(f"{block}, balanced", block, classes, lambda f: not _is_imbalanced(f), balance="balanced")
        yield Group(f"{block}, with categories", block, classes, lambda facts: facts["categorical"] > 0)
        yield Group(f"{block}{noise}", f"{block}{noise}", classes, noise=20)
    for size in sizes:
        yield Group(f"two classes, {size:,} rows", f"{size:,} rows", "two", rows=str(size))


def _is_small(facts: Facts) -> bool:
    return facts["n_train"] < FEW_ROWS


def _is_imbalanced(facts: Facts) -> bool:
    return facts["smallest_class"] < HALF


def facts_of(results: Results, block: str) -> dict[str, dict[str, float]]:
    """Return what the cells of a block say of its sets."""
    names = ("rows", "n_train", "columns", "categorical", "classes", "smallest_class")
    return {one.problem: {n: one.number(n) for n in names} for one in results.rows(block) if one.outcome}


def means(results: Results, block: str, value: str = "test_error") -> tuple[list[str], list[str], Array]:
    """Return sets, methods, and the mean over the repeats; NaN where a method has none."""
    if block not in results.blocks or not results.rows(block):
        return [], [], np.empty((0, 0))
    problems, methods, values = results.matrix(block, value)
    seen = ~np.isnan(values)
    counts = seen.sum(axis=2)
    table = np.where(counts > 0, np.where(seen, values, 0.0).sum(axis=2) / np.maximum(counts, 1), np.nan)
    return problems, methods, table


def ranked(problems: Sequence[str], methods: Sequence[str], table: Array) -> tuple[list[str], list[str], Array]:
    """Return what can be ranked: methods with nearly all sets, and the sets that all of these have."""
    if not table.size:
        return [], [], table
    has = ~np.isnan(table)
    most = has.sum(axis=0).max()
    columns = [j for j, count in enumerate(has.sum(axis=0)) if count and count >= WHOLE * most]
    lines = [i for i, line in enumerate(has) if columns and line[columns].all()]
    return [problems[i] for i in lines], [methods[j] for j in columns], table[np.ix_(lines, columns)]


def rows(results: Results, all_groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return the table: for every group two lines, untuned and tuned."""
    found = []
    for group in all_groups:
        facts = facts_of(results, group.block)
        problems, methods, table = means(results, group.block, group.value)
        kept = [i for i, name in enumerate(problems) if name in facts and group.holds(facts[name])]
        if not kept:
            continue
        sets = [problems[i] for i in kept]
        for tuned in (False, True):
            columns = [j for j, name in enumerate(methods) if is_tuned(name) == tuned]
            part = ranked(sets, [methods[j] for j in columns], table[np.ix_(kept, columns)])
            if line := _line(results, group, tuned, *part):
                found.append(line)
    return found


def _line(
    results: Results, group: Group, tuned: bool, problems: list[str], methods: list[str], table: Array
) -> dict[str, Any]:
    """Return who does best in a group; nothing where there are too few sets or no booster of ours."""
    ours = [m for m in methods if contender_of(m) in OWN]
    peers = [m for m in methods if m not in ours]
    if len(problems) < FEWEST or not ours:
        return {}
    better_is_more = group.value == "auc"
    costs = 100 * (1 - table if better_is_more else table)
    at = {m: costs[:, j] for j, m in enumerate(methods)}
    ranks = dict(zip(methods, average_ranks(costs), strict=True))
    first = min(ours, key=ranks.__getitem__)
    close = [m for m in sorted(ours, key=ranks.__getitem__) if m != first and _as_good(at[m], at[first])]
    seconds = _seconds(results, group.block, problems)
    says = {
        "situation": group.name,
        "classes": group.classes,
        "rows": group.rows,
        "balance": group.balance,
        "noise, %": group.noise,
        "sets": len(problems),
        "tuning": "tuned" if tuned else "untuned",
        "ranked by": "AUC" if better_is_more else "error",
        "take": first,
        "mean, %": round(float(table[:, methods.index(first)].mean()) * 100, 2),
        "mean rank": round(ranks[first], 2),
        "of": len(methods),
        "seconds": _short(seconds.get(first)),
        "as good": "; ".join([*close[:SHOWN], *([f"{len(close) - SHOWN} more"] if len(close) > SHOWN else [])]),
    }
    if peers:
        best = min(peers, key=ranks.__getitem__)
        shift = hodges_lehmann(at[best], at[first], n_resamples=500)
        says |= {
            "best peer": best,
            "its mean, %": round(float(table[:, methods.index(best)].mean()) * 100, 2),
            "its rank": round(ranks[best], 2),
            "its seconds": _short(seconds.get(best)),
            "difference, points": round(-shift.estimate if better_is_more else shift.estimate, 2),
            "p": float(f"{wilcoxon(at[best], at[first]).p:.2g}"),
            "held out, points": round(_held_out(costs, methods, ours, peers) * (-1 if better_is_more else 1), 2),
        }
    return says


def _held_out(costs: Array, methods: Sequence[str], ours: Sequence[str], peers: Sequence[str]) -> float:
    """Return the mean difference, peer less ours, where both are chosen by the other sets.

    The best of many is too good on the sets that chose it, and there are more of ours than peers.
    """
    both = [[methods.index(m) for m in group] for group in (peers, ours)]
    gaps = []
    for i in range(len(costs)):
        others = average_ranks(np.delete(costs, i, axis=0))
        peer, own = (min(group, key=lambda j: others[j]) for group in both)
        gaps.append(costs[i, peer] - costs[i, own])
    return float(np.mean(gaps))


def _as_good(a: Array, b: Array) -> bool:
    """Whether errors are neither significantly larger nor typically so by what matters."""
    return wilcoxon(a, b).p > LEVEL and hodges_lehmann(a, b, n_resamples=2).estimate < ROPE


def _seconds(results: Results, block: str, problems: Sequence[str]) -> dict[str, float]:
    """Return the median seconds of a fit over the sets."""
    names, methods, table = means(results, block, "fit_seconds")
    lines = [i for i, name in enumerate(names) if name in set(problems)]
    return {
        m: float(np.nanmedian(table[lines, j])) for j, m in enumerate(methods) if (~np.isnan(table[lines, j])).any()
    }


def _short(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds:.2g}")
