"""Full trees for labels, each grown in one compiled call (see `kernels.full`); the trees are those of `tree`."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.contract import Task
from boostlab.kernels.full import CUT, FACTS, FEATURE, FIRST, HIGH, LOW, LOWS, SIZE, grow_full
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
    """Return whether there is a compiled way: no limit on leaves, dense columns, no missing numbers."""
    if learner.max_leaf_nodes is not None or learner.min_samples_leaf > 1 or learner.ccp_alpha > 0:
        return False
    return search.codes.lonely and not search.some_missing.any()


def full(learner: Limits, search: SplitSearch, task: Task) -> Grown | None:
    """Grow a tree by the gini index of labels -1 and +1; None if no split gains anything."""
    rows, n = search.rows, search.rows.n_rows
    q, power, _, whole = rows.whole(tame(task.weight) * task.target, task.counts)
    mass = task.counts if task.counts is not None else np.empty(0) if rows.uniform else rows.masses
    widths = np.where(search.n_bins > 1, search.n_bins, 0).astype(np.int64)
    widths[search.categorical] = search.n_bins[search.categorical] + 1  # missing values are a category
    members = np.arange(n, dtype=np.int64)
    unit, deepest = math.ldexp(1.0, -power), DEEPEST if learner.max_depth is None else learner.max_depth
    most = 2 * n if deepest >= n.bit_length() else min(2 * n, 2 << deepest)  # nodes
    nodes, sums, gains = np.empty((most, FACTS), np.int64), np.empty((most, 2), np.int64), np.zeros(most)
    fewest = float(learner.min_samples_split)
    floor = 1e-12 * whole * unit
    cells, words, _ = search.codes.to_read
    size, low = grow_full(
        *(cells, words, widths, search.starts, search.categorical, search.filled, search.masses),
        *(q, mass.astype(np.float64), fewest if fewest > 2 else 0.0, deepest, unit, floor),
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
    leaves = np.flatnonzero(~inner)
    leaves = leaves[nodes[leaves, FIRST].argsort()]
    votes = np.empty(n, np.int8)
    votes[members] = np.repeat(values[leaves].astype(np.int8), nodes[leaves, SIZE])
    if len(low):
        categories = _categories(search, nodes, low, cuts)
    else:
        categories = np.zeros(size + 1, np.int64), low
    arrays = *cuts, children, *categories, values, gains / (whole * unit)
    wrong = int(sums[~inner].min(axis=1).sum())
    return Grown(arrays, votes, (scaled(whole, power), scaled(wrong, power)))


def _categories(search: SplitSearch, nodes: Array, low: Array, cuts: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Return where every node's low categories start, and these; correct the cuts where categories are split."""
    _, threshold, missing_low = cuts
    size, features = np.zeros(len(nodes), np.int64), nodes[:, FEATURE]
    parts = []
    for node in np.flatnonzero((features >= 0) & search.categorical[features]):
        first, size[node] = nodes[node, LOWS], search.n_bins[features[node]]
        threshold[node], missing_low[node] = 0.0, low[first + size[node]]
        parts.append(low[first : first + size[node]])
    return np.append(0, np.cumsum(size)), np.concatenate(parts)
