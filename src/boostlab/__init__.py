"""boostlab: every boosting algorithm of the AdaBoost line, on one engine, as scikit-learn estimators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    # [imports] What type checkers and editors see; `make lists` writes it.
    from boostlab import datasets as datasets
    from boostlab import explain as explain
    from boostlab import plots as plots
    from boostlab import studies as studies
    from boostlab import theory as theory
    from boostlab.auto import AutoBoostClassifier as AutoBoostClassifier
    from boostlab.auto import AutoBoostRegressor as AutoBoostRegressor
    from boostlab.boosters.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from boostlab.boosters.adaboost_m1 import AdaBoostM1Classifier as AdaBoostM1Classifier
    from boostlab.boosters.adaboost_m2 import AdaBoostM2Classifier as AdaBoostM2Classifier
    from boostlab.boosters.adaboost_mh import AdaBoostMHClassifier as AdaBoostMHClassifier
    from boostlab.boosters.adaboost_mr import AdaBoostMRClassifier as AdaBoostMRClassifier
    from boostlab.boosters.arboost import ARBoostClassifier as ARBoostClassifier
    from boostlab.boosters.arc_gv import ArcGVClassifier as ArcGVClassifier
    from boostlab.boosters.aveboost import AveBoostClassifier as AveBoostClassifier
    from boostlab.boosters.boost_by_majority import BoostByMajorityClassifier as BoostByMajorityClassifier
    from boostlab.boosters.brownboost import BrownBoostClassifier as BrownBoostClassifier
    from boostlab.boosters.ebboost import EBBoostClassifier as EBBoostClassifier
    from boostlab.boosters.erlpboost import ERLPBoostClassifier as ERLPBoostClassifier
    from boostlab.boosters.filterboost import FilterBoostClassifier as FilterBoostClassifier
    from boostlab.boosters.gentleboost import GentleBoostClassifier as GentleBoostClassifier
    from boostlab.boosters.l1boost import L1BoostClassifier as L1BoostClassifier
    from boostlab.boosters.l2boost import L2BoostClassifier as L2BoostClassifier
    from boostlab.boosters.l2boost import L2BoostRegressor as L2BoostRegressor
    from boostlab.boosters.logitboost import LogitBoostClassifier as LogitBoostClassifier
    from boostlab.boosters.lpboost import LPBoostClassifier as LPBoostClassifier
    from boostlab.boosters.madaboost import MadaBoostClassifier as MadaBoostClassifier
    from boostlab.boosters.quadboost import QuadBoostClassifier as QuadBoostClassifier
    from boostlab.boosters.rlpboost import RLPBoostClassifier as RLPBoostClassifier
    from boostlab.boosters.robustboost import RobustBoostClassifier as RobustBoostClassifier
    from boostlab.boosters.rqpboost import RQPBoostClassifier as RQPBoostClassifier
    from boostlab.boosters.samme import SAMMEClassifier as SAMMEClassifier
    from boostlab.boosters.soft_margin_boost import SoftMarginBoostClassifier as SoftMarginBoostClassifier
    from boostlab.boosters.softboost import SoftBoostClassifier as SoftBoostClassifier
    from boostlab.boosters.totalboost import TotalBoostClassifier as TotalBoostClassifier
    from boostlab.boosters.vadaboost import VadaBoostClassifier as VadaBoostClassifier
    from boostlab.boosters.weightboost import WeightBoostClassifier as WeightBoostClassifier
    from boostlab.comparison import compare as compare
    from boostlab.contract import Stop as Stop
    from boostlab.data.binned import Binned as Binned
    from boostlab.learners.pool import VoterPool as VoterPool
    from boostlab.learners.stump import DecisionStump as DecisionStump
    from boostlab.learners.tree.learner import DecisionTree as DecisionTree
    from boostlab.model_io import load as load
    from boostlab.multiclass.ecoc import ECOCClassifier as ECOCClassifier
    from boostlab.multiclass.pairwise import PairwiseClassifier as PairwiseClassifier
    # [/imports]

__all__: list[str]  # made when it is asked for: the estimators and learners are found in their files

_MODULES = ("datasets", "explain", "plots", "studies", "theory")
_HOMES = {
    "AutoBoostClassifier": "boostlab.auto",
    "AutoBoostRegressor": "boostlab.auto",
    "compare": "boostlab.comparison",
    "Binned": "boostlab.data.binned",
    "Stop": "boostlab.contract",
    "load": "boostlab.model_io",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import boostlab` itself costs nothing."""
    if name in _MODULES or name == "dask":  # which `from boostlab import *` leaves to the package of that name
        return import_module(f"boostlab.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name == "__all__":
        value = _public_names()
    else:
        from boostlab.boosters.registry import find, load_learner

        value = find(name) or load_learner(name)
        if value is None:
            raise AttributeError(f"module 'boostlab' has no attribute {name!r}")
    globals()[name] = value
    return value


def _public_names() -> list[str]:
    from boostlab.boosters.registry import SUBPACKAGES, learner_names, public_names

    found = [name for folder in SUBPACKAGES for name in public_names(folder)]
    return sorted(["__version__", *_HOMES, *_MODULES, *learner_names(), *found])


def __dir__() -> list[str]:
    return _public_names()
