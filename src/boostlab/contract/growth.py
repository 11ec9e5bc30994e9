"""Growth of trees: what a strategy is, who it serves, and what it grows.

Every strategy grows the trees of `learners.tree.general`, to the bit; the others are faster, serve fewer, and belong
to a backend.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.contract.constraints import Constraints
from boostlab.contract.criterion import Separable
from boostlab.contract.step import Stop
from boostlab.contract.task import Task

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
    constraints: Constraints | None


@dataclass(slots=True)
class TreeArrays:
    """A tree as flat arrays; node 0 is the root, and a node of feature -1 is a leaf."""

    feature: Array
    threshold: Array
    missing_low: Array
    children: Array
    starts: Array  # a category node owns lows[starts[node]:starts[node + 1]]
    lows: Array
    values: Array  # of every node; only leaves' are voted
    gains: Array  # what every inner node's split saved, as a share of the root's weight


@dataclass(slots=True)
class Grown:
    """A tree, and what is known of it without another pass over the rows."""

    tree: TreeArrays
    votes: Any  # on the sample
    sums: tuple[float, float] | None = None  # all weight, and that of wrong rows, where leaves vote labels


class Strategy(ABC):
    """Growth of trees on one sample.

    Parameters
    ----------
    learner : DecisionTree
        The limits.
    rows : Rows
        The sample.
    """

    name: ClassVar[str]

    def __init__(self, learner: Limits, rows: Any) -> None:
        self.learner, self.rows = learner, rows

    @classmethod
    @abstractmethod
    def serves(cls, learner: Limits, rows: Any, criterion: Separable, task: Task) -> bool:
        """Return whether this strategy can grow trees within these limits, on this sample, for this task."""

    @classmethod
    def preference(cls, learner: Limits, rows: Any, criterion: Separable, task: Task) -> int:
        """Return how fast it is for these: of the strategies that serve, the one with the largest number is taken."""
        return 0

    @abstractmethod
    def grow(self, criterion: Separable, task: Task) -> Grown | Stop:
        """Grow a tree, or say why there is none."""

    def grow_each(self, criterion: Separable, tasks: Sequence[Task]) -> Sequence[Grown | Stop] | None:
        """Grow a tree for every task if that is faster side by side; None if one after the other."""
        return None


def deepest(learner: Limits) -> int:
    """Return how deep a tree may be."""
    return DEEPEST if learner.max_depth is None else int(learner.max_depth)


def most_leaves(learner: Limits, n_rows: int) -> int:
    """Return how many leaves a tree may have: no more than rows."""
    deep = n_rows if learner.max_depth is None else 1 << min(int(learner.max_depth), 62)
    return int(min(learner.max_leaf_nodes or n_rows, n_rows, deep))
