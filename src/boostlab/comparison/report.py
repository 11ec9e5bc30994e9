"""The report of a comparison: one HTML file with everything that a person asks next."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab import __version__
from boostlab.comparison.metrics import METRICS, Metric
from boostlab.comparison.model_sections import (
    answers_section,
    contributions_section,
    importances_section,
    margins_section,
    numbers_section,
    suspects_section,
)
from boostlab.comparison.ranking import LEVEL, Ranking, Standing
from boostlab.comparison.result import Comparison
from boostlab.report import svg
from boostlab.report.html import Markup, code, element, facts, figure, filter_box, html, joined, page, table, toggles
from boostlab.report.svg import Series
from boostlab.studies.machine import machine
from boostlab.studies.statistics import holm, paired_t_test
from boostlab.studies.whole_files import write_whole

Array = npt.NDArray[Any]

NAME = "report.html"
MARK = "written by boostlab compare"
_LARGE = 200_000  # rows from which on margins are not drawn


def write_report(
    comparison: Comparison, path: Path, command: str = "", model: Any = None, *, fits: bool = True
) -> Path:
    """Write the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    path : path
        The HTML file.
    command : str
        How it was asked for on the command line.
    model : estimator, optional
        The recommended booster, fitted to all rows; None fits it.
    fits : bool, default=True
        Whether the booster may be fitted; without it the page says nothing about the model itself.

    Returns
    -------
    Path
    """
    write_whole(path, build_report(comparison, command, model, fits))
    return path


def build_report(comparison: Comparison, command: str = "", model: Any = None, fits: bool = True) -> str:
    """Return the report of a comparison as HTML; see `write_report`."""
    plan, ranking, advice = comparison.plan, comparison.rankings[0], comparison.advice
    lead = element("div", *(element("p", sentence) for sentence in advice.sentences), class_="lead")
    warnings = joined(element("p", text, class_="warning") for text in plan.table.warnings)
    if comparison.ran.ended:
        done = f"{len(comparison.ran.results.rows())} of {comparison.ran.planned} cells"
        warnings = element("p", f"Not finished, because {comparison.ran.ended}: {done}.", class_="warning") + warnings
    sections: dict[str, Any] = {"What was understood": _understood(comparison)}
    if ranking.ranked:
        inks = {one.name: svg.colour(i) for i, one in enumerate(one for one in ranking.standings if one.ranked)}
        sections |= {"Ranking": _ranking(ranking, inks), "Pair by pair": _pairs(comparison, ranking)}
        sections |= {
            f"With {100 * other.noise:g} % of the labels flipped": _ranking_table(other, "noisy")
            for other in comparison.rankings[1:]
        }
        sections["Learning curves"] = _curves(comparison, ranking, inks)
    if advice.pick is not None:
        sections |= _answers(comparison, advice.pick)
        if fits or model is not None:
            sections |= _model(comparison, comparison.best_estimator_ if model is None else model)
    sections["How it was done"] = _method(comparison, command)
    return page(plan.study.title, Markup(lead + warnings), sections, MARK)


def summary(comparison: Comparison) -> str:
    """Return advice and ranking as a piece of HTML, for notebooks."""
    rows = [_row(one, comparison.rankings[0]) for one in comparison.rankings[0].standings]
    said = joined(element("p", sentence) for sentence in comparison.advice.sentences)
    head = element("tr", *(element("th", name) for name in _columns(comparison.rankings[0].metric)))
    body = [
        element("tr", *(element("td", cell[0] if isinstance(cell, tuple) else cell) for cell in row)) for row in rows
    ]
    return str(said + element("table", head, *body))


def _understood(comparison: Comparison) -> Markup:
    plan = comparison.plan
    why = f", because {plan.because}" if plan.because else ""
    known = {**plan.table.facts, "Metric": f"{plan.metric.word}: {plan.metric.sentence}{why}"}
    return facts(known | {f"Not {name}": reason for name, reason in plan.left_out.items()})


# -- ranking ----------------------------------------------------------------------------------------------------------


def _ranking(ranking: Ranking, inks: Mapping[str, str]) -> Markup:
    m = ranking.metric
    rows = [(one.name, m.value(one.cost), *_ends(one, m), inks[one.name]) for one in ranking.standings if one.ranked]
    drawn = svg.intervals(
        rows, m.title, lambda value: f"{value:.2f}" if m.percent else f"{value:.4g}", m.value(ranking.baseline)
    )
    parts = "1 test part" if ranking.splits == 1 else f"{ranking.splits} test parts, with its 95 % interval"
    note = (
        f"{m.title}: {m.sentence}, over {parts}. Yardsticks are other libraries' models at their defaults. The dotted "
        "line is the best constant answer."
    )
    return joined(
        [
            toggles(list(inks.items())),
            _ranking_table(ranking, "ranking"),
            figure(drawn, note),
        ]
    )


def _ends(one: Standing, metric: Metric) -> tuple[float, float]:
    low, high = metric.value(one.low), metric.value(one.high)
    return (high, low) if metric.flipped else (low, high)


def _columns(metric: Metric) -> list[str]:
    return ["rank", "booster", metric.title, "interval", "p", "rounds", "seconds", "settings"]


def _row(one: Standing, ranking: Ranking) -> list[Any]:
    m, places = ranking.metric, ranking.places()
    name = f"{one.name} (yardstick)" if one.is_peer else one.name
    if not one.ranked:
        return ["", name, "", "", "", "", "", f"failed: {one.failure}" if one.failed else "no result"]
    span = "" if isnan(one.low) else m.span(one.low, one.high)
    return [
        places.get(one.name, ""),
        name,
        (m.show(one.cost), m.value(one.cost)),
        span,
        ("" if isnan(one.p) else f"{one.p:.2g}", "" if isnan(one.p) else one.p),
        "" if isnan(one.rounds) else round(one.rounds),
        (f"{one.seconds:.3f}", one.seconds),
        ", ".join(f"{key}={value}" for key, value in one.chosen.items()) or "defaults",
    ]


def _ranking_table(ranking: Ranking, name: str) -> Markup:
    """Return the ranking with its other metrics, to be sorted and filtered."""
    m = ranking.metric
    others = [METRICS[key] for key in (ranking.ranked[0].costs if ranking.ranked else {}) if key != m.name]
    rows = []
    for one in ranking.standings:
        row = _row(one, ranking)
        more = [
            (other.show(one.costs[other.name]), other.value(one.costs[other.name])) if one.costs else ""
            for other in others
        ]
        rows.append([*row, *more])
    columns = [*_columns(m), *(other.title for other in others)]
    styles = ["peer" if one.is_peer else "best" if one.near else "" for one in ranking.standings]
    names = [one.name for one in ranking.standings]
    made = table(columns, rows, name=name, row_names=names, classes=styles, wrap=[_columns(m).index("settings")])
    note = element(
        "p", "Bold: not distinguishable from the best booster. p: against it, after Holm's correction.", class_="mute"
    )
    return joined([filter_box(name, "Filter rows"), made, note])


def _pairs(comparison: Comparison, ranking: Ranking) -> Markup:
    """Return who is distinguishably better than whom."""
    block = comparison.plan.study.blocks[0]
    cells: dict[str, dict[int, float]] = {}
    for one in comparison.ran.results.rows(block.name):
        if not one.failure:
            cells.setdefault(one.method, {})[one.repeat] = one.number("cost")
    names = [one.name for one in ranking.standings if one.ranked]
    ratio = 1.0 / (comparison.plan.protocol.folds - 1)
    pairs = {}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            both = sorted(cells[a].keys() & cells[b].keys())
            if len(both) > 1:
                test = paired_t_test([cells[a][k] for k in both], [cells[b][k] for k in both], test_ratio=ratio)
                pairs[a, b] = (test.difference, test.p)
    adjusted = dict(zip(pairs, holm([p for _, p in pairs.values()]), strict=True)) if pairs else {}
    if not adjusted:
        return html("")

    def verdict(a: str, b: str) -> Markup:
        key, sign = ((a, b), 1.0) if (a, b) in pairs else ((b, a), -1.0)
        if a == b or key not in pairs:
            return element("td", "")
        gap, p = sign * pairs[key][0], float(adjusted[key])
        word = "=" if not p <= LEVEL else "better" if gap < 0 else "worse"
        style = {"better": "yes", "worse": "no"}.get(word)
        return element("td", word, class_=style, data_tip=f"{a} against {b}: p = {p:.2g}", tabindex="0")

    head = element("tr", element("th", ""), *(element("th", name, scope="col") for name in names))
    body = [element("tr", element("th", a, scope="row"), *(verdict(a, b) for b in names), data_name=a) for a in names]
    note = "The row against the column, over the splits that both have: corrected paired test, Holm's correction."
    whole = element("table", element("thead", head), element("tbody", *body))
    return element("p", note, class_="mute") + element("div", whole, class_="scroll")


def _curves(comparison: Comparison, ranking: Ranking, inks: Mapping[str, str]) -> Markup:
    """Return the metric on the inner parts by round, of the values that every split chose."""
    block, m = comparison.plan.study.blocks[0], ranking.metric
    series = []
    for one in ranking.ranked:
        cells = [
            d.outcome.numbers for d in comparison.ran.results.rows(block.name) if d.method == one.name and d.outcome
        ]
        longest = max(len(numbers["curve"]) for numbers in cells)
        padded = [np.append(c, np.full(longest - len(c), c[-1])) for c in (np.array(n["curve"], float) for n in cells)]
        mean = [m.value(float(cost)) for cost in np.mean(padded, axis=0)]
        at = min(max(round(one.rounds), 1), longest) - 1
        series.append(Series(one.name, list(range(1, longest + 1)), mean, inks[one.name], [at]))
    drawn = svg.lines(series, "round (points: the median of the rounds chosen)", m.title, log_x=True)
    return figure(drawn, "On the inner parts of the training rows, by which rounds and settings are chosen.")


# -- the best ---------------------------------------------------------------------------------------------------------


def _answers(comparison: Comparison, pick: Standing) -> dict[str, Any]:
    """Return the sections about what the recommended booster said of rows that it had not seen."""
    table_ = comparison.plan.table
    found: dict[str, Any] = {}
    rows, answers = out_of_fold(comparison, pick.name)
    if len(rows) and table_.is_numeric:
        found[f"How {pick.name} answers"] = numbers_section(table_.y[rows], answers)
    elif len(rows):
        y = table_.y[rows]
        found[f"How {pick.name} answers"] = answers_section(y, answers, table_.classes)
        numbers = rows if comparison.plan.rows is None else comparison.plan.rows[rows]
        found["Rows whose labels look wrong"] = suspects_section(y, answers, numbers, table_.classes)
    return found


def _model(comparison: Comparison, model: Any) -> dict[str, Any]:
    """Return the sections about the recommended booster, fitted to all rows."""
    table_ = comparison.plan.table
    found: dict[str, Any] = {}
    booster = model["booster"] if hasattr(model, "named_steps") else model
    names = table_.feature_names or tuple(f"column {j + 1}" for j in range(int(table_.X.shape[1])))
    recipe = table_.recipe
    categories, values = (None, None) if recipe is None else (recipe.category_names, recipe.value_names)
    found["What it looks at"] = importances_section(booster, names, categories)
    with suppress(Exception):  # votes that are no sums have no contributions
        given = table_.X if comparison.given is None else comparison.given[0]
        found["What moves its answers"] = contributions_section(booster, given, names, values)
    if not table_.is_numeric and table_.X.shape[0] <= _LARGE:
        with suppress(Exception):  # margins are for one vote; what has none says so by leaving the section out
            given = comparison.given
            X, y = given if given is not None else (table_.X, table_.labels())
            found["Margins and certificate"] = margins_section(booster, X, y)
    return found


def out_of_fold(comparison: Comparison, name: str) -> tuple[Array, Array]:
    """Return the rows that a method was tested on, and the mean of its answers to each."""
    block, table_ = comparison.plan.study.blocks[0], comparison.plan.table
    sums: Array | None = None
    counts = np.zeros(table_.X.shape[0])
    for one in comparison.ran.results.rows(block.name):
        if one.method == name and one.outcome and "answers" in one.outcome.arrays:
            rows = np.asarray(one.outcome.arrays["rows"], int)
            answers = np.asarray(one.outcome.arrays["answers"], float)
            sums = np.zeros((len(counts), *answers.shape[1:])) if sums is None else sums
            sums[rows] += answers
            counts[rows] += 1
    if sums is None:
        return np.zeros(0, int), np.zeros(0)
    there = np.flatnonzero(counts)
    weight = counts[there] if sums.ndim == 1 else counts[there, None]
    return there, sums[there] / weight


def _method(comparison: Comparison, command: str) -> Markup:
    plan, ran = comparison.plan, comparison.ran
    known = {
        "Versions": f"boostlab {__version__}; {machine()}",
        "Cells": f"{len(ran.results.rows())} of {ran.planned}, "
        f"{sum(one.seconds for one in ran.results.rows()):,.0f} s of computing",
    }
    notes = element("ul", *(element("li", text) for text in plan.study.assumptions))
    again = [element("h3", "Run it again"), code(command)] if command else []
    made = [element("h3", "The model in Python"), code(comparison.advice.code)] if comparison.advice.code else []
    return joined([notes, facts(known), *again, *made])
