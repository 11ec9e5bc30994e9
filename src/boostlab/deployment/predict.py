"""`boostlab predict`: a model file and a raw table give a table with predictions, in batches."""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from boostlab.studies.request import RequestError
from boostlab.tables.columns import Array, RawSheet
from boostlab.tables.files import STDIN, batches
from boostlab.tables.large import LargeFile
from boostlab.tables.model import load_model


def predict(
    model_file: Path,
    table: Path,
    out: Path | None,
    *,
    proba: bool = False,
    columns: str = "keep",
    explain: bool = False,
    encoding: str | None = None,
    size: int | None = None,
) -> int:
    """Write the predictions of a model for every row of a table; return the number of rows.

    Parameters
    ----------
    model_file, table : path
        The model, and the table, or a pattern for several: columns are found by name, in any order.
    out : path, optional
        A CSV file, gzipped if it ends in .gz; None or "-" is the standard output.
    proba : bool, default=False
        Whether to add a column of probabilities a class.
    columns : {"keep", "drop"}
        Whether the table's own columns stand before the predictions.
    explain : bool, default=False
        Whether to add what every column contributes to the score, where the model can say.
    encoding : str, optional
        Of a text file.
    size : int, optional
        Rows of a batch; by default as many as memory suggests.
    """
    if columns not in ("keep", "drop"):
        raise RequestError(f"--columns {columns} is not possible; it is keep or drop.")
    model, _ = load_model(model_file)
    recipe, booster = model["recipe"].recipe, model["booster"]
    if proba and not recipe.classes:
        raise RequestError("--proba needs a model of classes, and this one predicts numbers; leave it out.")
    count = 0
    with _writer(out) as write:
        for name, raw in _read(table, encoding, size):
            X = recipe.matrix(raw, name)
            added = _answers(booster, X, recipe.target, proba)
            if explain:
                added |= _contributions(booster, X, recipe.feature_names)
            own = _cells(raw) if columns == "keep" else {}
            whole = {**own, **{_free(name, own): values for name, values in added.items()}}
            if not count:
                write.writerow(list(whole))
            write.writerows(zip(*whole.values(), strict=True))
            count += raw.n_rows
    return count


def _read(table: Path, encoding: str | None, size: int | None) -> Iterator[tuple[str, RawSheet]]:
    """Yield what to call a batch, and its cells: of a file, or of all files of a pattern."""
    if has_magic(str(table)) and not table.exists():
        yield from LargeFile(table, encoding, size).batches()
        return
    for raw in batches(table, encoding, size):
        yield str(table), raw


def _answers(booster: Any, X: Array, target: str, proba: bool) -> dict[str, list[Any]]:
    added = {f"predicted {target}": booster.predict(X).tolist()}
    if proba:
        p = booster.predict_proba(X)
        added |= {f"P({name})": p[:, k].tolist() for k, name in enumerate(booster.classes_)}
    return added


def _contributions(booster: Any, X: Array, names: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return what every column adds to the score, or to each class's score."""
    try:
        told = booster.contributions(X)
    except ValueError as error:
        raise RequestError(f"--explain is not possible: {error}") from error
    values = told.values if told.values.ndim == 3 else told.values[:, :, None]
    of = [f" to {name}" for name in told.output_names] if values.shape[2] > 1 else [""]
    return {
        f"contribution of {name}{which}": values[:, j, k].tolist()
        for k, which in enumerate(of)
        for j, name in enumerate(names)
    }


def _cells(raw: RawSheet) -> dict[str, list[Any]]:
    return {name: _plain(cells) for name, cells in zip(raw.names, raw.cells, strict=True)}


def _plain(cells: Any) -> list[Any]:
    if isinstance(cells, np.ndarray):
        return ["" if value != value else value for value in cells.tolist()]
    return list(cells)


def _free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name = f"{name} (boostlab)"
    return name


@contextmanager
def _writer(out: Path | None) -> Iterator[Any]:
    """Give a CSV writer; a file is there whole or not at all."""
    if out is None or out == STDIN:
        yield csv.writer(sys.stdout, lineterminator="\n")
        return
    beside = out.with_name(f".boostlab-{out.name}.tmp")
    try:
        with gzip.open(beside, "wt", newline="") if out.suffix == ".gz" else beside.open("w", newline="") as file:
            yield csv.writer(file, lineterminator="\n")
        beside.replace(out)
    except OSError as error:
        raise RequestError(f"{out} cannot be written ({(error.strerror or str(error)).lower()}).") from error
    finally:
        beside.unlink(missing_ok=True)
