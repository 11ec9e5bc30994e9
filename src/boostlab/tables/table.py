"""What a table holds: the target, numbers, categories, dates, text, and columns that are better left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.datasets import content_hash
from boostlab.studies.plan import StudyProblem
from boostlab.studies.request import RequestError
from boostlab.studies.tables import share
from boostlab.tables.columns import Sheet
from boostlab.tables.leakage import leaks
from boostlab.tables.recipe import Recipe, few, recipe_of
from boostlab.tables.target import classes_to_predict, find_column, find_target, holds_numbers, numbers_to_predict

Array = npt.NDArray[Any]

_IDS = re.compile(
    r"(?i:(.*[ _.-])?(id|ids|key|uuid|guid|index|idx|row|nr|no|number)|unnamed: ?0|rownames"
    r"|(customer|user|client|patient|passenger|order|account|member|employee|student|person)(id|no|nr|number))"
    r"|.*[a-z](I[dD]|Key|No|Nr)"  # as in CustomerID
)


@dataclass(frozen=True, eq=False)
class LabelledTable(StudyProblem):
    """A table to compare boosters on: the problem of a study, and its data.

    Parameters
    ----------
    name : str
        What to call it.
    X : array or CSR matrix of shape (n_rows, n_features)
        Numbers; NaN where a value is missing; categories are 0, 1, ...
    y : array of shape (n_rows,)
        Class numbers, or the numbers to predict.
    classes : tuple of str
        What class numbers stand for; empty where numbers are predicted.
    categorical_features : list of int
        Columns that hold categories.
    target : str
        Name of the column to predict.
    facts : dict from str to str
        What was understood, for people.
    feature_names : tuple of str
        The columns, where they have names.
    recipe : Recipe, optional
        How cells became numbers, where they were read from a file.
    warnings : list of str
        What a person should look at before they trust a result.
    drawn : callable, optional
        Of a table that is read in batches, of which X has the codes: returns the numbers of some of its rows.
    """

    name: str
    X: Any = field(repr=False)
    y: Array = field(repr=False)
    classes: tuple[str, ...]
    categorical_features: list[int] = field(default_factory=list)
    target: str = "y"
    facts: dict[str, str] = field(default_factory=dict, repr=False)
    feature_names: tuple[str, ...] = field(default=(), repr=False)
    recipe: Recipe | None = field(default=None, repr=False)
    warnings: list[str] = field(default_factory=list, repr=False)
    drawn: Callable[[Array], Array] | None = field(default=None, repr=False)

    @property
    def is_numeric(self) -> bool:
        """Whether numbers are predicted."""
        return not self.classes

    def labels(self) -> Array:
        """Return the target as a model is given it: names of classes, or numbers."""
        return self.y if self.is_numeric else np.array(self.classes)[self.y]

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
        y = np.asarray(self.y, np.float64 if self.is_numeric else np.int64)
        return content_hash(self.X, y, list(self.classes), list(self.categorical_features))


def understand(
    sheet: Sheet,
    name: str,
    target: str | None = None,
    *,
    folds: int,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    text: bool = True,
    numeric: bool | None = None,
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
    text : bool, default=True
        Whether to use columns of sentences, by their length and words.
    numeric : bool, optional
        Whether the target is a number to predict; None is what its values suggest.

    Returns
    -------
    LabelledTable
    """
    chosen, why = find_target(sheet, target)
    used, left_out = columns_to_use(sheet, chosen, drop, keep, text)
    if numeric or (numeric is None and holds_numbers(chosen)):
        rows, y, classes, target_facts = numbers_to_predict(chosen, sheet.n_rows, folds)
    else:
        rows, y, classes, target_facts = classes_to_predict(chosen, sheet.n_rows, folds)
    recipe = Recipe(tuple(recipe_of(column) for column in used), chosen.name, chosen.form, classes, left_out)
    X = recipe.stack(used)[rows]
    facts = table_facts(recipe, why, target_facts, sheet, used, len(y))
    table = LabelledTable(
        *(name, X, y, classes, recipe.categorical_features, chosen.name, facts, recipe.feature_names, recipe)
    )
    table.warnings.extend(leak_warnings(table, leaks(X, y, table.categorical_features, table.is_numeric)))
    return table


def table_facts(
    recipe: Recipe, why: str, target_facts: Mapping[str, str], sheet: Sheet, used: Sequence[Any], n_used: int
) -> dict[str, str]:
    """Return what was understood of a table, for people."""
    facts = {
        "Target": f"{recipe.target}{why}",
        **target_facts,
        "Rows": f"{sheet.n_rows:,}" + (f", of which {n_used:,} are used" if n_used < sheet.n_rows else ""),
        **_column_facts(recipe),
        "Missing": _missing(used, sheet.n_rows),
    }
    if recipe.left_out:
        suspects = any(reason != "as asked" for reason in recipe.left_out.values())
        facts["Left out"] = _by_reason(recipe.left_out) + (" (--keep NAME keeps it)" if suspects else "")
    if sheet.remarks:
        facts["Remark"] = " ".join(sheet.remarks)
    return facts


def leak_warnings(table: LabelledTable, told: Mapping[int, str]) -> list[str]:
    """Return what to say about columns that tell the target outright."""
    return [
        f"{table.feature_names[j]!r} {what}: if it is known only after {table.target!r} is, leave it out with --drop."
        for j, what in list(told.items())[:5]
    ]


def columns_to_use(
    sheet: Sheet, target: Any, drop: Sequence[str], keep: Sequence[str], text: bool
) -> tuple[list[Any], dict[str, str]]:
    """Return the columns to learn from, and why each of the others is left out."""
    names = [column.name for column in sheet.columns]
    for asked in (*drop, *keep):
        find_column(asked, names, "column")
    both = [name for name in drop if name in keep]
    if both:
        raise RequestError(f"The column {both[0]!r} is to be left out and to be kept; name it once.")
    if target.name in drop:
        raise RequestError(f"The target {target.name!r} cannot be left out; choose another with --target.")
    used, left_out = [], {}
    for column in sheet.columns:
        if column is target:
            continue
        reason = "as asked" if column.name in drop else "" if column.name in keep else _useless(column, sheet.n_rows)
        if not reason and not text and column.holds_text:
            reason = "text; --text yes uses its length and words"
        if reason:
            left_out[column.name] = reason
        else:
            used.append(column)
    if not used:
        raise RequestError(
            f"Beside the target {target.name!r} no column is left to learn from: {_by_reason(left_out)}."
        )
    return used, left_out


def _column_facts(recipe: Recipe) -> dict[str, str]:
    """Return how many columns there are of every kind, and the names of those that were recoded."""
    kinds = ("number", "category", "boolean", "date", "text")
    names = {kind: [one.name for one in recipe.columns if one.kind == kind] for kind in kinds}
    parts = [f"{len(names['number']):,} of numbers", f"{len(names['category']):,} of categories"]
    if names["category"]:
        parts[-1] += f" ({few(names['category'])})"
    parts += [f"{len(names['boolean'])} of yes and no ({few(names['boolean'])})"] if names["boolean"] else []
    parts += [f"{len(names['date'])} of dates ({few(names['date'])})"] if names["date"] else []
    parts += [f"{len(names['text'])} of text ({few(names['text'])})"] if names["text"] else []
    facts = {"Columns": f"{len(recipe.columns):,}: {', '.join(parts)}"}
    if names["date"]:
        several = {part for one in recipe.columns if one.kind == "date" for part in one.values}
        facts["Dates"] = f"become {', '.join(sorted(several))}"
    if names["text"]:
        facts["Text"] = "becomes its length, its number of words, and which frequent words it has (--text no: left out)"
    units = [f"{one.name} {one.form.says()}" for one in recipe.columns if one.kind == "number" and one.form.says()]
    return facts | ({"Read as numbers": few(units)} if units else {})


def _missing(used: Sequence[Any], n_rows: int) -> str:
    missing = [column for column in used if column.n_missing]
    cells = sum(column.n_missing for column in missing)
    if not cells:
        return "none"
    return f"{cells:,} cells ({share(cells, n_rows * len(used))}) in {few([column.name for column in missing])}"


def _by_reason(left_out: Mapping[str, str]) -> str:
    """Return columns that are left out, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{few(names)} ({reason})" for reason, names in reasons.items())


# -- the other columns -----------------------------------------------------------------------------------------------


def _useless(column: Any, n_rows: int) -> str:
    """Return why a column is better left out; empty if it is not."""
    distinct = column.n_distinct
    if distinct == 0:
        return "empty"
    if distinct == 1 and not column.n_missing:
        return "constant"
    if column.holds_words:
        if distinct <= 3 and {"test"} <= column.distinct_words <= {"train", "test", "validation", ""}:
            return "says which rows are for testing"
        many = n_rows >= 20 and distinct > 0.9 * n_rows
        return "an id? nearly all words differ" if many and not column.holds_text else ""
    if column.form.kind == "date":
        return ""
    if n_rows >= 20 and column.is_whole and distinct == n_rows:
        if _IDS.fullmatch(column.name.strip()):
            return "an id? all its numbers differ"
        if column.span == n_rows - 1:
            return "an id? it numbers the rows"
    return ""
