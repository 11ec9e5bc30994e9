"""Rounds and their voters as plain arrays, and back.

Nothing that comes back is used before it is checked: the compiled loops that read trees and tables trust their indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Each, Rule
from boostlab.data.table import MOST_BINS
from boostlab.ensemble.vote import Round
from boostlab.learners.pool import PoolVoter
from boostlab.learners.stump import CategoryStump, Stump
from boostlab.learners.tree.fitted import Tree
from boostlab.model_io.problems import JOBLIB, Problem, need

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

STUMP, CATEGORY_STUMP, TREE, POOL_STUMP = range(4)
LARGEST_SCORE = 1e100  # scores and votes beyond it are no model's, and could overflow

# Every array: its type and its shape, where a letter is a length that must be the same wherever it stands.
#   T rounds, V voters, S stumps, P of them in a pool, C category stumps, R trees, N nodes, K numbers in a vote,
#   B rounds and J classes where the classes have coefficients of their own
LAYOUT: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "round_alpha": ("<f8", ("T",)),
    "round_decay": ("<f8", ("T",)),
    "round_reweighs": ("|b1", ("T",)),
    "round_tuple": ("<i8", ("T",)),
    "class_alpha": ("<f8", ("B", "J")),
    "class_decay": ("<f8", ("B", "J")),
    "alphas": ("<f8", ("A",)),
    "voter_kind": ("|u1", ("V",)),
    "stump_feature": ("<i8", ("S",)),
    "stump_cut": ("<i8", ("S",)),
    "stump_threshold": ("<f8", ("S",)),
    "stump_votes": ("<f8", ("S", 3, "K")),
    "stump_has_missing": ("|b1", ("S",)),
    "pool_index": ("<i8", ("P",)),
    "pool_sign": ("<f8", ("P",)),
    "category_feature": ("<i8", ("C",)),
    "category_size": ("<i8", ("C",)),
    "category_votes": ("<f8", ("L", "K")),
    "tree_size": ("<i8", ("R",)),
    "node_feature": ("<i8", ("N",)),
    "node_threshold": ("<f8", ("N",)),
    "node_missing_low": ("|b1", ("N",)),
    "node_children": ("<i8", ("N", 2)),
    "node_categories": ("<i8", ("N",)),
    "node_votes": ("<f8", ("N", "K")),
    "node_gain": ("<f8", ("N",)),
    "category_low": ("|b1", ("M",)),
}
ADDED = ("class_alpha", "class_decay")  # which older files do not have, and did not need


@dataclass
class Setting:
    """What voters must fit to."""

    rule: Rule
    n_classes: int
    n_features: int
    n_categories: Mapping[int, int]  # of the categorical columns

    @property
    def by_class(self) -> bool:
        """Whether there is one score a class."""
        return self.rule.n_outputs != "one"

    @property
    def names_classes(self) -> bool:
        """Whether a vote is the number of a class."""
        return self.rule.needs == "labels"


# -- to arrays -------------------------------------------------------------------------------------------------------


def pack(rounds: Sequence[Round], setting: Setting) -> tuple[Arrays, bool]:
    """Return the rounds as arrays, and whether every voter says one number rather than one a class.

    Parameters
    ----------
    rounds : sequence of Round
        The rounds kept.
    setting : Setting
        The model they belong to.
    """
    flat = [v for r in rounds for v in (r.voter if isinstance(r.voter, tuple) else (r.voter,))]
    kinds = [_kind(v) for v in flat]
    stumps = [v.member if k == POOL_STUMP else v for v, k in zip(flat, kinds, strict=True) if k in (STUMP, POOL_STUMP)]
    pooled = [v for v, k in zip(flat, kinds, strict=True) if k == POOL_STUMP]
    by_category = [v for v, k in zip(flat, kinds, strict=True) if k == CATEGORY_STUMP]
    trees = [v for v, k in zip(flat, kinds, strict=True) if k == TREE]
    dims = (
        {np.ndim(v.left) for v in stumps}
        | {v.leaves.ndim - 1 for v in by_category}
        | {v.values.ndim - 1 for v in trees}
    )
    if len(dims) > 1:
        raise Problem("its voters have votes of different shapes", JOBLIB)
    single = dims == {0} if dims else setting.names_classes or not setting.by_class
    width = 1 if single else setting.n_classes
    nodes = {f: [getattr(v, f) for v in trees] for f in Tree.__slots__}
    content: dict[str, Any] = {
        "round_alpha": [r.alpha for r in rounds],
        "round_decay": [r.decay for r in rounds],
        "round_reweighs": [r.alphas is not None for r in rounds],
        "round_tuple": [len(r.voter) if isinstance(r.voter, tuple) else 0 for r in rounds],
        "class_alpha": [r.each.alphas for r in rounds if r.each is not None],
        "class_decay": [r.each.decays for r in rounds if r.each is not None],
        "alphas": _joined([r.alphas for r in rounds if r.alphas is not None]),
        "voter_kind": kinds,
        "stump_feature": [v.feature for v in stumps],
        "stump_cut": [-1 if v.cut is None else v.cut for v in stumps],
        "stump_threshold": [v.threshold for v in stumps],
        "stump_votes": [[v.left, v.right, v.right if v.missing is None else v.missing] for v in stumps],
        "stump_has_missing": [v.missing is not None for v in stumps],
        "pool_index": [v.index for v in pooled],
        "pool_sign": [v.sign for v in pooled],
        "category_feature": [v.feature for v in by_category],
        "category_size": [len(v.leaves) for v in by_category],
        "category_votes": _joined([v.leaves for v in by_category]),
        "tree_size": [len(v.feature) for v in trees],
        "node_feature": _joined(nodes["feature"]),
        "node_threshold": _joined(nodes["threshold"]),
        "node_missing_low": _joined(nodes["missing_low"]),
        "node_children": _joined(nodes["children"]),
        "node_categories": _joined([np.diff(s) for s in nodes["starts"]]),
        "node_votes": _joined(nodes["values"]),
        "node_gain": _joined(nodes["gains"]),
        "category_low": _joined(nodes["lows"]),
    }
    sizes = {"K": width, "J": setting.n_classes if content["class_alpha"] else 0}
    arrays = {}
    for name, (dtype, shape) in LAYOUT.items():
        tail = [n if isinstance(n, int) else sizes[n] for n in shape[1:]]
        arrays[name] = np.asarray(content[name], dtype).reshape(len(content[name]), *tail)
    return arrays, single


def _kind(voter: Any) -> int:
    kind = {Stump: STUMP, CategoryStump: CATEGORY_STUMP, Tree: TREE}.get(type(voter))
    if kind is not None:
        return kind
    if type(voter) is PoolVoter and type(voter.member) is Stump and voter.bound == abs(voter.sign) * voter.member.bound:
        return POOL_STUMP
    what = getattr(voter, "estimator", getattr(voter, "member", voter))
    name = getattr(what, "__qualname__", type(what).__name__)
    raise Problem(f"its voters are of the kind {name!r}, and only stumps, trees and pools of stumps can be", JOBLIB)


def _joined(parts: Sequence[Any]) -> Array:
    return np.concatenate(parts) if len(parts) else np.empty(0)


# -- from arrays -----------------------------------------------------------------------------------------------------


def completed(arrays: Mapping[str, Array]) -> Arrays:
    """Return the arrays of a file with those that it is too old to have: none of the classes have their own numbers."""
    if any(name in arrays for name in ADDED):
        return dict(arrays)
    return {**arrays, **{name: np.empty((0, 0)) for name in ADDED}}


def unpack(arrays: Arrays, single: bool, setting: Setting) -> list[Round]:
    """Return the rounds, after checking everything that could lead a reader astray.

    Parameters
    ----------
    arrays : dict
        The arrays of `LAYOUT`.
    single : bool
        Whether every voter says one number.
    setting : Setting
        The model they belong to.
    """
    width = 1 if single else setting.n_classes
    _check_layout(arrays, width)
    made: dict[int, Iterator[Any]] = {
        STUMP: iter([*_stumps(arrays, single, setting)]),
        CATEGORY_STUMP: iter([*_category_stumps(arrays, single, setting)]),
        TREE: iter([*_trees(arrays, single, setting)]),
    }
    kinds = arrays["voter_kind"]
    need(kinds.max(initial=0) <= POOL_STUMP, "a voter of an unknown kind")
    numbers = np.bincount(kinds, minlength=4)
    need(numbers[STUMP] + numbers[POOL_STUMP] == len(arrays["stump_feature"]), "voters and stumps differ in number")
    need(numbers[POOL_STUMP] == len(arrays["pool_index"]), "voters and pool members differ in number")
    need(numbers[CATEGORY_STUMP] == len(arrays["category_size"]), "voters and category stumps differ in number")
    need(numbers[TREE] == len(arrays["tree_size"]), "voters and trees differ in number")
    need((arrays["pool_index"] >= 0).all(), "a pool member has no number")
    _sane(arrays["pool_sign"], "a pool member's sign")
    need((arrays["pool_sign"] != 0).all(), "a pool member has no sign")
    pool = zip(arrays["pool_index"].tolist(), arrays["pool_sign"].tolist(), strict=True)
    voters = []
    for kind in kinds.tolist():
        if kind != POOL_STUMP:
            voter = next(made[kind])
            plain = (
                kind != STUMP or voter.feature not in setting.n_categories or np.array_equal(voter.left, voter.right)
            )
            need(plain, "a threshold on a categorical column")
            voters.append(voter)
        else:
            member = next(made[STUMP])
            index, sign = next(pool)
            voters.append(PoolVoter(index, sign, member, abs(sign) * member.bound))
    return _rounds(arrays, voters, single, setting)


def _check_layout(arrays: Arrays, width: int) -> None:
    lengths: dict[str | int, int] = {"K": width}
    for name, (dtype, shape) in LAYOUT.items():
        a = arrays[name]
        need(a.dtype == np.dtype(dtype) and a.ndim == len(shape), f"{name} is of another type or shape")
        for n, letter in zip(a.shape, shape, strict=True):
            wanted = letter if isinstance(letter, int) else lengths.setdefault(letter, n)
            need(n == wanted, f"{name} has {n} entries where {wanted} are needed")


def _sane(numbers: Array, what: str) -> None:
    need((np.abs(numbers) <= LARGEST_SCORE).all(), f"{what} is not a number, or too large")


def _named(votes: Array, setting: Setting) -> Array:
    """Return votes as integers where they are numbers of classes."""
    if not setting.names_classes:
        return votes
    need(np.isin(votes, np.arange(setting.n_classes)).all(), "a vote for a class that does not exist")
    return votes.astype(np.min_scalar_type(-setting.n_classes))


def _rounds(arrays: Arrays, voters: list[Any], single: bool, setting: Setting) -> list[Round]:
    alpha, decay, again = arrays["round_alpha"], arrays["round_decay"], arrays["round_reweighs"]
    sizes = arrays["round_tuple"]
    for name in ("round_alpha", "round_decay", "alphas", "class_alpha", "class_decay"):
        _sane(arrays[name], "a coefficient")
    tuples = single and setting.by_class and not setting.names_classes
    expected = setting.n_classes if tuples else 0  # voters in a round's tuple
    need(single or not setting.names_classes, "votes for all classes in a model whose voters name one")
    need((sizes == expected).all(), "a round with the wrong number of voters")
    need(single or setting.by_class, "votes for classes in a model with one score")
    need(len(sizes) * max(expected, 1) == len(voters), "rounds and voters differ in number")
    need(not (setting.by_class and again.any()), "new coefficients in a model with one score a class")
    lengths = np.flatnonzero(again) + 1
    need(len(arrays["alphas"]) == lengths.sum(), "the coefficients of some rounds are missing")
    own = arrays["class_alpha"]
    each: list[Each | None] = [None] * len(sizes)
    if len(own):
        need(bool(expected) and own.shape == (len(sizes), expected), "the coefficients of some classes are missing")
        each = [Each(a.copy(), d.copy()) for a, d in zip(own, arrays["class_decay"], strict=True)]
    ends = np.cumsum(lengths).tolist()
    anew = iter([arrays["alphas"][end - n : end].copy() for n, end in zip(lengths.tolist(), ends, strict=True)])
    rounds = []
    for t, (a, d, whole) in enumerate(zip(alpha.tolist(), decay.tolist(), again.tolist(), strict=True)):
        voter = tuple(voters[t * expected : (t + 1) * expected]) if expected else voters[t]
        rounds.append(Round(voter, a, d, next(anew) if whole else None, each=each[t]))
    _check_scores(rounds)
    return rounds


def _check_scores(rounds: list[Round]) -> None:
    """Follow the largest possible score from round to round."""
    bounds = np.array([max(v.bound for v in (r.voter if isinstance(r.voter, tuple) else (r.voter,))) for r in rounds])
    score = 0.0
    with np.errstate(over="ignore"):
        for t, r in enumerate(rounds):
            if r.each is not None:
                score = float(np.abs(r.each.decays).max() * score + np.abs(r.each.alphas).max() * bounds[t])
            elif r.alphas is not None:
                score = float(np.abs(r.alphas) @ bounds[: t + 1])
            else:
                score = abs(r.decay) * score + abs(r.alpha) * float(bounds[t])
            need(score <= LARGEST_SCORE, f"the scores of round {t + 1} are too large")


def _stumps(arrays: Arrays, single: bool, setting: Setting) -> Iterator[Stump]:
    feature, cut, threshold = arrays["stump_feature"], arrays["stump_cut"], arrays["stump_threshold"]
    votes, given = arrays["stump_votes"], arrays["stump_has_missing"]
    need(((feature >= 0) & (feature < setting.n_features)).all(), "a stump on a column that does not exist")
    need(((cut >= -1) & (cut <= MOST_BINS)).all(), "a stump with an impossible cut")
    need(not np.isnan(threshold).any(), "a stump without a threshold")
    _sane(votes, "a stump's vote")
    like_left, like_right = (votes[:, 2] == votes[:, 0]).all(axis=1), (votes[:, 2] == votes[:, 1]).all(axis=1)
    need((like_right | (like_left & given)).all(), "a stump whose vote on missing values is on neither side")
    sides: Any = votes
    if single:
        sides = _named(votes[:, :, 0], setting) if setting.names_classes else votes[:, :, 0].tolist()
    columns = (feature.tolist(), cut.tolist(), threshold.tolist(), sides, given.tolist())
    for j, c, at, (left, right, missing), known in zip(*columns, strict=True):
        yield Stump(j, None if c < 0 else c, at, left, right, missing if known else None)


def _category_stumps(arrays: Arrays, single: bool, setting: Setting) -> Iterator[CategoryStump]:
    feature, size, votes = arrays["category_feature"], arrays["category_size"], arrays["category_votes"]
    wanted = [setting.n_categories.get(j, -2) + 1 for j in feature.tolist()]  # the last is for missing values
    need(size.tolist() == wanted, "a category stump with a wrong column or number of categories")
    need(size.sum() == len(votes), "category stumps and their votes differ in number")
    _sane(votes, "a category stump's vote")
    votes = _named(votes, setting)
    ends = np.cumsum(size).tolist()
    for j, n, end in zip(feature.tolist(), size.tolist(), ends, strict=True):
        leaves = votes[end - n : end]
        yield CategoryStump(j, (leaves[:, 0] if single else leaves).copy())


def _trees(arrays: Arrays, single: bool, setting: Setting) -> Iterator[Tree]:
    size, feature, threshold = arrays["tree_size"], arrays["node_feature"], arrays["node_threshold"]
    missing_low, children, counts = arrays["node_missing_low"], arrays["node_children"], arrays["node_categories"]
    low, votes, gain = arrays["category_low"], arrays["node_votes"], arrays["node_gain"]
    need((size >= 1).all() and (size <= len(feature)).all(), "a tree without nodes")
    need(size.sum() == len(feature), "trees and nodes differ in number")
    need(((feature >= -1) & (feature < setting.n_features)).all(), "a tree that splits a column that does not exist")
    need(not np.isnan(threshold).any(), "a tree without a threshold")
    inner = feature >= 0
    categories = np.zeros(setting.n_features, np.int64)
    categories[list(setting.n_categories)] = list(setting.n_categories.values())
    need((counts == np.where(inner, categories[feature], 0)).all(), "a tree with a wrong number of categories")
    need(counts.sum() == len(low), "trees and their categories differ in number")
    _sane(votes[~inner], "a leaf's vote")
    votes = _named(votes, setting)
    _sane(gain, "a split's gain")
    need((gain >= 0).all(), "a split with a negative gain")
    first, low_first = 0, 0
    for n in size.tolist():
        here = slice(first, first + n)
        kids, parents = children[here][inner[here]], np.flatnonzero(inner[here])
        need(np.array_equal(np.sort(kids, axis=None), np.arange(1, n)), "a tree whose nodes do not hang together")
        need((kids > parents[:, None]).all(), "a tree whose nodes run in a circle")
        starts = np.concatenate([[0], np.cumsum(counts[here])]).astype(np.int64)
        lows = low[low_first : low_first + int(starts[-1])]
        leaves = votes[here, 0] if single else votes[here]
        parts = (feature[here], threshold[here], missing_low[here], children[here], starts, lows, leaves, gain[here])
        yield Tree(*(part.copy() for part in parts))
        first, low_first = first + n, low_first + int(starts[-1])
