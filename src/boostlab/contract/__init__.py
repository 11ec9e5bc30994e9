"""What a rule, a learner, the engine and a backend pass to each other.

A rule answers three questions a round: what should the next voter look at (`Rule.task`), what is its coefficient,
and is it time to stop (`Rule.step`).  A learner answers a `Task` with a voter.  Neither knows more of the other.
Nothing here imports a compiler: formulas are plain functions, and a backend compiles them.
"""

from boostlab.contract.formula import Row, formula, largest_over_labels, sum_over_labels
from boostlab.contract.label_round import LabelRound
from boostlab.contract.learner import Found, Learner, Session
from boostlab.contract.rows import Channel, Channels, Cut, LearnerRows, Node, Place, Rows
from boostlab.contract.rule import Array, Plain, Rule, State, is_other_class, perfect
from boostlab.contract.step import (
    NEGLIGIBLE,
    STOP_CODES,
    Each,
    Facts,
    Retry,
    Reweigh,
    Step,
    Stop,
)
from boostlab.contract.sums import (
    class_error_sums,
    edge_sums,
    error_sums,
    loss_sum,
    residual_moments,
    squared_error_sums,
    vote_size,
    weight_sum,
)
from boostlab.contract.task import MixedTask, ResidualTask, ShiftedTask, Task
from boostlab.contract.usual import AGAIN, OTHER, TAKEN, UNUSUAL, Sums, UsualRound
from boostlab.contract.voter import Voter, stored_learner, voter_kind
from boostlab.functions import erf, erfc, exp, expit, log, log1p, softplus

__all__ = [
    "AGAIN",
    "NEGLIGIBLE",
    "OTHER",
    "STOP_CODES",
    "TAKEN",
    "UNUSUAL",
    "Array",
    "Channel",
    "Channels",
    "Cut",
    "Each",
    "Facts",
    "Found",
    "LabelRound",
    "Learner",
    "LearnerRows",
    "MixedTask",
    "Node",
    "Place",
    "Plain",
    "ResidualTask",
    "Retry",
    "Reweigh",
    "Row",
    "Rows",
    "Rule",
    "Session",
    "ShiftedTask",
    "State",
    "Step",
    "Stop",
    "Sums",
    "Task",
    "UsualRound",
    "Voter",
    "class_error_sums",
    "edge_sums",
    "erf",
    "erfc",
    "error_sums",
    "exp",
    "expit",
    "formula",
    "is_other_class",
    "largest_over_labels",
    "log",
    "log1p",
    "loss_sum",
    "perfect",
    "residual_moments",
    "softplus",
    "squared_error_sums",
    "stored_learner",
    "sum_over_labels",
    "vote_size",
    "voter_kind",
    "weight_sum",
]
