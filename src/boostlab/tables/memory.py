"""How much memory is free, and whether a table is likely to fit into it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from boostlab.data.memory import free_memory as free_memory

SHARE = 0.5  # of the free memory that a table may take as a whole
_CELL = 120  # bytes of a cell of a typed file, as objects of Python
_TEXT = 15  # bytes of memory for one byte of text: cells as text, lists of them, and numbers
_ZIPPED = 60
_CELLS, _MOST_ROWS, _FEWEST_ROWS = 1 << 18, 20_000, 16  # of a batch
_BATCH_CELL = 512  # bytes of free memory that a cell of a batch asks for: text, lists, numbers, and what was before it


def batch_rows(n_columns: int) -> int:
    """Return how many rows of so many columns are read at a time: fewer where they are wide, or memory is short.

    Examples
    --------
    >>> batch_rows(4), batch_rows(1 << 16)
    (20000, 16)
    """
    cells = min(_CELLS, free_memory() // _BATCH_CELL)
    return max(min(_MOST_ROWS, cells // max(n_columns, 1)), _FEWEST_ROWS)


def needed_memory(path: Path) -> int:
    """Return about how many bytes a table takes while it is read as a whole."""
    try:
        size = path.stat().st_size
    except OSError:
        return 0
    name = path.name.casefold()
    if name.endswith((".parquet", ".pq")):
        with suppress(Exception):
            from pyarrow import parquet

            about = parquet.read_metadata(path)
            return int(about.num_rows * about.num_columns * _CELL)
        return size * _TEXT
    return size * (_ZIPPED if name.endswith(".gz") else _TEXT)


def shown_bytes(size: float) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> shown_bytes(2_340_000), shown_bytes(23e9)
    ('2.3 MB', '23 GB')
    """
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:.1f} {unit}"
