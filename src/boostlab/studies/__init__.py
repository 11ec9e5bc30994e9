"""Studies: boosters against each other on the same splits of the same data."""

from boostlab.studies.compare import compare
from boostlab.studies.request import RequestError
from boostlab.studies.result import Cell, Comparison, Summary
from boostlab.studies.verdict import verdict

__all__ = ["Cell", "Comparison", "RequestError", "Summary", "compare", "verdict"]
