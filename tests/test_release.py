"""A release says one version everywhere, and its recipe asks for what the package asks for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import boostlab

ROOT = Path(__file__).parents[1]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version_everywhere():
    version = boostlab.__version__
    citation, archive = text_of("CITATION.cff"), json.loads(text_of(".zenodo.json"))
    assert f"\nversion: {version}\n" in citation
    assert archive["version"] == version
    assert f"\ndate-released: {archive['publication_date']}\n" in citation
    assert f'version: "{version}"' in text_of("conda-forge/recipe.yaml")
    latest = re.search(r"^## \[(\d[^\]]*)\] - (\S+)$", text_of("CHANGELOG.md"), re.MULTILINE)
    assert latest.groups() == (version, archive["publication_date"])


def test_the_recipe_asks_for_what_the_package_asks_for():
    asked = tomllib.loads(text_of("pyproject.toml"))["project"]["dependencies"]
    recipe = text_of("conda-forge/recipe.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    listed = [line.strip("- ").replace(" ", "") for line in recipe.splitlines() if "python_min" not in line]
    assert listed == asked


def test_the_lower_bounds_that_are_tested_are_those_of_the_package():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["docs"]]
    pins = dict(line.split("==") for line in text_of("tests/lower_bounds.txt").splitlines() if "==" in line)
    for requirement in asked:
        name, bound = requirement.split(">=")
        assert (pins[name] + ".").startswith(bound + "."), f"{name}: {pins[name]} is tested, {bound} is allowed"


def test_the_sdist_has_what_these_tests_read():
    settings = tomllib.loads(text_of("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["sdist"]
    read = {".github", ".zenodo.json", "CHANGELOG.md", "CITATION.cff", "conda-forge", "pyproject.toml", "tests"}
    assert read <= set(settings["only-include"])


def test_workflows_cover_the_pythons_that_the_package_names():
    kinds = tomllib.loads(text_of("pyproject.toml"))["project"]["classifiers"]
    pythons = [
        kind.rpartition(" ")[2] for kind in kinds if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", kind)
    ]
    for name in ("ci", "release"):
        workflow = text_of(f".github/workflows/{name}.yml")
        assert f"python: [{', '.join(json.dumps(python) for python in pythons)}]" in workflow
        assert "os: [ubuntu-latest, macos-latest, windows-latest]" in workflow


def test_forms_of_issues_are_what_github_reads():
    """A comma in an unquoted label ends it, and the form is refused."""
    yaml = pytest.importorskip("yaml")
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"):
        for field in yaml.safe_load(form.read_text(encoding="utf-8"))["body"]:
            allowed = {"label", "description", "placeholder", "render", "value", "options", "multiple", "default"}
            assert set(field["attributes"]) <= allowed, form.name


def test_only_files_are_checked_out_where_files_are_named():
    """By default the patterns of a sparse checkout are folders."""
    for name in ("ci", "pages", "release"):
        workflow = text_of(f".github/workflows/{name}.yml")
        assert workflow.count("sparse-checkout: |") == workflow.count("sparse-checkout-cone-mode: false")
