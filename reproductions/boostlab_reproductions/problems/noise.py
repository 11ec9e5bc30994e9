"""The 12 problems of the noise study.

They are chosen before any result: two classes, the usual sets of papers on label noise, from 270 to 2,000 rows (larger
ones are drawn from once), five with categories or missing values, three artificial ones whose best error is known.
"""

from __future__ import annotations

from boostlab_reproductions.problems.problem import PaperProblem

_CAPPED = "2,000 rows, drawn once."

NOISE: tuple[PaperProblem, ...] = (
    PaperProblem("breast_w", "breast_w", reading="As it is, missing values as such."),
    PaperProblem("crx", "crx", positive=("+",), reading="As it is, categories and missing values as such."),
    PaperProblem("german", "german", positive=(2,), reading="As it is, categories as such."),
    PaperProblem("heart", "heart_statlog", positive=(2,), reading="As it is."),
    PaperProblem("ionosphere", "ionosphere", positive=("g",), reading="As it is."),
    PaperProblem("pima", "pima", reading="As it is; zeros that stand for missing values stay."),
    PaperProblem("spambase", "spambase", cap=2000, reading=_CAPPED),
    PaperProblem("tictactoe", "tictactoe", reading="As it is, categories as such."),
    PaperProblem("vote", "vote", positive=("democrat",), reading="As it is, categories and missing values as such."),
    PaperProblem("twonorm", "twonorm", made=(2000, 0), reading="Breiman's twonorm, 2,000 rows made here."),
    PaperProblem("ringnorm", "ringnorm", made=(2000, 0), reading="Breiman's ringnorm, 2,000 rows made here."),
    PaperProblem(
        "waveform",
        "waveform",
        made=(2000, 0),
        positive=(2,),
        reading="Breiman's waveform, the last class against the others.",
    ),
)
"""The 12 sets, of two classes each."""

LONG_SERVEDIO = PaperProblem(
    "Long-Servedio",
    "long_servedio",
    made=(2000, 0),
    reading="Long and Servedio's construction, on which noise defeats every convex loss.",
)
"""Beside the 12: a set made to be hard under noise."""
