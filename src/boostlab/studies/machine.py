"""The machine in words, without its name."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path


@cache
def machine() -> str:
    """Return this machine in words, without a name: cores, processor, system, Python.

    Returns
    -------
    str
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    system = platform.system() or "unknown system"
    return f"{cores} cores, {_processor()}, {system}, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names and names[0] else platform.machine() or "unknown processor"
