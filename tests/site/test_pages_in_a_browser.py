"""The site in a real browser: home, search, the reference, both themes, a phone.  Needs `make site` and Chromium."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api")
HTML = Path(os.environ.get("BOOSTLAB_SITE", Path(__file__).parents[2] / "build" / "site" / "html"))
CHROMIUM = os.environ.get("BOOSTLAB_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(not (HTML / "index.html").exists(), reason="there is no site; run `make site`"),
]
PHONE = ["index", "choose", "api/boostlab.VadaBoostClassifier", "benchmarks", "examples/plot_1_ten_minutes", "theory"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve files and say nothing."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(HTML)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_search_reference_themes_and_a_phone(address):
    wrong, asked = [], []
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light").new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        gone = "net::ERR_ABORTED"  # by leaving a page that still loads
        page.on("requestfailed", lambda request: wrong.append(request.url) if request.failure != gone else None)
        page.on("request", lambda request: asked.append(request.url))

        page.goto(address)
        assert page.locator("h1").inner_text().startswith("boostlab")
        theme = "document.documentElement.dataset.theme"
        assert page.evaluate(theme) == "light"
        page.locator(".theme-switch-button:visible").first.click()
        page.locator(".theme-change-button[data-mode=dark]:visible").click()
        assert page.evaluate(theme) == "dark"

        page.locator(".search-button__button:visible, .search-button:visible").first.click()
        page.locator("input[name=q]:focus").wait_for()  # the dialog is open
        page.keyboard.type("vadaboost")
        page.keyboard.press("Enter")
        mine = "boostlab.VadaBoostClassifier"
        page.locator(f"#search-results li a[href*='{mine}']").first.wait_for()  # results come one by one
        with page.expect_navigation(url=f"**/{mine}.html*"):
            page.locator(f"#search-results li a[href*='{mine}']").first.click()
        assert "VadaBoostClassifier" in page.locator("h1").inner_text()
        assert "variance_penalty" in page.locator("main").inner_text()
        assert page.evaluate(theme) == "dark"  # as chosen on another page

        page.set_viewport_size({"width": 390, "height": 844})
        for name in PHONE:
            page.goto(f"{address}{name}.html")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            pictures = "all => all.filter(one => one.offsetParent).map(one => one.getBoundingClientRect().right)"
            assert max(page.eval_on_selector_all("main img", pictures), default=0) <= 390, name
        browser.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
