"""Full trees for labels, each grown in one compiled call (see `kernels.full`); the trees are those of `tree`."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.contract import Task
from boostlab.kernels.full import CUT, FEATURE, FIRST, HIGH, LOW, SIZE, grow_full
from boostlab.voters.follow import scaled
from boostlab.voters.quick import Grown
from boostlab.voters.search import SplitSearch, tame

Array = npt.NDArray[Any]

DEEPEST = np.iinfo(np.int64).max


class Limits(Protocol):
    """What a tree may be (see `DecisionTree`)."""

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: float
    min_samples_split: float
    ccp_alpha: float


def is_full(learner: Limits, search: SplitSearch) -> bool:
    """Return whether there is a compiled way: no limit on leaves, dense columns of numbers, nothing missing."""
    if learner.max_leaf_nodes is not None or learner.min_samples_leaf > 1 or learner.ccp_alpha > 0:
        return False
    return search.codes.lonely and not search.bins.categorical and not search.some_missing.any()


def full(learner: Limits, search: SplitSearch, task: Task) -> Grown | None:
    """Grow a tree by the gini index of labels -1 and +1; None if no split gains anything."""
    rows, n = search.rows, search.rows.n_rows
    q, power, _, whole = rows.whole(tame(task.weight) * task.target, task.counts)
    mass = task.counts if task.counts is not None else np.empty(0) if rows.uniform else rows.masses
    widths = np.where(search.n_bins > 1, search.n_bins, 0).astype(np.int64)
    members = np.arange(n, dtype=np.int64)
    unit, deepest = math.ldexp(1.0, -power), DEEPEST if learner.max_depth is None else learner.max_depth
    most = 2 * n if deepest >= n.bit_length() else min(2 * n, 2 << deepest)  # nodes
    nodes, sums, gains = np.empty((most, 7), np.int64), np.empty((most, 2), np.int64), np.zeros(most)
    fewest = float(learner.min_samples_split)
    floor = 1e-12 * whole * unit
    cells, words, _ = search.codes.to_read
    size = grow_full(
        *(cells, words, widths, q, mass.astype(np.float64), fewest if fewest > 2 else 0.0, deepest, unit, floor),
        *(members, nodes, sums, gains),
    )
    if size == 1:
        return None
    nodes, sums, gains = nodes[:size], sums[:size], gains[:size]
    inner = nodes[:, FEATURE] >= 0
    at = np.where(inner, search.starts[np.maximum(nodes[:, FEATURE], 0)] + nodes[:, CUT], -1)
    cuts = search.cuts_at(at, np.zeros(size, np.int64))
    children = np.where(inner[:, None], nodes[:, [LOW, HIGH]], 0)
    values = np.where(sums[:, 1] >= sums[:, 0], 1.0, -1.0)
    votes = np.empty(n, np.int8)
    for leaf in np.flatnonzero(~inner):
        votes[members[nodes[leaf, FIRST] : nodes[leaf, FIRST] + nodes[leaf, SIZE]]] = values[leaf]
    none = np.zeros(size + 1, np.int64), np.empty(0, bool)  # no categories
    arrays = *cuts, children, *none, values, gains / (whole * unit)
    wrong = int(sums[~inner].min(axis=1).sum())
    return Grown(arrays, votes, (scaled(whole, power), scaled(wrong, power)))
