"""Reductions of three or more classes to binary problems: codes, decoders, and the classifiers scikit-learn lacks.

Boosters enter by `training.reduce`; the classifiers take any estimator, boosters among them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boostlab.multiclass.ecoc import ECOCClassifier
    from boostlab.multiclass.pairwise import PairwiseClassifier

__all__ = ["ECOCClassifier", "PairwiseClassifier"]

_HOMES = {"ECOCClassifier": "boostlab.multiclass.ecoc", "PairwiseClassifier": "boostlab.multiclass.pairwise"}


def __getattr__(name: str) -> Any:
    """Load a classifier when it is first used: boosters, which it knows, need this room first."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'boostlab.multiclass' has no attribute {name!r}")
