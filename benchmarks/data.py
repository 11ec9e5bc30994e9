"""The tables that are measured on."""

from __future__ import annotations

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Missing(Exception):
    """A table that is not on this machine."""


@dataclass(frozen=True)
class Normal:
    """Standard normal columns; the label is a noisy linear and quadratic score above its median."""

    n: int
    d: int

    def make(self, small: bool) -> tuple[Array, Array]:
        n = max(500, self.n // 100) if small else self.n
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, self.d), dtype=np.float32)
        score = X @ rng.standard_normal(self.d).astype(np.float32)
        score += (X[:, :5] ** 2).sum(axis=1) + 3 * rng.standard_normal(n, dtype=np.float32)
        return X, (score > np.median(score)).astype(np.int64)


@dataclass(frozen=True)
class Blobs:
    """Standard normal columns; the class is the nearest of some random centres, after noise."""

    n: int
    d: int
    classes: int

    def make(self, small: bool) -> tuple[Array, Array]:
        n = max(500, self.n // 100) if small else self.n
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, self.d), dtype=np.float32)
        centres = rng.standard_normal((self.classes, self.d)).astype(np.float32)
        score = X @ centres.T + 3 * rng.standard_normal((n, self.classes), dtype=np.float32)
        return X, score.argmax(axis=1).astype(np.int64)


@dataclass(frozen=True)
class Stored:
    """A data set from the folder that BOOSTLAB_DATA names; sparse if it is a LIBSVM file."""

    file: str
    n_features: int
    split: str | None = None  # only the rows of this part, "train" or "test"

    def make(self, small: bool) -> tuple[Any, Array]:
        path = Path(os.environ.get("BOOSTLAB_DATA", "")) / self.file
        if not os.environ.get("BOOSTLAB_DATA") or not path.is_file():
            raise Missing(f"needs {self.file}; set BOOSTLAB_DATA to the folder that has it")
        X, y = self._sparse(path) if ".svm" in self.file else self._dense(path)
        rows = np.random.default_rng(0).permutation(len(y))  # some files are sorted by class
        rows = rows[:2000] if small else rows
        return X[rows], y[rows]

    def _sparse(self, path: Path) -> tuple[Any, Array]:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(path), n_features=self.n_features, dtype=np.float32)
        return X, np.unique(y, return_inverse=True)[1].astype(np.int64)

    def _dense(self, path: Path) -> tuple[Array, Array]:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if self.split is not None:
            rows = [row for row in rows if row["split"] == self.split]
        names = [name for name in rows[0] if name not in ("split", "target")]
        X = np.array([[float(row[name]) for name in names] for row in rows], dtype=np.float32)
        return X, np.unique([row["target"] for row in rows], return_inverse=True)[1].astype(np.int64)


def n_bytes(X: Any) -> int:
    """Return the size of a table."""
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def n_values(X: Any) -> int:
    """Return the number of cells; of a sparse table those that are stored."""
    return int(X.nnz) if hasattr(X, "nnz") else int(X.size)
