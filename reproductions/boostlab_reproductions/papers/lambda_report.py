"""What the lambda-study makes of its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from boostlab.plots import critical_difference
from boostlab.studies.hypotheses import RESAMPLES, Hypothesis, Judged, in_short, judge, means_over_repeats
from boostlab.studies.plan import Method
from boostlab.studies.statistics import hodges_lehmann, sign_test, wilcoxon
from boostlab.studies.study import Report, Results
from boostlab.studies.tables import error_table
from boostlab_reproductions.problems import FAMILIES

ROPE = 0.1  # percent points of error: half of what the pilot saw
USUAL_ROPE = 1.0  # what the field calls practically equal
SECONDARY = {"log_loss": "Log loss", "calibration_error": "Calibration error"}
PLAIN = "AdaBoost"
MANY = 10  # problems, from which on ranks say something

Row = dict[str, Any]


def report(results: Results, hypotheses: Sequence[Hypothesis]) -> Report:
    """Make tables, figures and verdicts, of as many cells as there are."""
    out = Report()
    judged = judge(results, hypotheses, FAMILIES, ROPE)
    blocks = [name for name in results.blocks if results.rows(name)]
    out.claims = [one.claim() for one in judged]
    out.headline = [*in_short(judged), *what_follows(judged), _NAMES] if judged else []
    if judged:
        out.tables["hypotheses"] = [one.row() for one in judged]
        out.tables["practical equivalence"] = [one.equivalence_row(USUAL_ROPE) for one in judged]
    for value, name in SECONDARY.items():
        rows = [one.short_row("difference, × 100") for one in judge(results, hypotheses, FAMILIES, ROPE, value)]
        if rows:
            out.tables[name.lower()] = rows
    means = [row for block in blocks for row in _means(results, block)]
    if means:
        out.tables["means over the sets"] = means
        out.tables["everybody against AdaBoost"] = [row for block in blocks for row in _against_plain(results, block)]
        out.tables["against choosing by chance"] = [row for block in blocks for row in _against_chance(results, block)]
        out.tables["rounds and caps"] = [row for block in blocks for row in _caps(results, block)]
    every = _every(results, blocks)
    if every:
        out.tables["each penalty without a choice"] = every
    estimates = [row for block in blocks for row in _estimates(results, block)]
    if estimates:
        out.tables["what auto estimates"] = estimates
    out.tables |= {f"errors, {block}": error_table(results, block) for block in blocks}
    for block in blocks:
        problems, errors = means_over_repeats(results, block)
        if len(problems) >= MANY:
            out.figures[f"ranks, {block}"] = partial(_draw_ranks, errors=errors)
    if judged:
        out.figures["differences"] = partial(_draw_differences, judged=judged)
    out.captions = CAPTIONS | {f"errors, {block}": _MARKS for block in blocks}
    out.notes = [*_on_auto(results, judged), *_NOTES]
    return out


CAPTIONS = {
    "hypotheses": "Differences are method less opponent in percent points: the typical one (Hodges and Lehmann) with "
    "its bootstrap interval over the sets, and the mean. Holm's correction is over all hypotheses H; E explore. p over "
    "families counts related problems as one. P is the Bayesian signed-rank test's, differences below "
    f"{ROPE} points being equal.",
    "practical equivalence": f"The same test with the field's usual region, {USUAL_ROPE:g} point.",
    "log loss": "The same hypotheses by log loss of probabilities scaled alike, times 100; no verdicts.",
    "calibration error": "The same by the expected calibration error of the likeliest class, in percent; no verdicts.",
    "everybody against AdaBoost": "Not registered, no verdicts, not corrected: the typical difference to plain "
    "AdaBoost (Hodges and Lehmann) with its bootstrap interval over the sets.",
    "against choosing by chance": "Not registered but for H2a and H2b, not corrected: every method against AdaBoost "
    "from jittered start weights with as many candidates, one run or the best of five. What a method of five gains "
    "here is more than choosing gains by itself. (auto chooses by trainings of its own, and counts as one.)",
    "rounds and caps": "Median rounds chosen; the share of cells whose choice lies in the last tenth of the rounds "
    "allowed (where caps could bind), that were decided by a tie, and that chose each value; seconds are those of a "
    "cell, and a training that several methods share counts for the first.",
    "each penalty without a choice": "Mean errors over the sets where every λ chooses its rounds only.",
    "what auto estimates": 'How often variance_penalty="auto" took each λ.',
    "differences": "The typical difference of every hypothesis and its 95 percent interval; to the left the method has "
    "fewer errors than its opponent. Crosses are the pilot's, the grey band is what counts as practically equal, "
    "dotted lines explore.",
}
_MARKS = (
    "Percent, mean ± standard error over the repeats. Bold: the smallest, and those not significantly different from "
    "it (paired t-test, 1 percent)."
)
_NAMES = (
    "λ is VadaBoost's variance penalty, with exact steps, and the rate AdaBoost's learning rate; jitter is AdaBoost "
    'from start weights that vary by chance; "of 5" is chosen of five by held-out rows. Differences are in percent '
    "points of test error, typical ones over the problems, with 95 percent intervals; below 0 the first errs less."
)
_NOTES = (
    "A hypothesis that expects a difference holds if it is significant after Holm's correction, holds partly if it is "
    "only without; it does not hold if the interval excludes the pilot's difference (or, without a pilot, anything "
    f"beyond {ROPE} points), or the opposite is significant; else it cannot be judged. One that expects no gain "
    f"holds if the interval excludes a gain of {ROPE} points.",
    "Ranks are drawn with Nemenyi's critical difference over all methods of a block, which corrects for all pairs "
    "and sees less than the registered tests.",
)


JITTERED = {1: "jitter, one run", 5: "jitter, best of 5"}  # the control by chance, by its number of candidates
DEFAULTS = ("H1", "H2a", "H2b", "H3a", "H3b")  # all must hold for a change of the defaults


def what_follows(judged: Sequence[Judged]) -> list[str]:
    """Return what the registration's rules say of the library, given the verdicts."""
    verdicts = {one.hypothesis.name: one.verdict for one in judged}
    if not {*DEFAULTS, "H5", "H6"} <= verdicts.keys():
        return []
    listed = ", ".join(f"{name} {_SHORT[verdicts[name]]}" for name in DEFAULTS)
    change = all(verdicts[name] == "holds" for name in DEFAULTS)
    parts = [
        "**What follows.** The registration changes the defaults of VadaBoost and EBBoost only if all of "
        f"{', '.join(DEFAULTS)} hold. {listed}: the defaults {'change' if change else 'stay as they are'}."
    ]
    for name, what in (("H5", '"auto"'), ("H6", '"fixed_point"')):
        goes = "is mended or retired" if verdicts[name] == "holds" else "stays"
        parts.append(f"{name} {_SHORT[verdicts[name]]}: {what} {goes}.")
    return [" ".join(parts)]


_SHORT = {
    "holds": "holds",
    "partly": "holds partly",
    "does not hold": "does not hold",
    "cannot be judged": "cannot be judged",
}


def _on_auto(results: Results, judged: Sequence[Judged]) -> list[str]:
    """Return what "auto" estimates, and what it costs."""
    asked = next((one for one in judged if one.hypothesis.method == "auto"), None)
    if asked is None:
        return []
    block = asked.hypothesis.block
    taken = [one.number("variance_penalty") for one in results.rows(block) if one.method == "auto" and one.outcome]
    errors = means_over_repeats(results, block)[1]
    p = {other: wilcoxon(errors["auto"], errors[other]).p for other in ("AdaBoost", "λ = 5")}
    mean = {name: 100 * float(of.mean()) for name, of in errors.items()}
    return [
        f"**On auto.** It takes λ = 0, which is AdaBoost, in {np.mean(np.equal(taken, 0)):.0%} of the cells and a λ "
        f"above 1 in {np.mean(np.greater(taken, 1)):.0%}. Its mean error is {mean['auto']:.2f} percent; AdaBoost has "
        f"{mean['AdaBoost']:.2f} (p = {p['AdaBoost']:.2g}) and the constant 5 {mean['λ = 5']:.2f} (p = "
        f"{p['λ = 5']:.2g}). Neither difference is sure, and the estimate takes trainings of its own: see the seconds "
        "above."
    ]


def _means(results: Results, block: str) -> list[Row]:
    columns = {"error, %": ("test_error", 100.0), "log loss": ("log_loss", 1.0)}
    columns["calibration error, %"] = ("calibration_error", 100.0)
    found = {name: means_over_repeats(results, block, value)[1] for name, (value, _) in columns.items()}
    methods = [m.name for m in results.blocks[block].methods]
    return [
        {"where": block, "method": m}
        | {name: round(scale * float(found[name][m].mean()), 4) for name, (_, scale) in columns.items()}
        for m in methods
        if len(found["error, %"].get(m, ()))
    ]


def _against_plain(results: Results, block: str) -> list[Row]:
    """Return how every method of a block differs from plain AdaBoost over the sets."""
    problems, errors = means_over_repeats(results, block)
    if len(problems) < MANY:
        return []
    return [_compared(block, errors, method, PLAIN) for method in errors if method != PLAIN]


def _against_chance(results: Results, block: str) -> list[Row]:
    """Return how methods differ from the jittered control that chooses as often."""
    problems, errors = means_over_repeats(results, block)
    if len(problems) < MANY or not {*JITTERED.values()} <= errors.keys():
        return []
    pairs = [(m, JITTERED[5 if m.endswith("of 5") else 1]) for m in errors if m not in JITTERED.values()]
    return [_compared(block, errors, method, control) for method, control in pairs]


def _compared(block: str, errors: Mapping[str, Any], method: str, other: str) -> Row:
    own, others = errors[method], errors[other]
    shift = hodges_lehmann(100 * own, 100 * others, n_resamples=RESAMPLES)  # as the hypotheses' intervals
    signs = sign_test(own, others)
    return {
        "where": block,
        "method": method,
        **({"against": other} if other != PLAIN else {}),
        "difference, points": round(shift.estimate, 2),
        "95 % from": round(shift.low, 2),
        "to": round(shift.high, 2),
        "lower on": signs.wins,
        "higher on": signs.losses,
        "Wilcoxon p": float(f"{wilcoxon(own, others).p:.2g}"),
    }


def _caps(results: Results, block: str) -> list[Row]:
    rows = []
    for method in results.blocks[block].methods:
        done = [one for one in results.rows(block) if one.method == method.name and one.outcome]
        if not done:
            continue
        chosen = Counter(
            float(*one.outcome.numbers["chosen"].values()) for one in done if _choices(method) > 1 and one.outcome
        )
        rows.append(
            {
                "where": block,
                "method": method.name,
                "rounds": float(np.median([one.number("rounds") for one in done])),
                "near the cap, %": round(100 * float(np.mean([one.number("near_cap") for one in done])), 1),
                "ties, %": round(100 * float(np.mean([one.number("tied") for one in done])), 1),
                "chosen": ", ".join(f"{value:g}: {count}" for value, count in sorted(chosen.items())),
                "seconds": round(float(np.mean([one.seconds for one in done])), 2),
            }
        )
    return rows


def _choices(method: Method) -> int:
    return max((len(values) for values in method.grid.values()), default=1)


def _every(results: Results, blocks: Sequence[str]) -> list[Row]:
    """Return the mean error of every λ over the sets, each without a choice but of rounds."""
    errors: dict[float, dict[str, list[float]]] = {}
    for block in blocks:
        for one in results.rows(block):
            if one.method == "λ of 5" and one.outcome:
                grid = one.outcome.numbers["grid"]
                for (value,), error in zip(grid["values"], grid["test_errors"], strict=True):
                    errors.setdefault(value, {}).setdefault(block, []).append(error)
    return [
        {"λ": value} | {f"{block}, %": round(100 * float(np.mean(e)), 2) for block, e in of.items()}
        for value, of in sorted(errors.items())
    ]


def _estimates(results: Results, block: str) -> list[Row]:
    found = Counter(
        one.number("variance_penalty") for one in results.rows(block) if one.method == "auto" and one.outcome
    )
    whole = sum(found.values())
    return [{"λ": k, "cells": n, "share, %": round(100 * n / whole, 1)} for k, n in sorted(found.items())]


def _draw_ranks(figure: Any, errors: dict[str, Any]) -> None:
    figure.set_size_inches(8, 2 + 0.25 * len(errors))
    critical_difference(np.column_stack(list(errors.values())), list(errors), ax=figure.add_subplot())


def _draw_differences(figure: Any, judged: Sequence[Judged]) -> None:
    figure.set_size_inches(8, 1.4 + 0.35 * len(judged))
    axes = figure.add_subplot()
    for k, one in enumerate(reversed(judged)):
        shift, h = one.shift, one.hypothesis
        axes.plot([shift.low, shift.high], [k, k], "k-" if h.primary else "k:")
        axes.plot([shift.estimate], [k], "ko", markersize=4)
        if h.pilot is not None:
            axes.plot([h.pilot], [k], "x", color="C1")
    axes.axvline(0.0, color="0.8", zorder=0)
    axes.axvspan(-ROPE, ROPE, color="0.93", zorder=-1)
    asked = [one.hypothesis for one in judged]
    labels = [f"{h.name}: {h.method} – {h.opponent} ({h.block})" for h in asked]
    axes.set_yticks(range(len(judged)), labels[::-1], fontsize=8)
    axes.set_xlabel("difference of errors, percent points (left: the first errs less)")
