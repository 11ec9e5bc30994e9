"""How long the first steps take in a new process."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

FIT = "from boostlab import AdaBoostClassifier as A; A(n_estimators=5).fit([[0.], [1.], [2.], [3.]], [0, 1, 0, 1])"


@dataclass(frozen=True)
class Cold:
    """One first step: its limit in seconds, or in multiples of another step."""

    says: str
    measure: Callable[[], float]
    limit: float | None = None
    beside: str | None = None
    most: int | None = None  # repeats, where it is slow


@cache
def write_bytecode() -> None:
    """Leave our bytecode where Python looks for it, as an installed package has it."""
    spec = find_spec("boostlab")
    for folder in spec.submodule_search_locations or () if spec else ():
        compileall.compile_dir(folder, quiet=2)


def inside(code: str, **env: str) -> float:
    """Return the seconds that some code takes in a new process, once the interpreter is up."""
    write_bytecode()
    clock = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", clock]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **env})
    return float(out.stdout.splitlines()[-1])


def whole(*command: str) -> float:
    """Return the seconds that a command takes."""
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - start


def first_fit_compiled() -> float:
    """Return the seconds of a first fit whose kernels lie in Numba's cache."""
    if not _KEPT:
        _KEPT.append(tempfile.TemporaryDirectory(prefix="boostlab-kernels-"))
        inside(FIT, NUMBA_CACHE_DIR=_KEPT[0].name)
    return inside(FIT, NUMBA_CACHE_DIR=_KEPT[0].name)


def first_fit_compiling() -> float:
    """Return the seconds of a first fit that compiles its kernels."""
    with tempfile.TemporaryDirectory(prefix="boostlab-kernels-") as cache:
        return inside(FIT, NUMBA_CACHE_DIR=cache)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []  # goes when the process ends

COLD: dict[str, Cold] = {
    "C1": Cold("import sklearn", lambda: inside("import sklearn")),
    "C2": Cold("import boostlab", lambda: inside("import boostlab"), 1.5, beside="C1"),
    "C3": Cold("from boostlab import AdaBoostClassifier", lambda: inside("from boostlab import AdaBoostClassifier")),
    "C4": Cold("boostlab --help", lambda: whole(sys.executable, "-m", "boostlab", "--help"), 0.5),
    "C5": Cold("first fit, kernels in the cache", first_fit_compiled, 2.0),
    "C6": Cold("first fit, kernels to be compiled", first_fit_compiling, 15.0, most=1),
}
