"""Which names are public, by module: what the reference has to explain."""

from __future__ import annotations

import inspect
from importlib import import_module

MODULES = ["boostlab", "boostlab.explain", "boostlab.theory", "boostlab.plots", "boostlab.datasets"]
MODULES += ["boostlab.studies", "boostlab.dask", "boostlab.contract"]


def names_of(module: str) -> list[str]:
    """Return the names that a module exports, without modules and the version."""
    exporter = import_module(module)
    return [
        name for name in exporter.__all__ if name != "__version__" and not inspect.ismodule(getattr(exporter, name))
    ]


PUBLIC = {module: names_of(module) for module in MODULES}
