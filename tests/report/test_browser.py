"""The report in a real browser: it clicks, sorts, filters, toggles and prints; nothing is asked of the network."""

import os
import shutil

import numpy as np
import pytest

import boostlab
from boostlab.datasets import twonorm

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("BOOSTLAB_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    X, y = twonorm(160, random_state=0)
    names = ["<script>alert(1)</script>", '"quoted" & co', *(f"x{j}" for j in range(3))]
    table = {name: np.round(X[:, j], 3).tolist() for j, name in enumerate(names)} | {"y": [f"<b>{v}</b>" for v in y]}
    few = {"boosters": ["AdaBoost", "MadaBoost"], "folds": 2, "rounds": 6, "random_state": 0}
    result = boostlab.compare(_frame(table), target="y", with_peers=False, **few)
    return result.report(tmp_path_factory.mktemp("report") / "report.html")


def _frame(table):
    return pytest.importorskip("pandas").DataFrame(table)


def test_the_report_in_a_browser(report, tmp_path):
    said, asked = [], []
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="dark").new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append("dialog"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report.as_uri())

        def order():
            return page.eval_on_selector_all("#ranking tbody tr", "rows => rows.map(row => row.dataset.name)")

        def shown():
            return page.locator("#ranking tbody tr:visible").count()

        before = order()
        assert set(before) == {"AdaBoost", "MadaBoost"}
        seconds = page.locator("#ranking th button", has_text="booster")
        seconds.click()
        assert order() == sorted(before)
        seconds.press("Enter")  # by the keyboard, and the other way round
        assert order() == sorted(before, reverse=True)
        assert page.locator("#ranking th[aria-sort=descending]").count() == 1

        page.fill("input[data-filter=ranking]", "mada")
        assert shown() == 1
        page.fill("input[data-filter=ranking]", "")
        box = page.locator("input[data-toggle=AdaBoost]")
        box.uncheck()
        assert shown() == 1
        assert page.locator("svg g[data-name=AdaBoost]:visible").count() == 0
        box.focus()
        page.keyboard.press("Space")
        assert shown() == 2

        page.locator("svg .mark").first.hover()
        assert page.locator("#tip").is_visible()
        assert "AdaBoost" in page.locator("#tip").text_content() or "MadaBoost" in page.locator("#tip").text_content()

        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        assert page.locator("b").count() == 0  # of the user's table
        page.pdf(path=tmp_path / "report.pdf")
        assert (tmp_path / "report.pdf").stat().st_size > 10_000
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390  # a phone need not scroll sideways
        widths = page.eval_on_selector_all("svg", "all => all.map(one => one.getBoundingClientRect().right)")
        assert max(widths) <= 390  # and sees every plot whole
        browser.close()
    assert said == []
    assert asked == [report.as_uri()]
