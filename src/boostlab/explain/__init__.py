"""Open a vote: what every feature adds, step functions, interactions, words and pictures.

A vote of stumps is an additive model, one step function a column; a vote of trees is a sum of trees.  Both are
described once (`forest`); contributions, shapes, interactions, exports and the adapter for the package shap read that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boostlab.explain.pairs import Interaction, interactions
    from boostlab.explain.rules import Rules
    from boostlab.explain.shapley import Contributions, contributions
    from boostlab.explain.step_functions import Shape, shapes
    from boostlab.explain.words import Explanation, explain

__all__ = [
    "Contributions",
    "Explanation",
    "Interaction",
    "Rules",
    "Shape",
    "contributions",
    "explain",
    "interactions",
    "shapes",
]

_FILES = {
    "Contributions": "shapley",
    "Explanation": "words",
    "Interaction": "pairs",
    "Rules": "rules",
    "Shape": "step_functions",
    "contributions": "shapley",
    "explain": "words",
    "interactions": "pairs",
    "shapes": "step_functions",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: every fit imports `reference` from here, and needs nothing else."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
