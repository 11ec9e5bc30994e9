"""Studies: problems × methods × a protocol, cut into cells that are computed once and kept.

What compares boosters on a person's table is `boostlab.comparison`; its names are found here, too, as before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boostlab.studies.request import RequestError

if TYPE_CHECKING:
    from boostlab.comparison import Advice, Comparison, Ranking, Standing, compare

__all__ = ["Advice", "Comparison", "Ranking", "RequestError", "Standing", "compare"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("boostlab.comparison"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
