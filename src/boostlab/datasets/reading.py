"""The three kinds of data files: tables as CSV, sparse rows as LIBSVM text, pictures as NumPy archives."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.datasets.catalogue import DatasetError, Facts

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Raw:
    """A table as it was read: not yet compared with what is known of it."""

    X: Any
    y: Array
    categories: Mapping[str, tuple[str, ...]]
    feature_names: tuple[str, ...]
    test_rows: Array | None


def read(path: Path, known: Facts) -> Raw:
    """Return what a data file holds.

    Parameters
    ----------
    path : Path
        A file ending in .csv.gz, .svm.gz or .npz.
    known : Facts
        Which columns are categorical, and how many there are.
    """
    kinds: dict[str, Callable[[Path, Facts], Raw]] = {".csv.gz": _csv, ".svm.gz": _svm, ".npz": _npz}
    reader = next(r for ending, r in kinds.items() if path.name.endswith(ending))
    try:
        return reader(path, known)
    except Exception as problem:  # a damaged file fails in a hundred ways: gzip's, zlib's, zip's, codecs', ours
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0].rstrip(". ")
        raise DatasetError(
            f"The file {path} of the data set {known.name!r} cannot be read ({reason}); delete it and get it again."
        ) from problem


def table(columns: Mapping[str, Sequence[str]], categorical: Sequence[str]) -> tuple[Array, dict[str, tuple[str, ...]]]:
    """Return columns of text as one array of numbers, and the categories.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        The cells of every column; an empty one is missing.
    categorical : sequence of str
        The columns whose words are categories; all others hold numbers.

    Returns
    -------
    X : array
    categories : dict of str to tuple of str

    Examples
    --------
    >>> X, categories = table({"size": ["1", ""], "sort": ["b", "a"]}, ["sort"])
    >>> X.tolist(), categories
    ([[1.0, 1.0], [nan, 0.0]], {'sort': ('a', 'b')})
    """
    X = np.empty((len(next(iter(columns.values()))), len(columns)))
    categories: dict[str, tuple[str, ...]] = {}
    for j, (name, cells) in enumerate(columns.items()):
        if name in categorical:
            words = tuple(sorted(set(cells) - {""}))
            categories[name] = words
            place: dict[str, float] = {"": np.nan} | {word: float(i) for i, word in enumerate(words)}
            X[:, j] = [place[cell] for cell in cells]
        else:
            X[:, j] = [float(cell) if cell else np.nan for cell in cells]
    return X, categories


def labels(cells: Sequence[str]) -> Array:
    """Return labels as whole numbers if all are, else as text.

    Examples
    --------
    >>> labels(["1", "-1"]).tolist(), labels(["1", "b"]).tolist()
    ([1, -1], ['1', 'b'])
    """
    try:
        return np.array([int(cell) for cell in cells])
    except ValueError:
        return np.array(cells)


def _csv(path: Path, known: Facts) -> Raw:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
    if wrong is not None:
        raise ValueError(f"row {wrong + 1} has {len(rows[wrong])} cells where the header has {len(header)}")
    if header[-1:] != ["target"]:
        raise ValueError("its last column is not named target")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    y = labels(columns.pop("target"))
    split = columns.pop("split", None)
    X, categories = table(columns, known.categorical_columns)
    return Raw(X, y, categories, tuple(columns), None if split is None else np.array(split) == "test")


def _svm(path: Path, known: Facts) -> Raw:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), n_features=known.features)
    return Raw(X.tocsr(), y.astype(int), {}, tuple(f"f{j + 1}" for j in range(known.features)), None)


def _npz(path: Path, known: Facts) -> Raw:
    with np.load(path, allow_pickle=False) as arrays:
        images, y = arrays["images"], arrays["labels"].astype(int)
    return Raw(images.reshape(len(images), -1), y, {}, tuple(f"pixel{j + 1}" for j in range(known.features)), None)
