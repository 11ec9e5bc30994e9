"""Weak learners: stump, tree, finite pool, and an adapter for any scikit-learn estimator."""

from boostlab.learners.pool import VoterPool
from boostlab.learners.resolve import as_learner
from boostlab.learners.stump import DecisionStump
from boostlab.learners.tree.learner import DecisionTree

__all__ = ["DecisionStump", "DecisionTree", "VoterPool", "as_learner"]
