"""QuadBoost's two tables: test risks and running times on 25 problems, and which algorithm is the better one."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from boostlab.studies.statistics import sign_test
from boostlab.studies.study import Claim, Report, Results, Study
from boostlab.studies.tables import Spread, mean_and_error
from boostlab_reproductions.papers.quadboost_pairs import table2
from boostlab_reproductions.papers.quadboost_risks import (
    BLOCKS,
    CONTROL,
    DEFAULTS,
    L1,
    PAPERS,
    PLAIN,
    QUICK_ROUNDS,
    Risks,
    block_of,
    mean,
    pair_differences,
    printed,
    score,
    wins,
)
from boostlab_reproductions.problems import QUADBOOST
from boostlab_reproductions.published import published

ENOUGH_SPLITS = 10  # to tell how far they lie apart
MEAN_OFF = "mean: standard errors off"
SOURCE = "Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy 2015"

ASSUMPTIONS = (
    "The training part has half of the rows, rounded up, and 500 of more than 1,000; every printed risk is a multiple"
    " of one over the number of rows that this leaves for testing. Splits are random and not stratified. The paper "
    "has one split a data set; split 1 stands for it, and the average over all splits beside it.",
    "How problems of several classes were made binary is not said: see the list of problems; where the reading was "
    "chosen by its fit, the default reading stands beside it. One-hot columns for "
    "words, mean or most frequent value of the training part for missing values.",
    "x becomes tanh((x - mean) / deviation) with both from the training part; thresholds lie at min + k (max - min) /"
    " 11, k = 1, ..., 10, of the training part after that. Pool and scaling are made once a split, so "
    "cross-validation uses the same voters in all folds (it sees the features of its held-out rows, never their "
    "labels).",
    "Stumps that agree on all training rows, or disagree on all, are one voter, the first. There is no constant voter.",
    "Ten values of every parameter on a logarithmic grid between the paper's ends, rounds rounded to whole numbers; "
    "two parameters form the full grid. Five folds, stratified. Of equals the fewest rounds, then the strongest "
    "regularisation. Every round of a grid is read off one run of the longest.",
    "QuadBoost is stagewise: a voter that comes back is a new one, so the cap of the Linf form is one on every step. "
    "L1 ends when d - lambda is at most 1e-6, or after 100,000 rounds.",
    "A run of AdaBoost goes to a million rounds unless its best error comes within 1e-12 of one half before. Quick "
    f"tier: AdaBoost's grid ends at {QUICK_ROUNDS[-1]:,} rounds, which one of 250 choices of the full tier exceeds.",
    "Seconds are the processor's, for choosing and training on one thread, splits, pool and compilation not counted."
    " QuadBoost and AdaBoost run compiled on the pool; LPBoost is column generation with HiGHS.",
)


def table1(results: Results) -> Report:
    """Make tables and verdicts of the test risks and running times."""
    risks, paper = Risks.of(results), printed()
    if not risks.problems:
        return Report(notes=["No cell is finished."])
    report = Report()
    report.tables["risks"] = _wide(risks, 0)
    report.tables["mean_risks"] = _wide(risks, None)
    report.tables["beside_the_paper"] = _beside(risks, paper)
    report.tables["readings"] = _readings(report.tables["beside_the_paper"], results, paper)
    _explain(report.tables["beside_the_paper"], report.tables["readings"], risks)
    report.tables["seconds"] = _seconds(results)
    pairs = ((PLAIN, "AdaBoost"), (PLAIN, CONTROL), (L1, "LPBoost"))
    report.tables["wins"] = [row for a, b in pairs for row in _wins(risks, paper, a, b)]
    report.tables["differences"] = [row for a, b in pairs for row in pair_differences(results, risks, a, b)]
    report.figures["risks"] = lambda figure: _draw(figure, risks, paper)
    report.claims = _claims(risks, report.tables["seconds"])
    report.notes = [
        *_shares(report.tables["beside_the_paper"], report.tables["readings"]),
        *_notes(report.tables["beside_the_paper"], results),
        *_no_vote_pays(results),
    ]
    report.captions = CAPTIONS
    return report


CAPTIONS = {
    "risks": "Shares of test rows that are wrong on split 1, which stands for the paper's only one.",
    "mean_risks": "The same, mean ± standard error over all splits.",
    "beside_the_paper": "Standard errors: those of two shares of the test rows (split 1); that of the mean and that of "
    "the paper's share together (mean). Above zero we make more errors. The last column has what was run that explains "
    "a cell off by more than two: the default reading, or our ten splits, if a new one lies so far off as well.",
    "readings": "Problems whose reading was chosen by its fit to the printed risks, beside the default reading (the "
    "largest class against the others, words one-hot): means over the splits, and how many standard errors off.",
    "seconds": "Processor seconds for choosing and training, mean over data sets and splits.",
    "wins": "On how many data sets the first of a pair has the lower, the same, the higher risk.",
    "differences": "Mean risk of the first less that of the second, in percent points: the typical difference (Hodges "
    "and Lehmann) with its bootstrap interval over the data sets; how many different voters each has on average.",
}


def _wide(risks: Risks, split: int | None) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = []
    for i, problem in enumerate(risks.problems):
        row: dict[str, Any] = {"data set": problem, "test rows": int(risks.n_test[i])}
        for m, name in enumerate(risks.methods):
            if split is None:
                row[name] = Spread(*mean_and_error(risks.values[i, m]), digits=3)
            else:
                row[name] = _rounded(risks.column(name, split)[i])
        table.append(row)
    return table


def _rounded(x: float, digits: int = 3) -> float | None:
    return round(float(x), digits) if np.isfinite(x) else None


def _beside(risks: Risks, paper: dict[tuple[str, str], float]) -> list[dict[str, Any]]:
    """Return every cell beside the paper's.

    The paper's risk is a share of n test rows of one split, and so is ours on split 1; the deviation of their
    difference is sqrt(2 p (1 - p) / n).  The mean of R splits has its own standard error in place of one of the two.
    """
    rows = []
    for i, problem in enumerate(risks.problems):
        for name in PAPERS:
            theirs, first, n = paper[problem, name], risks.column(name, 0)[i], risks.n_test[i]
            splits = risks.values[i, risks.methods.index(name)]
            splits = splits[np.isfinite(splits)]
            if not len(splits):
                continue
            p = (theirs * n + splits.mean() * n + 1) / (2 * n + 2)  # not 0 and not 1, where nothing went wrong
            one = p * (1 - p) / n
            spread = float(splits.var(ddof=1)) / len(splits) if len(splits) > 1 else one
            rows.append(
                {
                    "data set": problem,
                    "algorithm": name,
                    "ours, split 1": _rounded(first),
                    "ours, mean": _rounded(splits.mean()),
                    "published": theirs,
                    "split 1: standard errors off": _rounded((first - theirs) / np.sqrt(2 * one), 1),
                    "mean: standard errors off": _rounded((splits.mean() - theirs) / np.sqrt(one + spread), 1),
                }
            )
    return rows


def _readings(
    beside: list[dict[str, Any]], results: Results, paper: dict[tuple[str, str], float]
) -> list[dict[str, Any]]:
    """Return the cells of the problems whose reading was fitted, beside those of their default readings."""
    if DEFAULTS.name not in results.blocks:
        return []
    fitted = {(row["data set"], row["algorithm"]): row for row in beside}
    rows = []
    for row in _beside(Risks.of(results, DEFAULTS.name), paper):
        own = fitted.get((row["data set"], row["algorithm"]))
        if own is not None:
            rows.append(
                {
                    "data set": row["data set"],
                    "algorithm": row["algorithm"],
                    "published": row["published"],
                    "fitted reading": own["ours, mean"],
                    "fitted: standard errors off": own[MEAN_OFF],
                    "default reading": row["ours, mean"],
                    "default: standard errors off": row[MEAN_OFF],
                }
            )
    return rows


def _explain(beside: list[dict[str, Any]], readings: list[dict[str, Any]], risks: Risks) -> None:
    """Say of cells that are off what was run that explains them: the default reading, or how far splits lie apart.

    The paper has one split, and risks differ from split to split by more than the test rows' share of chance: a printed
    risk within two standard deviations of a new split from our mean is one that another split gives.
    """
    near = {
        (row["data set"], row["algorithm"])
        for row in readings
        if abs(row["default: standard errors off"] or 0.0) <= 2 < abs(row["fitted: standard errors off"] or 0.0)
    }
    for row in beside:
        splits = risks.values[risks.problems.index(row["data set"]), risks.methods.index(row["algorithm"])]
        splits = splits[np.isfinite(splits)]
        reasons = ["the default reading"] if (row["data set"], row["algorithm"]) in near else []
        if abs(row[MEAN_OFF] or 0.0) > 2 and len(splits) >= ENOUGH_SPLITS:
            deviation = float(splits.std(ddof=1)) * sqrt(1 + 1 / len(splits))
            if abs(splits.mean() - row["published"]) <= 2 * deviation:
                reasons.append(f"the draw of the split: ours lie between {splits.min():.3f} and {splits.max():.3f}")
        row["explained by"] = "; ".join(reasons)


def _shares(beside: list[dict[str, Any]], readings: list[dict[str, Any]]) -> list[str]:
    """Return how many cells are near the paper's, with fitted and with default readings."""
    off = {(row["data set"], row["algorithm"]): row[MEAN_OFF] for row in beside}
    default = off | {(row["data set"], row["algorithm"]): row["default: standard errors off"] for row in readings}
    if not off:
        return []
    near, near_default = (sum(abs(x or 0.0) <= 2 for x in found.values()) for found in (off, default))
    fitted = sorted({row["data set"] for row in readings})
    if not fitted:
        return [
            f"Of {len(off)} cells {near} lie within two standard errors of the paper's; default readings have not run."
        ]
    rest = {cell: x for cell, x in off.items() if cell[0] not in fitted}
    near_rest = sum(abs(x or 0.0) <= 2 for x in rest.values())
    return [
        f"Of {len(off)} cells {near} lie within two standard errors of the paper's (our mean over splits) with the "
        f"readings of this page. Those of {', '.join(fitted)} were chosen because they come near these very cells, so "
        f"95 percent by chance is no yardstick: with default readings it is {near_default} of {len(off)}, and on the "
        f"problems that leave nothing to choose {near_rest} of {len(rest)}."
    ]


def _no_vote_pays(results: Results) -> list[str]:
    """Return in how many cells LPBoost's choice is a program whose optimum is no vote at all."""
    done = [one for one in results.rows(block_of(results)) if one.method == "LPBoost" and one.outcome]
    prices = [(one.outcome.numbers.get("chosen", {}).get("C"), one.number("n_train")) for one in done if one.outcome]
    empty = [price for price, n in prices if price is not None and price * n <= 1]
    if not empty:
        return []
    values = ", ".join(f"{price:g}" for price in sorted(set(empty)))
    return [
        f"LPBoost minimises sum α + C sum ξ. With C n at most 1 the optimum is α = 0: a unit of α costs 1 and saves at "
        f"most C n. In {len(empty)} of {len(done)} cells cross-validation chose such a value (C = {values}); the best "
        "single stump then votes alone, which is what column generation has found before it ends, not the program's "
        "answer."
    ]


def _seconds(results: Results) -> list[dict[str, Any]]:
    paper = {row["algorithm"]: float(row["mean_running_time_seconds"]) for row in published("quadboost_table1_runtime")}
    _, methods, seconds = results.matrix(block_of(results), "seconds")
    ours = mean(seconds.transpose(1, 0, 2).reshape(len(methods), -1))
    base = ours[methods.index(PLAIN)]
    return [
        {
            "algorithm": name,
            "mean seconds": _rounded(s, 4),
            "slowest data set": _rounded(np.nanmax(mean(seconds[:, m]), initial=0.0), 2),
            "times vanilla": _rounded(s / base, 1),
            "published seconds": paper.get(name),
            "published times vanilla": _rounded(paper[name] / paper[PLAIN], 1) if name in paper else None,
        }
        for m, (name, s) in enumerate(zip(methods, ours, strict=True))
    ]


def _wins(risks: Risks, paper: dict[tuple[str, str], float], a: str, b: str) -> list[dict[str, Any]]:
    rows = []

    def row(where: str, counts: Sequence[float]) -> None:
        won, tied, lost = counts
        rows.append({"pair": f"{a} : {b}", "on": where, "wins": won, "ties": tied, "losses": lost})

    if b != CONTROL:
        row("published", wins(*(np.array([paper[p, name] for p in risks.problems]) for name in (a, b))))
    row("split 1", wins(risks.column(a, 0), risks.column(b, 0)))
    each = [wins(risks.column(a, r), risks.column(b, r)) for r in range(risks.values.shape[2])]
    row(f"average of {len(each)} splits", [round(float(x), 1) for x in np.mean(each, axis=0)])
    row(f"mean risk of {len(each)} splits", wins(risks.column(a), risks.column(b)))
    return rows


def _claims(risks: Risks, seconds: list[dict[str, Any]]) -> list[Claim]:
    took = {row["algorithm"]: row["mean seconds"] for row in seconds}
    return [
        _at_least_as_good(risks, PLAIN, "AdaBoost", 17, CONTROL),
        _faster(took, PLAIN, "AdaBoost", CONTROL),
        _at_least_as_good(risks, L1, "LPBoost", 16),
        _faster(took, L1, "LPBoost"),
    ]


def _at_least_as_good(risks: Risks, a: str, b: str, of_25: int, control: str = "") -> Claim:
    """Judge a count of wins and ties: a majority on split 1 and by mean risk, and no matter of chance."""
    text, splits = f"{a} wins or ties with {b} on {of_25} of 25 data sets.", risks.values.shape[2]
    n = int((np.isfinite(risks.column(a)) & np.isfinite(risks.column(b))).sum())
    if not n:
        return Claim(text, "cannot be judged", "One of the two has not run.")
    one = sum(wins(risks.column(a, 0), risks.column(b, 0))[:2])
    counts = wins(risks.column(a), risks.column(b))
    p = sign_test(np.round(risks.column(a), 9), np.round(risks.column(b), 9)).p
    each = [sum(wins(risks.column(a, r), risks.column(b, r))[:2]) for r in range(splits)]
    enough = [2 * one > n, counts[0] > counts[2]]
    evidence = (
        f"On split 1 {one} of {n}; over {splits} splits between {min(each)} and {max(each)}; by mean risk "
        f"{score(counts)} (sign test p = {p:.2g})."
    )
    if all(enough) and p > 0.05:
        evidence += " Coins would do as well: which of the two is better cannot be told from such a count."
    if enough == [True, False]:
        evidence += " So ties and the single split make the majority: over all splits it is not ahead."
    if control:
        c = wins(risks.column(a), risks.column(control))
        enough.append(c[0] >= c[2])
        evidence += f" Against AdaBoost with T from 1 to 1,000 (the paper's grid begins at 100): {score(c)}."
        if all(enough[:2]) and not enough[2]:
            evidence += " So most of the advantage is that AdaBoost was not allowed to stop early."
    sure = all(enough) and p <= 0.05
    verdict = "holds" if sure else "partly" if any(enough) else "does not hold"
    return Claim(text, verdict, evidence, over=n)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}"


def _faster(took: dict[str, float | None], a: str, b: str, control: str = "") -> Claim:
    text = f"{a} is 20 times faster than {b}."
    quick, slow = took[a], took[b]
    if not quick or not slow:
        return Claim(text, "cannot be judged", "One of the two has not run.")
    ratio = slow / quick
    verdict = "holds" if ratio >= 10 else "partly" if ratio > 1 else "does not hold"
    evidence = f"{quick:.3g} against {slow:.3g} seconds a data set: {_times(ratio)} times."
    like = took.get(control)
    if like:
        evidence += (
            f" But AdaBoost runs for far more rounds than QuadBoost's 1,000; with as many it takes "
            f"{_times(like / quick)} times as long."
        )
        verdict = "partly" if verdict == "holds" and like < 10 * quick else verdict
    if verdict == "does not hold":
        evidence += " The programs here are solved by a modern simplex, from the last basis."
    return Claim(text, verdict, evidence)


def _notes(beside: list[dict[str, Any]], results: Results) -> list[str]:
    far = {row["data set"]: [] for row in beside}  # type: dict[str, list[float]]
    for row in beside:
        far[row["data set"]].append(row["mean: standard errors off"] or 0.0)
    notes = _far(beside)
    odd = [name for name, off in far.items() if abs(np.median(off)) > 2]
    if odd:
        readings = {p.name: getattr(p, "reading", "") for p in QUADBOOST}
        notes.append(
            "Off by more than two standard errors in most columns, so probably another problem than the paper's (how "
            "it was "
            "made binary, coded or filled in): " + "; ".join(f"{name} ({readings[name]})" for name in odd)
        )
    failed = [one for one in results.rows(block_of(results)) if one.failure]
    notes += [f"Failed: {one.method} on {one.problem}, split {one.repeat + 1}: {one.failure}" for one in failed]
    return notes


def _far(beside: list[dict[str, Any]]) -> list[str]:
    """Return a note on single cells that are far off on split 1 and on average."""
    told = [
        f"{row['algorithm']} on {row['data set']} ({row['ours, mean']:.3f} against {row['published']:.3f})"
        for row in beside
        if min(abs(row[f"{which}: standard errors off"] or 0.0) for which in ("split 1", "mean")) > 2
    ]
    if not told:
        return []
    return [
        "Off by more than two standard errors on split 1 and on average: " + "; ".join(told) + ". Where other "
        "algorithms agree on the same data, another solver, grid or end of the rounds is more likely than other data."
    ]


def _draw(figure: Any, risks: Risks, paper: dict[tuple[str, str], float]) -> None:
    """Plot our mean risks against the paper's, one panel an algorithm."""
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    for ax, name in zip(axes.flat, PAPERS, strict=True):
        theirs = [paper[p, name] for p in risks.problems]
        ax.plot([0, 0.5], [0, 0.5], color="0.7", linewidth=0.8)
        ax.plot(theirs, risks.column(name), "o", markersize=4)
        ax.set_title(name, fontsize=9)
    figure.supxlabel("published test risk")
    figure.supylabel("ours, mean over the splits")


def studies() -> list[Study]:
    """Return the studies of the paper."""
    return [
        Study(
            "quadboost-table1",
            "QuadBoost against LPBoost and AdaBoost: test risks and running times",
            f"{SOURCE}, Table 1",
            (*BLOCKS, DEFAULTS),
            ASSUMPTIONS,
            table1,
        ),
        Study(
            "quadboost-table2",
            "QuadBoost against LPBoost and AdaBoost: Poisson binomial and sign tests",
            f"{SOURCE}, Table 2",
            BLOCKS,
            ASSUMPTIONS,
            table2,
            reads={"predictions": 1, "truth": 1},
        ),
    ]
