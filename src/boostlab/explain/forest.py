"""The one description of an additive vote that explanations, exports and adapters use: step functions and trees.

It is made of what the voters' own packing (see `contract.voter`) says, so that no user of it knows a voter's class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import boostlab.learners  # noqa: F401 - fills KINDS
from boostlab.contract import Voter
from boostlab.contract.voter import KINDS
from boostlab.ensemble.lookup import in_order
from boostlab.ensemble.vote import Ensemble

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as flat arrays; the sum of the leaves that a row reaches is its raw score.

    A row goes to children[node, 0], low, where x[feature] <= threshold, or where its category is in the node's set; a
    missing value goes where `missing_low` says.  Parents come before their children, and a leaf's feature is -1.
    """

    roots: Array  # tree t owns the nodes roots[t]:roots[t + 1], the first of which is its root
    feature: Array
    threshold: Array
    missing_low: Array
    children: Array
    starts: Array  # a category node owns lows[starts[node]:starts[node + 1]], one truth value a category
    lows: Array
    values: Array  # of the leaves, one column a raw score, coefficients included
    low_share: Array | None = None  # the share of a node's reference rows that go low; None: no rows were kept

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots) - 1

    @property
    def width(self) -> int:
        """Number of raw scores."""
        return int(self.values.shape[1])

    @property
    def nodes(self) -> tuple[Array, ...]:
        """What kernels need to send a row down."""
        return self.feature, self.threshold, self.missing_low, self.children, self.starts, self.lows

    @cached_property
    def tree_of(self) -> Array:
        """The tree that each node is in."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.roots))

    @cached_property
    def parent(self) -> Array:
        """The parent of each node, -1 for a root."""
        parent = np.full(len(self.feature), -1, np.int64)
        inner = np.flatnonzero(self.feature >= 0)
        parent[self.children[inner]] = inner[:, None]
        return parent

    @cached_property
    def depth(self) -> Array:
        """The number of splits above each node."""
        depth = np.zeros(len(self.feature), np.int64)
        for node, parent in enumerate(self.parent.tolist()):
            depth[node] = depth[parent] + 1 if parent >= 0 else 0
        return depth

    @cached_property
    def used(self) -> Array:
        """The features that some node splits, in order."""
        return np.unique(self.feature[self.feature >= 0])

    def take(self, trees: Array) -> Forest:
        """Return some of the trees, by their numbers."""
        picked = [np.arange(self.roots[t], self.roots[t + 1]) for t in trees]
        nodes = np.concatenate([np.empty(0, np.int64), *picked])
        sizes = np.array([len(p) for p in picked], np.int64)
        moved = np.repeat(np.cumsum(sizes) - sizes, sizes) - np.repeat(self.roots[trees], sizes)
        counts = np.diff(self.starts)[nodes]
        cells = [self.lows[a:b] for a, b in zip(self.starts[nodes], self.starts[nodes + 1], strict=True)]
        return Forest(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            self.feature[nodes],
            self.threshold[nodes],
            self.missing_low[nodes],
            np.where(self.feature[nodes, None] >= 0, self.children[nodes] + moved[:, None], 0),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([np.empty(0, bool), *cells]),
            self.values[nodes],
            None if self.low_share is None else self.low_share[nodes],
        )

    def with_shares(self, low_share: Array) -> Forest:
        """Return the same trees with other shares."""
        return replace(self, low_share=low_share)

    def in_columns(self, used: Array) -> Forest:
        """Return the same trees on a table that holds these columns only."""
        return replace(self, feature=np.where(self.feature >= 0, np.searchsorted(used, self.feature), -1))

    def mapped(self, matrix: Array) -> Forest:
        """Return the trees whose leaves are multiplied by a matrix, one column a new score."""
        return replace(self, values=self.values @ matrix)

    @cached_property
    def cover(self) -> Array:
        """The share of the reference rows that reach each node."""
        cover = np.ones(len(self.feature))
        if self.low_share is not None:
            for node, parent in enumerate(self.parent.tolist()):
                if parent >= 0:
                    low = self.low_share[parent]
                    cover[node] = cover[parent] * (low if self.children[parent, 0] == node else 1.0 - low)
        return cover


@dataclass(frozen=True, eq=False)
class Steps:
    """The step function of one feature: the sum of all trees that split it once and nothing else.

    A value x has the place of the first cut that is not below it; categories 0, 1, ... have cuts between them.
    """

    feature: int
    cuts: Array  # of shape (k,)
    values: Array  # of shape (k + 1, width)
    missing: Array  # of shape (width,)
    mean: Array  # over the reference rows, of shape (width,)
    n_categories: int = 0  # 0 for numbers

    def __call__(self, x: Array) -> Array:
        """Return what values of the feature add to the scores."""
        out = self.values[np.searchsorted(self.cuts, x, "left")]
        absent = np.isnan(x)
        if absent.any():
            out[absent] = self.missing
        return out


def steps_and_trees(forest: Forest) -> tuple[Array, list[Steps], Forest]:
    """Part a forest into a constant, one step function a feature, and the trees that split more than once."""
    sizes = np.diff(forest.roots)
    first = forest.roots[:-1]
    constant = forest.values[first[sizes == 1]].sum(axis=0)
    single = sizes == 3
    steps = []
    for j in np.unique(forest.feature[first[single]]):
        roots = first[single & (forest.feature[first] == j)]
        steps.append(_merged(forest, int(j), roots))
    return constant, steps, forest.take(np.flatnonzero(sizes > 3))


def _merged(forest: Forest, feature: int, roots: Array) -> Steps:
    """Return the sum of trees with one split of the same feature."""
    low, high = (forest.values[forest.children[roots, side]] for side in (0, 1))
    share = np.full(len(roots), 0.5) if forest.low_share is None else forest.low_share[roots]
    missing = np.where(forest.missing_low[roots, None], low, high).sum(axis=0)
    mean = share @ low + (1.0 - share) @ high
    counts = (forest.starts[roots + 1] - forest.starts[roots]).astype(int)
    if counts.any():
        sets = [forest.lows[a : a + n] for a, n in zip(forest.starts[roots], counts, strict=True)]
        n = int(counts.max())
        is_low = np.stack([s if len(s) == n else np.ones(n, bool) for s in sets])
        values = np.where(is_low[:, :, None], low[:, None], high[:, None]).sum(axis=0)
        return Steps(feature, np.arange(n - 1) + 0.5, values, missing, mean, n)
    order = np.argsort(forest.threshold[roots], kind="stable")
    threshold, low, high = forest.threshold[roots][order] + 0.0, low[order], high[order]
    zero = np.zeros((1, forest.width))
    # In interval k the stumps before it have been crossed and add `high`, the others `low`.
    crossed = np.concatenate([zero, np.cumsum(high, axis=0)])
    ahead = np.concatenate([zero, np.cumsum(low[::-1], axis=0)])[::-1]
    cuts, at = np.unique(threshold, return_index=True)
    values = in_order((crossed + ahead)[np.append(at, len(threshold))], low, high)
    return Steps(feature, cuts, values, missing, mean)


# -- from voters -------------------------------------------------------------------------------------------------------


class NotAdditive(ValueError):
    """What has no contributions."""


def forest_of(vote: Ensemble, name: str = "This model") -> Forest:
    """Return a fitted vote as trees, whose raw scores are the sums of alpha times h.

    Parameters
    ----------
    vote : Ensemble
        The vote.
    name : str
        What messages call the model.
    """
    if vote.rule.gathered(np.zeros((1, 2))) is None:
        raise NotAdditive(
            f"{name} is not a sum over its voters (each one's vote depends on those before it), so it has no "
            "contributions and no export; use an additive booster, such as AdaBoostClassifier."
        )
    width = 1 if vote.rule.n_outputs == "one" else vote.n_classes
    parts = []
    members: dict[str, list[tuple[Any, float, int]]] = {}
    for alpha, voter in zip(vote.alphas, vote.voters, strict=True):
        several = voter if isinstance(voter, tuple) else (voter,)
        for k, one in enumerate(several):
            own = float(alpha[k] if np.ndim(alpha) else alpha)
            if own != 0.0:
                members.setdefault(_kind(one, name), []).append((one, own, k if isinstance(voter, tuple) else -1))
    named = vote.rule.needs == "labels"
    for kind, found in sorted(members.items()):
        voters, alphas, columns = zip(*found, strict=True)
        parts.append(_ForestReader(width, named, np.array(alphas), np.array(columns)).read(kind, list(voters)))
    return joined(parts, width)


def _kind(voter: Voter, name: str) -> str:
    kind = voter.stored_as
    if kind not in ("stump", "category_stump", "tree", "pool_stump"):
        raise NotAdditive(
            f"{name} votes with {voter.shown_kind}, whose inside boostlab does not know; explanations and exports need "
            "stumps, trees or a VoterPool of stumps (for other voters use a model-agnostic tool such as "
            "sklearn.inspection)."
        )
    return kind


@dataclass
class _ForestReader:
    """Turns packed voters of one kind into a forest."""

    width: int
    named: bool  # whether a vote is the number of a class
    alphas: Array
    columns: Array  # of tuples: which score a voter adds to; -1 for all

    def read(self, kind: str, voters: Sequence[Any]) -> Forest:
        """Return the voters, each as one tree."""
        if kind == "pool_stump":
            self.alphas = self.alphas * np.array(KINDS[kind].pack(voters)["pool_sign"])
            kind, voters = "stump", [v.inside for v in voters]
        packed = {name: np.asarray(a) for name, a in KINDS[kind].pack(voters).items()}
        return {"stump": self._stumps, "category_stump": self._categories, "tree": self._trees}[kind](packed)

    def _votes(self, votes: Array, tree: Array) -> Array:
        """Return votes as columns of raw scores, times their trees' coefficients."""
        if self.named:
            out = np.eye(self.width)[votes.astype(np.intp)]
        elif votes.ndim == 2:
            out = votes.astype(np.float64)
        elif self.width == 1:
            out = votes.astype(np.float64)[:, None]
        else:
            out = np.zeros((len(votes), self.width))
            out[np.arange(len(votes)), self.columns[tree]] = votes
        return out * self.alphas[tree, None]

    def _stumps(self, packed: dict[str, Array]) -> Forest:
        S, votes = len(packed["stump_feature"]), packed["stump_votes"]
        same = (votes[:, 2] == votes[:, 0]).reshape(S, -1).all(axis=1)
        leaves = votes[:, :2].reshape(2 * S, *votes.shape[2:])
        feature, threshold = np.full((S, 3), -1, np.int64), np.zeros((S, 3))
        feature[:, 0], threshold[:, 0] = packed["stump_feature"], packed["stump_threshold"]
        missing_low, values = np.zeros((S, 3), bool), np.zeros((S, 3, self.width))
        missing_low[:, 0] = same
        values[:, 1:] = self._votes(leaves, np.repeat(np.arange(S), 2)).reshape(S, 2, self.width)
        children = np.zeros((S, 3, 2), np.int64)
        children[:, 0] = 3 * np.arange(S)[:, None] + [1, 2]
        return Forest(
            3 * np.arange(S + 1),
            feature.ravel(),
            threshold.ravel(),
            missing_low.ravel(),
            children.reshape(3 * S, 2),
            np.zeros(3 * S + 1, np.int64),
            np.empty(0, bool),
            values.reshape(3 * S, self.width),
        )

    def _categories(self, packed: dict[str, Array]) -> Forest:
        ends = np.cumsum(packed["category_size"])
        parts = []
        for t, (j, n, end) in enumerate(zip(packed["category_feature"], packed["category_size"], ends, strict=True)):
            votes = self._votes(packed["category_votes"][end - n : end], np.full(n, t))
            parts.append(_chain(int(j), votes))
        return joined(parts, self.width)

    def _trees(self, packed: dict[str, Array]) -> Forest:
        size = packed["tree_size"]
        roots = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        feature, inner = packed["node_feature"].astype(np.int64), packed["node_feature"] >= 0
        children = np.where(inner[:, None], packed["node_children"] + np.repeat(roots[:-1], size)[:, None], 0)
        values = self._votes(packed["node_votes"], np.repeat(np.arange(len(size)), size))
        values[inner] = 0.0
        return Forest(
            roots,
            feature,
            np.where(inner, packed["node_threshold"], 0.0),
            packed["node_missing_low"].astype(bool),
            children.astype(np.int64),
            np.concatenate([[0], np.cumsum(packed["node_categories"])]).astype(np.int64),
            packed["category_low"].astype(bool),
            values,
        )


def _chain(feature: int, votes: Array) -> Forest:
    """Return a tree of category sets, one leaf a distinct vote; the last vote is for missing values."""
    distinct, place = np.unique(votes, axis=0, return_inverse=True)
    place = place.reshape(-1)
    m, n = len(distinct), len(votes) - 1
    nodes = 2 * m - 1  # an inner node, its leaf, the next inner node, ..., the last leaf
    inner = np.arange(0, nodes - 1, 2)
    features, children, values = np.full(nodes, -1), np.zeros((nodes, 2), np.int64), np.zeros((nodes, votes.shape[1]))
    features[inner] = feature
    children[inner] = inner[:, None] + [1, 2]
    values[inner + 1], values[-1] = distinct[: m - 1], distinct[-1]
    missing_low = np.zeros(nodes, bool)
    missing_low[inner] = place[-1] == np.arange(m - 1)
    counts = np.where(features >= 0, n, 0)
    lows = (place[:-1] == np.arange(m - 1)[:, None]).ravel()
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Forest(np.array([0, nodes]), features, np.zeros(nodes), missing_low, children, starts, lows, values)


def joined(parts: Sequence[Forest], width: int) -> Forest:
    """Return several forests as one."""
    nodes = np.cumsum([0, *(len(p.feature) for p in parts)])
    cells = np.cumsum([0, *(len(p.lows) for p in parts)])

    def all_of(*arrays: Any, empty: Array) -> Array:
        return np.concatenate([empty, *arrays])

    whole, number = np.empty(0, np.int64), np.empty(0)
    return Forest(
        all_of([0], *(p.roots[1:] + n for p, n in zip(parts, nodes[:-1], strict=True)), empty=whole),
        all_of(*(p.feature for p in parts), empty=whole),
        all_of(*(p.threshold for p in parts), empty=number),
        all_of(*(p.missing_low for p in parts), empty=np.empty(0, bool)),
        all_of(
            *(np.where(p.feature[:, None] >= 0, p.children + n, 0) for p, n in zip(parts, nodes[:-1], strict=True)),
            empty=np.empty((0, 2), np.int64),
        ),
        all_of([0], *(p.starts[1:] + n for p, n in zip(parts, cells[:-1], strict=True)), empty=whole),
        all_of(*(p.lows for p in parts), empty=np.empty(0, bool)),
        all_of(*(p.values for p in parts), empty=np.empty((0, width))),
    )
