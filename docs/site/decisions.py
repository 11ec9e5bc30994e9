"""The decision table of `docs/choose.md`: what the studies and benchmarks found, read from their files."""

from __future__ import annotations

import csv
import re
from statistics import fmean
from typing import Any

from by_booster import FILE as TARGETS
from by_booster import ratios
from measured import ROOT, class_errors, day, mean_ranks, noise_ranks_by_share, read, table

from boostlab.boosters import REGISTRY

NOISE = "studies/noise-study"
CONTROL = "AdaBoost, rate chosen"  # the noise study's control


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the lines of a CSV file of the repository."""
    with (ROOT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def code(name: str) -> str:
    """Return a booster's name as its class, where there is one: "Boost by majority" is BoostByMajorityClassifier."""
    kind, _, setting = name.partition(", ")
    if kind.startswith("Real "):
        kind, setting = kind.removeprefix("Real "), "real"
    bare = re.sub(r"\W", "", kind.partition(" (")[0]).removesuffix("Classifier").casefold()
    for cls in REGISTRY:
        if cls.removesuffix("Classifier").casefold() == bare:
            return f"`{cls}`" + (f" ({setting})" if setting else "")
    return name


def named(found: list[tuple[str, float]], form: str) -> str:
    """Return names with their numbers."""
    return ", ".join(f"{code(name)} {value:{form}}" for name, value in found)


def under_noise(learner: str) -> list[str]:
    """Return the best boosters of the noise study with rounds and parameters chosen by validation."""
    file = f"{NOISE}/overall-{learner}-uniform-noise.csv"
    lines = rows_of(file)
    noisy = next(column for column in lines[0] if column.startswith("noise ") and "learnt" not in column)
    control = next(line for line in lines if line["booster"] == CONTROL)
    others = sorted((line for line in lines if line is not control), key=lambda line: float(line["average rank"]))
    shown = ", ".join(f"{code(line['booster'])} {float(line[noisy]):.1f} %" for line in others[:3])
    sure = [line for line in others if float(line["Holm p"]) < 0.05]
    better = [code(line["booster"]) for line in sure if int(line["better than the control"]) > int(line["worse"])]
    words = f"{shown}; AdaBoost with a chosen `learning_rate` {float(control[noisy]):.1f} %. "
    words += f"Better than that one by Holm's test at 5 %: {', '.join(better) or 'none'}"
    return [f"some labels are wrong; {learner}, rounds and parameters by validation", words, file]


def on_the_construction() -> list[str]:
    """Return who learns Long and Servedio's construction."""
    file = f"{NOISE}/long-and-servedio-s-construction-errors-in-percent.csv"
    columns = ("Long-Servedio, uniform, 10 %", "Long-Servedio, uniform, 20 %")
    errors = {line["booster"]: fmean(float(line[column]) for column in columns) for line in rows_of(file)}
    best = sorted(errors.items(), key=lambda item: item[1])[:3]
    words = f"{named(best, '.1f')} % errors; AdaBoost {errors['AdaBoost']:.1f} %"
    return ["labels are wrong and features agree against them (Long and Servedio's construction)", words, file]


def by_defaults(share: str, says: str) -> list[str]:
    """Return the best untuned boosters at one share of flipped labels."""
    ranks = noise_ranks_by_share()[share]
    best = sorted(ranks.items(), key=lambda item: item[1])[:3]
    return [says, f"mean rank of {len(ranks)}: {named(best, '.1f')}", "docs/noise_table.csv"]


def untuned() -> list[str]:
    """Return how AutoBoost does beside other libraries' defaults."""
    results: dict[str, Any] = read("benchmarks/auto_table.json")
    methods = list(next(iter(results.values())))
    ranks = mean_ranks({m: {name: cells[m]["log_loss"] for name, cells in results.items()} for m in methods})
    shown = ", ".join(f"{who.replace('AutoBoost', '`AutoBoostClassifier`')} {ranks[who]:.2f}" for who in methods)
    words = f"mean rank by log loss over {len(results)} sets: {shown}"
    return ["nothing in particular", words, "benchmarks/auto_table.json"]


def several_classes() -> list[str]:
    """Return the best defaults for three or more classes."""
    errors = class_errors()
    means = {name: fmean(line.values()) for name, line in errors.items()}
    best = sorted(mean_ranks(errors).items(), key=lambda item: item[1])[:3]
    words = ", ".join(f"{code(name)} {means[name]:.1f} %" for name, _ in best)
    peer = "scikit-learn's AdaBoost"
    return [
        "three or more classes, defaults",
        f"mean errors: {words}; {peer} {means[peer]:.1f} %",
        "benchmarks/defaults_table.json",
    ]


def probabilities() -> list[str]:
    """Return the lowest log losses of boosters with trees on real sets."""
    told = {name: cells for name, cells in read(TARGETS)["accuracy"].items() if not name.endswith(", 2 leaves")}
    common = set.intersection(*(set(cells) for cells in told.values()))
    boosters = [who for who in common if who.startswith("boostlab ")]
    means = {who: fmean(cells[who]["log_loss"] for cells in told.values()) for who in boosters}
    best = sorted(means.items(), key=lambda item: item[1])
    words = ", ".join(f"{code(who.removeprefix('boostlab '))} {value:.3f}" for who, value in best)
    return ["probabilities, with trees", f"mean log loss of {len(told)} measurements: {words}", TARGETS]


def speed() -> list[str]:
    """Return the fastest boosters with stumps."""
    mine = [row for row in ratios() if row.group == "stumps" and row.threads == "2"]
    best = sorted(mine, key=lambda row: row.seconds)
    words = ", ".join(f"{code(row.booster)} {row.seconds:.2f} s" for row in best[:3])
    words += f"; the slowest, {code(best[-1].booster)}, {best[-1].seconds:.2f} s"
    return ["speed, with stumps (100,000 × 50, 100 rounds, 2 threads)", words, TARGETS]


def decisions() -> str:
    """Return the table: what is known or wanted, what did best, and the file that says so."""
    rows = [
        untuned(),
        by_defaults("0", "clean labels, no tuning, stumps"),
        by_defaults("20", "a fifth of the labels is wrong, no tuning, stumps"),
        under_noise("stumps"),
        under_noise("trees"),
        on_the_construction(),
        several_classes(),
        probabilities(),
        speed(),
    ]
    shown = [[says, found, f"`{file}`, {day(file)}"] for says, found, file in rows]
    return table(["you know or want", "what did best", "measured in"], shown).replace("---:", "---")
