"""Test errors and seconds for several classes, the tables of multiclass.md:  python docs/multiclass_table.py --help.

Every booster for several classes, every form of reduction and every way to put its answers together, beside
scikit-learn's AdaBoost and HistGradientBoosting: trees of 8 leaves, official splits where there are, one thread.  Every
finished line is printed, and written to the file that --file names: a second run computes only what is missing there.
The data come from the folder that the variable BOOSTLAB_DATA names: <name>.csv.gz with a header, the label last.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import boostlab as b

NAMES = ("vowel", "pendigits", "letter", "satimage", "segmentation", "new_thyroid")
LEAVES, DRAWS = 8, 20
Split = tuple[Any, Any, Any, Any]


class Line(NamedTuple):
    """What is known of one method on one data set; means where there are several splits."""

    data: str
    method: str
    rounds: int
    error: float  # percent
    kept: float  # rounds, of the longest binary problem for reductions
    seconds: float  # of fit


class Method(NamedTuple):
    """A model for a number of rounds, and decoders that share its training, by the names of their lines."""

    make: Callable[[int], Any]
    decoders: dict[str, str | None]


def methods() -> list[Method]:
    """Return who is measured."""

    def one(name: str, cls: Any, **params: Any) -> Method:
        how = dict(max_leaf_nodes=LEAVES, n_jobs=1, random_state=0)
        return Method(lambda rounds: cls(n_estimators=rounds, **how, **params), {name: None})

    def coded(cls: Any, decoders: dict[str, str | None], **params: Any) -> Method:
        inner = one("", b.AdaBoostClassifier).make
        return Method(lambda rounds: cls(inner(rounds), **params), decoders)

    return [
        one("SAMME", b.SAMMEClassifier),
        one("AdaBoost.M1", b.AdaBoostM1Classifier),
        one("AdaBoost.M2", b.AdaBoostM2Classifier),
        one("AdaBoost.MR", b.AdaBoostMRClassifier),
        *(one(f"AdaBoost.MH, {v}", b.AdaBoostMHClassifier, votes=v) for v in ("factored", "free", "real")),
        one("AdaBoost.MH, one versus rest", b.AdaBoostMHClassifier, form="ovr"),
        one("the same, normalised", b.AdaBoostMHClassifier, form="ovr", normalise="sum_alpha"),
        one("AR-Boost, ρ = 2", b.ARBoostClassifier, rho=2.0),
        one("LogitBoost", b.LogitBoostClassifier),
        one("VadaBoost, bound, λ = 0.1", b.VadaBoostClassifier, variance_penalty=0.1),
        one("VadaBoost, exact, λ = 0.1", b.VadaBoostClassifier, variance_penalty=0.1, step="exact"),
        one('AdaBoost, "ovr"', b.AdaBoostClassifier, multiclass="ovr"),  # "ovo" and "ecoc" are the first lines below
        *(
            one(f'VadaBoost, λ = 0.1, "{f}"', b.VadaBoostClassifier, variance_penalty=0.1, multiclass=f)
            for f in ("ovr", "ovo", "ecoc")
        ),
        coded(
            b.PairwiseClassifier,
            {f'AdaBoost, "ovo": pairs, {d}': d for d in ("vote", "coupling", "least_squares", "dag")},
        ),
        coded(
            b.ECOCClassifier,
            {
                f'AdaBoost, "ecoc": {name}': d
                for name, d in (("loss", "loss"), ("hamming", "hamming"), ("probability", "coupling"))
            },
            random_state=0,
        ),
        Method(
            lambda rounds: TheirAdaBoost(
                DecisionTreeClassifier(max_leaf_nodes=LEAVES), n_estimators=rounds, random_state=0
            ),
            {"scikit-learn's AdaBoost": None},
        ),
        Method(
            lambda rounds: HistGradientBoostingClassifier(
                max_leaf_nodes=LEAVES, max_iter=rounds, early_stopping=False, random_state=0
            ),
            {"scikit-learn's HistGradientBoosting": None},
        ),
    ]


def splits(name: str) -> list[Split]:
    """Return the official split of a data set, or random ones that hold out a third."""
    folder = os.environ.get("BOOSTLAB_DATA")
    if not folder:
        raise SystemExit("Set BOOSTLAB_DATA to the folder that holds the data sets, one <name>.csv.gz each.")
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    X = frame.drop(columns=["target", "split"], errors="ignore").to_numpy(float)
    y = frame["target"].astype(str).to_numpy()
    if "split" in frame:
        train = (frame["split"] == "train").to_numpy()
        return [(X[train], X[~train], y[train], y[~train])]
    return [train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=r) for r in range(DRAWS)]


def measured(data: str, parts: list[Split], method: Method, rounds: int) -> list[Line]:
    """Return a line a decoder; a fit of one round goes first, so that nothing is compiled while the clock runs."""
    errors: dict[str, list[float]] = {name: [] for name in method.decoders}
    kept, seconds = [], []
    method.make(1).fit(parts[0][0], parts[0][2])
    for X, X_test, y, y_test in parts:
        model = method.make(rounds)
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
        kept.append(_kept(model))
        for name, decoder in method.decoders.items():
            if decoder is not None:
                model._decoding = replace(model._decoding, decoder=decoder)
            errors[name].append(100 * float(np.mean(model.predict(X_test) != y_test)))
    means = float(np.mean(kept)), float(np.mean(seconds))
    return [Line(data, name, rounds, float(np.mean(e)), *means) for name, e in errors.items()]


def _kept(model: Any) -> int:
    if isinstance(model, HistGradientBoostingClassifier):
        return int(model.n_iter_)
    if isinstance(model, (b.PairwiseClassifier, b.ECOCClassifier)):
        return max(one.n_estimators_ for one in model.estimators_)
    return int(model.n_estimators_) if hasattr(model, "n_estimators_") else len(model.estimators_)


def read(path: Path | None) -> dict[tuple[str, str, int], Line]:
    """Return the lines of a file; one that is not whole is as if it were not there."""
    found = {}
    if path is not None and path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                try:
                    data, method, rounds, *numbers = row
                    line = Line(data, method, int(rounds), *map(float, numbers))
                except (TypeError, ValueError):
                    continue  # the names of the columns, or a torn line
                found[line[:3]] = line
    return found


def page(lines: dict[tuple[str, str, int], Line], rounds: int, names: Iterable[str]) -> str:
    """Return the table: errors in percent, rounds kept in brackets where they are fewer; seconds on letter."""
    rows = [name for method in methods() for name in method.decoders]
    names = [n for n in names if any((n, row, rounds) in lines for row in rows)]
    text = [f"| method | {' | '.join(names)} | seconds on letter |", f"|---|{'---|' * (len(names) + 1)}"]
    for row in rows:
        cells = []
        for name in names:
            line = lines.get((name, row, rounds))
            few = f" ({line.kept:.0f})" if line and line.kept < rounds else ""
            cells.append(f"{line.error:.1f}{few}" if line else "")
        timed = lines.get(("letter", row, rounds))
        if any(cells):
            text.append(f"| {row} | {' | '.join(cells)} | {f'{timed.seconds:.1f}' if timed else ''} |")
    return "\n".join(text)


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--data", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="methods whose names hold one of these")
    parser.add_argument("--file", type=Path, help="where lines are kept (CSV), and found by the next run")
    asked = parser.parse_args()
    lines = read(asked.file)
    chosen = [m for m in methods() if any(word.lower() in name.lower() for name in m.decoders for word in asked.only)]
    if asked.file is not None and not lines:
        asked.file.write_text(",".join(Line._fields) + "\n", encoding="utf-8")
    for data in asked.data:
        missing = [m for m in chosen if any((data, name, asked.rounds) not in lines for name in m.decoders)]
        parts = splits(data) if missing else []
        for method in missing:
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")  # a booster that keeps no voter shows it in the table
                new = measured(data, parts, method, asked.rounds)
            for line in new:
                lines[line[:3]] = line
                kept = f"{line.error:.2f} %, {line.kept:.0f} rounds, {line.seconds:.2f} s"
                print(f"{data}, {line.method}: {kept}", file=sys.stderr, flush=True)
            if asked.file is not None:
                with asked.file.open("a", encoding="utf-8", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows(new)
    print(page(lines, asked.rounds, asked.data))


if __name__ == "__main__":
    main()
