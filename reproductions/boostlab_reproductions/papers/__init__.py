"""The studies by name; each file of this folder has a function `studies` that returns its own.

They are made when `STUDIES` is first asked for, because a study names its boosters and problems.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boostlab.studies.study import Study

    STUDIES: dict[str, Study]

__all__ = ["STUDIES"]

_FILES = (
    *("ebboost", "vadaboost", "quadboost", "arboost", "textbook", "bias_variance"),
    *("noise", "lambda_study", "atlas", "smoke"),
)


def __getattr__(name: str) -> Any:
    if name == "STUDIES":
        return _all()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _all() -> dict[str, Study]:
    found: dict[str, Study] = {}
    for file in _FILES:
        if find_spec(f"{__name__}.{file}") is None:
            continue
        for study in import_module(f"{__name__}.{file}").studies():
            if study.name in found:
                raise ValueError(f"Two studies are called {study.name}.")
            found[study.name] = study
    return found
