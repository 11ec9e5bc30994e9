"""A vote as the package shap takes it.

`shap.TreeExplainer` reads trees with thresholds only.  A set of categories becomes a chain of thresholds between their
numbers, with a copy of its subtree for every run of neighbours: the values are the same, because the copies' shares add
up to the set's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.explain.forest import Forest
from boostlab.explain.parts import parts_of

Array = npt.NDArray[Any]

MOST_NODES = 1 << 20
COVER = 1e6  # of a root: shap reads covers, and only their ratios count


def to_shap(model: Any) -> dict[str, Any]:
    """Return a booster as `shap.TreeExplainer` takes it.

    Parameters
    ----------
    model : Booster
        Fitted, with one vote.

    Returns
    -------
    dict
        "trees" and what else a description of trees says.
    """
    parts = parts_of(model)
    width = len(parts.outputs)
    trees: list[dict[str, Array]] = []
    base, first = np.zeros(width), 0
    for part in parts.votes:
        last = first + part.matrix.shape[1]
        forest = part.forest
        if forest.low_share is None and forest.n_trees:
            raise ValueError(
                "This model kept no training rows, and shap needs to know how they part; use contributions(X, "
                "background=rows), or fit it again."
            )
        values = np.zeros((len(forest.feature), width))
        values[:, first:last] = forest.values @ part.matrix
        base[first:last] += part.base
        budget = MOST_NODES
        for t in range(forest.n_trees):
            trees.append(_tree(forest, t, values, budget))
            budget -= len(trees[-1]["features"])
        first = last
    if not trees:
        trees.append(_leaf(np.zeros(width)))
    offset: Any = base if width > 1 else float(base[0])
    return {
        "trees": trees,
        "base_offset": offset,
        "tree_output": "raw_value",
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
    }


def _leaf(value: Array) -> dict[str, Array]:
    nodes = dict.fromkeys(("children_left", "children_right", "children_default"), np.array([-1]))
    more = {"features": np.array([-2]), "thresholds": np.array([0.0])}
    return {**nodes, **more, "values": value[None], "node_sample_weight": np.array([COVER])}


@dataclass
class _ThresholdNodes:
    """The nodes of one tree with thresholds only, as shap takes them."""

    values: Array  # of the forest's nodes
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing: list[bool] = field(default_factory=list)  # whether missing values go to the first child
    value: list[Array] = field(default_factory=list)
    cover: list[float] = field(default_factory=list)
    kids: list[list[int]] = field(default_factory=list)

    def put(self, j: int, cut: float, missing_low: bool, node: int, weight: float) -> int:
        """Append a node without children; return its number."""
        self.feature.append(j)
        self.threshold.append(cut)
        self.missing.append(missing_low)
        self.value.append(self.values[node] if j < 0 else np.zeros(self.values.shape[1]))
        self.cover.append(max(weight, 1e-30))  # shap refuses nodes that no row reaches
        self.kids.append([-1, -1])
        return len(self.feature) - 1

    def arrays(self) -> dict[str, Array]:
        """Return what shap reads."""
        children, default = np.array(self.kids), np.array(self.missing)
        return {
            "children_left": children[:, 0],
            "children_right": children[:, 1],
            "children_default": np.where(default, children[:, 0], children[:, 1]),
            "features": np.array(self.feature),
            "thresholds": np.array(self.threshold),
            "values": np.array(self.value),
            "node_sample_weight": np.array(self.cover),
        }


def _tree(forest: Forest, t: int, values: Array, budget: int) -> dict[str, Array]:
    """Return one tree with thresholds only."""
    assert forest.low_share is not None
    share, nodes = forest.low_share, _ThresholdNodes(values)

    def add(node: int, weight: float) -> int:
        """Append a node and all below it; return its number."""
        j, here = int(forest.feature[node]), len(nodes.feature)
        if here >= budget:
            raise ValueError(
                "The sets of categories in these trees make too many thresholds for shap; use contributions(X), which "
                "reads sets as they are."
            )
        low, high = (int(c) for c in forest.children[node])
        if j < 0:
            return nodes.put(-2, 0.0, False, node, weight)
        members = forest.lows[forest.starts[node] : forest.starts[node + 1]]
        if not len(members):
            nodes.put(j, float(forest.threshold[node]), bool(forest.missing_low[node]), node, weight)
            nodes.kids[here] = [add(low, weight * share[node]), add(high, weight * (1.0 - share[node]))]
            return here
        return chain(node, runs(members), weight)

    def chain(node: int, ends: list[tuple[int, bool]], weight: float) -> int:
        """Append thresholds between runs of categories; each side's share is spread evenly over its runs."""
        (end, is_low), rest = ends[0], ends[1:]
        p = share[node]
        all_runs = runs(forest.lows[forest.starts[node] : forest.starts[node + 1]])
        each = {side: (p if side else 1.0 - p) / max(sum(s == side for _, s in all_runs), 1) for side in (True, False)}
        whole = weight / max(sum(each[s] for _, s in ends), 1e-300)
        child = int(forest.children[node, 0 if is_low else 1])
        if not rest:
            return add(child, weight)
        here = nodes.put(int(forest.feature[node]), end + 0.5, False, node, weight)
        wanted = bool(forest.missing_low[node])  # missing values go on until they meet a run of their side
        nodes.missing[here] = is_low == wanted
        left = add(child, whole * each[is_low])
        nodes.kids[here] = [left, chain(node, rest, whole * sum(each[s] for _, s in rest))]
        return here

    add(int(forest.roots[t]), COVER)
    return nodes.arrays()


def runs(members: Array) -> list[tuple[int, bool]]:
    """Return where runs of neighbouring categories on one side end, and whether they go low."""
    ends = np.flatnonzero(np.diff(members.astype(np.int8), append=2))
    return [(int(e), bool(members[e])) for e in ends]
