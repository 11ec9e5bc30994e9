"""A fitted tree, and how it votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from boostlab.contract import Voter, voter_kind
from boostlab.contract.growth import TreeArrays
from boostlab.contract.voter import VOTE, Arrays, Layout, Setting, compact, magnitude, need
from boostlab.data.evaluation import leaf_of
from boostlab.data.table import Table
from boostlab.learners.tree.pruning import prices, who_votes
from boostlab.learners.words import Names, leaf_rules

Array = npt.NDArray[Any]

FIELDS = tuple(f.name for f in fields(TreeArrays))
_arrays = attrgetter(*FIELDS)


@voter_kind("tree")
@dataclass(slots=True)
class Tree(TreeArrays, Voter):
    """A fitted tree as flat arrays; node 0 is the root, and a node of feature -1 is a leaf."""

    layout: ClassVar[Layout] = {
        "tree_size": ("<i8", ("R",)),
        "node_feature": ("<i8", ("N",)),
        "node_threshold": ("<f8", ("N",)),
        "node_missing_low": ("|b1", ("N",)),
        "node_children": ("<i8", ("N", 2)),
        "node_categories": ("<i8", ("N",)),
        "node_votes": ("<f8", ("N", VOTE)),
        "node_gain": ("<f8", ("N",)),
        "category_low": ("|b1", ("M",)),
    }

    @classmethod
    def of(cls, grown: TreeArrays) -> Tree:
        """Return the voter of a tree that a strategy has grown."""
        return cls(*_arrays(grown))

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        return magnitude(self.values[self.feature < 0])

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.feature < 0).sum())

    @property
    def depth(self) -> int:
        """Number of splits on the longest way down."""
        depth = np.zeros(len(self.feature), int)
        for node in np.flatnonzero(self.feature >= 0):  # parents come before their children
            depth[self.children[node]] = depth[node] + 1
        return int(depth.max())

    def leaf_of(self, table: Table) -> Array:
        """Return the leaf of every row."""
        return leaf_of(table, (self.feature, self.threshold, self.missing_low, self.children), self.starts, self.lows)

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        return compact(self.values)[self.leaf_of(table)]

    def cuts(self) -> tuple[Sequence[int], Sequence[float]]:
        """Return the columns and thresholds of its inner nodes."""
        inner = (self.feature >= 0) & (np.diff(self.starts) == 0)
        return self.feature[inner].tolist(), self.threshold[inner].tolist()

    def prices(self) -> Array:
        """Return for every node the smallest `ccp_alpha` that takes its split back; zero for leaves.

        The tree must have been grown with ccp_alpha=0.
        """
        return prices(self.feature, self.children, self.gains)

    def pruned_votes(self, table: Table, ccp_alphas: Array) -> Array:
        """Return the votes on all rows of the tree pruned at several prices, one row a price.

        Where a price takes back every split, the root votes.
        """
        leaf, price, values = self.leaf_of(table), self.prices(), compact(self.values)
        out = np.empty((len(ccp_alphas), len(leaf)), values.dtype)
        for k, alpha in enumerate(ccp_alphas):
            out[k] = values[who_votes(self.feature, self.children, price, alpha)[leaf]]
        return out

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table.raw(X))

    def in_words(self, names: Names) -> str:
        """One rule a leaf, a line each."""
        return "\n".join(leaf_rules(names, self))

    def __str__(self) -> str:
        return self.in_words(Names())

    def importances(self, n_features: int) -> tuple[list[int], list[float]]:
        """Every feature's share of the gains."""
        gains = dict[int, float]()  # a tree has few nodes: NumPy's `unique` takes ten times as long
        for feature, gain in zip(self.feature.tolist(), self.gains.tolist(), strict=True):
            if feature >= 0:
                gains[feature] = gains.get(feature, 0.0) + gain
        used = sorted(gains)
        shares = np.array([gains[feature] for feature in used])
        return used, (shares / shares.sum() if shares.any() else shares).tolist()

    @property
    def vote_ndim(self) -> int:
        """0 where a vote is one number, 1 where it is one a class."""
        return self.values.ndim - 1

    @classmethod
    def pack(cls, voters: Sequence[Tree]) -> dict[str, Any]:
        """Return trees as arrays."""
        return {
            "tree_size": [len(v.feature) for v in voters],
            "node_feature": _joined([v.feature for v in voters]),
            "node_threshold": _joined([v.threshold for v in voters]),
            "node_missing_low": _joined([v.missing_low for v in voters]),
            "node_children": _joined([v.children for v in voters]),
            "node_categories": _joined([np.diff(v.starts) for v in voters]),
            "node_votes": _joined([v.values for v in voters]),
            "node_gain": _joined([v.gains for v in voters]),
            "category_low": _joined([v.lows for v in voters]),
        }

    @classmethod
    def unpack(cls, arrays: Arrays, setting: Setting) -> Iterator[Tree]:
        """Return trees of a model file."""
        size, feature, threshold = arrays["tree_size"], arrays["node_feature"], arrays["node_threshold"]
        missing_low, children, counts = arrays["node_missing_low"], arrays["node_children"], arrays["node_categories"]
        low, votes, gain = arrays["category_low"], arrays["node_votes"], arrays["node_gain"]
        need((size >= 1).all() and (size <= len(feature)).all(), "a tree without nodes")
        need(size.sum() == len(feature), "trees and nodes differ in number")
        exist = ((feature >= -1) & (feature < setting.n_features)).all()
        need(exist, "a tree that splits a column that does not exist")
        need(not np.isnan(threshold).any(), "a tree without a threshold")
        inner = feature >= 0
        categories = np.zeros(setting.n_features, np.int64)
        categories[list(setting.n_categories)] = list(setting.n_categories.values())
        need((counts == np.where(inner, categories[feature], 0)).all(), "a tree with a wrong number of categories")
        need(counts.sum() == len(low), "trees and their categories differ in number")
        setting.sane(votes[~inner], "a leaf's vote")
        votes = setting.named(votes)
        setting.sane(gain, "a split's gain")
        need((gain >= 0).all(), "a split with a negative gain")
        first, low_first = 0, 0
        for n in size.tolist():
            here = slice(first, first + n)
            kids, parents = children[here][inner[here]], np.flatnonzero(inner[here])
            need(np.array_equal(np.sort(kids, axis=None), np.arange(1, n)), "a tree whose nodes do not hang together")
            need((kids > parents[:, None]).all(), "a tree whose nodes run in a circle")
            starts = np.concatenate([[0], np.cumsum(counts[here])]).astype(np.int64)
            lows = low[low_first : low_first + int(starts[-1])]
            leaves = votes[here, 0] if setting.single else votes[here]
            parts = feature[here], threshold[here], missing_low[here], children[here], starts, lows, leaves, gain[here]
            yield cls(*(part.copy() for part in parts))
            first, low_first = first + n, low_first + int(starts[-1])


def _joined(parts: Sequence[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0)
