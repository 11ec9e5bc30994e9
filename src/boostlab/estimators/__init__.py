"""The public boosters, each loaded when it is first asked for; asking for a list of them loads and registers all."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {  # in the order of the lists
    "binned": ("Binned",),
    "corrective": (
        "ERLPBoostClassifier",
        "LPBoostClassifier",
        "SoftBoostClassifier",
        "TotalBoostClassifier",
    ),
    "filtering": ("FilterBoostClassifier",),
    "multiclass": (
        "AdaBoostM1Classifier",
        "AdaBoostMHClassifier",
        "AdaBoostMRClassifier",
        "SAMMEClassifier",
    ),
    "noise_tolerant": (
        "BoostByMajorityClassifier",
        "BrownBoostClassifier",
        "MadaBoostClassifier",
        "RobustBoostClassifier",
    ),
    "quadratic": ("QuadBoostClassifier",),
    "regression": ("L2BoostRegressor",),
    "regularised": (
        "ArcGVClassifier",
        "L1BoostClassifier",
        "SoftMarginBoostClassifier",
    ),
    "reweighed": (
        "RLPBoostClassifier",
        "RQPBoostClassifier",
    ),
    "stagewise": (
        "AdaBoostClassifier",
        "AdaBoostM2Classifier",
        "ARBoostClassifier",
        "LogitBoostClassifier",
        "WeightBoostClassifier",
    ),
    "statistical": (
        "GentleBoostClassifier",
        "L2BoostClassifier",
    ),
    "variance": (
        "EBBoostClassifier",
        "VadaBoostClassifier",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a booster, or all of them where one of the lists is asked for."""
    if name in _HOME_OF:
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    elif name in __all__:
        value = getattr(_complete(), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _complete() -> Any:
    """Load all boosters, and put the lists in order: that in which they were loaded is a matter of chance."""
    places = {import_module(f"{__name__}.{home}").__name__: place for place, home in enumerate(_HOMES)}
    lists = import_module(f"{__name__}.registry")
    for registry in (lists.REGISTRY, lists.REGRESSORS):
        entries = sorted(registry.items(), key=lambda item: places.get(item[1].cls.__module__, len(places)))
        registry.clear()
        registry.update(entries)
    return lists
