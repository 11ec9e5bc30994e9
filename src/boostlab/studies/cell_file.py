"""The finished cells of a study as one compressed CSV beside its page: all that the page is made of, seeds included.

A page that was made from a store can be made again from this file and the study's facts, without store and data.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.studies.packing import to_text
from boostlab.studies.plan import Outcome
from boostlab.studies.request import RequestError
from boostlab.studies.study import Done, Results, Study
from boostlab.studies.tables import columns_of
from boostlab.studies.whole_files import write_whole

Array = npt.NDArray[Any]

NAME = "cells.csv.gz"
BEFORE = "cells.csv"  # what earlier versions wrote in its place
_SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"  # of small whole numbers
_LARGEST = 2**24  # characters of a field


def cell(one: Done) -> dict[str, Any]:
    """Return the columns of a cell that every file of cells has."""
    numbers = one.outcome.numbers if one.outcome else {}
    chosen = numbers.get("chosen", {})
    return {
        "block": one.block,
        "problem": one.problem,
        "method": one.method,
        "repeat": one.repeat,
        "test_error": one.number("test_error"),
        "rounds": numbers.get("rounds", ""),
        "chosen": to_text(chosen) if chosen else "",
        "stop": numbers.get("stop", ""),
        "seconds": round(one.seconds, 3),
        "failure": one.failure,
    }


def write(path: Path, study: Study, results: Results) -> None:
    """Write all finished cells of a study, a line each, those of one method together.

    Parameters
    ----------
    path : path
        Of the file.
    study : Study
        Says which arrays its report reads; others are not written.
    results : Results
        The finished cells.
    """
    done = _pooled(sorted(results.rows(), key=lambda one: _place(results, one, True)), study.pooled)
    rows = [_whole(one, study) for one in done]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns_of(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    packed = io.BytesIO()
    with gzip.GzipFile(
        filename="", mode="wb", fileobj=packed, mtime=0
    ) as file:  # no date: the same cells, the same file
        file.write(text.getvalue().encode())
    write_whole(path, packed.getvalue())


def read(path: Path, study: Study) -> list[Done]:
    """Return the cells of a file that a study still has a place for, in the order of the study's plan.

    Parameters
    ----------
    path : path
        Of the file.
    study : Study
        The study.

    Returns
    -------
    list of Done
    """
    csv.field_size_limit(min(_LARGEST, sys.maxsize))
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            done = [_done(row) for row in csv.DictReader(file)]
    except (EOFError, zlib.error, gzip.BadGzipFile, csv.Error, KeyError, TypeError, ValueError) as error:
        raise RequestError(f"{path} is damaged ({error}); get it anew, or compute its cells again.") from error
    known = Results(study.blocks, done)
    places = {
        (block.name, problem.name, method.name)
        for block in study.blocks
        for problem in block.problems
        for method in block.methods
    }
    found = [one for one in done if (one.block, one.problem, one.method) in places]
    return sorted(found, key=lambda one: _place(known, one, False))


def _pooled(done: Sequence[Done], names: Sequence[str]) -> list[Done]:
    """Return the cells with some arrays sorted over the repeats of a method: which repeat had which value is lost."""
    pooled = []
    for _, group in groupby(done, lambda one: (one.block, one.problem, one.method)):
        cells = list(group)
        for name in names:
            holders = [i for i, one in enumerate(cells) if one.outcome and name in one.outcome.arrays]
            arrays = [cells[i].outcome.arrays[name] for i in holders]  # type: ignore[union-attr]
            for i, array in zip(holders, np.sort(arrays, axis=0) if arrays else (), strict=True):
                outcome = cells[i].outcome
                assert outcome is not None
                cells[i] = replace(cells[i], outcome=replace(outcome, arrays={**outcome.arrays, name: array}))
        pooled += cells
    return pooled


def _whole(one: Done, study: Study) -> dict[str, Any]:
    """Return all columns: those of `cell`, where chance came from, and all numbers and arrays that a report reads."""
    outcome = one.outcome or Outcome({})
    numbers = {name: value for name, value in outcome.numbers.items() if name not in study.leaves_out}
    read_here = [name for name, repeats in study.reads.items() if repeats is None or one.repeat < repeats]
    arrays = {
        name: _text_of(array)
        for name, array in outcome.arrays.items()
        if any(fnmatch(name, pattern) for pattern in read_here)
    }
    return {
        **cell(one),
        "test_error": "" if isnan(error := one.number("test_error")) else error,
        "seconds": one.seconds,
        "seed": one.seed,
        "data": one.data,
        "definition": one.kind,
        "numbers": to_text(numbers) if one.outcome else "",
        "arrays": to_text(arrays) if arrays else "",
    }


def _done(row: Mapping[str, str]) -> Done:
    outcome = None
    if row["numbers"]:
        arrays = json.loads(row["arrays"]) if row["arrays"] else {}
        outcome = Outcome(json.loads(row["numbers"]), {name: _array_of(said) for name, said in arrays.items()})
    return Done(
        *(row["block"], row["problem"], row["method"], int(row["repeat"])),
        *(outcome, row["failure"], float(row["seconds"])),
        *(row["data"], row["seed"], row["definition"]),
    )


def _place(results: Results, one: Done, by_method: bool) -> tuple[int, ...]:
    """Return where a cell stands in the plan: repeat after repeat, or method after method."""
    block = results.blocks.get(one.block)
    names = list(results.blocks)
    if block is None:
        return len(names), 0, 0, one.repeat
    problem = next((i for i, p in enumerate(block.problems) if p.name == one.problem), -1)
    method = next((i for i, m in enumerate(block.methods) if m.name == one.method), -1)
    order = (problem, method, one.repeat) if by_method else (one.repeat, problem, method)
    return names.index(one.block), *order


def _text_of(array: Array) -> dict[str, Any]:
    """Return an array as JSON values: numbers below 36 as one text, others as the shortest that give it back."""
    flat = np.asarray(array).ravel()
    if flat.dtype.kind in "iub" and flat.size and int(flat.min()) >= 0 and int(flat.max()) < len(_SYMBOLS):
        values: Any = "".join(map(_SYMBOLS.__getitem__, flat.astype(int).tolist()))
    else:
        values = [float(str(x)) for x in flat] if flat.dtype.kind == "f" else flat.tolist()
    return {"dtype": flat.dtype.str, "shape": list(np.shape(array)), "values": values}


def _array_of(said: Mapping[str, Any]) -> Array:
    values = said["values"]
    flat = [int(symbol, len(_SYMBOLS)) for symbol in values] if isinstance(values, str) else values
    return np.array(flat, np.dtype(said["dtype"])).reshape(said["shape"])
