"""boostlab: every boosting algorithm of the AdaBoost line, on one engine, as scikit-learn estimators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from boostlab import datasets, plots, studies, theory
    from boostlab.comparison import compare
    from boostlab.contract import Stop
    from boostlab.estimators import (
        AdaBoostClassifier,
        AdaBoostM1Classifier,
        AdaBoostM2Classifier,
        AdaBoostMHClassifier,
        AdaBoostMRClassifier,
        ARBoostClassifier,
        ArcGVClassifier,
        Binned,
        BoostByMajorityClassifier,
        BrownBoostClassifier,
        EBBoostClassifier,
        ERLPBoostClassifier,
        FilterBoostClassifier,
        GentleBoostClassifier,
        L1BoostClassifier,
        L2BoostClassifier,
        L2BoostRegressor,
        LogitBoostClassifier,
        LPBoostClassifier,
        MadaBoostClassifier,
        QuadBoostClassifier,
        RLPBoostClassifier,
        RobustBoostClassifier,
        RQPBoostClassifier,
        SAMMEClassifier,
        SoftBoostClassifier,
        SoftMarginBoostClassifier,
        TotalBoostClassifier,
        VadaBoostClassifier,
        WeightBoostClassifier,
    )
    from boostlab.files import load
    from boostlab.multiclass import ECOCClassifier, PairwiseClassifier
    from boostlab.voters import DecisionStump, DecisionTree, VoterPool

__all__ = [
    "ARBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostMRClassifier",
    "ArcGVClassifier",
    "Binned",
    "BoostByMajorityClassifier",
    "BrownBoostClassifier",
    "DecisionStump",
    "DecisionTree",
    "EBBoostClassifier",
    "ECOCClassifier",
    "ERLPBoostClassifier",
    "FilterBoostClassifier",
    "GentleBoostClassifier",
    "L1BoostClassifier",
    "L2BoostClassifier",
    "L2BoostRegressor",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "MadaBoostClassifier",
    "PairwiseClassifier",
    "QuadBoostClassifier",
    "RLPBoostClassifier",
    "RQPBoostClassifier",
    "RobustBoostClassifier",
    "SAMMEClassifier",
    "SoftBoostClassifier",
    "SoftMarginBoostClassifier",
    "Stop",
    "TotalBoostClassifier",
    "VadaBoostClassifier",
    "VoterPool",
    "WeightBoostClassifier",
    "__version__",
    "compare",
    "datasets",
    "load",
    "plots",
    "studies",
    "theory",
]

_ROOMS = ("datasets", "plots", "studies", "theory")
_HOMES = {
    "compare": "boostlab.comparison",
    "load": "boostlab.files",
    "ECOCClassifier": "boostlab.multiclass",
    "PairwiseClassifier": "boostlab.multiclass",
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
