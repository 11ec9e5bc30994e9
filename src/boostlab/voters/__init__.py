"""Weak learners: stump, finite pool, and an adapter for any scikit-learn estimator; trees are in `learners.tree`."""

from typing import Any

from boostlab.voters.pool import VoterPool
from boostlab.voters.resolve import as_learner
from boostlab.voters.stump import DecisionStump

__all__ = ["DecisionStump", "DecisionTree", "VoterPool", "as_learner"]


def __getattr__(name: str) -> Any:
    """Import trees when they are asked for: they are built on what is here."""
    if name == "DecisionTree":
        from boostlab.learners.tree.learner import DecisionTree

        return DecisionTree
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
