"""Who takes part in the atlas, at defaults and tuned: six candidates each, as many for a peer as for a booster of ours.

A name says what it is: "AdaBoost, stumps", "AdaBoost, 8 leaves", "AdaBoost, 31 leaves" are defaults but for the voter,
"AdaBoost, tuned" chooses among six candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from boostlab.studies.plan import Method

CANDIDATES = 6
DEFAULT, TUNED = "default", "tuned"
VOTERS = {"stumps": 2, "8 leaves": 8, "31 leaves": 31}
_LEAVES = (2, 8, 31)
_SIX_SIZES = {"max_leaf_nodes": (2, 4, 8, 12, 16, 31)}  # for what has nothing else to choose


def _leaves_and(name: str, *values: Any) -> dict[str, Sequence[Any]]:
    """Return three sizes of voters, each with two values of a parameter."""
    return {"max_leaf_nodes": _LEAVES, name: values}


_RATES = _leaves_and("learning_rate", 1.0, 0.1)


@dataclass(frozen=True)
class OwnContender:
    """A booster of ours: what is fixed, what is chosen when it is tuned, and with which voters it runs at defaults."""

    name: str
    booster: str
    grid: Mapping[str, Sequence[Any]]
    last: bool = False  # it is made to end: only its last round is a model
    params: Mapping[str, Any] = field(default_factory=dict)
    tuned_params: Mapping[str, Any] = field(default_factory=dict)
    voters: tuple[str, ...] = tuple(VOTERS)

    def methods(self) -> Iterator[Method]:
        """Yield its defaults and its tuned form."""
        booster, how = f"{self.booster}Classifier", " last" if self.last else ""
        for voter in self.voters:
            own = {} if voter == "stumps" else {"max_leaf_nodes": VOTERS[voter]}
            yield Method(f"{self.name}, {voter}", booster, {**self.params, **own}, how=DEFAULT + how)
        yield Method(f"{self.name}, tuned", booster, {**self.params, **self.tuned_params}, self.grid, TUNED + how)


@dataclass(frozen=True)
class Peer:
    """What people use otherwise; its package is looked for on the machine that computes."""

    name: str
    package: str
    grid: Mapping[str, Sequence[Any]]
    default: str = "default"  # what its untuned form is called
    tuned_params: Mapping[str, Any] = field(default_factory=dict)

    def methods(self) -> Iterator[Method]:
        """Yield its defaults and its tuned form."""
        own = {"peer": self.name}
        yield Method(f"{self.name}, {self.default}", "", own, how=DEFAULT, needs=self.package)
        yield Method(f"{self.name}, {TUNED}", "", {**own, **self.tuned_params}, self.grid, TUNED, needs=self.package)


_HUNDRED = {"n_estimators": 100}  # a program every round: its own default, 1,000, would take hours

TWO_CLASSES = (
    OwnContender("AdaBoost", "AdaBoost", _RATES),
    OwnContender("Real AdaBoost", "AdaBoost", _RATES, params={"algorithm": "real"}),
    OwnContender("AR-Boost", "ARBoost", _RATES),
    OwnContender("arc-gv", "ArcGV", _SIX_SIZES),
    OwnContender("AveBoost", "AveBoost", _SIX_SIZES),
    OwnContender(
        "boost by majority",
        "BoostByMajority",
        _leaves_and("gamma", 0.05, 0.15),
        last=True,
        tuned_params={"n_estimators": 300},  # it plans for as many rounds as it is given
    ),
    OwnContender("BrownBoost", "BrownBoost", _leaves_and("target_error", 0.05, 0.2), last=True),
    OwnContender(
        "EBBoost",
        "EBBoost",
        {"variance_penalty": (0.5, 2.0, 5.0), "learning_rate": (1.0, 0.1)},
        voters=("stumps",),
    ),
    OwnContender("FilterBoost", "FilterBoost", _SIX_SIZES),
    OwnContender("GentleBoost", "GentleBoost", _RATES),
    OwnContender("L1Boost", "L1Boost", _RATES),
    OwnContender("L2Boost", "L2Boost", _RATES),
    OwnContender("LogitBoost", "LogitBoost", _RATES),
    OwnContender("MadaBoost", "MadaBoost", _leaves_and("exponent", 1.0, 0.25)),
    OwnContender("QuadBoost", "QuadBoost", _leaves_and("strength", 9.0, 0.0), tuned_params={"regularizer": "l2"}),
    OwnContender("RobustBoost", "RobustBoost", _leaves_and("target_error", 0.05, 0.2), last=True),
    OwnContender("SoftMarginBoost", "SoftMarginBoost", _RATES),
    OwnContender("VadaBoost", "VadaBoost", _leaves_and("variance_penalty", 0.5, 5.0), tuned_params={"step": "exact"}),
    OwnContender("WeightBoost", "WeightBoost", _RATES),
)
"""Boosters for two classes."""

BROWN_AFTERWARDS = (
    OwnContender(
        "BrownBoost (targets 0.3 and 0.4)", "BrownBoost", _leaves_and("target_error", 0.3, 0.4), last=True, voters=()
    ),
    OwnContender("BrownBoost (rounds chosen)", "BrownBoost", _leaves_and("target_error", 0.05, 0.2), voters=()),
)
"""Two reasons why BrownBoost could lose under noise; run once the results were known."""

CONTROLS = tuple(
    OwnContender(f"AdaBoost, {voter} ({what})", "AdaBoost", grid, params=params, voters=())
    for voter, params in (("stumps", {}), ("8 leaves", {"max_leaf_nodes": 8}))
    for what, grid in (
        ("six rates", {"learning_rate": (1.0, 0.7, 0.5, 0.25, 0.1, 0.05)}),
        ("best of six jittered runs", {"run": tuple(range(CANDIDATES))}),
    )
)
"""What shrinkage alone gains, and what choosing gains by itself, with as many candidates; run afterwards."""

PROGRAMS = (
    OwnContender("ERLPBoost", "ERLPBoost", _leaves_and("nu", 0.1, 0.3), last=True, params=_HUNDRED),
    OwnContender("LPBoost", "LPBoost", _leaves_and("nu", 0.1, 0.3), last=True, params=_HUNDRED),
    OwnContender("RLP-Boost", "RLPBoost", _leaves_and("nu", 0.1, 0.3), last=True, params=_HUNDRED),
    OwnContender("RQP-Boost", "RQPBoost", _leaves_and("C", 0.3, 3.0), last=True, params=_HUNDRED),
    OwnContender("SoftBoost", "SoftBoost", _leaves_and("nu", 0.1, 0.3), last=True, params=_HUNDRED),
    OwnContender("TotalBoost", "TotalBoost", _SIX_SIZES, last=True, params=_HUNDRED),
)
"""Boosters that solve a linear or quadratic program; on small sets only."""

SEVERAL_CLASSES = (
    OwnContender("AdaBoost", "AdaBoost", _RATES),
    OwnContender("AdaBoost.M1", "AdaBoostM1", _SIX_SIZES),
    OwnContender("AdaBoost.M2", "AdaBoostM2", _SIX_SIZES),
    OwnContender("AdaBoost.MH", "AdaBoostMH", _leaves_and("votes", "free", "real")),
    OwnContender("AR-Boost", "ARBoost", _RATES),
    OwnContender("BrownBoost", "BrownBoost", _leaves_and("target_error", 0.05, 0.2), last=True),
    OwnContender("GentleBoost", "GentleBoost", _RATES),
    OwnContender("L2Boost", "L2Boost", _RATES),
    OwnContender("LogitBoost", "LogitBoost", _RATES),
    OwnContender("VadaBoost", "VadaBoost", _leaves_and("variance_penalty", 0.5, 5.0), tuned_params={"step": "exact"}),
)
"""Boosters with a form of their own for several classes, and three that tell one class from the rest."""

LEFT_OUT = {
    "AdaBoostMRClassifier": "its ranking loss is AdaBoost.M2's, and so are its errors on toy data, to the digit",
    "SAMMEClassifier": "with several classes AdaBoost is SAMME",
}
"""Boosters of the registry that are no contender, and why."""

AUTO = Method("AutoBoost", "", {"peer": "AutoBoost"}, how=DEFAULT)

_PEER_RATES = (0.3, 0.1)
PEERS = (
    Peer("XGBoost", "xgboost", {"max_leaf_nodes": _LEAVES, "learning_rate": _PEER_RATES}),
    Peer("LightGBM", "lightgbm", {"max_leaf_nodes": _LEAVES, "learning_rate": _PEER_RATES}),
    Peer("HistGradientBoosting", "", {"max_leaf_nodes": _LEAVES, "learning_rate": _PEER_RATES}),
    Peer(
        "CatBoost",
        "catboost",
        {"max_depth": (1, 3, 6), "learning_rate": _PEER_RATES},
        tuned_params={"as_in_long_runs": True},  # else a chosen candidate is trained again with other settings
    ),
    Peer("EBM", "interpret", {"interactions": (0, 5), "max_leaf_nodes": (2, 3, 4)}, default="reduced"),
    Peer("random forest", "", {"min_samples_leaf": (10, 3, 1), "max_features": ("sqrt", 0.5)}),
    Peer("logistic regression", "", {"strength": (100.0, 10.0, 1.0, 0.1, 0.01, 0.001)}),
)
"""What people use otherwise."""


def all_of(*contenders: OwnContender | Peer) -> list[Method]:
    """Return all forms of contenders."""
    return [method for one in contenders for method in one.methods()]


def is_tuned(method: str) -> bool:
    """Whether a method is a tuned one, by its name."""
    return method.endswith(f", {TUNED}")


def contender_of(method: str) -> str:
    """Return whose form a method is.

    Examples
    --------
    >>> contender_of("AdaBoost.M1, 8 leaves"), contender_of("AutoBoost")
    ('AdaBoost.M1', 'AutoBoost')
    """
    return method.rpartition(", ")[0] or method


OWN = frozenset(one.name for one in (*TWO_CLASSES, *PROGRAMS, *SEVERAL_CLASSES)) | {AUTO.name}
"""The names of our boosters."""
