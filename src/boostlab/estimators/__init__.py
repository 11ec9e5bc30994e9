"""The public boosters; importing this module registers them all."""

from boostlab.estimators.corrective import LPBoostClassifier
from boostlab.estimators.registry import REGISTRY
from boostlab.estimators.stagewise import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    ARBoostClassifier,
    BrownBoostClassifier,
    EBBoostClassifier,
    LogitBoostClassifier,
    QuadBoostClassifier,
    VadaBoostClassifier,
    WeightBoostClassifier,
)

__all__ = [
    "REGISTRY",
    "ARBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostM2Classifier",
    "BrownBoostClassifier",
    "EBBoostClassifier",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "QuadBoostClassifier",
    "VadaBoostClassifier",
    "WeightBoostClassifier",
]
