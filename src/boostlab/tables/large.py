"""Tables in files that are larger than a share of memory: read in batches, kept as codes of one byte a cell.

The result is that of `read` and `understand`, but for the numbers, of which only the codes are left (see `Binned`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from boostlab.data.batches import Batch, Batches, Spool, TableFiles
from boostlab.data.binned import Binned
from boostlab.studies.request import RequestError
from boostlab.tables.columns import Array, Column, RawSheet, Sheet
from boostlab.tables.files import STDIN, batches, is_streamed, is_text
from boostlab.tables.leakage import leak_rows, leaks_of
from boostlab.tables.memory import SHARE, batch_rows, free_memory, needed_memory, shown_bytes
from boostlab.tables.recipe import Recipe, few, recipe_of
from boostlab.tables.seen_columns import SeenColumn, seen_columns
from boostlab.tables.table import LabelledTable, columns_to_use, leak_warnings, table_facts
from boostlab.tables.target import check_numbers, find_target, holds_numbers, number_facts, tested_classes

CELL = 4  # bytes of numbers for one byte of text, at most: "0," is a double


@dataclass(frozen=True)
class FileReading:
    """How a file is read.

    Attributes
    ----------
    in_batches : bool
    why : str
        A sentence for the person who asked; empty where the file is read as a whole.
    """

    in_batches: bool
    why: str = ""


def choose_reading(path: Path, asked: str = "auto", cache: Path | None = None) -> FileReading:
    """Decide whether a table is read in batches.

    Parameters
    ----------
    path : path
        A file, or a pattern for several.
    asked : {"auto", "yes", "no"}
        What the person says; "auto" is what memory suggests.
    cache : path, optional
        Where codes are kept; None is memory.
    """
    if asked not in ("auto", "yes", "no"):
        raise RequestError(f"--in-batches {asked} is not possible; it is auto, yes or no.")
    several = has_magic(str(path)) and not path.exists()
    if not several and (path == STDIN or not is_streamed(path)):
        if asked == "yes" or cache is not None:
            raise RequestError(f"{path} cannot be read in batches; save it as CSV or Parquet.")
        return FileReading(False)
    kept = "in memory" if cache is None else f"in {cache}"
    if several:
        if asked == "no":
            raise RequestError(f"{path} names several files, which are read in batches; leave --in-batches out.")
        return FileReading(True, f"The files {path} are read in batches, and one byte a cell is kept, {kept}.")
    if asked == "yes" or (asked == "auto" and cache is not None):
        return FileReading(True, f"{path.name} is read in batches, as asked, and one byte a cell is kept, {kept}.")
    need, free = needed_memory(path), free_memory()
    if asked == "no" or need <= SHARE * free:
        return FileReading(False)
    return FileReading(
        True,
        f"{path.name} is read in batches: as a whole it would take about {shown_bytes(need)} of the "
        f"{shown_bytes(free)} of memory that are free; one byte a cell is kept, {kept}.",
    )


class LargeFile:
    """A file, or several of one pattern, read some rows at a time, as often as it takes.

    Parameters
    ----------
    path : path
        A file or a pattern.
    encoding : str, optional
        Of text files.
    size : int, optional
        Rows of a batch; as many as memory suggests by default.
    """

    def __init__(self, path: Path, encoding: str | None = None, size: int | None = None) -> None:
        try:
            self.files = TableFiles(str(path) if not path.exists() else [path], "CSV or Parquet")
        except ValueError as error:
            raise RequestError(str(error)) from None
        self.encoding, self.size = encoding, size
        self.name = str(path)  # of the batch that is being read

    @property
    def is_typed(self) -> bool:
        """Whether the files hold numbers, which need not be parsed."""
        return not any(is_text(file) for file in self.files.files)

    def batches(self) -> Iterator[tuple[str, RawSheet]]:
        """Yield what to call a batch, and its cells."""
        names: Sequence[str] = ()
        for file in self.files.files:
            at = 0
            self._check(file)
            if self.size is None:  # the same in all passes
                self.size = batch_rows(len(next(batches(file, self.encoding, 1)).names))
            for raw in batches(file, self.encoding, self.size):
                self.name = f"{file}, rows {at + 1:,} to {at + raw.n_rows:,}"
                names = names or raw.names
                if raw.names != names:
                    raise RequestError(
                        f"In {self.name}: the columns are {few(raw.names)}, and those before {few(names)}; give files "
                        "of one kind."
                    )
                yield self.name, raw
                at += raw.n_rows
            self._check(file)

    def _check(self, file: Path) -> None:
        try:
            self.files.check(file)
        except ValueError as error:
            raise RequestError(str(error)) from None


@dataclass(frozen=True)
class Coding:
    """How the numbers of a large file become codes, and where these are kept.

    Parameters
    ----------
    cache : path, optional
        A folder to keep the codes in; None is memory.
    max_bins : int or "exact", default=255
        Bins a column, as in a booster.
    min_category_size : int, default=1
        Categories of fewer rows are read as missing.
    """

    cache: Path | None = None
    max_bins: int | str = 255
    min_category_size: int = 1


def understand_large(
    file: LargeFile,
    name: str,
    target: str | None = None,
    *,
    folds: int,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    text: bool = True,
    numeric: bool | None = None,
    coding: Coding | None = None,
) -> LabelledTable:
    """Return a table to learn from whose rows are codes, and what was understood of it.

    Parameters
    ----------
    file : LargeFile
        Where it is.
    name, target, folds, drop, keep, text, numeric
        As for `understand`.
    coding : Coding, optional
        How its numbers become codes.

    Returns
    -------
    LabelledTable
        X is a `Binned`; `drawn` reads the numbers of some of its rows.
    """
    coding = coding or Coding()
    columns, n_rows, remarks = seen_columns(file.batches)
    sheet = Sheet(columns, n_rows, list(remarks))
    chosen, why = find_target(sheet, target)
    used, left_out = columns_to_use(sheet, chosen, drop, keep, text)
    label, classes, target_facts = _read_target(chosen, numeric, n_rows, folds)
    recipes = [recipe_of(column) for column in used]
    if coding.min_category_size > 1:
        recipes = [_frequent(one, column, coding.min_category_size) for one, column in zip(recipes, used, strict=True)]
    recipe = Recipe(tuple(recipes), chosen.name, chosen.form, classes, left_out)
    rows = FileRows(file, recipe, label, coding.cache)
    X = _binned(file, recipe, rows, coding)
    y = X.target
    assert y is not None
    target_facts = target_facts or number_facts(chosen.name, y, n_rows, folds)
    facts = table_facts(recipe, why, target_facts, sheet, used, len(y))
    table = LabelledTable(
        *(name, X, y, classes, recipe.categorical_features, chosen.name, facts, recipe.feature_names, recipe),
        drawn=rows.drawn,
    )
    some = leak_rows(len(y))
    told = leaks_of(rows.drawn(some), y[some], table.categorical_features, table.is_numeric)
    table.warnings.extend(leak_warnings(table, told))
    return table


def _read_target(
    chosen: SeenColumn, numeric: bool | None, n_rows: int, folds: int
) -> tuple[Callable[[Column], Array], tuple[str, ...], dict[str, str]]:
    """Return how the target is read, its classes, and what there is to say of them (of numbers, once they are read)."""
    if numeric or (numeric is None and holds_numbers(chosen)):
        check_numbers(chosen)
        return _numbers_of, (), {}
    values, counts = chosen.values()
    classes, numbers, facts = tested_classes(chosen.name, values, counts, n_rows, folds)
    return ClassNumbers(values, numbers), classes, facts


def _binned(file: LargeFile, recipe: Recipe, rows: FileRows, coding: Coding) -> Binned:
    what = json.dumps([recipe.to_json(), file.encoding], sort_keys=True)
    source = Batches(rows.batches, lambda number: file.name, f"{file.files.source} {what}")
    try:
        categorical = recipe.categorical_features or "from_dtype"
        return Binned._of_batches(source, coding.max_bins, categorical, coding.cache, None)
    except RequestError:
        raise
    except (ValueError, TypeError) as error:
        raise RequestError(str(error)) from error


def _frequent(recipe: Any, column: SeenColumn, least: int) -> Any:
    """Return how a column is used without its rare categories."""
    if recipe.kind != "category":
        return recipe
    values, counts = column.values()
    return type(recipe)(*(recipe.name, recipe.kind, recipe.form), tuple(np.array(values)[counts >= least].tolist()))


class ClassNumbers:
    """The class number of every row, -1 where it has none.

    Parameters
    ----------
    values : sequence
        The values of the target, in order.
    numbers : array
        Their class numbers.
    """

    def __init__(self, values: Sequence[Any], numbers: Array) -> None:
        self.known = dict(zip(values, numbers.tolist(), strict=True))

    def __call__(self, column: Column) -> Array:
        cells = column.words if column.numbers is None else column.numbers.tolist()
        return np.array([self.known.get(cell, -1) for cell in cells], np.int32)


def _numbers_of(column: Column) -> Array:
    assert column.numbers is not None
    return column.numbers


class FileRows:
    """The rows of a file that have a target, as numbers.

    Parameters
    ----------
    file : LargeFile
    recipe : Recipe
    label : callable
        Makes targets of a column: numbers (NaN for none), or class numbers (-1 for none).
    cache : path, optional
        A folder in which they may be kept as well.
    """

    def __init__(
        self, file: LargeFile, recipe: Recipe, label: Callable[[Column], Array], cache: Path | None = None
    ) -> None:
        self.file, self.recipe, self.label = file, recipe, label
        self.spool = None if file.is_typed else Spool.on_disk(self._parsed(), cache, CELL * file.files.size)

    def batches(self) -> Iterator[Batch]:
        """Yield all rows; those of text are parsed once, and kept as numbers where a disk has enough space."""
        return self._parsed() if self.spool is None else self.spool.batches()

    def _parsed(self) -> Iterator[Batch]:
        for name, raw in self.file.batches():
            column = raw.column(raw.names.index(self.recipe.target), self.recipe.target_form)
            y = self.label(column)
            used = ~np.isnan(y) if y.dtype.kind == "f" else y >= 0
            X = self.recipe.matrix(raw, name)
            yield Batch(X, y) if used.all() else Batch(X[used], y[used])

    def drawn(self, rows: Array) -> Array:
        """Return the numbers of some rows, in one more pass over the file."""
        order, at = np.argsort(rows, kind="stable"), 0
        wanted, out = rows[order], np.empty((len(rows), len(self.recipe.feature_names)))
        for batch in self.batches():
            low, high = np.searchsorted(wanted, [at, at + len(batch.X)])
            out[order[low:high]] = batch.X[wanted[low:high] - at]
            at += len(batch.X)
        return out
