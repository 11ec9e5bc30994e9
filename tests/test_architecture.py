"""docs/architecture.md shows the subpackages as they are, and forgotten pieces of a booster are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.boosters.registry import booster

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_subpackage_is_drawn():
    """The drawing names every folder and file at the top of the package and the package beside it, nothing else."""
    drawing = re.search(r"```\n(.*?)```", PAGE, re.DOTALL)
    assert drawing is not None
    drawn = set(re.findall(r"(\w+) ── ", drawing.group(1)))
    held = [path for path in Path(boostlab.__file__).parent.iterdir() if path.name[0] not in "_."]
    found = {path.stem for path in held if path.suffix == ".py" or any(path.rglob("*.py"))}  # not what a branch left
    assert drawn == found | {"boostlab_reproductions"}


@pytest.mark.parametrize("name", REGISTRY | REGRESSORS)
def test_every_criterion_in_use_is_explained(name):
    assert f"| `{(REGISTRY | REGRESSORS)[name].cls()._rule().needs}` |" in PAGE


def test_forgotten_pieces_are_named():
    with pytest.raises(TypeError, match=r"must be a dataclass.*\{shared\}"):
        booster("nobody", "never")(type("Bare", (), {"__doc__": "Bare.", "n_estimators": 1, "tol": 0}))
