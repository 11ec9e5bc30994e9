"""The tables of the VadaBoost paper (Shivaswamy & Jebara 2011), with the controls that they lack."""

from __future__ import annotations

from typing import Any

from boostlab.studies.plan import Block
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import Spread
from boostlab_reproductions.papers.contests import (
    MARKS,
    Contest,
    PairedErrors,
    among_first,
    chosen_how_often,
    counted,
    error_table,
    fixed_values,
    repeats_of,
    row_minima,
)
from boostlab_reproductions.papers.printed_cells import (
    beside_published,
    printed,
    printed_gain,
    published_minima,
)
from boostlab_reproductions.papers.vadaboost_cart import table2
from boostlab_reproductions.papers.vadaboost_figure import figure2
from boostlab_reproductions.papers.vadaboost_methods import (
    ADABOOST,
    COLUMNS,
    CONTROLLED,
    CONTROLLED_MORE,
    COUNTED,
    EBBOOST,
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
    alike,
    better,
    beyond_one,
    by_chance,
    draw_spreads,
    draws_note,
    equally_patient,
    figures,
    own_gains,
)
from boostlab_reproductions.papers.vadaboost_tables import fixed_lambda, notes_on, readings, same
from boostlab_reproductions.problems.vadaboost import RINGNORM_DRAWS, RINGNORM_SMALL
from boostlab_reproductions.protocols.vadaboost import Stopped

N_EBBOOST, N_VADA = len(EBBOOST.grid["variance_penalty"]), len(LAMBDAS)
N_RQP, N_RLP = len(RQP.grid["C"]), len(RLP.grid["nu"])
REWEIGH = (("RQP-Boost", N_RQP), ("RLP-Boost", N_RLP))
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
            Block("draws", RINGNORM_DRAWS, (ADABOOST, EBBOOST, VADA), stopped, {"quick": 5, "full": 10}),
            Block("draws, programs", RINGNORM_DRAWS, (RLP, RQP), stopped, {"quick": 5, "full": 10}),
        ),
        (
            "Stumps are searched over all cuts between different values of the training rows.",
            *READINGS,
            LAST_ROUND,
            CONTROLLED,
            CONTROLLED_MORE,
            "Patience 500 is read off AdaBoost's own run in all repeats, and run for AdaBoost, EBBoost, VadaBoost and "
            "the control by learning rate in 5.",
            "ringnorm (400) is one draw of 400 examples; ten more tell what the draw does, and its ± beside the "
            "printed errors has the deviation over draws in it.",
            "RQP-Boost chooses among 13 values and RLP-Boost among 11: their controls choose among as many runs of "
            "AdaBoost. EBBoost with λ at most 1, which is what the papers define, is read off its grid.",
            "Quick tier: patience 500 for all methods is left to the full tier; that of AdaBoost, the control, is not.",
        ),
        report1,
    )


def all_errors(results: Results) -> PairedErrors:
    """Return the errors of all columns, the controls among them: those of 11 runs are read off those of 14."""
    errors = _with_fewer(results, "errors", PairedErrors.read(results, "errors"))
    errors = errors.joined(among_first(results, "errors", "EBBoost", N_VADA), {"EBBoost": LIMITED})
    for name in (rate_of, best_of):
        errors = errors.joined(among_first(results, "errors", name(N_EBBOOST), N_RQP), {name(N_EBBOOST): name(N_RQP)})
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
    controls = ("AdaBoost", *(name(n) for name in (rate_of, best_of) for n in (N_VADA, N_EBBOOST)), PATIENT)
    contests = [Contest.between(counted_errors, a, b) for a, b in _pairs(controls)]
    five, beside = errors.columns(COLUMNS).on_common(), errors.columns((*controls, "EBBoost", "VadaBoost"))
    patience, draws = _patience(results), _draws(results, errors)
    patient = [
        Contest.between(patience.rows(COUNTED), f"{a}, 500", f"{b}, 500")
        for a, n in CHOOSE
        for b in ("AdaBoost", rate_of(n))
    ]
    tables = {
        "errors": error_table(five),
        "controls": error_table(beside),
        "contests": [contest.row() for contest in (*contests, *patient)],
        "published": beside_published(
            errors,
            printed("vadaboost_table1_stump"),
            NAMES.__getitem__,
            same(COLUMNS),
            _other_readings(results, errors),
            draw_spreads(draws),
            STAND_INS,
        ),
        "fixed_lambda": [
            row
            for method in ("EBBoost", "VadaBoost")
            for row in fixed_lambda(results, method, counted_errors, "errors")
        ],
        **_fixed_by_set(results),
        "readings": readings(results, "vadaboost_table1_stump"),
        "patience": error_table(patience),
        "draws_of_ringnorm": error_table(draws),
    }
    captions = {
        **CAPTIONS,
        "errors": f"{MARKS.format(repeats=repeats_of(five))} These are the repeats that RLP-Boost and RQP-Boost have "
        "too; the next table has all repeats of the others.",
        "controls": MARKS.format(repeats=repeats_of(beside)),
        "draws_of_ringnorm": f"Eleven draws of 400 examples. {MARKS.format(repeats=repeats_of(draws))}",
        "patience": f"Patience 100 and 500. {MARKS.format(repeats=repeats_of(patience))}",
    }
    drawn = figures(counted_errors, tables["published"], (*controls, *COLUMNS[1:]))
    claims = _claims1(counted_errors, contests)
    notes = [
        *beyond_one(contests, chosen_how_often(results, "errors", "EBBoost", "variance_penalty")),
        *draws_note(draws),
        *notes_on(results, tables["published"]),
        WHY_CONTROLS,
    ]
    return Report(
        tables, drawn, [equally_patient(c, patient) if PATIENT in c.text else c for c in claims], notes, captions
    )


def _pairs(controls: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return who is compared with whom."""
    mine = {a: ("AdaBoost", rate_of(n), best_of(n), PATIENT) for a, n in CHOOSE}
    again = {a: (rate_of(n), best_of(n)) for a, n in REWEIGH}
    return [
        *((a, b) for a in mine for b in mine[a]),
        *((a, b) for a in again for b in again[a]),
        *((LIMITED, b) for b in ("AdaBoost", rate_of(N_VADA), best_of(N_VADA))),
        ("EBBoost", LIMITED),
        ("EBBoost", "VadaBoost"),
        *((b, "AdaBoost") for b in (*controls[1:], "RLP-Boost", "RQP-Boost")),
    ]


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
    gains = {method: printed_gain("vadaboost_table1_stump", method) for method, _ in (*CHOOSE, *REWEIGH)}
    gains[LIMITED] = gains["EBBoost"]
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
    asked = [(m, c) for m, n in CHOOSE for c in (rate_of(n), best_of(n), PATIENT)]
    asked += [(LIMITED, best_of(N_VADA)), *((m, c) for m, n in REWEIGH for c in (rate_of(n), best_of(n)))]
    return claims + own_gains([plain[pair] for pair in asked], gains)


def _draws(results: Results, errors: PairedErrors) -> PairedErrors:
    """Return the errors on all draws of 400 examples of ringnorm, the first of which stands in the other tables."""
    others = PairedErrors.read(results, "draws")
    others = others.joined(PairedErrors.read(results, "draws, programs"), same(("RLP-Boost", "RQP-Boost")))
    return errors.rows([RINGNORM_SMALL.name]).columns(COLUMNS).below(others)


def _other_readings(results: Results, errors: PairedErrors) -> dict[str, PairedErrors]:
    """Return the other readings of the paper that were run."""
    small = errors.rows([RINGNORM_SMALL.name])
    return {
        "400 examples of ringnorm": small,
        "the error of the last round": PairedErrors.read(results, "errors", "last_test_error"),
        "a patience of 500": PairedErrors.read(results, "patience"),
    }


def _patience(results: Results) -> PairedErrors:
    """Return the errors with both patiences."""
    short, long = (_with_fewer(results, block, PairedErrors.read(results, block)) for block in ("errors", "patience"))
    names = ("AdaBoost", "EBBoost", "VadaBoost", rate_of(N_VADA), rate_of(N_EBBOOST))
    both = long.columns(()).joined(short, {m: f"{m}, 100" for m in names})
    return both.joined(long, {m: f"{m}, 500" for m in names}).on_common()


def _fixed_by_set(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Return the errors of every λ on every data set."""
    tables = {}
    for method in ("EBBoost", "VadaBoost"):
        _, fixed = fixed_values(results, "errors", method)
        means = {f"λ = {name}": fixed.means(name) for name in fixed.of}
        tables[f"fixed_{method.lower()}"] = [
            {"data": problem, **{name: Spread(float(of[i]), digits=2) for name, of in means.items()}}
            for i, problem in enumerate(fixed.problems)
        ]
    return tables
