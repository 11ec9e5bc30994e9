"""The parting of a node's rows, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu.kernels import row_parting
from boostlab.backend.cpu.kernels.row_parting import part_members
from boostlab.backend.cpu.threads import AtOnce


@pytest.mark.parametrize("threads", [1, AtOnce(2), AtOnce(3)])
@pytest.mark.parametrize("size", [1, 2, 700])
def test_low_rows_come_first_in_their_order(size, threads):
    rng = np.random.default_rng(size)
    code, low = rng.integers(0, 9, 1000).astype(np.uint8), rng.random(9) < 0.4
    members = np.sort(rng.choice(1000, size, replace=False)).astype(np.int32)
    is_low = low[code[members]]
    expected = [*members[is_low].tolist(), *members[~is_low].tolist()]
    assert part_members(code, low, members, np.empty_like(members), threads) == is_low.sum()
    assert members.tolist() == expected


def test_one_thread_parts_rows_in_a_kernel(monkeypatch):
    """A part that Python calls is plain Python, a thousand times as slow."""
    assert row_parting.part_alone.signatures is not None
    monkeypatch.setattr(row_parting, "part_rows", None)
    members = np.arange(4, dtype=np.int32)
    assert part_members(np.zeros(4, np.uint8), np.ones(2, bool), members, np.empty_like(members), 1) == 4
