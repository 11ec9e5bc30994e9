"""What a user reads who passes wrong data: one sentence with the cause, in scikit-learn's words, and the cure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.frames import is_frame, is_missing
from boostlab.data.lazy import is_collection
from boostlab.data.matrix import is_sparse

Array = npt.NDArray[Any]

_SAME_COLUMNS = "give the columns of fit, in the same order"
_ONE_LABEL = "give one label a row of X"

# What scikit-learn, NumPy or Python say (a pattern), and what to do about it; the first that fits counts.
_CURES = [
    (r"Input sample_weight contains", "every weight must be a finite number of at least 0"),
    (r"sample_weight\.shape|Sample weights must be 1D", "give one weight a row of X"),
    (r"Negative values in data passed to `sample_weight`", "weights must be at least 0, and 0 leaves a row out"),
    (r"Sample weights must contain at least one non-zero", "give rows of at least two classes a weight above 0"),
    (r"Input y contains (infinity|NaN)", "drop such rows, or give them a label"),
    (r"X contains infinity", "put NaN for a missing value, or a finite number"),
    (r"inconsistent numbers of samples", _ONE_LABEL),
    (r"Unknown label type: unknown", "give labels of one type, all text or all numbers, such as y.astype(str)"),
    (r"Unknown label type", "give class labels, or cut the numbers into classes first (y > 0.5)"),
    (r"y should be a 1d array|y is None|got None", _ONE_LABEL),
    (r"not supported between instances", "labels of different types have no order: make them all text or all numbers"),
    (r"should match those that were passed during fit|features as input", _SAME_COLUMNS),
    (r"Found array with 0 sample", "give a table with at least one row"),
    (r"Found array with 0 feature", "give a table with at least one column"),
    (r"Found array with dim", "give a table of rows and columns"),
    (r"not 'NAType'", "put NaN for a missing value, or give a pandas frame, where NA is one"),
    (r"inhomogeneous", "give every row as many values"),
    (r"could not convert|argument must be a string or|bytes/strings",
     "turn it into numbers, or give a pandas or polars frame, where columns of text become categories"),
    (r"too large to convert", "scale the numbers, or drop the column"),
    (r"Complex data not supported", "give real numbers, for example the real and the imaginary part as two columns"),
    (r"are not in class_weight", 'give every class a weight, or use class_weight="balanced"'),
]  # fmt: skip


@contextmanager
def one_sentence(X: Any = None, names: Any = None, where: str = "y") -> Iterator[None]:
    """Say what is wrong with data in one line that ends with the cure.

    Parameters
    ----------
    X : table, optional
        The table in question, to name the column at fault.
    names : array of str, optional
        The columns' names at fit, where the table must have the same.
    where : str
        "y" or "y_val": which sample it is.
    """
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        text = str(error)
        cure = next((cure for pattern, cure in _CURES if re.search(pattern, text)), None)
        if cure is None and "\n" not in text:
            raise
        line = _one_line(text, X, names)
        if X is None and "could not convert" in text:  # then it is the weights
            line, cure = f"Input sample_weight: {line}", _CURES[0][1]
        if where == "y_val":
            line = re.sub(r"\b(Input X|Input y|sample_weight|X(?= has))\b", r"\1_val", line)
            cure = cure and cure.replace(" of X", " of X_val")
        kind = TypeError if "argument must be" in text else ValueError  # as scikit-learn's checks demand
        raise kind(f"{line}; {cure}." if cure else f"{line}.") from None


def _one_line(text: str, X: Any, names: Any) -> str:
    """Return the cause on one line, with the column at fault where it can be found."""
    if "should match those that were passed" in text:
        text = _other_columns(text, [str(c) for c in X.columns], names)
    text = re.sub(r":\s*array=.*?\.\s*Reshape", ". Reshape", text, flags=re.DOTALL)  # not the array itself
    text = text.split("\n[")[0] if "Complex data" in text else text
    text = " ".join(text.split()).rstrip(".!")
    place = None
    if "X contains infinity" in text:
        place = _first(X, _has_infinity)
    elif re.search(r"could not convert|argument must be|too large to convert|bytes/strings", text):
        place = _first(X, _is_not_numbers)
    return f"{text} (first in {place})" if place else text


def _other_columns(text: str, now: list[str], then: Any) -> str:
    """Return scikit-learn's several lines about other column names as one."""
    if "in the same order" in text:
        j = next(j for j, (a, b) in enumerate(zip(now, then, strict=True)) if a != b)
        return f"{text.rstrip().rstrip('.')}: column {j} is {now[j]!r} and was {str(then[j])!r}"
    text = re.sub(r"\n- ", ", ", re.sub(r":\n- ", ": ", text))
    return re.sub(r"(?<!\.)\nFeature names seen", "; feature names seen", text)


def _first(X: Any, is_bad: Any) -> str | None:
    """Return the name or place of a table's first bad column."""
    if X is None:
        return None
    if is_sparse(X):
        X = X.tocsc()
        columns = (X.data[a:b] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True))
    elif is_frame(X):
        columns = (np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]) for j in range(X.shape[1]))
    else:
        X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        columns = (column for column in (X.T if X.ndim == 2 else ()))
    j = next((j for j, column in enumerate(columns) if is_bad(column)), None)
    if j is None:
        return None
    return f"column {X.columns[j]!r}" if is_frame(X) else f"column {j}"


def _is_not_numbers(column: Array) -> bool:
    try:
        np.asarray([np.nan if is_missing(v) else v for v in column.tolist()], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return True
    return False


def _has_infinity(column: Array) -> bool:
    try:
        return bool(np.isinf(column.astype(np.float64)).any())
    except (TypeError, ValueError, OverflowError):  # text, which is another complaint's business
        return False


def check_table(X: Any, name: str) -> None:
    """Refuse what scikit-learn would misread: rows that are not here, a frame without columns, dates as numbers."""
    if is_collection(X):
        raise TypeError(
            "X is a Dask collection, and this needs its rows here; give rows in memory, such as X.compute() of a part."
        )
    if type(X).__module__.split(".")[0] == "polars" and hasattr(X, "collect"):
        raise TypeError("X is a lazy frame; call X.collect(), or read it some rows at a time by Binned.from_batches.")
    if is_frame(X) and X.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required by {name}.")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"X holds dates or times ({X.dtype}); turn them into numbers, such as days since a date.")


def check_labels(y: Any) -> None:
    """Refuse a missing label, whatever holds it; `one_sentence` adds the cure."""
    if hasattr(y, "isna"):  # pandas
        bad = np.asarray(y.isna())
    elif hasattr(y, "is_null"):  # polars
        bad = np.asarray(y.is_null())
    elif isinstance(y, np.ndarray) and y.dtype.kind in "fcmM":
        bad = np.asarray(y != y)
    elif isinstance(y, list | tuple) or (isinstance(y, np.ndarray) and y.dtype.kind == "O"):
        bad = np.array([is_missing(v) for v in y], dtype=bool)
    else:
        return
    if bad.any():
        raise ValueError(f"Input y contains NaN or None: row {np.argwhere(bad)[0][0]} has no label")
