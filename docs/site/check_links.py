"""Check every link within the site:  python docs/site/check_links.py build/site/html

A link to a page, file or anchor that is not there is an error; so is a page that asks something of the network.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}
LOADED = {"img", "script", "iframe", "source"}  # what a browser asks for by itself


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []  # the kind of element, and where it leads
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what links, and what can be linked to."""
        given = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := given.get(key))}
        if link := given.get(LINKS.get(tag, "")):
            loaded = tag in LOADED or (tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"))
            self.links.append(("loaded" if loaded else "link", link))


@cache
def page(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path.read_text(encoding="utf-8"))


def problems(site: Path) -> list[str]:
    """Return one sentence for every link that leads nowhere."""
    found = []
    for path in sorted(set(site.rglob("*.html")) - set(site.glob("_static/**/*.html"))):  # which are templates
        here = path.relative_to(site).as_posix()
        for kind, link in page(path).links:
            parts = urlsplit(link)
            if parts.scheme == "data" or parts.scheme == "mailto":
                continue
            if parts.scheme or parts.netloc:
                if kind == "loaded":
                    found.append(f"{here} loads {link} from the network")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                found.append(f"{here} links to {link}, which is not there")
            elif parts.fragment and file.suffix == ".html" and unquote(parts.fragment) not in page(file).anchors:
                found.append(f"{here} links to {link}, an anchor that is not there")
    return found


def main(site: Path) -> int:
    """Print what is wrong, and return how it went."""
    if not (site / "index.html").exists():
        print(f"{site} has no index.html; run `make site`.", file=sys.stderr)
        return 2
    wrong = problems(site)
    print("\n".join(wrong) or "every link within the site leads somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
