"""How a person's table becomes the numbers that a booster takes: learnt once, kept with the model, applied again.

A recipe is plain data: `to_json` and `from_json` are all there is to storing one, and nothing in it is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from boostlab.studies.request import RequestError
from boostlab.tables.columns import Array, Column, RawSheet, words_of
from boostlab.tables.forms import Form, date_parts, is_date_form, is_true

KINDS = ("number", "category", "boolean", "date", "text")


@dataclass(frozen=True)
class ColumnRecipe:
    """How one column is used.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "boolean", "date", "text"}
    form : Form
        How its cells are read.
    values : tuple of str
        The categories; of dates the parts; of text the words that are looked for.
    """

    name: str
    kind: str
    form: Form = field(default_factory=Form)
    values: tuple[str, ...] = ()

    @property
    def features(self) -> list[str]:
        """The names of the columns that it becomes."""
        if self.kind == "date":
            return [f"{self.name}: {part}" for part in self.values]
        if self.kind == "text":
            return [f"{self.name}: {what}" for what in ("characters", "words", *(f"has {w!r}" for w in self.values))]
        return [self.name]

    def numbers(self, column: Column) -> list[Array]:
        """Return the columns of numbers that it becomes.

        Parameters
        ----------
        column : Column
            Read by this recipe's form.
        """
        if self.kind == "number":
            assert column.numbers is not None
            return [column.numbers]
        if self.kind == "boolean":
            return [is_true(column.words)]
        if self.kind == "date":
            assert column.numbers is not None
            parts = date_parts(column.numbers)
            return [parts[part] for part in self.values]
        if self.kind == "text":
            return _text_numbers(column.words, self.values)
        known = {word: float(place) for place, word in enumerate(self.values)}
        return [np.array([known.get(word, np.nan) for word in column.words])]


def recipe_of(column: Any) -> ColumnRecipe:
    """Return how a column is best used, by what it holds.

    Parameters
    ----------
    column : Column, or SeenColumn
        Of the training rows.
    """
    if column.form.kind == "date":
        return ColumnRecipe(column.name, "date", column.form, column.varying_parts)
    if not column.holds_words:
        return ColumnRecipe(column.name, "number", column.form)
    if column.form.kind == "boolean":
        return ColumnRecipe(column.name, "boolean", column.form)
    form = Form("words")
    if column.holds_text:
        return ColumnRecipe(column.name, "text", form, column.telling_words)
    return ColumnRecipe(column.name, "category", form, tuple(sorted(column.distinct_words - {""})))


def _text_numbers(cells: Sequence[str], words: Sequence[str]) -> list[Array]:
    there = np.array([cell != "" for cell in cells])
    found = [words_of(cell) for cell in cells]
    columns = [
        np.array([float(len(cell)) for cell in cells]),
        np.array([float(len(cell.split())) for cell in cells]),
        *(np.array([float(word in own) for own in found]) for word in words),
    ]
    return [np.where(there, column, np.nan) for column in columns]


@dataclass(frozen=True)
class Recipe:
    """How a table is read: its columns, its target, and what is left out.

    Attributes
    ----------
    columns : tuple of ColumnRecipe
        Those that are used, in the order of the matrix.
    target : str
        Name of the column to predict.
    target_form : Form
        How its cells are read.
    classes : tuple of str
        Empty where numbers are predicted.
    left_out : mapping from str to str
        Columns that are not used, and why.
    """

    columns: tuple[ColumnRecipe, ...]
    target: str = "y"
    target_form: Form = field(default_factory=Form)
    classes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def category_names(self) -> list[Sequence[str] | None]:
        """The categories of every column of the matrix in order; None where it holds numbers."""
        found: list[Sequence[str] | None] = []
        for column in self.columns:
            found += [column.values] if column.kind == "category" else [None] * len(column.features)
        return found

    @property
    def value_names(self) -> list[Sequence[str] | None]:
        """As `category_names`, and no and yes for columns of booleans, which the matrix holds as 0 and 1."""
        kinds = [column.kind for column in self.columns for _ in column.features]
        return [
            ("no", "yes") if kind == "boolean" else names
            for kind, names in zip(kinds, self.category_names, strict=True)
        ]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the matrix's columns."""
        return tuple(name for column in self.columns for name in column.features)

    @property
    def categorical_features(self) -> list[int]:
        """The matrix's columns that hold categories."""
        kinds = [column.kind for column in self.columns for _ in column.features]
        return [j for j, kind in enumerate(kinds) if kind == "category"]

    def matrix(self, raw: RawSheet, source: str = "the table") -> Array:
        """Return the rows of a table as numbers; its columns are found by name, in any order.

        Parameters
        ----------
        raw : RawSheet
            The cells.
        source : str
            What to call the table where it does not fit.
        """
        place = {name: j for j, name in enumerate(raw.names)}
        missing = [column.name for column in self.columns if column.name not in place]
        if missing:
            raise RequestError(
                f"{source} lacks {len(missing)} of the {len(self.columns)} columns that the model takes: "
                f"{few(missing)}; give a table with these names in its first line."
            )
        return self.stack([raw.column(place[column.name], column.form) for column in self.columns])

    def stack(self, columns: Sequence[Column]) -> Array:
        """Return the matrix of columns that are in the recipe's order."""
        return np.column_stack(
            [part for own, column in zip(self.columns, columns, strict=True) for part in own.numbers(column)]
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        return {
            "columns": [
                {"name": one.name, "kind": one.kind, "form": one.form.to_json(), "values": list(one.values)}
                for one in self.columns
            ],
            "target": self.target,
            "target_form": self.target_form.to_json(),
            "classes": list(self.classes),
            "left_out": dict(self.left_out),
        }

    @classmethod
    def from_json(cls, said: Any) -> Recipe:
        """Return the recipe that `to_json` wrote; ValueError if it is none."""
        _need(isinstance(said, dict) and said.keys() == {one.name for one in fields(cls)}, "entries")
        _need(isinstance(said["columns"], list) and isinstance(said["left_out"], dict), "columns")
        _need(isinstance(said["target"], str), "target")
        _need(all(isinstance(text, str) for pair in said["left_out"].items() for text in pair), "left_out")
        columns = tuple(_column_from_json(one) for one in said["columns"])
        form = _form_from_json(said["target_form"])
        return cls(columns, said["target"], form, _texts(said["classes"]), dict(said["left_out"]))


def _column_from_json(said: Any) -> ColumnRecipe:
    _need(isinstance(said, dict) and said.keys() == {"name", "kind", "form", "values"}, "a column's entries")
    _need(isinstance(said["name"], str) and said["kind"] in KINDS, "a column's kind")
    values, form = _texts(said["values"]), _form_from_json(said["form"])
    if said["kind"] == "date":
        _need(set(values) <= set(date_parts(np.zeros(1))), "the parts of a date")
    _need((form.kind in ("number", "date")) == (said["kind"] in ("number", "date")), "a column's form")
    return ColumnRecipe(said["name"], said["kind"], form, values)


def _form_from_json(said: Any) -> Form:
    _need(isinstance(said, dict) and said.keys() <= {one.name for one in fields(Form)}, "a form's entries")
    _need(all(isinstance(text, str) for text in said.values()), "a form's values")
    form = Form(**said)
    _need(form.kind in ("number", "words", "boolean", "date"), "a form's kind")
    _need((form.kind == "date") == bool(form.date) and (not form.date or is_date_form(form.date)), "a date's format")
    return form


def _texts(said: Any) -> tuple[str, ...]:
    _need(isinstance(said, list) and all(isinstance(text, str) for text in said), "a list of texts")
    return tuple(said)


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"the recipe is damaged: {what}")


def few(names: Sequence[str], most: int = 5) -> str:
    """Return names with commas, the first few of many.

    Examples
    --------
    >>> few(list("abcdefgh"))
    'a, b, c, d, e and 3 more'
    """
    shown = list(names[:most]) if len(names) > most + 1 else list(names)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
