"""The example of docs/architecture.md is a working booster."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from boostlab.estimators import REGISTRY
from boostlab.estimators.registry import booster
from tables import noisy_table

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"


@pytest.fixture
def example():
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    module = ModuleType("example")
    sys.modules["example"] = module  # where dataclasses look up their annotations
    exec(code.group(1), module.__dict__)
    yield module.MadaBoostClassifier
    del REGISTRY["MadaBoostClassifier"], sys.modules["example"]


def test_the_example_boosts(example):
    X, y = noisy_table(300, seed=1)
    model = example(n_estimators=60, max_depth=2).fit(X, y)
    assert model.score(X, y) > 0.75
    assert "early_stopping : bool" in example.__doc__
    F = np.zeros(len(y))
    for alpha, voter in zip(model.estimator_weights_, model.estimators_, strict=True):
        v = np.where(y == 1, F, -F)
        w = np.minimum(1.0, np.exp(-v))
        h = voter.predict(X)
        error = w[h != 2 * y - 1].sum() / w.sum()
        assert alpha == pytest.approx(0.5 * np.log((1 - error) / error), rel=1e-9)
        F = F + alpha * h
    with pytest.raises(ValueError, match="exponent=2"):
        example(exponent=2).fit(X, y)


def test_forgotten_pieces_are_named():
    with pytest.raises(TypeError, match=r"must be a dataclass.*\{shared\}"):
        booster("nobody", "never")(type("Bare", (), {"__doc__": "Bare.", "n_estimators": 1, "tol": 0}))
