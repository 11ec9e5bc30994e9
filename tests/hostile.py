"""Hostile tables by seed: few rows, odd numbers, weights and containers, for boosters with odd settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import boostlab
from boostlab.boosters import REGISTRY

NUMBERS = [0.0, -0.0, 1.0, -1.0, np.nan, 1e308, -1e308, 5e-324, -5e-324, 1e-300, 0.1, 2**53 + 1.0, 1e16, 255.5]
WEIGHTS = [0.0, 1.0, 2.0, 0.3, 1e-12, 1e12, 1e-300, 1e30]
LABELS = [[0, 1, 2, 3, 4], ["no", "yes", "maybe", "", "ß"], [-1.5e9, 1, 7, 9, 2**40], [False, True]]
CONTAINERS = ["array", "float32", "fortran", "sliced", "list", "pandas", "polars", "csr", "csc"]


@dataclass(frozen=True)
class Case:
    """A booster and what it is to be trained on."""

    model: Any
    X: Any
    y: Any
    weight: Any
    said: str  # how to make it again


def case(seed: int) -> Case:
    """Return the case of a seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 6))
    labels = LABELS[rng.integers(len(LABELS))]
    n_classes = int(rng.integers(2, len(labels) + 1))
    name, params = booster(rng, n_classes)
    how = str(rng.choice(CONTAINERS))
    y = np.array(labels)[rng.integers(0, n_classes, n)]
    y[:2] = labels[:2]
    X = contained(numbers(rng, n, d), how, rng)
    weight = None if rng.random() < 0.6 else rng.choice(WEIGHTS, n)
    said = f"seed {seed}: {name}({params}) on {n} x {d}, {how}, {n_classes} classes, weights {weight is not None}"
    return Case(getattr(boostlab, name)(**params), X, y, weight, said)


def numbers(rng: np.random.Generator, n: int, d: int) -> Any:
    """Return columns, each odd in its own way."""
    ways = [
        lambda: rng.normal(size=n),
        lambda: rng.choice(NUMBERS, n),
        lambda: np.full(n, rng.choice([0.0, np.nan, 3.5, -1e308])),
        lambda: rng.integers(-2, 3, n).astype(float),
        lambda: np.where(rng.random(n) < 0.7, np.nan, rng.normal(size=n)),
        lambda: 1.0 + np.arange(n) * 2.0**-52,
        lambda: np.sort(rng.normal(size=n))[::-1] * 10.0 ** rng.integers(-300, 300),
    ]
    X = np.column_stack([ways[rng.integers(len(ways))]() for _ in range(d)])
    return X[rng.integers(0, n, n)] if rng.random() < 0.2 else X


def contained(X: Any, how: str, rng: np.random.Generator) -> Any:
    """Return a table in a container of some kind; in frames one column may hold words or truth values."""
    n, d = X.shape
    if how in ("pandas", "polars"):
        frame = {f"column {j}": X[:, j] for j in range(d)}
        if rng.random() < 0.6:
            frame["words"] = np.array(["a", "b", "", "a b"], object)[rng.integers(0, 4, n)]
        if rng.random() < 0.3:
            frame["truth"] = rng.random(n) < 0.5
        return pd.DataFrame(frame) if how == "pandas" else pl.DataFrame(frame)
    with np.errstate(over="ignore"):
        return {
            "array": lambda: X,
            "float32": lambda: X.astype(np.float32),
            "fortran": lambda: np.asfortranarray(X),
            "sliced": lambda: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
            "list": X.tolist,
            "csr": lambda: sparse.csr_matrix(X),
            "csc": lambda: sparse.csc_array(X),
        }[how]()


def booster(rng: np.random.Generator, n_classes: int) -> tuple[str, dict[str, Any]]:
    """Return the name of a booster and settings that it may have."""
    name = str(rng.choice(list(REGISTRY)))
    known = set(REGISTRY[name].cls._get_param_names())
    odd = {
        "max_leaf_nodes": [2, 3, 8],
        "max_bins": [2, 3, 255, "exact"],
        "early_stopping": [True],
        "class_weight": ["balanced"],
        "resample": [True, "systematic"],
        "multiclass": ["ovr", "ovo", "ecoc"] if n_classes > 2 else ["auto"],
        "n_jobs": [1, 3],
        "learning_rate": [0.1],
    }
    params = {k: v[rng.integers(len(v))] for k, v in odd.items() if k in known and rng.random() < 0.2}
    return name, {**params, "n_estimators": int(rng.integers(1, 6)), "random_state": int(rng.integers(5))}
