"""Open a vote: what every feature adds, step functions, interactions, words and pictures.

A vote of stumps is an additive model, one step function a column; a vote of trees is a sum of trees.  Both are
described once (`forest`); contributions, shapes, interactions, exports and the adapter for the package shap read that.
"""

from boostlab.explain.pairs import Interaction, interactions
from boostlab.explain.shapley import Contributions, contributions
from boostlab.explain.step_functions import Shape, shapes
from boostlab.explain.words import Explanation, explain

__all__ = [
    "Contributions",
    "Explanation",
    "Interaction",
    "Shape",
    "contributions",
    "explain",
    "interactions",
    "shapes",
]
