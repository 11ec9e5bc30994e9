"""How kernels are compiled: once, kept on disk where there is a place for it, and without the interpreter lock."""

from __future__ import annotations

import gc
import hashlib
import inspect
import logging
import sys
import threading
import zlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba
from numba import njit
from numba.core import event, types
from numba.core.caching import IndexDataCacheFile
from numba.core.sigutils import normalize_signature
from numba.extending import register_jitable

from boostlab.backend.cpu.sources import stamp_of_sources
from boostlab.contract.formula import is_formula

LINKED = "0.68."  # the releases of Numba whose inner workings `linking` knows; others compile as they are made to

# No kernel is called as a function of C: wrappers for that take a tenth of the time.
PART: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
KERNEL: dict[str, Any] = {**PART, "nogil": True}
if numba.__version__.startswith(LINKED):
    from boostlab.backend.cpu.linking import KernelCompiler, PartCompiler

    PART["pipeline_class"], KERNEL["pipeline_class"] = PartCompiler, KernelCompiler


class _Notice(event.Listener):
    """Says once a process that kernels are being compiled, to explain why the first fit takes seconds."""

    def __init__(self) -> None:
        self.given = False

    def on_start(self, what: event.Event) -> None:
        """Give notice before the first kernel of ours."""
        if _is_ours(what) and not self.given:
            self.given = True
            logging.getLogger("boostlab").warning(
                "boostlab compiles its kernels for this machine, which takes some seconds; they are kept for next time."
            )

    def on_end(self, what: event.Event) -> None:
        """Say nothing."""


class _CollectorPause(event.Listener):
    """Lets the garbage collector rest while a kernel of ours is compiled: what a compiler makes it needs to the end,
    and looking for what it does not need takes an eighth of its time.
    """

    def __init__(self) -> None:
        self.depth, self.rests = 0, False  # a kernel's compilation begins those of its parts

    def on_start(self, what: event.Event) -> None:
        """Stop the collector, if it runs."""
        if self.depth > 0 or _is_ours(what):
            self.depth += 1
        if self.depth == 1 and gc.isenabled():
            self.rests = True
            gc.disable()

    def on_end(self, what: event.Event) -> None:
        """Let it go on after the outermost kernel, compiled or not."""
        self.depth = max(self.depth - 1, 0)
        if self.depth == 0 and self.rests:
            self.rests = False
            gc.enable()


def _is_ours(what: event.Event) -> bool:
    home = what.data["dispatcher"].py_func.__module__  # none, of a function that a program wrote
    return isinstance(home, str) and home.startswith("boostlab.")


_INSERTING = threading.Lock()
_HERE = threading.local()  # the kernel that this thread compiles
NOTICE = _Notice()
for _listener in (NOTICE, _CollectorPause()):
    event.register("numba:compile", _listener)  # type: ignore[no-untyped-call]


class _CacheFile(IndexDataCacheFile):
    """Keeps each compiled signature in a file named by its key.

    Numba numbers these files through an index that it reads, changes and writes without a lock.  Two processes that
    compile at once may give one number to two kernels, and the next process then loads the wrong one.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write what was compiled, whole or not at all."""
        self._save_data(self._file_of(key), (key, data))  # type: ignore[no-untyped-call]

    def load(self, key: Any) -> Any:
        """Return what was compiled for a key; None if nothing was."""
        try:
            saved, data = self._load_data(self._file_of(key))  # type: ignore[no-untyped-call]
        except OSError:
            return None
        return data if saved == key else None

    def _file_of(self, key: Any) -> str:
        marks = repr((self._version, self._source_stamp, key))
        return self._index_name.removesuffix("nbi") + hashlib.sha256(marks.encode()).hexdigest()[:16] + ".nbc"


def told_apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a closure a name that says what it holds.

    Numba names machine code by a function's name and a number that is its own in this process only.  A kernel that
    comes from the cache may hold the code of a closure under the very name that another closure of the same source
    gets here, and the linker would take one for the other.
    """
    if function.__closure__ and not hasattr(function, "told_apart"):
        held = repr([_content(cell) for cell in function.__closure__])
        function.__qualname__ += f"_{zlib.crc32(held.encode()):08x}"
        function.told_apart = True  # type: ignore[attr-defined]
    return function


def _content(cell: Any) -> Any:
    try:
        return _shown(cell.cell_contents)
    except ValueError:  # nothing yet: the function itself
        return "itself"


def _shown(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return [_shown(part) for part in x]
    return f"{x.__module__}.{x.__qualname__}" if hasattr(x, "__qualname__") else repr(x)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on first use; without a writable place for the cache, anew in every process."""
    function = told_apart(function)
    try:
        made: Any = njit(cache=True, **KERNEL)(function)
    except RuntimeError:  # Numba finds no folder it may write to
        made = njit(**KERNEL)(function)
    else:
        stamp = (made._cache._impl.locator.get_source_stamp(), stamp_of_sources(function.__code__.co_filename))
        made._cache._cache_file = _CacheFile(made._cache._cache_path, made._cache._impl.filename_base, stamp)  # type: ignore[no-untyped-call]
    made.compile = partial(_compile_once, made, made.compile, set())
    return made


def _compile_once(made: Any, compiled: Callable[..., Any], known: set[Any], signature: Any) -> Any:
    """Compile a kernel for arrays that may be written to, and let it take those that may not.

    Their machine code is the same.  Numba compiles it twice, for it refuses to compile a kernel that writes to an array
    of the second kind: a kernel here writes to `out` and workspace only.  Threads that call a kernel first at the same
    moment all come here.  Of two equal entries Numba cannot choose: every later call would come here, and add one more.
    """
    given, _ = normalize_signature(signature)  # type: ignore[no-untyped-call]
    taken = tuple(_to_write(kind) for kind in given)
    outer, _HERE.kernel = getattr(_HERE, "kernel", None), made.__name__
    try:
        assert outer is None, f"{outer} calls the kernel {made.__name__}; kernels call parts only (see `calling`)."
        entry = compiled(taken)
    finally:
        _HERE.kernel = outer
    with _INSERTING:
        if taken != tuple(given) and given not in known:
            known.add(given)
            made._insert([kind._code for kind in given], entry, False)
    return entry


def _to_write(kind: Any) -> Any:
    if isinstance(kind, types.Array) and not kind.mutable:
        return kind.copy(readonly=False)
    if isinstance(kind, types.Tuple | types.UniTuple):
        return types.Tuple([_to_write(part) for part in kind])  # type: ignore[no-untyped-call]
    return kind


def part(function: Callable[..., Any]) -> Any:
    """Mark a plain function that kernels may call, or be made of: the cache on disk knows it by name."""
    return register_jitable(**PART)(told_apart(function))


def inlined(function: Callable[..., Any]) -> Any:
    """Mark a plain function that is inlined whatever its size: a loop with a call left in it does not vectorise, and
    takes three times as long.
    """
    return register_jitable(forceinline=True, **PART)(told_apart(function))


@cache
def jitable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let kernels call a formula (see `contract.formula`), and the formulas that it calls."""
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if is_formula(called) and called is not function:
            jitable(called)
    inlined(function)
    return function


def admit(*functions: Callable[..., Any]) -> int:
    """Let a kernel be made of these functions and the formulas they call; return their stamp (see `stamp_of`)."""
    for function in functions:
        _admit(function)
    return stamp_of(functions[0])


@cache
def _admit(function: Callable[..., Any]) -> None:
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if is_formula(called) and called is not function:
            _admit(called)
    part(function)


@cache
def stamp_of(function: Callable[..., Any]) -> int:
    """Return a negative number that changes with the source of a function: a kernel made of it puts this
    number where the cache on disk sees it.
    """
    try:
        source = inspect.getsource(sys.modules[function.__module__])
    except OSError:  # no source to be had
        source = ""
    return -1 - zlib.crc32(source.encode())
