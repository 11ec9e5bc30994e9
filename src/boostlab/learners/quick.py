"""Trees of few leaves whose voters name a class, each grown in one compiled call.

The general way (`tree`) costs some 100 microseconds a split in the interpreter; small tables with many classes would
spend most of their time there.  The trees are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.followed_histograms import scaled
from boostlab.backend.cpu.kernels.grow import CHILD, CUT, DEPTH, FACTS, SIDE, grower
from boostlab.contract import Task
from boostlab.learners.criteria import ByClass
from boostlab.learners.search import SplitSearch, tame

Array = npt.NDArray[Any]

ROOM = 1 << 24  # integers in the histograms of all leaves
DEEPEST = np.iinfo(np.int64).max


class Limits(Protocol):
    """What a tree may be (see `DecisionTree`)."""

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: float
    min_samples_split: float
    ccp_alpha: float


def is_quick(learner: Limits, search: SplitSearch, classes: Array) -> bool:
    """Return whether there is a compiled way: few leaves, dense columns of numbers, no more than one thread's work."""
    limit, codes = learner.max_leaf_nodes, search.codes
    if limit is None or learner.min_samples_leaf > 1 or learner.min_samples_split > 2 or learner.ccp_alpha > 0:
        return False
    if search.bins.categorical:
        return False
    return codes.lonely and limit * codes.n_slots * search.counter(classes).width <= ROOM


@dataclass(slots=True)
class Grown:
    """A tree from one compiled call."""

    arrays: tuple[Array, ...]  # the fields of a `Tree`
    votes: Array  # on the sample
    sums: (
        tuple[float, float] | None
    )  # the weight of the sample, and of the rows that are wrong, where leaves say labels


UNFINISHED = Grown((), np.empty(0), None)  # a tree with an impure leaf of which no split gains anything


def grown(learner: Limits, search: SplitSearch, criterion: ByClass, task: Task) -> Grown | None:
    """Grow a tree; None if no split gains anything."""
    count = search.counter(task.target)
    count.round(tame(task.weight), task.counts)
    codes, K, limit = search.codes, count.width, min(learner.max_leaf_nodes or 1, search.rows.n_rows)
    cells, words, where = codes.to_read
    stride, size = codes.n_slots + cells.shape[2], 2 * limit - 1
    if count.hists.shape != (limit, K * (stride + 1)):
        count.hists = np.empty((limit, K * (stride + 1)), np.int64)
    totals, nodes = np.empty((size, K), np.int64), np.empty((size, FACTS), np.int64)
    gains, children, values = np.empty(size), np.empty((size, 2), np.int64), np.empty(size, criterion.name_type(K))
    votes = np.empty(codes.n_rows, values.dtype)
    whole, unit = count.whole, math.ldexp(1.0, -count.power)
    members = np.arange(codes.n_rows, dtype=np.int32 if codes.n_rows < 2**31 else np.int64)
    n, wrong = grower(criterion.fold, criterion.close, cells.shape[2])(
        *(cells, words, where, search.starts, search.possible, search.possible_below),
        *(count.q, count.classes, np.array([unit]), 1e-12 * whole * unit),
        *(limit, DEEPEST if learner.max_depth is None else learner.max_depth),
        *(members, np.empty_like(members), count.hists, totals, nodes, gains, children, values, votes),
    )
    if n + 1 < 2 * limit:
        deepest = DEEPEST if learner.max_depth is None else learner.max_depth
        open_ = (nodes[:n, CHILD] == 0) & (nodes[:n, DEPTH] < deepest)
        if any(criterion.remaining(t, np.array([unit]), t, t) > 1e-12 * whole * unit for t in totals[:n][open_]):
            return UNFINISHED
    if n == 1:
        return None
    order, children = by_levels(children[:n])
    cuts = search.cuts_at(nodes[order, CUT], nodes[order, SIDE])
    none = np.zeros(n + 1, np.int64), np.empty(0, bool)  # no categories
    arrays = *cuts, children, *none, values[order], gains[order] / (whole * unit)
    return Grown(arrays, votes, (scaled(whole, count.power), scaled(wrong, count.power)))


def by_levels(children: Array) -> tuple[Array, Array]:
    """Return the nodes in the order of `tree`, level after level, and their children in that order."""
    pairs, order = children.tolist(), [0]
    for node in order:  # grows while it is read
        order.extend(c for c in pairs[node] if c > 0)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return np.array(order), place[children[order]]
