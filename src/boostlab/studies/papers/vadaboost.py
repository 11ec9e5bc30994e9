"""The tables of the VadaBoost paper (Shivaswamy & Jebara 2011), with the controls that they lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boostlab.studies.papers.contests import (
    MARKS,
    Contest,
    Errors,
    beside_published,
    chosen_how_often,
    counted,
    error_table,
    far_off,
    fixed_values,
    printed,
    published_minima,
    repeats_of,
    row_minima,
)
from boostlab.studies.papers.vadaboost_figure import figure2
from boostlab.studies.papers.vadaboost_page import CAPTIONS, FEWEST, by_chance, equally_patient, figures, likely
from boostlab.studies.plan import Block, Method
from boostlab.studies.problems import RINGNORM_SMALL, VADABOOST
from boostlab.studies.protocols.vadaboost import Stopped
from boostlab.studies.statistics import holm
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import Spread

PAPER = "Shivaswamy & Jebara, Variance Penalizing AdaBoost, NIPS 2011"
LAMBDAS = tuple(k / 10 for k in range(11))
BEYOND = (2.0, 5.0, 10.0)
RATES = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05)
NUS = (0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01)
PRICES = tuple(10.0 ** (k / 2) for k in range(-6, 7))

ADABOOST = Method("AdaBoost", "AdaBoostClassifier")
EBBOOST = Method("EBBoost", "EBBoostClassifier", grid={"variance_penalty": LAMBDAS + BEYOND})
VADA = Method("VadaBoost", "VadaBoostClassifier", grid={"variance_penalty": LAMBDAS})
RATE = Method("AdaBoost, rate chosen", "AdaBoostClassifier", grid={"learning_rate": RATES})
JITTER = Method("AdaBoost, best of 11", "AdaBoostClassifier", grid={"run": tuple(range(11))}, how="jitter")
RLP = Method("RLP-Boost", "RLPBoostClassifier", grid={"nu": NUS}, how="reweigh", after="AdaBoostClassifier")
RQP = Method("RQP-Boost", "RQPBoostClassifier", grid={"C": PRICES}, how="reweigh", after="AdaBoostClassifier")
PATIENT = "AdaBoost, patience 500"
CONTROLS = (RATE.name, JITTER.name, PATIENT)

PROBLEMS = (*VADABOOST, RINGNORM_SMALL)
COUNTED = tuple(problem.name for problem in VADABOOST)  # the second reading of ringnorm is not in the paper's count
NAMES = {problem.name: problem.row for problem in PROBLEMS}
COLUMNS = ("AdaBoost", "EBBoost", "VadaBoost", "RLP-Boost", "RQP-Boost")

READINGS = (
    "Rows are split 50/25/25 at random, not by class, anew for every repeat; all methods see the same splits.",
    "The round with the first smallest validation error counts (the paper: upon termination); the table of readings "
    "has the last round too.",
    "At most 5,000 rounds; a drop of the validation error is a strict decrease.",
    "λ is chosen among 0, 0.1, ..., 1, for EBBoost also 2, 5 and 10; of equals the smallest.",
    "RLP-Boost and RQP-Boost weigh all voters of AdaBoost's stopped run, those after its best round too; ν among 0.01 "
    "to 0.8, C among 13 values from 0.001 to 1000; of equals the largest ν and the smallest C.",
    "The learning rate of the control is one of 11 values from 1 to 0.05, of equals the largest; the jittered runs "
    "start from weights 1 ± 10 percent, uniformly drawn, and the first of the 11 is AdaBoost's own.",
    "w4a is a stand-in: as many rows of w8a. ringnorm is read twice, with all 7,400 rows and with 400; the paper's "
    "count of 18 sets has the first.",
    "A standard error printed as 0.0 is taken for 0.05. Fewer than five repeats of ours are given the printed standard "
    "error times √(50 / repeats).",
)


def studies() -> list[Study]:
    """Return the studies of this paper."""
    return [table1(), table2(), figure2()]


# -- Table 1 ---------------------------------------------------------------------------------------------------------


def table1() -> Study:
    """Return the study of the table with stumps."""
    stopped = Stopped()
    return Study(
        "vadaboost-table1",
        "VadaBoost with stumps",
        f"{PAPER}, Table 1",
        (
            Block("errors", PROBLEMS, (ADABOOST, EBBOOST, VADA, RATE, JITTER), stopped, {"quick": 5, "full": 50}),
            Block("programs", PROBLEMS, (RLP, RQP), stopped, {"quick": 5, "full": 10}),
            Block(
                "patience",
                PROBLEMS,
                (ADABOOST, EBBOOST, VADA, RATE),
                Stopped(patience=500, longer=None),
                {"quick": 1, "full": 5},
            ),
        ),
        (
            "Stumps are searched over all cuts between different values of the training rows.",
            *READINGS,
            "Patience 500 is read off AdaBoost's own run in all repeats, and run for all methods in fewer.",
        ),
        report1,
    )


def all_errors(results: Results) -> Errors:
    """Return the errors of all columns, the controls among them."""
    errors = Errors.read(results, "errors")
    errors = errors.joined(Errors.read(results, "programs"), {"RLP-Boost": "RLP-Boost", "RQP-Boost": "RQP-Boost"})
    return errors.joined(Errors.read(results, "errors", "longer_test_error"), {"AdaBoost": PATIENT})


def report1(results: Results) -> Report:
    """Compare with the paper, and with the controls."""
    errors = all_errors(results)
    counted_errors = errors.rows(COUNTED)
    controls = ("AdaBoost", RATE.name, JITTER.name, PATIENT)
    contests = [
        Contest.between(counted_errors, a, b)
        for a, b in (
            *((a, b) for a in ("EBBoost", "VadaBoost") for b in controls),
            ("EBBoost", "VadaBoost"),
            *((b, "AdaBoost") for b in (*controls[1:], "RLP-Boost", "RQP-Boost")),
        )
    ]
    five, beside = errors.columns(COLUMNS).on_common(), errors.columns((*controls, "EBBoost", "VadaBoost"))
    patience = _patience(results)
    patient = [
        Contest.between(patience.rows(COUNTED), f"{a}, 500", f"{b}, 500")
        for a in ("EBBoost", "VadaBoost")
        for b in ("AdaBoost", RATE.name)
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
    claims, notes = _claims1(counted_errors, contests), notes_on(results, tables["published"])
    return Report(
        tables, drawn, [equally_patient(c, patient) if PATIENT in c.text else c for c in claims], notes, captions
    )


def _claims1(errors: Errors, contests: list[Contest]) -> list[Claim]:
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
    claims = [
        Claim(
            f"Row minima, ties included: {counted(published_minima('vadaboost_table1_stump'), 1)} of 18",
            verdict,
            f"Ours, over the repeats that all five have, on {n_sets} sets: {counted(minima)}. "
            f"{by_chance(errors, COLUMNS)}",
        ),
        Claim("EBBoost is significantly better than AdaBoost", verdict_of(eb), f"{eb}."),
        Claim("VadaBoost is significantly better than AdaBoost", verdict_of(vada), f"{vada}."),
        Claim(
            "EBBoost and VadaBoost are comparable with stumps",
            _alike(pair),
            f"EBBoost is {str(pair)[:1].lower()}{str(pair)[1:]}.",
        ),
    ]
    return claims + _own_gains([plain[m, c] for m in ("EBBoost", "VadaBoost") for c in CONTROLS])


def _own_gains(contests: list[Contest]) -> list[Claim]:
    """Return a claim a control; as several are asked, their p-values are Holm's, or one in ten would hold by chance."""
    claims = []
    for contest, p in zip(contests, holm([c.p for c in contests]), strict=True):
        why = "" if contest.wins(p) else " Over this control, which has no variance penalty, no sure gain is seen."
        text = f"(our question) {contest.a}'s gain is its own: it is better than {contest.b}"
        claims.append(Claim(text, verdict_of(contest, p), f"{contest} ({p:.2g} by Holm).{why}"))
    return claims


def verdict_of(contest: Contest, p: float | None = None) -> str:
    """Return whether a is better than b over all data sets."""
    if contest.n_sets < FEWEST:
        return "cannot be judged"
    if contest.wins(p):
        return (
            "holds" if contest.clearly_worse == 0 or contest.clearly_better >= 3 * contest.clearly_worse else "partly"
        )
    return "partly" if contest.difference < 0 and contest.clearly_better > contest.clearly_worse else "does not hold"


def _alike(contest: Contest) -> str:
    if contest.n_sets < FEWEST:
        return "cannot be judged"
    return (
        "holds"
        if contest.p > 0.05
        else "partly"
        if contest.clearly_better + contest.clearly_worse <= 6
        else "does not hold"
    )


# -- Table 2 ---------------------------------------------------------------------------------------------------------

COLUMNS2 = ("AdaBoost", "VadaBoost", "RLP-Boost", "RQP-Boost")


def table2() -> Study:
    """Return the study of the table with CART."""
    stopped = Stopped("cart", longer=None)
    digits = tuple(problem for problem in PROBLEMS if problem.name.startswith("mnist"))
    others = tuple(problem for problem in PROBLEMS if problem not in digits)
    return Study(
        "vadaboost-table2",
        "VadaBoost with CART",
        f"{PAPER}, Table 2",
        (
            Block("errors", PROBLEMS, (ADABOOST, VADA), stopped, {"quick": 1, "full": 50}),
            Block("controls", others, (RATE, JITTER), stopped, {"quick": 1, "full": 50}),
            Block("controls of digits", digits, (RATE, JITTER), stopped, {"quick": 0, "full": 10}),
            Block("programs", PROBLEMS, (RLP, RQP), stopped, {"quick": 1, "full": 10}),
        ),
        (
            "CART is our DecisionTree on all cuts: grown by the Gini index under the weights, nodes of fewer than 10 "
            "examples are not split, no pruning (scikit-learn's tree takes nine times as long on the digits).",
            *READINGS,
        ),
        report2,
    )


def report2(results: Results) -> Report:
    """Compare with the paper, and with the controls."""
    errors = Errors.read(results, "errors")
    errors = errors.joined(Errors.read(results, "programs"), _same(("RLP-Boost", "RQP-Boost")))
    extra = Errors.read(results, "controls").below(Errors.read(results, "controls of digits"))
    errors = errors.joined(extra, _same((RATE.name, JITTER.name)))
    counted_errors = errors.rows(COUNTED)
    controls = ("AdaBoost", RATE.name, JITTER.name)
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
        "fixed_lambda": _fixed(results, "VadaBoost", counted_errors, "errors"),
        "readings": _readings(results, "vadaboost_table2_cart"),
    }
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
        Claim("VadaBoost with CART is significantly better than AdaBoost", verdict_of(contests[0]), f"{contests[0]}."),
        *_own_gains(contests[1:3]),
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
    return Report(tables, drawn, claims, [perfect, *notes_on(results, tables["published"])], captions)


# -- what both tables share ------------------------------------------------------------------------------------------


def _same(methods: tuple[str, ...]) -> Mapping[str, str]:
    return {method: method for method in methods}


def _fixed(results: Results, method: str, errors: Errors, block: str) -> list[dict[str, Any]]:
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


def _readings(results: Results, table: str) -> list[dict[str, Any]]:
    """Return how far the two readings of "upon termination" are from the printed cells."""
    rows = []
    for reading, value in (("best round", "test_error"), ("last round", "last_test_error")):
        errors = Errors.read(results, "errors", value).rows({*COUNTED, RINGNORM_SMALL.name} - {"ringnorm"})
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


def _patience(results: Results) -> Errors:
    """Return the errors with both patiences."""
    short, long = Errors.read(results, "errors"), Errors.read(results, "patience")
    names = ("AdaBoost", "EBBoost", "VadaBoost", RATE.name)
    both = long.columns(()).joined(short, {m: f"{m}, 100" for m in names})
    return both.joined(long, {m: f"{m}, 500" for m in names}).on_common()


def notes_on(results: Results, beside: list[dict[str, Any]], why: Callable[[str, str], str] = likely) -> list[str]:
    """Return what is to be said under the tables, of which one has ours beside the published errors."""
    notes = [
        "The paired t-test takes the repeats for independent, which random re-splits of one data set are not: it sees "
        "differences too readily. The corrected test (Nadeau and Bengio) has the variance (1/R + 1/2) var.",
        "EBBoost and VadaBoost choose the best of 14 and 11 runs by validation, AdaBoost has one run. So two controls "
        "choose among 11 runs of AdaBoost: by the learning rate, and among runs from slightly different start "
        "weights. What the latter gains is the gain of choosing alone. λ = 0 and 1 of EBBoost and λ = 1 of VadaBoost "
        "are AdaBoost itself, but for a factor, so EBBoost has 13 different runs: two more than the controls.",
        *far_off(beside, why),
    ]
    failed = [one for one in results.rows() if one.failure]
    if failed:
        notes.append(
            f"{len(failed)} cells failed; the first: {failed[0].problem}, {failed[0].method}: {failed[0].failure}"
        )
    return notes
