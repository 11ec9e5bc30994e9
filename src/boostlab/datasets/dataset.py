"""A data set as it is handed to people, and the hash of what it holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named table with its labels.

    Attributes
    ----------
    name : str
        Its name here.
    X : array or CSR matrix of shape (n_rows, n_features)
        Numbers; a missing value is NaN, and a category its place 0, 1, ... among the sorted words of its column.
    y : array of shape (n_rows,)
        Labels: whole numbers where they are written so, else text.
    feature_names : tuple of str
        The columns.
    categories : dict of str to tuple of str
        The categorical columns, and the words that their numbers stand for.
    test_rows : array of bool of shape (n_rows,) or None
        Where there is an official split, which rows are for testing.
    content : str
        Hash of table and labels: the same wherever the set was found.
    source : str
        Where it was found.
    licence, notes : str
        Under which terms it is published, and what else to know.
    """

    name: str
    X: Any = field(repr=False)
    y: Array = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    categories: Mapping[str, tuple[str, ...]] = field(repr=False)
    test_rows: Array | None = field(repr=False)
    content: str = field(repr=False)
    source: str
    licence: str
    notes: str = field(repr=False)

    @property
    def categorical_features(self) -> list[int]:
        """Positions of the categorical columns, as the boosters' parameter of that name takes them."""
        return [j for j, name in enumerate(self.feature_names) if name in self.categories]

    def frame(self) -> Any:
        """Return the table as a pandas frame, with categories as such.

        Returns
        -------
        pandas.DataFrame
        """
        from pandas import Categorical, DataFrame

        if hasattr(self.X, "tocsr"):
            return DataFrame.sparse.from_spmatrix(self.X, columns=list(self.feature_names))
        columns: dict[str, Any] = {}
        for j, name in enumerate(self.feature_names):
            words = self.categories.get(name)
            if words is None:
                columns[name] = self.X[:, j]
            else:
                codes = np.where(np.isnan(self.X[:, j]), -1, self.X[:, j]).astype(int)
                columns[name] = Categorical.from_codes(codes, categories=list(words))
        return DataFrame(columns)


def content_hash(X: Any, *others: Any) -> str:
    """Return a hash of a table and what belongs to it, the same on every machine.

    Parameters
    ----------
    X : array or sparse matrix
        Hashed as 64-bit floats, all NaN alike, zeros of a sparse matrix left out.
    *others : array, None, or what JSON can hold
        Labels, masks, names.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 2], [3, 4]])
    >>> content_hash(X) == content_hash(X.astype(float)), content_hash(X) == content_hash(X.T)
    (True, False)
    """
    digest = hashlib.sha256(repr(tuple(map(int, X.shape))).encode())
    if hasattr(X, "tocsr"):
        rows = X.tocsr().copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
        for part, kind in ((rows.indptr, "<i8"), (rows.indices, "<i8"), (rows.data, "<f8")):
            digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    else:
        for start in range(0, len(X), 4096):  # in blocks: pictures are stored as bytes
            block = np.array(X[start : start + 4096], dtype="<f8", order="C")
            block[np.isnan(block)] = np.nan
            block += 0.0  # -0 is 0
            digest.update(block.tobytes())
    for other in others:
        plain = other.tolist() if isinstance(other, np.ndarray) else other
        digest.update(json.dumps(plain, sort_keys=True, ensure_ascii=True).encode() + b"\n")
    return digest.hexdigest()
