"""Files that are there whole or not at all: a killed process leaves the older one."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

_STALE = 3600.0  # seconds after which a temporary file is abandoned


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name beside it, and rename it.

    Parameters
    ----------
    path : path
        The file; of a link, what it points to.
    content : str or bytes
        Text is written as UTF-8.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "page.md"), "words")
    ...     [(one.name, one.read_text()) for one in Path(folder).iterdir()]
    [('page.md', 'words')]
    """
    target = Path(os.path.realpath(path))
    beside = target.parent / f".boostlab-{secrets.token_hex(8)}.tmp"
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def sweep(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder.

    Parameters
    ----------
    folder : path
        Where pages go.
    """
    for left in folder.glob(".boostlab-*.tmp"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - _STALE:
                left.unlink()
