"""The sources that a kernel is compiled from: its own file, and those of the parts and constants that it imports.

Numba's cache on disk knows the kernel's own file only, so it would go on with the machine code of a part that was
changed in another file.
"""

from __future__ import annotations

import re
import sys
import zlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
BACKEND, FUNCTIONS = PACKAGE / "backend" / "cpu", PACKAGE / "functions"
FOLLOWED = BACKEND / "kernels", FUNCTIONS  # whose imports are part of kernels, too
_IMPORT = re.compile(r"^from ([\w.]+) import (?:(\w+(?:, \w+)*)|\()", re.MULTILINE)


@cache
def stamp_of_sources(path: str) -> int:
    """Return a number that changes with the contents of all files that a kernel of this file may be made of."""
    stamp = 0
    for file in sorted(sources_of(Path(path))):
        stamp = zlib.crc32(file.read_bytes(), stamp)
    return stamp


def sources_of(path: Path) -> set[Path]:
    """Return a file, and those of the same package that it imports: of kernels, and of what these import."""
    found, new = set[Path](), [path]
    while new:
        file = new.pop()
        if file in found or not file.is_file():
            continue
        found.add(file)
        if file == path or file.parent in (*FOLLOWED, path.parent):
            new += [other for other in _imported(file) if _matters(other, path)]
    return found


@cache
def _imported(file: Path) -> list[Path]:
    names = list[str]()
    for module, given in _IMPORT.findall(file.read_text(encoding="utf-8")):
        names += [module, *(f"{module}.{name}" for name in given.split(", ") if name)]  # names may be modules
    homes = (getattr(sys.modules.get(name), "__file__", None) for name in names)
    return [Path(home) for home in homes if home]


def _matters(file: Path, path: Path) -> bool:
    """Return whether a file may hold parts: of the backend, row functions, beside a kernel outside the package."""
    beside = file.parent == path.parent and not path.is_relative_to(PACKAGE)
    return beside or file.is_relative_to(BACKEND) or file.is_relative_to(FUNCTIONS)
