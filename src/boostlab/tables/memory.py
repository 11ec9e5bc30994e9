"""How much memory is free, and whether a table is likely to fit into it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

SHARE = 0.5  # of the free memory that a table may take as a whole
_CELL = 120  # bytes of a cell of a typed file, as objects of Python
_TEXT = 15  # bytes of memory for one byte of text: cells as text, lists of them, and numbers
_ZIPPED = 60
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_memory() -> int:
    """Return the bytes that this process may still take: of the machine, of its container, of its own limit."""
    found = [1 << 62]
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable")))
    if len(found) == 1 and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit, used in _CGROUPS:
        with suppress(OSError, ValueError):
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
    with suppress(ImportError, OSError, ValueError):
        import resource

        own = resource.getrlimit(resource.RLIMIT_AS)[0]
        if own != resource.RLIM_INFINITY:
            taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            found.append(own - taken)
    return max(min(found), 0)


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
