"""From what a user passes as `estimator` to a learner."""

from __future__ import annotations

from typing import Any

from boostlab.contract import Learner, Rule
from boostlab.learners.adapter import EstimatorLearner
from boostlab.learners.stump import DecisionStump


def as_learner(
    estimator: Any, rule: Rule, booster: str, max_depth: int | None = None, max_leaf_nodes: int | None = None
) -> Learner:
    """Return the learner for `estimator`, after checking that it can serve the rule.

    Parameters
    ----------
    estimator : None, "stump", "tree", a learner of this package, or a scikit-learn estimator
        None is a stump, or a tree if one of its limits is given.
    rule : Rule
        The rule that will use it.
    booster : str
        The booster's name, for the error message.
    max_depth, max_leaf_nodes : int, optional
        Ask for a tree of this size.
    """
    from boostlab.learners.tree.learner import DecisionTree  # which is built on what is here

    learner: Learner
    limited = max_depth is not None or max_leaf_nodes is not None
    named = estimator if isinstance(estimator, str) else None
    if limited and estimator is not None and named != "tree":
        raise ValueError(
            f"max_depth and max_leaf_nodes ask for a tree, but estimator={estimator!r} is given; "
            'leave it out, use "tree", or set its own limits.'
        )
    if limited:
        learner = DecisionTree(max_leaf_nodes=max_leaf_nodes, max_depth=max_depth)
    elif named == "tree":
        learner = DecisionTree()
    elif estimator is None or named == "stump":
        learner = DecisionStump()
    elif isinstance(estimator, Learner):
        learner = estimator
    elif hasattr(estimator, "fit") and hasattr(estimator, "get_params") and not isinstance(estimator, type):
        learner = EstimatorLearner(estimator)
    else:
        raise ValueError(
            f'estimator={estimator!r} is not a weak learner; use None, "stump", "tree", a DecisionStump, DecisionTree '
            "or VoterPool, or a scikit-learn estimator object."
        )
    gives, name = learner.searches(), learner.name
    if rule.needs not in gives:
        can = f"only {', '.join(map(repr, sorted(gives)))}" if gives else "none"
        instead = rule.instead or learner.instead
        raise ValueError(
            f"{booster} needs a weak learner that can search the criterion {rule.needs!r}, and {name} offers {can}; "
            f"{instead}."
        )
    if rule.labels_only and not learner.labels:
        raise ValueError(
            f"{booster} needs voters that say -1 or +1, and {name} is a regressor; use a classifier in its place, or a "
            "booster that weighs real votes, as QuadBoostClassifier, LPBoostClassifier or LogitBoostClassifier do."
        )
    return learner
