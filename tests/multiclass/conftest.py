"""Random codes of few candidates, so that tests are quick."""

from __future__ import annotations

import pytest

from boostlab.reductions import codes


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch):
    monkeypatch.setattr(codes, "CANDIDATES", 40)
