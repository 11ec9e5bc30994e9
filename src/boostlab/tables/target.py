"""The column to predict: which one it is, what its classes or numbers are, and what to say about them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from boostlab.studies.request import RequestError
from boostlab.studies.tables import share, significant
from boostlab.tables.columns import Array, Column, Sheet
from boostlab.tables.recipe import few

_TARGETS = (("target",), ("class", "label", "outcome"), ("y",))  # names that say what a column is for, surest first
_MOST_CLASSES = 100
_FEW = 20  # different numbers that a target may have to be taken for classes
_RARE = 0.05  # the largest share of the rows that classes may have which are too rare to be tested


def find_target(sheet: Sheet, asked: str | None) -> tuple[Any, str]:
    """Return the target column, and what to say if it was a guess."""
    named = {column.name: column for column in sheet.columns}
    if asked is not None:
        return named[find_column(asked, list(named), "column")], ""
    for group in _TARGETS:
        found = [column for column in sheet.columns if column.name.casefold() in group]
        if len(found) == 1 and (group != ("y",) or _holds_classes(found[0], sheet.n_rows)):
            return found[0], " (assumed from its name; --target NAME chooses another)"
        if len(found) > 1:
            break
    else:
        last = sheet.columns[-1]
        if _holds_classes(last, sheet.n_rows):
            return last, f" (assumed: the last column, {last.n_distinct} values; --target NAME chooses another)"
    raise RequestError(
        f"Which column is to be predicted? Name it with --target; the columns are {few(list(named), 12)}."
    )


def _holds_classes(column: Any, n_rows: int) -> bool:
    """Whether a column is likely to be a target: a few values, each of several rows."""
    return 2 <= column.n_distinct <= min(_FEW, n_rows / 5)


def find_column(asked: str, names: Sequence[str], what: str) -> str:
    """Return the column meant, or raise a sentence with the nearest."""
    if asked in names:
        return asked
    folded = {name.casefold(): name for name in names}
    near = get_close_matches(asked.casefold(), folded, n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}?" if near else f"the columns are {few(names, 12)}."
    raise RequestError(f"There is no {what} {asked!r}; {hint}")


def holds_numbers(column: Any) -> bool:
    """Whether a target is a number to predict rather than the name of a class: it has many values, all numbers."""
    return not column.holds_words and column.form.kind == "number" and column.n_distinct > _FEW


def numbers_to_predict(target: Column, n_rows: int, folds: int) -> tuple[Array, Array, tuple[str, ...], dict[str, str]]:
    """Return which rows are used, their numbers, no classes, and what to say about them."""
    check_numbers(target)
    assert target.numbers is not None
    there = ~np.isnan(target.numbers)
    y = target.numbers[there]
    return np.flatnonzero(there), y, (), number_facts(target.name, y, n_rows, folds)


def check_numbers(target: Any) -> None:
    """Refuse a target that holds words where numbers are to be predicted."""
    if target.holds_words or target.form.kind != "number":
        raise RequestError(
            f"The target {target.name!r} holds words, and errors of numbers cannot be measured on it; choose another "
            "column, or another metric."
        )


def number_facts(name: str, y: Array, n_rows: int, folds: int) -> dict[str, str]:
    """Return what to say about numbers to predict; refuse those of which nothing can be learnt."""
    if len(np.unique(y)) < 2:
        raise RequestError(f"The target {name!r} has fewer than two values; there is nothing to learn.")
    if len(y) < 2 * folds:
        raise RequestError(f"{len(y)} rows with a target are too few for {folds} parts; take fewer with --folds.")
    low, middle, high = np.quantile(y, [0, 0.5, 1])
    facts = {"Numbers": f"from {_plain(low)} to {_plain(high)}, half of them below {_plain(middle)}"}
    return facts | ({"No target": _without(n_rows - len(y))} if len(y) < n_rows else {})


def _without(n_rows: int) -> str:
    return f"{n_rows:,} rows have none and are left out"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else significant(float(value), 4)


def classes_to_predict(target: Column, n_rows: int, folds: int) -> tuple[Array, Array, tuple[str, ...], dict[str, str]]:
    """Return which rows are used, their class numbers, the classes, and what to say about them."""
    if target.numbers is not None:
        there = ~np.isnan(target.numbers)
        values, codes = np.unique(target.numbers[there], return_inverse=True)
    else:
        there = np.array([word != "" for word in target.words], bool)
        values, codes = np.unique(np.array([word for word in target.words if word]), return_inverse=True)
    counts = np.bincount(codes, minlength=len(values))
    kept, numbers, facts = tested_classes(target.name, values.tolist(), counts, n_rows, folds)
    used = numbers[codes] >= 0
    return np.flatnonzero(there)[used], numbers[codes[used]], kept, facts


def _named(value: Any) -> str:
    """Return a class as it is called: a word as it is, a number without needless digits."""
    return value if isinstance(value, str) else f"{value:.0f}" if value % 1 == 0 else f"{value:.12g}"


def tested_classes(
    target: str, values: Sequence[Any], counts: Array, n_rows: int, folds: int
) -> tuple[tuple[str, ...], Array, dict[str, str]]:
    """Return the classes that are used, the class number of every value (-1: none), and what to say about them.

    Parameters
    ----------
    target : str
        Name of the column.
    values : sequence of float or str
        Its different values, in order.
    counts : array
        How many rows have each.
    n_rows, folds : int
        Rows of the table, and parts of the cross-validation.
    """
    names = [
        value if isinstance(value, str) else f"{value:.0f}" if value % 1 == 0 else f"{value:.12g}" for value in values
    ]
    if len(names) < 2:
        says = f"only the value {names[0]!r}" if names else "no value at all"
        raise RequestError(f"The target {target!r} has {says}; there is nothing to learn: choose another column.")
    n_there = int(counts.sum())
    if len(names) > min(_MOST_CLASSES, max(2, n_there // 4)):
        raise RequestError(
            f"The target {target!r} has {len(names):,} different values in {n_rows:,} rows, which is no small "
            "number of classes; choose another column, or cut its values into a few ranges."
        )
    enough = counts >= folds
    facts = {}
    if not enough.all():
        rare = [f"{names[k]} ({counts[k]})" for k in np.flatnonzero(~enough)]
        if enough.sum() < 2 or counts[~enough].sum() > _RARE * n_there:
            raise RequestError(
                f"The classes {few(rare)} of {target!r} have fewer rows than the {folds} parts of the "
                "cross-validation; take fewer parts with --folds, or put rare classes together."
            )
        facts["Rare"] = f"rows of {few(rare)} are left out: fewer than the {folds} parts of the cross-validation"
    kept = tuple(name for name, good in zip(names, enough, strict=True) if good)
    n_used = int(counts[enough].sum())
    sizes = [f"{name} ({count:,}, {share(count, n_used)})" for name, count in zip(kept, counts[enough], strict=True)]
    if n_there < n_rows:
        facts["No target"] = _without(n_rows - n_there)
    said = {"Classes": f"{len(kept)}: {few(sizes, 6)}", **facts}
    return kept, np.where(enough, np.cumsum(enough) - 1, -1), said
