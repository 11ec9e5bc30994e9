"""Decision trees by histograms: CART's greedy growth under any criterion that is a sum over leaves."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from boostlab.contract import Found, Learner, LearnerRows, Session, Stop, Task, class_error_sums, stored_learner
from boostlab.contract.criterion import Separable
from boostlab.contract.growth import Grown, Strategy
from boostlab.contract.slots import Split
from boostlab.contract.sums import errors_of_labels
from boostlab.learners.criteria import CRITERIA, GROWTH
from boostlab.learners.search import SplitSearch
from boostlab.learners.tree.factored import grow_factored
from boostlab.learners.tree.fitted import Tree
from boostlab.learners.tree.general import General

Array = npt.NDArray[Any]

# What a tree grows by for each criterion a rule may ask for: labels by gini, the others by themselves.
GROWS_BY: dict[str, Separable] = {
    **{name: c for name, c in CRITERIA.items() if isinstance(c, Separable)},
    **GROWTH["gini"],
}


@stored_learner
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
    criterion : str or None, default=None
        What splits lower, for boosters that ask for labels and so leave it open (AdaBoost, SAMME and their kin):
        "gini", or of three or more classes "error" (the weighted error).  None is the booster's own, or gini.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import AdaBoostClassifier, DecisionTree
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(DecisionTree(max_depth=2), n_estimators=5).fit(X, y)
    >>> model.estimators_[0].n_leaves, model.estimators_[0].depth
    (4, 2)
    """

    uses_bins = constrains = True

    def __init__(
        self,
        max_leaf_nodes: int | None = 8,
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        ccp_alpha: float = 0.0,
        min_samples_split: float = 2,
        criterion: str | None = None,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.ccp_alpha = ccp_alpha
        self.min_samples_split = min_samples_split
        self.criterion = criterion

    @property
    def name(self) -> str:
        """What messages call it."""
        return "DecisionTree" if self.criterion is None else f"DecisionTree(criterion={self.criterion!r})"

    @property
    def instead(self) -> str:  # type: ignore[override]
        """The cure, where it cannot search what a rule needs."""
        return super().instead if self.criterion is None else "leave the tree's criterion out"

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        if self.criterion in GROWTH:
            return frozenset(GROWTH[self.criterion])
        return frozenset([*GROWS_BY, "factored"])

    def grows_by(self, asked: str) -> Separable:
        """Return what splits lower where a rule asks for this criterion."""
        return GROWS_BY[asked] if self.criterion is None else GROWTH[self.criterion][asked]

    def begin(self, rows: LearnerRows, rng: np.random.Generator) -> TreeSession:
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
        if self.criterion is not None and self.criterion not in GROWTH:
            known = " or ".join(f'"{name}"' for name in GROWTH)
            raise ValueError(f"DecisionTree: criterion={self.criterion!r} is not possible; use None, {known}.")
        return TreeSession(self, rows)


class TreeSession(Session):
    """Tree growth on one sample.

    Parameters
    ----------
    learner : DecisionTree
        The limits.
    rows : LearnerRows
        The sample.
    strategy : str, optional
        The name of the strategy that is to grow all trees, for tests; by default the preferred one.
    """

    def __init__(self, learner: DecisionTree, rows: LearnerRows, strategy: str | None = None) -> None:
        self.learner, self.rows = learner, rows
        self.search = SplitSearch(rows)
        known: list[type[Strategy]] = [*rows.strategies, General]
        self.candidates = [s for s in known if strategy in (None, s.name)]
        self.directed = learner.constraints is not None and learner.constraints.directions is not None
        self.growers: dict[type[Strategy], Strategy] = {}
        self.chosen: dict[Any, type[Strategy]] = {}

    def strategy(self, criterion: Separable, task: Task) -> Strategy:
        """Return who grows the tree for a task."""
        kind = criterion, task.counts is None, task.by_label
        if kind not in self.chosen:
            asked = self.learner, self.rows, criterion, task
            serving = [s for s in self.candidates if s.serves(*asked)]
            if not serving:
                raise ValueError(f"{self.candidates[0].name} does not serve this task; another strategy must grow it.")
            self.chosen[kind] = max(serving, key=lambda s: s.preference(*asked))  # the first of equals
        chosen = self.chosen[kind]
        if chosen not in self.growers:
            self.growers[chosen] = chosen(self.learner, self.rows)
        return self.growers[chosen]

    def best(self, task: Task) -> Found | Stop:
        """Grow a tree."""
        if task.criterion == "factored":
            return grow_factored(self, task)
        criterion = self.learner.grows_by(task.criterion)
        return self._found(task, self.strategy(criterion, task).grow(criterion, task))

    def best_each(self, tasks: Sequence[Task]) -> list[Found | Stop] | None:
        """Grow a tree for every task, side by side where that is faster."""
        first = tasks[0]
        if first.criterion == "factored" or any(t.counts is not None for t in tasks):
            return None
        criterion = self.learner.grows_by(first.criterion)
        grown = self.strategy(criterion, first).grow_each(criterion, tasks)
        return None if grown is None else [self._found(t, g) for t, g in zip(tasks, grown, strict=True)]

    def _found(self, task: Task, grown: Grown | Stop) -> Found | Stop:
        if isinstance(grown, Stop):
            return grown
        tree = Tree.of(grown.tree)
        if grown.sums is None or task.counts is not None:
            return Found(tree, grown.votes)
        by_class = task.criterion == "labels"
        sums = {class_error_sums: grown.sums} if by_class else errors_of_labels(*grown.sums)
        return Found(tree, grown.votes, sums)

    def single(self, split: Split, gain: float) -> Tree:
        """Return the tree of one split that says -1 below and +1 above."""
        slots = self.rows.slots
        low = slots.low(split)
        categories = low[:-1] if slots.categorical[split.feature] else np.empty(0, bool)
        threshold = 0.0 if len(categories) else slots.threshold(split.feature, split.cut)
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
