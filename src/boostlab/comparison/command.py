"""`boostlab compare`: from a file, or from nothing, to a ranking, a recommendation and a page."""

from __future__ import annotations

import csv
import math
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console

from boostlab.comparison import page, screen
from boostlab.comparison.design import Design, conclude, design, usual_class
from boostlab.comparison.files import read
from boostlab.comparison.request import check_settings, choose
from boostlab.comparison.table import LabelledTable, understand
from boostlab.datasets import flip_labels, twonorm
from boostlab.studies import page as studies_page
from boostlab.studies.request import RequestError
from boostlab.studies.runner import run
from boostlab.studies.store import Store
from boostlab.studies.watch import watching

STORE = "cells.sqlite"  # in the folder of the page
_DEMO = {"rounds": 100, "repeats": 1}  # under a minute on two cores, compiling included


@dataclass(frozen=True)
class CompareOptions:
    """What was asked for on the command line; fields are options of the same name."""

    table: Path | None = None
    target: str | None = None
    boosters: str | None = None
    folds: int = 5
    repeats: int | None = None
    rounds: int | None = None
    noise: float = 0.0
    seed: int = 0
    budget: str | None = None
    jobs: int | None = None
    out: Path | None = None
    store: Path | None = None
    drop: str | None = None
    keep: str | None = None
    encoding: str | None = None

    def command(self) -> str:
        """Return it as it would be typed, without the budget."""
        words = ["boostlab", "compare", *([str(self.table)] if self.table else [])]
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name not in ("table", "budget") and value != option.default:
                words += [f"--{option.name}", str(value)]
        return shlex.join(words)


def compare(request: CompareOptions, console: Console) -> int:
    """Do what was asked for; return the exit code.

    Parameters
    ----------
    request : CompareOptions
        What was asked for; what is not possible is a RequestError.
    console : rich Console
        Where to show it.

    Returns
    -------
    int
        0; 1 if no booster has a result; 130 after Ctrl-C.
    """
    budget = math.inf if request.budget is None else seconds_of(request.budget)
    plan = _plan(request)
    out = request.out or (Path(f"{plan.table.name}-boosters") if request.table else None)
    if out is not None:
        page.claim(out, None if request.out else request.table)
        studies_page.prepare(out)
    with _store(request, out) as (store, kept):
        if out is not None:
            page.mark(plan, request.command(), out, request.table)
        screen.show_plan(console, plan)
        eyes = console if console.is_terminal else Console(stderr=True, highlight=False)
        with watching(plan.table.name, eyes, screen.running) as watch:
            ran = run(plan.study, store, jobs=request.jobs, budget=budget, watch=watch)
    comparison = conclude(plan, ran)
    screen.show(console, comparison, usual_class(plan.table))
    if out is not None and ran.results.rows():
        written = page.write(plan, comparison, request.command(), out, request.table)
        for trouble in written.troubles:
            console.print(trouble, markup=False)
        holds = "tables" if written.troubles else "plots and tables"
        console.print(f"The page, with {holds}: {written.path}", markup=False, soft_wrap=True)
    elif out is None and comparison.advice.pick:
        console.print(
            "With --out FOLDER it also writes a page with plots; boostlab compare FILE compares on your table."
        )
    screen.say_end(console, comparison, kept)
    if ran.interrupted:
        return 130  # what a shell expects of a command that Ctrl-C ended
    return 0 if comparison.advice.pick else 1


def _plan(request: CompareOptions) -> Design:
    """Return the study, all that can be wrong having been looked at, the cheap things first."""
    asked = None if request.boosters is None else _words(request.boosters)
    if asked is not None and [name.casefold() for name in asked] != ["all"]:
        choose(asked)
    check_settings(
        folds=request.folds,
        repeats=1 if request.repeats is None else request.repeats,
        rounds=request.rounds,
        noise=[request.noise],
        random_state=request.seed,
        jobs=request.jobs,
    )
    rounds, repeats = request.rounds, request.repeats
    if request.table is None:
        table, rounds, repeats = demo(), rounds or _DEMO["rounds"], repeats or _DEMO["repeats"]
        if request.target is not None:
            raise RequestError("--target needs a table: boostlab compare FILE --target NAME.")
    else:
        name = re.sub(r"(\.[A-Za-z]+){1,2}$", "", request.table.name) or request.table.name
        table = understand(
            read(request.table, request.encoding),
            name,
            request.target,
            folds=request.folds,
            drop=_words(request.drop or ""),
            keep=_words(request.keep or ""),
        )
    levels = [0.0, request.noise] if request.noise else [0.0]
    return design(table, asked, folds=request.folds, repeats=repeats, rounds=rounds, noise=levels, seed=request.seed)


def _words(text: str) -> list[str]:
    """Return what commas part; a name that has one itself stands in double quotes."""
    return [word.strip() for row in csv.reader([text], skipinitialspace=True) for word in row if word.strip()]


@contextmanager
def _store(request: CompareOptions, out: Path | None) -> Iterator[tuple[Store, str]]:
    """Open the store that was named, or that of the folder; without either one that is forgotten."""
    path = request.store or (out / STORE if out is not None else None)
    if path is not None:
        with Store(path) as store:
            yield store, str(path)
        return
    with TemporaryDirectory() as folder, Store(Path(folder, STORE)) as store:
        yield store, ""


def demo() -> LabelledTable:
    """Return the embedded table: twonorm with a part of its labels wrong.

    Returns
    -------
    LabelledTable
    """
    X, truth = twonorm(800, random_state=0)
    y = (flip_labels(truth, 0.15, random_state=1) > 0).astype(np.int64)
    counts = np.bincount(y)
    facts = {
        "Data": "twonorm (Breiman 1996), made here: two overlapping clouds in 20 dimensions, 800 rows; 15 % of the "
        "labels are wrong, so nobody can do better than an error of about 17 %",
        "Classes": f"2: a ({counts[0]}), b ({counts[1]})",
    }
    return LabelledTable("demo", X, y, ("a", "b"), target="cloud", facts=facts)


def seconds_of(text: str) -> float:
    """Return a budget in seconds.

    Parameters
    ----------
    text : str
        As people write it.

    Returns
    -------
    float

    Examples
    --------
    >>> seconds_of("5m"), seconds_of("1h30m"), seconds_of("90")
    (300.0, 5400.0, 90.0)
    """
    units = {"h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "": 1.0}
    plain = text.strip().casefold().replace(" ", "")
    parts = re.findall(r"(\d+(?:\.\d+)?)(h|min|m|s|)", plain)
    if not parts or "".join(number + unit for number, unit in parts) != plain:
        raise RequestError(f"The budget {text!r} is not a time; write it as 90s, 5m or 1h30m.")
    seconds = sum(float(number) * units[unit] for number, unit in parts)
    if not seconds > 0.0:
        raise RequestError(f"The budget {text!r} leaves no time; give at least a second.")
    return seconds
