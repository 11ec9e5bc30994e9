"""The reference leaves no public name out, and each is explained with parameters and an example."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest

import boostlab

SITE = Path(__file__).parents[2] / "docs" / "site"
# Parts of what a comparison returns, errors, a cluster; parts of boosters, which docs/add_your_own_booster.md shows.
WITHOUT_EXAMPLE = {
    "boostlab.datasets": {"Found", "cache_folder", "data_folder"},
    "boostlab.studies": {"Advice", "Ranking", "RequestError", "Standing"},
    "boostlab.theory": {"Promise"},
    "boostlab.dask": {"using"},
    "boostlab.contract": set(import_module("boostlab.contract").__all__),
}
DATA = {"boostlab.contract": {"Array", "NEGLIGIBLE", "Place", "STOP_CODES"}}  # not functions or classes


@pytest.fixture(scope="module")
def site():
    """Load the modules that make the reference, as the build does."""
    sys.path.insert(0, str(SITE))
    names = ("public", "api", "check_links")
    try:
        yield {name: import_module(name) for name in names}
    finally:
        sys.path.remove(str(SITE))
        for name in names:
            sys.modules.pop(name, None)


def test_every_public_name_has_its_entry(site):
    pages = dict(site["api"].pages())
    modules = {"boostlab", *(f"boostlab.{name}" for name in boostlab._ROOMS), "boostlab.dask", "boostlab.contract"}
    assert set(site["public"].MODULES) == modules
    for name in boostlab.__all__:
        if name != "__version__" and not inspect.ismodule(getattr(boostlab, name)):
            assert f":: boostlab.{name}\n" in pages[f"api/boostlab.{name}.rst"]
            assert f"<boostlab.{name}>`" in pages["api/index.rst"]
    for module in modules - {"boostlab"}:
        for name in import_module(module).__all__:
            assert f":: {module}.{name}\n" in pages[f"api/{module}.rst"], f"{module}.{name} is missing"


def test_public_names_are_explained(site):
    for module, names in site["public"].PUBLIC.items():
        for name in names:
            thing = getattr(import_module(module), name)
            if name not in DATA.get(module, ()):
                assert (inspect.getdoc(thing) or "").strip(), f"{module}.{name} has no docstring"
    for module in site["public"].MODULES:
        for name in set(site["public"].PUBLIC[module]) - WITHOUT_EXAMPLE.get(module, set()):
            thing = getattr(import_module(module), name)
            shown = ">>>" in (inspect.getdoc(thing) or "") or thing is getattr(boostlab, name, None)
            assert shown or site["api"].makers(module, name), f"{module}.{name} has no example"


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


@pytest.mark.parametrize("name", ["noise_ranks", "auto_ranks", "class_ranks", "speed_table", "memory_table"])
def test_tables_are_read_from_the_measured_files(site, name, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(SITE)
    spec = importlib.util.spec_from_file_location("measured", SITE / "measured.py")
    measured = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measured)
    head, line, *rows = getattr(measured, name)().splitlines()
    assert len(rows) >= 1
    assert len({row.count("|") for row in (head, line, *rows)}) == 1


def test_mean_ranks_share_ties(monkeypatch):
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("measured", SITE / "measured.py")
    measured = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measured)
    scores = {"a": {"x": 1.0, "y": 5.0}, "b": {"x": 1.0, "y": 6.0}, "c": {"x": 2.0, "y": 4.0, "z": 0.0}}
    assert measured.mean_ranks(scores) == {"a": 1.75, "b": 2.25, "c": 2.0}
