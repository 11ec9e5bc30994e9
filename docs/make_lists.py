"""Write the lists of boosters anew:  make lists,  or  python docs/make_lists.py [--check].

Every booster says in its own file what the lists need (`@booster`).  This script writes them where they are read as
plain text, between two marks: the README's table, the table of families in docs/index.md, and the imports that type
checkers and editors read in src/boostlab/__init__.py.  With --check nothing is written, and a list that is not up to
date is an error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.boosters.registry import ROOMS, find, learner_names, public_names

ROOT = Path(__file__).parents[1]
FAMILIES = {  # the page: its title, and when to read it
    "variance_penalising": ("Variance-penalising", "you want AdaBoost, or AdaBoost with a second knob"),
    "quadratic": ("QuadBoost", "labels are noisy, votes should be few or bounded, voters form a pool"),
    "adaptive_regularised": ("AdaBoost with a brake", "AdaBoost overfits"),
    "multiclass": ("Several classes", "there are three or more classes"),
    "statistical_view": ("The statistical view", "you want probabilities, or to predict numbers"),
    "noisy_labels": ("Noisy labels", "labels are wrong, or examples come as a stream"),
    "margin_maximising": ("Margin-maximising", "labels are clean, or you want a certificate"),
    "totally_corrective": (
        "Totally corrective",
        "you want few voters, the largest soft margin and a duality gap",
    ),
}


def all_entries() -> list[tuple[str, object]]:
    """Return all boosters, by name."""
    return sorted((REGISTRY | REGRESSORS).items(), key=lambda item: item[0].casefold())


def readme() -> str:
    """Return the table of all boosters."""
    rows = ["| booster | reference | own parameters | choose it when |", "|---|---|---|---|"]
    for name, entry in all_entries():
        own = ", ".join(f"{key}={value!r}" for key, value in entry.parameters.items()).replace("'", '"')
        rows.append(f"| `{name}` | {entry.reference} | {f'`{own}`' if own else 'none'} | {entry.choose} |")
    return "\n".join(rows) + "\n"


def families() -> str:
    """Return the table of the pages that explain boosters."""
    rows = ["| page | boosters | read it when |", "|---|---|---|"]
    for family, (title, when) in FAMILIES.items():
        members = [name for name, entry in all_entries() if entry.family == family]
        names = dict.fromkeys(name.removesuffix("Classifier").removesuffix("Regressor") for name in members)
        rows.append(f"| [{title}]({family}.md) | {', '.join(names)} | {when} |")
    return "\n".join(rows) + "\n"


def imports() -> str:
    """Return the imports of all public names, for type checkers, in the order that ruff asks for."""
    homes = dict.fromkeys(boostlab._ROOMS, "boostlab") | boostlab._HOMES
    homes |= {name: find(name).__module__ for room in ROOMS for name in public_names(room)}
    homes |= {name: getattr(boostlab, name).__module__ for name in learner_names()}
    names = sorted(homes, key=lambda name: (homes[name], name))
    return "".join(f"    from {homes[name]} import {name} as {name}\n" for name in names)


# The file, the mark before the list (up to the end of its line), the mark after it, and what makes the list.
LISTS: list[tuple[str, str, str, Callable[[], str]]] = [
    ("README.md", "<!-- [boosters] ", "<!-- [/boosters] -->", readme),
    ("docs/index.md", "<!-- [families] ", "<!-- [/families] -->", families),
    ("src/boostlab/__init__.py", "    # [imports] ", "    # [/imports]", imports),
]


def updated(text: str, before: str, after: str, made: str) -> str:
    """Return a text with the list between two marks made anew."""
    start = text.index("\n", text.index(before)) + 1
    return text[:start] + made + text[text.index(after, start) :]


def main(arguments: list[str] | None = None) -> int:
    """Write the lists, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a list is not up to date")
    asked = parser.parse_args(arguments)
    old = 0
    for name, before, after, make in LISTS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        new = updated(text, before, after, make())
        if new != text:
            old += 1
            print(f"{name} {'is not up to date' if asked.check else 'is written anew'}")
            if not asked.check:
                path.write_text(new, encoding="utf-8")
    return 1 if asked.check and old else 0


if __name__ == "__main__":
    sys.exit(main())
