"""Data sets from OpenML, through scikit-learn, rewritten as the files that data folders hold.

OpenML's copies may name columns and classes in other ways than ours do.  Columns are taken to be ours if they are as
many, matched by name or else by place; classes if their counts are.
"""

from __future__ import annotations

import csv
import gzip
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.datasets.catalogue import DatasetError, Facts

Array = npt.NDArray[Any]

_TARGETS = {"bupa": "selector"}  # OpenML's own default is the number of drinks
_DIGITS = {"mnist_10k": (0, 1000), "mnist_extra_15k": (1000, 2500)}  # from and to which example of every digit
_MNIST_TRAIN = 60000
_LOGICAL = {"true": "1", "false": "0"}


def cached_file(folder: Path, known: Facts) -> Path:
    """Return where a copy from OpenML is kept."""
    return folder / "openml" / f"{known.openml}" / f"{known.file}"


def fetch(known: Facts, path: Path) -> None:
    """Get a set from OpenML, look whether it is the one that is meant, and write it to a file.

    Parameters
    ----------
    known : Facts
        A set with a number at OpenML.
    path : Path
        The file.  It is there when it is whole, and not before.

    Raises
    ------
    DatasetError
        If the copy is another table.  What scikit-learn raises, if there is no connection, is passed on.
    """
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a second try after a network error, of old versions of a set
        found = fetch_openml(
            data_id=known.openml,
            target_column=_TARGETS.get(known.name, "default-target"),
            as_frame=False,
            parser="liac-arff",
            cache=False,
            n_retries=1,
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{os.getpid()}-{path.name}")  # the ending stays: NumPy would add it
    try:
        if known.name in _DIGITS:
            _write_digits(part, known, found)
        else:
            _write_table(part, known, found)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _write_digits(path: Path, known: Facts, found: Any) -> None:
    """Write some examples of every digit, in the order of the training file."""
    labels = np.asarray(found.target)[:_MNIST_TRAIN].astype(int)
    first, last = _DIGITS[known.name]
    chosen = np.sort(np.concatenate([np.flatnonzero(labels == digit)[first:last] for digit in range(10)]))
    if len(chosen) != known.rows:
        raise _other(known, f"it has {len(labels)} rows and not the digits of MNIST")
    images = np.asarray(found.data)[chosen].astype(np.uint8).reshape(-1, 28, 28)
    np.savez_compressed(path, images=images, labels=labels[chosen].astype(np.uint8), train_index=chosen)


def _write_table(path: Path, known: Facts, found: Any) -> None:
    X = np.asarray(found.data)
    if X.shape != (known.rows, known.features):
        rows, columns = X.shape
        raise _other(known, f"it has {rows} rows and {columns} columns, not {known.rows} and {known.features}")
    words = found.categories or {}
    cells = {name: _cells(X[:, j], words.get(name)) for j, name in enumerate(found.feature_names)}
    columns_of = _in_our_order(known, list(cells))
    target = _our_labels(known, [_text(v) for v in np.asarray(found.target)])
    columns = []
    for name in known.feature_names:
        column = cells[columns_of[name]]
        if name not in known.categorical_columns:
            column = [_LOGICAL.get(cell.lower(), cell) for cell in column]
            if not all(map(_is_number, column)):
                raise _other(known, f"its column {columns_of[name]!r} does not hold numbers")
        columns.append(column)
    empty = sum(cell == "" for column in columns for cell in column)
    if empty != known.missing_cells:
        raise _other(known, f"it has {empty} missing values, not {known.missing_cells}")
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*known.feature_names, "target"])
        writer.writerows(zip(*columns, target, strict=True))


def _cells(column: Array, words: Sequence[Any] | None) -> list[str]:
    """Return a column as text; of a categorical one OpenML gives the places of its words."""
    if words is None:
        return [_text(v) for v in column]
    names = [str(word).strip("'\" ") for word in words]
    return ["" if v != v else names[int(v)] for v in column.astype(float)]


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value).strip("'\" ")


def _is_number(cell: str) -> bool:
    try:
        float(cell or "0")
    except ValueError:
        return False
    return True


def _in_our_order(known: Facts, theirs: list[str]) -> dict[str, str]:
    """Return for each of our columns the name of theirs: by name if all are there, else by place."""
    by_key = {_key(name): name for name in theirs}
    if len(by_key) == len(theirs) and set(by_key) == {_key(name) for name in known.feature_names}:
        return {name: by_key[_key(name)] for name in known.feature_names}
    return dict(zip(known.feature_names, theirs, strict=True))


def _our_labels(known: Facts, theirs: list[str]) -> list[str]:
    """Return the labels under our names: by name if they and their counts are ours, else by counts if these differ."""
    counts = Counter(theirs)
    ours = {_key(name): name for name in known.class_counts}
    if {_key(name): n for name, n in counts.items()} == {_key(name): n for name, n in known.class_counts.items()}:
        return [ours[_key(label)] for label in theirs]
    by_count = {n: name for name, n in known.class_counts.items()}
    if sorted(counts.values()) == sorted(known.class_counts.values()) and len(by_count) == len(counts):
        return [by_count[counts[label]] for label in theirs]
    raise _other(known, "its classes are others, or not as frequent")


def _key(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum() or c in "+-<>=")


def _other(known: Facts, why: str) -> DatasetError:
    return DatasetError(f"OpenML's set {known.openml} is not {known.name!r} as it is meant here: {why}")
