"""The ways to `compare`: one function, by every name, whatever was imported before."""

from __future__ import annotations

import importlib

import boostlab
import boostlab.studies
from boostlab.comparison.arrays import compare


def test_every_public_name_is_the_function():
    importlib.import_module("boostlab.comparison.command")  # importing a submodule binds names in its package
    importlib.import_module("boostlab.studies.runner")
    assert boostlab.compare is boostlab.comparison.compare is boostlab.studies.compare is compare


def test_names_of_studies_stay():
    for name in boostlab.studies.__all__:
        assert getattr(boostlab.studies, name) is getattr(boostlab.comparison, name)
