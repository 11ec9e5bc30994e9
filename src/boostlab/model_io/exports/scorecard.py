"""A vote of stumps as a scorecard: whole points for every bin, a table that people print and add up by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from boostlab.model_io.exports.calibrated import Decision
from boostlab.model_io.exports.description import describe

CHANCES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Scorecard:
    """Points.

    Attributes
    ----------
    lines : list of (str, str, int)
        Column, bin and points.
    start : int
        Points before any column.
    unit : float
        The score that one point is worth: score = (start + points) * unit, to half a unit a column.
    classes : list, or None
        The labels: the second where the points are above `threshold`.
    threshold : int
        0, but for models with calibrated probabilities or costs.
    chances : list of (int, float)
        Of a calibrated model: the fewest points with which the second class has at least this probability.
    """

    lines: list[tuple[str, str, int]]
    start: int
    unit: float
    classes: list[Any] | None
    threshold: int = 0
    chances: list[tuple[int, float]] = field(default_factory=list)

    def __str__(self) -> str:
        head = ("column", "bin", "points")
        rows = [("start", "", f"{self.start:+d}"), *((c, b, f"{p:+d}") for c, b, p in self.lines)]
        width = [max(len(r[i]) for r in [head, *rows]) for i in range(3)]
        out = [f"| {head[0]:<{width[0]}} | {head[1]:<{width[1]}} | {head[2]:>{width[2]}} |"]
        out.append(f"|{'-' * (width[0] + 2)}|{'-' * (width[1] + 2)}|{'-' * (width[2] + 1)}:|")
        before = None
        for column, label, points in rows:
            shown = column if column != before else ""
            out.append(f"| {shown:<{width[0]}} | {label:<{width[1]}} | {points:>{width[2]}} |")
            before = column
        end = ""
        if self.classes is not None:
            end = f"\nAbove {self.threshold} points: {self.classes[1]}, else {self.classes[0]}."
            said = ", ".join(f"{p:.0%} from {points:+d}" for points, p in self.chances)
            end += f"\nProbability of {self.classes[1]} by points: {said}." if said else ""
        return "\n".join(out) + f"\n\nOne point is {self.unit:.6g} of the score.{end}\n"


def to_scorecard(model: Any, points: int = 100) -> Scorecard:
    """Return a vote of stumps for two classes, or for numbers, as a scorecard.

    Parameters
    ----------
    model : Booster
        Fitted, of stumps.
    points : int, default=100
        How many points the most telling column's best and worst bins are apart.
    """
    d = describe(model)
    if d.trees.n_trees or d.n_scores != 1:
        raise ValueError(
            f"A scorecard needs stumps and one score, and this {d.model} has "
            f"{'trees' if d.trees.n_trees else f'{d.n_scores} scores'}; fit one without max_depth, for two classes."
        )
    spans = [float(np.ptp(np.append(f.values[:, 0], f.missing[0]))) for f in d.steps]
    unit = max([*spans, 1e-300]) / points
    lines: list[tuple[str, str, int]] = []
    start = float(d.constant[0])
    for span, f in sorted(zip(spans, d.steps, strict=True), key=lambda pair: -pair[0]):
        values = np.append(f.values[:, 0], f.missing[0])
        least = float(values.min())
        start += least
        told = np.rint((values - least) / unit).astype(int).tolist()
        column, known = d.names[f.feature], d.categories[f.feature]
        if span == 0.0:
            continue
        if known is not None and f.n_categories:
            labels = [str(c) for c in known]
        else:
            ends = ["", *(f"{c:.6g}" for c in f.cuts), ""]
            labels = [_interval(a, b) for a, b in pairwise(ends)]
        merged: list[list[Any]] = []
        for label, p in zip(labels, told[:-1], strict=False):
            if merged and merged[-1][1] == p and known is None:  # neighbours with the same points are one bin
                merged[-1][0] = _joined(merged[-1][0], label)
            else:
                merged.append([label, p])
        lines += [(column, label, p) for label, p in merged]
        if told[-1] not in {p for _, p in merged} or known is not None or told[-1] != told[-2]:
            lines.append((column, "missing", told[-1]))
    card = Scorecard(lines, round(start / unit), unit, d.classes)
    return card if d.decision is None else _calibrated(card, d.decision)


def _calibrated(card: Scorecard, decision: Decision) -> Scorecard:
    """Return a card that says by how many points to decide, and how probable the second class is."""
    most: dict[str, int] = {}
    for column, _, points in card.lines:
        most[column] = max(most.get(column, 0), points)
    total = np.arange(card.start, card.start + sum(most.values()) + 1)
    p, named = decision.of_two(total * card.unit)
    if (np.diff(named) < 0).any() or (np.diff(p) < 0).any():
        raise ValueError("More points make the second class less probable here, so that a card would mislead.")
    chances = [(int(total[np.argmax(p >= at)]), at) for at in CHANCES if p[0] < at <= p[-1]]
    return replace(card, threshold=int(total[0] - 1 + (named == 0).sum()), chances=chances)


def _interval(low: str, high: str) -> str:
    if not low:
        return f"up to {high}" if high else "any"
    return f"above {low} to {high}" if high else f"above {low}"


def _joined(first: str, second: str) -> str:
    """Return two neighbouring intervals as one."""
    low = first.split("above ")[1].split(" to ")[0] if "above" in first else ""
    high = second.split(" to ")[1] if " to " in second else second.split("up to ")[1] if "up to" in second else ""
    return _interval(low, high)
