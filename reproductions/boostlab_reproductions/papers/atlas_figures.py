"""The atlas's pictures: ranks, seconds against error, sizes, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from boostlab.plots import critical_difference
from boostlab.plots.style import LOOKS, look, tidy
from boostlab.studies.hypotheses import Judged
from boostlab_reproductions.papers.atlas_contenders import contender_of, is_tuned

Row = Mapping[str, Any]

_OURS, _PEERS = LOOKS[2][0], LOOKS[1][0]
SIZED = (
    "AdaBoost, tuned",
    "LogitBoost, tuned",
    "AutoBoost",
    "LightGBM, tuned",
    "XGBoost, tuned",
    "random forest, tuned",
)


def draw_ranks(figure: Any, ranks: tuple[Sequence[str], Any]) -> None:
    """Draw the critical-difference diagram of the best forms."""
    names, errors = ranks
    figure.set_size_inches(11, 1.6 + 0.2 * len(names))
    critical_difference(errors, names, ax=figure.add_subplot())


def draw_pareto(figure: Any, rows: Sequence[Row], own: Set[str]) -> None:
    """Draw error against seconds, the front as a line, and name what is on it and every peer."""
    figure.set_size_inches(9, 6)
    axes = figure.add_subplot()
    front = pareto([(row["seconds"], row["error, %"]) for row in rows])
    for k, row in enumerate(rows):
        name = row["method"]
        is_own = contender_of(name) in own
        colour = _OURS if is_own else _PEERS
        filled = colour if is_own else "white"
        marker = "s" if is_tuned(name) else "o"
        axes.plot(row["seconds"], row["error, %"], marker, color=colour, markerfacecolor=filled, markersize=5)
        if k in front or not is_own:
            axes.annotate(
                name, (row["seconds"], row["error, %"]), (5, 3), textcoords="offset points", fontsize=7, color=colour
            )
    line = [rows[k] for k in front]
    axes.plot([r["seconds"] for r in line], [r["error, %"] for r in line], color="0.6", lw=1, zorder=0)
    axes.set_xscale("log")
    low, high = (f([row["error, %"] for row in rows]) for f in (min, max))
    typical = sorted(row["error, %"] for row in rows)[len(rows) // 2]
    axes.set_ylim(low - 0.08 * (typical - low + 0.1), min(high, typical + 2.5 * (typical - low)) + 0.2)
    axes.set_xlabel("seconds of one fit, one thread (median over the sets)")
    axes.set_ylabel("mean error, %")
    tidy(axes)


def pareto(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the points that no other beats in both, the fastest first.

    Examples
    --------
    >>> pareto([(1.0, 10.0), (2.0, 12.0), (3.0, 8.0)])
    [0, 2]
    """
    found: list[int] = []
    for k in sorted(range(len(points)), key=lambda k: points[k]):
        if not found or points[k][1] < points[found[-1]][1]:
            found.append(k)
    return found


def draw_sizes(figure: Any, sized: Mapping[int, Sequence[Row]], own: Set[str]) -> None:
    """Draw errors and seconds by the number of training rows."""
    figure.set_size_inches(10, 4.2)
    left, right = figure.subplots(1, 2)
    for k, name in enumerate(SIZED):
        points = [(size, row) for size, rows in sized.items() for row in rows if row["method"] == name]
        for axes, column in ((left, "error, %"), (right, "seconds")):
            axes.plot([size for size, _ in points], [row[column] for _, row in points], label=name, **look(k))
    for axes, says in ((left, "mean error, %"), (right, "seconds of one fit (median)")):
        axes.set(xscale="log", xlabel="training rows", ylabel=says)
        axes.set_xticks(list(sized), [f"{size:,}" for size in sized])
        axes.minorticks_off()
    right.set_yscale("log")
    left.legend(fontsize=7)
    tidy(left, right)


def draw_differences(figure: Any, judged: Sequence[Judged], rope: float) -> None:
    """Draw the typical difference of every hypothesis with its interval."""
    figure.set_size_inches(8, 1 + 0.35 * len(judged))
    axes = figure.add_subplot()
    for k, one in enumerate(reversed(judged)):
        axes.plot([one.shift.low, one.shift.high], [k, k], "k-" if one.hypothesis.primary else "k:")
        axes.plot([one.shift.estimate], [k], "ko", markersize=4)
    axes.axvline(0.0, color="0.8", zorder=0)
    axes.axvspan(-rope, rope, color="0.93", zorder=-1)
    labels = [f"{o.hypothesis.name}: {o.hypothesis.method} – {o.hypothesis.opponent}" for o in judged]
    axes.set_yticks(range(len(judged)), labels[::-1], fontsize=8)
    axes.set_xlabel("difference of errors, percent points")
