"""Kernels made of functions are found again on disk by the next process."""

from __future__ import annotations

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba.core.dispatcher import Dispatcher

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.in_parts import InParts
from boostlab.backend.cpu.kernels.fused_rounds import KINDS, rounds_of
from boostlab.backend.cpu.kernels.small_table import stump_of_edge, stump_of_pairs
from boostlab.backend.cpu.kernels.split_search import cheapest_split, cheapest_split_of_classes, cheapest_split_of_pairs
from boostlab.backend.cpu.kernels.tree_kinds import classes_grower, labels_grower, numbers_grower
from boostlab.backend.cpu.sources import BACKEND, PACKAGE, sources_of, stamp_of_sources
from boostlab.boosters.adaboost import half_log_odds
from boostlab.learners.criteria import CRITERIA, gini

labels, pairs, numbers = CRITERIA["labels"], CRITERIA["z"], CRITERIA["least_squares"]
MADE = {
    **{f"rounds, {kind}": lambda kind=kind: rounds_of(half_log_odds, kind) for kind in KINDS},
    "trees by classes": lambda: classes_grower(labels.fold, labels.close, "eight"),
    "trees by labels": lambda: labels_grower(pairs.cost, 0.0, "eight"),
    "trees by numbers": lambda: numbers_grower(numbers.cost, 1.0, numbers.residual, "eight"),
    "stumps by two sums": lambda: stump_of_pairs(pairs.cost, 8),
    "stumps by an edge": lambda: stump_of_edge(8),
    "split": lambda: cheapest_split(pairs.cost),
    "pairs": lambda: cheapest_split_of_pairs(pairs.cost),
    "classes": lambda: cheapest_split_of_classes(labels.fold, labels.close),
}


@pytest.mark.parametrize("name", MADE)
def test_no_kernel_holds_another(name):
    """Numba names a closure on disk by what it holds, and a kernel that it holds has another name in every process."""
    made = MADE[name]()
    function = made.function if isinstance(made, InParts) else made.py_func
    held = [cell.cell_contents for cell in function.__closure__]
    assert held
    assert not any(isinstance(thing, Dispatcher) for thing in held)


def test_processes_that_compile_at_once_keep_their_own_kernels(tmp_path, monkeypatch):
    """Two processes compile kernels of one source line at once; this one finds each by its closure, those that threads
    share (`in_parts`) as well.
    """
    (tmp_path / "toy_kernels.py").write_text(
        "from __future__ import annotations\n"
        "from boostlab.backend.cpu.compiling import kernel\n"
        "from boostlab.backend.cpu.in_parts import in_parts\n"
        "def times(k):\n"
        "    @kernel\n"
        "    def work(x):\n"
        "        return k * x\n"
        "    return work\n"
        "def scale(k):\n"
        "    @in_parts\n"
        "    def work(x, first: int, last: int, out) -> None:\n"
        "        for i in range(first, last):\n"
        "            out[i] = k * x[i]\n"
        "    return work\n"
    )
    code = (
        "import toy_kernels, numpy as np\n"
        "def hits(k):\n"
        "    f, g, out = toy_kernels.times(k), toy_kernels.scale(k), np.empty(4)\n"
        "    assert f(7) == 7 * k\n"
        "    g(np.full(4, 7.0), 0, 4, out)\n"
        "    assert (out == 7 * k).all()\n"
        "    return sum(f.stats.cache_hits.values()) + sum(g._enter.stats.cache_hits.values())\n"
        "found = [hits(k) for k in {}]\n"
    )

    def run(ks):
        command = [sys.executable, "-c", code.format(ks)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, [range(k, 6, 2) for k in range(2)]))
    names = {}
    monkeypatch.syspath_prepend(tmp_path)
    try:
        exec(code.format(range(6)), names)
    finally:
        sys.modules.pop("toy_kernels", None)
    assert names["found"] == [2] * 6


def test_a_part_that_changes_in_another_file_is_compiled_anew(tmp_path, monkeypatch):
    (tmp_path / "toy_kernel.py").write_text(
        "from boostlab.backend.cpu.compiling import kernel\n"
        "from toy_part import times\n"
        "@kernel\n"
        "def work(x):\n"
        "    return times(x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for factor in (3, 3, 15):
        (tmp_path / "toy_part.py").write_text(
            f"from boostlab.backend.cpu.compiling import part\n@part\ndef times(x):\n    return {factor} * x\n"
        )
        for called in (importlib.invalidate_caches, stamp_of_sources.cache_clear):
            called()
        try:
            work = importlib.import_module("toy_kernel").work
            found.append((work(7), sum(work.stats.cache_hits.values())))
        finally:
            for name in ("toy_kernel", "toy_part"):
                sys.modules.pop(name, None)
    assert found == [(21, 0), (21, 1), (105, 0)]


def test_all_sources_of_a_kernel_are_known():
    """Files of kernels are followed, those of the machinery are not."""
    names = {path.stem for path in sources_of(BACKEND / "kernels" / "shifted_search.py")}
    assert {"shifted_search", "paired_columns", "compiling"} <= names
    assert names.isdisjoint({"teams", "threads", "rows"})
    rule = PACKAGE / "boosters" / "adaboost.py"
    assert sources_of(rule) == {rule}


def test_a_file_of_another_key_is_not_loaded(tmp_path):
    file = type(kernel(lambda: 0)._cache._cache_file)(str(tmp_path), "toy-1", (1.0, 2))
    file.save(("int64",), "kernel")
    (saved,) = tmp_path.iterdir()
    saved.rename(tmp_path / file._file_of(("float64",)))
    assert file.load(("float64",)) is None
    assert file.load(("int64",)) is None


def test_closures_of_one_source_have_names_of_their_own():
    """The linker goes by names, and meets those of other processes in kernels from the cache."""

    def names(function):
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        return {function.__qualname__}.union(*(names(called) for called in held if hasattr(called, "__closure__")))

    growers = labels_grower(pairs.cost, 0.0, "eight"), labels_grower(gini, 2.0, "eight")
    of_z, of_gini = (names(made.function) for made in growers)
    mine = {name.split("_")[0] for name in of_z - of_gini if name.startswith("grower.")}
    assert mine == {f"grower.<locals>.{part}" for part in ("grow", "grown", "decide", "search")}
    assert of_z & of_gini  # the others are the same for both
