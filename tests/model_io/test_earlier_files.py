"""Model files that earlier versions wrote load, and give the scores they gave: those in `data`, of November 2026."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import boostlab

DATA = Path(__file__).parent / "data"
KNOWN = json.loads((DATA / "scores.json").read_text(encoding="utf-8"))
X = np.array(KNOWN["X"], dtype=np.float64)


def test_every_file_is_known():
    assert {path.stem for path in DATA.glob("*.boost")} == set(KNOWN["scores"])


@pytest.mark.parametrize("name", KNOWN["scores"])
def test_a_file_gives_the_scores_that_it_gave(name, tmp_path):
    model = boostlab.load(DATA / f"{name}.boost")
    ask = model.decision_function if hasattr(model, "decision_function") else model.predict
    scores = np.array(KNOWN["scores"][name])
    np.testing.assert_allclose(ask(X), scores, rtol=0, atol=1e-12 * max(1.0, np.abs(scores).max()))
    model.save(tmp_path / "again.boost")
    again = boostlab.load(tmp_path / "again.boost")
    assert type(again) is type(model)
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
