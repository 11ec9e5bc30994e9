"""The README fits one screen, its example runs, and its numbers are the measured ones (tests/docs/test_lists.py)."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST = TEXT.partition("\n## ")[0]


def test_nothing_is_left_to_fill_in():
    assert not re.search(r"@\w+@|TODO|XXX", TEXT)


def test_the_example_runs_and_begins_with_what_most_people_want(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(example.splitlines()) == 5
    exec(example, {})
    assert "LogitBoost" in capsys.readouterr().out


def test_the_site_begins_with_the_same_example():
    home = (ROOT / "docs" / "site" / "pages" / "index.md").read_text(encoding="utf-8")
    codes = [re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0] for text in (TEXT, home)]
    mine, other = ([line.partition("#")[0].strip() for line in code.splitlines() if line.strip()] for code in codes)
    assert mine == other


def test_one_screen_says_what_it_is():
    """A picture, two commands, five lines of code and three claims, before the first scroll."""
    assert len(FIRST.splitlines()) < 40
    assert FIRST.count("![") == 1
    (commands,) = re.findall(r"```\n(make .*?)```", FIRST, re.DOTALL)
    assert [line.split()[:2] for line in commands.splitlines()] == [["make", "demo"], ["make", "test"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in ("demo", "test"))
    claims = FIRST.partition("<!-- [claims] ")[2].split("\n- **")[1:]
    assert len(claims) == 3
    for claim in claims:
        paths = re.findall(r"\]\(([^)#]+)", claim) + re.findall(r"`([\w/.]+/[\w/.]+)`", claim)
        assert paths, f"no evidence: {claim}"
        assert all((ROOT / path).exists() for path in paths)
