"""The pages tell the truth: their examples run and print what they say, quotes equal the files, links lead somewhere.

A fenced block may follow one of these comments:
    <!-- quote: path -->  the block is a part of that file, word for word
    <!-- sketch -->       the block is not run
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from boostlab.boosters import REGISTRY
from boostlab.comparison import peers

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
FAMILIES = [
    "variance_penalising",
    "multiclass_vadaboost",
    "quadratic",
    "adaptive_regularised",
    "margin_maximising",
    "statistical_view",
    "noisy_labels",
    "totally_corrective",
]
BLOCK = re.compile(r"^(?:<!-- (quote|sketch)(?:: (.*?))? -->\n)?```(\w*)\n(.*?)^```$", re.M | re.S)


def text_of(path):
    return path.read_text(encoding="utf-8")


def blocks(page):
    """Return (mark, argument, code, printed) of every Python block, printed being the text block that follows it."""
    found = []
    for mark, argument, language, code in BLOCK.findall(text_of(page)):
        if language == "python":
            found.append([mark, argument, code, None])
        elif language == "text" and found:
            found[-1][3] = code
    return found


@pytest.fixture
def tidy(monkeypatch):
    """Run a page's code in the root folder, and leave no booster or module of its behind.

    Libraries to compare with are not there, whatever is installed: the slowest takes minutes.
    """
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before, modules = dict(REGISTRY), set(sys.modules)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)
    for name in {path.stem for path in (ROOT / "examples").glob("*.py")} - modules:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_examples_run_and_print_what_the_page_says(page, tidy):
    names = {}
    for mark, _, code, printed in blocks(page):
        if mark in ("quote", "sketch"):
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, f"{page.name}: {code.splitlines()[0]}", "exec"), names)
        if printed is not None:
            assert out.getvalue() == printed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_quotes_equal_the_files(page):
    for mark, argument, code, _ in blocks(page):
        if mark == "quote":
            assert code in text_of(ROOT / argument), f"{page.name} quotes {argument} wrongly:\n{code}"


def test_the_walk_through_leaves_nothing_out():
    """All of logistic_variance.py is on the page, in order; of the other file its task and step."""
    quoted = defaultdict(str)
    for mark, argument, code, _ in blocks(DOCS / "add_your_own_booster.md"):
        if mark == "quote":
            quoted[argument] += code + "\n"
    whole = "examples/logistic_variance.py"
    lines = [[line for line in text.splitlines() if line] for text in (quoted[whole], text_of(ROOT / whole))]
    assert lines[0] == lines[1]
    assert "def task" in quoted["examples/majority_of_three.py"]
    assert "def step" in quoted["examples/majority_of_three.py"]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda p: p.stem)
def test_links_lead_somewhere_and_pictures_have_words(page):
    text = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.M | re.S)
    for picture, words, target in re.findall(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", text):
        if not target.startswith(("http", "#")):
            assert (page.parent / target.split("#")[0]).exists(), f"{page.name} links to {target}"
        if picture:
            assert len(words) > 100, f"{page.name} must say in words what {target} shows"


def test_every_page_is_listed():
    index = text_of(DOCS / "index.md")
    for page in PAGES:
        if page.stem != "index":
            assert f"]({page.name})" in index
    assert "](docs/index.md)" in text_of(ROOT / "README.md")


@pytest.mark.parametrize("family", FAMILIES)
def test_family_pages_are_complete(family):
    text = text_of(DOCS / f"{family}.md")
    assert re.search(r"^## (When to choose|Which one)", text, re.M)
    assert re.search(r"^!\[", text, re.M)
    assert re.search(r"^## References$", text, re.M)
    assert "$" in text
    assert any(mark == "" for mark, *_ in blocks(DOCS / f"{family}.md"))
    for name in re.findall(r"`(\w+Classifier)\b", text):
        assert name in REGISTRY, f"{family}.md mentions {name}"


# -- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((DOCS / "pictures").glob("*.py")), ids=lambda p: p.stem)
def test_pictures_have_scripts_that_draw(path, monkeypatch):
    assert path.with_suffix(".png").exists()
    assert any(f"pictures/{path.stem}.png" in text_of(page) for page in [*PAGES, ROOT / "README.md"])
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.syspath_prepend(DOCS)
    from make_pictures import script

    figure = script(path).draw(quick=True)
    axes = [axis for axis in figure.axes if axis.get_visible() and axis.get_label() != "<colorbar>"]
    assert any(axis.get_xlabel() for axis in axes)
    for axis in axes:
        assert axis.get_lines() or axis.collections or axis.images, "nothing is drawn"
        assert axis.get_xlabel() or axis.get_shared_x_axes().get_siblings(axis) != [axis]
        drawn = [line for line in axis.get_lines() if len(line.get_xdata()) > 2 and line.get_label()[0] != "_"]
        assert len({line.get_color() for line in drawn}) == len(drawn), "every line has a colour of its own"
        assert len({line.get_marker() for line in drawn}) == len(drawn), "and a marker"
    assert any(axis.get_ylabel() or axis.get_yticks().size == 0 for axis in axes)
    plt.close(figure)


def test_the_gallery_has_every_picture_and_its_code():
    text = text_of(DOCS / "gallery.md")
    for path in (DOCS / "pictures").glob("*.py"):
        assert f"(pictures/{path.stem}.png)" in text
        assert f"<!-- quote: docs/pictures/{path.name} -->" in text
    from boostlab import plots

    for name in set(plots.__all__) - {"look", "tidy", "mean_ranks", "nemenyi_distance"}:
        assert f"`{name}`" in text


def test_no_picture_is_without_a_script():
    for picture in (DOCS / "pictures").glob("*.png"):
        assert picture.with_suffix(".py").exists(), f"{picture.name} cannot be redrawn"
