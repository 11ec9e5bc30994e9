"""Charts and tables of every booster beside the fastest peer, and of accuracy, from benchmarks/targets.json."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import matplotlib.pyplot as plt
from measured import PEERS, ROOT, chart, day, read, table

from boostlab.plots import look, tidy

sys.path.insert(0, str(ROOT / "benchmarks"))
from targets import GROUPS

sys.path.remove(str(ROOT / "benchmarks"))

FILE = "benchmarks/targets.json"
LOOKS = {"2": look(1), "16": look(2)}  # by the number of threads
TICKS = [0.25, 0.5, 1, 2, 4, 8, 16]


@dataclass(frozen=True)
class Ratio:
    """How many times faster than the fastest peer a booster is: the peer's median time over ours."""

    group: str
    booster: str
    threads: str
    seconds: float
    peer: str
    peer_seconds: float
    low: float  # the peer's shortest time over our longest
    high: float
    wanted: float | None
    rounds: int

    @property
    def value(self) -> float:
        """Return the ratio of the medians."""
        return self.peer_seconds / self.seconds


def ratios() -> list[Ratio]:
    """Return all ratios of the file, in the order of the groups."""
    measured = read(FILE)
    return [
        ratio
        for group in GROUPS
        for threads in LOOKS
        if group in measured.get(threads, {})
        for ratio in ratios_of(group, threads, measured[threads][group])
    ]


def ratios_of(group: str, threads: str, cells: dict[str, Any]) -> Iterator[Ratio]:
    """Yield the ratios of the boosters of one group, at one number of threads."""
    times = {who: told["seconds"] for who, told in cells.items() if told.get("seconds")}
    peers = [who for who in times if not who.startswith("boostlab ")]
    peer = min(peers, key=lambda who: median(times[who]))
    targets = GROUPS[group].wanted
    for who, spent in times.items():
        if who not in peers:
            booster = who.removeprefix("boostlab ")
            wanted = targets.get(booster, targets.get("*"))
            yield Ratio(
                group,
                booster,
                threads,
                median(spent),
                peer,
                median(times[peer]),
                min(times[peer]) / max(spent),
                max(times[peer]) / min(spent),
                wanted[0 if threads == "2" else 1] if wanted else None,
                cells[who]["rounds"],
            )


def parts() -> dict[str, list[str]]:
    """Return the groups of every chart."""
    made: dict[str, list[str]] = {"stumps": [], "trees": [], "other": []}
    for name, group in GROUPS.items():
        kind = "trees" if group.work == "fit" and group.leaves > 2 else "stumps" if group.all_boosters else "other"
        made[kind].append(name)
    return made


def draw_ratios(part: str) -> Any:
    """Draw the ratios of some groups, a line a booster, a point a number of threads."""
    rows = [ratio for ratio in ratios() if ratio.group in parts()[part]]
    order: dict[tuple[str, str], float] = {}
    for row in sorted(rows, key=lambda row: (list(GROUPS).index(row.group), -row.value)):
        order.setdefault((row.group, row.booster), 0.0)
    labels, at, group = [], 0.0, ""
    figure, axes = plt.subplots(figsize=(5.2, 0), layout="constrained")
    for key in order:
        if key[0] != group:
            group = key[0]
            axes.annotate(
                GROUPS[group].says, (0, at), xycoords=("axes fraction", "data"), va="center", fontsize=9, weight="bold"
            )
            at += 1
        order[key], at = at, at + 1
        labels.append(key[1])
    figure.set_size_inches(5.2, 1.1 + 0.24 * at)
    for threads, shown in LOOKS.items():
        mine = [row for row in rows if row.threads == threads]
        places = [order[row.group, row.booster] + (-0.17 if threads == "2" else 0.17) for row in mine]
        spread = [[row.value - row.low for row in mine], [row.high - row.value for row in mine]]
        style = {"color": shown["color"], "marker": shown["marker"], "markersize": 4, "linestyle": ""}
        axes.errorbar([r.value for r in mine], places, xerr=spread, elinewidth=1, label=f"{threads} threads", **style)
        marks = [(row.wanted, place) for row, place in zip(mine, places, strict=True) if row.wanted]
        colour = {"color": shown["color"], "alpha": 0.7}
        axes.plot(*zip(*marks, strict=True), "|", markersize=7, markeredgewidth=2, label=f"target, {threads}", **colour)
    lines = list(order.values())
    axes.vlines([1] * len(lines), [at - 0.5 for at in lines], [at + 0.5 for at in lines], color="grey", lw=1)
    ends = [0.9 * min(row.low for row in rows), 1.1 * max(max(row.high, row.wanted or 0) for row in rows)]
    ticks = [tick for tick in TICKS if ends[0] <= tick <= ends[1]]
    axes.set(xscale="log", xlim=ends, ylim=(at - 0.4, -0.6), xlabel="times faster than the fastest peer")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(lines, labels)
    named = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    order_shown = {name: named[name] for threads in LOOKS for name in (f"{threads} threads", f"target, {threads}")}
    style = {"frameon": False, "fontsize": 9, "columnspacing": 1, "handletextpad": 0.2}
    figure.legend(order_shown.values(), order_shown, loc="outside upper center", ncols=4, **style)
    tidy(axes)
    return figure


def draw_losses() -> Any:
    """Draw the log losses on held-out rows, a line a set and size of trees."""
    losses = read(FILE)["accuracy"]
    who = list(dict.fromkeys(name for cells in losses.values() for name in cells))
    figure, axes = plt.subplots(figsize=(5.2, 0.9 + 0.7 * len(losses)), layout="constrained")
    for number, name in enumerate(who):
        at = [i + 0.5 * (number / (len(who) - 1) - 0.5) for i, cells in enumerate(losses.values()) if name in cells]
        values = [cells[name]["log_loss"] for cells in losses.values() if name in cells]
        style = look(number + 1)
        axes.plot(values, at, linestyle="", marker=style["marker"], color=style["color"], label=name)
    axes.set_yticks(range(len(losses)), list(losses))
    axes.set(xlabel="log loss on held-out rows (lower is better)", ylim=(len(losses) - 0.5, -0.5), xscale="log")
    axes.xaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    tidy(axes)
    return figure


DRAWN = {f"ratios_{part}": lambda part=part: draw_ratios(part) for part in parts()} | {"losses": draw_losses}


def booster_speed_facts() -> str:
    """Return machine, versions and day of the measurements."""
    told = read(FILE).get("machine", {})
    names = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "sklearn": "scikit-learn"}
    versions = ", ".join(f"{name} {told[key]}" for key, name in names.items() if key in told)
    behind = sorted({row.booster for row in ratios() if row.group == "stumps" and row.value < 1})
    return (
        f"Machine: {told.get('cores', 'not recorded')}; {versions}. "
        f"Measured {told.get('date', 'on a day not recorded')}; `{FILE}` committed {day(FILE)}. "
        f"Slower than the fastest peer with stumps, at 2 or 16 threads: {', '.join(behind) or 'none'}."
    )


def booster_speed_charts() -> str:
    """Return the charts of every booster's speed."""
    words = "Points with bars: how many times faster than the fastest peer, with the target; numbers are in the table"
    titles = {"stumps": "Every booster, with stumps", "trees": "Trees", "other": "Small and long fits, prediction"}
    return "".join(f"**{titles[part]}**\n\n{chart(f'ratios_{part}', words)}" for part in parts())


def booster_speed_table() -> str:
    """Return all ratios, folded."""
    rows = []
    for row in ratios():
        early = "" if row.rounds >= GROUPS[row.group].rounds else f" ({row.rounds} rounds)"
        target = "–" if row.wanted is None else f"{row.wanted:g}{' ✓' if row.value >= row.wanted else ''}"
        times = [f"{row.seconds:.3g}", f"{row.peer_seconds:.3g} ({row.peer})"]
        spread = f"{row.value:.2f} ({row.low:.2f}–{row.high:.2f})"
        rows.append([f"{GROUPS[row.group].says}: {row.booster}{early}", row.threads, *times, spread, target])
    head = ["work", "threads", "boostlab, s", "fastest peer, s", "ratio (spread)", "target (✓ met)"]
    return f":::{{dropdown}} All numbers\n{table(head, rows)}\n:::"


def losses_table() -> str:
    """Return error and log loss of boosters and peers on real sets."""
    told, gap = read(FILE)["accuracy"], "\N{NO-BREAK SPACE}"  # so that a cell stays on one line
    who = sorted(dict.fromkeys(name for cells in told.values() for name in cells), key=lambda name: name in PEERS)
    rows = [
        [name, *(f"{c[w]['error']:.1f}{gap}·{gap}{c[w]['log_loss']:.3f}" if w in c else "–" for w in who)]
        for name, c in told.items()
    ]
    return table(["error in % · log loss", *(name.removeprefix("boostlab ") for name in who)], rows)


def losses_chart() -> str:
    """Return the chart of log losses."""
    return chart(
        "losses", "Points: log loss of boosters and peers on held-out rows of real sets; the table has numbers"
    )
