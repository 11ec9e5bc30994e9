"""How much memory is free, and giving back what is not needed any more."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)


def free_memory() -> int:
    """Return the bytes that this process may still take: of the machine, of its container, of its own limits."""
    found = [1 << 62]
    with suppress(OSError, ValueError, StopIteration):
        found.append(_line_of("/proc/meminfo", "MemAvailable") << 10)
    if len(found) == 1 and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit, used, facts in _CGROUPS:
        with suppress(OSError, ValueError):
            most, cached = int(Path(limit).read_text()), 0
            with suppress(OSError, ValueError, StopIteration):
                cached = _line_of(facts, "inactive_file")  # of files, which the system drops when it needs the space
            found.append(most - int(Path(used).read_text()) + cached)
    with suppress(ImportError, OSError, ValueError, StopIteration):
        import resource

        for which, taken in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
            own = resource.getrlimit(which)[0]
            if own != resource.RLIM_INFINITY:
                found.append(own - (_line_of("/proc/self/status", taken) << 10))
    return max(min(found), 0)


def _line_of(path: str, name: str) -> int:
    """Return the number on the line of a file that begins with a name."""
    lines = Path(path).read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def is_in_memory(folder: Path) -> bool:
    """Return whether the files of a folder take memory, as those of /dev/shm do; False where that is not known."""
    with suppress(OSError, ValueError):
        place, found = folder.resolve(), (-1, "")
        for line in Path("/proc/mounts").read_text().splitlines():
            mounted, kind = line.split()[1:3]
            if place.is_relative_to(mounted):
                found = max(found, (len(mounted), kind))
        return found[1] in ("tmpfs", "ramfs")
    return False


@cache
def _trim() -> Any:
    """Return the C library's function that gives free memory back to the system; None if it has none."""
    if not sys.platform.startswith("linux"):
        return None
    with suppress(OSError, AttributeError):
        return ctypes.CDLL(None).malloc_trim
    return None


def give_back() -> None:
    """Give free memory back to the system, which allocators would keep: after many batches it is several times one."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)
