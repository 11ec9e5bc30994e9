"""Shared by all boosters: the learning rate, a number or one that suits the voters, and the patience that follows."""

from __future__ import annotations

from math import ceil, inf
from typing import Any

from sklearn.utils.validation import check_is_fitted

from boostlab.boosters.params import number, one_of
from boostlab.learners import DecisionTree

PATIENCE, STEPS = 30, 5.0  # early stopping waits so many rounds, and for so many whole steps
SHARE = number(0, 1, "(]")  # of a step
RATE = SHARE | one_of("auto")


def leaves_of(estimator: Any, max_depth: int | None, max_leaf_nodes: int | None) -> float:
    """Return the largest number of leaves of this package's voters; 2 for stumps and for all other learners.

    Parameters
    ----------
    estimator, max_depth, max_leaf_nodes
        A booster's parameters.
    """
    if max_depth is None and max_leaf_nodes is None:
        tree = DecisionTree() if estimator == "tree" else estimator
        if not isinstance(tree, DecisionTree):
            return 2
        max_depth, max_leaf_nodes = tree.max_depth, tree.max_leaf_nodes
    return min(inf if max_leaf_nodes is None else max_leaf_nodes, inf if max_depth is None else 2.0**max_depth)


class Patient:
    """How long early stopping waits."""

    n_iter_no_change: int | None

    @property
    def _rate(self) -> float:
        """The learning rate as a number; 1 where there is none."""
        return float(getattr(self, "learning_rate", 1.0))

    @property
    def _patience(self) -> int:
        """How many rounds early stopping waits for a better score: small steps take more of them."""
        return max(PATIENCE, ceil(STEPS / self._rate)) if self.n_iter_no_change is None else self.n_iter_no_change


class Shrinking:
    """A learning rate; "auto" is 1 for voters of two leaves, and less for trees, which fit more in a round."""

    estimator: Any
    max_depth: int | None
    max_leaf_nodes: int | None
    learning_rate: Any

    @property
    def _tree_rate(self) -> float:
        """What suits trees: over nine sets, 4 to 32 leaves and 100 rounds the log loss is smallest at 0.1."""
        return 0.1

    @property
    def _rate(self) -> float:
        """The learning rate as a number."""
        if not isinstance(self.learning_rate, str):
            return float(self.learning_rate)
        return self._tree_rate if leaves_of(self.estimator, self.max_depth, self.max_leaf_nodes) > 2 else 1.0

    @property
    def learning_rate_(self) -> float:
        """The learning rate that was used."""
        check_is_fitted(self, "n_estimators_")
        return self._rate
