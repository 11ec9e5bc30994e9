"""Shapley values of trees: what explanations may know of the CPU backend."""

from boostlab.backend.cpu.kernels.tree_shapley import (
    add_shapley,
    background_patterns,
    count_low,
    fill_tables,
    trace_paths,
)
from boostlab.backend.cpu.threads import spread

__all__ = ["add_shapley", "background_patterns", "count_low", "fill_tables", "spread", "trace_paths"]
