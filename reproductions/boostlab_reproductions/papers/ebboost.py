"""The tables of the EBBoost slides (Shivaswamy & Jebara 2010), and the margins of VadaBoost beside them."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from boostlab.studies.plan import Block, Method
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import Spread, mean_and_error
from boostlab_reproductions.papers.contests import (
    MARKS,
    Contest,
    PairedErrors,
    beside_published,
    counted,
    draw_beside,
    error_table,
    printed,
    printed_gain,
    published_minima,
    repeats_of,
    row_minima,
)
from boostlab_reproductions.papers.vadaboost import notes_on
from boostlab_reproductions.papers.vadaboost_methods import (
    ADABOOST,
    COUNTED,
    EBBOOST,
    NAMES,
    PROBLEMS,
    READINGS,
    RLP,
    RQP,
    VADA,
)
from boostlab_reproductions.papers.vadaboost_page import CAPTIONS, FEWEST, better, by_chance
from boostlab_reproductions.protocols.vadaboost import Stopped
from boostlab_reproductions.published import published

ABR_GRID = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.0)
ABR = Method("ABR", "SoftMarginBoostClassifier", grid={"C": ABR_GRID})
COLUMNS = ("AdaBoost", "EBBoost", "RLP-Boost", "RQP-Boost", "ABR")
WITH_MARGINS = ("AdaBoost", "EBBoost", "ABR", "VadaBoost")
REPEATS = 50  # that the printed spread is taken over


def studies() -> list[Study]:
    """Return the study of the slides."""
    stopped = Stopped(patience=50, longer=None, margins=True)
    study = Study(
        "ebboost-slides",
        "EBBoost, and how margins are spread",
        "Shivaswamy & Jebara, Empirical Bernstein Boosting, AISTATS 2010 (slides): errors and margin statistics",
        (
            Block("errors", PROBLEMS, (ADABOOST, EBBOOST, ABR, VADA), stopped, {"quick": 5, "full": 50}),
            Block("programs", PROBLEMS, (RLP, RQP), stopped, {"quick": 5, "full": 10}),
        ),
        (
            "The slides say neither how rows are split nor how many there are; both are taken from the VadaBoost "
            "paper. Their errors are larger, which suggests smaller training sets.",
            "ABR is AdaBoost_Reg of Rätsch, Onoda and Müller with C, for weights of mean 1, from 0 to 100; of "
            "equals the largest. From 1 on it ends after one voter: the useful values are below 0.1, so 0.003, 0.01 "
            "and 0.03 were added to the grid.",
            "The printed ± is taken for a standard deviation over 50 runs: divided by √50 it is a standard error.",
            "Margins are y F divided by the sum of the coefficients, of the training rows, at the round that is used; "
            "their mean and standard deviation are averaged over repeats.",
            *READINGS,
        ),
        report,
    )
    return [study]


def slide_name(problem: str) -> str:
    """Return what the slides call a data set."""
    name = NAMES[problem]
    return {"musk": "musklarge"}.get(name, name.replace("mnist", "nist"))


def report(results: Results) -> Report:
    """Compare errors and margins with the slides."""
    errors = PairedErrors.read(results, "errors")
    errors = errors.joined(PairedErrors.read(results, "programs"), {"RLP-Boost": "RLP-Boost", "RQP-Boost": "RQP-Boost"})
    counted_errors = errors.rows(COUNTED)
    printed_errors = {k: (mean, spread / sqrt(REPEATS)) for k, (mean, spread) in printed("ebboost_results").items()}
    pairs = (("EBBoost", "AdaBoost"), ("ABR", "AdaBoost"), ("VadaBoost", "AdaBoost"), ("EBBoost", "ABR"))
    contests = [Contest.between(counted_errors, a, b) for a, b in pairs]
    five, own = errors.columns(COLUMNS).on_common(), errors.columns(("AdaBoost", "EBBoost", "ABR", "VadaBoost"))
    tables = {
        "errors": error_table(five),
        "errors_of_all_repeats": error_table(own),
        "margins": margin_table(results),
        "contests": [contest.row() for contest in contests],
        "published": beside_published(errors, printed_errors, slide_name, {m: m for m in COLUMNS}),
    }
    minima = row_minima(counted_errors.columns(COLUMNS))
    n_sets = len(counted_errors.columns(COLUMNS).on_common().problems)
    best = max(minima.values(), default=0)
    verdict = "holds" if minima["EBBoost"] == best and 2 * best >= n_sets else "partly"
    if n_sets < FEWEST:
        verdict = "cannot be judged"
    elif minima["EBBoost"] < best:
        verdict = "does not hold"
    claims = [
        Claim(
            f"Row minima of the errors, ties included: {counted(published_minima('ebboost_results'), 1)}",
            verdict,
            f"Ours, over the repeats that all five have, on {n_sets} sets: {counted(minima)}. "
            f"{by_chance(counted_errors, COLUMNS)}",
        ),
        better("EBBoost makes fewer errors than AdaBoost", contests[0], printed_gain("ebboost_results", "EBBoost")),
        *_margin_claims(tables["margins"]),
    ]
    captions = {
        "errors": MARKS.format(repeats=f"{repeats_of(five)}, those that all five methods have"),
        "errors_of_all_repeats": MARKS.format(repeats=repeats_of(own)),
        "margins": "Normalised margins of the training rows: mean ± standard deviation over the rows.",
        "contests": CAPTIONS["contests"],
        "published": CAPTIONS["published"],
    }
    figures = {"margins": _draw(tables["margins"]), "ours against published": draw_beside(tables["published"])}
    return Report(tables, figures, claims, notes_on(results, tables["published"], _smaller), captions)


def _smaller(data: str, method: str) -> str:
    return "not the slides' data" if data.startswith("w4a") else "the slides must have had other, smaller training sets"


# -- margins ---------------------------------------------------------------------------------------------------------


def margin_table(results: Results) -> list[dict[str, Any]]:
    """Return mean and standard deviation of the margins, a row a data set, ours and the slides'."""
    theirs = {(r["dataset"], r["algorithm"]): r for r in published("ebboost_margins")}
    problems, methods, means = results.matrix("errors", "margin_mean")
    _, _, spreads = results.matrix("errors", "margin_std")
    rows = []
    for i, problem in enumerate(problems):
        row: dict[str, Any] = {"data": problem}
        for method in WITH_MARGINS:
            j = methods.index(method)
            row[method] = Spread(mean_and_error(means[i, j])[0], mean_and_error(spreads[i, j])[0], 3)
        for method in WITH_MARGINS:
            cell = theirs.get((slide_name(problem), method))
            if cell is not None:
                row[f"{method}, slides"] = Spread(float(cell["mean_margin"]), float(cell["spread"]), 2)
        rows.append(row)
    return rows


def _margin_claims(rows: list[dict[str, Any]]) -> list[Claim]:
    claims = []
    mine = [row for row in rows if row["data"] in COUNTED]
    for method, said in (("EBBoost", ""), ("ABR", "(our question) "), ("VadaBoost", "(our question) ")):
        known = [r for r in mine if not np.isnan(r[method].mean + r["AdaBoost"].mean)]
        lower = [
            (r[method].mean <= r["AdaBoost"].mean + 5e-4, r[method].error <= r["AdaBoost"].error + 5e-4) for r in known
        ]
        means, spreads = sum(a for a, _ in lower), sum(b for _, b in lower)
        both = sum(a and b for a, b in lower)
        share = both / len(known) if known else 0.0
        verdict = "holds" if share >= 0.9 else "partly" if share >= 0.5 else "does not hold"
        claims.append(
            Claim(
                f"{said}The margins of {method} have a smaller mean and a smaller spread than AdaBoost's"
                + (" (18 of 18 rows as printed, ties included)" if not said else ""),
                verdict if known else "cannot be judged",
                f"Both are smaller (or the same to 0.0005) on {both} of {len(known)} sets, the mean on {means}, the "
                f"spread on {spreads}. Normalised margins also shrink with the number of rounds, which differs between "
                "methods.",
            )
        )
    return claims


def _draw(rows: list[dict[str, Any]]) -> Any:
    """Return what draws every method's spread of margins against AdaBoost's."""

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        for axis, what in zip(axes, ("mean", "error"), strict=True):
            values = [getattr(row["AdaBoost"], what) for row in rows]
            for method in WITH_MARGINS[1:]:
                axis.plot(values, [getattr(row[method], what) for row in rows], "o", label=method)
            if values:
                axis.axline((0.0, 0.0), slope=1.0, color="grey", linewidth=0.8)
            name = "mean" if what == "mean" else "standard deviation"
            axis.set(xlabel=f"{name} of AdaBoost's margins", ylabel=f"{name} of the method's margins")
        axes[0].legend()

    return draw
