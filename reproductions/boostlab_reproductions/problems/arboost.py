"""The 12 problems of the AR-Boost paper, with the sizes of its first table."""

from __future__ import annotations

from boostlab_reproductions.problems.problem import PaperProblem

_OFFICIAL = "The official split."

ARBOOST_BINARY: tuple[PaperProblem, ...] = (
    PaperProblem("ionosphere", "ionosphere", positive=("g",), n_train=238, reading="As it is; 34 columns, not 341."),
    PaperProblem(
        "german", "german", positive=(2,), n_train=675, reading="The symbolic version: 13 of 20 columns are words."
    ),
    PaperProblem("diabetes", "pima", n_train=531, reading="Pima; zeros that stand for missing values stay."),
    PaperProblem(
        "wpbc",
        "wpbc",
        drop=("time", "tumor_size", "lymph_node_status"),
        positive=("R",),
        n_train=141,
        reading="The 30 columns that are measured on nuclei, as many as the paper prints; above all not the time until "
        "recurrence, which gives the class away.",
    ),
    PaperProblem("wdbc", "wdbc", positive=("M",), n_train=423, reading="As it is."),
    PaperProblem(
        "spambase", "spambase", n_train=3215, reading="As it is; 57 columns, and 58 in the paper, with the class."
    ),
)
"""The paper's six binary data sets; splits are random and stratified, with `n_train` rows for training."""

ARBOOST_MULTICLASS: tuple[PaperProblem, ...] = (
    PaperProblem(
        "vowel", "vowel", official=True, reading="The official split by speakers; 10 columns, without speaker and sex."
    ),
    PaperProblem("pen digits", "pendigits", official=True, reading=_OFFICIAL),
    PaperProblem("letter", "letter", official=True, reading="The official split: the last 4,000 rows are for testing."),
    PaperProblem("thyroid", "new_thyroid", n_train=160, reading="UCI new-thyroid; random stratified splits."),
    PaperProblem("satimage", "satimage", official=True, reading="The official split; 6 of the 7 classes occur."),
    PaperProblem("segmentation", "segmentation", official=True, reading="The official split: 210 rows for training."),
)
"""The paper's six data sets of several classes; official splits where there are some."""

ARBOOST: tuple[PaperProblem, ...] = ARBOOST_BINARY + ARBOOST_MULTICLASS
"""The paper's 12 data sets, in the order of its table."""

SPHERES = PaperProblem(
    "spheres",
    "chi2_spheres",
    made=(12000, 0),
    n_train=2000,
    reading="Figure 5: 10 standard normals, +1 inside the median sphere; 2,000 rows to train on and 10,000 to test.",
)
"""The paper's simulation."""
