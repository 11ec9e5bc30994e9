"""A damaged file is refused with a sentence, or is a model that predicts; it never crashes the interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from boostlab.files import save


def test_a_thousand_damaged_files(zoo, tmp_path):
    for name, model, rows in zoo:
        save(model, tmp_path / f"{name}.boost")
        np.save(tmp_path / f"{name}.npy", rows[:40])
    script = Path(__file__).with_name("damage.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(tmp_path), "0", "1000"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    assert counts["refused"] > 600
    assert counts["loaded"] > 50
