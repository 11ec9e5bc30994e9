"""The Markdown of our own pages as a page for the browser: headings, tables, lists, code, pictures, plain links."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from boostlab.report.html import Markup, code, element, html, joined, page, table

_INLINE = re.compile(r"\*\*(?P<bold>.+?)\*\*|`(?P<code>[^`]+)`|\[(?P<text>[^\]]*)\]\((?P<link>[^)\s]+)\)")
_LONG = 28  # letters of a cell from which on it is broken into lines
_PICTURE = re.compile(r"!\[(?P<name>[^\]]*)\]\((?P<file>[^)\s]+)\)")


def markdown_page(text: str, folder: Path) -> str:
    r"""Return a page that needs no other file: pictures are put into it.

    Parameters
    ----------
    text : str
        Markdown as the pages of studies have it.
    folder : path
        Where its pictures lie.

    Examples
    --------
    >>> made = markdown_page("# Ours\n\n## Errors\n\n| set | error |\n|---|---|\n| <b> | 2.5 |", Path("."))
    >>> "<h1>Ours</h1>" in made, "&lt;b&gt;" in made, 'class="sortable"' in made
    (True, True, True)
    """
    title = ""
    lead: list[Markup] = []
    sections: dict[str, list[Markup]] = {}
    here = lead
    for block in _blocks(text):
        if block.startswith("# "):
            title = block[2:].strip()
        elif block.startswith("## "):
            here = sections.setdefault(block[3:].strip(), [])
        else:
            here.append(_block(block, folder))
    return page(title, joined(lead), {name: joined(parts) for name, parts in sections.items()})


def _blocks(text: str) -> Iterator[str]:
    """Yield what blank lines part; code may hold blank lines, comments are left out."""
    lines: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        if line.startswith("```"):
            fenced = not fenced
        if line.strip() or fenced:
            lines.append(line)
        elif lines:
            if not lines[0].startswith("<!--"):
                yield "\n".join(lines)
            lines = []


def _block(text: str, folder: Path) -> Markup:
    lines = text.splitlines()
    if text.startswith("```"):
        return code("\n".join(lines[1:-1]))
    if text.startswith("### "):
        return element("h3", _inline(text[4:]))
    if text.startswith("|"):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        long = [j for j in range(len(rows[0])) if max((_letters(row[j]) for row in rows[2:]), default=0) > _LONG]
        return table(rows[0], [[_cell(cell) for cell in row] for row in rows[2:]], wrap=long)
    if text.startswith("- "):
        items = [" ".join(line.removeprefix("- ").strip() for line in own) for own in _items(lines)]
        return element("ul", *(element("li", _inline(item)) for item in items))
    picture = _PICTURE.fullmatch(text.strip())
    if picture is not None:
        return _picture(picture["name"], folder / picture["file"])
    return element("p", _inline(" ".join(lines)))


def _letters(cell: str) -> int:
    """Return how long a cell is as it is shown: where a link leads is not."""
    return len(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("**", ""))


def _items(lines: list[str]) -> Iterator[list[str]]:
    count = 0
    numbered = []
    for line in lines:
        count += line.startswith("- ")
        numbered.append((count, line))
    for _, own in groupby(numbered, key=lambda pair: pair[0]):
        yield [line for _, line in own]


def _cell(text: str) -> Any:
    """Return a cell as (what is shown, what it is sorted by)."""
    plain = text.replace("**", "").replace("\\|", "|")
    try:
        return _inline(text), float(plain.removesuffix("%"))
    except ValueError:
        return _inline(text), plain


def _inline(text: str) -> Markup:
    made, at = Markup(""), 0
    for found in _INLINE.finditer(text):
        made += html(text[at : found.start()].replace("\\|", "|"))
        if found["bold"] is not None:
            made += element("strong", _inline(found["bold"]))
        elif found["code"] is not None:
            made += element("code", found["code"])
        elif re.match(r"[a-z][a-z0-9+.-]*:", found["link"]) and not found["link"].startswith(("https:", "http:")):
            made += html(found["text"])  # a scheme that could run something
        else:
            made += element("a", found["text"], href=found["link"])
        at = found.end()
    return made + html(text[at:].replace("\\|", "|"))


def _picture(name: str, path: Path) -> Markup:
    try:
        content = base64.b64encode(path.read_bytes()).decode()
    except OSError:
        return element("p", f"The picture {path.name} is missing.", class_="mute")
    return element("figure", element("img", src=f"data:image/png;base64,{content}", alt=name))
