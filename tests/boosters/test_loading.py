"""Boosters are found by the names of their files, loaded when they are asked for, and listed in one order."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

import boostlab
from boostlab import boosters
from boostlab.boosters import REGISTRY, REGRESSORS, registry
from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.registry import booster, find, known, public_names

ALL = REGISTRY | REGRESSORS
INSIDE = "boostlab.boosters."
OURS = {name: entry for name, entry in ALL.items() if entry.cls.__module__.startswith(INSIDE)}


def said(code):
    """Return what some code prints in a new process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


STEPS = """
import json, sys
import boostlab.dask
from boostlab import VadaBoostClassifier, AdaBoostClassifier
AdaBoostClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).predict([[0.0]])
fit = list(sys.modules)
import boostlab
kind = type(boostlab.load(sys.argv[1])).__name__
load = list(sys.modules)
from boostlab.boosters import REGISTRY, REGRESSORS
import boostlab.plots, boostlab.theory
drawn = "matplotlib" in sys.modules
print(json.dumps({"fit": fit, "kind": kind, "load": load, "lists": [*REGISTRY, *REGRESSORS], "drawn": drawn}))
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """What a new process has loaded after a fit, after `load`, with all boosters, and with the pictures."""
    path = tmp_path_factory.mktemp("loading") / "model.boost"
    boostlab.WeightBoostClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).save(path)
    done = subprocess.run([sys.executable, "-c", STEPS, str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_fit_loads_its_booster_and_what_it_needs(fresh):
    loaded = set(fresh["fit"])
    assert "boostlab.boosters.adaboost" in loaded
    assert not {"boostlab.boosters.lpboost", "boostlab.boosters.weightboost"} & loaded
    folders = {"explain.words", "explain.pairs", "theory", "model_io", "studies", "plots"}
    others = {"highspy", "matplotlib", "rich", "typer", "dask", "distributed"}
    assert not ({f"boostlab.{folder}" for folder in folders} | others) & loaded


def test_matplotlib_is_not_imported_before_the_first_picture(fresh):
    assert fresh["drawn"] is False


def test_a_model_file_loads_its_booster_only(fresh):
    assert fresh["kind"] == "WeightBoostClassifier"
    assert "boostlab.boosters.weightboost" in fresh["load"]
    assert not {"boostlab.boosters.lpboost", "boostlab.multiclass.pairwise"} & set(fresh["load"])


def test_names_are_listed_without_loading_a_booster():
    code = "import sys, boostlab; print(*boostlab.__all__); print(*dir(boostlab)); print('numpy' in sys.modules)"
    names, listed, loaded = said(code).splitlines()
    assert set(OURS) <= set(names.split())
    assert names == listed
    assert loaded == "False"


def test_lists_are_whole_and_in_one_order(fresh):
    assert set(fresh["lists"]) == set(public_names("boosters"))
    for names in (fresh["lists"], list(OURS)):  # in another order in this process
        assert names == sorted(names, key=lambda name: (name in REGRESSORS, name.casefold()))


@pytest.mark.parametrize("name", OURS)
def test_every_booster_has_the_file_of_its_name(name):
    assert find(name) is known(name) is getattr(boosters, name) is getattr(boostlab, name) is ALL[name].cls
    assert name in dir(boosters)
    file = ALL[name].cls.__module__.removeprefix(INSIDE).replace("_", "")
    assert name.removesuffix("Classifier").removesuffix("Regressor").lower() == file


def test_other_names_are_refused():
    for name in ("NobodyClassifier", "BaseClassifier", "CorrectiveClassifier", "Nobody", "Path", "PairwiseClassifier"):
        with pytest.raises(AttributeError, match=rf"boostlab\.boosters.*'{name}'"):
            getattr(boosters, name)
    assert find("NobodyClassifier") is None
    assert known("ReweighedClassifier") is None
    assert find("PairwiseClassifier") is boostlab.PairwiseClassifier


def test_a_booster_in_a_file_of_another_name_is_refused():
    @dataclass(eq=False, repr=False)
    class StrayClassifier(BoostingClassifier):
        """Stray.

        Parameters
        ----------
        {shared}
        """

    StrayClassifier.__module__ = "boostlab.boosters.adaboost"
    with pytest.raises(TypeError, match=r"StrayClassifier belongs in a file of its own name, not in .*adaboost"):
        booster("nobody", "never")(StrayClassifier)
    assert "StrayClassifier" not in REGISTRY
    StrayClassifier.__module__ = "elsewhere"  # files outside the package are named freely
    try:
        assert known(booster("nobody", "never")(StrayClassifier).__name__) is StrayClassifier
    finally:
        del REGISTRY["StrayClassifier"]


@pytest.mark.parametrize("name", OURS)
def test_every_booster_says_what_the_lists_need(name):
    entry = ALL[name]
    assert entry.reference[-4:].isdigit(), "authors and year"
    assert entry.choose
    assert entry.choose[-1] != "."
    assert entry.family
    assert entry.summary.endswith(".")
    for params in entry.variants.values():
        assert params.keys() <= entry.cls().get_params(deep=False).keys()
        entry.cls(**params)._rule()


def test_shared_parameters_are_those_of_the_base():
    assert set(BoostingClassifier().get_params(deep=False)) == registry.SHARED_NAMES
    assert REGISTRY["LogitBoostClassifier"].parameters == {"z_max": 4.0, "learning_rate": "auto", "safe": True}
