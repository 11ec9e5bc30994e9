"""Pictures: one function each, which draws on the Axes it is given (or on new ones) and returns them.

They need matplotlib (`pip install "boostlab[plots]"`), which is imported when the first picture is drawn.
"""

from boostlab.plots.boundary import decision_boundary
from boostlab.plots.comparison import critical_difference, error_scatter, mean_ranks, nemenyi_distance
from boostlab.plots.losses import loss_functions, variance_bound
from boostlab.plots.margins import margin_distribution, margin_rounds
from boostlab.plots.rows import weight_concentration
from boostlab.plots.shapes import shape_functions
from boostlab.plots.style import look, tidy
from boostlab.plots.training import costs, learning_curves, round_facts

__all__ = [
    "costs",
    "critical_difference",
    "decision_boundary",
    "error_scatter",
    "learning_curves",
    "look",
    "loss_functions",
    "margin_distribution",
    "margin_rounds",
    "mean_ranks",
    "nemenyi_distance",
    "round_facts",
    "shape_functions",
    "tidy",
    "variance_bound",
    "weight_concentration",
]
