"""The public boosters; importing this module registers them all."""

from boostlab.estimators.corrective import LPBoostClassifier
from boostlab.estimators.filtering import FilterBoostClassifier
from boostlab.estimators.noise_tolerant import (
    BoostByMajorityClassifier,
    BrownBoostClassifier,
    MadaBoostClassifier,
    RobustBoostClassifier,
)
from boostlab.estimators.quadratic import QuadBoostClassifier
from boostlab.estimators.registry import REGISTRY, REGRESSORS
from boostlab.estimators.regression import L2BoostRegressor
from boostlab.estimators.regularised import ArcGVClassifier, L1BoostClassifier, SoftMarginBoostClassifier
from boostlab.estimators.stagewise import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    ARBoostClassifier,
    LogitBoostClassifier,
    WeightBoostClassifier,
)
from boostlab.estimators.statistical import GentleBoostClassifier, L2BoostClassifier
from boostlab.estimators.variance import EBBoostClassifier, VadaBoostClassifier

__all__ = [
    "REGISTRY",
    "REGRESSORS",
    "ARBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostM2Classifier",
    "ArcGVClassifier",
    "BoostByMajorityClassifier",
    "BrownBoostClassifier",
    "EBBoostClassifier",
    "FilterBoostClassifier",
    "GentleBoostClassifier",
    "L1BoostClassifier",
    "L2BoostClassifier",
    "L2BoostRegressor",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "MadaBoostClassifier",
    "QuadBoostClassifier",
    "RobustBoostClassifier",
    "SoftMarginBoostClassifier",
    "VadaBoostClassifier",
    "WeightBoostClassifier",
]
