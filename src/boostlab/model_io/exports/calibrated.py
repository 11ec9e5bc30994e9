"""Calibrated probabilities and decisions by cost, as every export writes them.

A map is a sigmoid, straight lines between points (isotonic), or steps (Venn-Abers).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from boostlab.calibration.costs import cheapest
from boostlab.calibration.maps import Isotonic, Sigmoid, VennAbers

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """From a score to a probability.

    "sigmoid": 1 / (1 + exp(-(a s + b))), `p` being a and b.  "lines": `p` at the scores `x`, straight between them and
    level outside.  "steps": `p[i]`, i being the number of `x` below the score.
    """

    kind: str
    x: Array
    p: Array

    @classmethod
    def of(cls, f: Any) -> ScoreMap:
        """Return a fitted map of `boostlab.calibration`."""
        if isinstance(f, Sigmoid):
            return cls("sigmoid", np.empty(0), np.array([f.a, f.b]))
        if isinstance(f, Isotonic):
            return cls("lines", f.x, f.p)
        assert isinstance(f, VennAbers)
        return cls("steps", f.edges, f.high / (1.0 - f.low + f.high))

    def __call__(self, s: Array) -> Array:
        """Return probabilities."""
        if self.kind == "sigmoid":
            return np.asarray(expit(self.p[0] * s + self.p[1]))
        return np.interp(s, self.x, self.p) if self.kind == "lines" else self.p[np.searchsorted(self.x, s)]


@dataclass(frozen=True, eq=False)
class Decision:
    """How scores become probabilities and a class.

    Parameters
    ----------
    maps : list of ScoreMap
        One for two classes, else one a class, whose values are divided by their sum.
    cost : array of shape (n_classes, n_classes), optional
        The class with the smallest expected cost is named; without, the most probable one.  Of equals the first.
    """

    maps: list[ScoreMap]
    cost: Array | None

    @classmethod
    def of(cls, model: Any) -> Decision | None:
        """Return a model's own; None where it is not calibrated."""
        fitted = model.__dict__.get("_calibration")
        if fitted is None:
            return None
        return cls([ScoreMap.of(f) for f in fitted.maps], None if model.cost is None else model.cost_matrix_)

    def of_two(self, s: Array) -> tuple[Array, Array]:
        """Return the probability of the second of two classes, and which one is named."""
        p = self.maps[0](s)
        P = np.column_stack([1.0 - p, p])
        return p, P.argmax(axis=1) if self.cost is None else cheapest(P, self.cost)


# -- C -----------------------------------------------------------------------------------------------------------------


def in_c(decision: Decision, name: str, real: str, head: list[str], array: Any) -> list[str]:
    """Return C functions for probabilities and the class.

    Parameters
    ----------
    decision : Decision
        What to write.
    name, real : str
        What names begin with, and the type of a row's numbers.
    head : list of str
        Lines that compute the scores s of a row x.
    array : callable
        array(type, what, numbers) returns a static array.
    """
    lines = _map_in_c(decision.maps, name, array)
    lines += _probabilities_in_c(len(decision.maps), name, real, head)
    return [*lines, *_class_in_c(decision, name, real, array)]


def _map_in_c(maps: list[ScoreMap], name: str, array: Any) -> list[str]:
    """Return the function from a score to a probability, and its numbers."""
    p = array("double", "map_p", np.concatenate([m.p for m in maps]).tolist())
    lines = ["", p]
    if maps[0].kind == "sigmoid":
        lines.append(f"static double {name}_map(int32_t k, double s)")
        lines.append(f"{{ return 1.0 / (1.0 + exp(-({name}_map_p[2 * k] * s + {name}_map_p[2 * k + 1]))); }}")
    else:
        lines.append(array("double", "map_x", np.concatenate([m.x for m in maps]).tolist()))
        lines.append(array("int32_t", "map_start", np.cumsum([0, *(len(m.x) for m in maps)]).tolist()))
        found = f"    return {name}_map_p[low + k];"
        if maps[0].kind == "lines":
            found = f"""    if (low == {name}_map_start[k]) return {name}_map_p[low];
    if (low == {name}_map_start[k + 1]) return {name}_map_p[low - 1];
    return {name}_map_p[low - 1] + (s - {name}_map_x[low - 1]) * ({name}_map_p[low] - {name}_map_p[low - 1])
        / ({name}_map_x[low] - {name}_map_x[low - 1]);"""
        lines.append(f"""static double {name}_map(int32_t k, double s)
{{
    int32_t low = {name}_map_start[k], high = {name}_map_start[k + 1];
    while (low < high) {{
        int32_t middle = (low + high) / 2;
        if (s <= {name}_map_x[middle]) high = middle; else low = middle + 1;
    }}
{found}
}}""")
    return lines


def _probabilities_in_c(n_maps: int, name: str, real: str, head: list[str]) -> list[str]:
    """Return the function from a row to its probabilities."""
    body = [f"    p[1] = {name}_map(0, s[0]);", "    p[0] = 1.0 - p[1];"]
    if n_maps > 1:
        body = [
            "    double whole = 0.0;",
            "    int32_t k;",
            f"    for (k = 0; k < {n_maps}; k++) whole += p[k] = {name}_map(k, s[k]);",
            f"    for (k = 0; k < {n_maps}; k++) p[k] = whole > 0.0 ? p[k] / whole : {1 / n_maps!r};",
        ]
    return ["", f"void {name}_probabilities(const {real} *x, double *p)", "{", *head, *body, "}"]


def _class_in_c(decision: Decision, name: str, real: str, array: Any) -> list[str]:
    """Return the function from a row to its class: the most probable one, or that of the smallest expected cost."""
    K, better = max(len(decision.maps), 2), "p[k] > p[best]"
    lines: list[str] = []
    cost: list[str] = []
    if decision.cost is not None:
        lines.append(array("double", "cost", decision.cost.ravel().tolist()))
        cost = [
            f"    for (k = 0; k < {K}; k++)",
            f"        for (c[k] = 0.0, i = 0; i < {K}; i++) c[k] += p[i] * {name}_cost[i * {K} + k];",
        ]
        better = "c[k] < c[best]"
    variables = f"    double p[{K}]{f', c[{K}]' if cost else ''};"
    lines += [
        "",
        f"int {name}_predict(const {real} *x)",
        "{",
        variables,
        f"    int32_t k, best = 0{', i' if cost else ''};",
    ]
    lines += [f"    {name}_probabilities(x, p);", *cost]
    return [*lines, f"    for (k = 1; k < {K}; k++) if ({better}) best = k;", "    return best;", "}"]


# -- SQL ---------------------------------------------------------------------------------------------------------------


# SQLite and PostgreSQL write a subquery's expression in place of every mention of its name, and evaluate it as often; a
# subquery with LIMIT and OFFSET is evaluated once a row.
FENCE = "LIMIT 9223372036854775807 OFFSET 0"


def in_sql(decision: Decision, query: str, names: list[str], labels: list[str], number: Any) -> str:
    """Return a query with probabilities and the label, around one with scores.

    Parameters
    ----------
    decision : Decision
        What to write.
    query : str
        SELECT with scores.
    names, labels : list of str
        Of the scores, and of the classes as literals.
    number : callable
        Writes a number.
    """
    raw = [_expression(m, name, number) for m, name in zip(decision.maps, names, strict=True)]
    if len(raw) == 1:
        told, P = f"{raw[0]} AS probability", ["(1e0 - probability)", "probability"]
        inner = f"SELECT *,\n{told}\nFROM (\n{query}\n{FENCE}\n) AS scored"
    else:
        P = [f"probability_{k}" for k in range(len(raw))]
        whole = " + ".join(f"raw_{k}" for k in range(len(raw)))
        mapped = ",\n".join(f"{e} AS raw_{k}" for k, e in enumerate(raw))
        level = number(1 / len(raw))
        shares = ",\n".join(
            f"CASE WHEN {whole} > 0e0 THEN raw_{k} / ({whole}) ELSE {level} END AS {p}" for k, p in enumerate(P)
        )
        maps = f"SELECT *,\n{mapped}\nFROM (\n{query}\n{FENCE}\n) AS scored\n{FENCE}"
        inner = f"SELECT *,\n{shares}\nFROM (\n{maps}\n) AS mapped"
    if decision.cost is None:
        value, sign = P, ">="
    else:
        columns = decision.cost.T.tolist()
        value = ["(" + " + ".join(f"{number(c)} * {p}" for c, p in zip(line, P, strict=True)) + ")" for line in columns]
        sign = "<="
    cases = ""
    for k, label in enumerate(labels[:-1]):
        best = [f"{value[k]} {sign} {value[i]}" for i in range(k + 1, len(value))]
        cases += f" WHEN {' AND '.join(best)} THEN {label}"
    return f"SELECT *,\nCASE{cases} ELSE {labels[-1]} END AS label\nFROM (\n{inner}\n{FENCE}\n) AS calibrated\n"


def logistic(z: str) -> str:
    """Return 1 / (1 + exp(-z)) for databases that refuse an exponential which over- or underflows."""
    return f"CASE WHEN {z} >= 7e2 THEN 1e0 WHEN {z} <= -7e2 THEN 0e0 ELSE 1e0 / (1e0 + EXP(-({z}))) END"


def _expression(m: ScoreMap, score: str, number: Any) -> str:
    if m.kind == "sigmoid":
        return logistic(f"{number(m.p[0])} * {score} + {number(m.p[1])}")
    if m.kind == "steps":
        cases = "".join(f" WHEN {score} <= {number(x)} THEN {number(p)}" for x, p in zip(m.x, m.p, strict=False))
        return f"CASE{cases} ELSE {number(m.p[-1])} END" if cases else number(m.p[-1])
    cases = f" WHEN {score} <= {number(m.x[0])} THEN {number(m.p[0])}"
    for (x0, p0), (x1, p1) in pairwise(zip(m.x.tolist(), m.p.tolist(), strict=True)):
        line = number(p0) if p1 == p0 else f"{number(p0)} + ({score} - {number(x0)}) * {number((p1 - p0) / (x1 - x0))}"
        cases += f" WHEN {score} <= {number(x1)} THEN {line}"
    return f"CASE{cases} ELSE {number(m.p[-1])} END"


# -- ONNX --------------------------------------------------------------------------------------------------------------


def in_onnx(decision: Decision, graph: Any, scores: str) -> str:
    """Add the probabilities to an ONNX graph; return the name of the class indices.

    A map of lines is a sum of ramps, one of steps a sum of comparisons.

    Parameters
    ----------
    decision : Decision
        What to write.
    graph : _Graph
        Collects operators.
    scores : str
        The name of the scores.
    """
    maps, axis = decision.maps, graph.constant([1], np.int64)
    if maps[0].kind == "sigmoid":
        a, b = (graph.constant([[m.p[i] for m in maps]]) for i in (0, 1))
        raw = graph.add("Sigmoid", graph.add("Add", graph.add("Mul", scores, a), b))
    else:
        columns = []
        for k, m in enumerate(maps):
            here = graph.add("Gather", scores, graph.constant([k], np.int64), axis=1)
            columns.append(_climb(m, graph, here, axis))
        raw = columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)
    if len(maps) == 1:
        rest = graph.add("Sub", graph.constant([[1.0]]), raw)
        P = graph.add("Concat", rest, raw, axis=1, out="probabilities")
    else:
        whole = graph.add("ReduceSum", raw, axis, keepdims=1)
        some = graph.add("Greater", whole, graph.constant([[0.0]]))
        safe = graph.add("Where", some, whole, graph.constant([[1.0]]))
        share = graph.add("Div", raw, safe)
        P = graph.add("Where", some, share, graph.constant([[1 / len(maps)] * len(maps)]), out="probabilities")
    if decision.cost is None:
        return str(graph.add("ArgMax", P, axis=1, keepdims=0))
    return str(graph.add("ArgMin", graph.add("MatMul", P, graph.constant(decision.cost)), axis=1, keepdims=0))


def _climb(m: ScoreMap, graph: Any, score: str, axis: str) -> str:
    rise = np.diff(m.p)
    start = graph.constant([[m.p[0]]])
    if not len(rise):
        return str(graph.add("Add", graph.add("Mul", score, graph.constant([[0.0]])), start))
    if m.kind == "lines":
        kept = rise != 0
        low, width, rise = m.x[:-1][kept], np.diff(m.x)[kept], rise[kept]
        part = graph.add("Div", graph.add("Sub", score, graph.constant(low[None])), graph.constant(width[None]))
        done = graph.add("Clip", part, graph.constant(0.0), graph.constant(1.0))
    else:
        done = graph.add("Cast", graph.add("Greater", score, graph.constant(m.x[None])), to=graph.kind)
    climbed = graph.add("ReduceSum", graph.add("Mul", done, graph.constant(rise[None])), axis, keepdims=1)
    return str(graph.add("Add", climbed, start))
