"""The pages of the reference: one for every public name of boostlab, and one for every public module."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from public import PUBLIC

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.boosters.registry import learner_names

DOCS = Path(__file__).parents[1]
PICTURE = re.compile(r"!\[([^\]]+)\]\((pictures/\w+\.png)\)")
SHARED = "AdaBoostClassifier"  # whose page explains the methods that all boosters share
TITLES = {  # what the modules are about
    "boostlab.explain": "explain: open a vote",
    "boostlab.theory": "theory: bounds and margins",
    "boostlab.plots": "plots: pictures",
    "boostlab.datasets": "datasets: tables and label noise",
    "boostlab.studies": "studies: what a comparison returns",
    "boostlab.dask": "dask: clusters",
    "boostlab.contract": "contract: write your own booster",
}

DATA = {  # what constants and names of types are, and an example: autodoc would explain their types
    "AGAIN": ("What a step formula says to be asked again, at another coefficient.", "see `UsualRound`"),
    "OTHER": ("What asks for the first of the other sums of a usual round.", "see `UsualRound`"),
    "Sums": ("Sums over rows as a decision of a usual round sees them, in annotations.", "see `UsualRound`"),
    "TAKEN": ("What a step formula says of a voter that joins.", "see `UsualRound`"),
    "UNUSUAL": ("What a step formula says of a round that is left to `step`.", "see `UsualRound`"),
    "NEGLIGIBLE": ("An edge of at most this size is rounding: a voter that has it is not added.", "``1e-12``"),
    "STOP_CODES": ("The codes of `Stop`, and what each says.", "``STOP_CODES['perfect']``: the voter makes no error"),
    "Array": ("A NumPy array, in annotations.", "``def task(self, weight: Array)``"),
    "Facts": ("Numbers for `history_` by name.", "``{'error': 0.2}``"),
    "Place": ("Where a cut is: feature, cut, side of missing values, edge.", "``(5, 112, 1, 54)``"),
    "Row": ("In annotations of a `formula`: the numbers of a row, one a class.", "``def loss(F: Row, k: int)``"),
}


def summary(thing: Any) -> str:
    """Return the first sentence of the documentation."""
    text = (inspect.getdoc(thing) or "").strip().partition("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.) +(?=[A-Z`])", text)[0].rstrip(":").replace("|", r"\|") if text else ""


def title(text: str, line: str = "=") -> str:
    """Return an underlined title."""
    return f"{text}\n{line * len(text)}\n\n"


def methods(cls: type) -> list[str]:
    """Return a class's public methods and properties that boostlab defines and explains."""

    def ours(name: str) -> bool:
        thing = inspect.getattr_static(cls, name)
        if isinstance(thing, (classmethod, staticmethod)):
            thing = thing.__func__
        if isinstance(thing, property):
            thing = thing.fget
        return inspect.isfunction(thing) and thing.__module__.startswith("boostlab") and bool(thing.__doc__)

    return [name for name in dir(cls) if not name.startswith("_") and ours(name)]


def documented(module: str, name: str) -> str:
    """Return the directives that document a name."""
    thing = getattr(import_module(module), name)
    if module != "boostlab" and getattr(boostlab, name, None) is thing:
        return f"The same as :py:obj:`boostlab.{name}`.\n\n.. py:data:: {module}.{name}\n   :no-typesetting:\n\n"
    if module == "boostlab.contract" and name in DATA:
        return f".. py:data:: {module}.{name}\n\n   {DATA[name][0]}  Example: {DATA[name][1]}.\n\n"
    if not inspect.isclass(thing):
        kind = "function" if inspect.isroutine(thing) or hasattr(thing, "__wrapped__") else "data"
        if kind == "data" and callable(thing) and hasattr(thing, "__signature__"):
            kind = "function"
        return f".. auto{kind}:: {module}.{name}\n\n"
    text = f".. autoclass:: {module}.{name}\n\n"
    if ">>>" not in (inspect.getdoc(thing) or "") and (made := makers(module, name)):
        names = ", ".join(f":py:obj:`{maker} <{module}.{maker}>`" for maker in made)
        text += f"   Returned by {names}, with an example there.\n\n"
    shared = name != SHARED and {m for m in methods(thing) if is_shared(thing, m)}
    for method in methods(thing):
        if shared and method in shared:
            continue
        kind = "property" if isinstance(inspect.getattr_static(thing, method), property) else "method"
        text += f"   .. auto{kind}:: {module}.{name}.{method}\n"
    if shared:
        text += "\nMethods that all boosters share:\n\n.. list-table::\n   :widths: 35 65\n\n"
        for method in methods(thing):
            if method in shared:
                words = summary(inspect.getattr_static(thing, method))
                text += f"   * - :py:obj:`{method} <boostlab.{SHARED}.{method}>`\n     - {words}\n"
    return text + "\n"


def makers(module: str, name: str) -> list[str]:
    """Return the public functions of a module that return this class, and show it in an example."""
    found = []
    for other in PUBLIC[module]:
        thing = getattr(import_module(module), other)
        told = inspect.getdoc(thing) or ""
        if inspect.isfunction(thing) and ">>>" in told:
            returned = str(thing.__annotations__.get("return", "")) + told.partition("Returns\n")[2][:200]
            if re.search(rf"\b{name}\b", returned):
                found.append(other)
    return found


def is_shared(cls: type, method: str) -> bool:
    """Return whether a booster's method is AdaBoost's, on whose page it is explained."""
    mine, theirs = (inspect.getattr_static(one, method, None) for one in (cls, getattr(boostlab, SHARED)))
    return mine is theirs and mine is not None


def table(module: str, names: list[str], page: bool) -> str:
    """Return a table of names and what they are; `page` says whether each has a page of its own."""
    text = ".. list-table::\n   :widths: 35 65\n\n"
    for name in names:
        role = f":doc:`{name} <{module}.{name}>`" if page else f":py:obj:`{name} <{module}.{name}>`"
        known = DATA.get(name) if module == "boostlab.contract" else None
        words = known[0] if known else summary(getattr(import_module(module), name))
        text += f"   * - {role}\n     - {words}\n"
    return text + "\n"


def advice(name: str) -> str:
    """Return when to choose a booster, and where it is explained."""
    entry = (REGISTRY | REGRESSORS).get(name)
    if entry is None:
        return ""
    text = f"Choose it when {entry.choose}.  ({entry.reference}.)\n"
    return text + f"The page on its family, :doc:`/{entry.family}`, has the formulas and advice.\n\n"


def family_picture(name: str) -> str:
    """Return the picture of a booster's family."""
    entry = (REGISTRY | REGRESSORS).get(name)
    found = PICTURE.search((DOCS / f"{entry.family}.md").read_text(encoding="utf-8")) if entry else None
    return figure(found, f"From :doc:`/{entry.family}`.") if entry and found else ""


def figure(found: re.Match[str], caption: str) -> str:
    """Return a picture with its description."""
    words = " ".join(found[1].split())
    return f".. figure:: /{found[2]}\n   :alt: {words}\n\n   {caption}\n\n"


def plot_figures() -> dict[str, re.Match[str]]:
    """Return the gallery's picture for every function of boostlab.plots that it names."""
    pictures = {}
    for section in re.split(r"^##+ ", (DOCS / "gallery.md").read_text(encoding="utf-8"), flags=re.M):
        if found := PICTURE.search(section):
            for name in re.findall(r"`(\w+)`", section[: found.start()]):
                pictures.setdefault(name, found)
    return pictures


def name_page(name: str) -> str:
    """Return the page of one public name of boostlab."""
    text = title(name) + advice(name) + documented("boostlab", name) + family_picture(name)
    cls = getattr(boostlab, name)
    if name.endswith(("Classifier", "Regressor")):
        text += "It also has scikit-learn's ``get_params``, ``set_params``, ``score`` and metadata routing.\n\n"
    if inspect.isclass(cls):
        text += f".. minigallery:: boostlab.{name}\n   :add-heading: Examples that use it\n\n"
    return text


def module_page(module: str) -> str:
    """Return the page of a public module."""
    names, pictures = PUBLIC[module], plot_figures() if module == "boostlab.plots" else {}
    text = title(TITLES[module]) + f".. py:module:: {module}\n\n.. py:currentmodule:: None\n\n"
    text += inspect.getdoc(import_module(module)) + "\n\n"
    if module == "boostlab.contract":
        text += ":doc:`/add_your_own_booster` shows these at work, in complete files that the tests run.\n\n"
    text += table(module, names, page=False)
    for name in names:
        text += title(name, "-") + documented(module, name)
        if name in pictures:
            text += figure(pictures[name], "From the :doc:`gallery </gallery>`, which has the code.")
    return text


def groups() -> dict[str, list[str]]:
    """Return the public names of boostlab by kind."""
    names = PUBLIC["boostlab"]
    boosters = [name for name in names if name in REGISTRY | REGRESSORS]
    made = {
        "Choose by itself": [name for name in names if name.startswith("AutoBoost")] + ["compare"],
        "Boosters": boosters,
        "Several classes": ["ECOCClassifier", "PairwiseClassifier"],
        "Weak learners": learner_names(),
        "Data, files, stops": ["Binned", "load", "Stop"],
    }
    if rest := set(names) - {name for group in made.values() for name in group}:
        made["More"] = sorted(rest)
    return made


def index_page() -> str:
    """Return the first page of the reference."""
    text = title("API reference")
    text += "Every public name; :doc:`/releases` says what may change, and when.\n\n"
    for group, names in groups().items():
        text += title(group, "-") + table("boostlab", names, page=True)
    text += title("Modules", "-") + ".. list-table::\n   :widths: 35 65\n\n"
    for module in TITLES:
        text += f"   * - :doc:`{module} <{module}>`\n     - {summary(import_module(module))}\n"
    text += "\n.. toctree::\n   :hidden:\n\n"
    text += "".join(f"   boostlab.{name}\n" for names in groups().values() for name in names)
    return text + "".join(f"   {module}\n" for module in TITLES)


def pages() -> Iterator[tuple[str, str]]:
    """Yield the places and texts of the reference."""
    yield "api/index.rst", index_page()
    for name in PUBLIC["boostlab"]:
        yield f"api/boostlab.{name}.rst", name_page(name)
    for module in TITLES:
        yield f"api/{module}.rst", module_page(module)
