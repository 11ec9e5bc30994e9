"""Errors of boosters' defaults for three and more classes, beside scikit-learn's AdaBoost.

Run python benchmarks/defaults_table.py --jobs 4 --out benchmarks/defaults_table.json; docs/multiclass.md shows the
table.  Sets are those of the data folder with three or more classes (listed below; mnist_extra_15k are more digits of
mnist_10k's kind), of large ones a sample of 2,000 rows, stratified by class; every row is tested once by a model that
was trained on the other two of three parts.  A class of fewer than three rows is left out.  The file keeps what is
measured, and only what it lacks is measured; `--again` measures all.  `--jobs` processes share the sets and methods,
each on one thread, after one process has compiled.  `--forms` also measures one class against the rest and all pairs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as ScikitLearnAdaBoost
from sklearn.model_selection import StratifiedKFold, train_test_split

import boostlab
from boostlab import datasets

SETS = (
    *("abalone", "balance_scale", "car", "cmc", "ecoli", "flags", "glass", "letter", "mnist_10k", "new_thyroid"),
    *("optdigits", "pendigits", "satimage", "segmentation", "splice", "vowel", "waveform21", "waveform40", "wine"),
    *("wine_quality", "yeast", "zoo"),
)
BOOSTERS = ("AdaBoost", "SAMME", "ARBoost", "VadaBoost", "RobustBoost", "BrownBoost")
FORMS = ("ovr", "ovo")
PEER = "scikit-learn's AdaBoost"
ROWS, PARTS = 2_000, 3


def table_of(name: str) -> tuple[Any, Any, list[int]]:
    """Return the rows of a set, its classes as numbers, and which columns hold categories."""
    data = datasets.load(name)
    X, y = np.asarray(data.X, float), np.unique(data.y, return_inverse=True)[1]
    keep = np.flatnonzero(np.bincount(y)[y] >= PARTS)
    if len(keep) > ROWS:
        keep = np.sort(train_test_split(keep, train_size=ROWS, stratify=y[keep], random_state=0)[0])
        keep = keep[np.bincount(y[keep], minlength=y.max() + 1)[y[keep]] >= PARTS]
    return X[keep], np.unique(y[keep], return_inverse=True)[1], list(getattr(data, "categorical_features", None) or [])


def model_of(method: str, categorical: list[int]) -> Any:
    """Return an estimator with its defaults, or with another form of the classes where its name has one."""
    if method == PEER:
        return ScikitLearnAdaBoost(random_state=0)
    name, _, form = method.partition(" ")
    options = {"multiclass": form} if form else {}
    make = getattr(boostlab, f"{name}Classifier")
    return make(categorical_features=categorical or None, n_jobs=1, random_state=0, **options)


def measure(name: str, method: str) -> list[float]:
    """Return the error, in percent, and the seconds of a method on one set."""
    X, y, categorical = table_of(name)
    known = np.nan_to_num(X, nan=-1.0) if method == PEER else X
    wrong, start = 0, time.perf_counter()
    for train, test in StratifiedKFold(PARTS, shuffle=True, random_state=0).split(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = model_of(method, categorical).fit(known[train], y[train])
        wrong += int((model.predict(known[test]) != y[test]).sum())
    return [round(100 * wrong / len(y), 2), round(time.perf_counter() - start, 2)]


def measured(cells: list[tuple[str, str]], jobs: int) -> Iterator[tuple[str, str, list[float] | Exception]]:
    """Yield the cells (set, method) as they are finished: error and seconds, or what went wrong."""
    if jobs == 1:
        for cell in cells:
            yield *cell, attempt(*cell)
        return
    for method in dict.fromkeys(method for _, method in cells):
        attempt("wine", method)  # compiles, so that the processes find the kernels
    large_first = sorted(cells, key=lambda cell: -_work(cell[0]))
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        tasks = {pool.submit(attempt, *cell): cell for cell in large_first}
        for task in as_completed(tasks):
            yield *tasks[task], task.result()


def attempt(name: str, method: str) -> list[float] | Exception:
    """Measure one cell, or return what went wrong: the others go on."""
    try:
        return measure(name, method)
    except Exception as trouble:
        return trouble


def _work(name: str) -> int:
    """Return the size of a set, which says how long it takes."""
    X, y, _ = table_of(name)
    return int(X.size * (y.max() + 1))


def table(results: dict[str, dict[str, list[float]]]) -> str:
    """Return the errors as Markdown, with their means over the sets that all methods have."""
    methods = sorted({m for of in results.values() for m in of}, key=_place)
    lines = [f"| set | {' | '.join(methods)} |", "|---" * (len(methods) + 1) + "|"]
    for name, of in results.items():
        lines.append(f"| {name} | {' | '.join(f'{of[m][0]:.1f}' if m in of else '' for m in methods)} |")
    whole = [of for of in results.values() if len(of) == len(methods)]  # a mean is over the same sets for all
    means = [np.mean([of[m][0] for of in whole]) if whole else np.nan for m in methods]
    lines.append(f"| **mean** | {' | '.join(f'**{mean:.1f}**' for mean in means)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure what the file does not hold yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--out", type=Path, default=None, help="JSON file that keeps what is measured")
    parser.add_argument("--forms", action="store_true", help="also one class against the rest, and all pairs")
    parser.add_argument("--boosters", nargs="+", default=list(BOOSTERS))
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--again", action="store_true", help="measure all, and not only what the file lacks")
    asked = parser.parse_args(arguments)
    methods = [PEER, *asked.boosters, *(f"{b} {form}" for b in asked.boosters for form in FORMS if asked.forms)]
    known = json.loads(asked.out.read_text()) if asked.out and asked.out.exists() and not asked.again else {}
    cells = [(name, m) for name in asked.sets for m in methods if m not in known.get(name, {})]
    failed = []
    for name, method, found in measured(cells, asked.jobs):
        if isinstance(found, Exception):
            failed.append(f"{method} on {name}: {found}")
            continue
        known.setdefault(name, {})[method] = found
        print(f"{name}, {method}: {found[0]} % in {found[1]} s", file=sys.stderr, flush=True)
        if asked.out:
            asked.out.write_text(json.dumps(ordered(known), indent=1) + "\n")
    print(table(ordered(known)))
    if failed:
        sys.exit("\n".join(["These failed:", *failed]))


def ordered(results: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, list[float]]]:
    """Return sets by name, and methods in the order of the table, whichever was finished first."""
    return {name: {m: results[name][m] for m in sorted(results[name], key=_place)} for name in sorted(results)}


def _place(method: str) -> tuple[int, str]:
    name = method.partition(" ")[0]
    return (BOOSTERS.index(name) if name in BOOSTERS else -1 if method == PEER else len(BOOSTERS), method)


if __name__ == "__main__":
    main()
