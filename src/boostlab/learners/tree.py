"""Decision trees by histograms: CART's greedy growth under any criterion that is a sum over leaves."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from boostlab.backend.cpu.masses import Masses
from boostlab.contract import Found, Learner, Session, Stop, Task, class_error_sums, error_sums
from boostlab.data.table import Table, compact
from boostlab.learners.crew import Crew, is_for_crew
from boostlab.learners.criteria import CRITERIA, ByClass, ClassGini, Gini
from boostlab.learners.criterion import Separable
from boostlab.learners.factored import grow_factored
from boostlab.learners.fitted_tree import Tree
from boostlab.learners.full import FullGrower, is_full
from boostlab.learners.pairs import UNFINISHED as UNFINISHED_PAIR
from boostlab.learners.pairs import Pair, grown_by_pairs, is_pair
from boostlab.learners.quick import UNFINISHED, Grown, grown, is_quick
from boostlab.learners.search import Channels, Split, SplitSearch, tame

Array = npt.NDArray[Any]

# What a tree grows by for each criterion a rule may ask for: labels by gini, the others by themselves.
GROWS_BY: dict[str, Separable] = {
    **{name: c for name, c in CRITERIA.items() if isinstance(c, Separable)},
    "edge": Gini(),
    "labels": ClassGini(),
}
ERRORS = {"edge": error_sums, "labels": class_error_sums}  # what leaves that vote labels know of


class DecisionTree(Learner, BaseEstimator):
    """A CART tree on binned columns, for use as a booster's `estimator`.

    Splits lower the criterion that the booster asks for (gini where it asks for labels); the leaf with the largest gain
    is split first.  An impure leaf is split, last of all, even if no split gains anything (as of XOR): then into
    sides as even as can be.  Missing values go to the better side; categories are split by subsets.

    Parameters
    ----------
    max_leaf_nodes : int or None, default=8
        The largest number of leaves; None is no limit.
    max_depth : int or None, default=None
        The largest number of splits on the way to a leaf.
    min_samples_leaf : float, default=1
        The least number of examples (sum of sample weights) in a leaf; 1 or less is no limit.
    min_samples_split : float, default=2
        The least number of examples (sum of sample weights) in a node that is split; 2 or less is no limit.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning: a split goes if the splits below and including it save less than this much a leaf,
        measured as a share of the weight.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import AdaBoostClassifier, DecisionTree
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(DecisionTree(max_depth=2), n_estimators=5).fit(X, y)
    >>> model.estimators_[0].n_leaves, model.estimators_[0].depth
    (4, 2)
    """

    uses_bins = True

    def __init__(
        self,
        max_leaf_nodes: int | None = 8,
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        ccp_alpha: float = 0.0,
        min_samples_split: float = 2,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.ccp_alpha = ccp_alpha
        self.min_samples_split = min_samples_split

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        return frozenset([*GROWS_BY, "factored"])

    def begin(self, table: Table, rows: Masses, rng: np.random.Generator) -> TreeSession:
        """Start work on a sample."""
        for name, low, kind in (
            ("max_leaf_nodes", 2, Integral),
            ("max_depth", 1, Integral),
            ("min_samples_leaf", 0, Real),
            ("ccp_alpha", 0, Real),
            ("min_samples_split", 0, Real),
        ):
            value = getattr(self, name)
            if value is None and kind is Integral:
                continue
            if not isinstance(value, kind) or isinstance(value, bool) or not float(value) >= low:
                what = "a whole number" if kind is Integral else "a number"
                raise ValueError(
                    f"DecisionTree: {name}={value!r} is not possible; it must be {what} of at least {low}."
                )
        return TreeSession(self, table, rows)


@dataclass(slots=True)
class _Leaf:
    """A leaf that may still be split."""

    node: int
    depth: int
    members: Array  # the rows in it: a stretch of one shared array
    slots: Array
    total: Array
    split: Split | None = None


class TreeSession(Session):
    """Tree growth on one sample."""

    def __init__(self, learner: DecisionTree, table: Table, rows: Masses) -> None:
        self.learner, self.rows = learner, rows
        self.search = SplitSearch(table, rows)
        self.counts_leaves = learner.min_samples_leaf > 1
        self.full = FullGrower(learner, self.search) if is_full(learner, self.search) else None
        self.crew = Crew(learner, self.search) if is_for_crew(learner, self.search) else None

    def best(self, task: Task) -> Found | Stop:
        """Grow a tree."""
        if task.criterion == "factored":
            return grow_factored(self, task)
        search, criterion = self.search, GROWS_BY[task.criterion]
        if isinstance(criterion, ByClass) and is_quick(self.learner, search, task.target):
            quick = grown(self.learner, search, criterion, task)
            if quick is not UNFINISHED:
                return self._compiled(task, quick)
        if self.full is not None and self.full.serves(criterion):
            return self._compiled(task, self.full.grow(task))
        if isinstance(criterion, ByClass) and self.full is not None and not search.bins.categorical:
            return self._compiled(task, self.full.grow_classes(task, criterion))
        weight, target, centre = tame(task.weight), task.target, 0.0
        if self.crew is not None and self.crew.serves(criterion, task):
            found = self.crew.grow(criterion, task, weight)
            if found is not UNFINISHED:
                return self._compiled(task, found)
        if criterion.centred:  # digits are for differences, not for a large mean
            centre = self._mean(weight, target, task.counts)
            target = target - centre
        # Where leaves must have some size, one more channel, that only `least` looks at.
        channels = search.channels(criterion, weight, target, task.counts, census=self.counts_leaves)
        span = criterion.span(weight, target)
        gross = channels.gross[:-1] if self.counts_leaves else channels.gross
        whole = channels.weight(criterion, gross) if span is None else self.rows.sums(span, task.counts)[1]
        if is_pair(self.learner, search, channels):
            rows_by = weight if task.counts is None else weight * (task.counts > 0), target
            pair = grown_by_pairs(
                self.learner, search, criterion, channels, task.params, 1e-12 * whole, centre, rows_by
            )
            if pair is not UNFINISHED_PAIR:
                return self._paired(task, channels, criterion, pair)
        grower = _Grower(self.learner, search, criterion, task, channels, self.counts_leaves, (weight, target))
        grower.grow(floor=1e-12 * whole)
        if len(grower.splits) == 0:
            pruned = len(grower.sums) > 1
            why = (
                f"ccp_alpha={self.learner.ccp_alpha:g} takes back every split" if pruned else "no split gains anything"
            )
            return Stop("no_edge", why)
        tree, leaves = grower.tree()
        if criterion.centred:
            tree.values += centre
        errors = channels.errors(criterion, grower.leaf_totals()) if criterion.heaviest else None
        return _found(task, tree, self._votes(tree, leaves), errors)

    def _compiled(self, task: Task, found: Grown | None) -> Found | Stop:
        """Take a tree that was grown in one compiled call."""
        if found is None:
            return Stop("no_edge", "no split gains anything")
        return _found(task, Tree(*found.arrays), found.votes, found.sums)

    def _paired(self, task: Task, channels: Channels, criterion: Separable, found: Pair | None) -> Found | Stop:
        """Take a tree by two sums that was grown in one compiled call."""
        if found is None:
            return Stop("no_edge", "no split gains anything")
        errors = channels.errors(criterion, found.leaves) if criterion.heaviest else None
        return _found(task, found.tree, found.votes, errors)

    def single(self, split: Split, gain: float) -> Tree:
        """Return the tree of one split that says -1 below and +1 above."""
        search, low = self.search, self.search.low(split)
        categories = low[:-1] if search.categorical[split.feature] else np.empty(0, bool)
        threshold = 0.0 if len(categories) else search.threshold(split.feature, split.cut)
        return Tree(
            np.array([split.feature, -1, -1]),
            np.array([threshold, 0.0, 0.0]),
            np.array([low[-1], False, False]),
            np.array([[1, 2], [0, 0], [0, 0]]),
            np.array([0, *[len(categories)] * 3]),
            categories,
            np.array([1.0, -1.0, 1.0]),
            np.array([gain, 0.0, 0.0]),
        )

    def _mean(self, weight: Array, target: Array, counts: Array | None) -> float:
        (signed, _), (whole, _) = (self.rows.sums(x, counts) for x in (weight * target, weight))
        return signed / whole if whole > 0 else 0.0

    def _votes(self, tree: Tree, leaves: dict[int, Array]) -> Array:
        values = compact(tree.values)
        out = np.empty((self.rows.n_rows, *values.shape[1:]), values.dtype)
        for leaf, members in leaves.items():
            out[members] = values[leaf]
        return out


def _found(task: Task, tree: Tree, votes: Array, errors: tuple[float, float] | None) -> Found:
    """Return a tree with its votes, by the leaves that rows fell into, and its errors, which are the sample's."""
    known = errors is not None and task.counts is None and task.criterion in ERRORS
    return Found(tree, votes, {ERRORS[task.criterion]: errors} if known else {})


class _Grower:
    """One tree in the making."""

    def __init__(
        self,
        learner: DecisionTree,
        search: SplitSearch,
        criterion: Separable,
        task: Task,
        channels: Channels,
        counts_leaves: bool,
        rows_by: tuple[Array, Array],
    ) -> None:
        self.rows_by = rows_by  # the weight and the target that the channels are made of
        self.learner, self.search, self.criterion, self.task = learner, search, criterion, task
        self.channels = channels
        self.seen = slice(None, -1) if counts_leaves else slice(None)  # the channels the criterion sees
        self.gross = channels.gross[self.seen]
        self.least = float(learner.min_samples_leaf) if counts_leaves else 0.0
        self.fewest = float(learner.min_samples_split)
        n = search.rows.n_rows
        self.members = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
        self.sums: list[Array] = []  # of every node
        self.totals: list[Array] = []  # the same as integers
        self.rows_of: list[Array] = []  # the same for its rows: a stretch of the members, kept when it is parted
        self.splits: dict[int, Split] = {}
        self.children: dict[int, tuple[int, int]] = {}
        self.gains: dict[int, float] = {}

    def grow(self, floor: float) -> None:
        """Split the leaf with the largest gain until a limit is reached or all leaves are pure.

        What is no more than the floor is rounding: such gains come last, the first leaf first, and impure leaves are
        then parted evenly (as CART does, a tree learns XOR although its first split gains nothing).
        """
        self.space = np.empty_like(self.members)
        root = self._leaf(0, self.members, self.channels.slots, self.channels.total)
        heap: list[tuple[float, int, _Leaf]] = []
        self._offer(heap, root, floor)
        limit = min(self.learner.max_leaf_nodes or np.inf, len(self.members))  # no tree has more leaves than rows
        while heap and len(self.splits) + 1 < limit:
            gain, _, leaf = heapq.heappop(heap)
            assert leaf.split is not None
            self.gains[leaf.node] = -gain
            for child in self._part(leaf, leaf.split):
                if len(self.splits) + 1 < limit:
                    self._offer(heap, child, floor)
        del self.space
        if self.learner.ccp_alpha > 0:
            self._prune()

    def _leaf(self, depth: int, members: Array, slots: Array, total: Array) -> _Leaf:
        self.sums.append((total * self.channels.scale)[self.seen])
        self.totals.append(total)
        self.rows_of.append(members)
        return _Leaf(len(self.sums) - 1, depth, members, slots, total)

    def _offer(self, heap: list[tuple[float, int, _Leaf]], leaf: _Leaf, floor: float) -> None:
        """Find the leaf's best split and queue it, if there is one."""
        if self.learner.max_depth is not None and leaf.depth >= self.learner.max_depth:
            return
        if self.fewest > 2 and self._size(leaf.members) < self.fewest:
            return
        leaf.split = self.search.best(
            self.criterion, leaf.slots, leaf.total, self.channels, self.task.params, self.least
        )
        if leaf.split is None:
            return
        facts = leaf.total[self.seen], self.channels.scale[self.seen]
        gain = float(self.criterion.impurity(*facts)) - leaf.split.cost
        if not gain > floor:
            if not self._remaining(leaf, *facts) > floor:
                return
            gain, leaf.split = (
                0.0,
                self.search.most_even(
                    self.criterion, leaf.slots, leaf.total, self.channels, self.task.params, self.least
                ),
            )
        if leaf.split is not None:
            heapq.heappush(heap, (-gain, leaf.node, leaf))

    def _remaining(self, leaf: _Leaf, total: Array, scale: Array) -> float:
        """Return what pure leaves in place of this one would gain."""
        rows, (weight, target) = leaf.members, self.rows_by
        if self.task.counts is not None:
            rows = rows[self.task.counts[rows] > 0]
        return self.criterion.remaining(total, scale, weight[rows], target[rows])

    def _size(self, members: Array) -> float:
        """Return the number of examples that some rows stand for."""
        counts, rows = self.task.counts, self.search.rows
        if counts is not None:
            return float(counts[members].sum())
        return float(len(members)) if rows.uniform else float(rows.of(members).sum())

    def _part(self, leaf: _Leaf, split: Split) -> tuple[_Leaf, _Leaf]:
        """Part the rows; sum the smaller side and get the other by subtraction, exactly."""
        n_low = self.search.codes.part(split.feature, self.search.low(split), leaf.members, self.space)
        low, high = leaf.members[:n_low], leaf.members[n_low:]
        smaller = low if n_low * 2 <= len(leaf.members) else high
        slots, total = self.channels.sums(smaller)
        leaf.slots -= slots
        rest = leaf.total - total
        small, large = (slots, total), (leaf.slots, rest)
        sides = (small, large) if smaller is low else (large, small)
        children = (
            self._leaf(leaf.depth + 1, low, *sides[0]),
            self._leaf(leaf.depth + 1, high, *sides[1]),
        )
        self.splits[leaf.node] = split
        self.children[leaf.node] = children[0].node, children[1].node
        return children

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

    def tree(self) -> tuple[Tree, dict[int, Array]]:
        """Return the tree as flat arrays, without the nodes that pruning took, and the rows of every leaf."""
        kept = self._kept()
        place = {node: i for i, node in enumerate(kept)}
        search, n = self.search, len(kept)
        feature, threshold = np.full(n, -1, np.int64), np.zeros(n)
        missing_low, children = np.zeros(n, bool), np.zeros((n, 2), np.int64)
        lows: list[Array] = [np.empty(0, bool)] * n
        gains = np.zeros(n)
        for i, node in enumerate(kept):
            if node in self.splits:
                split = self.splits[node]
                low = search.low(split)
                feature[i], missing_low[i] = split.feature, low[-1]
                children[i] = [place[c] for c in self.children[node]]
                gains[i] = self.gains[node] / self.channels.weight(self.criterion, self.gross)
                if search.categorical[split.feature]:
                    lows[i] = low[:-1]
                else:
                    threshold[i] = search.threshold(split.feature, split.cut)
        numbers = self.criterion.numbers(self.task.params)
        values = np.array([self.criterion.leaf(self.sums[node], self.gross, numbers) for node in kept])
        starts = np.concatenate([[0], np.cumsum([len(m) for m in lows])]).astype(np.int64)
        tree = Tree(feature, threshold, missing_low, children, starts, np.concatenate(lows), values, gains)
        return tree, {place[node]: self.rows_of[node] for node in kept if node not in self.splits}
