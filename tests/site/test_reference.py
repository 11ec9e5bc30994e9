"""The reference leaves no public name out, and each is explained with parameters and an example."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import boostlab

SITE = Path(__file__).parents[2] / "docs" / "site"
ELSEWHERE = re.compile(r"`(\w+)`\s+has\s+an\s+example")  # in a docstring: where the example is


@pytest.fixture(scope="module")
def site():
    """Load the modules that make the site, as the build does."""
    pytest.importorskip("matplotlib")
    sys.path.insert(0, str(SITE))
    names = ("public", "api", "check_links", "assemble")
    try:
        yield {name: import_module(name) for name in names}
    finally:
        sys.path.remove(str(SITE))
        for name in (*names, "measured", "by_booster", "decisions", "targets", "contenders", "data"):
            sys.modules.pop(name, None)


def test_every_public_name_has_its_entry(site):
    pages = dict(site["api"].pages())
    modules = {"boostlab", *(f"boostlab.{name}" for name in boostlab._MODULES), "boostlab.dask", "boostlab.contract"}
    assert set(site["public"].MODULES) == modules
    for name in boostlab.__all__:
        if name != "__version__" and not inspect.ismodule(getattr(boostlab, name)):
            assert f":: boostlab.{name}\n" in pages[f"api/boostlab.{name}.rst"]
            assert f"<boostlab.{name}>`" in pages["api/index.rst"]
    for module in modules - {"boostlab"}:
        for name in import_module(module).__all__:
            assert f":: {module}.{name}\n" in pages[f"api/{module}.rst"], f"{module}.{name} is missing"


def test_public_names_are_explained_with_an_example(site):
    api, public = site["api"], site["public"].PUBLIC
    for module, names in public.items():
        for name in names:
            if module == "boostlab.contract" and name in api.DATA:
                continue
            thing = getattr(import_module(module), name)
            told = inspect.getdoc(thing) or ""
            assert told.strip(), f"{module}.{name} has no docstring"
            shown = ">>>" in told or thing is getattr(boostlab, name, None) or api.makers(module, name)
            others = [getattr(import_module(module), other) for other in ELSEWHERE.findall(told)]
            assert shown or any(">>>" in inspect.getdoc(other) for other in others), f"{module}.{name} has no example"


def test_every_method_of_a_booster_is_on_its_page_or_the_shared_one(site):
    api = site["api"]
    page, shared = api.documented("boostlab", "VadaBoostClassifier"), api.documented("boostlab", "AdaBoostClassifier")
    for method in api.methods(boostlab.VadaBoostClassifier):
        assert f"boostlab.VadaBoostClassifier.{method}\n" in page or f"boostlab.AdaBoostClassifier.{method}>" in page
        assert f"boostlab.AdaBoostClassifier.{method}\n" in shared
    assert {"fit", "predict", "predict_proba", "contributions", "save"} <= set(
        api.methods(boostlab.VadaBoostClassifier)
    )


def test_links_that_lead_nowhere_are_found(site, tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top"><a href="b.html#here">b</a><a href="#top"><img src="x.png"></h1>')
    (tmp_path / "b.html").write_text('<a name="here"></a><a href="a.html#gone"></a><script src="https://e.org/x.js">')
    found = site["check_links"].problems(tmp_path)
    assert found == [
        "a.html links to x.png, which is not there",
        "b.html links to a.html#gone, an anchor that is not there",
        "b.html loads https://e.org/x.js from the network",
    ]


TABLES = ["noise_ranks", "auto_ranks", "class_ranks", "speed_table", "memory_table", "losses_table", "decisions"]


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_from_the_measured_files(site, name):
    head, line, *rows = site["assemble"].MAKERS[name]().splitlines()
    assert len(rows) >= 1
    assert len({row.count("|") for row in (head, line, *rows)}) == 1


def test_mean_ranks_share_ties(site):
    scores = {"a": {"x": 1.0, "y": 5.0}, "b": {"x": 1.0, "y": 6.0}, "c": {"x": 2.0, "y": 4.0, "z": 0.0}}
    assert site["assemble"].measured.mean_ranks(scores) == {"a": 1.75, "b": 2.25, "c": 2.0}


def test_ratios_of_boosters_by_hand(site):
    cells = {
        "boostlab AdaBoost": {"seconds": [1.0, 2.0, 4.0], "rounds": 100},
        "LightGBM": {"seconds": [9.0, 12.0, 10.0]},
        "XGBoost": {"seconds": [6.0, 5.0, 8.0]},
    }
    (found,) = site["assemble"].by_booster.ratios_of("stumps", "16", cells)
    assert (found.peer, found.value, found.low, found.high) == ("XGBoost", 3.0, 5 / 4, 8.0)
    assert found.wanted == 6


def test_names_of_studies_lead_to_classes(site):
    code = site["assemble"].decisions.code
    assert code("Boost by majority") == "`BoostByMajorityClassifier`"
    assert code("SoftMarginBoost (ABR)") == "`SoftMarginBoostClassifier`"
    assert code("QuadBoost, l2") == "`QuadBoostClassifier` (l2)"
    assert code("Real AdaBoost") == "`AdaBoostClassifier` (real)"
    assert code("XGBoost") == "XGBoost"


def test_parameters_of_public_names_are_explained(site):
    """Every argument of a public function or class has its line under Parameters (or Attributes, of a result)."""
    inside = {"Binned", "boostlab.contract"}  # made by Binned.fit; parts of boosters, explained in their first lines
    lacking = []
    for module, names in site["public"].PUBLIC.items():
        for name in set(names) - inside if module not in inside else ():
            thing = getattr(import_module(module), name)
            if inspect.isclass(thing) and issubclass(thing, Exception):
                continue
            told = inspect.getdoc(thing) or ""
            listed = {
                word.strip("* ") for line in re.findall(r"(?m)^[\w*, ]+(?= :|$)", told) for word in line.split(",")
            }
            lacking += [f"{module}.{name}: {one}" for one in inspect.signature(thing).parameters if one not in listed]
    assert lacking == []
