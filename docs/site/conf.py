"""Sphinx's settings for the site; `make site` assembles the pages (assemble.py) and then builds them."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))  # where examples find the palette

import boostlab  # noqa: E402

project = "boostlab"
author = "The boostlab developers"
copyright = "the boostlab developers, BSD-3-Clause"
version = release = boostlab.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "math_in_pages",
    "names_in_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["**/*.ipynb", "**/sg_execution_times.rst", "sg_execution_times.rst", "backreferences/*"]
default_role = "literal"  # `name` in a docstring is code
nitpicky = False

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "config.cache"]  # studies' pages go from a title to a third level

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc's tables name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # api.py lists them
numpydoc_class_members_toctree = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "boostlab"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_favicon = str(HERE / "static" / "mark.svg")
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "boostlab", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "collapse_navigation": True,  # else every page carries every page, which takes long to write
    "navigation_depth": 2,
    "navigation_with_keys": False,
    "search_bar_text": "Search the documentation",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "benchmarks": []}
if repository := os.environ.get("BOOSTLAB_REPOSITORY"):  # the workflow that publishes the site names it
    html_theme_options["github_url"] = repository

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples"), str(HERE.parent / "teach")],
    "gallery_dirs": ["examples", "teach"],
    "filename_pattern": r"\.py$",
    "backreferences_dir": "backreferences",
    "doc_module": ("boostlab",),
    "within_subsection_order": "FileNameSortKey",
    "reference_url": {"boostlab": None},
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 3600,
    "download_all_examples": False,
    "capture_repr": ("_repr_html_", "__repr__"),
    "matplotlib_animations": False,
    "thumbnail_size": (400, 280),
    "parallel": False,  # other processes would load every booster again
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
logging.getLogger("boostlab").setLevel(logging.ERROR)  # no notice on a page that kernels are compiled
