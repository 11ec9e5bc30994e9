"""Pages and sources use the field's words: terms that a reader can search for, and no metaphors in their place."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = re.compile(r"\b(march|crews?|knobs?|brakes?|rooms?|voices?|speaks?|loud|by heart|honest)\b", re.IGNORECASE)
SOURCES = re.compile(
    r"(?<![a-z])(march|crews?|lanes?|rooms?|house|doors?|knobs?|loud|voices?|speaks?"
    r"|nobody|everybody|anybody|somebody|whoever)(?![a-z])",
    re.IGNORECASE,
)
FOR_PEOPLE = {"advice.py", "test_words.py"}  # sentences about people, and these lists


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
        if words := PAGES.findall(text):
            found[page.name] = words
    assert found == {}


def read_by_maintainers(source: str) -> list[str]:
    """Return the names, comments and docstrings of a source; other texts may be data."""
    docstrings = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type in (tokenize.NAME, tokenize.COMMENT) or token.start in docstrings
    ]


@pytest.mark.parametrize("folder", ["src", "reproductions", "tests", "benchmarks", "docs", "examples", "studies"])
def test_sources_are_without_metaphors(folder):
    """A workspace is no room, and what is not done is done by no thread."""
    found = {
        path.relative_to(ROOT).as_posix(): words
        for path in (ROOT / folder).rglob("*.py")
        if (words := SOURCES.findall("\n".join(read_by_maintainers(path.read_text(encoding="utf-8")))))
        and path.name not in FOR_PEOPLE
    }
    assert found == {}


def test_names_comments_and_docstrings_are_read():
    source = 'def in_rooms():\n    """A crew."""\n    return "loud"  # nobody\n'
    assert SOURCES.findall("\n".join(read_by_maintainers(source))) == ["rooms", "crew", "nobody"]


def test_what_a_source_refers_to_exists():
    """In "see `place.name`" the place is a file, a folder or a class, and the name is defined."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    classes = {name for text in texts.values() for name in re.findall(r"class (\w+)", text)}
    places = classes | {name for path in texts for name in (path.stem, path.parent.name)}
    names = places | {name for text in texts.values() for name in re.findall(r"\b(?:def )?(\w+)(?:\(| =|: )", text)}
    found = [
        (path.relative_to(ROOT).as_posix(), reference)
        for path, text in texts.items()
        for reference in re.findall(r"see `(\w+(?:\.\w+)+)`", text)
        if not reference.endswith((".py", ".md", ".csv"))
    ]
    assert len(found) > 20
    for path, reference in found:
        *where, name = reference.split(".")
        assert {*where} <= places and name in names, f"{path}: {reference}"  # noqa: PT018
