"""Data that many tests share."""

from __future__ import annotations

import numpy as np
import pytest

from tables import noisy_table


@pytest.fixture
def table():
    return noisy_table()


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 240)
    return rng.normal(size=(240, 4)) + np.eye(3)[y] @ rng.normal(size=(3, 4)) * 1.5, y
