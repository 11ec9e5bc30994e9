"""Weak learners: stump, tree, finite pool, and an adapter for any scikit-learn estimator."""

from boostlab.voters.pool import VoterPool
from boostlab.voters.resolve import as_learner
from boostlab.voters.stump import DecisionStump
from boostlab.voters.tree import DecisionTree

__all__ = ["DecisionStump", "DecisionTree", "VoterPool", "as_learner"]
