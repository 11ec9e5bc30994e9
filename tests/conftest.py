"""Data that many tests share."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import numpy as np
import pytest
from _pytest import unraisableexception


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> Any:
    """Give whole files to pytest-xdist's workers: what two need at the same moment, both compile or make."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # in the order below

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/backend/dask" if nodeid.startswith("tests/backend/dask/") else nodeid.split("::", 1)[0]

    return ByFile(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let workers begin with the files of many tests, so that they end together.

    Tests that start processes take long, but wait until most kernels are compiled.
    """
    if hasattr(config, "workerinput"):
        tests = Counter(item.path for item in items)
        starting = {item.path for item in items if hasattr(getattr(item, "module", None), "subprocess")}
        items.sort(key=lambda item: -max(tests[item.path], 40 * (item.path in starting)))


def pytest_configure(config: pytest.Config) -> None:
    """Let the garbage collector rest while tests are collected: of half a million objects hardly one is garbage.

    At the end pytest looks for garbage five times, a second each, to raise what is wrong with it; once will do.
    """
    gc.disable()
    looks = getattr(unraisableexception, "gc_collect_iterations_key", None)  # since pytest 8.4
    if looks is not None:
        config.stash[looks] = 1


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let it go on, but never look at those again, and seldom at others: in long runs a look takes half a second."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture
def table():
    from tables import noisy_table  # not above: the process that gives out the tests imports this file

    return noisy_table()


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 240)
    return rng.normal(size=(240, 4)) + np.eye(3)[y] @ rng.normal(size=(3, 4)) * 1.5, y
