"""Every booster that takes trees, and when two models of trees are the same."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, EBBoostClassifier
from boostlab.boosters import REGISTRY

CAN = {name: entry.cls for name, entry in REGISTRY.items() if entry.cls is not EBBoostClassifier}
VARIANTS = {
    **CAN,
    "real": partial(AdaBoostClassifier, algorithm="real"),
    "resample": partial(AdaBoostClassifier, resample=True),
    "systematic": partial(CAN["ARBoostClassifier"], resample="systematic"),
}
# Backwards: another worker starts with the boosters of test_training.py at the same moment, and what both need at
# once, both compile.
every = pytest.mark.parametrize("make", [*VARIANTS.values()][::-1], ids=[*VARIANTS][::-1])


def all_but(*names):
    kept = {n: v for n, v in VARIANTS.items() if n not in names}
    return pytest.mark.parametrize("make", kept.values(), ids=kept)


def same_tree(a, b):
    names = ["feature", "threshold", "missing_low", "children", "starts", "lows", "values", "gains"]
    return all(getattr(a, n).tobytes() == getattr(b, n).tobytes() for n in names)


def same_model(a, b):
    """Bit for bit the same vote."""
    same_alphas = np.array_equal(a.estimator_weights_, b.estimator_weights_)
    return same_alphas and all(same_tree(v, w) for v, w in zip(a.estimators_, b.estimators_, strict=True))
