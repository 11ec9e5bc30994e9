"""The first look at all partitions: their columns and categories, labels and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_y

from boostlab.data.dask.masses import MassFacts, exact_sum
from boostlab.data.dask.partitions import Refused
from boostlab.data.frames import (
    Columns,
    chosen_columns,
    has_others,
    in_order,
    is_loose,
    is_missing,
    kind_of,
    kind_of_objects,
    present_values,
    values_of,
)
from boostlab.data.frames import is_frame as is_frame
from boostlab.data.input_errors import check_labels, check_table, one_sentence
from boostlab.data.matrix import is_sparse
from boostlab.data.table import MOST_BINS

Array = npt.NDArray[Any]


@dataclass
class PartitionFacts:
    """What one partition says, or all of them."""

    names: list[str] | None
    n_rows: int = 0  # of weight above zero
    others: bool = False  # whether there are columns that are not plain numbers
    values: dict[int, set[Any] | None] = field(default_factory=dict)  # of columns that may be categorical
    sure: set[int] = field(default_factory=set)  # of these, those that are categorical by type or by name
    amounts: dict[int, dict[Any, Fraction]] = field(default_factory=dict)  # the weight of every value, if it is asked
    labels: Array | None = None
    ends: tuple[float, float] = (np.inf, -np.inf)  # of numbers to predict
    masses: MassFacts = field(default_factory=MassFacts)
    by_class: dict[Any, Fraction] = field(default_factory=dict)


@dataclass
class Asked:
    """What to look for in partitions.

    Parameters
    ----------
    wanted
        Which columns hold categories, as in a booster.
    numeric : bool
        Whether y holds numbers.
    name, where : str
        Of the booster, and of the labels, for messages.
    by_class : bool
        Whether the weight of every class is asked for.
    amounts : bool
        Whether the weight of every category is.
    """

    wanted: Any
    numeric: bool
    name: str
    where: str
    by_class: bool = False
    amounts: bool = False


def described(X: Any, y: Any, weight: Any, asked: Asked) -> PartitionFacts | Refused:
    """Look at one partition."""
    try:
        with one_sentence(where=asked.where):
            return _described(X, y, weight, asked)
    except (ValueError, TypeError) as error:
        return Refused(error)


def _described(X: Any, y: Any, weight: Any, asked: Asked) -> PartitionFacts:
    n, wanted = X.shape[0], asked.wanted
    y, w = labels_of(y, n, asked.numeric), weights_of(weight, n)
    check_table(X, asked.name)
    facts = PartitionFacts([str(c) for c in X.columns] if is_frame(X) else None)
    heavy = np.ones(n, bool) if w is None else w > 0
    facts.n_rows = int(heavy.sum())
    if w is not None:
        facts.masses = MassFacts.of(w)
    kept = y[heavy]
    if asked.numeric:
        facts.ends = (float(kept.min()), float(kept.max())) if len(kept) else facts.ends
    else:
        facts.labels = np.unique(kept)
        if asked.by_class:
            mass = np.ones(n) if w is None else w
            facts.by_class = {c: exact_sum(mass[heavy & (y == c)]) for c in facts.labels.tolist()}
    facts.others = has_others(X)
    if is_sparse(X):
        return facts
    _look_for_categories(facts, X, heavy, wanted)
    if asked.amounts:
        mass = np.ones(n) if w is None else w
        facts.amounts = {j: _amounts(values_of(X, j), mass, values) for j, values in facts.values.items() if values}
    return facts


def _amounts(cells: Sequence[Any], mass: Array, values: set[Any]) -> dict[Any, Fraction]:
    """Return the weight of every value of a column."""
    rows: dict[Any, list[int]] = {value: [] for value in values}
    for i, cell in enumerate(cells):
        if not is_missing(cell) and cell in rows:
            rows[cell].append(i)
    return {value: exact_sum(mass[mine]) for value, mine in rows.items()}


def _look_for_categories(facts: PartitionFacts, X: Any, heavy: Array, wanted: Any) -> None:
    """Note the values of columns that may be categorical, of rows that count."""
    table = X if is_frame(X) else np.asarray(X)
    seen = table[heavy] if not is_frame(X) or hasattr(X, "iloc") else X.filter(heavy)
    columns = Columns([None] * X.shape[1], list(X.columns) if is_frame(X) else None)
    if wanted is None or not isinstance(wanted, str):
        facts.sure = set() if wanted is None else chosen_columns(seen, wanted, columns)
        facts.values = {j: columns.distinct(present_values(seen, j), j) for j in facts.sure}
        return
    chosen_columns(np.empty((0, 0)), wanted, columns)  # a word that is not known
    for j in range(X.shape[1]) if facts.others else ():
        if is_loose(X, j):
            values = columns.distinct(present_values(seen, j), j)
            facts.values[j] = values if len(values) <= MOST_BINS or kind_of_objects(list(values)) != "number" else None
        elif kind_of(X, j) == "category":
            facts.values[j] = columns.distinct(present_values(seen, j), j)
            facts.sure.add(j)


def merged_facts(parts: Sequence[PartitionFacts]) -> PartitionFacts:
    """Return what all partitions say; they must have the same columns."""
    whole = PartitionFacts(parts[0].names)
    for i, part in enumerate(parts):
        if part.names != whole.names:
            shown = ", ".join(part.names or ["no names"])
            raise ValueError(f"In partition {i}: the columns are {shown}, and not those of the first; make them equal.")
        whole.n_rows += part.n_rows
        whole.others |= part.others
        whole.sure |= part.sure
        whole.ends = min(whole.ends[0], part.ends[0]), max(whole.ends[1], part.ends[1])
        whole.masses = whole.masses + part.masses
        for j, values in part.values.items():
            before = whole.values.get(j, set())
            whole.values[j] = None if values is None or before is None else before | values
        for c, total in part.by_class.items():
            whole.by_class[c] = whole.by_class.get(c, Fraction(0)) + total
        for j, amounts in part.amounts.items():
            mine = whole.amounts.setdefault(j, {})
            for value, amount in amounts.items():
                mine[value] = mine.get(value, Fraction(0)) + amount
    labels = [part.labels for part in parts if part.labels is not None and len(part.labels)]
    whole.labels = np.unique(np.concatenate(labels)) if labels else None
    return whole


def columns_of(
    facts: PartitionFacts, wanted: Any, n_features: int, names: list[Any] | None, least: float = 1
) -> Columns | None:
    """Return how the columns are read: categories are those of all partitions, in their order; None: plain numbers.

    Categories of less than the least weight are none.
    """
    by_dtype = wanted is None or (isinstance(wanted, str) and wanted == "from_dtype")
    if by_dtype and not facts.others:
        return None
    columns = Columns([None] * n_features, names)
    for j, values in facts.values.items():
        if j in facts.sure or values is None or kind_of_objects(list(values)) == "category":
            if j not in facts.sure and values is None:
                continue  # numbers, very many of them
            if values is None or len(values) > MOST_BINS:
                raise ValueError(
                    f"{columns.name(j)} has more than {MOST_BINS:,} categories; drop it if it is an identifier, or "
                    "group its rare values."
                )
            rare = {value for value, amount in facts.amounts.get(j, {}).items() if amount < least}
            columns.categories[j] = in_order(values - rare)
    return columns


def labels_of(y: Any, n_rows: int, numeric: bool) -> Array:
    """Return the labels of a partition, checked."""
    if hasattr(y, "columns"):
        y = y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]
    check_labels(y)
    y = np.asarray(y)
    y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (n_rows,):
        raise ValueError(f"X has {n_rows} rows, and y has the shape {y.shape}; give one label a row of X.")
    if not n_rows:
        return y.astype(np.float64) if numeric else y
    return np.asarray(_check_y(y, y_numeric=numeric))


def weights_of(weight: Any, n_rows: int) -> Array | None:
    """Return the weights of a partition, checked."""
    if weight is None:
        return None
    w = np.asarray(weight, np.float64)
    if w.shape != (n_rows,):
        raise ValueError(f"There are {n_rows} rows, and weights of shape {w.shape}; give one weight a row of X.")
    if not (np.isfinite(w).all() and (w >= 0).all()):
        raise ValueError("Every weight must be a finite number of at least 0, and one is not; correct sample_weight.")
    return w
