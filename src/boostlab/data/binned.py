"""A table that is read and binned once, for many fits."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.threads import count_threads
from boostlab.data.batches import Batches, parquet_batches
from boostlab.data.bins import Bins
from boostlab.data.coded import CodedMatrix
from boostlab.data.coding import code_batches, most_bins, read_batches
from boostlab.data.frames import Columns
from boostlab.data.input_tables import Reader, ReadTable
from boostlab.data.matrix import as_a_whole
from boostlab.data.memory import give_back
from boostlab.data.sample import weighed_rows
from boostlab.data.table import MOST_BINS, Table

Array = npt.NDArray[Any]


MAX_BINS = f"a whole number from 2 to {MOST_BINS} or 'exact'"


def is_max_bins(value: Any) -> bool:
    """Return whether a value is a possible number of bins a column, which `MAX_BINS` describes."""
    if isinstance(value, str):
        return value == "exact"
    return isinstance(value, Integral) and not isinstance(value, bool) and 2 <= int(value) <= MOST_BINS


class _OfTheClass:
    """A class method that instances do not have: scikit-learn takes an object that has a `fit` for an estimator."""

    def __init__(self, function: Callable[..., Binned]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __get__(self, instance: Any, owner: type) -> Callable[..., Binned]:
        if instance is not None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'fit'")
        return MethodType(self.function, owner)


class Binned(ReadTable):
    """A table that is read and binned once, to be given to boosters in place of X as often as one likes.

    Made by `Binned.fit`.  All boosters take it in `fit` (as `X` and `X_val`) and wherever they predict, and do not bin
    it again; a model is the one that the plain table gives, bit for bit, also where early stopping holds rows out:
    the bins are those of all rows in both cases (and of the same `sample_weight`, which the quantiles of long columns
    look at).  The bins of the `Binned` count, so a booster's `max_bins` and `categorical_features` must be left at
    their defaults or agree with it.  Rows may be chosen by `take` or by an index array, so scikit-learn's
    cross-validation can split it.

    Attributes
    ----------
    table : Table
        Its numbers, bins and codes.
    columns : Columns or None
        How categories are read; None where all columns hold numbers.
    max_bins, categorical_features
        As given to `Binned.fit`.
    n_features_in_ : int
    feature_names_in_ : array of str
        The columns' names, where the table had names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import AdaBoostClassifier, Binned, VadaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> train = Binned.fit(X[::2])
    >>> test = train.like(X[1::2])
    >>> [m.fit(train, y[::2]).score(test, y[1::2]) > 0.9 for m in (AdaBoostClassifier(), VadaBoostClassifier())]
    [True, True]
    """

    target: Array | None = None  # labels, and weights, of a table that came in batches
    sample_weight: Array | None = None

    def __init__(self, table: Table, reader: Any, max_bins: int | str) -> None:
        self.table, self._reader, self.max_bins = table, reader, max_bins
        self.columns: Columns | None = reader._columns
        self.categorical_features = reader.categorical_features
        self.n_features_in_ = int(reader.n_features_in_)
        if hasattr(reader, "feature_names_in_"):
            self.feature_names_in_ = reader.feature_names_in_

    @_OfTheClass
    def fit(
        cls: Any,
        X: Any,
        *,
        max_bins: int | str = 255,
        categorical_features: Any = "from_dtype",
        sample_weight: Any = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Read a table and bin its columns.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_rows, n_features)
            Whatever a booster's `fit` reads.
        max_bins : int or "exact", default=255
            Bins a column, as in a booster.
        categorical_features : "from_dtype", None or list, default="from_dtype"
            Which columns hold categories, as in a booster.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the quantiles at which long columns are cut; rows of weight zero have no say.
        n_jobs : int, optional
            Number of threads; None is all cores.

        Returns
        -------
        Binned
        """
        if not is_max_bins(max_bins):
            raise ValueError(f"Binned: max_bins={max_bins!r} is not possible; it must be {MAX_BINS}.")
        if isinstance(X, Binned):
            raise ValueError("This table is binned already; use it as it is, or give Binned.fit the table itself.")
        reader = Reader(categorical_features)
        numbers = reader.numbers(X, first=True, sample_weight=sample_weight)
        kept, rows = weighed_rows(numbers, sample_weight)
        threads = count_threads(n_jobs)
        n_categories = {} if reader._columns is None else reader._columns.n_categories
        if kept is numbers:
            table = Table.fit(numbers, rows, max_bins, threads, n_categories)
        else:
            table = Table.of(numbers, Bins.fit(kept, rows, max_bins, threads, n_categories), threads)
        return cls(table, reader, max_bins)

    @classmethod
    def from_batches(
        cls,
        batches: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        max_bins: int | str = 255,
        categorical_features: Any = "from_dtype",
        cache: Any = None,
        like: Binned | None = None,
        n_jobs: int | None = None,
    ) -> Binned:
        """Read and bin a table that comes in batches, of which one is in memory at a time.

        The batches are read a few times: for columns and categories, for exact cut points, and for the codes, which
        are kept at one byte a cell (two where a column has more than 255 bins).  Models are those that the whole
        table gives, bit for bit, whatever the size of the batches.

        Parameters
        ----------
        batches : list, generator, function that returns one, lazy frame of polars, Arrow reader, table or dataset
            Frames, Arrow batches, arrays or sparse matrices of the same columns, or tuples (X, y) and
            (X, y, sample_weight).  What can be read only once is kept in a temporary file meanwhile.
        target, weight : str, optional
            The columns of frames that hold labels and weights; they become `target` and `sample_weight`.
        max_bins, categorical_features, n_jobs
            As for `Binned.fit`.
        cache : path, optional
            A folder to keep the codes in, in memory-mapped files, instead of in memory.  For files (`from_parquet`) a
            run that was killed is gone on with, and what it left of another table is removed.
        like : Binned, optional
            Read by the columns and bins of this table (validation or test rows); `max_bins` and
            `categorical_features` are then its own.

        Returns
        -------
        Binned
            With the attributes `target` and `sample_weight`, None where the batches have none.

        Examples
        --------
        >>> import numpy as np
        >>> from boostlab import AdaBoostClassifier, Binned
        >>> rng = np.random.default_rng(0)
        >>> batches = [(X, X[:, 0] > 0) for X in rng.normal(size=(4, 50, 3))]
        >>> table = Binned.from_batches(batches)
        >>> AdaBoostClassifier(n_estimators=5).fit(table, table.target).score(table, table.target)
        1.0
        """
        with Batches.of(batches, target, weight) as source:
            return cls._of_batches(source, max_bins, categorical_features, cache, n_jobs, like)

    @classmethod
    def from_parquet(
        cls,
        paths: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        columns: Any = None,
        batch_rows: int = 65_536,
        max_bins: int | str = 255,
        categorical_features: Any = "from_dtype",
        cache: Any = None,
        like: Binned | None = None,
        n_jobs: int | None = None,
    ) -> Binned:
        """Read and bin Parquet files that may be larger than memory, some rows at a time (see `from_batches`).

        Parameters
        ----------
        paths : path, pattern or list of them
            The files, read in the order of their names; a folder is all its files whose names end in .parquet.
        target, weight : str, optional
            The columns that hold labels and weights.
        columns : list of str, optional
            The columns to read; by default all.
        batch_rows : int, default=65536
            Rows in memory at a time, fewer where memory is short; the result does not depend on it.
        max_bins, categorical_features, cache, like, n_jobs
            As for `from_batches`.

        Returns
        -------
        Binned
        """
        source = parquet_batches(paths, target, weight, columns, batch_rows)
        return cls._of_batches(source, max_bins, categorical_features, cache, n_jobs, like)

    @classmethod
    def _of_batches(
        cls,
        source: Batches,
        max_bins: int | str,
        categorical_features: Any,
        cache: Any,
        n_jobs: int | None,
        like: Binned | None = None,
    ) -> Binned:
        if like is not None:
            max_bins, categorical_features = like.max_bins, like.categorical_features
        if not is_max_bins(max_bins):
            raise ValueError(f"Binned: max_bins={max_bins!r} is not possible; it must be {MAX_BINS}.")
        threads = count_threads(n_jobs)
        known = None if like is None else (like._reader, like.bins)
        read = read_batches(source, categorical_features, most_bins(max_bins), threads, known)
        table = code_batches(source, read, max_bins, threads, None if cache is None else Path(cache))
        made = cls(table, read.reader, max_bins)
        made.target, made.sample_weight = read.y, read.weight
        del read
        give_back()
        return made

    def like(self, X: Any) -> Binned:
        """Return another table with the same columns, read and coded by the same bins (validation or test rows).

        Tables that come in batches are read so by `from_batches` and `from_parquet`, with `like`.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        Binned
        """
        numbers = self._reader.numbers(X)
        return Binned(Table.of(numbers, self.table.bins, self.table.threads), self._reader, self.max_bins)

    def reader(self) -> Binned:
        """Return a Binned without rows: what it takes to read other tables, and nothing of this one."""
        return Binned(Table(np.empty((0, self.n_features_in_)), self.table.bins), self._reader, self.max_bins)

    def reading(self, X: Any) -> Binned:
        """Return another table with the same columns, read and not coded: enough for predictions.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_rows, n_features)
        """
        return Binned(Table(self._reader.numbers(X)), self._reader, self.max_bins)

    def take(self, rows: Any) -> Binned:
        """Return some rows, by their numbers or as one truth value a row: their codes, and a view of the table.

        Parameters
        ----------
        rows : array of int or bool

        Returns
        -------
        Binned
        """
        return Binned(self.table.take(np.arange(len(self))[rows]), self._reader, self.max_bins)

    def __getitem__(self, key: Any) -> Binned:
        """Return some rows, as scikit-learn asks for them."""
        rows, *rest = key if isinstance(key, tuple) else (key,)
        if any(r is not Ellipsis and r != slice(None) for r in rest) or np.ndim(np.arange(len(self))[rows]) != 1:
            raise IndexError("A Binned has rows to choose, by numbers or truth values: binned[rows]; its columns stay.")
        return self.take(rows)

    @property
    def numbers(self) -> Any:
        """The table as numbers: an array, or a CSR matrix."""
        if isinstance(self.table.X, CodedMatrix):
            raise TypeError("This table came in batches and holds bin codes; give the numbers themselves.")
        return as_a_whole(self.table.X)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.numbers, dtype)

    @property
    def bins(self) -> Bins:
        """Where the columns are cut."""
        assert self.table.bins is not None
        return self.table.bins

    @property
    def ndim(self) -> int:
        """A table has two dimensions."""
        return 2

    def __repr__(self) -> str:
        return f"Binned({len(self)} rows, {self.n_features_in_} columns, max_bins={self.max_bins!r})"
