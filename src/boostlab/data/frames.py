"""What people have, as one matrix of numbers: frames and arrays, categories and missing values.

Numeric and boolean columns become floats, a missing value NaN.  The values of a categorical column become 0, 1, ... in
sorted order; a missing value, or one not seen when the columns were fitted, becomes NaN.  What a column of Python
objects is, its values say: numbers, or text (perhaps with numbers in between); a column without values is numeric.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.table import MOST_BINS

Array = npt.NDArray[Any]

_NUMBERS = (Real, Decimal, np.bool_)  # Real: Python's and NumPy's whole and floating numbers, and bool


@dataclass
class Columns:
    """How each column of a table is read.

    Parameters
    ----------
    categories : list
        For every column its categories in order, or None for a numeric column.
    names : list of str, optional
        The columns' names, for messages.
    """

    categories: list[list[Any] | None]
    names: list[str] | None = None

    @classmethod
    def fit(
        cls, X: Any, categorical_features: Any = "from_dtype", least: float = 1, weight: Array | None = None
    ) -> Columns:
        """Look at a frame or an array and decide how its columns are read.

        Parameters
        ----------
        X : pandas or polars frame, or array
            The training table.
        categorical_features : "from_dtype", None, or a list
            Text and categorical dtypes; no column; or column names, positions, or one truth value a column.
        least : float
            Categories of less weight are none: their rows are read as missing.
        weight : array, optional
            Of every row; by default 1.
        """
        names = list(X.columns) if is_frame(X) else None
        columns = cls([None] * X.shape[1], names)
        wanted = chosen_columns(X, categorical_features, columns)
        for j in sorted(wanted):
            distinct = columns.distinct(present_values(X, j), j)
            if least > 1:
                distinct = _frequent(distinct, values_of(X, j), least, weight)
            columns.categories[j] = categories = in_order(distinct)
            if len(categories) > MOST_BINS:
                raise ValueError(
                    f"{columns.name(j)} has {len(categories):,} categories, and at most {MOST_BINS:,} are possible; "
                    "drop it if it is an identifier, or group its rare values."
                )
        return columns

    @classmethod
    def plain(cls, X: Any) -> Columns:
        """Read a frame's columns as numbers, all of them."""
        return cls([None] * X.shape[1], list(X.columns))

    @property
    def n_categories(self) -> dict[int, int]:
        """The categorical columns and how many categories each has."""
        return {j: max(len(c), 1) for j, c in enumerate(self.categories) if c is not None}

    def name(self, j: int) -> str:
        """Return what to call column j in a message."""
        return f"Column {self.names[j]!r}" if self.names else f"Column {j}"

    def numbers(self, X: Any, first: bool = False) -> Array:
        """Return the table as floats, NaN where a value is missing or its category unknown.

        Parameters
        ----------
        X : pandas or polars frame, or array
            A table with as many columns as the training table.
        first : bool
            Whether it is the training table itself, for messages.
        """
        if not is_frame(X) and not self.n_categories:
            return np.asarray(X)
        out = np.empty(X.shape)
        for j, categories in enumerate(self.categories):
            out[:, j] = self._numeric(X, j, first) if categories is None else self._places(X, j, categories)
        return out

    def distinct(self, values: list[Any], j: int) -> set[Any]:
        try:
            return set(values)
        except TypeError as error:
            raise ValueError(
                f"{self.name(j)} holds values that cannot be categories ({error}); turn them into text or numbers, "
                "or drop the column."
            ) from None

    def _places(self, X: Any, j: int, categories: list[Any]) -> Array:
        """Return a categorical column as the numbers of its categories."""
        seen = self.distinct(present_values(X, j), j)
        held_text = bool(categories) and all(isinstance(v, str) for v in categories)
        if seen and held_text and all(isinstance(v, _NUMBERS) for v in seen):
            raise ValueError(f"{self.name(j)} held text at fit and holds numbers now; give a table of the same kind.")
        place = {v: float(i) for i, v in enumerate(categories)}
        return np.array([np.nan if is_missing(v) else place.get(v, np.nan) for v in values_of(X, j)])

    def _numeric(self, X: Any, j: int, first: bool) -> Array:
        try:
            if not is_frame(X):
                return np.array([np.nan if is_missing(v) else v for v in X[:, j]], dtype=np.float64)
            kind = kind_of(X, j)
            if kind == "number":
                return _floats(_column(X, j))
        except OverflowError:
            raise ValueError(f"{self.name(j)} holds a number too large for a float; scale it, or drop it.") from None
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self.name(j)} holds a value that is not a number ({error}); turn it into numbers, or drop it."
            ) from None
        what = "text or categories" if kind == "category" else "neither numbers nor categories"
        if first:
            cure = "name it in categorical_features" if kind == "category" else "turn it into numbers"
            raise ValueError(f"{self.name(j)} holds {what} ({_dtype(X, j)}); {cure}, or drop it.")
        raise ValueError(
            f"{self.name(j)} held numbers at fit and holds {what} ({_dtype(X, j)}) now; give a table of the same kind."
        )


def _frequent(distinct: set[Any], values: Iterable[Any], least: float, weight: Array | None) -> set[Any]:
    """Return the categories of at least so much weight."""
    mass = dict.fromkeys(distinct, 0.0)
    for row, value in enumerate(values):
        if value in mass:
            mass[value] += 1.0 if weight is None else float(weight[row])
    return {value for value, whole in mass.items() if whole >= least}


def merged_columns(known: Columns | None, new: Columns, X: Any) -> Columns:
    """Return how columns are read after one more batch: with the categories of all of them."""
    if known is None:
        return new
    for j, (before, now) in enumerate(zip(known.categories, new.categories, strict=True)):
        if (before is None) != (now is None) and present_values(X, j):
            kinds = ("numbers", "text or categories") if before is None else ("text or categories", "numbers")
            raise ValueError(f"{known.name(j)} holds {kinds[1]}, and held {kinds[0]} before; give one kind in all.")
        if before is not None and now is not None:
            known.categories[j] = in_order({*before, *now})
    return known


def is_frame(X: Any) -> bool:
    """Return whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "shape") and type(X).__module__.split(".")[0] in ("pandas", "polars")


def as_frame(X: Any) -> Any:
    """Return a table or batch of Arrow as a frame of pandas; anything else as it is."""
    is_arrow = type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "to_pandas")
    return X.to_pandas() if is_arrow else X


def has_others(X: Any) -> bool:
    """Return whether a frame has columns that are not plain numbers: categories, objects, or nothing at all."""
    if not is_frame(X):
        return False
    one_each = {dtype: j for j, dtype in enumerate(X.dtypes)}
    return any(is_loose(X, j) or kind_of(X, j) != "number" for j in one_each.values())


def has_sparse(X: Any) -> bool:
    """Return whether a frame has sparse columns (of pandas)."""
    if not (is_frame(X) and hasattr(X, "iloc")):
        return False
    from pandas import SparseDtype

    return any(isinstance(t, SparseDtype) for t in X.dtypes)


def unpacked(X: Any) -> Any:
    """Return a frame with sparse columns as a sparse matrix, or as an array if not all of them rest on zero."""
    if all(getattr(t, "fill_value", None) == 0 for t in X.dtypes):
        return X.sparse.to_coo().tocsr().astype(np.float64)
    return Columns.plain(X).numbers(X, first=True)


def _column(X: Any, j: int) -> Any:
    if not is_frame(X):
        return X[:, j]
    return X.iloc[:, j] if hasattr(X, "iloc") else X.get_column(X.columns[j])


def _dtype(X: Any, j: int) -> str:
    return str(_column(X, j).dtype)


def kind_of(X: Any, j: int) -> str:
    """Return "number", "category" or "other" for a frame's column."""
    dtype = _column(X, j).dtype
    if hasattr(X, "iloc"):
        from pandas.api import types

        if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
            return "number"
        if types.is_object_dtype(dtype):
            return kind_of_objects(present_values(X, j))
        return "category" if types.is_string_dtype(dtype) or isinstance(dtype, _pandas_categorical()) else "other"
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        return "number"
    return "category" if str(dtype).split("(")[0] in ("String", "Categorical", "Enum", "Utf8") else "other"


def kind_of_objects(values: list[Any]) -> str:
    """Return "number", "category" or "other" for a column of Python objects, by its values."""
    kinds = set(map(type, values))
    if not all(issubclass(k, (str, *_NUMBERS)) for k in kinds):
        return "other"
    return "category" if any(issubclass(k, str) for k in kinds) else "number"


def is_loose(X: Any, j: int) -> bool:
    """Return whether a frame's column has no type of its own."""
    return _dtype(X, j) in ("object", "Null")


def _floats(column: Any) -> Array:
    try:  # pandas' nullable columns need the fill value
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except TypeError:
        if not hasattr(column, "cast"):
            raise
        import polars

        return np.asarray(column.cast(polars.Float64).to_numpy())


def _pandas_categorical() -> type:
    from pandas import CategoricalDtype

    return CategoricalDtype


def values_of(X: Any, j: int) -> list[Any]:
    """Return the cells of column j as Python objects."""
    column = _column(X, j)
    if not is_frame(X):
        return np.asarray(column).tolist()
    if hasattr(X, "iloc"):
        column = column.astype(object)
        return column.where(column.notna(), None).tolist()
    return column.to_list()


def present_values(X: Any, j: int) -> list[Any]:
    """Return the cells of column j that are not missing."""
    return [v for v in values_of(X, j) if not is_missing(v)]


def is_missing(v: Any) -> bool:
    """Return whether one value stands for a missing one: None, NaN, NaT, pandas' NA."""
    if v is None or type(v).__name__ == "NAType":
        return True
    return isinstance(v, float | Decimal | np.generic | datetime) and bool(v != v)


def in_order(values: set[Any]) -> list[Any]:
    """Return categories in sorted order."""
    try:
        return sorted(values)
    except TypeError:  # a mixture of types
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def chosen_columns(X: Any, wanted: Any, columns: Columns) -> set[int]:
    """Return the positions of the categorical columns."""
    d = X.shape[1]
    if wanted is None:
        return set()
    if isinstance(wanted, str):
        if wanted != "from_dtype":
            raise ValueError(
                f'categorical_features={wanted!r} is not known; use "from_dtype", None, or a list of columns.'
            )
        return {j for j in range(d) if is_frame(X) and kind_of(X, j) == "category"}
    if not isinstance(wanted, Sequence | np.ndarray):
        raise ValueError(f'categorical_features={wanted!r} is not known; use "from_dtype", None, or a list of columns.')
    items = list(wanted)
    if items and all(isinstance(v, bool | np.bool_) for v in items):
        if len(items) != d:
            raise ValueError(f"categorical_features has {len(items)} truth values for {d} columns; give one a column.")
        return {j for j, v in enumerate(items) if v}
    chosen = set()
    for v in items:
        if isinstance(v, str):
            if columns.names is None or v not in columns.names:
                near = get_close_matches(v, columns.names or [], 1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise ValueError(f"categorical_features names the column {v!r}, which the table does not have{hint}")
            chosen.add(columns.names.index(v))
        elif isinstance(v, int | np.integer) and -d <= v < d:
            chosen.add(int(v) % d)
        else:
            raise ValueError(
                f"categorical_features names the column {v!r}, and the table has {d} columns (0 to {d - 1})."
            )
    return chosen
