"""Studies: boosters against each other on the same splits of the same data."""

from boostlab.studies.compare import compare
from boostlab.studies.comparison.advice import Advice
from boostlab.studies.comparison.design import Comparison
from boostlab.studies.comparison.ranking import Ranking, Standing
from boostlab.studies.request import RequestError

__all__ = ["Advice", "Comparison", "Ranking", "RequestError", "Standing", "compare"]
