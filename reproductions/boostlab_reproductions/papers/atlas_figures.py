"""The atlas's pictures: ranks, seconds against error, sizes, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from boostlab.plots import critical_difference
from boostlab.plots.style import LOOKS, look, tidy
from boostlab.studies.hypotheses import Judged
from boostlab_reproductions.papers.atlas_contenders import AUTO, contender_of, is_tuned

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
    """Draw error against seconds, the front as a line, and name what is on it, every peer, and AutoBoost."""
    figure.set_size_inches(9, 6)
    axes = figure.add_subplot()
    front = pareto([(row["seconds"], row["error, %"]) for row in rows])
    named = []
    for k, row in enumerate(rows):
        name = row["method"]
        is_own = contender_of(name) in own
        colour = _OURS if is_own else _PEERS
        filled = colour if is_own else "white"
        marker = "s" if is_tuned(name) else "o"
        axes.plot(row["seconds"], row["error, %"], marker, color=colour, markerfacecolor=filled, markersize=5)
        if k in front or not is_own or name == AUTO.name:
            named.append((name, row["seconds"], row["error, %"], colour))
    line = [rows[k] for k in front]
    axes.plot([r["seconds"] for r in line], [r["error, %"] for r in line], color="0.6", lw=1, zorder=0)
    axes.set_xscale("log")
    low, high = (f([row["error, %"] for row in rows]) for f in (min, max))
    typical = sorted(row["error, %"] for row in rows)[len(rows) // 2]
    axes.set_ylim(low - 0.08 * (typical - low + 0.1), min(high, typical + 2.5 * (typical - low)) + 0.2)
    axes.set_xlabel("seconds of one fit, one thread (median over the sets)")
    axes.set_ylabel("mean error, %")
    for marker, colour, filled, says in _KEY:
        axes.plot([], [], marker, color=colour, markerfacecolor=filled, markersize=5, label=says)
    axes.legend(fontsize=7, loc="upper right")
    tidy(axes)
    _label(figure, axes, named, [(row["seconds"], row["error, %"]) for row in rows])


_KEY = (
    ("o", _OURS, _OURS, "ours, untuned"),
    ("s", _OURS, _OURS, "ours, tuned"),
    ("o", _PEERS, "white", "others, untuned"),
    ("s", _PEERS, "white", "others, tuned"),
)
_PLACES = [
    (side * (4 + far), up) for far in (1, 8, 20, 40) for up in (-2, 5, -10, 13, -18, 22, -27) for side in (1, -1)
]
"""Of a label, in points beside its point: the nearest first."""


def _label(
    figure: Any,
    axes: Any,
    named: Sequence[tuple[str, float, float, str]],
    drawn: Sequence[tuple[float, float]],
) -> None:
    """Write names beside points, each where it covers no point and no other name if there is such a place."""
    figure.canvas.draw()  # settles where points lie
    high = axes.get_ylim()[1]
    points = figure.dpi / 72
    edges = axes.get_window_extent()
    left, right = edges.x0 / points, edges.x1 / points
    taken: list[tuple[float, float, float, float]] = []
    for x, y in axes.transData.transform(list(drawn)) / points:
        taken.append((x - 3, y - 3, x + 3, y + 3))
    for name, x, y, colour in named:
        if y > high:
            continue
        at_x, at_y = axes.transData.transform((x, y)) / points
        width = 3.7 * len(name)  # letters of 7 points
        boxes = [
            (at_x + dx - (width if dx < 0 else 0.0), at_y + dy, at_x + dx + (0.0 if dx < 0 else width), at_y + dy + 7)
            for dx, dy in _PLACES
        ]
        inside = [k for k, box in enumerate(boxes) if left < box[0] and box[2] < right]
        free = [k for k in inside if not any(_overlap(boxes[k], other) for other in taken)]
        k = (free or inside or [0])[0]
        taken.append(boxes[k])
        side = "right" if _PLACES[k][0] < 0 else "left"
        line = {"arrowstyle": "-", "color": colour, "lw": 0.5, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(
            *(name, (x, y), _PLACES[k]),
            textcoords="offset points",
            fontsize=7,
            color=colour,
            ha=side,
            arrowprops=line if max(map(abs, _PLACES[k])) > 8 else None,
        )


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


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
    figure.set_size_inches(8, 1 + 0.42 * len(judged))
    axes = figure.add_subplot()
    for k, one in enumerate(reversed(judged)):
        axes.plot([one.shift.low, one.shift.high], [k, k], "k-" if one.hypothesis.primary else "k:")
        axes.plot([one.shift.estimate], [k], "ko", markersize=4)
    axes.axvline(0.0, color="0.8", zorder=0)
    axes.axvspan(-rope, rope, color="0.93", zorder=-1)
    asked = [one.hypothesis for one in judged]
    labels = [f"{h.name}: {h.method} – {h.opponent}\n({h.block})" for h in asked]
    axes.set_yticks(range(len(judged)), labels[::-1], fontsize=7)
    axes.set_xlabel("difference of errors, percent points")
