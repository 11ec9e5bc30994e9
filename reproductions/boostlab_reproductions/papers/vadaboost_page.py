"""What the pages of the VadaBoost paper say beside their numbers: captions, figures, likely reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from boostlab.studies.statistics import holm
from boostlab.studies.study import Claim
from boostlab_reproductions.papers.contest_figures import draw_beside, draw_gains
from boostlab_reproductions.papers.contests import Contest, PairedErrors, undecided

ENOUGH = 0.8  # power, below which a difference that is not seen is not denied
LIMITED = "EBBoost, λ ≤ 1"
FEWEST = 6  # data sets, below which no test over data sets can be significant

WHY_CONTROLS = (
    "Choosing gains something by itself. So two controls choose among runs of AdaBoost, as many as the method they are "
    "compared with has: by the learning rate, and among runs from slightly different start weights. What the latter "
    "gains is the gain of choosing alone."
)

CAPTIONS = {
    "contests": "Over the paper's 18 sets: on how many the mean error is lower or higher, Wilcoxon's p over the sets, "
    "and on how many the paired t-test, plain or corrected, is significant at 1 percent; differences in points.",
    "published": "Errors in percent, mean ± standard error; the difference is ours less the printed one. Where it is "
    "more than two combined standard errors, the last column has the other readings that were run and are not. One "
    "of several readings, of few repeats each, may be near by chance: what explains a cell need not be what the "
    "authors did.",
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
    """Return the most likely reason for a cell far from the printed one; what was run says more: see the table."""
    if data == "ringnorm":
        return "the paper must have had some 400 of the 7,400 examples: see ringnorm (400)"
    if data.startswith("w4a"):
        return "not the paper's data"
    if method in ("RLP-Boost", "RQP-Boost"):
        return "another grid, or fewer of AdaBoost's voters"
    if data.startswith("mnist"):
        return "other 5,000 images"
    return "another version of the data, or another grid"


def equally_patient(claim: Claim, contests: list[Contest]) -> Claim:
    """Return a claim about AdaBoost's patience with the contests that give all the same: without them, none is fair.

    With equal patience the opponent is the control by learning rate, which chooses among as many runs.
    """
    own = [c for c in contests if f" {c.a.removesuffix(', 500')}'s" in claim.text and c.n_sets >= FEWEST]
    if not own:
        return claim
    told = "; ".join(f"against {c.b.removesuffix(', 500')} {c.difference:+.2f} points, p = {c.p:.2g}" for c in own)
    is_own = all(c.wins() for c in own)
    verdict = "partly" if is_own and claim.verdict == "does not hold" else claim.verdict
    why = "" if is_own else " So at equal patience the gain is the learning rate's as well."
    return replace(
        claim,
        verdict=verdict,
        evidence=f"{claim.evidence} With patience 500 for both, over fewer repeats: {told}.{why}",
    )


def beyond_one(contests: list[Contest], often: Mapping[str, int]) -> list[str]:
    """Return a note on the part of EBBoost's gain that comes from values of λ above 1.

    Parameters
    ----------
    contests : list of Contest
        With those of EBBoost, and of EBBoost with λ at most 1, against AdaBoost and its controls.
    often : mapping from str to int
        How often every value of λ was chosen.
    """
    cells = sum(often.values())
    of = {(c.a, c.b): c for c in contests}
    whole, limited = of["EBBoost", "AdaBoost"], of[LIMITED, "AdaBoost"]
    if not cells or not whole.n_sets or not whole.difference:
        return []
    beyond = sum(n for value, n in often.items() if float(value) > 1)
    fair = next(c for c in contests if c.a == LIMITED and "best of" in c.b)
    return [
        f"λ above 1, where the papers' bound says nothing, was chosen in {beyond} of EBBoost's {cells} cells "
        f"({beyond / cells:.0%}). EBBoost's mean gain over AdaBoost is {whole.difference:+.3f} points with all values "
        f"and {limited.difference:+.3f} with λ at most 1, so {1 - limited.difference / whole.difference:.0%} of it "
        f"comes from λ above 1. With λ at most 1 it is {fair.difference:+.3f} points off {fair.b} (p = {fair.p:.2g}): "
        f"what is left is {'its own' if fair.wins() else 'no more than the gain of choosing'}."
    ]


def draw_spreads(draws: PairedErrors) -> dict[tuple[str, str], float]:
    """Return the standard deviation of every method's mean over draws of the data, for the first of them."""
    found = {m: (means := draws.means(m))[np.isfinite(means)] for m in draws.of}
    return {(draws.problems[0], m): float(means.std(ddof=1)) for m, means in found.items() if len(means) > 1}


def draws_note(draws: PairedErrors) -> list[str]:
    """Return how far the means on draws of 400 examples lie apart."""
    means = draws.means("AdaBoost") if "AdaBoost" in draws.of else np.empty(0)
    means = means[np.isfinite(means)]
    if len(means) < 2:
        return []
    return [
        f"AdaBoost's mean error on {len(means)} draws of 400 examples of ringnorm lies between {means.min():.1f} "
        f"and {means.max():.1f} percent: which draw the paper had matters more than the splits, and the ± of "
        "ringnorm (400) beside the printed errors has the deviation over draws in it."
    ]


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
        why = "" if contest.wins(p) else _unsure(contest, gains[contest.a])
        text = f"(our question) {contest.a}'s gain is its own: it is better than {contest.b}"
        claims.append(better(text, contest, gains[contest.a], f"{contest} ({p:.2g} by Holm).{why}", p))
    return claims


def _unsure(contest: Contest, effect: float) -> str:
    """Return what a contest without a sure gain denies: a gain as large as the printed one, not a smaller one."""
    seen = " Over this control, which is AdaBoost with a choice, no sure gain is seen."
    chance = contest.power(effect)
    if not chance >= ENOUGH:
        return seen
    return (
        f"{seen} One as large as the printed {effect:+.2f} points would be seen with a probability of {chance:.2f}; a "
        "smaller one is not denied."
    )


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
    if round(effect, 2) == 0.0:
        return claim.withheld("The paper prints a gain of 0.00 points over AdaBoost: there is none to deny.")
    return claim.withheld(
        f"These sets and repeats would show the printed difference of {effect:+.2f} points with a probability of "
        f"{chance:.2f} only, too little to deny it."
    )


def verdict_of(contest: Contest, p: float | None = None) -> str:
    """Return whether a is better than b over all data sets; partly, if only without the correction of p."""
    if contest.n_sets < FEWEST:
        return "cannot be judged"
    if contest.wins(p):
        return (
            "holds" if contest.clearly_worse == 0 or contest.clearly_better >= 3 * contest.clearly_worse else "partly"
        )
    return "partly" if contest.wins() else "does not hold"


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
