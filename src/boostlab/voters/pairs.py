"""Trees of few leaves on small tables, by criteria of two sums, each grown in one compiled call: those of `tree`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.data.table import compact
from boostlab.kernels.pairs import CUT, FACTS, SIDE, grower_of_pairs
from boostlab.voters.criterion import Params, Separable
from boostlab.voters.fitted_tree import Tree
from boostlab.voters.follow import Follower
from boostlab.voters.quick import DEEPEST, Limits, by_levels
from boostlab.voters.search import Channels, SplitSearch

Array = npt.NDArray[Any]

CELLS = 1 << 18  # of the sample: above, a split costs more than the interpreter
ROOM = 1 << 22  # integers in the histograms of all leaves


class Pair(NamedTuple):
    """A tree from one compiled call."""

    tree: Tree
    votes: Array  # on the sample
    leaves: list[Array]  # the leaves' sums as integers


def n_leaves(learner: Limits, n_rows: int) -> int:
    """Return how many leaves a tree may have."""
    deep = n_rows if learner.max_depth is None else 1 << min(learner.max_depth, 62)
    return min(learner.max_leaf_nodes or n_rows, n_rows, deep)


def is_pair(learner: Limits, search: SplitSearch, channels: Channels) -> bool:
    """Return whether there is a compiled way: two channels, few leaves, few dense cells."""
    if learner.min_samples_leaf > 1 or learner.min_samples_split > 2 or learner.ccp_alpha > 0:
        return False
    codes = search.codes
    if not codes.lonely or codes.n_rows * codes.width > CELLS or len(channels.total) != 2:
        return False
    if 2 * n_leaves(learner, codes.n_rows) * codes.n_slots > ROOM:
        return False
    return all(isinstance(p, Follower) for p in channels.parts)


def grown_by_pairs(
    learner: Limits,
    search: SplitSearch,
    criterion: Separable,
    channels: Channels,
    params: Params,
    floor: float,
    centre: float,
) -> Pair | None:
    """Grow a tree whose leaves vote by the criterion, `centre` more; None if no split gains more than the floor."""
    codes, n = search.codes, search.codes.n_rows
    limit = n_leaves(learner, n)
    size = 2 * limit - 1
    hists = np.empty((limit, 2, codes.n_slots), np.int64)
    totals, nodes = np.empty((size, 2), np.int64), np.empty((size, FACTS), np.int64)
    hists[0], totals[0] = channels.slots, channels.total
    gains, children, leaf_of = np.empty(size), np.empty((size, 2), np.int64), np.empty(n, np.int64)
    orders = np.empty((size, int(np.diff(search.starts).max())), np.int64)
    numbers = criterion.numbers(params)
    count = grower_of_pairs(criterion.cost)(
        *(codes.to_read[0], search.starts, search.possible, search.possible_below, search.filled, search.categorical),
        *(_rows(channels), channels.scale, channels.gross, numbers, floor),
        *(limit, DEEPEST if learner.max_depth is None else learner.max_depth),
        *(np.arange(n), hists, totals, nodes, gains, children, orders, leaf_of),
    )
    if count == 1:
        return None
    order, children = by_levels(children[:count])
    at, inner = nodes[order, CUT], nodes[order, CUT] >= 0
    feature, threshold, missing_low = search.cuts_at(at, nodes[order, SIDE])
    lows: list[Array] = [np.empty(0, bool)] * count
    if search.bins.categorical:
        for i in np.flatnonzero(inner & search.categorical[feature]).tolist():
            j = int(feature[i])
            width, cut = int(search.n_bins[j]) + 1, int(at[i] - search.starts[j])
            low = search.low_slots(j, cut, 0, orders[order[i], :width])
            lows[i], threshold[i], missing_low[i] = low[:-1], 0.0, low[-1]
    sums = totals[order] * channels.scale
    values = np.array([criterion.leaf(s, channels.gross, numbers) for s in sums]) + centre
    starts = np.cumsum([0, *map(len, lows)])
    shares = gains[order] / criterion.weight(channels.gross)
    tree = Tree(feature, threshold, missing_low, children, starts, np.concatenate(lows), values, shares)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    return Pair(tree, compact(values)[place[leaf_of]], [*totals[order[~inner]]])


def _rows(channels: Channels) -> Array:
    """Return both channels' integers, a row of the table a column."""
    q = [part.q for part in channels.parts if isinstance(part, Follower) and part.q is not None]
    return np.stack([np.abs(q[0]), q[0]]) if len(q) == 1 else np.stack(q)
