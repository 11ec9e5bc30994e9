"""A model as one SQL expression a score, for SQLite, DuckDB and PostgreSQL."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.explain.forest import Steps
from boostlab.model_io.exports.calibrated import in_sql, logistic
from boostlab.model_io.exports.description import Description, describe

Array = npt.NDArray[Any]


def to_sql(model: Any, table: str = "rows") -> str:
    """Return a query that scores the rows of a table.

    Parameters
    ----------
    model : Booster
        Fitted to a table with column names (else they are x0, x1, ...).
    table : str, default="rows"
        The table (or any expression that can stand after FROM).

    Returns
    -------
    str
        SELECT with all columns of the table, `score` (or `score_0`, ...) and, for a classifier, `label`; two classes
        with a logistic or linear link have `probability` of the second.  A calibrated model has `probability`, or
        `probability_0`, ...  A missing value is NULL.
    """
    d = describe(model)
    scores = expressions(d)
    names = ["score"] if len(scores) == 1 else [f"score_{k}" for k in range(len(scores))]
    inner = ",\n".join(f"{e} AS {quoted(n)}" for e, n in zip(scores, names, strict=True))
    query = f"SELECT *,\n{inner}\nFROM {table}"
    if d.classes is None:
        return query + "\n"
    if d.decision is not None:
        return in_sql(d.decision, query, names, [literal(c) for c in d.classes], number)
    more = [f"{_label(d, names)} AS label"]
    if d.link is not None and len(names) == 1 and d.link.name in ("logistic", "linear"):
        c = number(d.link.scale)
        p = logistic(f"{c} * score")
        if d.link.name == "linear":
            ends = f"WHEN {c} * score <= -1e0 THEN 0e0 WHEN {c} * score >= 1e0 THEN 1e0"
            p = f"CASE {ends} ELSE (1e0 + {c} * score) / 2e0 END"
        more.append(f"{p} AS probability")
    return f"SELECT *,\n{', '.join(more)}\nFROM (\n{query}\n) AS scored\n"


def expressions(d: Description) -> list[str]:
    """Return one expression a score.

    Parameters
    ----------
    d : Description
        The model.
    """
    out = []
    for k in range(d.n_scores):
        terms = [number(d.constant[k])]
        terms += [_step(d, f, k) for f in d.steps]
        terms += [_node(d, int(root), k) for root in d.trees.roots[:-1]]
        out.append(balanced([t for t in terms if t]))
    return out


def balanced(terms: list[str]) -> str:
    """Return a sum that is nested as little as possible: databases limit how deep an expression may be."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({balanced(terms[:half])} + {balanced(terms[half:])})"


def quoted(name: str) -> str:
    """Return a column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def number(x: float) -> str:
    """Return a double with all its digits, in a form that no database takes for a decimal number."""
    return f"{float(x):.17e}" if x >= 0 else f"({float(x):.17e})"


def literal(v: Any) -> str:
    """Return a category or label as SQL writes it."""
    if isinstance(v, bool | np.bool_):
        return "TRUE" if v else "FALSE"
    if isinstance(v, int | np.integer):
        return str(int(v))
    return number(v) if isinstance(v, float) else "'" + str(v).replace("'", "''") + "'"


def _step(d: Description, f: Steps, k: int) -> str:
    column, values = quoted(d.names[f.feature]), f.values[:, k]
    known = d.categories[f.feature]
    absent = number(f.missing[k])
    if not values.any() and not f.missing[k]:
        return ""
    if known is not None and f.n_categories:
        cases = "".join(f" WHEN {column} = {literal(c)} THEN {number(v)}" for c, v in zip(known, values, strict=False))
        return f"CASE{cases} ELSE {absent} END"
    cuts = [(c, v) for c, v in zip(f.cuts, values[:-1], strict=True) if c > -np.inf]
    cases, last = "", values[-1]
    for cut, value in cuts:
        if cut == np.inf:  # it parts missing values from all others
            last = value
            break
        cases += f" WHEN {column} <= {number(cut)} THEN {number(value)}"
    return f"CASE WHEN {column} IS NULL THEN {absent}{cases} ELSE {number(last)} END"


def _node(d: Description, node: int, k: int) -> str:
    t, j = d.trees, int(d.trees.feature[node])
    if j < 0:
        return number(t.values[node, k])
    low, high = (_node(d, int(c), k) for c in t.children[node])
    if low == high:
        return low
    column, members = quoted(d.names[j]), t.lows[t.starts[node] : t.starts[node + 1]]
    known = d.categories[j]
    if not len(members) or known is None:
        cut = t.threshold[node]
        is_low = "1 = 1" if cut == np.inf else "1 = 0" if cut == -np.inf else f"{column} <= {number(cut)}"
        if t.missing_low[node]:
            return f"CASE WHEN {column} IS NULL OR {is_low} THEN {low} ELSE {high} END"
        return f"CASE WHEN {column} IS NOT NULL AND {is_low} THEN {low} ELSE {high} END"
    # A category that is not known is missing: list the side that missing values do not take.
    listed = [literal(c) for c, is_low in zip(known, members, strict=False) if is_low != t.missing_low[node]]
    there, other = (high, low) if t.missing_low[node] else (low, high)
    if not listed:
        return other
    return f"CASE WHEN {column} IN ({', '.join(listed)}) THEN {there} ELSE {other} END"


def _label(d: Description, names: list[str]) -> str:
    assert d.classes is not None
    labels = [literal(c) for c in d.classes]
    if len(names) == 1:
        return f"CASE WHEN score > {number(d.tie)} THEN {labels[1]} ELSE {labels[0]} END"
    cases = ""
    for k, label in enumerate(labels[:-1]):
        best = [f"{quoted(n)} <= {quoted(names[k])} + {number(d.tie)}" for i, n in enumerate(names) if i != k]
        cases += f" WHEN {' AND '.join(best)} THEN {label}"
    return f"CASE{cases} ELSE {labels[-1]} END"
