"""Fitted stumps on numbers and on categories, and how they vote."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, overload

import numpy as np
import numpy.typing as npt

from boostlab.contract import Voter, voter_kind
from boostlab.contract.voter import VOTE, Arrays, Layout, Setting, compact, magnitude, need
from boostlab.data.table import MOST_BINS, Table
from boostlab.learners.words import Names, category_rule, threshold_rule

Array = npt.NDArray[Any]


@voter_kind("stump")
@dataclass(slots=True)
class Stump(Voter):
    """A fitted stump: votes `left` where the feature is at most the threshold, `missing` where it is NaN, else `right`.

    Votes are numbers, or one number per class, or the number of a class (an integer); `missing` is `right` where it is
    not given.
    """

    feature: int
    cut: int | None  # the threshold's place among the bins' cuts, if it is one of them
    threshold: float
    left: Any
    right: Any
    missing: Any = None

    layout: ClassVar[Layout] = {
        "stump_feature": ("<i8", ("S",)),
        "stump_cut": ("<i8", ("S",)),
        "stump_threshold": ("<f8", ("S",)),
        "stump_votes": ("<f8", ("S", 3, VOTE)),
        "stump_has_missing": ("|b1", ("S",)),
    }

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        if isinstance(self.left, float):
            return max(abs(self.left), abs(self.right))
        return max(magnitude(self.left), magnitude(self.right))

    @property
    def above(self) -> int:
        """The label that it votes above its cut."""
        return 1 if self.right > 0 else -1

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        if isinstance(self.left, float) or np.ndim(self.left) == 0:
            return table.split(self.feature, self.cut, self.threshold, self.left, self.right, self.missing)
        leaves = np.array([self.left, self.right, self.right if self.missing is None else self.missing])
        return table.split_rows(self.feature, self.cut, self.threshold, leaves)

    def cuts(self) -> tuple[Sequence[int], Sequence[float]]:
        """Return its column and threshold."""
        return (self.feature,), (self.threshold,)

    @property
    def only_column(self) -> int:
        """Its feature."""
        return self.feature

    def by_slot(self, width: int) -> Array | None:
        """Return the votes on the slots, so many, of its column."""
        if self.cut is None or np.ndim(self.left) > 0:
            return None
        votes = np.where(np.arange(width) <= self.cut, self.left, self.right)
        votes[-1] = self.right if self.missing is None else self.missing
        return votes

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table.raw(X))

    def in_words(self, names: Names) -> str:
        """Such as "age > 37.5 → +1, else -1"."""
        return threshold_rule(names, self.feature, self.threshold, self.left, self.right, self.missing)

    def __str__(self) -> str:
        return self.in_words(Names())

    def key(self) -> tuple[Hashable, float]:
        """By the cut, where the leaves are opposite."""
        if np.ndim(self.left) > 0 or self.left != -self.right:
            return id(self), 1.0
        return (self.feature, self.threshold, self.missing == self.left), float(self.right)

    def importances(self, n_features: int) -> tuple[list[int], list[float]]:
        """All for its feature."""
        if isinstance(self.left, float):
            return [self.feature], [abs(self.right - self.left) / 2]
        return [self.feature], [half_distance(np.stack([self.left, self.right]))]

    @property
    def vote_ndim(self) -> int:
        """0 where a vote is one number, 1 where it is one a class."""
        return np.ndim(self.left)

    @classmethod
    def pack(cls, voters: Sequence[Stump]) -> dict[str, Any]:
        """Return stumps as arrays."""
        return {
            "stump_feature": [v.feature for v in voters],
            "stump_cut": [-1 if v.cut is None else v.cut for v in voters],
            "stump_threshold": [v.threshold for v in voters],
            "stump_votes": [[v.left, v.right, v.right if v.missing is None else v.missing] for v in voters],
            "stump_has_missing": [v.missing is not None for v in voters],
        }

    @classmethod
    def unpack(cls, arrays: Arrays, setting: Setting) -> Iterator[Stump]:
        """Return stumps of a model file."""
        feature, cut, threshold = arrays["stump_feature"], arrays["stump_cut"], arrays["stump_threshold"]
        votes, given = arrays["stump_votes"], arrays["stump_has_missing"]
        need(((feature >= 0) & (feature < setting.n_features)).all(), "a stump on a column that does not exist")
        need(((cut >= -1) & (cut <= MOST_BINS)).all(), "a stump with an impossible cut")
        need(not np.isnan(threshold).any(), "a stump without a threshold")
        setting.sane(votes, "a stump's vote")
        like_left, like_right = (votes[:, 2] == votes[:, 0]).all(axis=1), (votes[:, 2] == votes[:, 1]).all(axis=1)
        need((like_right | (like_left & given)).all(), "a stump whose vote on missing values is on neither side")
        sides: Any = votes
        if setting.single:
            sides = setting.named(votes[:, :, 0]) if setting.names_classes else votes[:, :, 0].tolist()
        columns = (feature.tolist(), cut.tolist(), threshold.tolist(), sides, given.tolist())
        for j, c, at, (left, right, missing), known in zip(*columns, strict=True):
            yield cls(j, None if c < 0 else c, at, left, right, missing if known else None)

    def check(self, setting: Setting) -> None:
        """Refuse a cut through categories."""
        plain = self.feature not in setting.n_categories or np.array_equal(self.left, self.right)
        need(plain, "a threshold on a categorical column")


class Stumps(Sequence[Stump]):
    """Many stumps whose votes are numbers, as columns; they are made when one looks at them.

    Parameters
    ----------
    feature, cut, threshold, left, right, missing : arrays
        The fields of a `Stump`, one entry a stump.
    """

    def __init__(self, feature: Array, cut: Array, threshold: Array, left: Array, right: Array, missing: Array) -> None:
        self.feature, self.cut, self.threshold = feature, cut, threshold
        self.left, self.right, self.missing = left, right, missing

    @property
    def _columns(self) -> tuple[Array, ...]:
        return self.feature, self.cut, self.threshold, self.left, self.right, self.missing

    @cached_property
    def made(self) -> list[Stump]:
        """The stumps."""
        return [Stump(*fields) for fields in zip(*(column.tolist() for column in self._columns), strict=True)]

    def __len__(self) -> int:
        return len(self.feature)

    def __iter__(self) -> Iterator[Stump]:
        return iter(self.made)

    @overload
    def __getitem__(self, at: int) -> Stump: ...
    @overload
    def __getitem__(self, at: slice) -> list[Stump]: ...
    def __getitem__(self, at: int | slice) -> Stump | list[Stump]:
        if isinstance(at, int) and "made" not in self.__dict__:  # one that is looked at does not need the others
            return Stump(*(column[at].item() for column in self._columns))
        return self.made[at]


@voter_kind("category_stump")
@dataclass(slots=True)
class CategoryStump(Voter):
    """A fitted stump on a categorical feature: one vote per category, the last for missing and unknown ones."""

    feature: int
    leaves: Array

    layout: ClassVar[Layout] = {
        "category_feature": ("<i8", ("C",)),
        "category_size": ("<i8", ("C",)),
        "category_votes": ("<f8", ("L", VOTE)),
    }

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        return magnitude(self.leaves)

    @property
    def above(self) -> int:
        """The label that it votes for its first category."""
        return 1 if self.leaves[0] > 0 else -1

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        return compact(self.leaves)[table.category(self.feature, len(self.leaves) - 1)]

    @property
    def only_column(self) -> int:
        """Its feature."""
        return self.feature

    def by_slot(self, width: int) -> Array | None:
        """Return the votes on the slots, so many, of its column."""
        return self.leaves if self.leaves.shape == (width,) else None

    def cuts(self) -> tuple[Sequence[int], Sequence[float]]:
        """None but categories."""
        return (), ()

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array of category numbers."""
        return self.votes(Table.raw(X))

    def in_words(self, names: Names) -> str:
        """Such as "job in {clerk, cook} → +1, else -1"."""
        return category_rule(names, self.feature, self.leaves)

    def __str__(self) -> str:
        return self.in_words(Names())

    def key(self) -> tuple[Hashable, float]:
        """By the categories on either side."""
        if self.leaves.ndim > 1:
            return id(self), 1.0
        return (self.feature, (self.leaves * self.leaves[0]).tobytes()), float(self.leaves[0])

    def importances(self, n_features: int) -> tuple[list[int], list[float]]:
        """All for its feature."""
        return [self.feature], [half_distance(self.leaves)]

    @property
    def vote_ndim(self) -> int:
        """0 where a vote is one number, 1 where it is one a class."""
        return self.leaves.ndim - 1

    @classmethod
    def pack(cls, voters: Sequence[CategoryStump]) -> dict[str, Any]:
        """Return stumps as arrays."""
        return {
            "category_feature": [v.feature for v in voters],
            "category_size": [len(v.leaves) for v in voters],
            "category_votes": np.concatenate([v.leaves for v in voters]) if voters else [],
        }

    @classmethod
    def unpack(cls, arrays: Arrays, setting: Setting) -> Iterator[CategoryStump]:
        """Return stumps of a model file."""
        feature, size, votes = arrays["category_feature"], arrays["category_size"], arrays["category_votes"]
        wanted = [setting.n_categories.get(j, -2) + 1 for j in feature.tolist()]  # the last is for missing values
        need(size.tolist() == wanted, "a category stump with a wrong column or number of categories")
        need(size.sum() == len(votes), "category stumps and their votes differ in number")
        setting.sane(votes, "a category stump's vote")
        votes = setting.named(votes)
        ends = np.cumsum(size).tolist()
        for j, n, end in zip(feature.tolist(), size.tolist(), ends, strict=True):
            leaves = votes[end - n : end]
            yield cls(j, (leaves[:, 0] if setting.single else leaves).copy())


def half_distance(leaves: Array) -> float:
    """Return half the distance between leaves; between votes for two classes it is 1."""
    if leaves.dtype.kind != "f":
        return float((leaves != leaves[0]).any())
    return float(np.ptp(leaves, axis=0).sum() / 2)
