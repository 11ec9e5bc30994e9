"""The notebooks to teach with run, and their figures follow their sliders.  Needs `make site`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("ipywidgets")
ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "build" / "site" / "source" / "teach").glob("*.ipynb"))
pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason="there is no site; run `make site`")

MOVE = """
for widget in made:
    for slider in widget.children[:-1]:
        slider.value = slider.min  # the figure is drawn again; an error is shown in it
    widget.f(**widget.kwargs)  # and is raised here
    print(*(slider.description for slider in widget.children[:-1]))
"""


def test_figures_follow_their_sliders():
    """One kernel for all notebooks, because each loads boostlab."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%matplotlib inline\nmade = []")])
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                source = re.sub(
                    r"^    (interact\(.*\))$", r"    made.append(\1.widget)", cell.source, flags=re.MULTILINE
                )
                book.cells.append(nbformat.v4.new_code_cell(source))
    book.cells.append(nbformat.v4.new_code_cell(MOVE))
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(ROOT)}}).execute()
    told = "".join(output.get("text", "") for output in book.cells[-1].outputs).splitlines()
    assert told == ["rounds cut", "rounds rows", "leaves rounds rows", "rounds leaves", "rounds rows leaves", "rho"]
    pictures = sum("image/png" in output.get("data", {}) for cell in book.cells for output in cell.outputs)
    assert pictures >= len(NOTEBOOKS)
