"""A model as ONNX: a TreeEnsemble (ai.onnx.ml, version 5), and plain operators for labels and probabilities."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.explain.forest import Forest, Steps
from boostlab.model_io.exports.c import floor32
from boostlab.model_io.exports.calibrated import in_onnx
from boostlab.model_io.exports.description import Description, Link, describe

Array = npt.NDArray[Any]

LEQ, MEMBER, SUM = 0, 6, 1  # numbers that the format gives to modes and to the sum


@dataclass
class _OnnxNodes:
    """The arrays of a TreeEnsemble, node by node; every leaf adds to one score."""

    feature: list[int] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    mode: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    true: list[list[int]] = field(default_factory=list)  # number, and whether it is a leaf
    false: list[list[int]] = field(default_factory=list)
    members: list[float] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)

    def leaf(self, value: float, k: int) -> list[int]:
        """Add a leaf."""
        self.weight.append(float(value))
        self.target.append(k)
        return [len(self.weight) - 1, 1]

    def node(self, j: int, split: float, missing_true: bool, members: Array | None = None) -> int:
        """Add a node, whose children are not known yet."""
        self.feature.append(j)
        self.split.append(float(split))
        self.mode.append(LEQ if members is None else MEMBER)
        self.missing.append(int(missing_true))
        self.true.append([0, 0])
        self.false.append([0, 0])
        if members is not None:
            self.members += [*members.astype(float).tolist(), float("nan")]
        return len(self.feature) - 1


def to_onnx(model: Any, double: bool = False) -> Any:
    """Return a fitted booster as an `onnx.ModelProto` (needs the package onnx: pip install "boostlab[onnx]").

    Parameters
    ----------
    model : Booster
        Fitted.
    double : bool, default=False
        Rows, cuts and scores as 64-bit numbers; by default 32-bit ones.

    Returns
    -------
    onnx.ModelProto
        Input `X` of shape (n_rows, n_features): numbers, NaN for missing values, categories as their numbers (in the
        metadata `categories`).  Outputs: `scores`, and for classifiers `label` and, where the link is known,
        `probabilities`.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "Exports to ONNX need the package onnx, which is not installed; install it with: "
            'pip install "boostlab[onnx]"'
        ) from error
    d = describe(model)
    graph = _Graph(onnx, np.float64 if double else np.float32)
    scores = graph.scores(d)
    outputs = [graph.value("scores", [None, d.n_scores])]
    if d.classes is not None:
        kind = onnx.TensorProto.STRING if isinstance(d.classes[0], str) else onnx.TensorProto.INT64
        graph.label(d, scores)
        outputs.insert(0, onnx.helper.make_tensor_value_info("label", kind, [None]))
        if d.link is not None:
            graph.probabilities(d.link, scores)
        if d.link is not None or d.decision is not None:
            outputs.append(graph.value("probabilities", [None, d.n_classes]))
    made = onnx.helper.make_graph(
        graph.nodes, d.model, [graph.value("X", [None, len(d.names)])], outputs, initializer=graph.constants
    )
    versions = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 5)]
    whole = onnx.helper.make_model(made, opset_imports=versions, producer_name="boostlab", ir_version=10)
    onnx.helper.set_model_props(
        whole, {"columns": json.dumps(d.names), "categories": json.dumps(d.categories, default=str)}
    )
    onnx.checker.check_model(whole)
    return whole


class _Graph:
    """Collects operators and constants."""

    def __init__(self, onnx: Any, dtype: Any) -> None:
        self.onnx, self.dtype = onnx, dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    @property
    def kind(self) -> int:
        """The format's number for the type of scores."""
        return int(self.onnx.TensorProto.DOUBLE if self.dtype is np.float64 else self.onnx.TensorProto.FLOAT)

    def value(self, name: str, shape: list[Any]) -> Any:
        """Return a declared input or output."""
        return self.onnx.helper.make_tensor_value_info(name, self.kind, shape)

    def constant(self, a: Any, dtype: Any = None) -> str:
        """Add a constant, and return its name."""
        name = f"c{len(self.constants)}"
        array = np.asarray(a, self.dtype if dtype is None else dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        out = out or f"t{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def scores(self, d: Description) -> str:
        """Add the trees and the constant."""
        nodes = _OnnxNodes()
        for k in range(d.n_scores):
            for f in d.steps:
                if f.values[:, k].any() or f.missing[k]:
                    _step(nodes, f, k)
            for root in d.trees.roots[:-1].tolist():
                _tree(nodes, d.trees, root, k)
        constant = self.constant(d.constant[None])
        if not nodes.roots:
            zeros = self.add("ReduceSum", "X", self.constant([1], np.int64), keepdims=1)
            return self.add("Add", self.add("Mul", zeros, self.constant([0.0])), constant, out="scores")
        split = np.array(nodes.split)
        tensor = self.onnx.numpy_helper.from_array
        cuts = (floor32(split) if self.dtype is np.float32 else split).astype(self.dtype)
        attributes = dict(
            aggregate_function=SUM,
            post_transform=0,
            n_targets=d.n_scores,
            tree_roots=nodes.roots,
            nodes_featureids=nodes.feature,
            nodes_splits=tensor(cuts, "nodes_splits"),
            nodes_modes=tensor(np.array(nodes.mode, np.uint8), "nodes_modes"),
            nodes_truenodeids=[n for n, _ in nodes.true],
            nodes_trueleafs=[leaf for _, leaf in nodes.true],
            nodes_falsenodeids=[n for n, _ in nodes.false],
            nodes_falseleafs=[leaf for _, leaf in nodes.false],
            nodes_missing_value_tracks_true=nodes.missing,
            leaf_targetids=nodes.target,
            leaf_weights=tensor(np.array(nodes.weight, self.dtype), "leaf_weights"),
        )
        if nodes.members:
            attributes["membership_values"] = tensor(np.array(nodes.members, self.dtype), "membership_values")
        raw = self.add("TreeEnsemble", "X", domain="ai.onnx.ml", **attributes)
        return self.add("Add", raw, constant, out="scores")

    def label(self, d: Description, scores: str) -> None:
        """Add the label."""
        assert d.classes is not None
        tie = "" if d.decision is not None else self.constant(d.tie)
        if d.decision is not None:
            place = in_onnx(d.decision, self, scores)
        elif d.n_scores == 1:
            flat = self.add("Squeeze", scores, self.constant([1], np.int64))
            place = self.add("Cast", self.add("Greater", flat, tie), to=self.onnx.TensorProto.INT64)
        else:
            top = self.add("ReduceMax", scores, axes=[1], keepdims=1)
            near = self.add("GreaterOrEqual", scores, self.add("Sub", top, tie))
            place = self.add("ArgMax", self.add("Cast", near, to=self.onnx.TensorProto.INT32), axis=1, keepdims=0)
        text = isinstance(d.classes[0], str)
        labels = np.array(d.classes, object if text else np.int64)
        if not text and not all(float(c).is_integer() for c in d.classes):
            raise ValueError("Labels that are fractions have no place in an ONNX label; use text or whole numbers.")
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(labels, name))
        self.add("Gather", name, place, out="label")

    def probabilities(self, link: Link, scores: str) -> None:
        """Add the probabilities."""
        scaled = self.add("Mul", scores, self.constant(link.scale))
        if link.name == "softmax":
            self.add("Softmax", scaled, axis=1, out="probabilities")
            return
        if link.name == "softmax of log logistic":
            log = self.add("Log", self.add("Sigmoid", scaled))
            self.add("Softmax", log, axis=1, out="probabilities")
            return
        one = self.constant(1.0) if not (link.normalised and link.name == "logistic") else ""
        if link.name == "logistic":
            p = self.add("Sigmoid", scaled)
        else:
            inner = self.add("Erf", scaled) if link.name == "erf" else scaled
            p = self.add("Mul", self.add("Add", inner, one), self.constant(0.5))
            p = self.add("Clip", p, self.constant(0.0), one)
        if link.normalised:
            whole = self.add("ReduceSum", p, self.constant([1], np.int64), keepdims=1)
            self.add("Div", p, whole, out="probabilities")
        else:
            self.add("Concat", self.add("Sub", one, p), p, axis=1, out="probabilities")


def _step(nodes: _OnnxNodes, f: Steps, k: int) -> None:
    """Add a step function as a balanced tree below a node that only missing values leave by its false branch."""
    root = nodes.node(f.feature, np.inf, False)
    nodes.roots.append(root)

    def between(first: int, last: int) -> list[int]:
        """Add the tree of the intervals first <= i <= last."""
        if first == last or not np.ptp(f.values[first : last + 1, k]):
            return nodes.leaf(f.values[first, k], k)
        middle = (first + last) // 2
        here = nodes.node(f.feature, f.cuts[middle], False)
        nodes.true[here] = between(first, middle)
        nodes.false[here] = between(middle + 1, last)
        return [here, 0]

    nodes.true[root] = between(0, len(f.cuts))
    nodes.false[root] = nodes.leaf(f.missing[k], k)


def _tree(nodes: _OnnxNodes, forest: Forest, root: int, k: int) -> None:
    """Add one tree for one score."""

    def below(node: int) -> list[int]:
        j = int(forest.feature[node])
        if j < 0:
            return nodes.leaf(forest.values[node, k], k)
        members = forest.lows[forest.starts[node] : forest.starts[node + 1]]
        chosen = np.flatnonzero(members) if len(members) else None
        if chosen is not None and not len(chosen):
            chosen = np.array([-1])
        here = nodes.node(j, forest.threshold[node], bool(forest.missing_low[node]), chosen)
        low, high = forest.children[node].tolist()
        nodes.true[here] = below(low)
        nodes.false[here] = below(high)
        return [here, 0]

    count = len(nodes.feature)
    here, is_leaf = below(root)
    assert not is_leaf
    assert here == count
    nodes.roots.append(here)
