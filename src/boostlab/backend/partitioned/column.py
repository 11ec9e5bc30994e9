"""Columns whose rows are held by parts: elementwise arithmetic happens where the rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from boostlab.backend.partitioned.rows import PartitionedRows


class Ref(NamedTuple):
    """What stands for a column where it travels."""

    number: int


class Formed(tuple[Any, ...]):
    """The forms that channels sum, and the columns of weight and target."""

    __slots__ = ()


class PartedColumn(NDArrayOperatorsMixin):
    """One value a row, or one a row and class.

    NumPy's elementwise functions give a column; what would bring rows here is refused.

    Parameters
    ----------
    rows : PartitionedRows
        Whose rows.
    number : int
        How the parts know it.
    ndim, width, dtype
        1, or 2 with a width; the type of a value.
    """

    def __init__(self, rows: PartitionedRows, number: int, ndim: int, width: int, dtype: Any) -> None:
        self.rows, self.number, self.ndim, self.dtype = rows, number, ndim, np.dtype(dtype)
        self.voter: Any = None  # whose votes these are, if they are
        self.shape: tuple[int, ...] = (rows.n_rows,) if ndim == 1 else (rows.n_rows, width)

    def __len__(self) -> int:
        return self.rows.n_rows

    def __del__(self) -> None:
        self.rows.release(self.number)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "The rows of this table are not in this process, and this rule or learner computes with them by NumPy; "
            "use a booster that is written in formulas, with stumps or trees, or fit on a table in memory."
        )

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        options.pop("out", None)  # of +=, which then names the new column
        if method != "__call__" or options:
            return NotImplemented
        return self.rows.compute("elementwise", function, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.stack and options == {"axis": 1}:
            return self.rows.compute("stacked", tuple(args[0]))
        if function is np.where and not options:
            return self.rows.compute("chosen", args)
        return NotImplemented

    def __getitem__(self, key: Any) -> PartedColumn:
        """Return one class's column, of a column with one value a class; x[:, None] makes such a column."""
        if self.ndim == 1 and key == (slice(None), None):
            return self.rows.compute("stacked", (self,))
        if self.ndim != 2 or not (isinstance(key, tuple) and len(key) == 2 and key[0] == slice(None)):
            raise TypeError("Rows that are not in this process cannot be picked out by their numbers.")
        return self.rows.compute("label", self, key[1])

    @property
    def T(self) -> list[PartedColumn]:
        """The classes' columns."""
        return [self[:, label] for label in range(self.shape[1])]

    def sum(self, axis: int) -> PartedColumn:
        """Return the sum over the classes of every row."""
        assert axis == 1
        return self.rows.compute("over_labels", self)

    def max(self) -> float:
        """Return the largest value."""
        return self.rows.largest(self)

    def all(self) -> bool:
        """Return whether no value is zero."""
        return self.rows.smallest(np.abs(self * 1.0)) > 0.0

    def any(self) -> bool:
        """Return whether a value is not zero."""
        return self.rows.largest(np.abs(self * 1.0)) > 0.0


def as_sent(x: Any) -> Any:
    """Return an argument as it travels: a column as what stands for it."""
    if isinstance(x, PartedColumn):
        return Ref(x.number)
    if isinstance(x, Formed):
        return Formed(as_sent(part) for part in x)
    return tuple(as_sent(part) for part in x) if type(x) is tuple else x
