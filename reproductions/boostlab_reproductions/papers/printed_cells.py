"""Printed errors beside ours: how far off a cell is, and which other reading of the paper explains it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.tables import Spread, mean_and_error
from boostlab_reproductions.papers.contests import PairedErrors, Row
from boostlab_reproductions.published import published

Array = npt.NDArray[Any]

FINEST = 0.05  # standard error behind a printed 0.0
FEW = 5  # repeats, below which their own spread says little
PRINTED_REPEATS = 50  # behind a printed standard error
NEAR = 2.0  # combined standard errors, within which a cell is as printed
OTHER_DATA = "not the paper's data"
MANY = 30  # cells off, which are then not told one by one


def printed(table: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Return a published table: (data set, method) -> (mean, spread)."""
    return {(str(r["dataset"]), str(r["algorithm"])): (float(r["mean"]), float(r["spread"])) for r in published(table)}


def printed_gain(table: str, method: str, base: str = "AdaBoost") -> float:
    """Return a method's mean printed error less that of another, over the data sets of a published table."""
    cells = printed(table)
    gaps = [mean - cells[data, base][0] for (data, name), (mean, _) in cells.items() if name == method]
    return float(np.mean(gaps)) if gaps else float("nan")


def published_minima(table: str) -> dict[str, int]:
    """Return in how many rows of a published table every method has the smallest value, ties included."""
    counts: dict[str, int] = {}
    for row in published(table):
        counts[str(row["algorithm"])] = counts.get(str(row["algorithm"]), 0) + int(row["is_row_minimum"])
    return counts


def beside_published(
    errors: PairedErrors,
    table: Mapping[tuple[str, str], tuple[float, float]],
    named: Callable[[str], str],
    renamed: Mapping[str, str],
    others: Mapping[str, PairedErrors] | None = None,
    draws: Mapping[tuple[str, str], float] | None = None,
    stand_ins: Container[str] = (),
) -> list[Row]:
    """Return a row a data set and method: ours, the published value, the difference, also in standard errors.

    A cell off by more than two is explained if another reading of the paper, which was run, too, is not.

    Fewer than five repeats have hardly any spread: the printed standard error then stands for theirs, made larger
    by the root of the ratio of the repeats.

    Parameters
    ----------
    errors : PairedErrors
        Ours.
    table : mapping
        As `printed` returns it.
    named : callable
        Gives a problem's name in the published table.
    renamed : mapping from str to str
        Our methods, and what they are called there.
    others : mapping from str to PairedErrors, optional
        Other readings by what is to be said of them.
    draws : mapping from (str, str) to float, optional
        Data set and method -> the standard deviation of its mean over draws of the data, where they are a small part of
        a larger set: ours and the paper's are two draws.
    stand_ins : container of str
        Data sets that are not the paper's.
    """
    rows: list[Row] = []
    for i, problem in enumerate(errors.problems):
        for method, theirs in renamed.items():
            value = table.get((named(problem), theirs))
            if value is None or method not in errors.of:
                continue
            drawn = (draws or {}).get((problem, method), 0.0)
            found = _off(errors.of[method][i], value, drawn)
            if found is None:
                continue
            mean, error, off = found
            reasons = [] if abs(off) <= NEAR else _explaining(others or {}, problem, method, value, named)
            if abs(off) > NEAR and problem in stand_ins:
                reasons = [OTHER_DATA]
            rows.append(
                {
                    "data": problem,
                    "method": method,
                    "ours": Spread(mean, float(np.hypot(error, drawn)), 2),
                    "published": Spread(*value, 2),
                    "difference": round(mean - value[0], 3),
                    "in standard errors": round(off, 1),
                    "explained by": "; ".join(reasons),
                }
            )
    return rows


def _off(values: Array, printed: tuple[float, float], drawn: float = 0.0) -> tuple[float, float, float] | None:
    """Return our mean, its standard error, and how many combined ones it is off the printed value."""
    mean, error = mean_and_error(values)
    if isnan(mean):
        return None
    theirs, repeats = max(printed[1], FINEST), int(np.isfinite(values).sum())
    own = error if repeats >= FEW else theirs * float(np.sqrt(PRINTED_REPEATS / repeats))
    return mean, error, (mean - printed[0]) / float(np.sqrt(own**2 + theirs**2 + 2 * drawn**2))


def _explaining(
    others: Mapping[str, PairedErrors],
    problem: str,
    method: str,
    value: tuple[float, float],
    named: Callable[[str], str],
) -> list[str]:
    """Return the other readings with which a cell is as printed: of the same data, or, which is then said, of others.

    Others are those that are printed by the same name.
    """
    told = []
    for label, errors in others.items():
        for i, name in enumerate(errors.problems):
            if method in errors.of and (name == problem or named(name) == named(problem)):
                found = _off(errors.of[method][i], value)
                if found is not None and abs(found[2]) <= NEAR:
                    told.append(label if name == problem or label.endswith(name.split()[0]) else f"{label}, {name}")
    return list(dict.fromkeys(told))


def far_off(rows: Iterable[Row], why: Callable[[str, str], str], limit: float = 3.0) -> list[str]:
    """Return a note on the cells far from the printed ones, data set by data set with the likely reason.

    Parameters
    ----------
    rows : iterable of dict
        As `beside_published` returns them.
    why : callable
        Gives the most likely reason for a data set and a method.
    limit : float
        In standard errors.
    """
    rows, found = list(rows), dict[tuple[str, str], list[str]]()
    for row in rows:
        if abs(row["in standard errors"]) > limit:
            told = row.get("explained by")
            reason = (
                f"as printed with {told}" if told and told != OTHER_DATA else told or why(row["data"], row["method"])
            )
            found.setdefault((row["data"], reason), []).append(f"{row['method']} {row['in standard errors']:+.1f}")
    if not rows:
        return []
    count = sum(map(len, found.values()))
    note = f"{count} of {len(rows)} cells are more than {limit:g} standard errors away from the printed ones"
    if count > MANY:
        reasons = dict.fromkeys(reason for _, reason in found)
        return [f"{note}. Most likely reasons: {'; '.join(reasons)}."]
    said = [f"{data}: {', '.join(cells)} ({reason})" for (data, reason), cells in found.items()]
    return [f"{note}, with the most likely reason: {'; '.join(said)}." if said else f"{note}."]
