"""The house stays as drawn in docs/architecture.md: who may import whom, and how large a file may grow."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.boosters.registry import complete
from boostlab.contract import Rule

SRC = Path(boostlab.__file__).parent

# Every room and the rooms it may import.
MAY_IMPORT = {
    "kernels": set(),
    "data": {"kernels"},
    "functions": set(),
    "contract": {"functions"},
    "backend": {"contract", "data", "functions", "kernels"},
    "programs": {"contract", "functions"},
    "voters": {"contract", "data", "kernels"},
    "lookup": {"data", "kernels", "voters"},
    "ensemble": {"contract", "data", "kernels", "lookup", "voters"},
    "state": {"backend", "contract", "ensemble"},
    "march": {"backend", "contract", "data", "kernels", "state", "voters"},
    "engine": {"backend", "contract", "data", "ensemble", "march", "state"},
    "stream": {"backend", "contract", "data", "ensemble", "programs"},
    "monitors": {"contract", "data", "engine", "ensemble", "state"},
    "reductions": {"data", "ensemble"},
    "registry": set(),  # boosters/registry.py: how boosters are found by name, so that files need not import them
    "files": {"contract", "data", "ensemble", "reductions", "registry", "voters"},
    "boosters": {
        *("contract", "data", "engine", "ensemble", "files", "functions", "monitors"),
        *("programs", "reductions", "registry", "stream", "theory", "voters"),
    },
    "multiclass": {"boosters", "data", "files", "reductions"},
    "theory": {"contract", "data", "ensemble", "voters"},
    "plots": {"theory"},
    "datasets": set(),
    "studies": {"boosters", "data", "datasets", "theory", "kernels"},  # kernels: whole runs on a pool
    "cli": {"studies", "datasets", "boosters"},
    "__main__": {"cli"},
    "__init__": {
        *("boosters", "contract", "data", "datasets", "files", "multiclass"),
        *("plots", "registry", "studies", "theory", "voters"),
    },
}
FILES = sorted(SRC.rglob("*.py"))
REGISTERED = {
    name: entry
    for name, entry in (REGISTRY | REGRESSORS).items()
    if entry.cls.__module__.startswith("boostlab.boosters.")
}


def room(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return parts[1] if parts == ("boosters", "registry") else parts[0]


def imported(path: Path) -> dict[str, str]:
    """Return the modules of this package that a file imports, also inside functions, by the names they have there."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are written in full"
            for alias in node.names:
                module = node.module or ""
                submodule = SRC.joinpath(*module.split(".")[1:], alias.name)
                whole = submodule.is_dir() or submodule.with_suffix(".py").exists()
                found[alias.asname or alias.name] = f"{module}.{alias.name}" if whole else module
    return {name: module for name, module in found.items() if module.split(".")[0] == "boostlab"}


def file_of(module: str) -> Path:
    path = SRC.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imported_rooms(path: Path) -> set[str]:
    return {room(file_of(module)) for module in imported(path).values()} - {"__init__"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_downwards(path):
    here = room(path)
    extra = imported_rooms(path) - MAY_IMPORT[here] - {here}
    assert not extra, f"{path.relative_to(SRC)} must not import {', '.join(sorted(extra))}"


def test_no_room_imports_one_that_imports_it():
    """An order of the rooms exists in which every room imports earlier ones only."""
    left = {name: needed - {name} for name, needed in MAY_IMPORT.items()}
    while ready := [name for name, needed in left.items() if not needed & left.keys()]:
        for name in ready:
            del left[name]
    assert not left, f"a circle among {', '.join(left)}"


def test_the_reader_of_imports_sees_all_kinds(tmp_path):
    path = tmp_path / "probe.py"
    path.write_text(
        "from boostlab import boosters, AdaBoostClassifier\nimport boostlab.theory.margins\n"
        "def f():\n    from boostlab.files import save as s\n    from boostlab.boosters import registry\n"
    )
    assert imported_rooms(path) == {"boosters", "theory", "files", "registry"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_files_stay_small(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


# -- rules: they see the shared words and the programs, nothing else ---------------------------------------------------

RULES_MAY_USE = {"numpy", "scipy", "math", "dataclasses", "typing", "collections"}
SHARED = {"base", "params", "registry", "selection", "staged_training", "targets", "voting"}  # files of the estimators


def rules() -> list[type]:
    """Return all rules of the package."""
    complete()
    found, new = [], [Rule]
    while new:
        new = [sub for cls in new for sub in cls.__subclasses__() if sub.__module__.startswith("boostlab.boosters")]
        found += [cls for cls in new if cls not in found]
    return found


@pytest.mark.parametrize("cls", rules(), ids=lambda cls: cls.__name__)
def test_a_rule_is_short_and_knows_nothing_of_features_or_estimators(cls):
    source, first = inspect.getsourcelines(cls)
    assert len(source) <= 80, "an algorithm is 20 to 80 lines"
    path = Path(inspect.getfile(cls))
    others = imported(path)
    names = [node for node in ast.walk(ast.parse("".join(source))) if isinstance(node, ast.Name)]
    used = {n.id for n in names if isinstance(n.ctx, ast.Load)} - {n.id for n in names if isinstance(n.ctx, ast.Store)}
    for name in used & others.keys():
        here, *rest = others[name].split(".")[1:]
        assert here in ("contract", "functions", "programs") or (here == "boosters" and rest[0] not in SHARED), (
            f"{path.name}, line {first}: {cls.__name__} uses {name}, and rules see contract, functions, programs"
        )
    outside = {
        (alias.asname or alias.name).split(".")[0]: (getattr(node, "module", None) or alias.name).split(".")[0]
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {outside[name] for name in used & outside.keys()} <= RULES_MAY_USE | {"boostlab"}


def test_shared_files_are_no_boosters():
    """A file of boosters/ holds boosters and is named after them, or says in its first words that it is shared."""
    named = {REGISTERED[name].cls.__module__.rpartition(".")[2] for name in REGISTERED}
    for path in (SRC / "boosters").glob("*.py"):
        if path.stem not in named | SHARED | {"__init__"}:
            assert path.read_text(encoding="utf-8").startswith('"""Shared by '), path.name


def test_importing_the_package_is_cheap():
    import subprocess
    import sys

    code = "import sys, boostlab; print(sorted({'numba', 'sklearn', 'numpy', 'scipy'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
