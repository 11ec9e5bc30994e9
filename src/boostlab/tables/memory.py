"""How much memory is free, and whether a table is likely to fit into it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from boostlab.data.memory import free_memory as free_memory

SHARE = 0.5  # of the free memory that a table may take as a whole
_CELL = 120  # bytes of a cell of a typed file, as objects of Python
_TEXT = 15  # bytes of memory for one byte of text: cells as text, lists of them, and numbers
_ZIPPED = 60


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
