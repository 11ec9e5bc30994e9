"""What a model keeps of its training rows to explain itself by: how they part at every node.

A fit keeps a few thousand rows' used columns in memory.  When shares are first needed (or the model is pickled or
saved) they are counted, and the rows are dropped: no row is ever written to a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend import Masses
from boostlab.backend.shapley import count_low
from boostlab.data.matrix import is_sparse
from boostlab.data.table import Table
from boostlab.explain.forest import Forest

Array = npt.NDArray[Any]

MOST_ROWS, MOST_CELLS, FEWEST_ROWS = 4096, 1 << 18, 256


@dataclass
class Reference:
    """Some rows of a sample and their masses.

    Which rows these are depends on their content only (a 64-bit key of each), so that their order does not matter, and
    k copies of a row are in or out together.
    """

    columns: Array  # the features kept, in order
    X: Array  # of shape (n_rows, len(columns))
    mass: Array
    unseen: float = 0.0  # the mass of one example, where there are rows that are not kept

    @classmethod
    def of(cls, table: Table, rows: Masses, columns: Array) -> Reference:
        """Take rows from a training sample, with the columns that its vote uses."""
        X, n, most = table.X, float(max(rows.n_examples, rows.n)), _most(columns)
        if n <= most:
            kept = np.arange(table.n_rows)
        else:
            kept = table.rows_within(_limit(most, n))
            kept = kept if len(kept) else np.arange(min(table.n_rows, most))  # all rows are alike
        unseen = 0.0 if len(kept) == table.n_rows else rows.n / rows.n_examples
        return cls(columns, dense(X, kept, columns), rows.share(kept).masses, unseen)

    @classmethod
    def of_parts(cls, rows: Any, columns: Array) -> Reference:
        """Take the same rows from a training sample in parts (`PartitionedRows`)."""
        n, most = float(max(rows.n_sample, rows.n)), _most(columns)
        X, mass = rows.ask("reference", None if n <= most else _limit(most, n), columns)
        unseen = 0.0 if len(X) == rows.n_rows else rows.n / rows.n_sample
        return cls(columns, np.ascontiguousarray(X, np.float64), mass, unseen)


def _most(columns: Array) -> int:
    return min(MOST_ROWS, max(MOST_CELLS // max(len(columns), 1), FEWEST_ROWS))


def _limit(most: int, n: float) -> int:
    """Return the key up to which about so many of n rows are taken."""
    return min(int(most / n * 2.0**64), 2**64 - 1)


def dense(X: Any, rows: Any, columns: Array) -> Array:
    """Return some cells of a table as C-ordered float64."""
    cells = X[rows][:, columns].toarray() if is_sparse(X) else np.asarray(X[rows])[:, columns]
    return np.ascontiguousarray(cells, np.float64)


def shares(forest: Forest, reference: Reference) -> Array:
    """Return the share of every node's rows that go low; 1/2 where there are none, and 0 for leaves.

    A node that none of some rows reach is reached by others, since it was grown: half a row more is added to each side.
    """
    at = forest.in_columns(reference.columns)
    scale = 2.0 ** (40 - np.frexp(reference.mass.max(initial=1.0))[1])
    mass = np.maximum(np.rint(reference.mass * scale), 1).astype(np.int64)  # integer sums: no order, no rounding
    reached, low = np.zeros((2, len(forest.feature)), np.int64)
    count_low(reference.X, mass, at.roots, *at.nodes, reached, low)
    more = reference.unseen * scale
    whole = reached + more
    share = np.divide(low + more / 2, whole, out=np.full(len(low), 0.5), where=whole > 0)
    return np.where(forest.feature >= 0, share, 0.0)
