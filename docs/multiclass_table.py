"""Measure the table of docs/multiclass.md:  BOOSTLAB_DATA=folder python docs/multiclass_table.py [rounds]."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from boostlab import (
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    LogitBoostClassifier,
    SAMMEClassifier,
)

NAMES = ("vowel", "pendigits", "letter", "satimage", "segmentation", "new_thyroid")
LEAVES, DRAWS = 8, 20


def boosters(rounds: int) -> dict[str, Callable[[], Any]]:
    """Return who is measured."""
    return {
        "SAMME": lambda: SAMMEClassifier(max_leaf_nodes=LEAVES, n_estimators=rounds),
        "AdaBoost.M1": lambda: AdaBoostM1Classifier(max_leaf_nodes=LEAVES, n_estimators=rounds),
        "AdaBoost.M2 and MR": lambda: AdaBoostM2Classifier(max_leaf_nodes=LEAVES, n_estimators=rounds),
        **{
            f"AdaBoost.MH, {votes}": partial(
                AdaBoostMHClassifier, max_leaf_nodes=LEAVES, n_estimators=rounds, votes=votes
            )
            for votes in ("factored", "free", "real")
        },
        **{
            f"one versus rest{name}": partial(
                AdaBoostMHClassifier, max_leaf_nodes=LEAVES, n_estimators=rounds, form="ovr", normalise=normalise
            )
            for name, normalise in (("", "none"), (", normalised", "sum_alpha"))
        },
        "LogitBoost": lambda: LogitBoostClassifier(max_leaf_nodes=LEAVES, n_estimators=rounds),
        "scikit-learn": lambda: AdaBoostClassifier(
            DecisionTreeClassifier(max_leaf_nodes=LEAVES), n_estimators=rounds, random_state=0
        ),
    }


def splits(name: str) -> list[tuple[Any, Any, Any, Any]]:
    """Return the official split of a data set, or random ones that hold out a third."""
    folder = Path(os.environ["BOOSTLAB_DATA"])
    frame = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    X = frame.drop(columns=["target", "split"], errors="ignore").to_numpy(float)
    y = frame["target"].astype(str).to_numpy()
    if "split" in frame:
        train = (frame["split"] == "train").to_numpy()
        return [(X[train], X[~train], y[train], y[~train])]
    return [train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=r) for r in range(DRAWS)]


def main(rounds: int) -> None:
    """Print the table."""
    print(f"| data | rows, test rows | classes | {' | '.join(boosters(rounds))} |")
    print("|---|---|---|" + "---|" * len(boosters(rounds)))
    for name in NAMES:
        parts, cells = splits(name), []
        for make in boosters(rounds).values():
            errors, kept = [], []
            for X, X_test, y, y_test in parts:
                model = make().fit(X, y)
                errors.append(100 * np.mean(model.predict(X_test) != y_test))
                kept.append(len(model.estimators_))
            cells.append(f"{np.mean(errors):.1f}" + (f" ({np.mean(kept):.0f})" if np.mean(kept) < rounds else ""))
        X, X_test, y, _ = parts[0]
        print(f"| {name} | {len(X):,}, {len(X_test):,} | {len(np.unique(y))} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
