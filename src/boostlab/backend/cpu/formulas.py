"""Formulas of one row, compiled into loops over columns.

One loop a formula: what is summed, compared or scaled afterwards is the same for all of them and compiled once.  The
loop has no branch of its own and no call that LLVM cannot see through, so that it vectorises where the formula does.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import jitable
from boostlab.backend.cpu.functions import STAMP
from boostlab.backend.cpu.in_parts import InParts
from boostlab.contract.formula import COLUMNS, LABEL, is_formula, n_values, parameters

CELLS = 4  # of a histogram, that each value of one row's formula costs as much as


@cache
def evaluation(function: Callable[..., Any], columns: tuple[str, ...]) -> Any:
    """Return the kernel that writes a formula's values on rows first to last - 1 into out, of shape (values, rows).

    Its arguments are the formula's, with arrays for the columns, and then out, first and last.  Of a
    formula of rows and labels out has the shape (values, rows, labels), and the label is no argument.
    """
    names, n, labels = parameters(function), n_values(function), LABEL in parameters(function)
    taken = [name for name in names if name != LABEL]
    given = ", ".join(f"{name}_[i]" if name in columns else name for name in names)
    at, every = ("i, l", "for l in range(out0.shape[1]): ") if labels else ("i", "")
    # Views of the rows in question: their indices start at 0, so that no index is checked for being negative.
    views = [f"{name}_ = {name}[_first:_last]" for name in names if name in columns]
    views += [f"out{v} = _out[{v}, _first:_last]" for v in range(n)]
    source = (
        "def made_of(formula, stamp):\n"
        f"    def evaluate({', '.join([*taken, '_out', '_first', '_last'])}):\n"
        f"        {'; '.join(views)}\n"
        "        for i in range(out0.shape[0]):\n"
        f"            {every}{', '.join(f'out{v}[{at}]' for v in range(n))} = formula({given})\n"
        "        return stamp\n"
        "    return evaluate\n"
    )
    # The cache on disk lies beside the formula's own file, and forgets the kernel when that file changes.
    home = function.__code__.co_filename
    scope: dict[str, Any] = {"__name__": function.__module__}
    exec(compile(source, home if Path(home).exists() else __file__, "exec"), scope)
    evaluate = scope["made_of"](jitable(function), _stamp(function))
    evaluate.__qualname__ = f"evaluate.{function.__qualname__}"
    return InParts(evaluate)


def _stamp(function: Callable[..., Any]) -> int:
    """Return a number that changes with the source of what a formula calls: row functions, and formulas elsewhere."""
    seen: list[Any] = [function]
    files = set[str]()
    for called in seen:
        for name in called.__code__.co_names:
            found: Any = called.__globals__.get(name)
            if is_formula(found) and found not in seen:
                seen.append(found)
        module = sys.modules.get(called.__module__)
        files.add(getattr(module, "__file__", None) or "")
    stamp = STAMP & 0xFFFFFFFF
    for file in sorted(files):
        if file and Path(file).exists():
            stamp = zlib.crc32(Path(file).read_bytes(), stamp)
    return stamp


def column_names(own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameter names that mean columns, a rule's own among them."""
    return (*COLUMNS, *own)


def values(function: Callable[..., Any], *numbers: float, **columns: Any) -> Any:
    """Return a formula's value for every row of columns that are not a sample's: of a stream, or of a test.

    Parameters
    ----------
    function : formula
        What to evaluate.
    *numbers : float
        Its numbers, in their order.
    **columns : arrays of equal length
        Its columns.
    """
    out = values_of(function, columns, numbers)
    return out[0] if len(out) == 1 else out


def values_of(
    function: Callable[..., Any], columns: Mapping[str, Any], numbers: Sequence[Any] = (), threads: int = 1
) -> Any:
    """Return the same as an array of shape (values, rows), by several threads where that is worth it."""
    given, rest = list[Any](), iter(numbers)
    for name in parameters(function):
        given.append(shown(columns[name]) if name in columns else as_number(next(rest)))
    arrays = [np.asarray(x) for x in columns.values()]
    out = np.empty((n_values(function), len(arrays[0])))
    cells = CELLS * sum(x.size for x in arrays)
    evaluation(function, tuple(columns)).shared(cells, threads, *given, out, 0, out.shape[1])
    return out


def shown(column: Any) -> Any:
    """Return a column as kernels are compiled for it: contiguous, and not to be written to."""
    column = np.asarray(column)
    flags = column.flags
    if flags.writeable or not flags.c_contiguous:
        column = np.ascontiguousarray(column).view()
        column.flags.writeable = False
    return column


def as_number(x: Any) -> Any:
    """Return a number, or a small table of numbers, as kernels are compiled for it."""
    return np.ascontiguousarray(x, np.float64) if isinstance(x, np.ndarray) else float(x)
