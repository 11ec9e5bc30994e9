"""Partitions as numbers, for the search for cuts, and as blocks of bin codes, which stay on the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels import fixed_point
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.partitioned.part import Part, PartRows
from boostlab.data.bins import Bins
from boostlab.data.coded import CodedMatrix
from boostlab.data.cut_search import Seen
from boostlab.data.dask.facts import labels_of, weights_of
from boostlab.data.dask.masses import MassPlan
from boostlab.data.dask.partitions import Refused
from boostlab.data.matrix import is_sparse, row_keys
from boostlab.data.sample import encode_labels
from boostlab.data.table import Table
from boostlab.data.table_search import look

Array = npt.NDArray[Any]

NO_KEYS = np.empty(0, np.uint64)


@dataclass
class PartitionReader:
    """How a partition becomes rows that count.

    Parameters
    ----------
    reader : Reader
        Turns tables into numbers.
    plan : MassPlan
        Masses.
    classes : array or None
        The labels; None where there are numbers to predict.
    where : str
        "y" or "y_val", for messages.
    power : int, optional
        The power of two at which real masses are rounded, for quantiles.
    """

    reader: Any
    plan: MassPlan
    classes: Array | None
    where: str = "y"
    power: int | None = None

    def labels(self, y: Any, weight: Any, n_rows: int) -> tuple[Array, Masses, Array]:
        """Return class indices or numbers, masses, and the numbers of the rows that count."""
        y, w = labels_of(y, n_rows, self.classes is None), weights_of(weight, n_rows)
        if self.classes is None:
            kept, mass, counts = self.plan.masses(np.zeros(n_rows, np.intp), w)
            return np.asarray(y, np.float64)[kept], Masses.piece(len(kept), mass, counts), kept
        known = np.ones(n_rows, bool) if w is None else w > 0  # a label of weight zero may be a new one
        codes = np.zeros(n_rows, np.intp)
        codes[known] = encode_labels(y[known], self.classes, self.where)
        kept, mass, counts = self.plan.masses(codes, w)
        return codes[kept].astype(np.min_scalar_type(-len(self.classes))), Masses.piece(len(kept), mass, counts), kept

    def numbers(self, X: Any) -> Array:
        """Return a partition as numbers."""
        if is_sparse(X):
            X = X.toarray()
        if not X.shape[0]:
            return np.empty((0, int(self.reader.n_features_in_)))
        return self.reader.numbers(X)


@dataclass
class CodedBlock:
    """The rows of one partition: codes of one byte a cell, labels, masses."""

    table: Table
    labels: Array
    masses: Masses

    def __sizeof__(self) -> int:
        """Tell Dask how much memory it takes."""
        arrays = self.table.codes.cells, self.labels, self.table.X.keys, *self.masses.as_arrays  # type: ignore[union-attr]
        return sum(int(a.nbytes) for a in arrays)


def looked_at(X: Any, y: Any, weight: Any, recipe: PartitionReader, question: Any) -> dict[int, Seen] | Refused:
    """Look at a partition's numbers for a search for cuts."""
    try:
        _, masses, kept = recipe.labels(y, weight, X.shape[0])
        numbers = recipe.numbers(X)
        mass = _whole(masses, recipe.power)
        return look(question, numbers if len(kept) == len(numbers) else numbers[kept], mass)
    except (ValueError, TypeError) as error:
        return Refused(error)


def _whole(masses: Masses, power: int | None) -> Array | None:
    """Return integer masses for quantiles (see `Bins.masses_of`)."""
    if masses.uniform:
        return None
    if masses.mass is None:
        assert masses.counts is not None
        return masses.counts.astype(np.int64)
    assert power is not None
    x, by = masses.as_units(np.ones(masses.n_rows))
    q = np.empty(x.shape, np.int64)
    fixed_point.fixed(x, by, power, q)
    return np.maximum(q[:, 0], 1 if masses.counts is None else masses.counts)


def tops_and_sums(
    y: Any, weight: Any, recipe: PartitionReader, powers: Any, of: int | str | None
) -> tuple[Array, Array]:
    """Return the largest mass (of a class; times the label), and the sums of its integers at powers of two."""
    labels, masses, _ = recipe.labels(y, weight, len(y))
    if of is None:
        values = np.ones(masses.n_rows)
    else:
        values = np.asarray(labels if of == "labels" else labels == of, np.float64)
    x, by = masses.as_units(values)
    sums = np.array([[fixed_point.sums_at(x, by, row[0])] for row in powers], np.int64).reshape(len(powers), 1, 2)
    return np.array([np.abs(x).max(initial=0.0)]), sums


def coded(X: Any, y: Any, weight: Any, recipe: PartitionReader, bins: Bins) -> CodedBlock | Refused:
    """Return a partition as a block of codes."""
    try:
        labels, masses, kept = recipe.labels(y, weight, X.shape[0])
        numbers = recipe.numbers(X)
        numbers = np.ascontiguousarray(numbers if len(kept) == len(numbers) else numbers[kept])
        codes, keys = bins.encode_dense(numbers, 1), row_keys(numbers, 1)
        return CodedBlock(Table(CodedMatrix(codes, bins, keys), bins, codes), labels, masses)
    except (ValueError, TypeError) as error:
        return Refused(error)


@dataclass
class PartMaker:
    """Makes a part of a block, for a rule.

    Parameters
    ----------
    rule : Rule
        Says how votes join the scores.
    n_classes : int
        0 where there are numbers to predict.
    baseline : float
        What to take off numbers to predict.
    sides : array, optional
        The side, 0 or 1, on which every class is in a binary problem.
    """

    rule: Any
    n_classes: int
    baseline: float = 0.0
    sides: Array | None = None

    def __call__(self, block: CodedBlock, threads: int = 1) -> Part:
        """Return the part."""
        labels = block.labels - self.baseline if not self.n_classes else block.labels
        if self.sides is not None:
            labels = self.sides[labels].astype(np.int8)
        return Part(PartRows(self.rule, block.table.again(threads), block.masses, labels.copy(), self.n_classes))
