"""What the tests of other people's estimators share."""

from __future__ import annotations

import pytest

from learners.recording import SEEN, thirty_rows


@pytest.fixture(autouse=True)
def forget():
    """Begin with nothing recorded."""
    SEEN.clear()


@pytest.fixture
def data():
    return thirty_rows()
