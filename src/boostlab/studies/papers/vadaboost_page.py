"""What the pages of the VadaBoost paper say beside their numbers: captions, figures, likely reasons."""

from __future__ import annotations

from typing import Any

from boostlab.studies.papers.contests import Errors, draw_beside, draw_gains, undecided

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


def figures(errors: Errors, published: list[dict[str, Any]], methods: tuple[str, ...]) -> dict[str, Any]:
    """Return the figures: ours against the printed errors, and what every method gains over AdaBoost."""
    return {
        "ours against published": draw_beside(published),
        "gains over AdaBoost": draw_gains(errors, methods, "AdaBoost"),
    }


def by_chance(errors: Errors, columns: tuple[str, ...]) -> str:
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
    if method in ("RLP-Boost", "RQP-Boost"):
        return "another grid, or fewer of AdaBoost's voters"
    if data.startswith("mnist"):
        return "other 5,000 images"
    return "another version of the data, or another grid"
