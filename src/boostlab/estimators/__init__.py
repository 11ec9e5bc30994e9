"""The public boosters; importing this module registers them all."""

from boostlab.estimators.corrective import LPBoostClassifier
from boostlab.estimators.multiclass import AdaBoostM1Classifier, SAMMEClassifier
from boostlab.estimators.quadratic import QuadBoostClassifier
from boostlab.estimators.registry import REGISTRY
from boostlab.estimators.regularised import ArcGVClassifier, L1BoostClassifier, SoftMarginBoostClassifier
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
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "ArcGVClassifier",
    "BrownBoostClassifier",
    "EBBoostClassifier",
    "L1BoostClassifier",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "QuadBoostClassifier",
    "SAMMEClassifier",
    "SoftMarginBoostClassifier",
    "VadaBoostClassifier",
    "WeightBoostClassifier",
]
