"""The tables of the EBBoost slides (Shivaswamy & Jebara 2010), and the margins of VadaBoost beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from boostlab.studies.plan import Block, Method
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import Spread, mean_and_error
from boostlab_reproductions.papers.contest_figures import draw_beside
from boostlab_reproductions.papers.contests import (
    MARKS,
    Contest,
    PairedErrors,
    among_first,
    chosen_how_often,
    counted,
    error_table,
    repeats_of,
    row_minima,
)
from boostlab_reproductions.papers.ebboost_sizes import (
    ALSO,
    COLUMNS,
    DIGITS,
    OTHERS,
    SIZES,
    USUAL,
    listed,
    other_sizes,
    others_table,
    rows_of,
    size_table,
    slide_name,
    that_fit_more,
)
from boostlab_reproductions.papers.printed_cells import (
    beside_published,
    printed,
    printed_gain,
    published_minima,
)
from boostlab_reproductions.papers.vadaboost_methods import (
    ADABOOST,
    COUNTED,
    EBBOOST,
    MORE_RATES,
    PROBLEMS,
    RATES,
    READINGS,
    RLP,
    RQP,
    STAND_INS,
    VADA,
    best_of,
    controls,
    rate_of,
)
from boostlab_reproductions.papers.vadaboost_page import (
    CAPTIONS,
    FEWEST,
    LIMITED,
    WHY_CONTROLS,
    better,
    beyond_one,
    by_chance,
    own_gains,
)
from boostlab_reproductions.papers.vadaboost_tables import notes_on
from boostlab_reproductions.protocols.vadaboost import Stopped
from boostlab_reproductions.published import published

ABR_GRID = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.0)
ABR = Method("ABR", "SoftMarginBoostClassifier", grid={"C": ABR_GRID})
WITH_MARGINS = ("AdaBoost", "EBBoost", "ABR", "VadaBoost")
REPEATS = 20  # that the printed spread is taken over: see `runs_note`
N_EBBOOST, N_VADA = len(EBBOOST.grid["variance_penalty"]), len(VADA.grid["variance_penalty"])


def stopped(n_train: int) -> Stopped:
    """Return the slides' protocol with so many training rows."""
    return Stopped(patience=50, longer=None, margins=True, n_train=n_train)


def blocks() -> tuple[Block, ...]:
    """Return AdaBoost on all sizes, and all methods on the size of every data set."""
    often, found = {"quick": 5, "full": REPEATS}, []
    for n in sorted({rows_of(p.name) for p in PROBLEMS}):
        own = tuple(p for p in PROBLEMS if rows_of(p.name) == n)
        methods = (ADABOOST, EBBOOST, ABR, VADA, *controls(RATES + MORE_RATES))
        found.append(Block(f"errors, {n} rows", own, methods, stopped(n), often))
        found.append(Block(f"programs, {n} rows", own, (RLP, RQP), stopped(n), often))
    found += [Block(f"AdaBoost, {n} rows", PROBLEMS, (ADABOOST,), stopped(n), often) for n in SIZES]
    for n in sorted({n for sizes in ALSO.values() for n in sizes}):
        own = tuple(p for p in PROBLEMS if n in ALSO.get(p.name, ()))
        found.append(
            Block(f"others, {n} rows", own, (EBBOOST, ABR, RLP, RQP), stopped(n), {"quick": 0, "full": REPEATS})
        )
    return tuple(found)


def read(results: Results, which: str, value: str = "test_error") -> PairedErrors:
    """Return one of the numbers of all blocks of a kind, in the order of the data sets."""
    return _whole(PairedErrors.read(results, name, value) for name in results.blocks if name.startswith(f"{which}, "))


def among(results: Results, method: str, n: int) -> PairedErrors:
    """Return a method's errors had it chosen among the first n values of its grid only."""
    return _whole(among_first(results, name, method, n) for name in results.blocks if name.startswith("errors, "))


def _whole(tables: Iterable[PairedErrors]) -> PairedErrors:
    parts = list(tables)
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.below(part)
    there = [p.name for p in PROBLEMS if p.name in whole.problems]
    return PairedErrors(there, {m: a[[whole.problems.index(p) for p in there]] for m, a in whole.of.items()})


def studies() -> list[Study]:
    """Return the study of the slides."""
    study = Study(
        "ebboost-slides",
        "EBBoost, and how margins are spread",
        "Shivaswamy & Jebara, Empirical Bernstein Boosting, AISTATS 2010 (slides): errors and margin statistics",
        blocks(),
        (
            "The slides say neither how rows are split nor how many there are. AdaBoost's printed errors tell: it is "
            f"run with {', '.join(map(str, SIZES))} training rows (at most half of all), half as many to choose by, "
            f"the rest to test, and every set gets a size that gives the printed error: {USUAL}, but {DIGITS} for the "
            f"digits and {', '.join(f'{n} for {name}' for name, n in OTHERS.items())}. So AdaBoost's column is fitted; "
            "the other columns are not. Where another method is off by more than two standard errors, it is run with "
            "the next sizes that AdaBoost's error fits as well: "
            f"{'; '.join(f'{name} with {listed(sizes)}' for name, sizes in ALSO.items())}.",
            "ABR is AdaBoost_Reg of Rätsch, Onoda and Müller with C, for weights of mean 1, from 0 to 100; of "
            "equals the largest. From 1 on it ends after one voter: the useful values are below 0.1, so 0.003, 0.01 "
            "and 0.03 were added to the grid.",
            f"The printed ± is taken for a standard deviation over {REPEATS} runs (see the notes): divided by its root "
            "it is a standard error.",
            "AdaBoost has one run, EBBoost chooses among 14 values of λ. So two controls choose among 14 runs of "
            "AdaBoost, by the learning rate, or by start weights that differ by up to 10 percent.",
            "Margins are y F divided by the sum of the coefficients, of the training rows, at the round that is used; "
            "their mean and standard deviation are averaged over repeats.",
            *READINGS[1:4],
            "RLP-Boost and RQP-Boost weigh all voters of AdaBoost's stopped run, those after its best round too; ν "
            "among 0.01 to 0.8, C among 13 values from 0.001 to 1000; of equals the largest ν and the smallest C.",
            "w4a is a stand-in: as many rows of w8a. ringnorm is read twice, as 7,400 rows of which 200 train, and as "
            "400 of which half do; the count of 18 sets has the first.",
            *READINGS[6:],
            "Quick tier: the other methods' runs with other sizes are left to the full tier.",
        ),
        report,
    )
    return [study]


def report(results: Results) -> Report:
    """Compare errors and margins with the slides."""
    errors = read(results, "errors")
    errors = errors.joined(read(results, "programs"), {"RLP-Boost": "RLP-Boost", "RQP-Boost": "RQP-Boost"})
    errors = errors.joined(among(results, "EBBoost", N_VADA), {"EBBoost": LIMITED})
    errors = errors.joined(among(results, best_of(N_EBBOOST), N_VADA), {best_of(N_EBBOOST): best_of(N_VADA)})
    counted_errors = errors.rows(COUNTED)
    printed_errors = {k: (mean, spread / sqrt(REPEATS)) for k, (mean, spread) in printed("ebboost_results").items()}
    chosen_too = (rate_of(N_EBBOOST), best_of(N_EBBOOST))
    pairs = (
        *(("EBBoost", b) for b in ("AdaBoost", *chosen_too, "ABR")),
        *((a, "AdaBoost") for a in ("ABR", "VadaBoost", *chosen_too)),
        *((LIMITED, b) for b in ("AdaBoost", best_of(N_VADA))),
    )
    contests = [Contest.between(counted_errors, a, b) for a, b in pairs]
    five, own = errors.columns(COLUMNS).on_common(), errors.columns(("AdaBoost", *chosen_too, "EBBoost", "VadaBoost"))
    readings = other_sizes(results, errors)
    readings["the error of the last round"] = read(results, "errors", "last_test_error")
    tables = {
        "errors": error_table(five),
        "controls": error_table(own),
        "training_sizes": size_table(results, printed_errors),
        "other_sizes": others_table(results, errors, printed_errors),
        "margins": margin_table(results),
        "contests": [contest.row() for contest in contests],
        "published": beside_published(
            errors,
            printed_errors,
            slide_name,
            {m: m for m in COLUMNS},
            that_fit_more(readings, errors, printed_errors),
            stand_ins=STAND_INS,
        ),
    }
    gains = {"EBBoost": printed_gain("ebboost_results", "EBBoost")}
    claims = [
        _minima_claim(counted_errors),
        better("EBBoost makes fewer errors than AdaBoost", contests[0], gains["EBBoost"]),
        *own_gains(contests[1:3], gains),
        *_margin_claims(tables["margins"]),
    ]
    captions = {
        "errors": MARKS.format(repeats=f"{repeats_of(five)}, those that all five methods have"),
        "controls": MARKS.format(repeats=repeats_of(own)),
        "training_sizes": "AdaBoost's test errors in percent by the number of training rows, mean ± standard error; "
        "bold: within two standard errors of the printed one. The last columns: the smallest and the largest size that "
        "is, and the one that the tables above use (at most half of the rows).",
        "other_sizes": "How many combined standard errors every method is off the printed error, with the size that is "
        "used and with others that fit AdaBoost's error as well; the last column counts those within two.",
        "margins": "Normalised margins of the training rows: mean ± standard deviation over the rows.",
        "contests": CAPTIONS["contests"],
        "published": f"{CAPTIONS['published']} A reading counts for a data set if more methods are as printed with it "
        "than with ours.",
    }
    figures = {"margins": _draw(tables["margins"]), "ours against published": draw_beside(tables["published"])}
    often: Counter[str] = Counter()
    for name in results.blocks:
        if name.startswith("errors, "):
            often.update(chosen_how_often(results, name, "EBBoost", "variance_penalty"))
    notes = [*beyond_one(contests, often), *notes_on(results, tables["published"], _why), runs_note(), WHY_CONTROLS]
    return Report(tables, figures, claims, notes, captions)


def _minima_claim(errors: PairedErrors) -> Claim:
    """Say in how many rows every method has the smallest error."""
    minima = row_minima(errors.columns(COLUMNS))
    n_sets = len(errors.columns(COLUMNS).on_common().problems)
    best = max(minima.values(), default=0)
    verdict = "holds" if minima["EBBoost"] == best and 2 * best >= n_sets else "partly"
    if n_sets < FEWEST:
        verdict = "cannot be judged"
    elif minima["EBBoost"] < best:
        verdict = "does not hold"
    return Claim(
        f"Row minima of the errors, ties included: {counted(published_minima('ebboost_results'), 1)}",
        verdict,
        f"Ours, over the repeats that all five have, on {n_sets} sets: {counted(minima)}. {by_chance(errors, COLUMNS)}",
    )


def _why(data: str, method: str) -> str:
    if data in ALSO:
        return f"no reason is known: {listed(ALSO[data])} rows, which fit AdaBoost's error too, do not fit the others"
    return "no reason is known: the size fits AdaBoost's error"


def runs_note() -> str:
    """Return what the digits of the printed errors tell about the number of runs and of test rows."""
    cells = printed("ebboost_results")
    told = []
    for data, test_rows in (("ringnorm", 100), ("wisc", 140)):
        values = [mean for (name, _), (mean, _) in cells.items() if name == data]
        cases = REPEATS * test_rows
        fit = all(is_share_of(value, cases) for value in values)
        chance = share_that_fits(values, cases) ** len(values)
        told.append(
            f"those of {data} {'are' if fit else 'are not'} whole numbers of errors in {cases:,} cases ({REPEATS} runs "
            f"of {test_rows} test rows), which by chance has a probability of {chance:.1g}"
        )
    return "The five printed errors of a small set tell how many cases they are shares of: " + "; ".join(told) + "."


def is_share_of(percent: float, cases: int) -> bool:
    """Return whether a percentage of two digits is a whole number of so many cases.

    Examples
    --------
    >>> is_share_of(4.46, 2800), is_share_of(4.45, 2800)
    (True, False)
    """
    return abs(100 * round(percent * cases / 100) / cases - percent) <= 0.005 + 1e-9


def share_that_fits(values: Sequence[float], cases: int) -> float:
    """Return the share of percentages of two digits, in the range of some, that are whole numbers of so many cases."""
    grid = np.arange(round(100 * min(values)), round(100 * max(values)) + 1) / 100
    return float(np.mean([is_share_of(float(value), cases) for value in grid]))


# -- margins ---------------------------------------------------------------------------------------------------------


def margin_table(results: Results) -> list[dict[str, Any]]:
    """Return mean and standard deviation of the margins, a row a data set, ours and the slides'."""
    theirs = {(r["dataset"], r["algorithm"]): r for r in published("ebboost_margins")}
    means, spreads = (read(results, "errors", value) for value in ("margin_mean", "margin_std"))
    rows = []
    for i, problem in enumerate(means.problems):
        row: dict[str, Any] = {"data": problem}
        for method in WITH_MARGINS:
            mean, spread = (mean_and_error(found.of[method][i])[0] / 100 for found in (means, spreads))
            row[method] = Spread(mean, spread, 3)
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
