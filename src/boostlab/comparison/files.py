"""Tables in files: CSV and its kin, plain or gzipped, and Parquet.  What cannot be read is refused in one sentence."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.request import RequestError

Array = npt.NDArray[Any]

_TEXT = (".csv", ".tsv", ".tab", ".txt", ".data")
_PARQUET = (".parquet", ".pq")
_SEPARATORS = (",", "\t", ";", "|")
_MISSING = frozenset({"", "?", "na", "n/a", "nan", "<na>", "null", "#n/a"})
_MISSING_NUMBER = _MISSING | {"none", "-", ".", "--"}  # these may be words of their own among words


@dataclass(frozen=True, eq=False)
class Column:
    """A column as it was read: numbers (NaN where missing) or words (empty where missing)."""

    name: str
    numbers: Array | None = None
    words: tuple[str, ...] = ()

    @property
    def n_missing(self) -> int:
        """How many cells are empty."""
        return int(np.isnan(self.numbers).sum()) if self.numbers is not None else self.words.count("")

    @property
    def n_distinct(self) -> int:
        """How many different values it has."""
        if self.numbers is not None:
            return len(np.unique(self.numbers[~np.isnan(self.numbers)]))
        return len(set(self.words) - {""})


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read, before anybody has thought about it."""

    columns: list[Column]
    n_rows: int
    remarks: list[str] = field(default_factory=list)  # what was assumed in reading it


def read(path: Path, encoding: str | None = None) -> Sheet:
    """Return the table in a file.

    Parameters
    ----------
    path : path
        A file that ends in .csv, .tsv, .tab, .txt or .data (each may be gzipped: .csv.gz), or in .parquet.
    encoding : str, optional
        Of a text file; UTF-8 (or UTF-16, which says so itself) if left out.

    Returns
    -------
    Sheet
    """
    if path.is_dir():
        raise RequestError(f"{path} is a folder; name a file.")
    if not path.exists():
        near = get_close_matches(path.name, _neighbours(path.parent), n=1)
        hint = f"did you mean {path.parent / near[0]}?" if near else "check the name and the folder."
        raise RequestError(f"There is no file {path}; {hint}")
    name = path.name.casefold().removesuffix(".gz")
    if name.endswith(_PARQUET):
        sheet = _parquet(path)
    elif name.endswith(_TEXT):
        sheet = _table(path, _decoded(path, encoding), "\t" if name.endswith((".tsv", ".tab")) else "")
    else:
        raise RequestError(
            f"{path} is not a kind of file that is read here (CSV, TSV, gzipped or not, Parquet); save it as CSV."
        )
    names = Counter(column.name for column in sheet.columns)
    double = [name for name, count in names.items() if count > 1]
    if double:
        raise RequestError(
            f"{path} has {names[double[0]]} columns named {double[0]!r}; give every column a name of its own."
        )
    if not sheet.n_rows:
        raise RequestError(f"{path} has a header and no rows; there is nothing to learn from.")
    return sheet


def _neighbours(folder: Path) -> list[str]:
    try:
        return [one.name for one in folder.iterdir() if one.is_file()]
    except OSError:
        return []


# -- text ------------------------------------------------------------------------------------------------------------


def _decoded(path: Path, encoding: str | None) -> str:
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise RequestError(f"{path} cannot be read ({why.lower()}).") from error
    if encoding is None:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except LookupError:
        raise RequestError(f"There is no encoding {encoding!r}; try utf-8, latin-1, cp1252 or utf-16.") from None
    except UnicodeError:
        if b"\0" in raw:
            raise RequestError(f"{path} is not a table: it does not hold text.") from None
        raise RequestError(
            f"{path} is not {encoding.removesuffix('-sig').upper()} text; save it as UTF-8, or name its encoding, such "
            "as --encoding latin-1."
        ) from None
    if "\0" in text:
        raise RequestError(f"{path} is not a table: it does not hold text.")
    if not text.strip():  # a mark of the byte order may be all there is
        raise RequestError(f"{path} is empty; there is nothing to learn from.")
    return text


def _table(path: Path, text: str, separator: str) -> Sheet:
    first = next(line for line in text.splitlines() if line.strip())
    try:
        separator = separator or max(_SEPARATORS, key=lambda mark: len(next(csv.reader([first], delimiter=mark))))
        lines = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if _is_there(row)]
    except csv.Error as error:
        raise RequestError(f"{path} is not a table ({error}).") from error
    header = [" ".join(cell.split()) for cell in lines[0]]
    if len(header) < 2:
        raise RequestError(
            f"{path} is not a table: its first line has one cell; columns are parted by a comma, semicolon, tab or bar."
        )
    remarks = []
    rows = lines[1:]
    if _is_row(header, rows):
        what = "numbers" if all(_number(cell) is not None for cell in header) else "values, not names"
        rows, header = lines, [f"column {j + 1}" for j in range(len(header))]
        remarks.append(f"The first line holds {what}, so it is taken as a row; columns are named {header[0]!r}, ...")
    elif numbers := [cell for cell in header if _number(cell) is not None]:
        remarks.append(
            f"The first line is taken for the names of the columns, though it holds numbers ({numbers[0]}): if it is a "
            "row, put a line of names before it."
        )
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
    if wrong is not None:
        line = _line(text, separator, wrong + len(lines) - len(rows))
        raise RequestError(
            f"{path} is not a table: line {line} has {len(rows[wrong])} cells where the first has {len(header)}."
        )
    named = [name or f"column {j + 1}" for j, name in enumerate(header)]
    columns = [_column(name, cells, separator) for name, cells in zip(named, zip(*rows, strict=True), strict=False)]
    return Sheet(columns or [Column(name) for name in named], len(rows), remarks)


def _line(text: str, separator: str, record: int) -> int:
    """Return the line of a file in which a record ends: some are empty, and some records take several."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return [reader.line_num for row in reader if _is_there(row)][record]


def _is_there(row: Sequence[str]) -> bool:
    """Whether a line holds anything: some are empty, or of blanks."""
    return len(row) > 1 or any(cell.strip() for cell in row)


def _is_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line is no header: all that is no number in it stands somewhere below itself, too."""
    words = [(j, cell) for j, cell in enumerate(first) if _number(cell) is None and cell.casefold() not in _MISSING]
    if not words and not any(_number(cell) is not None for cell in first):
        return False
    return all(any(len(row) > j and row[j].strip() == cell for row in rows) for j, cell in words)


def _column(name: str, cells: Sequence[str], separator: str) -> Column:
    """Return a column of text cells: numbers if all that is not missing are."""
    if not any("_" in cell for cell in cells):  # in which Python sees numbers, and people codes
        with suppress(ValueError):
            return Column(name, _finite(np.array(cells, dtype=np.float64)))  # most columns have no empty cell
    stripped = [cell.strip() for cell in cells]
    known: dict[str, float | None] = {}
    for cell in stripped:
        if cell not in known:
            known[cell] = math.nan if cell.casefold() in _MISSING_NUMBER else _number(cell, separator == ";")
    values = [known[cell] for cell in stripped]
    if None not in values and any(not math.isnan(value) for value in known.values() if value is not None):
        return Column(name, _finite(np.array(values, dtype=np.float64)))
    return Column(name, words=tuple("" if cell.casefold() in _MISSING else cell for cell in stripped))


def _number(cell: str, comma: bool = False) -> float | None:
    """Return a cell as a number, None if it is none; with `comma` "3,5" is one."""
    text = cell.strip()
    if comma and re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", text):
        text = text.replace(",", ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _finite(numbers: Array) -> Array:
    return np.where(np.isfinite(numbers), numbers, np.nan)


# -- Parquet ---------------------------------------------------------------------------------------------------------


def _parquet(path: Path) -> Sheet:
    try:
        columns = _by_polars(path)
    except ImportError:
        try:
            columns = _by_pyarrow(path)
        except ImportError:
            raise RequestError(
                f"Reading {path} needs polars or pyarrow, and neither is installed; pip install polars, or save the "
                "table as CSV."
            ) from None
    made = [_typed(name, values) for name, values in columns]
    if not made:
        raise RequestError(f"{path} has no columns; there is nothing to learn from.")
    return Sheet(made, len(columns[0][1]))


def _by_polars(path: Path) -> list[tuple[str, list[Any]]]:
    import polars

    try:
        frame = polars.read_parquet(path)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars has many, and its panic is no Exception
        raise _unreadable(path, error) from error
    return [(column.name, column.to_list()) for column in frame.get_columns()]


def _by_pyarrow(path: Path) -> list[tuple[str, list[Any]]]:
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except Exception as error:
        raise _unreadable(path, error) from error
    return [(name, column.to_pylist()) for name, column in zip(table.column_names, table.columns, strict=True)]


def _unreadable(path: Path, error: BaseException) -> RequestError:
    why = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return RequestError(f"{path} cannot be read as Parquet ({why}).")


def _typed(name: str, values: Sequence[Any]) -> Column:
    """Return a column of Python values."""
    there = {type(value) for value in values if value is not None}
    if there and there <= {int, float, Decimal}:
        return Column(name, _finite(np.array([math.nan if v is None else v for v in values], dtype=np.float64)))
    return Column(name, words=tuple("" if value is None else str(value) for value in values))
