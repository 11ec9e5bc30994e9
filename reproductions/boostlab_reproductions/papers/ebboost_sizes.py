"""How many training rows the EBBoost slides had: sizes that AdaBoost's printed errors fit, and what others do there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boostlab.studies.study import Results
from boostlab.studies.tables import Spread, mean_and_error
from boostlab_reproductions.papers.contests import PairedErrors
from boostlab_reproductions.papers.printed_cells import FINEST, NEAR, beside_published
from boostlab_reproductions.papers.vadaboost_methods import NAMES, PROBLEMS

COLUMNS = ("AdaBoost", "EBBoost", "RLP-Boost", "RQP-Boost", "ABR")
SIZES = (200, 300, 400, 500, 600, 800, 1000, 1300)  # training rows that are tried
USUAL = 600  # training rows that fit AdaBoost's printed errors on most sets
OTHERS = {"a5a": 300, "ringnorm": 200, "image": 1000}  # where they do not
DIGITS = 1000
SMALL = "ringnorm (400)"
ALSO = {  # other sizes by which AdaBoost errs as printed, of sets on which another method does not
    "a5a": (200, 400),
    "musk": (800,),
    "mnist09": (800, 1300),
    "mnist38": (800,),
    "mnist56": (800,),
    "splice": (500,),
    "twonorm": (800,),
    "wisc": (200,),
}


def rows_of(problem: str) -> int:
    """Return how many training rows a data set is given: those by which AdaBoost errs as printed."""
    return DIGITS if problem.startswith("mnist") else OTHERS.get(problem, USUAL)


def listed(sizes: Sequence[int]) -> str:
    """Return sizes in words."""
    return " and ".join(map(str, sizes))


def slide_name(problem: str) -> str:
    """Return what the slides call a data set."""
    name = NAMES[problem]
    return {"musk": "musklarge"}.get(name, name.replace("mnist", "nist"))


def other_sizes(results: Results, errors: PairedErrors) -> dict[str, PairedErrors]:
    """Return the errors with other sizes that were run."""
    sizes = {}
    for n in SIZES:
        found = PairedErrors.read(results, f"AdaBoost, {n} rows")
        if f"others, {n} rows" in results.blocks:
            others = PairedErrors.read(results, f"others, {n} rows")
            found = found.joined(others, {m: m for m in others.of})
        sizes[f"{n} training rows"] = found
    return {"400 examples of ringnorm": errors.rows([SMALL]), **sizes}


def that_fit_more(
    readings: Mapping[str, PairedErrors], errors: PairedErrors, theirs: Mapping[tuple[str, str], tuple[float, float]]
) -> dict[str, PairedErrors]:
    """Return other readings on the data sets where more methods err as printed with them than with ours.

    A reading that explains one cell and spoils another of the same row explains nothing.
    """

    def near(found: PairedErrors, problem: str, methods: Sequence[str]) -> int:
        cells = beside_published(found.rows([problem]), theirs, slide_name, {m: m for m in methods})
        return sum(abs(cell["in standard errors"]) <= NEAR for cell in cells)

    kept = {}
    for label, found in readings.items():
        fits = []
        for problem in found.problems:
            own = "ringnorm" if problem == SMALL else problem
            there = [m for m in COLUMNS if m in found.of and np.isfinite(found.rows([problem]).of[m]).any()]
            if near(found, problem, there) > near(errors, own, there):
                fits.append(problem)
        kept[label] = found.rows(fits)
    return kept


def size_table(results: Results, theirs: Mapping[tuple[str, str], tuple[float, float]]) -> list[dict[str, Any]]:
    """Return AdaBoost's error by the number of training rows, a row a data set, beside the printed one."""
    by_size = {n: PairedErrors.read(results, f"AdaBoost, {n} rows") for n in SIZES}
    trained = {(one.block, one.problem): one.outcome.numbers["sizes"][0] for one in results.rows() if one.outcome}
    rows = []
    for problem in PROBLEMS:
        mean, error = theirs[slide_name(problem.name), "AdaBoost"]
        row: dict[str, Any] = {"data": problem.name, "slides": Spread(mean, error, 2)}
        near = []
        for n, errors in by_size.items():
            if problem.name not in errors.problems or trained.get((f"AdaBoost, {n} rows", problem.name)) != n:
                continue  # the set is too small for so many
            ours = mean_and_error(errors.of["AdaBoost"][errors.problems.index(problem.name)])
            is_near = abs(ours[0] - mean) <= 2 * float(np.hypot(ours[1], max(error, FINEST)))
            row[f"{n} rows"] = Spread(*ours, 2, is_near)
            near += [n] if is_near else []
        if len(row) > 2:
            used = trained.get((f"errors, {rows_of(problem.name)} rows", problem.name))
            rows.append(row | {"fits": f"{near[0]} to {near[-1]}" if near else "none", "used": used})
    return rows


def others_table(
    results: Results, errors: PairedErrors, theirs: Mapping[tuple[str, str], tuple[float, float]]
) -> list[dict[str, Any]]:
    """Return how far all methods are off with the size used and with other ones, a row a data set and size."""
    rows = []
    sizes = other_sizes(results, errors)
    trained = {(one.block, one.problem): one.outcome.numbers["sizes"][0] for one in results.rows() if one.outcome}
    for name, more in ALSO.items():
        for n in (rows_of(name), *more):
            found = errors if n == rows_of(name) else sizes[f"{n} training rows"]
            cells = beside_published(found.rows([name]), theirs, slide_name, {m: m for m in COLUMNS})
            off = {cell["method"]: cell["in standard errors"] for cell in cells}
            if set(off) == set(COLUMNS):
                near = sum(abs(value) <= NEAR for value in off.values())
                used = n == rows_of(name)
                at_most = trained.get((f"errors, {n} rows", name), n) if used else n  # half of a small set
                rows.append({"data": name, "rows": at_most, "used": "yes" if used else ""} | off | {"within two": near})
    return rows
