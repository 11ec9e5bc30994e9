"""What the pages of the VadaBoost paper say beside their numbers: captions, figures, likely reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from boostlab.studies.statistics import holm
from boostlab.studies.study import Claim
from boostlab_reproductions.papers.contests import Contest, PairedErrors, draw_beside, draw_gains, undecided

ENOUGH = 0.8  # power, below which a difference that is not seen is not denied
FEWEST = 6  # data sets, below which no test over data sets can be significant

WHY_CONTROLS = (
    "Choosing gains something by itself. So two controls choose among runs of AdaBoost, as many as the method they are "
    "compared with has: by the learning rate, and among runs from slightly different start weights. What the latter "
    "gains is the gain of choosing alone."
)

CAPTIONS = {
    "contests": "Over the paper's 18 sets: on how many the mean error is lower or higher, Wilcoxon's p over the sets, "
    "and on how many the paired t-test, plain or corrected, is significant at 1 percent; differences in points.",
    "published": "Errors in percent, mean ± standard error; the difference is ours less the printed one.",
    "fixed_lambda": "Every λ without any choice, means over the paper's 18 sets; the last column is how often it was "
    "chosen, over all 19.",
    "fixed_ebboost": "Mean test errors of EBBoost in percent, every λ without any choice.",
    "fixed_vadaboost": "Mean test errors of VadaBoost in percent, every λ without any choice.",
    "gains over AdaBoost": "A point a data set, a line the mean; to the left are fewer errors than AdaBoost's.",
    "readings": "How far we are from the printed cells, in percent points, where the best round by validation counts "
    "and where the last does; ringnorm is the one of 400 examples, as the other's difference would cover all else.",
}


def figures(errors: PairedErrors, published: list[dict[str, Any]], methods: tuple[str, ...]) -> dict[str, Any]:
    """Return the figures: ours against the printed errors, and what every method gains over AdaBoost."""
    return {
        "ours against published": draw_beside(published),
        "gains over AdaBoost": draw_gains(errors, methods, "AdaBoost"),
    }


def by_chance(errors: PairedErrors, columns: tuple[str, ...]) -> str:
    """Return how many row minima could be another method's."""
    some = errors.columns(columns)
    rows = undecided(some)
    return f"In {rows} rows the paired t-test cannot tell the smallest from another: the counts depend on chance."


def likely(data: str, method: str) -> str:
    """Return the most likely reason for a cell far from the printed one."""
    if data == "ringnorm":
        return "the paper must have had some 400 of the 7,400 examples: see ringnorm (400)"
    if data.startswith("w4a"):
        return "not the paper's data"
    if method == "RLP-Boost" and data == "a5a":
        return "the grid of ν is coarse: 10 repeats with stumps err on 24.5 percent at 0.3, 17.5 at 0.4, 20.4 at 0.5"
    if method in ("RLP-Boost", "RQP-Boost"):
        return "another grid, or fewer of AdaBoost's voters"
    if data.startswith("mnist"):
        return "other 5,000 images"
    return "another version of the data, or another grid"


def equally_patient(claim: Claim, contests: list[Contest]) -> Claim:
    """Return a claim about AdaBoost's patience with the contest that gives both the same: without it, none is fair."""
    for c in contests:
        if c.b == "AdaBoost, 500" and f" {c.a.removesuffix(', 500')}'s" in claim.text and c.n_sets >= FEWEST:
            said = f" With patience 500 for both, over fewer repeats: {c.difference:+.2f} points, p = {c.p:.2g}."
            verdict = "partly" if c.wins() and claim.verdict == "does not hold" else claim.verdict
            return replace(claim, verdict=verdict, evidence=claim.evidence + said)
    return claim


def own_gains(contests: list[Contest], gains: Mapping[str, float]) -> list[Claim]:
    """Return a claim a control; as several are asked, their p-values are Holm's, or one in ten would hold by chance.

    Parameters
    ----------
    contests : list of Contest
        Methods against controls.
    gains : mapping from str to float
        What the paper prints as a method's mean gain over AdaBoost: a gain of its own is as large over the control.
    """
    claims = []
    for contest, p in zip(contests, holm([c.p for c in contests]), strict=True):
        why = "" if contest.wins(p) else " Over this control, which has no variance penalty, no sure gain is seen."
        text = f"(our question) {contest.a}'s gain is its own: it is better than {contest.b}"
        claims.append(better(text, contest, gains[contest.a], f"{contest} ({p:.2g} by Holm).{why}", p))
    return claims


def better(text: str, contest: Contest, effect: float, evidence: str = "", p: float | None = None) -> Claim:
    """Return the claim that a is better than b, without a verdict where the paper's own gain would not be seen either.

    Parameters
    ----------
    text : str
        The claim.
    contest : Contest
        Of a and b.
    effect : float
        The mean difference as printed, in percent points.
    evidence : str
        Our numbers, if more than the contest's are to be said.
    p : float, optional
        Corrected for the number of questions.
    """
    claim = Claim(text, verdict_of(contest, p), evidence or f"{contest}.", contest.n_sets)
    chance = contest.power(effect)
    if claim.verdict in ("holds", "cannot be judged") or contest.wins(p) or not chance < ENOUGH:
        return claim
    return claim.withheld(
        f"These sets and repeats would show the printed difference of {effect:+.2f} points with a probability of "
        f"{chance:.2f} only, too little to deny it."
    )


def verdict_of(contest: Contest, p: float | None = None) -> str:
    """Return whether a is better than b over all data sets."""
    if contest.n_sets < FEWEST:
        return "cannot be judged"
    if contest.wins(p):
        return (
            "holds" if contest.clearly_worse == 0 or contest.clearly_better >= 3 * contest.clearly_worse else "partly"
        )
    return "partly" if contest.difference < 0 and contest.clearly_better > contest.clearly_worse else "does not hold"


def alike(contest: Contest) -> str:
    """Return whether two methods cannot be told apart over all data sets."""
    if contest.n_sets < FEWEST:
        return "cannot be judged"
    return (
        "holds"
        if contest.p > 0.05
        else "partly"
        if contest.clearly_better + contest.clearly_worse <= 6
        else "does not hold"
    )
