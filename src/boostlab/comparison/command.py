"""`boostlab compare`: from a file, or from nothing, to a ranking, a recommendation and a page."""

from __future__ import annotations

import csv
import math
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console

from boostlab.comparison import page, screen
from boostlab.comparison.design import MOST_ROWS, conclude, design, usual_class
from boostlab.comparison.metrics import find_metric
from boostlab.comparison.report import NAME as REPORT
from boostlab.comparison.report import write_report
from boostlab.comparison.request import check_settings, choose, seconds_of
from boostlab.comparison.result import Comparison, Design, model_facts
from boostlab.datasets import flip_labels, twonorm
from boostlab.studies import page as studies_page
from boostlab.studies.clusters import on_cluster
from boostlab.studies.request import RequestError
from boostlab.studies.runner import run
from boostlab.studies.store import Store
from boostlab.studies.watch import watching
from boostlab.tables.files import STDIN, read
from boostlab.tables.large import Coding, LargeFile, choose_reading, understand_large
from boostlab.tables.model import save_model
from boostlab.tables.table import LabelledTable, understand

MODEL = "model.boost"
STORE = "cells.sqlite"  # in the folder of the page
_LARGE_FILE = 10_000_000  # bytes
_DEMO = {"rounds": 100, "repeats": 1}  # a minute and a half on two cores the first time, most of it compiling


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
    metric: str | None = None
    with_peers: str = "yes"
    text: str = "yes"
    max_rows: int = MOST_ROWS
    in_batches: str = "auto"
    cache: Path | None = None
    dask: str | None = None

    def command(self) -> str:
        """Return it as it would be typed, without the budget."""
        words = ["boostlab", "compare", *([str(self.table)] if self.table else [])]
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name not in ("table", "budget") and value != option.default:
                words += [f"--{option.name.replace('_', '-')}", str(value)]
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
    start, budget = time.monotonic(), math.inf if request.budget is None else seconds_of(request.budget)
    _say_reading(request.table)
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
        with watching(plan.table.name, eyes, lambda so_far: screen.running(so_far, plan.metric)) as watch:
            rest = time_for_cells(budget, time.monotonic() - start, leaves=out is not None)
            if request.dask is None:
                ran = run(plan.study, store, jobs=request.jobs, budget=rest, watch=watch)
            else:
                with on_cluster(request.dask, store.path.resolve().parent) as threads:
                    ran = run(plan.study, store, jobs=request.jobs or threads, budget=rest, watch=watch)
    compared = time.monotonic()
    comparison = conclude(plan, ran)
    screen.show(console, comparison, usual_class(plan.table))
    if out is not None and ran.results.rows():
        _leave(request, comparison, out, console)
    elif out is None and comparison.advice.pick:
        console.print(
            "With --out FOLDER it also writes a report and a model; boostlab compare FILE compares on your table."
        )
    screen.say_end(console, comparison, kept)
    if not ran.interrupted:
        screen.say_time(console, budget, compared - start, time.monotonic() - compared, ran.prepared)
    if ran.interrupted:
        return 130  # what a shell expects of a command that Ctrl-C ended
    return 0 if comparison.advice.pick else 1


def time_for_cells(budget: float, spent: float, leaves: bool) -> float:
    """Return the part of a budget in which cells are computed: what reading and what is written at the end leave.

    To fit the model and to write the report takes about as long as to start and to read the table: how long that took
    tells of the table and of the machine.  Half of the budget is for cells whatever the rest takes.

    Examples
    --------
    >>> time_for_cells(60.0, 2.0, True), time_for_cells(60.0, 20.0, True), time_for_cells(60.0, 2.0, False)
    (52.0, 30.0, 58.0)
    """
    reserve = max(0.1 * min(budget, 100.0), spent) if leaves else 0.0
    return max(budget - spent - reserve, budget / 2.0)


def _leave(request: CompareOptions, comparison: Comparison, out: Path, console: Console) -> None:
    """Write what stays: the page, the report, and the recommended booster, fitted to all rows."""
    plan = comparison.plan
    written = page.write(plan, comparison, request.command(), out, request.table)
    for trouble in written.troubles:
        console.print(trouble, markup=False)
    pick = comparison.advice.pick
    model = None if pick is None or comparison.ran.interrupted else comparison.best_estimator_
    if model is not None and pick is not None and plan.table.recipe is not None:
        source = "" if request.table is None else request.table.name
        facts = model_facts(plan.whole or plan.table, model["booster"], pick.seconds, source)
        facts |= {"choice": " ".join(comparison.advice.sentences), "metrics": dict(pick.costs)}
        save_model(model, out / MODEL, facts)
    # Who presses Ctrl-C does not wait for a fit to all rows: the report is of what is finished.
    write_report(comparison, out / REPORT, request.command(), model, fits=not comparison.ran.interrupted)
    console.print(f"The report, for your browser: {out / REPORT}", markup=False, soft_wrap=True)
    holds = "tables" if written.troubles else "plots and tables"
    console.print(f"The page, with {holds}: {written.path}", markup=False, soft_wrap=True)
    if model is not None and plan.table.recipe is not None:
        console.print("The model, fitted to all rows, and what to do with it:", markup=False)
        for line in ("predict {} new.csv --out scored.csv", "explain {}", "card {}"):
            console.print(f"  boostlab {line.format(out / MODEL)}", markup=False, soft_wrap=True)


def _say_reading(table: Path | None) -> None:
    """Say that a large file is read, which takes a while."""
    if table is not None and table.is_file() and (size := table.stat().st_size) > _LARGE_FILE:
        Console(stderr=True, highlight=False).print(f"Reading {table.name} ({size / 1e6:,.0f} MB) ...", markup=False)


def _plan(request: CompareOptions) -> Design:
    """Return the study, all that can be wrong having been looked at, the cheap things first."""
    asked = None if request.boosters is None else words(request.boosters)
    if asked is not None and [name.casefold() for name in asked] != ["all"]:
        choose(asked)
    check_settings(
        folds=request.folds,
        repeats=1 if request.repeats is None else request.repeats,
        rounds=request.rounds,
        noise=[request.noise],
        random_state=request.seed,
        jobs=request.jobs,
        max_rows=request.max_rows,
    )
    metric = None if request.metric is None else find_metric(request.metric)
    with_peers, text = (yes_or_no(name, value) for name, value in _switches(request))
    rounds, repeats = request.rounds, request.repeats
    if request.table is None:
        table, rounds, repeats = demo(), rounds or _DEMO["rounds"], repeats or _DEMO["repeats"]
        if request.target is not None:
            raise RequestError("--target needs a table: boostlab compare FILE --target NAME.")
    else:
        name = re.sub(r"(\.[A-Za-z]+){1,2}$", "", request.table.name) or request.table.name
        name = "stdin" if request.table == STDIN else re.sub(r"[*?\[\]]+", "", name).strip("-_. ") or "table"
        options: dict[str, Any] = {
            "folds": request.folds,
            "drop": words(request.drop or ""),
            "keep": words(request.keep or ""),
            "text": text,
            "numeric": None if metric is None else metric.needs == "numbers",
        }
        reading = choose_reading(request.table, request.in_batches, request.cache)
        if reading.in_batches:
            Console(stderr=True, highlight=False).print(reading.why, markup=False, soft_wrap=True)
            file = LargeFile(request.table, request.encoding)
            table = understand_large(file, name, request.target, coding=Coding(request.cache), **options)
        else:
            table = understand(read(request.table, request.encoding), name, request.target, **options)
    levels = [0.0, request.noise] if request.noise else [0.0]
    return design(
        table,
        asked,
        folds=request.folds,
        repeats=repeats,
        rounds=rounds,
        noise=levels,
        seed=request.seed,
        metric=metric,
        with_peers=with_peers,
        max_rows=request.max_rows,
    )


def _switches(request: CompareOptions) -> list[tuple[str, str]]:
    return [("--with-peers", request.with_peers), ("--text", request.text)]


def yes_or_no(name: str, value: str) -> bool:
    """Return what a switch says, or raise a sentence.

    Examples
    --------
    >>> yes_or_no("--text", "No")
    False
    """
    if value.casefold() not in ("yes", "no"):
        raise RequestError(f"{name} {value} is not possible; it is yes or no.")
    return value.casefold() == "yes"


def words(text: str) -> list[str]:
    """Return what commas part; a name that has one itself stands in double quotes.

    Examples
    --------
    >>> words('id, "a, b"')
    ['id', 'a, b']
    """
    return [word.strip() for row in csv.reader([text], skipinitialspace=True) for word in row if word.strip()]


@contextmanager
def _store(request: CompareOptions, out: Path | None) -> Iterator[tuple[Store, str]]:
    """Open the store that was named, or that of the folder; without either one that is forgotten."""
    path = request.store or (out / STORE if out is not None else None)
    if path is not None:
        with Store(path if request.dask is None else path.resolve()) as store:  # workers start in other folders
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
        "labels are wrong, so no method can do better than an error of about 17 %",
        "Classes": f"2: a ({counts[0]}), b ({counts[1]})",
    }
    return LabelledTable("demo", X, y, ("a", "b"), target="cloud", facts=facts)
