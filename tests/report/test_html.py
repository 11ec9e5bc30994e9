"""The parts of pages: text is escaped, tables sort by numbers, our Markdown becomes a page."""

from pathlib import Path

import pytest

from boostlab.report import svg
from boostlab.report.html import Markup, element, facts, table
from boostlab.report.markdown import markdown_page
from boostlab.report.svg import Series

EVIL = '"><script>alert(1)</script>'


@pytest.mark.parametrize(
    "made",
    [
        element("td", EVIL, data_name=EVIL),
        facts({EVIL: EVIL}),
        table([EVIL], [[EVIL]], row_names=[EVIL]),
        svg.lines([Series(EVIL, [0, 1], [1, 2], marks=[0])], EVIL, EVIL),
        svg.intervals([(EVIL, 1.0, 0.5, 2.0, "red")], EVIL, str),
        svg.bars([(EVIL, 1.0), ("b", -1.0)], EVIL),
        Markup(markdown_page(f"# {EVIL}\n\n- {EVIL}\n\n| {EVIL} |\n|---|\n| [x]({EVIL}) |", Path("."))),
        Markup(markdown_page("[x](javascript:alert(1)) **`<script>alert(1)`**", Path("."))),
    ],
)
def test_no_text_becomes_markup(made):
    assert "<script>alert" not in made
    assert 'href="javascript' not in made


def test_cells_are_sorted_by_their_numbers():
    made = table(["n", "text"], [[("1,000", 1000), "a"], [("20", 20), "b"]])
    assert '<td data-sort="1000" class="number">1,000</td>' in made


def test_pictures_are_put_into_the_page(tmp_path):
    (tmp_path / "p.png").write_bytes(b"png")
    made = markdown_page("# T\n\n## Figure\n\n![a](p.png)\n\n![b](none.png)\n\n```\nx < 1\n\ny\n```", tmp_path)
    assert 'src="data:image/png;base64,cG5n"' in made
    assert "The picture none.png is missing." in made
    assert "x &lt; 1\n\ny" in made


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.0, 1e9], [-5.0, 5.0], [1e-9, 2e-9], [float("nan"), 1.0]])
def test_axes_take_any_numbers(values):
    assert "<svg" in svg.lines([Series("a", [1, 2], values)], "x", "y", log_x=True)


def test_a_cell_is_as_long_as_what_is_shown_of_it():
    link = f"[short](a/very/long/way/{'x' * 60}/README.md)"
    made = markdown_page(f"# T\n\n| a | b |\n|---|---|\n| {link} | {'word ' * 8}|", Path("."))
    assert made.count('class="wrap"') == 1
