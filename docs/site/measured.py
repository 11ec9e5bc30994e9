"""Tables and charts of what the repository has measured, read from its files when the site is built."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean, median
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.plots import look, tidy

ROOT = Path(__file__).parents[2]
PEERS = ("LightGBM", "XGBoost", "HistGradientBoosting")
LIGHT, DARK = {}, {"axes.edgecolor": "#ccc", "axes.labelcolor": "#eee", "text.color": "#eee", "xtick.color": "#ccc"}
DARK |= {"ytick.color": "#ccc"}


def read(name: str) -> Any:
    """Return a JSON file of the repository."""
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def day(name: str) -> str:
    """Return the day on which a file was last committed, or that it is not known."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%cs", "--", name]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() or "not dated"
    except (OSError, subprocess.CalledProcessError):  # an unpacked sdist has no history
        return "not dated"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mean_ranks(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return every method's mean rank over the columns that all have, 1 the best, ties shared."""
    columns = set.intersection(*(set(line) for line in scores.values()))
    ranks: dict[str, list[float]] = defaultdict(list)
    for column in columns:
        for name, line in scores.items():
            better = sum(other[column] < line[column] for other in scores.values())
            equal = sum(other[column] == line[column] for other in scores.values())
            ranks[name].append(better + (equal + 1) / 2)
    return {name: fmean(line) for name, line in ranks.items()}


# -- choose a booster --------------------------------------------------------------------------------------------------


def noise_errors() -> dict[str, dict[str, float]]:
    """Return mean test errors in percent, by booster and column (data and share of flipped labels)."""
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (ROOT / "docs/noise_table.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            errors[line["booster"]][f"{line['data']} {line['noise']}"].append(100 * float(line["error"]))
    means = {name: {column: fmean(values) for column, values in line.items()} for name, line in errors.items()}
    most = max(len(line) for line in means.values())
    return {name: line for name, line in means.items() if len(line) == most}


def noise_ranks_by_share() -> dict[str, dict[str, float]]:
    """Return the mean ranks of boosters by the share of flipped labels in percent."""
    errors = noise_errors()
    ranks = {}
    for share in sorted({column.split()[1] for line in errors.values() for column in line}, key=int):
        some = {name: {c: e for c, e in line.items() if c.endswith(f" {share}")} for name, line in errors.items()}
        ranks[share] = mean_ranks(some)
    return ranks


def noise_ranks() -> str:
    """Return the mean ranks of the ten best boosters by the share of flipped labels."""
    errors, ranks = noise_errors(), noise_ranks_by_share()
    shares = list(ranks)
    order = sorted(errors, key=lambda name: fmean(ranks[share][name] for share in shares))[:10]
    rows = [[f"`{name}`" if name in REGISTRY else name, *(f"{ranks[s][name]:.1f}" for s in shares)] for name in order]
    return table(["mean rank of " + str(len(errors)), *(f"{share} % flipped" for share in shares)], rows)


def auto_ranks() -> str:
    """Return AutoBoost beside other libraries' defaults."""
    results = read("benchmarks/auto_table.json")
    methods = list(next(iter(results.values())))
    rows = []
    by = {
        measure: {method: {name: cells[method][measure] for name, cells in results.items()} for method in methods}
        for measure in ("log_loss", "error")
    }
    ranks = {measure: mean_ranks(scores) for measure, scores in by.items()}
    for method in methods:
        means = [f"{fmean(by[measure][method].values()):.3f}" for measure in by]
        rows.append([method, f"{ranks['log_loss'][method]:.2f}", means[0], f"{ranks['error'][method]:.2f}", means[1]])
    head = [f"untuned, {len(results)} sets", "log loss, mean rank", "mean", "error, mean rank", "mean"]
    return table(head, rows)


def class_errors() -> dict[str, dict[str, float]]:
    """Return the errors in percent of defaults for three or more classes, by method and set."""
    results = read("benchmarks/defaults_table.json")
    methods = list(next(iter(results.values())))
    return {method: {name: cells[method][0] for name, cells in results.items()} for method in methods}


def class_ranks() -> str:
    """Return the defaults for three or more classes beside scikit-learn's AdaBoost."""
    results, errors = read("benchmarks/defaults_table.json"), class_errors()
    methods, ranks = list(errors), mean_ranks(errors)
    seconds = {method: median(cells[method][1] for cells in results.values()) for method in methods}
    order = sorted(methods, key=ranks.__getitem__)
    rows = [[m, f"{ranks[m]:.2f}", f"{fmean(errors[m].values()):.1f}", f"{seconds[m]:.2f}"] for m in order]
    return table([f"defaults, {len(results)} sets of 3+ classes", "mean rank", "mean error, %", "median seconds"], rows)


def booster_table() -> str:
    """Return every booster, its reference, and when to choose it."""
    entries = sorted((REGISTRY | REGRESSORS).items(), key=lambda item: item[0].casefold())
    rows = [[f"`{name}`", f"[{entry.reference}]({entry.family}.md)", entry.choose] for name, entry in entries]
    return table(["booster", "reference", "choose it when"], rows).replace("---:", "---")


# -- the page of benchmarks --------------------------------------------------------------------------------------------


def speed_facts() -> str:
    """Return the machine and day of the measurements of speed."""
    return f"Machine: {read('docs/speed.json')['machine']}. Committed {day('docs/speed.json')}."


def work_names() -> dict[str, str]:
    """Return what the works of benchmarks/works.py are, by their short names."""
    text = (ROOT / "benchmarks/works.py").read_text(encoding="utf-8")
    return dict(re.findall(r'"(W\d)": \w+\(\s*"([^"]+)"', text))


def speed_table() -> str:
    """Return medians and ratios of all works."""
    works, says, rows = read("docs/speed.json")["works"], work_names(), []
    for name in sorted(works):
        cells = {who: median(told["values"]) for who, told in works[name].items()}
        unit = works[name]["boostlab"]["unit"]
        fastest = min(value for who, value in cells.items() if who != "boostlab")
        shown = [f"{cells[who]:.3g}" if who in cells else "–" for who in ("boostlab", *PEERS)]
        rows.append(
            [f"{name}: {says.get(name, '')} ({unit.replace('us', 'µs')})", *shown, f"{fastest / cells['boostlab']:.1f}"]
        )
    return table(["work", "boostlab", *PEERS, "fastest peer / boostlab"], rows)


def accuracy_facts() -> str:
    """Return the days of the measurements of accuracy."""
    files = ("benchmarks/auto_table.json", "benchmarks/defaults_table.json", "docs/noise_table.csv")
    return ", ".join(f"`{name}` {day(name)}" for name in files) + "."


def memory_facts() -> str:
    """Return the machine and day of the measurements of memory."""
    told = read("benchmarks/memory.json")
    return f"Machine: {told['machine']}. Measured {told['date']}."


def memory_table() -> str:
    """Return peaks of memory above the table."""
    told = read("benchmarks/memory.json")["works"]
    who = list(dict.fromkeys(name for work in told.values() for name in work["peak_mb"]))
    rows = []
    for work in told.values():
        cells = [f"{work['peak_mb'][name]:.0f}" if name in work["peak_mb"] else "–" for name in who]
        rows.append([work["says"], f"{work['input_mb']:.0f}", *cells])
    return table(["peak above the table, MiB", "table", *who], rows)


def _bars(axes: Any, groups: Mapping[str, Mapping[str, float]], methods: list[str]) -> None:
    """Draw grouped bars, a group a line."""
    height = 0.8 / len(methods)
    for number, method in enumerate(methods):
        at = [i for i, group in enumerate(groups.values()) if method in group]
        values = [list(groups.values())[i][method] for i in at]
        places = [i + height * (number - (len(methods) - 1) / 2) for i in at]
        axes.barh(places, values, height, color=look(number + 1)["color"], label=method)
    axes.set_yticks(range(len(groups)), list(groups))
    axes.invert_yaxis()
    axes.set_axisbelow(True)
    axes.figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9)


def draw_speed() -> Any:
    """Draw the peers' times in multiples of boostlab's."""
    works = read("docs/speed.json")["works"]
    groups = {
        name: {
            who: median(works[name][who]["values"]) / median(works[name]["boostlab"]["values"])
            for who in PEERS
            if who in works[name]
        }
        for name in sorted(works)
    }
    figure, axes = plt.subplots(figsize=(5.2, 4), layout="constrained")
    _bars(axes, groups, list(PEERS))
    axes.axvline(1, color="grey", lw=1)
    axes.set_xlabel("time in multiples of boostlab's (1 is level)")
    tidy(axes)
    return figure


def draw_accuracy() -> Any:
    """Draw the log loss of AutoBoost in multiples of the best peer's, a point a set."""
    results = read("benchmarks/auto_table.json")
    ratios = {
        name: cells["AutoBoost"]["log_loss"] / min(cells[who]["log_loss"] for who in cells if who != "AutoBoost")
        for name, cells in results.items()
    }
    order = sorted(ratios, key=ratios.__getitem__)
    least = 0.5  # points further left lie on the edge, with their value
    figure, axes = plt.subplots(figsize=(5.2, 0.9 + 0.19 * len(order)), layout="constrained")
    for place, name in enumerate(order):
        value = max(ratios[name], least)
        style = look(2 if ratios[name] < 1 else 1)
        beyond = ratios[name] < least
        axes.plot([1, value * 1.2 if beyond else value], [place, place], color=style["color"], lw=1)
        axes.plot(value, place, marker=style["marker"], color=style["color"], markersize=4)
        if beyond:
            axes.annotate(f"{ratios[name]:.2f}", (value, place), (6, 0), textcoords="offset points", va="center")
    axes.axvline(1, color="grey", lw=1)
    ends = (0.95 * least, 1.1 * max(ratios.values()))
    axes.set(xscale="log", xlim=ends, ylim=(len(order) - 0.4, -0.6))
    axes.set_xlabel("AutoBoost's log loss over the best peer's (below 1 is better)")
    ticks = [tick for tick in (0.5, 0.7, 1, 1.4, 2, 2.8, 4) if ends[0] < tick < ends[1]]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(order)), order, fontsize=8)
    wins = sum(value < 1 for value in ratios.values())
    axes.set_title(f"lower on {wins} of {len(order)} sets", fontsize=10)
    tidy(axes)
    return figure


def draw_memory() -> Any:
    """Draw peaks of memory above the table."""
    works = read("benchmarks/memory.json")["works"]
    methods = list(dict.fromkeys(name for work in works.values() for name in work["peak_mb"]))
    figure, axes = plt.subplots(figsize=(5.2, 2.2), layout="constrained")
    _bars(axes, {work["says"]: work["peak_mb"] for work in works.values()}, methods)
    axes.set_xlabel("peak memory above the table, MiB")
    tidy(axes)
    return figure


DRAWN = {"speed": draw_speed, "accuracy": draw_accuracy, "memory": draw_memory}


def charts(drawn: Mapping[str, Callable[[], Any]]) -> Iterator[tuple[str, bytes]]:
    """Yield the places and bytes of charts, for light and dark pages."""
    for name, draw in drawn.items():
        for mode, colours in {"light": LIGHT, "dark": DARK}.items():
            with plt.rc_context(colours):
                figure = draw()
                file = io.BytesIO()
                figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
                plt.close(figure)
            yield f"charts/{name}_{mode}.svg", file.getvalue()


def chart(name: str, words: str) -> str:
    """Return a chart in both colours."""
    return "".join(
        f"```{{image}} charts/{name}_{mode}.svg\n:class: only-{mode}\n:alt: {words}\n```\n\n"
        for mode in ("light", "dark")
    )


def speed_chart() -> str:
    """Return the chart of speed."""
    return chart(
        "speed",
        "Bars: times of LightGBM, XGBoost and HistGradientBoosting in multiples of boostlab's; numbers are below",
    )


def accuracy_chart() -> str:
    """Return the chart of accuracy."""
    return chart(
        "accuracy",
        "Points, one a data set: log loss of AutoBoost in multiples of the best peer's; below 1 is better",
    )


def memory_chart() -> str:
    """Return the chart of memory."""
    return chart("memory", "Bars: peak memory of a fit above its table, boostlab and peers; the table has the numbers")
