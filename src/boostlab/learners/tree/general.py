"""Trees grown best first: any criterion, any codes, every limit.  The other strategies are measured by this one.

Leaves that may be split next are prepared together where that is cheaper than one after the other (an exchange with
rows on other machines): parted, and a child of each summed.  Whether a leaf is split is decided by the gains alone, in
the order in which one leaf after the other would be; what was prepared for nothing is forgotten.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.search import take_away
from boostlab.contract import Channels, LearnerRows, Node, Stop, Task
from boostlab.contract.constraints import WHOLE, Region
from boostlab.contract.criterion import Separable
from boostlab.contract.growth import FLOOR, NO_SPLIT, Grown, Limits, Strategy, TreeArrays, deepest
from boostlab.contract.rows import NodeHalves
from boostlab.contract.slots import Split
from boostlab.contract.voter import compact
from boostlab.learners.constrained_search import ConstrainedSearch
from boostlab.learners.search import SplitSearch

Array = npt.NDArray[Any]


class General(Strategy):
    """Growth that parts rows and asks for histograms, node by node or some nodes at a time."""

    name = "general"

    @classmethod
    def serves(cls, learner: Limits, rows: LearnerRows, criterion: Separable, task: Task) -> bool:
        """Every sample, every task."""
        return True

    def __init__(self, learner: Limits, rows: LearnerRows) -> None:
        super().__init__(learner, rows)
        asked = learner.constraints
        self.search = SplitSearch(rows) if asked is None else ConstrainedSearch(rows, asked)

    def grow(self, criterion: Separable, task: Task) -> Grown | Stop:
        """Grow a tree."""
        rows, counts_leaves = self.rows, self.learner.min_samples_leaf > 1
        weight, target, centre = rows.tame(task.weight), task.target, 0.0
        if criterion.centred:  # digits are for differences, not for a large mean
            target, centre = rows.centred(weight, target, task.counts)
        # Where leaves must have some size, one more channel, that only `least` looks at.
        channels = rows.channels(criterion, weight, target, task.counts, census=counts_leaves)
        span = criterion.span(weight, target)
        gross = channels.gross[:-1] if counts_leaves else channels.gross
        whole = channels.weight(criterion, gross) if span is None else rows.sums(span, task.counts)[1]
        grower = _Grower(self.learner, rows, self.search, criterion, task, channels, counts_leaves, (weight, target))
        grower.grow(floor=FLOOR * whole)
        if len(grower.splits) == 0:
            if len(grower.sums) > 1:
                return Stop("no_edge", f"ccp_alpha={self.learner.ccp_alpha:g} takes back every split")
            return NO_SPLIT
        tree, leaves = grower.tree(centre)
        known = criterion.heaviest and not any(region.bounded for region in grower.regions)
        sums = channels.errors(criterion, grower.leaf_totals()) if known else None
        votes = rows.leaf_votes([grower.rows_of[node] for node in leaves.values()], compact(tree.values)[[*leaves]])
        return Grown(tree, votes, sums)


@dataclass(slots=True)
class _Leaf:
    """A leaf that may still be split."""

    node: int
    depth: int
    rows: Node
    slots: Array
    total: Array
    region: Region
    split: Split | None = None
    halves: NodeHalves | None = None  # once it is prepared: its two sides


class _Grower:
    """One tree in the making."""

    def __init__(
        self,
        learner: Limits,
        rows: LearnerRows,
        search: SplitSearch,
        criterion: Separable,
        task: Task,
        channels: Channels,
        counts_leaves: bool,
        rows_by: tuple[Array, Array],
    ) -> None:
        self.rows_by = rows_by  # the weight and the target that the channels are made of
        self.learner, self.search, self.criterion, self.task = learner, search, criterion, task
        self.rows, self.slots, self.channels = rows, rows.slots, channels
        self.seen = slice(None, -1) if counts_leaves else slice(None)  # the channels the criterion sees
        self.gross = channels.gross[self.seen]
        self.least = float(learner.min_samples_leaf) if counts_leaves else 0.0
        self.fewest = float(learner.min_samples_split)
        self.sums: list[Array] = []  # of every node
        self.totals: list[Array] = []  # the same as integers
        self.rows_of: list[Node] = []
        self.regions: list[Region] = []
        self.splits: dict[int, Split] = {}
        self.children: dict[int, tuple[int, int]] = {}
        self.gains: dict[int, float] = {}

    def grow(self, floor: float) -> None:
        """Split the leaf with the largest gain until a limit is reached or all leaves are pure.

        What is no more than the floor is rounding: such gains come last, the first leaf first, and impure leaves are
        then parted evenly (as CART does, a tree learns XOR although its first split gains nothing).
        """
        root = self._leaf(0, self.rows.root(), self.channels.slots, self.channels.total, WHOLE)
        heap: list[tuple[float, int, _Leaf]] = []
        self._offer(heap, root, floor)
        limit = min(self.learner.max_leaf_nodes or np.inf, self.rows.n_rows)  # no tree has more leaves than rows
        while heap and len(self.splits) + 1 < limit:
            if heap[0][-1].halves is None:
                self._prepare(heap, limit - 1 - len(self.splits))
            gain, _, leaf = heapq.heappop(heap)
            assert leaf.split is not None
            assert leaf.halves is not None
            self.gains[leaf.node] = -gain
            for child in self._split(leaf, leaf.split, leaf.halves):
                if len(self.splits) + 1 < limit:
                    self._offer(heap, child, floor)
        if self.learner.ccp_alpha > 0:
            self._prune()

    def _leaf(self, depth: int, rows: Node, slots: Array, total: Array, region: Region) -> _Leaf:
        self.sums.append((total * self.channels.scale)[self.seen])
        self.totals.append(total)
        self.rows_of.append(rows)
        self.regions.append(region)
        return _Leaf(len(self.sums) - 1, depth, rows, slots, total, region)

    def _offer(self, heap: list[tuple[float, int, _Leaf]], leaf: _Leaf, floor: float) -> None:
        """Find the leaf's best split and queue it, if there is one."""
        if self.learner.max_depth is not None and leaf.depth >= self.learner.max_depth:
            return
        if self.fewest > 2 and self.rows.n_examples(leaf.rows, self.task.counts) < self.fewest:
            return
        leaf.split = self._cheapest(leaf)
        if leaf.split is None:
            return
        facts = leaf.total[self.seen], self.channels.scale[self.seen]
        gain = self._impurity(leaf, *facts) - leaf.split.cost
        if not gain > floor:
            if leaf.region.bounded or not self._remaining(leaf, *facts) > floor:
                return  # what bounds take away no split gives back
            gain, leaf.split = 0.0, self._most_even(leaf)
        if leaf.split is not None:
            heapq.heappush(heap, (-gain, leaf.node, leaf))

    def _cheapest(self, leaf: _Leaf) -> Split | None:
        asked = self.criterion, leaf.slots, leaf.total, self.channels, self.task.params, self.least
        if isinstance(self.search, ConstrainedSearch):
            return self.search.cheapest(*asked, leaf.region)
        return self.search.best(*asked)

    def _most_even(self, leaf: _Leaf) -> Split | None:
        asked = self.criterion, leaf.slots, leaf.total, self.channels, self.task.params, self.least
        if isinstance(self.search, ConstrainedSearch):
            return self.search.evenest(*asked, leaf.region)
        return self.search.most_even(*asked)

    def _impurity(self, leaf: _Leaf, total: Array, scale: Array) -> float:
        """Return what a leaf costs, its value kept within its region."""
        if not leaf.region.bounded:
            return float(self.criterion.impurity(total, scale))
        sums = self.sums[leaf.node]
        return float(self.criterion.price(sums, leaf.region.clip(self._value(leaf.node))))

    def _value(self, node: int) -> float:
        numbers = self.criterion.numbers(self.task.params)
        return float(self.criterion.value(self.sums[node], self.gross, numbers))

    def _vote(self, node: int) -> Any:
        """Return what a node votes, were it a leaf."""
        region = self.regions[node]
        if region.bounded:
            return self.criterion.vote_of(region.clip(self._value(node)))
        return self.criterion.leaf(self.sums[node], self.gross, self.criterion.numbers(self.task.params))

    def _remaining(self, leaf: _Leaf, total: Array, scale: Array) -> float:
        """Return what pure leaves in place of this one would gain."""
        if self.criterion.residual is None:
            return self.criterion.remaining(total, scale)
        facts = *self.rows_by, self.task.counts, total * scale
        return self.rows.largest_residual(leaf.rows, self.criterion.residual, *facts)

    def _prepare(self, heap: list[tuple[float, int, _Leaf]], left: float) -> None:
        """Part the leading leaf, and those that may follow it where that is worth while; so many splits are left.

        Of children that will not be split no histogram is asked for.
        """
        leaves = [leaf for _, _, leaf in heapq.nsmallest(self.rows.leaves_at_once(left), heap) if leaf.halves is None]
        inner = [leaf for leaf in leaves if left > 1 and leaf.depth + 1 < deepest(self.learner)]
        for leaf, halves in zip(inner, self.rows.halves(self.channels, [*map(self._cut, inner)]), strict=True):
            leaf.halves = halves
        for leaf in leaves:
            if leaf.halves is None:
                node, feature, low = self._cut(leaf)
                total = leaf.slots[:, self.slots.mine(feature)][:, low].sum(axis=1)
                leaf.halves = NodeHalves(*self.rows.part(node, feature, low), 0, None, total)

    def _cut(self, leaf: _Leaf) -> tuple[Node, int, Array]:
        assert leaf.split is not None
        return leaf.rows, leaf.split.feature, self.slots.low(leaf.split)

    def _split(self, leaf: _Leaf, split: Split, halves: NodeHalves) -> tuple[_Leaf, _Leaf]:
        """Let a leaf's two sides take its place; the sums of the side that was not summed are what is left, exactly."""
        low, high, summed, slots, total = halves
        if slots is not None:
            take_away(leaf.slots, slots, self.rows.threads)
        sides = [(leaf.slots, leaf.total - total)] * 2
        sides[summed] = leaf.slots if slots is None else slots, total
        regions = self._regions(leaf, split, *(total for _, total in sides))
        children = (
            self._leaf(leaf.depth + 1, low, *sides[0], regions[0]),
            self._leaf(leaf.depth + 1, high, *sides[1], regions[1]),
        )
        self.splits[leaf.node] = split
        self.children[leaf.node] = children[0].node, children[1].node
        return children

    def _regions(self, leaf: _Leaf, split: Split, below: Array, above: Array) -> tuple[Region, Region]:
        """Return what constraints leave of a split's two sides."""
        if not isinstance(self.search, ConstrainedSearch):
            return leaf.region, leaf.region
        direction = int(self.search.direction[self.slots.starts[split.feature] + split.cut])
        if not direction:
            return leaf.region.parted(split.feature, 0, 0.0, 0.0)
        facts = self.gross, self.criterion.numbers(self.task.params)
        sums = [(total * self.channels.scale)[self.seen] for total in (below, above)]
        values = [float(leaf.region.clip(self.criterion.value(s, *facts))) for s in sums]
        return leaf.region.parted(split.feature, direction, values[0], values[1])

    def _prune(self) -> None:
        """Take back the weakest splits while they save less than ccp_alpha a leaf (as a share of the weight)."""
        price = self.learner.ccp_alpha * self.channels.weight(self.criterion, self.gross)
        while self.splits:
            below: dict[int, list[int]] = {}  # the splits at and below each split
            for node in sorted(self.splits, reverse=True):
                below[node] = [node, *(n for c in self.children[node] for n in below.get(c, []))]
            strength = {node: sum(self.gains[n] for n in nodes) / len(nodes) for node, nodes in below.items()}
            weakest = min(strength, key=lambda node: (strength[node], node))
            if strength[weakest] > price:
                return
            gone = below[weakest]
            for n in gone:
                del self.splits[n], self.children[n], self.gains[n]

    def _kept(self) -> list[int]:
        """Return the nodes that pruning left, parents before children."""
        kept = [0]
        for node in kept:  # grows while it is read
            kept.extend(self.children.get(node, ()))
        return kept

    def leaf_totals(self) -> list[Array]:
        """Return the leaves' sums as integers."""
        return [self.totals[node][self.seen] for node in self._kept() if node not in self.splits]

    def tree(self, centre: float) -> tuple[TreeArrays, dict[int, int]]:
        """Return the tree without the nodes that pruning took, its votes raised by a centre, and where leaves were."""
        kept = self._kept()
        place = {node: i for i, node in enumerate(kept)}
        slots, n = self.slots, len(kept)
        feature, threshold = np.full(n, -1, np.int64), np.zeros(n)
        missing_low, children = np.zeros(n, bool), np.zeros((n, 2), np.int64)
        lows: list[Array] = [np.empty(0, bool)] * n
        gains = np.zeros(n)
        for i, node in enumerate(kept):
            if node in self.splits:
                split = self.splits[node]
                low = slots.low(split)
                feature[i], missing_low[i] = split.feature, low[-1]
                children[i] = [place[c] for c in self.children[node]]
                gains[i] = self.gains[node] / self.channels.weight(self.criterion, self.gross)
                if slots.categorical[split.feature]:
                    lows[i] = low[:-1]
                else:
                    threshold[i] = slots.threshold(split.feature, split.cut)
        values = np.array([self._vote(node) for node in kept])
        starts = np.concatenate([[0], np.cumsum([len(m) for m in lows])]).astype(np.int64)
        if self.criterion.centred:
            values += centre
        tree = TreeArrays(feature, threshold, missing_low, children, starts, np.concatenate(lows), values, gains)
        return tree, {place[node]: node for node in kept if node not in self.splits}
