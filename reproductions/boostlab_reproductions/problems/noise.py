"""The 12 problems of the noise study.

They are chosen before any result: two classes, the usual sets of papers on label noise, from 270 to 2,000 rows (larger
ones are drawn from once), five with categories or missing values, three artificial ones whose best error is known.
"""

from __future__ import annotations

from boostlab_reproductions.problems.problem import Problem

_CAPPED = "2,000 rows, drawn once."

NOISE: tuple[Problem, ...] = (
    Problem("breast_w", "breast_w", reading="As it is, missing values as such."),
    Problem("crx", "crx", positive=("+",), reading="As it is, categories and missing values as such."),
    Problem("german", "german", positive=(2,), reading="As it is, categories as such."),
    Problem("heart", "heart_statlog", positive=(2,), reading="As it is."),
    Problem("ionosphere", "ionosphere", positive=("g",), reading="As it is."),
    Problem("pima", "pima", reading="As it is; zeros that stand for missing values stay."),
    Problem("spambase", "spambase", cap=2000, reading=_CAPPED),
    Problem("tictactoe", "tictactoe", reading="As it is, categories as such."),
    Problem("vote", "vote", positive=("democrat",), reading="As it is, categories and missing values as such."),
    Problem("twonorm", "twonorm", made=(2000, 0), reading="Breiman's twonorm, 2,000 rows made here."),
    Problem("ringnorm", "ringnorm", made=(2000, 0), reading="Breiman's ringnorm, 2,000 rows made here."),
    Problem(
        "waveform",
        "waveform",
        made=(2000, 0),
        positive=(2,),
        reading="Breiman's waveform, the last class against the others.",
    ),
)
"""The 12 sets, of two classes each."""

LONG_SERVEDIO = Problem(
    "Long-Servedio",
    "long_servedio",
    made=(2000, 0),
    reading="Long and Servedio's construction, on which noise defeats every convex loss.",
)
"""Beside the 12: a set made to be hard under noise."""
