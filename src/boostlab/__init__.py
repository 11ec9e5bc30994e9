"""boostlab: every boosting algorithm of the AdaBoost line, on one engine, as scikit-learn estimators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from boostlab import datasets, studies
    from boostlab.contract import Stop
    from boostlab.estimators import (
        AdaBoostClassifier,
        AdaBoostM1Classifier,
        AdaBoostM2Classifier,
        ARBoostClassifier,
        ArcGVClassifier,
        BrownBoostClassifier,
        EBBoostClassifier,
        L1BoostClassifier,
        LogitBoostClassifier,
        LPBoostClassifier,
        QuadBoostClassifier,
        SAMMEClassifier,
        SoftMarginBoostClassifier,
        VadaBoostClassifier,
        WeightBoostClassifier,
    )
    from boostlab.files import load
    from boostlab.voters import DecisionStump, DecisionTree, VoterPool

__all__ = [
    "ARBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "ArcGVClassifier",
    "BrownBoostClassifier",
    "DecisionStump",
    "DecisionTree",
    "EBBoostClassifier",
    "L1BoostClassifier",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "QuadBoostClassifier",
    "SAMMEClassifier",
    "SoftMarginBoostClassifier",
    "Stop",
    "VadaBoostClassifier",
    "VoterPool",
    "WeightBoostClassifier",
    "__version__",
    "datasets",
    "load",
    "studies",
]

_ROOMS = ("datasets", "studies")
_HOMES = {
    "load": "boostlab.files",
    "Stop": "boostlab.contract",
    "DecisionStump": "boostlab.voters",
    "DecisionTree": "boostlab.voters",
    "VoterPool": "boostlab.voters",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import boostlab` itself costs nothing."""
    if name in _ROOMS:
        return import_module(f"boostlab.{name}")
    if name in __all__:
        value = getattr(import_module(_HOMES.get(name, "boostlab.estimators")), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'boostlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
