"""What the atlas makes of its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boostlab.studies.hypotheses import Hypothesis, in_short, judge
from boostlab.studies.statistics import average_ranks
from boostlab.studies.study import Report, Results
from boostlab_reproductions.papers import atlas_figures as figures
from boostlab_reproductions.papers.atlas_contenders import OWN, contender_of, is_tuned
from boostlab_reproductions.papers.atlas_controls import (
    CALIBRATION,
    against_controls,
    calibration,
    said_of_controls,
)
from boostlab_reproductions.papers.atlas_folds import FOLDS, beside_own_splits
from boostlab_reproductions.papers.atlas_groups import LEVEL, ROPE, TABLE, facts_of, groups, means, ranked
from boostlab_reproductions.papers.atlas_groups import rows as group_rows
from boostlab_reproductions.problems import ATLAS_FAMILIES, CC18

USUAL_ROPE = 1.0  # percent points: what the field calls practically equal
BINDS = 10  # percent of choices near the cap, from which on it matters
MANY = 6  # sets, from which on ranks say something
SIZES = (500, 2000, 4000)
TWO, SEVERAL, NOISE, QUICK = "two classes", "several classes", ", 20 % noise", ", quick"
CONTROL = ", controls"
SHOWN = (
    *("AdaBoost, stumps", "AdaBoost, tuned", "LogitBoost, tuned", "AutoBoost", "XGBoost, tuned", "LightGBM, tuned"),
    *("HistGradientBoosting, tuned", "CatBoost, tuned", "EBM, tuned", "random forest, tuned"),
    "logistic regression, tuned",
)  # of every set; all others are in the file of cells

Row = dict[str, Any]


def report(results: Results, hypotheses: Sequence[Hypothesis], afterwards: Sequence[Hypothesis] = ()) -> Report:
    """Make tables, figures and verdicts, of as many cells as there are."""
    results = settled(results)
    out = Report()
    blocks = [name for name in results.blocks if any(one.outcome for one in results.rows(name))]
    judged = judge(results, hypotheses, ATLAS_FAMILIES, ROPE)
    best = group_rows(results, list(groups(TWO, SEVERAL, NOISE, SIZES)))
    out.claims = [one.claim() for one in judged]
    out.headline = [*in_short(judged), _SCALE] if judged else []
    if news := _news(best):
        out.tables["first of each kind"] = news
    if best:
        out.tables[TABLE] = best
    if judged:
        out.tables["hypotheses"] = [one.row() for one in judged]
        out.tables["practical equivalence"] = [one.equivalence_row(USUAL_ROPE) for one in judged]
        for value, name in (("log_loss", "log loss"), ("auc", "AUC"), (CALIBRATION, "calibration error")):
            if again := judge(results, hypotheses, ATLAS_FAMILIES, ROPE, value):
                out.tables[f"hypotheses by {name}"] = [one.short_row("difference, × 100") for one in again]
    if asked := judge(results, afterwards, ATLAS_FAMILIES, ROPE):
        out.tables["asked afterwards"] = [one.short_row(asked="question") for one in asked]
    against = {block: against_controls(results, block, block + CONTROL) for block in (TWO, TWO + NOISE)}
    out.tables |= {f"against controls, {block}": rows for block, rows in against.items() if rows}
    for block in blocks:
        if rows := calibration(results, block):
            out.tables[f"calibration, {block}"] = rows
    if folds := beside_own_splits(results, (TWO, SEVERAL)):
        out.tables[f"{FOLDS} beside our own splits"] = folds
    summaries = {block: _summary(results, block) for block in blocks}
    out.tables |= {f"all methods, {block}": rows for block, rows in summaries.items() if rows}
    if choices := [row for block in blocks for row in _choices(results, block)]:
        out.tables["choices"] = choices
    if sets := [row for block in (TWO, SEVERAL) if block in blocks for row in _sets(results, block)]:
        out.tables["sets"] = sets
    for block, rows in summaries.items():
        drawn = not block.endswith((" rows", "afterwards", CONTROL, FOLDS))
        if drawn and len(rows) > 2 and rows[0]["sets"] >= MANY:
            out.figures[f"ranks, {block}"] = partial(figures.draw_ranks, ranks=_best_forms(results, block))
            out.figures[f"seconds and error, {block}"] = partial(figures.draw_pareto, rows=rows, own=OWN)
    sized = {size: summaries.get(f"{size:,} rows", []) for size in SIZES}
    if all(sized.values()):
        out.figures["sizes"] = partial(figures.draw_sizes, sized=sized, own=OWN)
    if judged:
        out.figures["differences"] = partial(figures.draw_differences, judged=judged, rope=ROPE)
    out.captions = CAPTIONS | {f"all methods, {block}": _SUMMARY for block in blocks}
    out.captions |= {f"against controls, {block}": _CONTROLS for block in blocks}
    out.captions |= {f"calibration, {block}": _CALIBRATION for block in blocks}
    out.captions |= {f"ranks, {block}": _RANKS for block in blocks}
    out.captions |= {f"seconds and error, {block}": _PARETO for block in blocks}
    out.notes = [*_paces(results), *_short_runs(results), *_caps(out.tables.get("choices", []), hypotheses), *_NOTES]
    out.notes += [note for block, rows in against.items() for note in said_of_controls(block, rows)]
    return out


def settled(results: Results) -> Results:
    """Return the results with those of the quick tier in the place of blocks that were not run."""
    run = {one.block for one in results.rows()}
    names = {block: block.removesuffix(QUICK) for block in results.blocks if block.endswith(QUICK)}
    moved = {block: full for block, full in names.items() if full not in run}
    done = [
        replace(one, block=moved.get(one.block, one.block))
        for one in results.rows()
        if one.block not in names or one.block in moved
    ]
    blocks = [block for name, block in results.blocks.items() if name not in names]
    return Results(blocks, done, results.repeats, results.absent)  # fmt: skip


CAPTIONS = {
    TABLE: "Two lines for every group of sets, without and with tuning: our booster with the lowest mean rank among "
    "all methods of its kind, those of ours that are as good (not significantly different, typically by less than "
    f"{ROPE} points), and the best peer. The difference is the peer's less ours in percent points, typical over the "
    "sets: below 0 the peer has fewer errors (by AUC: above 0 it has the larger area). Held out: the mean difference "
    "where both are chosen by the other sets, which is fairer, since the best of many is too good on the sets that "
    "chose it. Seconds are medians of one fit. p is Wilcoxon's and not corrected: of twenty lines without any "
    "difference one would have p < 0.05.",
    "first of each kind": "The first of each kind by mean rank, chosen after the fact, ours out of more.",
    "hypotheses": "Differences are method less opponent in percent points: the typical one (Hodges and Lehmann) with "
    "its bootstrap interval over the sets, and the mean, which can have the other sign where few sets differ by much. "
    "Wilcoxon's test ranks sets without a difference with the others and then leaves them out (Pratt's way). Holm's "
    "correction is over all hypotheses H; E explore. p over "
    "families counts sets of one source as one. P is the Bayesian signed-rank test's, differences below "
    f"{ROPE} points being equal.",
    "practical equivalence": f"The same test with the field's usual region, {USUAL_ROPE:g} point.",
    "asked afterwards": "Questions that came up when the results were known, by error; no verdicts, and no correction: "
    "they were chosen because they looked telling. The last four ask why BrownBoost loses under noise: it ends by "
    "itself and so has no rounds to choose, and its registered target errors, 0.05 and 0.2, lie below what 20 % of "
    "wrong labels leave.",
    "hypotheses by log loss": "The same pairs by log loss, times 100; no verdicts.",
    "hypotheses by calibration error": "The same pairs by calibration error, times 100, where it was measured; no "
    "verdicts. It is that of the likeliest class over ten bins of equal size, by everybody's own `predict_proba`.",
    f"{FOLDS} beside our own splits": "Untuned contenders on OpenML's first three folds of 11 CC18 sets, where nine "
    "tenths of the rows train, and on our own splits of the same sets, where at most 1,000 rows do: mean errors and "
    "mean ranks among these methods. Added afterwards (amendment 7 of the registration), no verdicts.",
    "hypotheses by AUC": "The same pairs by the area under the curve, times 100: larger is better; no verdicts.",
    "choices": "Of the tuned: how often rounds lie in the last tenth of those allowed, how often what is made to end "
    "had not ended by its last round (boost by majority plans for all of them), how often a tie decided, and how often "
    "every candidate was chosen, with its values in the order of the parameters.",
    "sets": "Rows, those that train, columns, how many of them are categories, classes, the smallest class as a part "
    "of an equal share, whether the set is in OpenML's CC18, and mean errors in percent of some methods.",
    "differences": "The typical difference of every hypothesis and its 95 percent interval; to the left the method has "
    f"fewer errors than its opponent. Solid: H; dotted: E, which explore. The grey band is {ROPE} points wide on both "
    "sides.",
    "sizes": "Mean errors and median seconds of one fit with 500, 2,000 and 4,000 training rows, the same six sets.",
}
_SCALE = (
    "Differences are in percent points of test error, typical ones over the sets, with 95 percent intervals; below 0 "
    "the first errs less. Tuned is chosen of six candidates by held-out rows, for everybody."
)
_SUMMARY = (
    "Sorted by mean rank over the sets that all of them have. Error, log loss and AUC are means over these sets, "
    "seconds (one fit, one thread; search: all candidates) and kilobytes of the saved model medians."
)
_CONTROLS = (
    "What a tuned contender errs more (above 0) or less (below 0) than a control that had as many candidates: AdaBoost "
    "with six learning rates, and the best of six runs of AdaBoost from start weights jittered by 10 percent, which is "
    "what choosing gains by chance; each with stumps and with trees of 8 leaves. Asked afterwards (amendment 4 of the "
    "registration), no verdicts. Holm's correction is over the lines of one control. AdaBoost without a choice is "
    "shown for comparison."
)
_CALIBRATION = (
    "Mean calibration error of the likeliest class over ten bins of equal size, of everybody's own `predict_proba`, "
    "over the sets that all of these methods have, with the log loss of the same cells. Cells that were computed "
    "without got it afterwards (amendments 4 and 5), by training the chosen models of the first repeat again; a method "
    "is left out where too many of its models could not be made the same on another machine."
)
_RANKS = (
    "The best form of every contender, by mean rank: choosing it after the fact flatters all alike. Bars join what "
    "Nemenyi's test cannot tell apart at 5 percent."
)
_PARETO = (
    "Mean error against median seconds of a fit. Filled: ours; hollow: peers; squares are tuned, the search not "
    "counted. The line joins what nothing else beats in both; the worst may lie above the picture."
)
_NOTES = (
    "A hypothesis that expects a difference holds if it is significant after Holm's correction, holds partly if only "
    f"without; it does not hold if the interval excludes anything beyond {ROPE} points, or the opposite is "
    "significant; else it cannot be judged. One that expects no gain holds if the interval excludes a gain of "
    f"{ROPE} points.",
    "What to attack: sets are small and old, many have been seen by every author of every contender, ours included; "
    "1,000 training rows favour what needs few; six candidates favour what has few parameters; a quarter of few rows "
    "chooses, and ties are common; EBM is reduced, and its default form may be better; the best of many methods of "
    "ours is chosen after the fact in the table of groups, out of more than there are peers (so look at what is held "
    "out); H1 to H10 name their methods in advance.",
)


def _news(best: Sequence[Row]) -> list[Row]:
    """Return a sentence that can be quoted for every whole group."""
    said = []
    for row in best:
        if row["situation"] not in (TWO, SEVERAL, TWO + NOISE, SEVERAL + NOISE) or not row.get("best peer"):
            continue
        ours, peer = (row[name].removesuffix(", tuned").removesuffix(", default") for name in ("take", "best peer"))
        sure = "significantly" if row["p"] < LEVEL else "not significantly"
        said.append(
            {
                "where": f"{row['situation']}, {row['tuning']}",
                "what we found": f"Over {row['sets']} sets {ours} ranks first of our boosters (mean error "
                f"{row['mean, %']:.1f} %), and {peer} of the others ({row['its mean, %']:.1f} %). Typically {peer} "
                f"{_errs(row['difference, points'])}, {sure} (p = {row['p']:g}, not corrected); where both are chosen "
                f"by the other sets, the peer {_errs(row['held out, points'])} on average.",
            }
        )
    return said


def _errs(points: float) -> str:
    return f"errs {'less' if points < 0 else 'more'} by {abs(points):.2f} points" if points else "errs as often"


def _paces(results: Results) -> list[str]:
    """Say it where a method ran on a machine of another speed."""
    paces: dict[str, list[float]] = {}
    for one in results.rows():
        if one.outcome and "pace" in one.outcome.numbers:
            paces.setdefault(one.method, []).append(one.number("pace"))
    if not paces:
        return []
    usual = float(np.median([p for own in paces.values() for p in own]))
    others = {name: float(np.median(p)) / usual for name, p in paces.items()}
    far = [f"{name} {ratio:.2f}" for name, ratio in sorted(others.items()) if not 0.8 < ratio < 1.25]
    if not far:
        return []
    return [
        "Seconds of these methods were measured where a fixed piece of work takes another time than for most cells, "
        f"by the factor: {'; '.join(far)}. Divide their seconds by it before you compare."
    ]


def _caps(choices: Sequence[Row], hypotheses: Sequence[Hypothesis]) -> list[str]:
    """Say of every block how often the most rounds were chosen, and by whom in more than a tenth of the cells."""
    said, bound = [], []
    named = {(name, h.block) for h in hypotheses for name in (h.method, h.opponent)}
    for where in dict.fromkeys(row["where"] for row in choices):
        near = [(row["near the cap, %"], row["cells"], row["method"]) for row in choices if row["where"] == where]
        near = [one for one in near if one[0] is not None]
        if not near:
            continue
        share = sum(percent * cells for percent, cells, _ in near) / sum(cells for _, cells, _ in near)
        often = [f"{contender_of(m)} {p:.0f} %" for p, _, m in sorted(near, key=lambda one: -one[0]) if p > BINDS]
        bound += [f"{m} ({where})" for p, _, m in near if p > BINDS and (m, where) in named]
        said.append(f"{where} {share:.0f} %" + (f" ({', '.join(often)})" if often else ""))
    if not said:
        return []
    return [
        "Caps: of the choices of rounds so many lie in the last tenth of those allowed, in brackets who does so in "
        f"more than {BINDS} % of the cells, and might gain from more rounds: {'; '.join(said)}. Of those that a "
        f"hypothesis names: {', '.join(bound) or 'nobody'}."
    ]


def _short_runs(results: Results) -> list[str]:
    """Say it where CatBoost's choice was trained again with other settings than the candidates."""
    old = [o for o in results.rows() if o.method == "CatBoost, tuned" and o.outcome]
    old = [o for o in old if o.outcome and "chosen_rounds" not in o.outcome.numbers]
    if not old:
        return []
    return [
        f"{len(old)} cells of CatBoost, tuned, are too unfavourable to it: below 200 rounds the library combines no "
        "categories and takes one Newton step a leaf where it takes ten, so that what was chosen among 300 rounds was "
        "trained again as another model. No hypothesis uses them; look at CatBoost's defaults. The code is mended "
        "(amendment 3 of the registration), and computing these cells again removes this note."
    ]


def _summary(results: Results, block: str) -> list[Row]:
    """Return a line for every method that can be ranked, the best first."""
    problems, methods, errors = ranked(*means(results, block))
    if not problems or len(methods) < 2:
        return []
    ranks = average_ranks(errors)
    more = {name: _columns(results, block, name, problems, methods) for name in _MEASURES}
    rows = []
    for j in np.argsort(ranks, kind="stable"):
        row: Row = {
            "method": methods[j],
            "rank": round(float(ranks[j]), 2),
            "error, %": round(100 * float(errors[:, j].mean()), 2),
        }
        for name, (shown, scale, digits, typical) in _MEASURES.items():
            own = more[name][:, j]
            own = own[~np.isnan(own)]
            row[shown] = float(f"{scale * typical(own):.{digits}g}") if len(own) else None
        rows.append(row | {"sets": len(problems)})
    return rows


_MEASURES: dict[str, tuple[str, float, int, Any]] = {
    "log_loss": ("log loss", 1.0, 3, np.mean),
    "auc": ("AUC", 1.0, 4, np.mean),
    "fit_seconds": ("seconds", 1.0, 2, np.median),
    "search_seconds": ("search, s", 1.0, 2, np.median),
    "bytes": ("KB", 1e-3, 3, np.median),
}


def _columns(results: Results, block: str, value: str, problems: Sequence[str], methods: Sequence[str]) -> Any:
    names, columns, table = means(results, block, value)
    return table[np.ix_([names.index(p) for p in problems], [columns.index(m) for m in methods])]


def _best_forms(results: Results, block: str) -> tuple[list[str], Any]:
    """Return the best form of every contender, by mean rank, and its errors on every set."""
    _, methods, errors = ranked(*means(results, block))
    ranks = average_ranks(errors)
    best: dict[str, int] = {}
    for j in np.argsort(ranks, kind="stable"):
        best.setdefault(contender_of(methods[j]), int(j))
    columns = list(best.values())
    return [methods[j] for j in columns], errors[:, columns]


def _choices(results: Results, block: str) -> list[Row]:
    rows = []
    for method in results.blocks[block].methods:
        done = [o for o in results.rows(block) if o.method == method.name and o.outcome and is_tuned(o.method)]
        if not done:
            continue
        order = sorted(done[0].outcome.numbers["chosen"])  # type: ignore[union-attr]
        chosen = Counter(tuple(o.outcome.numbers["chosen"][name] for name in order) for o in done if o.outcome)
        near = [o.number("near_cap") for o in done if not np.isnan(o.number("near_cap"))]
        stops = [o.outcome.numbers["stop"] == "max_rounds" for o in done if o.outcome and method.how.endswith("last")]
        rows.append(
            {
                "where": block,
                "method": method.name,
                "cells": len(done),
                "near the cap, %": round(100 * float(np.mean(near)), 1) if near else None,
                "cut off, %": round(100 * float(np.mean(stops)), 1) if stops else None,
                "ties, %": round(100 * float(np.mean([o.number("tied") for o in done])), 1),
                "parameters": ", ".join(order),
                "chosen": "; ".join(
                    f"{', '.join(map(str, values))}: {n}" for values, n in sorted(chosen.items(), key=str)
                ),
            }
        )
    return rows


def _sets(results: Results, block: str) -> list[Row]:
    facts = facts_of(results, block)
    problems, methods, errors = means(results, block)
    rows = []
    for i, name in enumerate(problems):
        if name not in facts:
            continue
        own = facts[name]
        row: Row = {"set": name, "rows": int(own["rows"]), "train": int(own["n_train"]), "columns": int(own["columns"])}
        row |= {"categories": int(own["categorical"]), "classes": int(own["classes"])}
        row |= {"smallest class": round(own["smallest_class"], 2), "CC18": "yes" if name in CC18 else ""}
        for m in SHOWN:
            value = errors[i, methods.index(m)] if m in methods else np.nan
            row[m] = None if np.isnan(value) else round(100 * float(value), 1)
        rows.append(row)
    return rows
