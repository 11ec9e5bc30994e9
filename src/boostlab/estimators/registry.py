"""The list of all boosters, and the documentation they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, TypeVar

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class Entry:
    """One booster: its class, where it comes from, and when to choose it."""

    cls: type
    reference: str
    choose: str


REGISTRY: dict[str, Entry] = {}

SHARED_PARAMETERS = """
estimator : None, "stump", "tree", DecisionStump, DecisionTree, VoterPool or scikit-learn estimator, default=None
    The weak learner; None is the best stump of every round.
max_depth, max_leaf_nodes : int, optional
    Ask for a tree of this size as the weak learner, instead of `estimator`.
n_estimators : int, default={n_estimators}
    The largest number of rounds.
resample : bool or "systematic", default=False
    Train every voter on rows drawn in proportion to the weights (independently, or evenly spaced) instead of on
    weighted rows.
max_restarts : int, default=10
    How often a round may be asked again: with re-sampling when its voter is refused, and once by LogitBoost where
    clipping misleads it.
max_bins : int or "exact", default=255
    Bins a column: columns with more distinct values are cut at quantiles.  "exact" cuts between all distinct values
    (up to 65,535).
categorical_features : "from_dtype", None or list, default="from_dtype"
    Which columns hold categories: those of text or a categorical dtype in a pandas or polars frame; none; or a list of
    names, positions or truth values.
early_stopping : bool, default=False
    Stop when the score on held-out rows has not improved for `n_iter_no_change` rounds.
validation_fraction : float, default=0.1
    Share of the training rows to hold out, unless `fit` is given a validation set.
n_iter_no_change : int, default=10
    Patience of early stopping, in rounds.
tol : float, default={tol}
    {tol_doc}
scoring : str or callable, default="error"
    What early stopping follows, and `train_score` and `validation_score` in `history_` hold: "error", "exponential" or
    "log_loss" (smaller is better), or a scikit-learn scorer or its name (larger is better).
keep_best : bool, default=True
    After early stopping, keep the rounds up to the best validation score; False keeps all.
class_weight : None, "balanced" or mapping, default=None
    What to multiply the sample weights of every class by; "balanced" gives all classes the same mass.
warm_start : bool, default=False
    Let the next `fit` on the same data go on from here: the result equals one long fit, bit for bit.
callbacks : callable or list of callables, optional
    Called as f(state) after every round; may return a `boostlab.Stop` to end training.
verbose : int, default=0
    1 shows a progress bar.
n_jobs : int, optional
    Number of threads; None is all cores.  The model does not depend on it.
random_state : int, RandomState or None, default=None
    Seed of everything random (re-sampling, hold-out, learners that draw).
"""

SHARED_ATTRIBUTES = """
Attributes
----------
classes_ : array
    The class labels in order.
estimators_ : list
    The voters.
estimator_weights_ : array
    Their coefficients.
n_estimators_ : int
    Number of rounds kept.
stop_reason_ : str
    Why training ended, as "code: detail".
history_ : dict of arrays
    One entry a round for alpha, error, objective, seconds, and scores where asked for.
feature_importances_ : array
    Every feature's share of the vote.
n_features_in_, feature_names_in_
    The columns seen by `fit`.
"""

_TOL = "By how much a validation score must improve to count; 0 is any improvement."


def booster(reference: str, choose: str, tol_doc: str = _TOL) -> Callable[[T], T]:
    """Register a booster class and complete its docstring, in which {shared} stands for what all boosters share."""

    def register(cls: T) -> T:
        defaults: Any = cls
        shared = SHARED_PARAMETERS.strip().format(n_estimators=defaults.n_estimators, tol=defaults.tol, tol_doc=tol_doc)
        own = cleandoc(cls.__doc__ or "")
        if "__dataclass_params__" not in vars(cls) or "{shared}" not in own:
            raise TypeError(
                f"{cls.__name__} must be a dataclass (@dataclass(eq=False, repr=False) below @booster) whose docstring "
                "has {shared} where the shared parameters go."
            )
        parts = own.split("{shared}")
        cls.__doc__ = f"{parts[0]}{shared}\n\n{SHARED_ATTRIBUTES.strip()}{parts[1]}"
        REGISTRY[cls.__name__] = Entry(cls, reference, choose)
        return cls

    return register
