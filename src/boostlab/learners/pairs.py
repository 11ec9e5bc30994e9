"""Trees of few leaves on small tables, by criteria of two sums, each grown in one compiled call: those of `tree`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.kernels.pairs import CUT, DEPTH, FACTS, grower_of_pairs
from boostlab.data.table import compact
from boostlab.learners.criterion import Params, Separable
from boostlab.learners.fitted_tree import Tree
from boostlab.learners.quick import DEEPEST, Limits
from boostlab.learners.search import Channels, SmallChannels, SplitSearch
from boostlab.learners.small import count_cuts

Array = npt.NDArray[Any]

CELLS = 1 << 18  # of the sample: above, a split costs more than the interpreter
NO_LOWS = np.empty(0, bool)
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


class Room:
    """What the growth of a session's trees needs, made once.

    Parameters
    ----------
    search : SplitSearch
        Whose columns are split.
    limit : int
        The largest number of leaves.
    """

    def __init__(self, search: SplitSearch, limit: int) -> None:
        codes, size, widest = search.codes, 2 * limit - 1, int(np.diff(search.starts).max())
        self.limit = limit
        self.read, self.lanes = codes.to_read, codes.spare
        cuts = (count_cuts(search.possible, search.starts), count_cuts(search.possible_below, search.starts))
        self.columns = search.starts, *cuts, search.filled, search.categorical
        self.points = search.bins.starts, search.bins.points, search.some_missing, search.heavier_below
        self.orders = np.empty((size, widest), np.int64)  # of categories
        self.hists = np.empty((limit, codes.n_slots + codes.spare, 2), np.int64)
        members, gains, places = np.empty(codes.n_rows, np.int64), np.empty(size), np.empty(size, np.int64)
        self.room = members, self.hists, gains, np.empty((size, 2), np.int64), self.orders, places
        self.nodes = np.empty((size, FACTS), np.int64)
        self.totals = np.empty((size, 2), np.int64)
        whole = (np.empty(size, np.int64), np.empty(size), np.empty(size, bool), np.empty((size, 2), np.int64))
        self.tree = *whole, np.empty(size), np.empty((size, 2), np.int64), np.empty(size, np.int64)
        self.leaf_of = np.empty(codes.n_rows, np.int64)

    @classmethod
    def of(cls, search: SplitSearch, limit: int) -> Room:
        """Return the room of a search."""
        if not isinstance(search.room, Room) or search.room.limit != limit:
            search.room = cls(search, limit)
        return search.room


def grown_by_pairs(
    learner: Limits,
    search: SplitSearch,
    criterion: Separable,
    channels: Channels,
    params: Params,
    floor: float,
    centre: float,
    rows_by: tuple[Array, Array],
) -> Pair | None:
    """Grow a tree whose leaves vote by the criterion, `centre` more; None if no split gains more than the floor."""
    limit = n_leaves(learner, search.codes.n_rows)
    room, numbers = Room.of(search, limit), criterion.numbers(params)
    known = not isinstance(channels, SmallChannels)
    if known:
        room.hists[0, : search.codes.n_slots] = channels.slots.T
    room.totals[0] = channels.total
    count = grower_of_pairs(criterion.cost, room.lanes)(
        *(room.read, room.columns, room.points, _rows(channels), known, channels.scale, channels.gross, numbers, floor),
        *(limit, DEEPEST if learner.max_depth is None else learner.max_depth),
        *(room.room, room.nodes, room.totals, room.tree, room.leaf_of),
    )
    if count + 1 < 2 * limit and _is_unfinished(learner, room, criterion, channels.scale, count, floor, rows_by):
        return UNFINISHED
    if count == 1:
        return None
    feature, threshold, missing_low, children, gains, totals, source = (x[:count].copy() for x in room.tree)
    lows, starts = NO_LOWS, np.zeros(count + 1, np.int64)
    if search.bins.categorical:
        parts = [NO_LOWS] * count
        for i in np.flatnonzero((feature >= 0) & search.categorical[feature]).tolist():
            j, node = int(feature[i]), int(source[i])
            width, cut = int(search.n_bins[j]) + 1, int(room.nodes[node, CUT] - search.starts[j])
            low = search.low_slots(j, cut, 0, room.orders[node, :width])
            parts[i], threshold[i], missing_low[i] = low[:-1], 0.0, low[-1]
        lows, starts = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
    values = criterion.leaves_of(totals * channels.scale, channels.gross, numbers) + centre
    gains /= criterion.weight(channels.gross)
    tree = Tree(feature, threshold, missing_low, children, starts, lows, values, gains)
    return Pair(tree, compact(values)[room.leaf_of], [*totals[feature < 0]] if criterion.heaviest else [])


UNFINISHED = Pair(Tree(*[np.empty(0)] * 8), np.empty(0), [])  # there is an impure leaf of which no split gains anything


def _is_unfinished(
    learner: Limits,
    room: Room,
    criterion: Separable,
    scale: Array,
    count: int,
    floor: float,
    rows_by: tuple[Array, Array],
) -> bool:
    """Return whether a leaf that may be split is impure."""
    weight, target = rows_by
    feature, _, _, _, _, totals, source = (x[:count] for x in room.tree)
    deepest = DEEPEST if learner.max_depth is None else learner.max_depth
    for k in np.flatnonzero((feature < 0) & (room.nodes[source, DEPTH] < deepest)):
        rows = slice(0) if criterion.labels else room.leaf_of == k
        if criterion.remaining(totals[k], scale, weight[rows], target[rows]) > floor:
            return True
    return False


def _rows(channels: Channels) -> Array:
    """Return both channels' integers, a row of the table a column."""
    if isinstance(channels, SmallChannels):
        return channels.q
    q = [part.q for part in channels.parts if isinstance(part, Follower) and part.q is not None]
    return np.stack([np.abs(q[0]), q[0]]) if len(q) == 1 else np.stack(q)
