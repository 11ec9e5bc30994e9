"""The house stays as drawn in docs/architecture.md: who may import whom, and how large a file may grow."""

from __future__ import annotations

import ast
from pathlib import Path

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
    "voters": {"contract", "data", "kernels", "learners"},  # learners: trees, which are built on what is in voters
    "learners": {"contract", "data", "kernels", "voters"},
    "lookup": {"data", "kernels", "voters"},
    "ensemble": {"contract", "data", "kernels", "learners", "lookup", "voters"},
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
            "learners",
            "monitors",
            "multiclass",
            "rules",
            "stream",
            "theory",
            "voters",
        ),
    },
    "files": {"contract", "data", "ensemble", "estimators", "learners", "multiclass", "voters"},
    "theory": {"contract", "data", "ensemble", "voters"},
    "plots": {"theory"},
    "datasets": set(),
    "studies": {"datasets", "estimators", "theory", "kernels"},  # kernels: whole runs on a pool
    "cli": {"studies", "datasets", "estimators"},
    "__main__": {"cli"},
    "__init__": {"contract", "datasets", "files", "estimators", "multiclass", "studies", "voters", "theory", "plots"},
}
FILES = sorted(SRC.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are written in full"
            names = [node.module or ""]
        found |= {n.split(".")[1] for n in names if n.startswith("boostlab.")}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_downwards(path):
    here = room(path)
    extra = imported_rooms(path) - MAY_IMPORT[here] - {here}
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
