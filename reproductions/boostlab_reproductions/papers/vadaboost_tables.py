"""What the two tables of the VadaBoost paper share: every value of λ, the readings of \"upon termination\", notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boostlab.studies.study import Results
from boostlab_reproductions.papers.contests import (
    Contest,
    PairedErrors,
    chosen_how_often,
    fixed_values,
)
from boostlab_reproductions.papers.printed_cells import (
    beside_published,
    far_off,
    printed,
)
from boostlab_reproductions.papers.vadaboost_methods import (
    COLUMNS,
    COUNTED,
    NAMES,
)
from boostlab_reproductions.papers.vadaboost_page import (
    likely,
)
from boostlab_reproductions.problems import RINGNORM_SMALL


def same(methods: tuple[str, ...]) -> Mapping[str, str]:
    """Return methods under their own names."""
    return {method: method for method in methods}


def fixed_lambda(results: Results, method: str, errors: PairedErrors, block: str) -> list[dict[str, Any]]:
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


def readings(results: Results, table: str, block: str = "errors") -> list[dict[str, Any]]:
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
