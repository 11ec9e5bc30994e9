"""Tables in files: CSV and its kin, Excel and Parquet.  What cannot be read is refused in one sentence."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from boostlab.studies.request import RequestError
from boostlab.tables.columns import RawSheet, Sheet
from boostlab.tables.forms import MISSING, plain_number
from boostlab.tables.memory import batch_rows
from boostlab.tables.parquet import parquet_batches, read_parquet, typed

STDIN = Path("-")
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".data")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx", ".xlsm")
_SEPARATORS = (",", "\t", ";", "|")


def read(path: Path, encoding: str | None = None) -> Sheet:
    """Return the table in a file, every column by the form that fits its cells.

    Parameters
    ----------
    path, encoding
        As for `read_raw`.

    Returns
    -------
    Sheet
    """
    return read_raw(path, encoding).sheet()


def read_raw(path: Path, encoding: str | None = None) -> RawSheet:
    """Return the cells of the table in a file.

    Parameters
    ----------
    path : path
        A file that ends in .csv, .tsv, .tab, .txt or .data (each may be gzipped: .csv.gz), in .parquet or in .xlsx;
        "-" is the standard input, as text.
    encoding : str, optional
        Of a text file; UTF-8 (or UTF-16, which says so itself) if left out.

    Returns
    -------
    RawSheet
    """
    name = _checked_name(path)
    if path == STDIN or name.endswith(_TEXT):
        sheet = _table(path, _decoded(path, encoding), "\t" if name.endswith((".tsv", ".tab")) else "")
    elif name.endswith(_PARQUET):
        sheet = read_parquet(path)
    elif name.endswith(_EXCEL):
        sheet = _excel(path)
    else:
        raise RequestError(
            f"{path} is not a kind of file that is read here (CSV, TSV, gzipped or not, Excel's .xlsx, Parquet); save "
            "it as CSV."
        )
    _check_names(path, sheet.names)
    if not sheet.n_rows:
        raise RequestError(f"{path} has a header and no rows; there is nothing to learn from.")
    return sheet


def batches(path: Path, encoding: str | None = None, size: int | None = None) -> Iterator[RawSheet]:
    """Yield the cells of a table, so many rows at a time; text and Parquet files are never whole in memory.

    Parameters
    ----------
    path, encoding
        As for `read_raw`.
    size : int, optional
        Rows of a batch; by default as many as memory suggests (see `batch_rows`).

    Yields
    ------
    RawSheet
    """
    name = _checked_name(path)
    if name.endswith(_PARQUET):
        yield from parquet_batches(path, size)
        return
    if path != STDIN and not name.endswith(_TEXT):
        whole = read_raw(path, encoding)
        size = size or batch_rows(len(whole.names))
        for start in range(0, whole.n_rows, size):
            cells = [column[start : start + size] for column in whole.cells]
            yield RawSheet(whole.names, cells, len(cells[0]), whole.remarks, whole.decimal_comma)
        return
    with _opened(path, encoding) as text:
        first = next((line for line in text if line.strip()), "")
        if not first:
            raise RequestError(f"{path} is empty; there is nothing to predict.")
        separator = "\t" if name.endswith((".tsv", ".tab")) else _separator(first)
        reader = csv.reader(itertools.chain([first], text), delimiter=separator)
        header = [" ".join(cell.split()) for cell in next(reader)]
        parts = _in_batches(path, reader, len(header), size or batch_rows(len(header)))
        some = next(parts, [])
        is_row, remarks = _header(header, some)
        names = [f"column {j + 1}" if is_row or not cell else cell for j, cell in enumerate(header)]
        _check_names(path, names)
        for rows in itertools.chain([[header, *some] if is_row else some] if some else [], parts):
            cells = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
            yield RawSheet(names, list(cells), len(rows), remarks, separator == ";")


def is_streamed(path: Path) -> bool:
    """Whether `batches` reads a file some rows at a time."""
    return path.name.casefold().removesuffix(".gz").endswith((*_TEXT, *_PARQUET))


def is_text(path: Path) -> bool:
    """Whether a file holds text, which must be parsed."""
    return path.name.casefold().removesuffix(".gz").endswith(_TEXT)


def _in_batches(path: Path, reader: Any, width: int, size: int) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    try:
        for row in reader:
            if not _is_there(row):
                continue
            if len(row) != width:
                raise RequestError(
                    f"{path} is not a table: line {reader.line_num} has {len(row)} cells where the first has {width}."
                )
            rows.append(row)
            if len(rows) == size:
                yield rows
                rows = []
    except (csv.Error, UnicodeError) as error:
        raise RequestError(f"{path} cannot be read as a table ({_first_line(error)}).") from error
    if rows:
        yield rows


@contextmanager
def _opened(path: Path, encoding: str | None) -> Iterator[Any]:
    """Open a text file, gzipped or not, by the encoding that its first bytes or the caller name."""
    if path == STDIN:
        yield io.TextIOWrapper(sys.stdin.buffer, encoding=encoding or "utf-8-sig", newline="")
        return
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else path.open("rb") as raw:
            encoding = encoding or ("utf-16" if raw.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
            raw.seek(0)
            yield io.TextIOWrapper(raw, encoding=encoding, newline="")
    except LookupError:
        raise RequestError(f"There is no encoding {encoding!r}; try utf-8, latin-1, cp1252 or utf-16.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise RequestError(f"{path} cannot be read ({_first_line(error).lower()}).") from error


def _checked_name(path: Path) -> str:
    """Return the name by which the kind of a file is known, after looking whether there is one."""
    if path == STDIN:
        return ""
    if path.is_dir():
        raise RequestError(f"{path} is a folder; name a file.")
    if not path.exists():
        near = get_close_matches(path.name, _neighbours(path.parent), n=1, cutoff=0.75)
        hint = f"did you mean {path.parent / near[0]}?" if near else "check the name and the folder."
        raise RequestError(f"There is no file {path}; {hint}")
    return path.name.casefold().removesuffix(".gz")


def _check_names(path: Path, names: Sequence[str]) -> None:
    counts = Counter(names)
    double = [name for name, count in counts.items() if count > 1]
    if double:
        raise RequestError(
            f"{path} has {counts[double[0]]} columns named {double[0]!r}; give every column a name of its own."
        )


def _neighbours(folder: Path) -> list[str]:
    try:
        return [one.name for one in folder.iterdir() if one.is_file()]
    except OSError:
        return []


# -- text ------------------------------------------------------------------------------------------------------------


def _decoded(path: Path, encoding: str | None) -> str:
    try:
        raw = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
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


def _table(path: Path, text: str, separator: str) -> RawSheet:
    first = next(line for line in text.splitlines() if line.strip())
    try:
        separator = separator or _separator(first)
        lines = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if _is_there(row)]
    except csv.Error as error:
        raise RequestError(f"{path} is not a table ({error}).") from error
    header = [" ".join(cell.split()) for cell in lines[0]]
    if len(header) < 2:
        raise RequestError(
            f"{path} is not a table: its first line has one cell; columns are parted by a comma, semicolon, tab or bar."
        )
    rows = lines[1:]
    is_row, remarks = _header(header, rows)
    if is_row:
        rows, header = lines, [f"column {j + 1}" for j in range(len(header))]
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
    if wrong is not None:
        line = _line(text, separator, wrong + len(lines) - len(rows))
        raise RequestError(
            f"{path} is not a table: line {line} has {len(rows[wrong])} cells where the first has {len(header)}."
        )
    named = [name or f"column {j + 1}" for j, name in enumerate(header)]
    cells = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    return RawSheet(named, list(cells) or [[] for _ in named], len(rows), remarks, separator == ";")


def _header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[bool, list[str]]:
    """Return whether a first line is a row, and what to say about it."""
    if _is_row(first, rows):
        what = "numbers" if all(plain_number(cell) is not None for cell in first) else "values, not names"
        return True, [f"The first line holds {what}, so it is taken as a row; columns are named 'column 1', ..."]
    numbers = [cell for cell in first if plain_number(cell) is not None]
    if not numbers:
        return False, []
    said = (
        f"The first line is taken for the names of the columns, though it holds numbers ({numbers[0]}): if it is a "
        "row, put a line of names before it."
    )
    return False, [said]


def _separator(first: str) -> str:
    """Return the mark that parts the first line into the most cells."""
    return max(_SEPARATORS, key=lambda mark: len(next(csv.reader([first], delimiter=mark))))


def _line(text: str, separator: str, record: int) -> int:
    """Return the line of a file in which a record ends: some are empty, and some records take several."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return [reader.line_num for row in reader if _is_there(row)][record]


def _is_there(row: Sequence[str]) -> bool:
    """Whether a line holds anything: some are empty, or of blanks."""
    return len(row) > 1 or any(cell.strip() for cell in row)


def _is_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line is no header: all that is no number in it stands somewhere below itself, too."""
    words = [(j, cell) for j, cell in enumerate(first) if plain_number(cell) is None and cell.casefold() not in MISSING]
    if not words and not any(plain_number(cell) is not None for cell in first):
        return False
    return all(any(len(row) > j and row[j].strip() == cell for row in rows) for j, cell in words)


# -- Excel -----------------------------------------------------------------------------------------------------------


def _excel(path: Path) -> RawSheet:
    """Return the first sheet of a workbook: its first row that is not empty names the columns."""
    try:
        import openpyxl
    except ImportError:
        raise RequestError(
            f'Reading {path} needs openpyxl, which is not installed; pip install "boostlab[excel]", or save the table '
            "as CSV."
        ) from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # of zip, of XML, of openpyxl
        raise RequestError(f"{path} cannot be read as an Excel workbook ({_first_line(error)}).") from error
    with closing(book):
        page = book.worksheets[0]
        rows = [row for row in page.iter_rows(values_only=True) if any(cell is not None for cell in row)]
        remarks = (
            [f"The first of {len(book.worksheets)} sheets, {page.title!r}, is read."] if book.sheetnames[1:] else []
        )
    if not rows:
        raise RequestError(f"{path} is empty; there is nothing to learn from.")
    width = max(j + 1 for row in rows for j, cell in enumerate(row) if cell is not None)
    names = [
        " ".join(str(cell).split()) if cell is not None else f"column {j + 1}" for j, cell in enumerate(rows[0][:width])
    ]
    columns = [typed([row[j] if j < len(row) else None for row in rows[1:]]) for j in range(width)]
    return RawSheet(names, columns, len(rows) - 1, remarks)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
