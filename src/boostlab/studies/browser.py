"""The pages of studies for the browser, made of their Markdown: nothing is computed, and no store is needed."""

from __future__ import annotations

import re
from pathlib import Path

from boostlab.report.markdown import markdown_page
from boostlab.studies.request import RequestError
from boostlab.studies.whole_files import write_whole

NAME = "report.html"  # of a study
INDEX = "index.html"
_TO_A_STUDY = re.compile(r"\]\((?P<study>[^)\s/]+)/README\.md\)")


def write_pages(folder: Path) -> Path:
    """Write a page beside the README of every study, and an index that links them.

    Parameters
    ----------
    folder : path
        The folder of all studies; its README is the index.

    Returns
    -------
    Path
        The index, which a browser opens.
    """
    index = folder / "README.md"
    if not index.is_file():
        raise RequestError(
            f"{folder} holds no studies (there is no {index}); name the folder that boostlab reproduce wrote to."
        )
    for page in sorted(folder.glob("*/README.md")):
        title, _, rest = page.read_text(encoding="utf-8").partition("\n")
        text = f"{title}\n\n[All studies](../{INDEX})\n{rest}"
        write_whole(page.with_name(NAME), markdown_page(text, page.parent))
    text = _TO_A_STUDY.sub(rf"](\g<study>/{NAME})", index.read_text(encoding="utf-8"))
    write_whole(folder / INDEX, markdown_page(text, folder))
    return folder / INDEX
