"""How tables become numbers, the same way for every booster and for `Binned`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_array, check_consistent_length, check_X_y
from sklearn.utils.validation import _check_y, validate_data

from boostlab.backend.cpu.kernels.infinities import infinities
from boostlab.backend.cpu.threads import WORTH, calls, count_threads
from boostlab.data.frames import Columns, as_frame, has_others, has_sparse, is_frame, unpacked
from boostlab.data.input_errors import check_labels, check_table, one_sentence
from boostlab.data.matrix import by_rows, is_sparse, seen
from boostlab.data.table import Table

Array = npt.NDArray[Any]

_ITS_OWN = {"max_bins": 255, "categorical_features": "from_dtype"}  # what a Binned decides, and what leaves it to it

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class ReadTable:
    """A table that was read before, and how; a `Binned` is one."""

    table: Table
    columns: Columns | None
    max_bins: int | str
    categorical_features: Any
    n_features_in_: int
    feature_names_in_: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.table.n_rows, self.n_features_in_

    def __len__(self) -> int:
        return self.table.n_rows


class Reading:
    """What `fit` learns about the columns of a table, and what the other methods check by it."""

    categorical_features: Any
    n_features_in_: int
    feature_names_in_: Array
    _columns: Columns | None  # how a table is read; None is plain numbers
    _numeric: ClassVar[bool]  # whether y holds numbers

    def _check_targets(self, y: Any) -> None:
        """Refuse what scikit-learn would misread."""
        check_labels(y)

    def _numbers(
        self, X: Any, labels: tuple[Any, ...] = (), reset: bool = False, sample_weight: Any = None, where: str = "y"
    ) -> tuple[Any, Any]:
        """Return a checked table of numbers (NaN for missing values, numbers for categories), and the labels if any.

        What is binned already comes back as a `Table`.
        """
        if not (reset or labels) and self._as_it_is(X):
            return X, None
        X = as_frame(X)
        with one_sentence(X, None if reset else getattr(self, "feature_names_in_", None), where):
            if isinstance(X, ReadTable):
                return self._binned(X, labels, reset)
            check_table(X, type(self).__name__)
            for y in labels:
                self._check_targets(y)
            return self._read(X, labels, reset, sample_weight)

    def _as_it_is(self, X: Any) -> bool:
        """Return whether nothing is to be checked or converted: some floats, as many columns as the model's, no names.

        scikit-learn's checks of one row take longer than its prediction.
        """
        return (
            type(X) is np.ndarray
            and X.dtype in _FLOATS
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and 0 < X.size < WORTH
            and self._columns is None
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _read(self, X: Any, labels: tuple[Any, ...], reset: bool, sample_weight: Any) -> tuple[Any, Any]:
        wanted = self.categorical_features
        by_dtype = wanted is None or (isinstance(wanted, str) and wanted == "from_dtype")
        columns: Columns | None = None if reset else self._columns
        if is_sparse(X) and (columns is not None or not by_dtype):
            raise ValueError(
                "A sparse table has no categorical columns: give a frame or a dense array, or leave "
                "categorical_features at its default."
            )
        if reset and (has_others(X) or not by_dtype):
            validate_data(self, X, skip_check_array=True)  # notes the columns' names and number
            X = X if is_frame(X) else np.asarray(X)
            weighty, weight = _weighty(X, sample_weight)
            columns = Columns.fit(weighty, wanted, getattr(self, "min_category_size", 1), weight)
        finite = _surely_finite(X, getattr(self, "n_jobs", None))
        if finite and columns is None and reset and len(labels) == 1 and _are_plain_labels(labels[0], X):
            self.n_features_in_, self._columns = X.shape[1], None
            self.__dict__.pop("feature_names_in_", None)
            return X, labels[0]
        rules: dict[str, Any] = dict(dtype=_kept_types(X), accept_sparse="csr")
        rules["ensure_all_finite"] = False if finite else "allow-nan"
        if labels:
            rules["y_numeric"] = self._numeric
        with np.errstate(invalid="ignore"):  # scikit-learn adds up all values to see whether they are finite
            if columns is None and not has_sparse(X) and not has_others(X):
                checked = validate_data(self, X, *labels, reset=reset, **rules)
            else:
                validate_data(self, X, reset=reset and columns is None, skip_check_array=True)
                if columns is not None:
                    X = columns.numbers(X if is_frame(X) else np.asarray(X, dtype=object), first=reset)
                else:
                    X = unpacked(X) if has_sparse(X) else Columns.plain(X).numbers(X)
                rules["estimator"] = self
                checked = check_X_y(X, *labels, **rules) if labels else check_array(X, input_name="X", **rules)
        self._columns = columns  # last: a table that is refused does not change how the model reads
        numbers, y = checked if labels else (checked, None)
        return (by_rows(numbers) if is_sparse(numbers) else numbers), y

    def _binned(self, X: ReadTable, labels: tuple[Any, ...], reset: bool) -> tuple[Table, Any]:
        """Return what was read before, if it is the table that this model reads."""
        y = None
        for given in labels:
            self._check_targets(given)
            y = _check_y(given, y_numeric=self._numeric, estimator=self)
            check_consistent_length(X, y)
        if len(X) == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
        names = getattr(X, "feature_names_in_", None)
        if reset:
            self._agree(X)
            self.n_features_in_, self._columns = X.n_features_in_, X.columns
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = names
            return X.table, y
        if X.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"X has {X.n_features_in_} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        known = getattr(self, "feature_names_in_", None)
        same = known is None or names is None or list(known) == list(names)
        if not same or _categories(self._columns) != _categories(X.columns):
            raise ValueError(
                "This Binned has other column names or categories than the table of fit; make it by `like` from the "
                "Binned given to fit, or give the plain table."
            )
        return X.table, y

    def _agree(self, X: ReadTable) -> None:
        """Refuse parameters that the Binned was not made by."""
        for name, default in _ITS_OWN.items():
            mine, its = getattr(self, name), getattr(X, name)
            if not (_equal(mine, default) or _equal(mine, its)):
                raise ValueError(
                    f"{type(self).__name__} has {name}={mine!r}, and the Binned was made with {name}={its!r}, which "
                    "is what counts; make them agree, or leave the booster's at its default."
                )


class Reader(Reading, BaseEstimator):
    """Reads tables for `Binned`.

    Parameters
    ----------
    categorical_features
        As in a booster.
    """

    _numeric: ClassVar[bool] = False

    def __init__(self, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def numbers(self, X: Any, first: bool = False, sample_weight: Any = None) -> Any:
        """Return a table as numbers.

        Parameters
        ----------
        X : array, frame or sparse matrix
            The table.
        first : bool
            Whether its columns are those to know from now on.
        sample_weight : array, optional
            A category that only rows of weight zero have does not exist.
        """
        return self._numbers(X, reset=first, sample_weight=sample_weight)[0]

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn should know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _categories(columns: Columns | None) -> Any:
    return None if columns is None or not columns.n_categories else columns.categories


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(np.array_equal(a, b))


def _kept_types(X: Any) -> Any:
    """Return which number types are used as they are; a plain array of numbers is never copied as a whole."""
    plain = isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and X.dtype.itemsize <= 8
    return "numeric" if plain else [np.float64, np.float32]


def _surely_finite(X: Any, n_jobs: int | None) -> bool:
    """Return whether an array of floats is known to hold no infinity: then scikit-learn, which would look on one
    thread, need not.  A masked array's numbers are not all looked at.
    """
    if not (type(X) is np.ndarray and X.ndim == 2 and X.dtype in _FLOATS and X.size > 0):
        return False
    if X.size < WORTH:
        return not np.isinf(X).any()
    numbers = X if X.flags.c_contiguous else X.T
    if not (numbers.flags.c_contiguous and numbers.flags.aligned):
        return False
    flat, threads = seen(numbers).reshape(-1), count_threads(n_jobs)
    for at, end in calls(flat.size, flat.size // 4, threads):
        found = infinities.shared((end - at) // 4, threads, flat, flat.dtype.type(np.inf), at, end)
        if any(n for (n,) in found):
            return False
    return True


def _are_plain_labels(y: Any, X: Array) -> bool:
    """Return whether y is a whole number a row of X, of which scikit-learn's checks would change nothing: they take a
    fifth of the time of a fit of some hundred rows.
    """
    return type(y) is np.ndarray and y.dtype.kind in "biu" and y.shape == (len(X),)


def _weighty(X: Any, sample_weight: Any) -> tuple[Any, Array | None]:
    """Return the rows that count, and their weights: a category that only rows of weight zero have does not exist."""
    if sample_weight is None or np.ndim(sample_weight) != 1 or len(sample_weight) != X.shape[0]:
        return X, None
    weight = np.asarray(sample_weight)
    kept = np.flatnonzero(weight != 0)
    return (X, weight) if len(kept) == len(weight) else (_safe_indexing(X, kept), weight[kept])
