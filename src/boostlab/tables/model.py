"""A fitted booster with the recipe of its table: a scikit-learn pipeline that takes raw tables, and its file.

A file is the recipe, as JSON, before the booster's own model file: `boostlab.load` reads the booster alone,
`load_model` both.  Nothing in it is executed.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from boostlab.model_io import load
from boostlab.studies.request import RequestError
from boostlab.studies.whole_files import write_whole
from boostlab.tables.columns import Array, RawSheet
from boostlab.tables.files import read_raw
from boostlab.tables.parquet import typed
from boostlab.tables.recipe import Recipe

MAGIC = b"boostlab table model 1\n"
_MOST = 1 << 28  # bytes of a recipe


class TableReader(TransformerMixin, BaseEstimator):
    """A recipe as a scikit-learn transformer: raw tables in, numbers out.

    Parameters
    ----------
    recipe : Recipe
        Learnt when the model was made; `fit` learns nothing.

    Examples
    --------
    >>> from boostlab.tables.recipe import ColumnRecipe
    >>> reader = TableReader(Recipe((ColumnRecipe("size", "number"),)))
    >>> reader.transform({"colour": ["red", "blue"], "size": [1, None]}).tolist()
    [[1.0], [nan]]
    """

    def __init__(self, recipe: Recipe | None = None) -> None:
        self.recipe = recipe

    def fit(self, X: Any, y: Any = None) -> TableReader:
        """Return itself: the recipe is learnt already."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.recipe is not None

    def transform(self, X: Any) -> Array:
        """Return the rows of a table as numbers.

        Parameters
        ----------
        X : path, frame, mapping from str to list, or RawSheet
            With the columns that the recipe names, in any order; others are ignored.
        """
        assert self.recipe is not None
        return self.recipe.matrix(raw_sheet(X), "the table")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of numbers."""
        assert self.recipe is not None
        return np.array(self.recipe.feature_names, dtype=object)


def raw_sheet(X: Any) -> RawSheet:
    """Return the cells of a table.

    Parameters
    ----------
    X : path, pandas or polars frame, mapping from str to list, or RawSheet
    """
    if isinstance(X, RawSheet):
        return X
    if isinstance(X, str | os.PathLike):
        return read_raw(Path(X))
    names = [str(name) for name in (X.columns if hasattr(X, "columns") else X.keys())]
    cells = [_cells(X[name]) for name in (X.columns if hasattr(X, "columns") else X)]
    if not names:
        raise RequestError("The table has no columns; there is nothing to learn from.")
    return RawSheet(names, cells, len(cells[0]))


def _cells(column: Any) -> Any:
    kind = str(getattr(column, "dtype", ""))
    if kind.startswith(("int", "float", "uint")):
        return np.asarray(column, dtype=np.float64)
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return typed([None if value is None or value != value else _plain(value) for value in values])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def table_model(recipe: Recipe, booster: Any) -> Pipeline:
    """Return a recipe and a fitted booster as a fitted pipeline."""
    return Pipeline([("recipe", TableReader(recipe)), ("booster", booster)])


def save_model(model: Pipeline, path: str | os.PathLike[str], facts: dict[str, Any] | None = None) -> None:
    """Write a pipeline of a recipe and a booster to a file, whole or not at all.

    Parameters
    ----------
    model : Pipeline
        As `table_model` makes it.
    path : path
        Where to.
    facts : dict, optional
        What else to keep, of JSON values: how the model was made and what it is worth.
    """
    said = {"recipe": model["recipe"].recipe.to_json(), "facts": facts or {}}
    text = json.dumps(said, ensure_ascii=False, allow_nan=False).encode()
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder, "booster")
        model["booster"].save(inner)
        content = MAGIC + len(text).to_bytes(8, "little") + text + inner.read_bytes()
    try:
        write_whole(Path(path), content)
    except OSError as error:
        raise RequestError(f"The model cannot be written to {path} ({(error.strerror or '').lower()}).") from error


def load_model(path: str | os.PathLike[str]) -> tuple[Pipeline, dict[str, Any]]:
    """Return the pipeline that `save_model` wrote, and what it says of itself.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Pipeline, dict
    """
    where = Path(path)
    if not where.is_file():
        raise RequestError(f"There is no model file {where}; boostlab fit TABLE --out {where} writes one.")
    try:
        with where.open("rb") as file:
            head = file.read(len(MAGIC))
            size = int.from_bytes(file.read(8), "little")
            text = file.read(size) if head == MAGIC and size <= _MOST else b""
    except OSError as error:
        raise RequestError(f"{where} cannot be read ({(error.strerror or '').lower()}).") from error
    if head != MAGIC:
        raise RequestError(f"{where} holds no recipe of a table; give a file that boostlab fit or compare wrote.")
    try:
        said = json.loads(text)
        recipe, facts = Recipe.from_json(said["recipe"]), dict(said["facts"])
        booster = load(where)
    except (ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{where} is damaged ({str(error).rstrip('.')}); fit the model again.") from error
    if booster.n_features_in_ != len(recipe.feature_names):
        raise RequestError(f"{where} is damaged (its recipe and its booster do not fit); fit the model again.")
    return table_model(recipe, booster), facts
