"""Kernels made of functions are found again on disk by the next process."""

from __future__ import annotations

import pytest
from numba.core.dispatcher import Dispatcher

from boostlab.backend.cpu.kernels.fused_rounds import KINDS, rounds_of
from boostlab.backend.cpu.kernels.small_table import stump_of_edge, stump_of_pairs
from boostlab.backend.cpu.kernels.split_search import cheapest_split, cheapest_split_of_classes, cheapest_split_of_pairs
from boostlab.backend.cpu.kernels.tree_kinds import classes_grower, labels_grower, numbers_grower
from boostlab.boosters.adaboost import half_log_odds
from boostlab.learners.criteria import CRITERIA

labels, pairs, numbers = CRITERIA["labels"], CRITERIA["z"], CRITERIA["least_squares"]
MADE = {
    **{f"rounds, {kind}": lambda kind=kind: rounds_of(half_log_odds, kind) for kind in KINDS},
    "trees by classes": lambda: classes_grower(labels.fold, labels.close, 8),
    "trees by labels": lambda: labels_grower(pairs.cost, 8),
    "trees by numbers": lambda: numbers_grower(numbers.cost, numbers.residual, 8),
    "stumps by two sums": lambda: stump_of_pairs(pairs.cost, 8),
    "stumps by an edge": lambda: stump_of_edge(8),
    "split": lambda: cheapest_split(pairs.cost),
    "pairs": lambda: cheapest_split_of_pairs(pairs.cost),
    "classes": lambda: cheapest_split_of_classes(labels.fold, labels.close),
}


@pytest.mark.parametrize("name", MADE)
def test_no_kernel_holds_another(name):
    """Numba names a closure on disk by what it holds, and a kernel that it holds has another name in every process."""
    held = [cell.cell_contents for cell in MADE[name]().py_func.__closure__]
    assert held
    assert not any(isinstance(thing, Dispatcher) for thing in held)
