"""A model as one C file without dependencies (C99; only exp and erf of math.h, for probabilities)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.model_io.exports.calibrated import in_c
from boostlab.model_io.exports.description import Description, abs_bound, describe

Array = npt.NDArray[Any]

LINKS = {
    "logistic": "1.0 / (1.0 + exp(-{c} * ({s})))",
    "linear": "boost_clip((1.0 + {c} * ({s})) / 2.0)",
    "erf": "(1.0 + erf({c} * ({s}))) / 2.0",
}


def to_c(model: Any, name: str = "model", int16: bool = False) -> str:
    """Return a fitted booster as C source.

    Parameters
    ----------
    model : Booster
        Fitted.
    name : str, default="model"
        What its functions' names begin with.
    int16 : bool, default=False
        For microcontrollers: what is added to scores as 16-bit whole numbers (rounded to a power of two, given as
        NAME_UNIT), cuts and rows as float.

    Returns
    -------
    str
        `NAME_scores(x, scores)`, `NAME_predict(x)` (the number of the class) and, where the link is known,
        `NAME_probabilities(x, p)` (calibrated, as the model's are); a regressor has `NAME_predict(x)` only.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"name={name!r} cannot begin the name of a C function; use letters, digits and underscores.")
    return _Writer(describe(model), name, int16).text()


def floor32(x: Array) -> Array:
    """Return the largest 32-bit floats that are not above x: for 32-bit rows the same cuts."""
    with np.errstate(over="ignore"):
        single = np.asarray(x, np.float64).astype(np.float32)
    return np.where(single > x, np.nextafter(single, np.float32(-np.inf)), single)


class _Writer:
    """Writes one model."""

    def __init__(self, d: Description, name: str, int16: bool) -> None:
        self.d, self.name, self.int16 = d, name, int16
        self.real = "float" if int16 else "double"
        self.sum = "int32_t" if int16 else "double"
        self.unit = 0
        if int16:
            parts = [np.abs(f.values).max(initial=0.0) for f in d.steps]
            parts += [np.abs(f.missing).max(initial=0.0) for f in d.steps]
            largest = max([1e-30, *parts, float(abs_bound(d.trees).max(initial=0.0))])
            self.unit = 14 - int(np.frexp(largest)[1])

    def text(self) -> str:
        """Return the file."""
        d, n = self.d, self.name
        lines = [f"/* {d.model} by boostlab, with {len(d.names)} columns:"]
        for j, column in enumerate(d.names):
            known = d.categories[j]
            what = "" if known is None else " = " + ", ".join(f"{k}: {_plain(v)}" for k, v in enumerate(known))
            lines.append(f"   x[{j}] {_plain(column)}{what}")
        lines.append("   A missing value, or a category that is not listed, is NAN. */")
        lines += ["#include <math.h>", "#include <stdint.h>", ""]
        if d.classes is not None:
            lines.append(f"/* classes: {', '.join(f'{k}: {_plain(c)}' for k, c in enumerate(d.classes))} */")
        if self.int16:
            lines.append(f"#define {n.upper()}_UNIT {float(np.ldexp(1.0, -self.unit))!r} /* of scores */")
        lines += [*self._tables(), *self._scores(), *self._predict()]
        return "\n".join(lines) + "\n"

    def _array(self, kind: str, what: str, numbers: Iterable[Any]) -> str:
        shown = [_number(v) for v in numbers] or ["0"]
        body = ",".join(shown)
        return f"static const {kind} {self.name}_{what}[{len(shown)}] = {{{_wrapped(body)}}};"

    def _places(self, what: str, numbers: list[int]) -> str:
        """Return whole numbers in the smallest type that holds them."""
        low, high = min(numbers, default=0), max(numbers, default=0)
        bits = next(b for b in (8, 16, 32) if -(1 << (b - 1)) <= low and high < 1 << (b - 1))
        return self._array(f"int{bits}_t", what, numbers)

    def _values(self, what: str, values: Array) -> str:
        if not self.int16:
            return self._array("double", what, values.ravel().tolist())
        return self._array("int16_t", what, np.rint(np.ldexp(values, self.unit)).astype(int).ravel().tolist())

    def _cuts(self, what: str, cuts: Array) -> str:
        return self._array(self.real, what, (floor32(cuts) if self.int16 else cuts).tolist())

    def _tables(self) -> list[str]:
        d, t, K = self.d, self.d.trees, self.d.n_scores
        none = np.empty((0, K))
        sizes = [len(f.cuts) for f in d.steps]
        out = (
            []
            if not d.steps
            else [
                self._places("column", [f.feature for f in d.steps]),
                self._places("start", np.cumsum([0, *sizes]).tolist()),
                self._places("limit", [f.n_categories for f in d.steps]),
                self._cuts("cut", np.concatenate([np.empty(0), *(f.cuts for f in d.steps)])),
                self._values("value", np.concatenate([none, *(f.values for f in d.steps)])),
                self._values("missing", np.concatenate([none, *(f.missing[None] for f in d.steps)])),
            ]
        )
        if t.n_trees:
            leaf = np.cumsum(t.feature < 0) - 1
            sets = np.diff(t.starts)
            child = np.where(t.feature[:, None] >= 0, t.children, leaf[:, None])
            out += [
                self._places("root", t.roots.tolist()),
                self._places("feature", t.feature.tolist()),
                self._cuts("threshold", t.threshold),
                self._array("uint8_t", "missing_low", t.missing_low.astype(int).tolist()),
                self._places("child", child.ravel().tolist()),
                self._values("leaf", t.values[t.feature < 0]),
            ]
            if len(t.lows):
                out += [
                    self._places("set", np.where(sets > 0, t.starts[:-1], -1).tolist()),
                    self._places("set_size", sets.tolist()),
                    self._array("uint8_t", "low", t.lows.astype(int).tolist()),
                ]
        return out

    def _scores(self) -> list[str]:
        d, n, K = self.d, self.name, self.d.n_scores
        constant = ", ".join(_number(c) for c in np.atleast_1d(d.constant).tolist())
        unit = f" * {n.upper()}_UNIT" if self.int16 else ""
        steps = f"""
    for (i = 0; i < {len(d.steps)}; i++) {{
        {self.real} v = x[{n}_column[i]];
        const {"int16_t" if self.int16 else "double"} *add = {n}_missing + i * {K};
        int32_t limit = {n}_limit[i];
        if (v == v && (limit == 0 || (v >= 0 && v < limit))) {{
            int32_t low = {n}_start[i], high = {n}_start[i + 1];
            while (low < high) {{
                int32_t middle = (low + high) / 2;
                if (v <= {n}_cut[middle]) high = middle; else low = middle + 1;
            }}
            add = {n}_value + (low + i) * {K};
        }}
        for (k = 0; k < {K}; k++) sum[k] += add[k];
    }}"""
        sets = f"            else is_low = v <= {n}_threshold[node];"
        if len(d.trees.lows):
            sets = f"""            else if ({n}_set[node] < 0) is_low = v <= {n}_threshold[node];
            else if (v >= 0 && v < {n}_set_size[node]) is_low = {n}_low[{n}_set[node] + (int32_t)v];
            else is_low = {n}_missing_low[node];"""
        trees = f"""
    for (i = 0; i < {d.trees.n_trees}; i++) {{
        int32_t node = {n}_root[i];
        while ({n}_feature[node] >= 0) {{
            {self.real} v = x[{n}_feature[node]];
            int is_low;
            if (v != v) is_low = {n}_missing_low[node];
{sets}
            node = {n}_child[2 * node + !is_low];
        }}
        for (k = 0; k < {K}; k++) sum[k] += {n}_leaf[{n}_child[2 * node] * {K} + k];
    }}"""
        return [
            "",
            f"void {n}_scores(const {self.real} *x, double *scores)",
            "{",
            f"    static const double constant[{K}] = {{{constant}}};",
            f"    {self.sum} sum[{K}] = {{0}};",
            "    int32_t i, k;" + (steps if d.steps else "") + (trees if d.trees.n_trees else ""),
            *([] if d.steps or d.trees.n_trees else ["    (void)x; (void)i;"]),
            f"    for (k = 0; k < {K}; k++) scores[k] = constant[k] + sum[k]{unit};",
            "}",
        ]

    def _predict(self) -> list[str]:
        d, n, K = self.d, self.name, self.d.n_scores
        head = [f"    double s[{K}];", f"    {n}_scores(x, s);"]
        if d.classes is None:
            return ["", f"double {n}_predict(const {self.real} *x)", "{", *head, "    return s[0];", "}"]
        if d.decision is not None:
            return in_c(d.decision, n, self.real, head, self._array)
        tie = _number(d.tie)
        if K == 1:
            body = [f"    return s[0] > {tie};"]
        else:
            body = [
                "    int32_t k, best = 0;",
                "    double top = s[0];",
                f"    for (k = 1; k < {K}; k++) if (s[k] > top) top = s[k];",
                f"    while (s[best] < top - {tie}) best++;",
                "    return best;",
            ]
        out = ["", f"int {n}_predict(const {self.real} *x)", "{", *head, *body, "}"]
        return out + self._probabilities(head)

    def _probabilities(self, head: list[str]) -> list[str]:
        n, K, link = self.name, self.d.n_scores, self.d.link
        if link is None:
            return []
        c = _number(link.scale)
        if link.name in LINKS and not link.normalised:
            body = [f"    p[1] = {LINKS[link.name].format(c=c, s='s[0]')};", "    p[0] = 1.0 - p[1];"]
        elif link.normalised:
            body = [
                "    double whole = 0.0;",
                "    int32_t k;",
                f"    for (k = 0; k < {K}; k++) whole += p[k] = {LINKS[link.name].format(c=c, s='s[k]')};",
                f"    for (k = 0; k < {K}; k++) p[k] /= whole;",
            ]
        else:
            of_log = f"-(({c} * s[k] > 0 ? 0.0 : -{c} * s[k]) + log1p(exp(-fabs({c} * s[k]))))"
            body = [
                "    double whole = 0.0, top;",
                "    int32_t k;",
                f"    for (k = 0; k < {K}; k++) s[k] = {of_log if 'log' in link.name else f'{c} * s[k]'};",
                f"    for (top = s[0], k = 1; k < {K}; k++) if (s[k] > top) top = s[k];",
                f"    for (k = 0; k < {K}; k++) whole += p[k] = exp(s[k] - top);",
                f"    for (k = 0; k < {K}; k++) p[k] /= whole;",
            ]
        clip = "static double boost_clip(double p) { return p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p; }"
        first = [clip] if link.name == "linear" else []
        return ["", *first, f"void {n}_probabilities(const {self.real} *x, double *p)", "{", *head, *body, "}"]


def _number(v: Any) -> str:
    if isinstance(v, float):
        return f"{'-' if v < 0 else ''}HUGE_VAL" if np.isinf(v) else repr(float(v))
    return str(v)


def _wrapped(body: str, width: int = 110) -> str:
    """Break a long list of numbers into lines."""
    lines, line = [], ""
    for item in body.split(","):
        if len(line) + len(item) > width:
            lines.append(line)
            line = ""
        line += item + ","
    return "\n    ".join([*lines, line.rstrip(",")])


def _plain(text: Any) -> str:
    """Return text that cannot end a comment."""
    return str(text).replace("*/", "* /").replace("\n", " ").replace("\\", "/")
