"""The data sets of the papers as their studies use them, one table of problems a paper."""

from boostlab_reproductions.problems.arboost import ARBOOST, ARBOOST_BINARY, ARBOOST_MULTICLASS, SPHERES
from boostlab_reproductions.problems.atlas import (
    ATLAS_FAMILIES,
    ATLAS_LARGE,
    ATLAS_NOISY_SEVERAL,
    ATLAS_NOISY_TWO,
    ATLAS_OPENML,
    ATLAS_QUICK_SEVERAL,
    ATLAS_QUICK_TWO,
    ATLAS_SEVERAL,
    ATLAS_SMALL,
    ATLAS_TWO,
    CC18,
)
from boostlab_reproductions.problems.noise import LONG_SERVEDIO, NOISE
from boostlab_reproductions.problems.openml import OPENML_TASKS, openml_folds
from boostlab_reproductions.problems.problem import PaperProblem, ProblemData
from boostlab_reproductions.problems.quadboost import QUADBOOST
from boostlab_reproductions.problems.textbook import CLEAN1, LETTER, TEXTBOOK
from boostlab_reproductions.problems.unseen import FAMILIES, SEVERAL, UNSEEN
from boostlab_reproductions.problems.vadaboost import EBBOOST, RINGNORM_SMALL, VADABOOST

__all__ = [
    "ARBOOST",
    "ARBOOST_BINARY",
    "ARBOOST_MULTICLASS",
    "ATLAS_FAMILIES",
    "ATLAS_LARGE",
    "ATLAS_NOISY_SEVERAL",
    "ATLAS_NOISY_TWO",
    "ATLAS_OPENML",
    "ATLAS_QUICK_SEVERAL",
    "ATLAS_QUICK_TWO",
    "ATLAS_SEVERAL",
    "ATLAS_SMALL",
    "ATLAS_TWO",
    "CC18",
    "CLEAN1",
    "EBBOOST",
    "FAMILIES",
    "LETTER",
    "LONG_SERVEDIO",
    "NOISE",
    "OPENML_TASKS",
    "QUADBOOST",
    "RINGNORM_SMALL",
    "SEVERAL",
    "SPHERES",
    "TEXTBOOK",
    "UNSEEN",
    "VADABOOST",
    "PaperProblem",
    "ProblemData",
    "openml_folds",
]
