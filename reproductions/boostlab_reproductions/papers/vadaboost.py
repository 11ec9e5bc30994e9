"""The tables of the VadaBoost paper (Shivaswamy & Jebara 2011), with the controls that they lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boostlab.studies.plan import Block
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import Spread
from boostlab_reproductions.papers.contests import (
    MARKS,
    Contest,
    PairedErrors,
    among_first,
    beside_published,
    chosen_how_often,
    counted,
    error_table,
    far_off,
    fixed_values,
    printed,
    printed_gain,
    published_minima,
    repeats_of,
    row_minima,
)
from boostlab_reproductions.papers.vadaboost_figure import figure2
from boostlab_reproductions.papers.vadaboost_methods import (
    ADABOOST,
    COLUMNS,
    CONTROLLED,
    CONTROLLED_MORE,
    COUNTED,
    EBBOOST,
    FEW_RATES,
    LAMBDAS,
    LAST_ROUND,
    MORE_RATES,
    NAMES,
    PAPER,
    PATIENT,
    PROBLEMS,
    RATES,
    READINGS,
    RLP,
    RQP,
    VADA,
    VADA_OF_FEW,
    best_of,
    controls,
    rate_of,
)
from boostlab_reproductions.papers.vadaboost_page import (
    CAPTIONS,
    FEWEST,
    WHY_CONTROLS,
    alike,
    better,
    by_chance,
    equally_patient,
    figures,
    likely,
    own_gains,
)
from boostlab_reproductions.problems import RINGNORM_SMALL
from boostlab_reproductions.protocols.vadaboost import Stopped

N_EBBOOST, N_VADA = len(EBBOOST.grid["variance_penalty"]), len(LAMBDAS)
CHOOSE = (("EBBoost", N_EBBOOST), ("VadaBoost", N_VADA))  # among how many runs: so do the controls


def studies() -> list[Study]:
    """Return the studies of this paper."""
    return [table1(), table2(), figure2()]


# -- Table 1 ---------------------------------------------------------------------------------------------------------


def table1() -> Study:
    """Return the study of the table with stumps."""
    stopped, (rate, jitter) = Stopped(), controls(RATES + MORE_RATES)
    return Study(
        "vadaboost-table1",
        "VadaBoost with stumps",
        f"{PAPER}, Table 1",
        (
            Block("errors", PROBLEMS, (ADABOOST, EBBOOST, VADA, rate, jitter), stopped, {"quick": 5, "full": 50}),
            Block("programs", PROBLEMS, (RLP, RQP), stopped, {"quick": 5, "full": 10}),
            Block(
                "patience",
                PROBLEMS,
                (ADABOOST, EBBOOST, VADA, rate),
                Stopped(patience=500, longer=None),
                {"quick": 0, "full": 5},
            ),
        ),
        (
            "Stumps are searched over all cuts between different values of the training rows.",
            *READINGS,
            LAST_ROUND,
            CONTROLLED,
            CONTROLLED_MORE,
            "Patience 500 is read off AdaBoost's own run in all repeats, and run for AdaBoost, EBBoost, VadaBoost and "
            "the control by learning rate in 5.",
            "Quick tier: patience 500 for all methods is left to the full tier; that of AdaBoost, the control, is not.",
        ),
        report1,
    )


def all_errors(results: Results) -> PairedErrors:
    """Return the errors of all columns, the controls among them: those of 11 runs are read off those of 14."""
    errors = _with_fewer(results, "errors", PairedErrors.read(results, "errors"))
    errors = errors.joined(PairedErrors.read(results, "programs"), {"RLP-Boost": "RLP-Boost", "RQP-Boost": "RQP-Boost"})
    return errors.joined(PairedErrors.read(results, "errors", "longer_test_error"), {"AdaBoost": PATIENT})


def _with_fewer(results: Results, block: str, errors: PairedErrors) -> PairedErrors:
    """Return the errors of a block, and those of its controls if they choose among VadaBoost's number of runs."""
    for name in (rate_of, best_of):
        if name(N_EBBOOST) in errors.of:
            fewer = among_first(results, block, name(N_EBBOOST), N_VADA)
            errors = errors.joined(fewer, {name(N_EBBOOST): name(N_VADA)})
    return errors


def report1(results: Results) -> Report:
    """Compare with the paper, and with the controls."""
    errors = all_errors(results)
    counted_errors = errors.rows(COUNTED)
    mine = {a: ("AdaBoost", rate_of(n), best_of(n), PATIENT) for a, n in CHOOSE}
    controls = ("AdaBoost", *(name(n) for name in (rate_of, best_of) for n in (N_VADA, N_EBBOOST)), PATIENT)
    contests = [
        Contest.between(counted_errors, a, b)
        for a, b in (
            *((a, b) for a in mine for b in mine[a]),
            ("EBBoost", "VadaBoost"),
            *((b, "AdaBoost") for b in (*controls[1:], "RLP-Boost", "RQP-Boost")),
        )
    ]
    five, beside = errors.columns(COLUMNS).on_common(), errors.columns((*controls, "EBBoost", "VadaBoost"))
    patience = _patience(results)
    patient = [
        Contest.between(patience.rows(COUNTED), f"{a}, 500", f"{b}, 500")
        for a, n in CHOOSE
        for b in ("AdaBoost", rate_of(n))
    ]
    tables = {
        "errors": error_table(five),
        "controls": error_table(beside),
        "contests": [contest.row() for contest in (*contests, *patient)],
        "published": beside_published(errors, printed("vadaboost_table1_stump"), NAMES.__getitem__, _same(COLUMNS)),
        "fixed_lambda": [
            row for method in ("EBBoost", "VadaBoost") for row in _fixed(results, method, counted_errors, "errors")
        ],
        **_fixed_by_set(results),
        "readings": _readings(results, "vadaboost_table1_stump"),
        "patience": error_table(patience),
    }
    captions = {
        **CAPTIONS,
        "errors": f"{MARKS.format(repeats=repeats_of(five))} These are the repeats that RLP-Boost and RQP-Boost have "
        "too; the next table has all repeats of the others.",
        "controls": MARKS.format(repeats=repeats_of(beside)),
        "patience": f"Patience 100 and 500. {MARKS.format(repeats=repeats_of(patience))}",
    }
    drawn = figures(counted_errors, tables["published"], (*controls, *COLUMNS[1:]))
    claims, notes = _claims1(counted_errors, contests), [*notes_on(results, tables["published"]), WHY_CONTROLS]
    return Report(
        tables, drawn, [equally_patient(c, patient) if PATIENT in c.text else c for c in claims], notes, captions
    )


def _claims1(errors: PairedErrors, contests: list[Contest]) -> list[Claim]:
    minima = row_minima(errors.columns(COLUMNS))
    n_sets = len(errors.columns(COLUMNS).on_common().problems)
    best = max(minima.values(), default=0)
    verdict = "cannot be judged"
    if n_sets >= FEWEST:
        alone = minima["EBBoost"] == best and sum(n == best for n in minima.values()) == 1
        verdict = "holds" if alone and 2 * best > n_sets else "partly" if minima["EBBoost"] == best else "does not hold"
    plain = {(c.a, c.b): c for c in contests}
    eb, vada = plain["EBBoost", "AdaBoost"], plain["VadaBoost", "AdaBoost"]
    pair = plain["EBBoost", "VadaBoost"]
    gains = {method: printed_gain("vadaboost_table1_stump", method) for method, _ in CHOOSE}
    claims = [
        Claim(
            f"Row minima, ties included: {counted(published_minima('vadaboost_table1_stump'), 1)} of 18",
            verdict,
            f"Ours, over the repeats that all five have, on {n_sets} sets: {counted(minima)}. "
            f"{by_chance(errors, COLUMNS)}",
        ),
        better("EBBoost is significantly better than AdaBoost", eb, gains["EBBoost"]),
        better("VadaBoost is significantly better than AdaBoost", vada, gains["VadaBoost"]),
        Claim(
            "EBBoost and VadaBoost are comparable with stumps",
            alike(pair),
            f"EBBoost is {str(pair)[:1].lower()}{str(pair)[1:]}.",
            pair.n_sets,
        ),
    ]
    return claims + own_gains([plain[m, c] for m, n in CHOOSE for c in (rate_of(n), best_of(n), PATIENT)], gains)


# -- Table 2 ---------------------------------------------------------------------------------------------------------

COLUMNS2 = ("AdaBoost", "VadaBoost", "RLP-Boost", "RQP-Boost")


def table2() -> Study:
    """Return the study of the table with CART."""
    stopped, many, few = Stopped("cart", longer=None), controls(RATES), controls(FEW_RATES)
    digits = tuple(problem for problem in PROBLEMS if problem.name.startswith("mnist"))
    others = tuple(problem for problem in PROBLEMS if problem not in digits)
    return Study(
        "vadaboost-table2",
        "VadaBoost with CART",
        f"{PAPER}, Table 2",
        (
            Block("errors", PROBLEMS, (ADABOOST, VADA), stopped, {"quick": 0, "full": 50}),
            Block("errors, quick", PROBLEMS, (ADABOOST, VADA_OF_FEW), stopped, {"quick": 5, "full": 0}),
            Block("controls", others, many, stopped, {"quick": 0, "full": 50}),
            Block("controls of digits", digits, many, stopped, {"quick": 0, "full": 10}),
            Block("controls, quick", others, few, stopped, {"quick": 5, "full": 0}),
            Block("programs", PROBLEMS, (RLP, RQP), stopped, {"quick": 5, "full": 10}),
        ),
        (
            "CART is our DecisionTree on all cuts: grown by the Gini index under the weights, nodes of fewer than 10 "
            "examples are not split, no pruning (scikit-learn's tree takes nine times as long on the digits).",
            *READINGS,
            LAST_ROUND,
            f"{CONTROLLED} In the full tier they have 10 repeats on the digits.",
            "Quick tier: λ is one of 0, 0.3, 0.7 and 1, and so the controls choose among 4 runs, by the learning rates "
            "1, 0.5, 0.2 and 0.05 or by start weights; they are left out on the digits.",
        ),
        report2,
    )


def report2(results: Results) -> Report:
    """Compare with the paper, and with the controls."""
    quick = "" if results.rows("errors") else ", quick"
    n = len((VADA_OF_FEW if quick else VADA).grid["variance_penalty"])
    errors = PairedErrors.read(results, f"errors{quick}")
    errors = errors.joined(PairedErrors.read(results, "programs"), _same(("RLP-Boost", "RQP-Boost")))
    extra = PairedErrors.read(results, f"controls{quick}")
    extra = extra if quick else extra.below(PairedErrors.read(results, "controls of digits"))
    errors = errors.joined(extra, _same((rate_of(n), best_of(n))))
    counted_errors = errors.rows(COUNTED)
    controls = ("AdaBoost", rate_of(n), best_of(n))
    pairs = [
        *(("VadaBoost", b) for b in controls),
        *((b, "AdaBoost") for b in (*controls[1:], "RLP-Boost", "RQP-Boost")),
    ]
    contests = [Contest.between(counted_errors, a, b) for a, b in pairs]
    four, beside = errors.columns(COLUMNS2).on_common(), errors.columns((*controls, "VadaBoost")).on_common()
    tables = {
        "errors": error_table(four),
        "controls": error_table(beside),
        "contests": [contest.row() for contest in contests],
        "published": beside_published(errors, printed("vadaboost_table2_cart"), NAMES.__getitem__, _same(COLUMNS2)),
        "fixed_lambda": _fixed(results, "VadaBoost", counted_errors, f"errors{quick}"),
        "readings": _readings(results, "vadaboost_table2_cart", f"errors{quick}"),
    }
    gains = {"VadaBoost": printed_gain("vadaboost_table2_cart", "VadaBoost")}
    minima = row_minima(counted_errors.columns(COLUMNS2))
    n_sets = len(counted_errors.columns(COLUMNS2).on_common().problems)
    most = minima["VadaBoost"] == max(minima.values(), default=0)
    verdict = "holds" if minima["VadaBoost"] >= 0.8 * n_sets else "partly" if most else "does not hold"
    claims = [
        Claim(
            f"VadaBoost has the row minimum in {published_minima('vadaboost_table2_cart')['VadaBoost']} of 18 rows",
            verdict if n_sets >= FEWEST else "cannot be judged",
            f"Ours, over the repeats that all four have, on {n_sets} sets: {counted(minima)}. "
            f"{by_chance(counted_errors, COLUMNS2)}",
        ),
        better("VadaBoost with CART is significantly better than AdaBoost", contests[0], gains["VadaBoost"]),
        *own_gains(contests[1:3], gains),
    ]
    perfect = (
        "On small sets a full tree may make no error under the weights: boosting ends there, and RLP-Boost, for which "
        "no margin is larger, lets that tree vote alone, which explains errors above the printed ones (wisc)."
    )
    drawn = figures(counted_errors, tables["published"], (*controls, *COLUMNS2[1:]))
    captions = {
        **CAPTIONS,
        "errors": MARKS.format(repeats=f"{repeats_of(four)}, those that all methods have"),
        "controls": MARKS.format(repeats=f"{repeats_of(beside)}, those that all methods have"),
    }
    return Report(tables, drawn, claims, [perfect, *notes_on(results, tables["published"]), WHY_CONTROLS], captions)


# -- what both tables share ------------------------------------------------------------------------------------------


def _same(methods: tuple[str, ...]) -> Mapping[str, str]:
    return {method: method for method in methods}


def _fixed(results: Results, method: str, errors: PairedErrors, block: str) -> list[dict[str, Any]]:
    """Return a row a value of λ: errors without any choice, against AdaBoost's and against the choice."""
    grid, fixed = fixed_values(results, block, method)
    fixed = fixed.rows(COUNTED).joined(errors, {"AdaBoost": "AdaBoost", method: "chosen"})
    often = chosen_how_often(results, block, method, "variance_penalty")
    rows = []
    for name in (*(f"{value:g}" for value in grid), "chosen"):
        if name not in fixed.of or "AdaBoost" not in fixed.of:
            continue
        contest = Contest.between(fixed, name, "AdaBoost")
        means = fixed.means(name)
        rows.append(
            {
                "method": method,
                "λ": name,
                "mean error": round(float(means.mean()), 3) if len(means) else float("nan"),
                "less AdaBoost's": round(contest.difference, 3),
                "sets better": contest.better,
                "worse": contest.worse,
                "better by t-test": contest.clearly_better,
                "worse by t-test": contest.clearly_worse,
                "p (Wilcoxon)": round(contest.p, 4),
                "chosen": often.get(name, 0) if name != "chosen" else sum(often.values()),
            }
        )
    return rows


def _fixed_by_set(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Return the errors of every λ on every data set."""
    tables = {}
    for method in ("EBBoost", "VadaBoost"):
        _, fixed = fixed_values(results, "errors", method)
        rows = []
        for i, problem in enumerate(fixed.problems):
            means = {f"λ = {name}": Spread(float(fixed.means(name)[i]), digits=2) for name in fixed.of}
            rows.append({"data": problem, **means})
        tables[f"fixed_{method.lower()}"] = rows
    return tables


def _readings(results: Results, table: str, block: str = "errors") -> list[dict[str, Any]]:
    """Return how far the two readings of "upon termination" are from the printed cells."""
    rows = []
    for reading, value in (("best round", "test_error"), ("last round", "last_test_error")):
        errors = PairedErrors.read(results, block, value).rows({*COUNTED, RINGNORM_SMALL.name} - {"ringnorm"})
        for method in COLUMNS:
            cells = beside_published(errors, printed(table), NAMES.__getitem__, {method: method})
            if cells:
                gaps = [cell["difference"] for cell in cells]
                rows.append(
                    {
                        "reading": reading,
                        "method": method,
                        "mean difference": round(sum(gaps) / len(gaps), 3),
                        "mean absolute difference": round(sum(map(abs, gaps)) / len(gaps), 3),
                        "sets": len(gaps),
                    }
                )
    return rows


def _patience(results: Results) -> PairedErrors:
    """Return the errors with both patiences."""
    short, long = (_with_fewer(results, block, PairedErrors.read(results, block)) for block in ("errors", "patience"))
    names = ("AdaBoost", "EBBoost", "VadaBoost", rate_of(N_VADA), rate_of(N_EBBOOST))
    both = long.columns(()).joined(short, {m: f"{m}, 100" for m in names})
    return both.joined(long, {m: f"{m}, 500" for m in names}).on_common()


def notes_on(results: Results, beside: list[dict[str, Any]], why: Callable[[str, str], str] = likely) -> list[str]:
    """Return what is to be said under the tables, of which one has ours beside the published errors."""
    notes = [
        "The paired t-test takes the repeats for independent, which random re-splits of one data set are not: it sees "
        "differences too readily. The corrected test (Nadeau and Bengio) has the variance (1/R + 1/2) var.",
        "EBBoost and VadaBoost choose the best of several runs by validation, AdaBoost has one run. λ = 0 and 1 of "
        "EBBoost and λ = 1 of VadaBoost are AdaBoost itself, but for a factor.",
        *far_off(beside, why),
    ]
    failed = [one for one in results.rows() if one.failure]
    if failed:
        notes.append(
            f"{len(failed)} cells failed; the first: {failed[0].problem}, {failed[0].method}: {failed[0].failure}"
        )
    return notes
