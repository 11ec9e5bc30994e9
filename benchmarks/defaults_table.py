"""Errors of boosters' defaults for three and more classes, beside scikit-learn's AdaBoost.

Run python benchmarks/defaults_table.py --out benchmarks/defaults_table.json; docs/multiclass.md shows the table.  Sets
are those of the data folder with three or more classes (listed below), of large ones a sample of 2,000 rows, stratified
by class; every row is tested once by a model that was trained on the other two of three parts.  `--forms` also measures
one class against the rest and all pairs.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as ScikitLearnAdaBoost
from sklearn.model_selection import StratifiedKFold, train_test_split

import boostlab
from boostlab import datasets

SETS = (
    *("balance_scale", "car", "cmc", "ecoli", "glass", "new_thyroid", "optdigits", "pendigits", "satimage"),
    *("segmentation", "splice", "vowel", "waveform21", "wine", "wine_quality", "yeast", "zoo"),
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


def errors(name: str, methods: list[str]) -> dict[str, list[float]]:
    """Return the error, in percent, and the seconds of every method on one set."""
    X, y, categorical = table_of(name)
    found: dict[str, list[float]] = {}
    parts = list(StratifiedKFold(PARTS, shuffle=True, random_state=0).split(X, y))
    for method in methods:
        wrong, start = 0, time.perf_counter()
        for train, test in parts:
            known = np.nan_to_num(X, nan=-1.0) if method == PEER else X
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = model_of(method, categorical).fit(known[train], y[train])
            wrong += int((model.predict(known[test]) != y[test]).sum())
        found[method] = [round(100 * wrong / len(y), 2), round(time.perf_counter() - start, 2)]
    return found


def table(results: dict[str, dict[str, list[float]]]) -> str:
    """Return the errors as Markdown, with their means and how many sets each wins against scikit-learn's AdaBoost."""
    methods = [PEER, *(m for m in next(iter(results.values())) if m != PEER)]
    lines = [f"| set | {' | '.join(methods)} |", "|---" * (len(methods) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(f'{of[m][0]:.1f}' for m in methods)} |" for name, of in results.items()]
    means = [np.mean([of[m][0] for of in results.values()]) for m in methods]
    lines.append(f"| **mean** | {' | '.join(f'**{mean:.1f}**' for mean in means)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure what the file does not hold yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--out", type=Path, default=None, help="JSON file that keeps what is measured")
    parser.add_argument("--forms", action="store_true", help="also one class against the rest, and all pairs")
    parser.add_argument("--boosters", nargs="+", default=list(BOOSTERS))
    asked = parser.parse_args()
    methods = [PEER, *asked.boosters, *(f"{b} {form}" for b in asked.boosters for form in FORMS if asked.forms)]
    results = json.loads(asked.out.read_text()) if asked.out and asked.out.exists() else {}
    for name in asked.sets:
        missing = [m for m in methods if m not in results.get(name, {})]
        if missing:
            results[name] = {**results.get(name, {}), **errors(name, missing)}
            if asked.out:
                asked.out.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()
