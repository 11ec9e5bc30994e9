"""The README is complete, and its examples run; tests/docs/test_lists.py checks its list of boosters."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_nothing_is_left_to_fill_in():
    text = README.read_text(encoding="utf-8")
    assert not re.search(r"@\w+@|TODO|XXX", text)


def test_the_examples_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    auto, first, second = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(auto, {})
    assert "LogitBoost" in capsys.readouterr().out  # it begins with what most people want
    exec(second, {})
    assert capsys.readouterr().out.strip() == "['kept' 'sold' 'kept' 'sold']"
    exec(first, {})
    printed = capsys.readouterr().out
    assert "BrownBoostClassifier 0.9" in printed
    assert "patience" in printed or "max_rounds" in printed
