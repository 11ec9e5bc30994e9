"""The votes of many voters on the same rows: those of stumps on small tables in one compiled call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract.voter import votes_of
from boostlab.data.evaluation import cut_votes
from boostlab.data.matrix import is_sparse
from boostlab.data.table import Table
from boostlab.learners.fitted_stump import CategoryStump, Stump

Array = npt.NDArray[Any]

SMALL = 1 << 14  # rows; above, what a vote costs is not the interpreter's time
MOST_VOTES = 1 << 18  # votes that are held at once


def votes_of_each(voters: Sequence[Any], table: Table) -> Iterator[Array]:
    """Yield the votes of every voter, as `votes_of` would return them (labels perhaps as floats)."""
    n = table.n_rows
    if n > SMALL or is_sparse(table.X) or not all(_is_plain(v) for v in voters):
        yield from (votes_of(v, table) for v in voters)
        return
    step = max(MOST_VOTES // max(n, 1), 1)
    for first in range(0, len(voters), step):
        some = voters[first : first + step]
        feature = np.array([v.feature for v in some])
        cuts = np.array([_cut(v) for v in some])
        leaves = [v.leaves if isinstance(v, CategoryStump) else np.empty(0) for v in some]
        starts = np.cumsum([0, *map(len, leaves)])
        yield from cut_votes(table, feature, cuts, starts, np.concatenate(leaves))


def _is_plain(voter: Any) -> bool:
    """Return whether this is a stump whose votes are single numbers."""
    if isinstance(voter, CategoryStump):
        return voter.leaves.ndim == 1 and voter.leaves.dtype.kind == "f"
    return isinstance(voter, Stump) and isinstance(voter.left, float) and isinstance(voter.right, float)


def _cut(voter: Any) -> tuple[float, float, float, float]:
    """Return the threshold, and what is voted up to it, above it, and of missing values."""
    if isinstance(voter, CategoryStump):
        return 0.0, 0.0, 0.0, 0.0
    return voter.threshold, voter.left, voter.right, voter.right if voter.missing is None else voter.missing
