"""Boosters are loaded when they are asked for, and their lists do not depend on who was asked for first."""

from __future__ import annotations

import subprocess
import sys

import pytest

from boostlab import estimators


def said(code):
    """Return what some code prints in a new process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_one_booster_does_not_load_the_others():
    loaded = said("import sys; from boostlab import AdaBoostClassifier; print(*sys.modules)").split()
    assert "boostlab.estimators.stagewise" in loaded
    assert "boostlab.estimators.corrective" not in loaded
    assert "boostlab.rules.lpboost" not in loaded


def test_lists_are_whole_and_in_one_order():
    lists = "from boostlab.estimators import REGISTRY, REGRESSORS; print(*REGISTRY, *REGRESSORS)"
    plain = said(lists)
    assert said(f"from boostlab import VadaBoostClassifier, AdaBoostClassifier; {lists}") == plain
    assert set(plain.split()) == set(estimators.__all__) - {"REGISTRY", "REGRESSORS", "Binned"}


def test_every_name_has_a_home():
    for name in estimators.__all__:
        assert name in dir(estimators)
        value = getattr(estimators, name)
        assert isinstance(value, dict) or value.__name__ == name
    with pytest.raises(AttributeError, match=r"boostlab\.estimators.*'nobody'"):
        estimators.nobody  # noqa: B018
