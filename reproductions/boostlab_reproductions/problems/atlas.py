"""Every classification set that we hold, in its usual form: all rows, all classes, categories and gaps as such.

Where a note of the data folder says that a column names the row or tells the answer, it is left out; columns of numbers
that the note calls nominal are categories.
"""

from __future__ import annotations

from typing import Any

from boostlab_reproductions.problems.openml import OPENML_TASKS
from boostlab_reproductions.problems.problem import PaperProblem

_MONKS: dict[str, Any] = {"nominal": ("a1", "a2", "a3", "a4", "a5", "a6"), "reading": "All columns are categories."}
_SETTINGS: dict[str, dict[str, Any]] = {
    "australian": {
        "nominal": ("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12"),
        "reading": "Eight columns of numbers are categories.",
    },
    "cylinder_bands": {
        "drop": ("timestamp", "cylinder_number", "customer", "job_number"),
        "reading": "Without what names a job.",
    },
    "monks1": _MONKS,
    "monks2": _MONKS,
    "monks3": _MONKS,
    "wpbc": {"drop": ("time",), "reading": "Without the time, which tells the answer."},
}

_TWO = (
    *("a5a", "adult", "australian", "breast_cancer", "breast_w", "bupa", "crx", "cylinder_bands", "german"),
    *("heart_statlog", "hepatitis", "horse_colic", "image_ida", "ionosphere", "monks1", "monks2", "monks3"),
    *("mushrooms", "musk1", "musk2", "pima", "ringnorm", "spambase", "splice_ida", "tictactoe", "titanic"),
    *("titanic_ida", "twonorm", "vote", "w4a_surrogate", "w8a", "waveform_ida", "wdbc", "wpbc"),
)
_SEVERAL = (
    *("abalone", "balance_scale", "car", "cmc", "ecoli", "flags", "glass", "letter", "mnist_10k", "mnist_extra_15k"),
    *("new_thyroid", "optdigits", "pendigits", "satimage", "segmentation", "splice", "vowel", "waveform21"),
    *("waveform40", "wine", "wine_quality", "yeast", "zoo"),
)


def _problems(*names: str) -> tuple[PaperProblem, ...]:
    return tuple(PaperProblem(name, name, **{"reading": "As it is.", **_SETTINGS.get(name, {})}) for name in names)


ATLAS_TWO = _problems(*_TWO)
"""34 sets of two classes."""

ATLAS_SEVERAL = _problems(*_SEVERAL)
"""23 sets of three to 28 classes."""

ATLAS_NOISY_TWO = _problems(
    *("australian", "breast_w", "german", "heart_statlog", "image_ida", "ionosphere", "mushrooms", "pima", "spambase"),
    *("tictactoe", "twonorm", "waveform_ida"),
)
ATLAS_NOISY_SEVERAL = _problems("balance_scale", "car", "cmc", "segmentation", "vowel", "waveform21", "wine", "yeast")
ATLAS_SMALL = _problems(
    *("australian", "breast_cancer", "breast_w", "bupa", "crx", "cylinder_bands", "heart_statlog", "hepatitis"),
    *("horse_colic", "ionosphere", "monks1", "monks2", "monks3", "musk1", "pima", "vote", "wdbc", "wpbc"),
)
"""Sets of two classes with fewer than 800 rows, for boosters that solve a program in every round."""

ATLAS_LARGE = _problems("a5a", "adult", "musk2", "ringnorm", "twonorm", "w8a")
"""Sets of two classes that can train on more than 4,000 rows."""

ATLAS_OPENML = _problems(*OPENML_TASKS)
"""Sets of two and more classes whose folds on OpenML are known."""

ATLAS_QUICK_TWO = _problems("breast_cancer", "bupa", "heart_statlog", "hepatitis", "ionosphere", "vote", "wpbc")
ATLAS_QUICK_SEVERAL = _problems("balance_scale", "ecoli", "glass", "new_thyroid", "wine", "zoo")

ATLAS_FAMILIES = {
    name: family
    for family, names in {
        "adult": ("adult", "a5a"),
        "credit": ("australian", "crx"),
        "mnist": ("mnist_10k", "mnist_extra_15k"),
        "monks": ("monks1", "monks2", "monks3"),
        "musk": ("musk1", "musk2"),
        "segmentation": ("segmentation", "image_ida"),
        "splice": ("splice", "splice_ida"),
        "titanic": ("titanic", "titanic_ida"),
        "wave": ("waveform21", "waveform40", "waveform_ida"),
        "web": ("w4a_surrogate", "w8a"),
    }.items()
    for name in names
}
"""Which sets have rows in common, or come from one source."""

CC18 = (
    *("adult", "balance_scale", "breast_w", "car", "cmc", "crx", "cylinder_bands", "german", "letter", "mnist_10k"),
    *("optdigits", "pendigits", "pima", "satimage", "segmentation", "spambase", "splice", "tictactoe", "vowel", "wdbc"),
)
"""Sets of OpenML's curated suite CC18, its study 99 (mnist_10k is a part of one)."""
