"""A model as JSON that any language reads: step functions, trees, names and the link."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from boostlab import __version__
from boostlab.model_io.exports.description import describe


def to_json(model: Any) -> str:
    """Return a fitted booster as JSON.

    Parameters
    ----------
    model : Booster
        Fitted.

    Returns
    -------
    str
        Keys: `columns` (name, categories or null), `classes` (null for numbers), `constant` (one number a score),
        `steps` (column, cuts, values, missing), `trees` (nodes as arrays), `link`, `tie`, and of a calibrated model
        `calibration` and `cost`; docs/export.md says how to evaluate them.  Infinite cuts are the strings "inf"
        and "-inf".
    """
    d = describe(model)
    t = d.trees
    trees = []
    for first, last in zip(t.roots[:-1].tolist(), t.roots[1:].tolist(), strict=True):
        here = slice(first, last)
        sets = [np.flatnonzero(t.lows[t.starts[n] : t.starts[n + 1]]).tolist() for n in range(first, last)]
        is_set = np.diff(t.starts)[here] > 0
        trees.append(
            {
                "column": t.feature[here].tolist(),
                "threshold": [None if s else _finite(v) for s, v in zip(is_set, t.threshold[here], strict=True)],
                "categories": [s if flag else None for s, flag in zip(sets, is_set, strict=True)],
                "missing_low": t.missing_low[here].tolist(),
                "low": np.where(t.feature[here] >= 0, t.children[here, 0] - first, -1).tolist(),
                "high": np.where(t.feature[here] >= 0, t.children[here, 1] - first, -1).tolist(),
                "values": t.values[here].tolist(),
            }
        )
    link = d.link
    whole: dict[str, Any] = {
        "format": "boostlab additive model",
        "version": 1,
        "boostlab": __version__,
        "model": d.model,
        "columns": [{"name": n, "categories": c} for n, c in zip(d.names, d.categories, strict=True)],
        "classes": d.classes,
        "constant": d.constant.tolist(),
        "steps": [
            {
                "column": f.feature,
                "cuts": [_finite(c) for c in f.cuts],
                "values": f.values.tolist(),
                "missing": f.missing.tolist(),
            }
            for f in d.steps
        ],
        "trees": trees,
        "link": None if link is None else {"name": link.name, "scale": link.scale, "normalised": link.normalised},
        "tie": d.tie,
    }
    if d.decision is not None:
        maps = [{"kind": m.kind, "x": m.x.tolist(), "p": m.p.tolist()} for m in d.decision.maps]
        whole |= {"calibration": maps, "cost": None if d.decision.cost is None else d.decision.cost.tolist()}
    return json.dumps(whole, allow_nan=False)


def _finite(x: float) -> Any:
    return float(x) if np.isfinite(x) else "inf" if x > 0 else "-inf"
