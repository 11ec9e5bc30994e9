"""Formulas of one row, compiled into loops over columns.

One loop a formula: what is summed, compared or scaled afterwards is the same for all of them and compiled once.  The
loop has no branch of its own and no call that LLVM cannot see through, so that it vectorises where the formula does.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import jitable
from boostlab.backend.cpu.functions import STAMP
from boostlab.backend.cpu.in_parts import NO_PLAN, InParts
from boostlab.backend.cpu.kernels.workspace import BLOCK, block_of_doubles, copy, row_of_labels
from boostlab.contract.formula import COLUMNS, LABEL, by_label, is_formula, n_values, over_labels, parameters

PAIRS = 8
CELLS = 4  # of a histogram, that each value of one row's formula costs as much as


Inner = tuple[tuple[str, Callable[..., Any]], ...]  # numbers that are formulas over the labels of a row, by name
_FORMULA = "_formula_"  # what they are called in a kernel, before their names
OVER = {"sum": ("0.0", "{} + {}"), "largest": ("-inf", "max({}, {})")}  # what labels start from, and how one joins


@cache
def evaluation(
    function: Callable[..., Any], columns: tuple[str, ...], tables: tuple[str, ...] = (), over: Inner = ()
) -> Any:
    """Return the kernel that writes a formula's values on rows first to last - 1 into out, of shape (1, values, rows).

    Its arguments are the formula's, with arrays for the columns, and then out, 0, first and last, and a plan.  Tables
    are the columns with a number a label, of shape (labels, rows).  Of a formula of rows and labels out has the shape
    (1, values, labels, rows), and the label is no argument.

    Where a number is a formula over the labels of a row (`over`: its name and the formula), it is no argument: its
    value is made of the columns, block by block.

    A number other than 0 says how many parts, one after the other, write to the same row of out, each from its
    beginning: then parts are blocks of rows, one at a time a thread (see kernels/block_pass.py).
    """
    taken = [name for name in parameters(function) if name != LABEL and name not in dict(over)]
    # LLVM looks whether what a loop writes may overlap what it reads, but not for more pairs than these.
    by_blocks = tables or LABEL in parameters(function) or n_values(function) * (len(columns) + 1) > PAIRS
    lines = _by_blocks(function, columns, tables, over) if by_blocks else _flat(function, columns)
    inner = "".join(f", {_FORMULA}{name}" for name, _ in over)
    source = (
        f"def made_of(formula, stamp{inner}):\n"
        f"    def evaluate({', '.join([*taken, '_out', '_each', '_first', '_last', '_part'])}):\n"
        "        _at, _to = (0, _first) if _each == 0 else (_part // _each, 0)\n"
        + "".join(f"        {line}\n" for line in lines)
        + "        return stamp\n"
        "    return evaluate\n"
    )
    # The cache on disk lies beside the formula's own file, and forgets the kernel when that file changes.
    home = function.__code__.co_filename
    scope: dict[str, Any] = {"__name__": function.__module__, "inf": math.inf}
    scope |= {"_row": row_of_labels, "_block": block_of_doubles, "_copy": copy}
    exec(compile(source, home if Path(home).exists() else __file__, "exec"), scope)
    formulas = [function, *(inside for _, inside in over)]
    stamp = sum(stamp_of_formula(each) << (8 * at) for at, each in enumerate(formulas))
    evaluate = scope["made_of"](jitable(function), stamp, *(jitable(inside) for _, inside in over))
    evaluate.__qualname__ = ".".join(["evaluate", *(each.__qualname__ for each in formulas)])
    return InParts(evaluate, planned=True)


def _flat(function: Callable[..., Any], columns: tuple[str, ...]) -> list[str]:
    """Return the lines of one loop over the rows, for one label after the other if it is a formula of labels."""
    names, n, label = parameters(function), n_values(function), LABEL in parameters(function)
    given = ", ".join(f"{name}_[_i]" if name in columns else name for name in names)
    # Views of the rows in question: their indices start at 0, so that no index is checked for being negative.
    views = [f"{name}_ = {name}[_first:_last]" for name in names if name in columns]
    to = [f"_out{v} = _out[_at, {v}, {f'{LABEL}, ' * label}_to : _to + _last - _first]" for v in range(n)]
    values = ", ".join(f"_out{v}[_i]" for v in range(n))
    loop = ["; ".join(to), f"for _i in range(_out0.shape[0]): {values} = formula({given})"]
    if label:
        loop = [f"for {LABEL} in range(_out.shape[2]):", *(f"    {line}" for line in loop)]
    return ["; ".join(views) or "pass", *loop]


def _by_blocks(
    function: Callable[..., Any], columns: tuple[str, ...], tables: tuple[str, ...], inner: Inner
) -> list[str]:
    """Return the lines of a loop over the rows of a block, for one label after the other.

    So it makes vectors, however many labels there are: over the labels of a row it does not, and an exponential takes
    five times as long.  It writes to the stack, where no column can lie: what it reads at the place of a row's
    class need not be feared to change.
    """
    names, n, over = parameters(function), n_values(function), over_labels(function)
    at = {name: f"{name}_[_i]" for name in columns} | {name: f"_row({name}, _start + _i)" for name in tables}
    at |= {name: f"_over_{name}[_i]" for name, _ in inner}
    value = f"formula({', '.join(at.get(name, name) for name in names)})"
    written = ", ".join(f"_values{v}[_i]" for v in range(n))
    label = f"{LABEL}, " if by_label(function) else ""
    write = "; ".join(f"_copy(_values{v}[:_size], _out[_at, {v}, {label}_here : _here + _size])" for v in range(n))
    if over:
        body = [*_joined(over, [f"_values{v}" for v in range(n)], value, tables[0]), write]
    elif label:
        body = [
            f"for {LABEL} in range(_out.shape[2]):",
            f"    for _i in range(_size): {written} = {value}",
            f"    {write}",
        ]
    else:
        body = [f"for _i in range(_size): {written} = {value}", write]
    for name, inside in inner:
        said = ", ".join(at.get(asked, asked) for asked in parameters(inside))
        body = [*_joined(over_labels(inside), [f"_over_{name}"], f"{_FORMULA}{name}({said})", tables[0]), *body]
    views = [f"{name}_ = {name}[_start:_end]" for name in names if name in columns and name not in tables]
    blocks = [*(f"_values{v}" for v in range(n)), *(f"_over_{name}" for name, _ in inner)]
    return [
        "; ".join(f"{block} = _block()" for block in blocks),
        f"for _start in range(_first, _last, {BLOCK}):",
        f"    _end, _here = min(_start + {BLOCK}, _last), _to + _start - _first",
        "    " + "; ".join(["_size = _end - _start", *views]),
        *(f"    {line}" for line in body),
    ]


def _joined(over: str, blocks: list[str], value: str, table: str) -> list[str]:
    """Return the lines that write what the labels of every row come to, each of a formula's values to a block."""
    first, join = OVER[over]
    more = [f"_more{v}" for v in range(len(blocks))]
    joined = "; ".join(f"{x}[_i] = {join.format(f'{x}[_i]', y)}" for x, y in zip(blocks, more, strict=True))
    return [
        "for _i in range(_size): " + "; ".join(f"{x}[_i] = {first}" for x in blocks),
        f"for {LABEL} in range({table}.shape[0]):",
        f"    for _i in range(_size): {', '.join(more)} = {value}; {joined}",
    ]


def stamp_of_formula(function: Callable[..., Any]) -> int:
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
    """Return the same as an array of shape (values, rows), by several threads where that is worth it.

    Of a formula of rows and labels that sees a column with a number a label: of shape (values, rows, labels).
    """
    given = given_in_order(function, columns, numbers)
    arrays = [np.asarray(x) for x in columns.values()]
    labels = (max(x.shape[1] for x in arrays if x.ndim == 2),) if by_label(function) else ()
    out = np.empty((n_values(function), *labels, len(arrays[0])))
    cells = CELLS * sum(x.size for x in arrays)
    kernel = evaluation(function, tuple(columns), tables_of(columns))
    kernel.shared(cells, threads, *given, out[None], 0, 0, len(arrays[0]), NO_PLAN)
    return out.transpose(0, 2, 1) if labels else out


def given_in_order(function: Callable[..., Any], columns: Mapping[str, Any], numbers: Sequence[Any]) -> list[Any]:
    """Return a formula's arguments in their order, as kernels are compiled for them."""
    given, rest = list[Any](), iter(numbers)
    for name in parameters(function):
        if name != LABEL:
            given.append(shown(columns[name]) if name in columns else as_number(next(rest)))
    return given


def tables_of(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of columns with a number a label."""
    return tuple(name for name, column in columns.items() if np.ndim(column) == 2)


def shown(column: Any) -> Any:
    """Return a column as kernels are compiled for it: contiguous, a label's numbers together."""
    if type(column) is not np.ndarray:
        column = np.asarray(column)
    if column.ndim > 1:
        column = column.T
    return column if column.flags.c_contiguous else np.ascontiguousarray(column)


def as_number(x: Any) -> Any:
    """Return a number, or a small table of numbers, as kernels are compiled for it."""
    return np.ascontiguousarray(x, np.float64) if isinstance(x, np.ndarray) else float(x)
