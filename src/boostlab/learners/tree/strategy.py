"""What a strategy of growth is: who it serves, and what it grows.

Every strategy grows the trees of `general`, to the bit; the others are faster, and serve fewer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.masses import Masses
from boostlab.contract import Stop, Task
from boostlab.contract.criterion import Separable
from boostlab.learners.search import SplitSearch
from boostlab.learners.tree.fitted import Tree

Array = npt.NDArray[Any]

FLOOR = 1e-12  # of what impurities are made of: gains that are no larger are rounding
DEEPEST = int(np.iinfo(np.int64).max)
NO_SPLIT = Stop("no_edge", "no split gains anything")


class Limits(Protocol):
    """What a tree may be (see `DecisionTree`)."""

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: float
    min_samples_split: float
    ccp_alpha: float


@dataclass(slots=True)
class Grown:
    """A tree, and what is known of it without another pass over the rows."""

    tree: Tree
    votes: Array  # on the sample
    sums: tuple[float, float] | None = None  # all weight, and that of wrong rows, where leaves vote labels


class Strategy(ABC):
    """Growth of trees on one sample.

    Parameters
    ----------
    learner : DecisionTree
        The limits.
    search : SplitSearch
        The sample's columns.
    """

    name: ClassVar[str]

    def __init__(self, learner: Limits, search: SplitSearch) -> None:
        self.learner, self.search = learner, search

    @classmethod
    @abstractmethod
    def serves(cls, learner: Limits, search: SplitSearch, criterion: Separable, task: Task) -> bool:
        """Return whether this strategy can grow trees within these limits, on this sample, for this task."""

    @abstractmethod
    def grow(self, criterion: Separable, task: Task) -> Grown | Stop:
        """Grow a tree, or say why there is none."""


def deepest(learner: Limits) -> int:
    """Return how deep a tree may be."""
    return DEEPEST if learner.max_depth is None else int(learner.max_depth)


def most_leaves(learner: Limits, n_rows: int) -> int:
    """Return how many leaves a tree may have: no more than rows."""
    deep = n_rows if learner.max_depth is None else 1 << min(int(learner.max_depth), 62)
    return int(min(learner.max_leaf_nodes or n_rows, n_rows, deep))


def mean_target(rows: Masses, weight: Array, target: Array, counts: Array | None) -> float:
    """Return the weighted mean of the target."""
    (signed, _), (whole, _) = (rows.sums(x, counts) for x in (weight * target, weight))
    return signed / whole if whole > 0 else 0.0


def hides_rows(search: SplitSearch) -> bool:
    """Return whether a slot has rows so light that the sample's masses do not show them: compiled trees would not."""
    if search.rows.uniform:
        return False
    taken = search.codes.sums(np.ones(search.rows.n_rows, np.int64))[0][0] > 0
    return bool((taken & (search.masses == 0)).any())
