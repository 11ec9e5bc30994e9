"""Infinities are counted as numpy counts them."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu.kernels.infinities import infinities


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinities_are_counted_beside_gaps(dtype):
    rng = np.random.default_rng(0)
    x = rng.choice(np.array([0.0, 1.0, -3.0, np.nan, np.inf, -np.inf, np.finfo(dtype).max], dtype), 1000)
    assert infinities(x, dtype(np.inf), 0, 1000) == np.isinf(x).sum()
    shared = infinities.shared(1 << 30, 3, x, dtype(np.inf), 5, 900)
    assert sum(n for (n,) in shared) == np.isinf(x[5:900]).sum()
