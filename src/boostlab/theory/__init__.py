"""What can be proved about a vote: bounds, margins, bias and variance, hard examples, shape functions.

Bounds are functions of plain numbers and arrays that return a `Bound`; `certificate` gathers those that apply to a
model.
"""

from boostlab.theory.bias_variance import BiasVariance, Domingos, KohaviWolpert, bias_variance, domingos, kohavi_wolpert
from boostlab.theory.bound import Bound
from boostlab.theory.certificate import certificate
from boostlab.theory.complexity import Complexity, massart, rademacher_complexity
from boostlab.theory.concentration import (
    Interval,
    bernstein,
    empirical_bernstein,
    empirical_bernstein_interval,
    exact_interval,
    hoeffding,
    uniform_empirical_bernstein,
)
from boostlab.theory.hard import HardExamples, hard_examples
from boostlab.theory.lpboost import lpboost_bound
from boostlab.theory.margin_bounds import (
    breiman,
    emargin,
    gao_zhou,
    gao_zhou_average,
    kl_inverse,
    koltchinskii_panchenko,
    kth_margin,
    schapire,
)
from boostlab.theory.margins import (
    MarginStatistics,
    margin_curve,
    margin_share,
    margin_statistics,
    margin_table,
    normalised_margins,
    staged_margins,
)
from boostlab.theory.promises import Certificate, Promise
from boostlab.theory.quadboost import theorem1_as_stated, theorem1_safe
from boostlab.theory.shapes import ShapeFunction, shape_functions
from boostlab.theory.training import (
    adaboost_margin_bound,
    adaboost_rounds,
    adaboost_training_error,
    arboost_margin_bound,
    arboost_margin_limit,
    arboost_training_error,
    normaliser_product,
    quadboost_rounds,
    quadratic_risk,
)
from boostlab.theory.variance import StepCost, svp_cost, vada_U, vada_V, vadaboost_round_factor
from boostlab.theory.vc import stump_dichotomies, stump_vc_dimension, vc_bound
from boostlab.theory.weights import RowWeights, row_weights

__all__ = [
    "BiasVariance",
    "Bound",
    "Certificate",
    "Complexity",
    "Domingos",
    "HardExamples",
    "Interval",
    "KohaviWolpert",
    "MarginStatistics",
    "Promise",
    "RowWeights",
    "ShapeFunction",
    "StepCost",
    "adaboost_margin_bound",
    "adaboost_rounds",
    "adaboost_training_error",
    "arboost_margin_bound",
    "arboost_margin_limit",
    "arboost_training_error",
    "bernstein",
    "bias_variance",
    "breiman",
    "certificate",
    "domingos",
    "emargin",
    "empirical_bernstein",
    "empirical_bernstein_interval",
    "exact_interval",
    "gao_zhou",
    "gao_zhou_average",
    "hard_examples",
    "hoeffding",
    "kl_inverse",
    "kohavi_wolpert",
    "koltchinskii_panchenko",
    "kth_margin",
    "lpboost_bound",
    "margin_curve",
    "margin_share",
    "margin_statistics",
    "margin_table",
    "massart",
    "normalised_margins",
    "normaliser_product",
    "quadboost_rounds",
    "quadratic_risk",
    "rademacher_complexity",
    "row_weights",
    "schapire",
    "shape_functions",
    "staged_margins",
    "stump_dichotomies",
    "stump_vc_dimension",
    "svp_cost",
    "theorem1_as_stated",
    "theorem1_safe",
    "uniform_empirical_bernstein",
    "vada_U",
    "vada_V",
    "vadaboost_round_factor",
    "vc_bound",
]
