"""Critical-difference diagram of the boosters on the table of label noise: five data sets, three levels of noise."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import matplotlib.pyplot as plt

from boostlab.plots import critical_difference

TABLE = Path(__file__).parents[1] / "noise_table.csv"


def draw(quick: bool = False) -> plt.Figure:
    cells = defaultdict(list)
    with TABLE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            cells[line["booster"], line["data"], line["noise"]].append(float(line["error"]))
    columns = sorted({key[1:] for key in cells})
    boosters = [b for b in sorted({key[0] for key in cells}) if all((b, *c) in cells for c in columns)]
    errors = [[round(fmean(cells[b, *c]), 9) for b in boosters] for c in columns]  # equal means tie
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    critical_difference(errors, [b.removesuffix("Classifier") for b in boosters], ax=axes)
    return figure
