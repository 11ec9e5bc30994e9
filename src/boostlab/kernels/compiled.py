"""How kernels are compiled: once, kept on disk where there is a place for it, and without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on first use; without a writable place for the cache, anew in every process."""
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # Numba finds no folder it may write to
        return njit(nogil=True, error_model="numpy")(function)
