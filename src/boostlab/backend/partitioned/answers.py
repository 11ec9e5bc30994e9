"""Orders, questions and answers of parts, and how the answers of several become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Name = str | tuple[str, ...]  # several questions may be asked at once
Call = tuple[Any, tuple[Any, ...]]  # an order or a question: its name and arguments
Answer = tuple[Any, ...]

ALL = -1  # the node of all rows


def _below(a: Array, b: Array) -> Array:
    return np.concatenate([a, b])


# How the answers of two parts become one, number by number.
MERGES: dict[str, tuple[Callable[[Any, Any], Any], ...]] = {
    "largest": (max,),
    "smallest": (min,),
    "tops_and_sums": (np.maximum, np.add),
    "label_sums": (add, np.add, add, add),
    "class_sums": (np.add, np.add),
    "panel_sums": (np.add, np.add, np.add),
    "turned_sums": (np.add,),
    "slot_masses": (np.add,),
    "sizes": (np.add,),
    "n_examples": (add,),
    "largest_residual": (max,),
    "wrong_mass": (add,),
    "mass_voted": (add,),
    "label_masses": (np.add,),
    "largest_log": (max,),
    "reference": (_below, _below),
}


def merged(question: Name, answers: Iterable[Answer]) -> Answer:
    """Return one answer for several parts."""
    merges = [merge for name in names_of(question) for merge in MERGES[name]]
    columns = zip(*answers, strict=True)
    return tuple(reduce(merge, column) for merge, column in zip(merges, columns, strict=True))


def names_of(question: Name) -> tuple[str, ...]:
    """Return the names of a question, or of several that are asked at once."""
    return (question,) if isinstance(question, str) else question


def apart(question: Name, answer: Answer) -> list[Answer]:
    """Return the answers to questions that were asked at once."""
    found, at = list[Answer](), 0
    for name in names_of(question):
        found.append(answer[at : at + len(MERGES[name])])
        at += len(MERGES[name])
    return found


def less(a: Answer, b: Answer) -> Answer:
    """Return the sums that are left."""
    return tuple(x - y for x, y in zip(a, b, strict=True))
