"""Pages use the field's words: terms that a reader can search for, and no metaphors in their place."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
METAPHORS = re.compile(r"\b(march|crews?|knobs?|brakes?|rooms?|voices?|speaks?|loud|by heart|honest)\b", re.IGNORECASE)


def test_pages_are_without_metaphors():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    pages += [
        *(ROOT / "docs/site/pages").glob("*.md"),
        *(ROOT / "docs/teach").glob("*"),
        *(ROOT / "docs/examples").glob("*"),
    ]
    found = {}
    for page in pages:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        if words := METAPHORS.findall(text):
            found[page.name] = words
    assert found == {}


SOURCE = re.compile(r"\b(_?rooms?|crews?|loud|nobody|everybody)\b", re.IGNORECASE)
FOR_PEOPLE = {"advice.py", "style.py"}  # sentences about people


def test_sources_are_without_metaphors():
    """Names and comments: a workspace is no room, and what is not done is done by no thread."""
    found = {
        path.name: words
        for path in (ROOT / "src").rglob("*.py")
        if (words := SOURCE.findall(path.read_text(encoding="utf-8"))) and path.name not in FOR_PEOPLE
    }
    assert found == {}
