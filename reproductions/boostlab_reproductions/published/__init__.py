"""The numbers that the papers print, as tables to compare with: one file a table, one row a cell."""

from __future__ import annotations

import csv
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

_ENDING = ".csv"


def tables() -> list[str]:
    """Return the names of the published tables.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from boostlab_reproductions.published import tables
    >>> [name for name in tables() if name.startswith("vadaboost_table")]
    ['vadaboost_table1_stump', 'vadaboost_table2_cart']
    """
    found = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(_ENDING) for name in found if name.endswith(_ENDING))


def published(name: str) -> list[dict[str, Any]]:
    """Return a published table.

    Parameters
    ----------
    name : str
        One of `tables()`.

    Returns
    -------
    list of dict
        One dict a row; numbers are numbers, everything else is text.

    Examples
    --------
    >>> from boostlab_reproductions.published import published
    >>> published("vadaboost_table1_stump")[0]
    {'dataset': 'a5a', 'algorithm': 'AdaBoost', 'mean': 16.15, 'spread': 0.1, 'spread_kind': 'standard_error_percent',
     'is_row_minimum': 0}
    """
    if name not in tables():
        near = get_close_matches(name, tables(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(tables())}."
        raise ValueError(f"There is no published table {name!r}; {hint}")
    return [dict(row) for row in _rows(name)]


@cache
def _rows(name: str) -> list[dict[str, Any]]:
    text = files(__name__).joinpath(name + _ENDING).read_text(encoding="utf-8")
    return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(text.splitlines())]


def _value(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
