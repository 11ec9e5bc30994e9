"""A new process predicts by files as this one; damaged ones are refused with a sentence, or are models that predict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import boostlab
from boostlab.model_io import save


@pytest.fixture
def more(table):
    """What is made of several boosters, whose answers a decoder puts together."""
    X, _ = table
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    inner = boostlab.AdaBoostClassifier(n_estimators=4)
    models = [boostlab.PairwiseClassifier(inner, aggregate=how) for how in ("vote", "coupling", "dag", "least_squares")]
    models += [boostlab.ECOCClassifier(inner, decoding=how) for how in ("loss", "probability")]
    models += [boostlab.LPBoostClassifier(multiclass="ecoc", n_estimators=4)]
    return [(f"several_{i}", model.fit(X, y), X) for i, model in enumerate(models)]


def test_whole_files_and_hundreds_of_damaged_ones_in_a_new_process(zoo, more, tmp_path):
    """It never crashes the interpreter."""
    for name, model, rows in [*zoo, *more]:
        save(model, tmp_path / f"{name}.boost")
        np.save(tmp_path / f"{name}.npy", rows[:40])
    script = Path(__file__).with_name("damage.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(tmp_path), "0", "400"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for name, model, rows in [*zoo, *more]:
        assert (tmp_path / f"{name}.out").read_bytes() == model.decision_function(rows[:40]).tobytes()
    counts = json.loads(done.stdout)
    assert counts["refused"] > 240
    assert counts["loaded"] > 20
