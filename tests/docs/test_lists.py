"""The lists of boosters in the documentation are the registry's, the numbers of the README measured."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.boosters.registry import Entry

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def make_lists():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("make_lists", ROOT / "docs" / "make_lists.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("make_lists", None)


def test_the_lists_are_up_to_date(make_lists, capsys):
    assert make_lists.main(["--check"]) == 0, f"{capsys.readouterr().out}run `make lists`"


def test_every_booster_has_a_row(make_lists):
    table, index = make_lists.boosters(), make_lists.families()
    for name, entry in (REGISTRY | REGRESSORS).items():
        row = next(line for line in table.splitlines() if f"`{name}`" in line)
        assert entry.reference in row
        assert entry.choose in row
        assert all(key in row for key in entry.parameters)
        assert entry.family in make_lists.FAMILIES, f"{name}: docs/{entry.family}.md is not in docs/make_lists.py"
        assert name.removesuffix("Classifier").removesuffix("Regressor") in index
    for family in make_lists.FAMILIES:
        assert (ROOT / "docs" / f"{family}.md").exists()


def test_a_new_booster_makes_the_lists_out_of_date(make_lists, monkeypatch, capsys):
    cls = REGISTRY["AdaBoostClassifier"].cls
    monkeypatch.setitem(REGISTRY, "NewClassifier", Entry(cls, "Nobody 2099", "never", "quadratic"))
    assert "| `NewClassifier` | Nobody 2099 |" in make_lists.boosters()
    assert make_lists.main(["--check"]) == 1
    assert "docs/boosters.md is not up to date" in capsys.readouterr().out


def test_a_new_measurement_makes_the_readme_out_of_date(make_lists, monkeypatch, tmp_path):
    for name in ("benchmarks/auto_table.json", "benchmarks/targets.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    before = make_lists.claims()
    monkeypatch.setattr(make_lists, "ROOT", tmp_path)
    assert make_lists.claims() == before
    told = json.loads((tmp_path / "benchmarks/targets.json").read_text(encoding="utf-8"))
    told["2"]["stumps"]["boostlab AdaBoost"]["seconds"] = [9.0]
    (tmp_path / "benchmarks/targets.json").write_text(json.dumps(told), encoding="utf-8")
    assert "take 9.00 s on 2 threads" in make_lists.claims()


def test_only_what_is_between_the_marks_changes(make_lists):
    assert make_lists.updated("a\n<!-- [x] made -->\nold\n<!-- [/x] -->\nb\n", "<!-- [x] ", "<!-- [/x]", "new\n") == (
        "a\n<!-- [x] made -->\nnew\n<!-- [/x] -->\nb\n"
    )


def test_no_private_name_is_a_parameter():
    """A parameter is public: it stands in the lists, in get_params and in model files."""
    makers = [boostlab.AutoBoostClassifier, boostlab.AutoBoostRegressor]
    makers += [getattr(boostlab, name) for name in REGISTRY | REGRESSORS]
    assert [(made.__name__, name) for made in makers for name in made().get_params() if name.startswith("_")] == []
