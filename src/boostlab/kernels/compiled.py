"""How kernels are compiled: once, kept on disk where there is a place for it, and without the interpreter lock."""

from __future__ import annotations

import inspect
import logging
import sys
import zlib
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event
from numba.extending import register_jitable


class _Notice(event.Listener):
    """Says once a process that kernels are being compiled, so that nobody wonders why the first fit takes seconds.

    Where several processes work together, `asks` lets one of them speak for all.
    """

    def __init__(self) -> None:
        self.given = False
        self.asks: Callable[[], bool] = lambda: True

    def on_start(self, what: event.Event) -> None:
        """Give notice before the first kernel of ours."""
        ours = what.data["dispatcher"].py_func.__module__.startswith("boostlab.")
        if ours and not self.given:
            self.given = True
            if not self.asks():
                return
            logging.getLogger("boostlab").warning(
                "boostlab compiles its kernels for this machine, which takes some seconds; they are kept for next time."
            )

    def on_end(self, what: event.Event) -> None:
        """Say nothing."""


NOTICE = _Notice()
event.register("numba:compile", NOTICE)  # type: ignore[no-untyped-call]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on first use; without a writable place for the cache, anew in every process."""
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # Numba finds no folder it may write to
        return njit(nogil=True, error_model="numpy")(function)


def part(function: Callable[..., Any]) -> Any:
    """Mark a plain function that kernels may call, or be made of (see `march`): the cache on disk knows it by name."""
    return register_jitable(function)


def stamp_of(function: Callable[..., Any]) -> int:
    """Return a negative number that changes with the source of a function: a kernel made of it puts this
    number where the cache on disk sees it.
    """
    try:
        source = inspect.getsource(sys.modules[function.__module__])
    except OSError:  # no source to be had
        source = ""
    return -1 - zlib.crc32(source.encode())
