"""The textbook's comparison over UCI data sets, several classes included.

The chapter takes 40 and does not name them.  These are all UCI sets that boostlab knows, each in its original form: all
classes, categories as such, missing values as such; where UCI has several versions of one table, each counts.
"""

from __future__ import annotations

from boostlab_reproductions.problems.problem import PaperProblem

_AS_IT_IS = "As it is: all classes, categories and missing values as such."

_SOURCES = (
    *("abalone", "adult", "australian", "balance_scale", "breast_cancer", "breast_w", "bupa", "car", "cmc", "crx"),
    *("cylinder_bands", "ecoli", "flags", "german", "glass", "heart_statlog", "hepatitis", "horse_colic"),
    *("ionosphere", "letter", "monks1", "monks2", "monks3", "mushrooms", "musk1", "musk2", "new_thyroid", "optdigits"),
    *("pendigits", "pima", "satimage", "segmentation", "spambase", "splice", "tictactoe", "titanic", "vote", "vowel"),
    *("waveform21", "waveform40", "wdbc", "wine", "wine_quality", "wpbc", "yeast", "zoo"),
)
_OTHERWISE = {
    "abalone": PaperProblem(
        "abalone",
        "abalone",
        at_least=10,
        reading="At least 10 rings against fewer: 28 numbers of rings are not classes.",
    ),
    "cylinder_bands": PaperProblem(
        "cylinder_bands",
        "cylinder_bands",
        drop=("timestamp", "cylinder_number", "job_number", "customer"),
        reading="Without the columns that identify a job.",
    ),
    "wpbc": PaperProblem(
        "wpbc", "wpbc", drop=("time",), reading="Without the time until recurrence, which gives the class away."
    ),
}
_NOMINAL = {
    "australian": ("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12"),
    "monks1": ("a1", "a2", "a3", "a4", "a5", "a6"),
    "monks2": ("a1", "a2", "a3", "a4", "a5", "a6"),
    "monks3": ("a1", "a2", "a3", "a4", "a5", "a6"),
}


def _problem(source: str) -> PaperProblem:
    if source in _OTHERWISE:
        return _OTHERWISE[source]
    nominal = _NOMINAL.get(source, ())
    reading = f"{_AS_IT_IS[:-1]}; the nominal columns, written as numbers, are categories." if nominal else _AS_IT_IS
    return PaperProblem(source, source, nominal=nominal, reading=reading)


TEXTBOOK: tuple[PaperProblem, ...] = tuple(map(_problem, _SOURCES))
"""All UCI sets, several classes included."""

LETTER = PaperProblem("letter", "letter", official=True, reading="All 26 letters, with the official split.")
"""The set of the textbook's margin figure."""

CLEAN1 = PaperProblem("clean1", "musk1", reading="UCI clean1, which is musk version 1.")
"""The set on which the textbook compares arc-gv with AdaBoost."""
