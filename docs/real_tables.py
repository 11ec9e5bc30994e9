"""Benchmark tables for the pictures, from the folder that the variable BOOSTLAB_DATA names: <name>.csv.gz, label last.

With `quick` (in the tests) a small table that comes with scikit-learn stands in for all of them.
"""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer


class NoTables(Exception):
    """The folder of the tables is not known."""


def folder() -> Path:
    """Return where the tables are, or raise if that is not known."""
    where = os.environ.get("BOOSTLAB_DATA")
    if not where:
        raise NoTables("it needs benchmark tables; set BOOSTLAB_DATA to the folder that holds them")
    return Path(where)


def stand_in(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Return the small table, labels -1 and +1."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:n_rows, :10], np.where(y[:n_rows] == 1, 1, -1)


def table(name: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return a table's numbers (categories numbered, NaN for gaps), its labels, and which columns are categories."""
    with gzip.open(folder() / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    kept = [j for j, column in enumerate(header[:-1]) if column != "split"]
    X, categories = np.empty((len(lines), len(kept))), []
    for place, j in enumerate(kept):
        cells = [line[j] for line in lines]
        try:
            X[:, place] = [float(c) if c else np.nan for c in cells]
        except ValueError:
            known = {c: k for k, c in enumerate(sorted({c for c in cells if c}))}
            X[:, place] = [known[c] if c else np.nan for c in cells]
            categories.append(place)
    return X, np.array([line[-1] for line in lines]), categories


def two_classes(labels: np.ndarray) -> np.ndarray:
    """Return +1 for the most frequent label (of equals the first) and -1 for the others."""
    names, counts = np.unique(labels, return_counts=True)
    return np.where(labels == names[counts.argmax()], 1, -1)


def binary(name: str, quick: bool = False, positive: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of numbers with labels -1 and +1 (+1: `positive`, or the most frequent label), shuffled."""
    if quick:
        return stand_in()
    X, labels, _ = table(name)
    y = two_classes(labels) if positive is None else np.where(np.isin(labels, positive), 1, -1)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]
