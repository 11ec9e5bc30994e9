"""Linear algebra on one thread: the same bits on every machine, and no crowd where many fits run side by side."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> Any:
    return ThreadpoolController()  # looks at all loaded libraries, once


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS does not start threads."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited
