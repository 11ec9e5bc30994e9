"""The papers' studies are a package of their own beside boostlab, of the same version."""

from __future__ import annotations

import tomllib
from pathlib import Path

import boostlab
import boostlab_reproductions

ROOT = Path(boostlab_reproductions.__file__).parents[1]


def test_it_has_the_version_of_boostlab():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == boostlab.__version__
    assert f"boostlab=={boostlab.__version__}" in project["dependencies"]
