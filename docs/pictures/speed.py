"""Measured speed: beside the peers, on more threads, and beside the roofline (the numbers are in docs/speed.json)."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib.pyplot as plt
from palette import GREY, look, tidy

NUMBERS = Path(__file__).parents[1] / "speed.json"


def draw(quick: bool = False) -> plt.Figure:
    measured = json.loads(NUMBERS.read_text())
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    _beside(left, measured["works"])
    _threads(middle, measured["threads"])
    _roofline(right, measured["roofline"])
    tidy(left, middle, right)
    return figure


def _beside(axes: Any, works: dict[str, Any]) -> None:
    rows = sorted(works)
    for number, who in enumerate(("LightGBM", "XGBoost", "HistGradientBoosting")):
        at = [i for i, row in enumerate(rows) if who in works[row]]
        times = [median(works[rows[i]][who]["values"]) / median(works[rows[i]]["boostlab"]["values"]) for i in at]
        axes.barh([i + 0.25 * (number - 1) for i in at], times, 0.25, color=look(number + 1)["color"], label=who)
    axes.axvline(1, color=GREY, lw=1)
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set(xlabel="time, in multiples of boostlab's", xlim=(0, 22))
    axes.set_title("beside the peers, 2 threads")
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _threads(axes: Any, seconds: dict[str, list[float]]) -> None:
    threads = [int(k) for k in seconds]
    times = [median(v) for v in seconds.values()]
    axes.plot(threads, [times[0] / t for t in times], **look(0))
    axes.plot([1, threads[-1]], [1, threads[-1]], ls="--", color=GREY, label="in proportion")
    axes.set(xscale="log", yscale="log", xlabel="threads", ylabel="times faster than one thread")
    axes.set_xticks(threads, [str(k) for k in threads])
    axes.set_yticks(threads, [str(k) for k in threads])
    axes.minorticks_off()
    axes.set_title("1,000,000 × 100, 100 rounds")
    axes.legend(frameon=False)


def _roofline(axes: Any, points: list[dict[str, float]]) -> None:
    ends = [0.6e3 * min(p["roof"] for p in points), 2e3 * max(p["round"] for p in points)]
    axes.plot(ends, ends, ls="--", color=GREY, label="additions alone, 0.4 ns each")
    for number, threads in enumerate((1, 2)):
        mine = [p for p in points if p["threads"] == threads]
        shown = {k: v for k, v in look(number).items() if k == "color"}
        where = [1e3 * p["roof"] for p in mine], [1e3 * p["round"] for p in mine]
        axes.plot(*where, "os"[number], label=f"{threads} thread{'s'[: threads - 1]}", **shown)
    for p in points:
        if p["threads"] == 1:
            text = f"{p['rows']:,.0f} × {p['columns']:.0f}"
            away = (-4, 7) if p["columns"] > 500 else (5, -9)  # two shapes have nearly the same roof
            axes.annotate(text, (1e3 * p["roof"], 1e3 * p["round"]), away, textcoords="offset points", fontsize=7)
    axes.set(xscale="log", yscale="log", xlabel="roof, ms a round", ylabel="measured, ms a round")
    axes.set_title("the roofline")
    axes.legend(frameon=False, fontsize=8)
