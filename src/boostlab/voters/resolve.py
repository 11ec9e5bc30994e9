"""From what a user passes as `estimator` to a learner."""

from __future__ import annotations

from typing import Any

from boostlab.contract import Learner, Rule
from boostlab.voters.adapter import EstimatorLearner
from boostlab.voters.stump import DecisionStump


def as_learner(estimator: Any, rule: Rule, booster: str) -> Learner:
    """Return the learner for `estimator`, after checking that it can serve the rule.

    Parameters
    ----------
    estimator : None, "stump", a learner of this package, or a scikit-learn estimator
        None is a stump.
    rule : Rule
        The rule that will use it.
    booster : str
        The booster's name, for the error message.
    """
    learner: Learner
    if estimator is None or (isinstance(estimator, str) and estimator == "stump"):
        learner = DecisionStump()
    elif isinstance(estimator, Learner):
        learner = estimator
    elif hasattr(estimator, "fit") and hasattr(estimator, "get_params") and not isinstance(estimator, type):
        learner = EstimatorLearner(estimator)
    else:
        raise ValueError(
            f'estimator={estimator!r} is not a weak learner; use None or "stump", a DecisionStump, a VoterPool, or a '
            "scikit-learn estimator object."
        )
    gives = learner.searches()
    if rule.needs not in gives:
        name = type(getattr(learner, "estimator", learner)).__name__
        can = f"only {', '.join(map(repr, sorted(gives)))}" if gives else "none"
        raise ValueError(
            f"{booster} needs a weak learner that can search the criterion {rule.needs!r}, and {name} offers {can}; "
            f"{rule.instead or 'use stumps (estimator=None)'}."
        )
    return learner
