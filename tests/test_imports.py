"""The subpackages are as drawn in docs/architecture.md: who may import whom, and how large a file may grow."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import boostlab
import boostlab_reproductions
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.boosters.registry import complete
from boostlab.contract import Rule

SRC = Path(boostlab.__file__).parent
PAPERS = Path(boostlab_reproductions.__file__).parent

# Every subpackage and the subpackages it may import.
MAY_IMPORT = {
    "functions": set(),
    "contract": {"functions"},
    "solvers": {"contract", "functions"},
    "backend": {"contract", "functions"},
    "data": {"backend", "contract"},
    "learners": {"backend", "contract", "data"},
    "ensemble": {"backend", "contract", "data", "learners"},
    "engine": {"backend", "contract", "data", "ensemble", "solvers"},
    "reductions": {"backend", "data", "ensemble"},
    "registry": set(),  # boosters/registry.py: how boosters are found by name, so that files need not import them
    # plots: how pictures look
    "explain": {"backend", "contract", "data", "ensemble", "learners", "plots", "reductions", "theory"},
    "model_io": {"calibration", "contract", "data", "ensemble", "explain", "learners", "reductions", "registry"},
    "calibration": set(),
    "boosters": {
        *("backend", "calibration", "contract", "data", "engine", "ensemble", "explain", "functions", "learners"),
        *("model_io", "reductions", "registry", "solvers", "theory"),
    },
    "dask": {"data"},  # boostlab/dask.py: which cluster to use
    "multiclass": {"backend", "boosters", "explain", "data", "model_io", "reductions"},
    "theory": {"backend", "contract", "data", "ensemble", "learners"},
    "plots": {"theory"},
    "datasets": set(),
    "report": set(),  # pages for the browser
    "studies": {"backend", "boosters", "registry", "report"},  # backend: one notice of compiling for all workers
    "tables": {"data", "datasets", "model_io", "studies"},  # a person's table and its recipe; data: files in batches
    "comparison": {"backend", "boosters", "data", "datasets", "report", "studies", "tables", "theory"},
    "auto": {"boosters", "comparison", "studies"},
    "deployment": {"auto", "boosters", "comparison", "report", "studies", "tables", "theory"},
    # backend: whole runs on a pool; learners: the papers name their weak learners; calibration: one map for all; auto:
    # the atlas has it as a contender
    "boostlab_reproductions": {
        *("auto", "backend", "boosters", "calibration", "data", "datasets", "learners", "plots", "studies", "theory"),
    },
    "cli": {
        "boosters",
        "comparison",
        "datasets",
        "deployment",
        "studies",
    },  # and the reproductions, where they are installed
    "__main__": {"cli"},
    "__init__": {
        *("auto", "boosters", "comparison", "contract", "dask", "data", "datasets", "explain", "learners", "model_io"),
        *("multiclass", "plots", "registry", "studies", "theory"),
    },
}
ALSO = {SRC / "studies" / "__init__.py": {"comparison"}}  # `boostlab.studies` keeps its public names
SEARCHES = {"boostlab.backend.search", "boostlab.backend.shapley"}
NOTICES = {  # who may know more: one notice of compiling for all workers; the paper's own pool, whole runs in a call
    SRC / "studies" / "runner.py": {"boostlab.backend.cpu.compiling"},
    PAPERS / "protocols" / "quadboost.py": {"boostlab.backend.cpu.kernels.pool_search"},
}
FILES = [*sorted(SRC.rglob("*.py")), *sorted(PAPERS.rglob("*.py"))]
REGISTERED = {
    name: entry
    for name, entry in (REGISTRY | REGRESSORS).items()
    if entry.cls.__module__.startswith("boostlab.boosters.")
}


def subpackage(path: Path) -> str:
    if path.is_relative_to(PAPERS):
        return PAPERS.name
    parts = path.relative_to(SRC).with_suffix("").parts
    return parts[1] if parts == ("boosters", "registry") else parts[0]


def shown(path: Path) -> str:
    return path.relative_to(PAPERS.parent if path.is_relative_to(PAPERS) else SRC).as_posix()


@cache
def nodes(source: str) -> list[ast.AST]:
    """Return all nodes of a source, which several tests look at."""
    return list(ast.walk(ast.parse(source)))


def imported(path: Path) -> dict[str, str]:
    """Return the modules of this package that a file imports, also inside functions, by the names they have there."""
    found = {}
    for node in nodes(path.read_text(encoding="utf-8")):
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


def imported_subpackages(source: str) -> set[str]:
    """Return the subpackages that a file imports: at its top, inside functions, by `from boostlab import x`."""
    found = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            assert all(alias.name != "boostlab" for alias in node.names), "import boostlab hides what is used"
            found |= {subpackage_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            whole = node.module == "boostlab"
            for alias in node.names:
                found.add(subpackage_of_public(alias.name) if whole else subpackage_of(f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.Call) and last_name(node.func).endswith(importers(source)):
            found |= {subpackage_of(text.value) for text in ast.walk(node) if isinstance(text, ast.Constant)}
    return found - {""}


def last_name(called: ast.expr) -> str:
    """Return the end of what is called: `import_module` of `importlib.import_module`."""
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


@cache
def importers(source: str) -> tuple[str, ...]:
    """Return the names of functions that import a module by its name."""
    froms = [node for node in nodes(source) if isinstance(node, ast.ImportFrom) and node.module == "importlib"]
    return "import_module", "__import__", *(alias.asname for node in froms for alias in node.names if alias.asname)


def subpackage_of(module: object) -> str:
    """Return the subpackage of a module, empty if it is not of this package."""
    if not isinstance(module, str) or not module.startswith("boostlab."):
        return ""
    return "registry" if module.startswith("boostlab.boosters.registry") else module.split(".")[1]


def subpackage_of_public(name: str) -> str:
    """Return the subpackage that a public name comes from; `__version__` comes from none."""
    assert name != "*", "names are imported one by one"
    value = getattr(boostlab, name)
    return name if isinstance(value, ModuleType) else subpackage_of(getattr(value, "__module__", ""))


@pytest.mark.parametrize(
    ("source", "subpackages"),
    [
        ("import numpy, boostlab.data.bins", {"data"}),
        ("from boostlab.learners.stump import Stump", {"learners"}),
        ("from boostlab import DecisionTree, datasets, __version__", {"learners", "datasets"}),
        ("def late():\n    from boostlab import load", {"model_io"}),
        ("def late():\n    import boostlab.plots as p", {"plots"}),
        ("from boostlab.boosters import registry, targets", {"boosters", "registry"}),
        ("from importlib import import_module\nimport_module('boostlab.cli')", {"cli"}),
        ("from importlib import import_module as load\nload('boostlab.cli')", {"cli"}),
        ("import importlib\nx = importlib.import_module(f'boostlab.engine.training.{name}')", {"engine"}),
        ("from boostlab.contract.task import Task\nfrom scipy import stats", {"contract"}),
    ],
)
def test_every_way_to_import_is_seen(source, subpackages):
    assert imported_subpackages(source) == subpackages


@pytest.mark.parametrize("source", ["import boostlab", "from boostlab import *", "from . import x"])
def test_imports_that_hide_a_subpackage_are_refused(source):
    with pytest.raises(AssertionError):
        imported_subpackages(source)


def test_no_kernel_is_imported():
    """Others know a backend by what `boostlab.backend` shows of it, by histogram searches, and by Shapley values."""
    must_not = {}
    for path in FILES:
        if subpackage(path) not in ("backend", "data"):
            inside = {name for name in imported(path).values() if name.startswith("boostlab.backend.")} - SEARCHES
            must_not[shown(path)] = inside - NOTICES.get(path, set())
    assert {path: names for path, names in must_not.items() if names} == {}


def test_backends_alone_compile():
    compile_ = {
        shown(path)
        for path in FILES
        for node in nodes(path.read_text(encoding="utf-8"))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if name.split(".")[0] in ("numba", "llvmlite")
    }
    assert {path for path in compile_ if not path.startswith("backend/")} == set()


def test_imports_point_downwards():
    must_not = {}
    for path in FILES:
        here = subpackage(path)
        subpackages = imported_subpackages(path.read_text(encoding="utf-8"))
        must_not[shown(path)] = subpackages - MAY_IMPORT[here] - {here} - ALSO.get(path, set())
    assert {path: subpackages for path, subpackages in must_not.items() if subpackages} == {}


def test_no_subpackage_imports_one_that_imports_it():
    """An order of the subpackages exists in which every subpackage imports earlier ones only."""
    left = {name: needed - {name} for name, needed in MAY_IMPORT.items()}
    while ready := [name for name, needed in left.items() if not needed & left.keys()]:
        for name in ready:
            del left[name]
    assert not left, f"a circle among {', '.join(left)}"


def test_a_class_name_occurs_once():
    """`_Name` and `Name` are one: both are read as the same thing."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in nodes(path.read_text(encoding="utf-8"))[0].body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(shown(path))
    assert {name: at for name, at in places.items() if len(at) > 1} == {}


def test_only_the_command_line_knows_the_reproductions():
    knows = [shown(path) for path in SRC.rglob("*.py") if PAPERS.name in path.read_text(encoding="utf-8")]
    assert knows == ["cli/reproduce.py"]


def test_files_stay_small():
    lines = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: n for path, n in lines.items() if n > 400} == {}


# -- rules: they see the shared words and the programs, nothing else ---------------------------------------------------

RULES_MAY_USE = {"numpy", "scipy", "math", "dataclasses", "typing", "collections"}
SHARED = {
    "base",
    "calibrating",
    "constraining",
    "explaining",
    "params",
    "registry",
    "selection",
    "showing",
    "staged_training",
    "targets",
    "voting",
}  # files of the estimators


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
        assert here in ("contract", "functions", "solvers") or (here == "boosters" and rest[0] not in SHARED), (
            f"{path.name}, line {first}: {cls.__name__} uses {name}, and rules see the contract and the solvers only"
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
