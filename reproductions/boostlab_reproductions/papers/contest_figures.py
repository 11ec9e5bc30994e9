"""The figures of the VadaBoost paper's and the EBBoost slides' pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boostlab_reproductions.papers.contests import PairedErrors, Row


def draw_beside(rows: Sequence[Row]) -> Callable[[Any], None]:
    """Return what draws our errors against the printed ones, on logarithmic scales."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for method in dict.fromkeys(row["method"] for row in rows):
            points = [(r["published"].mean, r["ours"].mean) for r in rows if r["method"] == method]
            shown = [(x, y) for x, y in points if x > 0 and y > 0]
            axes.loglog([x for x, _ in shown], [y for _, y in shown], "o", markersize=4, label=method)
        axes.axline((1.0, 1.0), (10.0, 10.0), color="0.7", linewidth=0.8)
        axes.set(xlabel="published error, percent", ylabel="our error, percent")
        axes.legend(fontsize=8)

    return draw


def draw_gains(errors: PairedErrors, methods: Sequence[str], base: str) -> Callable[[Any], None]:
    """Return what draws every method's errors less the base's on the same repeats, a point a data set."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        there = [m for m in methods if m in errors.of and m != base]
        for k, method in enumerate(there):
            common = errors.columns((method, base)).on_common()
            gaps = common.means(method) - common.means(base)
            axes.plot(gaps, np.full(len(gaps), k), "o", markersize=4, alpha=0.6)
            if len(gaps):
                axes.plot([gaps.mean()] * 2, [k - 0.3, k + 0.3], color="black")
        axes.axvline(0.0, color="0.7", linewidth=0.8)
        axes.set_yticks(range(len(there)), there)
        axes.invert_yaxis()
        axes.set_xlabel(f"error less that of {base}, percent points")

    return draw
