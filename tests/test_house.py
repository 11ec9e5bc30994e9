"""The house stays as drawn in docs/architecture.md: who may import whom, and how large a file may grow."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

import boostlab

SRC = Path(boostlab.__file__).parent

# Every room and the rooms it may import.  Rules see the shared words and the programs, nothing else.
MAY_IMPORT = {
    "kernels": set(),
    "data": {"kernels"},
    "tasks": set(),
    "contract": {"data", "kernels", "tasks"},
    "programs": set(),
    "rules": {"contract", "programs"},
    "voters": {"contract", "data", "kernels"},
    "lookup": {"data", "kernels", "voters"},
    "ensemble": {"contract", "data", "kernels", "lookup", "voters"},
    "state": {"contract", "data", "kernels", "ensemble"},
    "march": {"contract", "data", "kernels", "state", "voters"},
    "engine": {"contract", "data", "ensemble", "march", "state"},
    "stream": {"contract", "data", "ensemble", "programs"},
    "monitors": {"contract", "data", "engine", "ensemble", "state"},
    "multiclass": {"files", "data", "ensemble", "estimators"},  # beside the estimators; files: save()
    "estimators": {  # files: save(); theory: certificate()
        *(
            "contract",
            "data",
            "engine",
            "ensemble",
            "files",
            "monitors",
            "multiclass",
            "rules",
            "stream",
            "theory",
            "voters",
        ),
    },
    "files": {"contract", "data", "ensemble", "estimators", "multiclass", "voters"},
    "theory": {"contract", "data", "ensemble", "voters"},
    "plots": {"theory"},
    "datasets": set(),
    # kernels: whole runs on a pool; voters: the papers name their weak learners
    "studies": {"datasets", "estimators", "theory", "kernels", "voters"},
    "cli": {"studies", "datasets", "estimators"},
    "__main__": {"cli"},
    "__init__": {"contract", "datasets", "files", "estimators", "multiclass", "studies", "voters", "theory", "plots"},
}
FILES = sorted(SRC.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported_rooms(source: str) -> set[str]:
    """Return the rooms that a file imports: at its top, inside functions, by `from boostlab import x`, by name."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            assert all(alias.name != "boostlab" for alias in node.names), "import boostlab hides which room is used"
            found |= {room_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            whole = node.module == "boostlab"
            found |= {room_of_public(alias.name) for alias in node.names} if whole else {room_of(node.module or "")}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            found |= {room_of(text.value) for text in ast.walk(node) if isinstance(text, ast.Constant)}
    return found - {""}


def room_of(module: object) -> str:
    """Return the room of a module, empty if it is not of this package."""
    return module.split(".")[1] if isinstance(module, str) and module.startswith("boostlab.") else ""


def room_of_public(name: str) -> str:
    """Return the room that a public name comes from; `__version__` comes from none."""
    assert name != "*", "names are imported one by one"
    value = getattr(boostlab, name)
    return name if isinstance(value, ModuleType) else room_of(getattr(value, "__module__", ""))


@pytest.mark.parametrize(
    ("source", "rooms"),
    [
        ("import numpy, boostlab.data.bins", {"data"}),
        ("from boostlab.voters.stump import Stump", {"voters"}),
        ("from boostlab import DecisionTree, datasets, __version__", {"voters", "datasets"}),
        ("def late():\n    from boostlab import load", {"files"}),
        ("def late():\n    import boostlab.plots as p", {"plots"}),
        ("from importlib import import_module\nimport_module('boostlab.cli')", {"cli"}),
        ("import importlib\nx = importlib.import_module(f'boostlab.engine.{name}')", {"engine"}),
        ("from boostlab.tasks import Task\nfrom scipy import stats", {"tasks"}),
    ],
)
def test_every_way_to_import_is_seen(source, rooms):
    assert imported_rooms(source) == rooms


@pytest.mark.parametrize("source", ["import boostlab", "from boostlab import *", "from . import x"])
def test_imports_that_hide_a_room_are_refused(source):
    with pytest.raises(AssertionError):
        imported_rooms(source)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_downwards(path):
    here = room(path)
    extra = imported_rooms(path.read_text(encoding="utf-8")) - MAY_IMPORT[here] - {here}
    assert not extra, f"{path.relative_to(SRC)} must not import {', '.join(sorted(extra))}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_files_stay_small(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 400
    if room(path) == "rules":
        assert lines <= 80, "an algorithm is 20 to 80 lines"


def test_rules_use_numpy_scipy_and_the_shared_words_only():
    allowed = {"numpy", "scipy", "math", "dataclasses", "typing", "boostlab", "__future__"}
    for path in (SRC / "rules").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {a.name.split(".")[0] for a in node.names} <= allowed, path.name
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] in allowed, path.name


def test_importing_the_package_is_cheap():
    import subprocess
    import sys

    code = "import sys, boostlab; print(sorted({'numba', 'sklearn', 'numpy', 'scipy'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
