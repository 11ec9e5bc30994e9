"""What is known of the named data sets, without their data: sizes, classes, origin, licence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any


class DatasetError(ValueError):
    """A data set that cannot be had, in one sentence."""


@dataclass(frozen=True)
class Facts:
    """What is known of one data set.

    Attributes
    ----------
    name : str
        Its name here.
    file : str or None
        The name of its file in a data folder; None if it comes with scikit-learn only.
    rows, features : int
        The size of the table.
    class_counts : dict of str to int
        The labels, as text, and how often each occurs.
    categorical_columns : list of str
        The columns that hold words.
    missing_cells : int
        Empty cells.
    feature_names : list of str
        The columns.
    train_rows : int or None
        Where there is an official split: the first so many rows are for training, the others for testing.
    content : str
        Hash of the table and its labels as `load` returns them, whatever file they came from.
    sha256 : str or None
        Hash of the file.
    openml : int or None
        Number of the set at OpenML, where that is certain.
    source, licence, notes : str
        Where the file came from, under which terms, and what else to know.
    """

    name: str
    file: str | None
    rows: int
    features: int
    class_counts: dict[str, int]
    feature_names: list[str] = field(repr=False)
    categorical_columns: list[str] = field(repr=False)
    missing_cells: int
    train_rows: int | None
    content: str
    sha256: str | None
    openml: int | None
    source: str
    licence: str
    notes: str


@cache
def _catalogue() -> dict[str, Facts]:
    text = files("boostlab.datasets").joinpath("facts.json").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = json.loads(text)
    return {name: Facts(name=name, **entry) for name, entry in entries.items()}


def names() -> list[str]:
    """Return the names that `load` knows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from boostlab.datasets import names
    >>> {"adult", "spambase", "wine"} <= set(names())
    True
    """
    return sorted(_catalogue())


def facts(name: str) -> Facts:
    """Return what is known of a data set, without loading it.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Facts

    Examples
    --------
    >>> from boostlab.datasets import facts
    >>> facts("pima").rows, facts("pima").class_counts
    (768, {'0': 500, '1': 268})
    """
    entry = _catalogue().get(name)
    if entry is None:
        near = get_close_matches(str(name), names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else "`boostlab datasets` lists those that are known."
        raise DatasetError(f"There is no data set named {name!r}; {hint}")
    return entry
