"""What a table holds: the target and its classes, numbers, categories, and columns that are better left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.comparison.files import Column, Sheet
from boostlab.datasets import content_hash
from boostlab.studies.request import RequestError
from boostlab.studies.tables import share

Array = npt.NDArray[Any]

_TARGETS = (("target",), ("class", "label", "outcome"), ("y",))  # names that say what a column is for, surest first
_IDS = re.compile(
    r"(?i:(.*[ _.-])?(id|ids|key|uuid|guid|index|idx|row|nr|no|number)|unnamed: ?0|rownames"
    r"|(customer|user|client|patient|passenger|order|account|member|employee|student|person)(id|no|nr|number))"
    r"|.*[a-z](I[dD]|Key|No|Nr)"  # as in CustomerID
)
_MOST_CLASSES = 100
_RARE = 0.05  # the largest share of the rows that classes may have which are too rare to be tested


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A table to compare boosters on: the problem of a study, and its data.

    Parameters
    ----------
    name : str
        What to call it.
    X : array or CSR matrix of shape (n_rows, n_features)
        Numbers; NaN where a value is missing; categories are 0, 1, ...
    y : array of int of shape (n_rows,)
        Class numbers.
    classes : tuple of str
        What they stand for.
    categorical_features : list of int
        Columns that hold categories.
    target : str
        Name of the column to predict.
    facts : dict from str to str
        What was understood, for people.
    feature_names : tuple of str
        The columns, where they have names.
    """

    name: str
    X: Any = field(repr=False)
    y: Array = field(repr=False)
    classes: tuple[str, ...]
    categorical_features: list[int] = field(default_factory=list)
    target: str = "y"
    facts: dict[str, str] = field(default_factory=dict, repr=False)
    feature_names: tuple[str, ...] = field(default=(), repr=False)

    def definition(self) -> dict[str, Any]:
        """Return its size; what it holds is told by its hash, and where it lies does not matter."""
        n_rows, n_features = self.X.shape
        return {"table": [int(n_rows), int(n_features), len(self.classes)]}

    def data(self) -> LabelledTable:
        """Return the data: itself."""
        return self

    @cached_property
    def hash(self) -> str:
        """Hash of all that matters to training."""
        return content_hash(self.X, np.asarray(self.y, np.int64), list(self.classes), list(self.categorical_features))


def understand(
    sheet: Sheet,
    name: str,
    target: str | None = None,
    *,
    folds: int,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> LabelledTable:
    """Return a table to compare on, and what was understood of it.

    Columns that only number or name the rows, columns of one value, and a column that says which rows are for testing
    are left out, unless they are asked for.

    Parameters
    ----------
    sheet : Sheet
        As it was read.
    name : str
        What to call it.
    target : str, optional
        The column to predict; guessed if there is no doubt.
    folds : int
        Every class needs so many rows.
    drop, keep : sequence of str
        Columns to leave out, and not to leave out.

    Returns
    -------
    LabelledTable
    """
    names = [column.name for column in sheet.columns]
    for asked in (*drop, *keep):
        _find(asked, names, "column")
    both = [name for name in drop if name in keep]
    if both:
        raise RequestError(f"The column {both[0]!r} is to be left out and to be kept; name it once.")
    chosen, why = _target(sheet, target)
    if chosen.name in drop:
        raise RequestError(f"The target {chosen.name!r} cannot be left out; choose another with --target.")
    rows, y, classes, class_facts = _classes(chosen, sheet.n_rows, folds)
    used, left_out = [], []
    for column in sheet.columns:
        if column is chosen:
            continue
        reason = "as asked" if column.name in drop else "" if column.name in keep else _useless(column, sheet.n_rows)
        if reason:
            left_out.append(f"{column.name} ({reason})")
        else:
            used.append(column)
    if not used:
        raise RequestError(f"Beside the target {chosen.name!r} no column is left to learn from: {'; '.join(left_out)}.")
    X = np.column_stack([_numbers(column)[rows] for column in used])
    categorical = [j for j, column in enumerate(used) if column.numbers is None]
    missing = [column for column in used if column.n_missing]
    cells = sum(column.n_missing for column in missing)
    facts = {
        "Target": f"{chosen.name}{why}",
        **class_facts,
        "Rows": f"{sheet.n_rows:,}" + (f", of which {len(y):,} are used" if len(y) < sheet.n_rows else ""),
        "Columns": f"{len(used):,}: {len(used) - len(categorical):,} of numbers, {len(categorical):,} of categories"
        + (f" ({_few([used[j].name for j in categorical])})" if categorical else ""),
        "Missing": f"{cells:,} cells ({share(cells, sheet.n_rows * len(used))}) in "
        f"{_few([column.name for column in missing])}"
        if cells
        else "none",
    }
    if left_out:
        facts["Left out"] = "; ".join(left_out) + (
            "" if drop and not _suspects(left_out) else " (--keep NAME keeps it)"
        )
    if sheet.remarks:
        facts["Remark"] = " ".join(sheet.remarks)
    return LabelledTable(name, X, y, classes, categorical, chosen.name, facts, tuple(column.name for column in used))


def _suspects(left_out: Sequence[str]) -> bool:
    return any(not line.endswith("(as asked)") for line in left_out)


# -- the target ------------------------------------------------------------------------------------------------------


def _target(sheet: Sheet, asked: str | None) -> tuple[Column, str]:
    """Return the target column, and what to say if it was a guess."""
    named = {column.name: column for column in sheet.columns}
    if asked is not None:
        return named[_find(asked, list(named), "column")], ""
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
        f"Which column is to be predicted? Name it with --target; the columns are {_few(list(named), 12)}."
    )


def _holds_classes(column: Column, n_rows: int) -> bool:
    """Whether a column is likely to be a target: a few values, each of several rows."""
    return 2 <= column.n_distinct <= min(20, n_rows / 5)


def _find(asked: str, names: Sequence[str], what: str) -> str:
    """Return the column meant, or raise a sentence with the nearest."""
    if asked in names:
        return asked
    folded = {name.casefold(): name for name in names}
    near = get_close_matches(asked.casefold(), folded, n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}?" if near else f"the columns are {_few(names, 12)}."
    raise RequestError(f"There is no {what} {asked!r}; {hint}")


def _classes(target: Column, n_rows: int, folds: int) -> tuple[Array, Array, tuple[str, ...], dict[str, str]]:
    """Return which rows are used, their class numbers, the classes, and what to say about them."""
    if target.numbers is not None:
        there = ~np.isnan(target.numbers)
        values, codes = np.unique(target.numbers[there], return_inverse=True)
        names = [f"{value:.0f}" if value % 1 == 0 else f"{value:.12g}" for value in values]
    else:
        there = np.array([word != "" for word in target.words], bool)
        found, codes = np.unique(np.array([word for word in target.words if word]), return_inverse=True)
        names = [str(word) for word in found]
    if len(names) < 2:
        says = f"only the value {names[0]!r}" if names else "no value at all"
        raise RequestError(f"The target {target.name!r} has {says}; there is nothing to learn: choose another column.")
    is_number = target.numbers is not None and bool(np.any(target.numbers[there] % 1 != 0)) and len(names) > 20
    if is_number or len(names) > min(_MOST_CLASSES, max(2, len(codes) // 4)):
        raise RequestError(
            f"The target {target.name!r} has {len(names):,} different values in {n_rows:,} rows, which is no small "
            "number of classes; choose another column, or cut its values into a few ranges."
        )
    counts = np.bincount(codes)
    enough = counts >= folds
    facts = {}
    if not enough.all():
        rare = [f"{names[k]} ({counts[k]})" for k in np.flatnonzero(~enough)]
        if enough.sum() < 2 or counts[~enough].sum() > _RARE * len(codes):
            raise RequestError(
                f"The classes {_few(rare)} of {target.name!r} have fewer rows than the {folds} parts of the "
                "cross-validation; take fewer parts with --folds, or put rare classes together."
            )
        facts["Rare"] = f"rows of {_few(rare)} are left out: fewer than the {folds} parts of the cross-validation"
    rows = np.flatnonzero(there)[enough[codes]]
    y = (np.cumsum(enough) - 1)[codes[enough[codes]]]
    kept = tuple(name for name, good in zip(names, enough, strict=True) if good)
    sizes = [f"{name} ({count:,}, {share(count, len(y))})" for name, count in zip(kept, counts[enough], strict=True)]
    if not there.all():
        facts["No target"] = f"{n_rows - int(there.sum()):,} rows have none and are left out"
    return rows, y, kept, {"Classes": f"{len(kept)}: {_few(sizes, 6)}", **facts}


# -- the other columns -----------------------------------------------------------------------------------------------


def _useless(column: Column, n_rows: int) -> str:
    """Return why a column is better left out; empty if it is not."""
    distinct = column.n_distinct
    if distinct == 0:
        return "empty"
    if distinct == 1 and not column.n_missing:
        return "constant"
    if column.numbers is None:
        if set(column.words) <= {"train", "test", "validation", ""} and "test" in column.words:
            return "says which rows are for testing"
        return "an id? nearly all words differ" if n_rows >= 20 and distinct > 0.9 * n_rows else ""
    whole = bool(np.all(column.numbers % 1 == 0)) if not column.n_missing else False
    if n_rows >= 20 and whole and distinct == n_rows:
        if _IDS.fullmatch(column.name.strip()):
            return "an id? all its numbers differ"
        if np.ptp(column.numbers) == n_rows - 1:
            return "an id? it numbers the rows"
    return ""


def _numbers(column: Column) -> Array:
    """Return a column as numbers; words as their places in the alphabet."""
    if column.numbers is not None:
        return column.numbers
    words = {word: float(place) for place, word in enumerate(sorted(set(column.words) - {""}))}
    return np.array([words.get(word, np.nan) for word in column.words])


def _few(names: Sequence[str], most: int = 5) -> str:
    """Return names with commas, the first few of many."""
    shown = list(names[:most]) if len(names) > most + 1 else list(names)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
