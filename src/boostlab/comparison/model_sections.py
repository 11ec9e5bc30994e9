"""What a page says about one model: how it answers rows it has not seen, what it looks at, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.report import svg
from boostlab.report.html import Markup, element, figure, html, joined, table
from boostlab.report.svg import Series
from boostlab.theory.shapes import shape_functions

Array = npt.NDArray[Any]
Categories = Sequence[Sequence[Any] | None] | None

_POINTS = 200  # of a curve
_EXPLAINED = 300  # rows whose contributions are shown
_NAMED = 12  # categories of one column that are drawn
_HARD = 25  # rows shown
_SHAPES = 6
_MOST_CLASSES = 20  # of a confusion table


def answers_section(y: Array, p: Array, classes: Sequence[str]) -> Markup:
    """Return ROC, precision and recall, calibration and confusion of probabilities of rows that were not trained on.

    Parameters
    ----------
    y : array of int
        Class numbers.
    p : array of shape (n_rows, n_classes)
        Probabilities.
    classes : sequence of str
        What class numbers stand for.
    """
    parts = []
    if len(classes) == 2:
        positive = int(np.mean(y) <= 0.5)  # the rarer class is to be found
        truth, score, name = y == positive, p[:, positive], classes[positive]
        parts += [figure(_roc(truth, score), f"ROC of {name!r}: hits against false alarms")]
        parts += [figure(_precision(truth, score), f"Precision and recall of {name!r}")]
        parts += [figure(_calibration(truth, score), f"Calibration: how often {name!r} is true where so much was said")]
    else:
        top = p.argmax(axis=1)
        sure = figure(_calibration(top == y, p.max(axis=1)), "Calibration: how often the answer is right where so sure")
        parts.append(sure)
    return element("div", *parts, class_="grid") + confusion(y, p.argmax(axis=1), classes)


def confusion(y: Array, labels: Array, classes: Sequence[str]) -> Markup:
    """Return true classes against answers, in rows."""
    if len(classes) > _MOST_CLASSES:
        return Markup("")
    counts = np.zeros((len(classes), len(classes)), int)
    np.add.at(counts, (y, labels), 1)
    rows = [[name, *(int(n) for n in counts[k])] for k, name in enumerate(classes)]
    return element("h3", "True class (rows) and answer (columns)") + table(["", *classes], rows)


def _roc(truth: Array, score: Array) -> Markup:
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    hits, alarms = np.cumsum(truth[order])[ends], np.cumsum(~truth[order])[ends]
    x, y = np.append(0, alarms / max(alarms[-1], 1)), np.append(0, hits / max(hits[-1], 1))
    keep = _thin(len(x))
    return _square([Series("this model", x[keep], y[keep]), _diagonal()], "false alarms", "hits")


def _precision(truth: Array, score: Array) -> Markup:
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    hits = np.cumsum(truth[order])[ends]
    recall, precision = hits / max(hits[-1], 1), hits / (ends + 1.0)
    keep = _thin(len(recall))
    share = float(truth.mean())
    base = Series("by chance", [0.0, 1.0], [share, share], "var(--c7)", dashed=True)
    return _square([Series("this model", recall[keep], precision[keep]), base], "recall", "precision")


def _calibration(truth: Array, p: Array) -> Markup:
    cuts = np.unique(np.quantile(p, np.linspace(0, 1, 11)))
    place = np.clip(np.searchsorted(cuts, p, side="right") - 1, 0, max(len(cuts) - 2, 0))
    said = [float(p[place == k].mean()) for k in np.unique(place)]
    true = [float(truth[place == k].mean()) for k in np.unique(place)]
    line = Series("this model", said, true, marks=range(len(said)))
    return _square([line, _diagonal()], "probability said", "share that is true")


def _diagonal() -> Series:
    return Series("diagonal", [0.0, 1.0], [0.0, 1.0], "var(--c7)", dashed=True)


def _square(series: Sequence[Series], x_label: str, y_label: str) -> Markup:
    unit = (0.0, 1.0)
    return svg.lines(series, x_label, y_label, x_range=unit, y_range=unit, height=300, width=320)


def _thin(n: int) -> Array:
    return np.unique(np.linspace(0, n - 1, min(n, _POINTS)).astype(int))


def numbers_section(y: Array, guess: Array) -> Markup:
    """Return predictions against the truth, for numbers."""
    keep = np.random.default_rng(0).permutation(len(y))[:400]
    low, high = float(min(y.min(), guess.min())), float(max(y.max(), guess.max()))
    ideal = Series("exact", [low, high], [low, high], "var(--c7)", dashed=True)
    order = keep[np.argsort(guess[keep])]
    dots = [Series("rows", [float(guess[i])], [float(y[i])], "var(--c0)", marks=[0]) for i in order]
    return figure(svg.lines([ideal, *dots], "predicted", "true"), f"{len(keep):,} rows that were not trained on")


def suspects_section(y: Array, p: Array, rows: Array, classes: Sequence[str]) -> Markup:
    """Return the rows whose labels look wrong: their class had the smallest probability when they were not trained on.

    Parameters
    ----------
    y, p
        Class numbers and probabilities.
    rows : array of int
        The rows' numbers in the table, from 0.
    classes : sequence of str
    """
    own = p[np.arange(len(y)), y]
    order = [i for i in np.argsort(own, kind="stable")[:_HARD] if p[i].argmax() != y[i]]
    if not order:
        return html("None: every row's own class was the likeliest.")
    listed: list[list[Any]] = []
    for i in order:
        sure = _probability(own[i]), float(own[i])
        listed.append([int(rows[i]) + 1, classes[y[i]], classes[int(p[i].argmax())], sure])
    note = (
        "Models that had not seen these rows gave their labels the least probability: look at them first. Rows are "
        "counted from 1 among those used, the heading not included."
    )
    return element("p", note, class_="mute") + table(["row", "label", "answer", "P(label)"], listed)


def _probability(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "below 0.0001"


def contributions_section(booster: Any, X: Any, names: Sequence[str], categories: Categories = None) -> Markup:
    """Return what columns add to the scores: the mean magnitude over some rows, and one row's own story.

    Parameters
    ----------
    booster : Booster
        Fitted.
    X : table
        Its rows; up to 300 of them are looked at.
    names : sequence of str
        The columns.
    categories : sequence, optional
        Their categories, where the booster was given numbers for them.
    """
    n = X.shape[0]
    rows = np.sort(np.random.default_rng(0).permutation(n)[:_EXPLAINED])
    some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    told = booster.contributions(some)
    values = np.abs(told.values)
    means = (values if values.ndim == 2 else values.mean(axis=2)).mean(axis=0)
    order = [j for j in np.argsort(-means, kind="stable")[:15] if means[j] > 0]
    drawn = figure(
        svg.bars([(names[j], float(means[j])) for j in order], "mean magnitude of the contribution to the score"),
        f"Exact Shapley values of {len(rows):,} rows: with the mean score they add up to a row's score.",
    )
    score = np.abs(told.scores if told.scores.ndim == 1 else told.scores.max(axis=1))
    at = int(np.argsort(score, kind="stable")[len(score) // 2])
    one = booster.explain(some.iloc[[at]] if hasattr(some, "iloc") else some[at : at + 1])
    known = list(one.contributions.categories if categories is None else categories)
    named = replace(one, contributions=replace(one.contributions, feature_names=list(names), categories=known))
    return drawn + element("h3", f"Row {int(rows[at]) + 1:,}, as an example") + element("pre", str(named))


def importances_section(
    booster: Any,
    names: Sequence[str],
    categories: Categories = None,
    ranges: Mapping[int, tuple[float, float]] = MappingProxyType({}),
) -> Markup:
    """Return what the model looks at: importances, and step functions where the vote is a sum of them.

    Parameters
    ----------
    booster : Booster
        Fitted.
    names : sequence of str
        The columns.
    categories : sequence, optional
        Their categories, where the booster was given numbers for them.
    ranges : mapping from int to (low, high)
        Between which numbers a column lies, where it is known.
    """
    importances = np.asarray(getattr(booster, "feature_importances_", np.zeros(0)))
    order = [j for j in np.argsort(-importances, kind="stable")[:15] if importances[j] > 0]
    if not order:
        return html("Nothing: the vote is constant.")

    def label(j: int) -> str:
        return names[j] if j < len(names) else f"column {j + 1}"

    drawn = figure(svg.bars([(label(j), float(importances[j])) for j in order], "importance"))
    shapes: list[Markup] = []
    with suppress(Exception):  # only votes of stumps with one score are sums of functions of one column
        for one in shape_functions(booster)[:_SHAPES]:
            known = one.categories if categories is None else categories[one.feature]
            shapes.append(_shape(one, label(one.feature), known, ranges.get(one.feature)))
    if not shapes:
        return drawn
    return drawn + element("h3", "What each column adds to the score") + element("div", *shapes, class_="grid")


def ranges_of(X: Any) -> dict[int, tuple[float, float]]:
    """Return between which numbers the columns of a matrix lie; nothing for what is no array."""
    if not isinstance(X, np.ndarray) or X.dtype == object or not len(X):
        return {}
    low, high = (f.reduce(X, axis=0) for f in (np.fmin, np.fmax))  # NaN only where all are missing
    return {j: (float(low[j]), float(high[j])) for j in range(X.shape[1]) if np.isfinite(high[j] - low[j])}


def _shape(one: Any, name: str, categories: Sequence[Any] | None, ends: tuple[float, float] | None = None) -> Markup:
    if categories:
        codes = np.arange(len(categories))
        at = np.asarray(one.values, float)[np.searchsorted(one.cuts, codes, "left")]
        shown = np.argsort(-np.abs(at), kind="stable")[:_NAMED]
        return figure(svg.bars([(str(categories[k]), float(at[k])) for k in shown], f"score, by {name}", 320))
    cuts, values = np.asarray(one.cuts, float), np.asarray(one.values, float)
    if not len(cuts):
        cuts, values = np.array([0.5]), np.repeat(values, 2)[:2]
    pad = (1.0 if ends else 0.1) * float(np.ptp(cuts)) or max(1.0, abs(float(cuts[0])))
    low, high = ends or (-np.inf, np.inf)
    left, right = max(float(cuts[0]) - pad, low), min(float(cuts[-1]) + pad, high)
    x = [min(left, float(cuts[0])), *map(float, cuts), max(right, float(cuts[-1]))]
    y = [*map(float, values), float(values[-1])]
    series = Series(name, x[: len(y)], y[: len(x)], steps=True)
    return figure(svg.lines([series], name, "score", height=220, width=320))


def margins_section(booster: Any, X: Any, y: Any) -> Markup:
    """Return the margins of the training rows, and what theory promises of the vote."""
    margins = np.sort(np.asarray(booster.margins(X, y), float))
    keep = _thin(len(margins))
    share = (keep + 1) / len(margins)
    curve = svg.lines(
        [Series("training rows", margins[keep], share, steps=True)], "margin", "share of rows at most", x_range=(-1, 1)
    )
    parts = [figure(curve, "Margins of the training rows: below 0 is wrong, 1 is unanimous")]
    with suppress(Exception):  # a certificate is for the votes whose theorems are known
        text = repr(booster.certificate(X, y, draws=20))
        parts.append(element("pre", text))
    return joined(parts)
