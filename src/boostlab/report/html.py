"""The parts of a page: text is escaped here and nowhere else, so no cell of a table can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from math import isfinite
from typing import Any

from boostlab import __version__

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_VOID = ("img", "input")  # elements without an end


class Markup(str):
    """Text that is HTML already; all other text is escaped."""

    __slots__ = ()

    def __add__(self, other: str) -> Markup:
        return Markup(str(self) + html(other))


def html(value: Any) -> Markup:
    """Return a value as HTML, escaped unless it is markup.

    Examples
    --------
    >>> html("<script>"), html(Markup("<b>x</b>"))
    ('&lt;script&gt;', '<b>x</b>')
    """
    return value if isinstance(value, Markup) else Markup(escape(str(value), quote=True))


def element(tag: str, *content: Any, **attributes: Any) -> Markup:
    """Return an element; attributes that are None are left out, and `_` in their names is "-".

    Examples
    --------
    >>> element("td", "a < b", data_sort=1, class_="number")
    '<td data-sort="1" class="number">a &lt; b</td>'
    """
    words = [
        f' {name.rstrip("_").replace("_", "-")}="{html(value)}"'
        for name, value in attributes.items()
        if value is not None
    ]
    end = "" if tag in _VOID else f"</{tag}>"
    return Markup(f"<{tag}{''.join(words)}>{''.join(map(html, content))}{end}")


def joined(parts: Iterable[Any]) -> Markup:
    """Return parts one after the other."""
    return Markup("\n".join(map(html, parts)))


def facts(named: Mapping[str, Any]) -> Markup:
    """Return a list of terms and what they are."""
    return element("dl", joined(element("dt", name) + element("dd", text) for name, text in named.items()))


def code(text: str) -> Markup:
    """Return program text."""
    return element("pre", element("code", text))


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    name: str = "",
    row_names: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    wrap: Sequence[int] = (),
) -> Markup:
    """Return a table that can be sorted by every column.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Cells; a pair (text, number) is shown as the text and sorted by the number.
    name : str
        Its id, for a filter.
    row_names, classes : sequence of str, optional
        The booster, and the style, of every row.
    wrap : sequence of int
        Columns of long text.
    """
    numeric = [all(_is_number(row[j]) for row in rows) and bool(rows) for j in range(len(columns))]
    heads = [
        element("th", element("button", title, type="button"), scope="col", class_="number" if numeric[j] else None)
        for j, title in enumerate(columns)
    ]
    body = []
    for i, row in enumerate(rows):
        cells = []
        for j, cell in enumerate(row):
            text, key = cell if isinstance(cell, tuple) else (cell, None)
            style = "number" if numeric[j] else "wrap" if j in wrap else None
            cells.append(element("td", text, data_sort=key, class_=style))
        own = row_names[i] if row_names else None
        body.append(element("tr", *cells, data_name=own, class_=(classes[i] or None) if classes else None))
    whole = element("thead", element("tr", *heads)) + element("tbody", joined(body))
    return element("div", element("table", Markup(whole), id=name or None, class_="sortable"), class_="scroll")


def _is_number(cell: Any) -> bool:
    key = cell[1] if isinstance(cell, tuple) else cell
    if key == "":
        return True
    return isinstance(key, int | float) and not isinstance(key, bool) and isfinite(key)


def filter_box(name: str, label: str) -> Markup:
    """Return a field that filters the rows of a table."""
    field = element("input", type="search", data_filter=name, placeholder=label, aria_label=label)
    return element("div", field, class_="controls")


def toggles(names: Sequence[tuple[str, str]]) -> Markup:
    """Return a box a booster, to show or hide it; names come with their colours."""
    boxes = [
        element(
            "label",
            element("input", type="checkbox", checked="checked", data_toggle=name),
            element("span", class_="swatch", style=f"background:{colour}"),
            name,
        )
        for name, colour in names
    ]
    return element("div", *boxes, class_="controls", role="group", aria_label="Show or hide")


def legend(names: Sequence[tuple[str, str]]) -> Markup:
    """Return names with their colours, for a picture whose lines have none; it is printed, too."""
    shown = [
        element("span", element("span", class_="swatch", style=f"background:{colour}"), f" {name}", data_name=name)
        for name, colour in names
    ]
    return element("div", *shown, class_="legend")


def figure(svg: Markup, caption: str = "") -> Markup:
    """Return a picture with its caption."""
    return element("figure", svg, element("figcaption", caption) if caption else "")


def page(title: str, lead: Any, sections: Mapping[str, Any], mark: str = "") -> str:
    """Return a whole page: one file that loads nothing else.

    Parameters
    ----------
    title : str
        Its heading.
    lead : str or Markup
        What it says at once.
    sections : mapping from str to Markup
        Headings and what stands under them; empty ones are left out.
    mark : str
        A comment by which the file is known.
    """
    own = files("boostlab.report")
    style, script = (own.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    there = [(f"s{i}", name, body) for i, (name, body) in enumerate(sections.items()) if body]
    links = element("nav", *(element("a", name, href=f"#{key}") for key, name, _ in there), aria_label="Contents")
    body = joined(element("section", element("h2", name), body, id=key) for key, name, body in there)
    return "\n".join(
        (
            "<!DOCTYPE html>",
            f"<!-- {mark.replace('--', '')} -->" if mark else "",
            '<html lang="en">',
            '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<link rel="icon" href="data:,">',
            element("title", title),
            f"<style>{style}</style></head>",
            "<body>",
            element("header", element("h1", title), element("button", "Dark", id="theme", type="button")),
            f"<main>{html(lead)}{links}{body}</main>",
            element("footer", f"Written by boostlab {__version__}."),
            '<div id="tip" role="tooltip" hidden></div>',
            f"<script>{script}</script>",
            "</body></html>",
            "",
        )
    )
