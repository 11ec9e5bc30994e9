"""A person's study: boosters side by side on one table, by nested cross-validation (`boostlab compare`)."""

from boostlab.comparison.advice import Advice
from boostlab.comparison.arrays import compare
from boostlab.comparison.ranking import Ranking, Standing
from boostlab.comparison.result import Comparison
from boostlab.studies.request import RequestError

__all__ = ["Advice", "Comparison", "Ranking", "RequestError", "Standing", "compare"]
