"""The figures of the noise study."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.plots import critical_difference
from boostlab.studies.study import Report
from boostlab_reproductions.papers.noise_settings import CONTROL, PLAIN, NoiseSetting, friedman_of, pooled

Array = npt.NDArray[Any]


def ranks_of(s: NoiseSetting) -> Any:
    """Return pairs of a method and its average rank in a setting."""
    test = friedman_of(s)
    return zip(s.whole()[0], np.round(test.ranks, 1).tolist(), strict=True) if test else ()


def add_figures(out: Report, sets: list[NoiseSetting], special: list[NoiseSetting]) -> None:
    """Add errors against levels of noise, critical-difference diagrams, and ranks by setting."""
    for learner in ("stumps", "trees"):
        uniform = [s for s in sets if s.where == learner and s.kind == "uniform"]
        if len(uniform) > 1:
            out.figures[f"Error against noise, {learner}"] = partial(_draw_lines, settings=uniform)
    if len(special) > 1:
        out.figures["Long and Servedio's construction"] = lambda figure: _draw_lines(figure, special)
    for learner in ("stumps", "trees"):
        noisy = pooled([s for s in sets if s.where == learner and s.kind == "uniform" and s.percent])
        if len(noisy[0]) > 1 and len(noisy[1]) > 1:
            out.figures[f"Critical difference, {learner}, uniform noise"] = partial(_draw_critical, errors=noisy)
    ranked = [s for s in sets if friedman_of(s)]
    if ranked:
        out.figures["Average ranks by setting"] = lambda figure: _draw_ranks(figure, ranked)


def _draw_lines(figure: Any, settings: list[NoiseSetting], most: int = 8) -> None:
    """Draw mean error against level: AdaBoost, the control and those that are best with noise."""
    methods, _ = pooled(settings)
    curves = {m: [100 * float(np.mean(s.of(m))) for s in settings] for m in methods}
    first = [m for m in (PLAIN, CONTROL) if m in curves]
    chosen = first + sorted((m for m in curves if m not in first), key=lambda m: sum(curves[m]))[: most - len(first)]
    figure.set_size_inches(8, 5)
    axes = figure.add_subplot()
    for k, m in enumerate(chosen):
        dashes = ("-", "--", "-.")[k % 3]  # of lines that cover each other both are seen
        style = {PLAIN: ("k:", 1.5), CONTROL: ("k-", 2.0)}.get(m, (dashes, 1.2))
        axes.plot(
            [s.percent for s in settings], curves[m], style[0], marker="o", markersize=3, linewidth=style[1], label=m
        )
    axes.set_xticks([s.percent for s in settings])
    axes.set_xlabel("labels flipped, %")
    axes.set_ylabel("test error, %")
    axes.legend(fontsize=8)


def _draw_critical(figure: Any, errors: tuple[list[str], Array]) -> None:
    figure.set_size_inches(8, 2 + 0.25 * len(errors[0]))
    critical_difference(errors[1], errors[0], ax=figure.add_subplot())


def _draw_ranks(figure: Any, settings: list[NoiseSetting]) -> None:
    methods = list(dict.fromkeys(m for s in settings for m in s.methods))
    grid = np.full((len(methods), len(settings)), np.nan)
    for k, s in enumerate(settings):
        for m, rank in ranks_of(s):
            grid[methods.index(m), k] = rank
    figure.set_size_inches(2.5 + 0.6 * len(settings), 1.5 + 0.28 * len(methods))
    axes = figure.add_subplot()
    axes.imshow(grid, aspect="auto", cmap="viridis_r")
    dark = np.nanmean([np.nanmin(grid), np.nanmax(grid)])  # light ink on the dark half only
    for (i, k), value in np.ndenumerate(grid):
        if not np.isnan(value):
            ink = "w" if value > dark else "k"
            axes.text(k, i, f"{value:.1f}", ha="center", va="center", fontsize=7, color=ink)
    axes.set_yticks(range(len(methods)), methods, fontsize=8)
    axes.set_xticks(range(len(settings)), [s.name for s in settings], fontsize=7, rotation=60, ha="right")
