"""The public boosters; importing this module registers them all."""

from boostlab.estimators.corrective import (
    ERLPBoostClassifier,
    LPBoostClassifier,
    SoftBoostClassifier,
    TotalBoostClassifier,
)
from boostlab.estimators.quadratic import QuadBoostClassifier
from boostlab.estimators.registry import REGISTRY
from boostlab.estimators.regularised import ArcGVClassifier, L1BoostClassifier, SoftMarginBoostClassifier
from boostlab.estimators.reweighed import RLPBoostClassifier, RQPBoostClassifier
from boostlab.estimators.stagewise import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    ARBoostClassifier,
    BrownBoostClassifier,
    LogitBoostClassifier,
    WeightBoostClassifier,
)
from boostlab.estimators.variance import EBBoostClassifier, VadaBoostClassifier

__all__ = [
    "REGISTRY",
    "ARBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostM2Classifier",
    "ArcGVClassifier",
    "BrownBoostClassifier",
    "EBBoostClassifier",
    "ERLPBoostClassifier",
    "L1BoostClassifier",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "QuadBoostClassifier",
    "RLPBoostClassifier",
    "RQPBoostClassifier",
    "SoftBoostClassifier",
    "SoftMarginBoostClassifier",
    "TotalBoostClassifier",
    "VadaBoostClassifier",
    "WeightBoostClassifier",
]
