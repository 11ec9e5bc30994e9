"""The README tells the truth about the list of boosters, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from boostlab.cli import _own_parameters
from boostlab.estimators import REGISTRY, REGRESSORS

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("name", REGISTRY | REGRESSORS)
def test_every_booster_is_listed_with_its_reference_parameters_and_use(name):
    entry = (REGISTRY | REGRESSORS)[name]
    own = ", ".join(f"{key}={value!r}" for key, value in _own_parameters(entry.cls).items()).replace("'", '"')
    row = f"| `{name}` | {entry.reference} | {f'`{own}`' if own else 'none'} | {entry.choose} |"
    assert row in README.read_text(encoding="utf-8")


def test_nothing_is_left_to_fill_in():
    text = README.read_text(encoding="utf-8")
    assert not re.search(r"@\w+@|TODO|XXX", text)


def test_the_examples_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(second, {})
    assert capsys.readouterr().out.strip() == "['kept' 'sold' 'kept' 'sold']"
    exec(first, {})
    printed = capsys.readouterr().out
    assert "BrownBoostClassifier 0.9" in printed
    assert "patience" in printed or "max_rounds" in printed
