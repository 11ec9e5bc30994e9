"""Link names: `VadaBoostClassifier` leads to the reference, `docs/theory.md` in a docstring to that page."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from public import PUBLIC
from sphinx import addnodes

TARGETS = {name: f"{module}.{name}" for module, names in reversed(PUBLIC.items()) for name in names}
TARGETS |= {f"{module}.{name}": f"{module}.{name}" for module, names in PUBLIC.items() for name in names}
PAGE = re.compile(r"docs/(\w+)\.md")


def link(app: Any, doctree: nodes.document) -> None:
    """Turn literals that are public names into references."""
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, (nodes.reference, addnodes.pending_xref, nodes.title)):
            continue
        if target := TARGETS.get(literal.astext().removesuffix("()")):
            where = {"refdomain": "py", "reftype": "obj", "reftarget": target}
        elif page := PAGE.fullmatch(literal.astext()):
            where = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{page[1]}"}
        else:
            continue
        reference = addnodes.pending_xref("", refdoc=app.env.docname, refexplicit=True, **where)
        literal.replace_self(reference)
        reference += literal


def escape_bars(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Let |alpha| in a docstring be an absolute value, and not a substitution."""
    for number, line in enumerate(lines):
        if "|" in line and not line.lstrip().startswith((">>>", "...")):
            parts = line.split("`")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[number] = "`".join(parts)


def setup(app: Any) -> dict[str, bool]:
    """Register the transform."""
    app.connect("doctree-read", link)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
