"""The public boosters; importing this module registers them all."""

from boostlab.estimators.binned import Binned
from boostlab.estimators.corrective import (
    ERLPBoostClassifier,
    LPBoostClassifier,
    SoftBoostClassifier,
    TotalBoostClassifier,
)
from boostlab.estimators.filtering import FilterBoostClassifier
from boostlab.estimators.multiclass import (
    AdaBoostM1Classifier,
    AdaBoostMHClassifier,
    AdaBoostMRClassifier,
    SAMMEClassifier,
)
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
from boostlab.estimators.reweighed import RLPBoostClassifier, RQPBoostClassifier
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
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostMRClassifier",
    "ArcGVClassifier",
    "Binned",
    "BoostByMajorityClassifier",
    "BrownBoostClassifier",
    "EBBoostClassifier",
    "ERLPBoostClassifier",
    "FilterBoostClassifier",
    "GentleBoostClassifier",
    "L1BoostClassifier",
    "L2BoostClassifier",
    "L2BoostRegressor",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "MadaBoostClassifier",
    "QuadBoostClassifier",
    "RLPBoostClassifier",
    "RQPBoostClassifier",
    "RobustBoostClassifier",
    "SAMMEClassifier",
    "SoftBoostClassifier",
    "SoftMarginBoostClassifier",
    "TotalBoostClassifier",
    "VadaBoostClassifier",
    "WeightBoostClassifier",
]
