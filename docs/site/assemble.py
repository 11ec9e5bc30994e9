"""Assemble the sources of the site:  python docs/site/assemble.py build/site/source

The Markdown stays where it is; this copies it beside what is generated: the reference (api.py), and tables and charts
of what the repository has measured (measured.py, by_booster.py, decisions.py), in the place of comments such as
<!-- [site: noise_ranks] -->.  A file is written only when it changes, so that a second build is short.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import api  # noqa: E402
import by_booster  # noqa: E402
import decisions  # noqa: E402
import measured  # noqa: E402

# Pages by their place on the site; the site's own are in docs/site/pages, and its home is not docs/index.md.
MOVED = {"docs/index.md": "all_pages.md", "README.md": "index.md"}
OUTSIDE = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
CLAIMS = re.compile(r"<!-- \[claims\] .*?-->\n(.*?)<!-- \[/claims\] -->", re.S)
GENERATED = re.compile(r"^<!-- \[site: (\w+)\] -->$", re.M)


def claims() -> str:
    """Return the README's claims."""
    (text,) = CLAIMS.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    return relinked(text, ROOT / "README.md")


# What makes the generated parts, by name.
MAKERS = {**vars(measured), **vars(by_booster), **vars(decisions), "claims": claims}


def place(path: Path) -> str:
    """Return where a file of the repository is on the site."""
    name = path.relative_to(ROOT).as_posix()
    if name in MOVED:
        return MOVED[name]
    if path.is_relative_to(HERE / "pages"):
        return path.relative_to(HERE / "pages").as_posix()
    if path.suffix == ".md" and path.parent == ROOT:
        return path.name.lower()
    return name.removeprefix("docs/") if name.startswith(("docs/", "studies/")) else f"files/{name}"


def relinked(text: str, page: Path) -> str:
    """Return a page whose relative links lead to where their files are on the site."""
    up = "../" * place(page).count("/")

    def moved(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        if target.startswith(("http:", "https:", "mailto:")):
            return match.group()
        file = (page.parent / target).resolve()
        gallery = re.fullmatch(r"(?:.*/)?((?:examples|teach)/)(?:(plot_\w+)\.py|README\.md)", target)
        if gallery and file.is_relative_to(ROOT / "docs"):
            return f"{before}{up}{gallery[1]}{gallery[2] or 'index'}.rst{after}"
        return before + up + place(file) + after if file.is_file() else match.group()

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def pages() -> Iterator[tuple[str, str | bytes]]:
    """Yield every source of the site: its place, and its text or bytes."""
    own = sorted((HERE / "pages").rglob("*.md"))
    written = [
        *sorted((ROOT / "docs").glob("*.md")),
        *(ROOT / name for name in OUTSIDE),
        *sorted((ROOT / "studies").rglob("*.md")),
    ]
    for path in [*written, *own]:
        text = relinked(path.read_text(encoding="utf-8"), path)
        if path == ROOT / "studies/README.md":
            names = "\n".join(sorted(f"{page.parent.name}/README" for page in path.parent.glob("*/README.md")))
            text += f"\n```{{toctree}}\n:hidden:\n{names}\n```\n"
        yield place(path), GENERATED.sub(lambda match: MAKERS[match[1]](), text)
    for folder, patterns in {
        "docs/pictures": ["*.png"],
        "studies": ["*/*.png", "*/*.csv"],
        "examples": ["*.py"],
    }.items():
        for pattern in patterns:
            for path in sorted((ROOT / folder).glob(pattern)):
                yield place(path), path.read_bytes()
    for path in [ROOT / "src/boostlab/boosters/aveboost.py", ROOT / "docs/noise_table.csv", ROOT / "docs/speed.json"]:
        yield place(path), path.read_bytes()
    yield from api.pages()


def main(target: Path) -> None:
    """Write what has changed, and remove what is no longer there."""
    kept = set()
    made = [*pages(), *measured.charts({**measured.DRAWN, **by_booster.DRAWN})]
    for name, content in made:
        path = target / name
        kept.add(path)
        data = content.encode() if isinstance(content, str) else content
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    built = {"examples", "teach", "backreferences"}  # sphinx-gallery's own
    for path in target.rglob("*"):
        if path.is_file() and path not in kept and path.relative_to(target).parts[0] not in built:
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
