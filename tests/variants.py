"""Every booster, and the variants that go other ways through the engine, as the boosters' files declare them."""

from __future__ import annotations

from functools import partial

import pytest

from boostlab.boosters import REGISTRY

BOOSTERS = [entry.cls for entry in REGISTRY.values()]
CASES = {
    **{name: entry.cls for name, entry in REGISTRY.items()},
    **{
        f"{name.removesuffix('Classifier')}-{variant}": partial(entry.cls, **params)
        for name, entry in REGISTRY.items()
        for variant, params in entry.variants.items()
    },
}
VARIANTS, IDS = list(CASES.values()), list(CASES)
# Boosters whose coefficients are a program's, which may have several optima, and how closely their optima agree.
PROGRAMS = {name: entry.optimum for name, entry in REGISTRY.items() if entry.optimum is not None}
every = pytest.mark.parametrize("make", VARIANTS, ids=IDS)
