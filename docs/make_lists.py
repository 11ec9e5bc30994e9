"""Write the lists of boosters anew:  make lists,  or  python docs/make_lists.py [--check].

Every booster says in its own file what the lists need (`@booster`).  This script writes them where they are read as
plain text, between two marks: the table in docs/boosters.md, the table of families in docs/index.md, the claims of the
README, whose numbers are those of the measured files, "which booster for what" in the README and in docs/choose.md from
the study `atlas`, and the imports that type checkers and editors read in src/boostlab/__init__.py.  The atlas's table
is copied to src/boostlab/comparison/atlas.csv, too, where `boostlab compare` reads it.  With --check nothing is
written, and a list that is not up to date is an error.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.boosters.registry import SUBPACKAGES, find, learner_names, public_names

ROOT = Path(__file__).parents[1]
FAMILIES = {  # the page: its title, and when to read it
    "variance_penalising": ("Variance-penalising", "you want AdaBoost, or AdaBoost with a second parameter"),
    "quadratic": ("QuadBoost", "labels are noisy, votes should be few or bounded, voters form a pool"),
    "adaptive_regularised": ("Regularised AdaBoost", "AdaBoost overfits"),
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


def boosters() -> str:
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
    homes = dict.fromkeys(boostlab._MODULES, "boostlab") | boostlab._HOMES
    homes |= {name: find(name).__module__ for folder in SUBPACKAGES for name in public_names(folder)}
    homes |= {name: getattr(boostlab, name).__module__ for name in learner_names()}
    names = sorted(homes, key=lambda name: (homes[name], name))
    return "".join(f"    from {homes[name]} import {name} as {name}\n" for name in names)


def stumps(cells: dict[str, dict[str, list[float]]], peers: list[str]) -> tuple[float, float]:
    """Return AdaBoost's median seconds, and how many times faster it is than the fastest peer."""
    ours = median(cells["boostlab AdaBoost"]["seconds"])
    return ours, min(median(cells[peer]["seconds"]) for peer in peers) / ours


def claims() -> str:
    """Return the README's three claims, with the numbers that were measured and where they come from."""
    auto = json.loads((ROOT / "benchmarks/auto_table.json").read_text(encoding="utf-8"))
    lowest = sum(min(cells, key=lambda who: cells[who]["log_loss"]) == "AutoBoost" for cells in auto.values())
    peers = [who for who in next(iter(auto.values())) if who != "AutoBoost"]
    measured = json.loads((ROOT / "benchmarks/targets.json").read_text(encoding="utf-8"))
    ours, faster = zip(*(stumps(measured[threads]["stumps"], peers) for threads in ("2", "16")), strict=True)
    return f"""\
- **Good untuned.** `AutoBoostClassifier()` has the lowest log loss on {lowest} of {len(auto)} data sets, beside the
  defaults of {", ".join(peers[:-1])} and {peers[-1]}: [benchmarks](docs/benchmarks.md), from
  `benchmarks/auto_table.json`.
- **Fast.** 100 rounds of AdaBoost with stumps on 100,000 × 50 numbers take {ours[0]:.2f} s on 2 threads of one machine
  and {ours[1]:.3f} s on 16 of another, {faster[0]:.1f} and {faster[1]:.1f} times faster than the fastest of these
  three: [benchmarks](docs/benchmarks.md), from `benchmarks/targets.json`.
- **Exact.** The model has the same bits for any number of threads and any order of the rows, and a weight of k is k
  copies of a row: `tests/properties/test_training.py`, `tests/boosters/test_training.py`
  ([what you can rely on](docs/in_and_out.md#what-you-can-rely-on)).
"""


ATLAS = ROOT / "studies/atlas"
ATLAS_TABLE = "which-booster-for-what.csv"
SURE = 0.05  # Wilcoxon's p
ATLAS_COPY = ROOT / "src/boostlab/comparison/atlas.csv"


def atlas_table(folder: Path = ATLAS) -> str:
    """Return the atlas's table of boosters; nothing until the study has run in its full tier."""
    facts = folder / "study.json"
    if not facts.is_file() or json.loads(facts.read_text(encoding="utf-8"))["asked"] != "full":
        return ""
    return (folder / ATLAS_TABLE).read_text(encoding="utf-8")


def which(text: str, all_groups: bool) -> str:
    """Return which booster does best in which situation, given the atlas's table; nothing without one."""
    lines = list(csv.DictReader(text.splitlines()))
    if not lines:
        return ""
    head = ["situation", "sets", "untuned", "others, untuned", "tuned", "others, tuned"]
    rows = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for situation in dict.fromkeys(line["situation"] for line in lines):
        mine = {line["tuning"]: line for line in lines if line["situation"] == situation}
        pair = [mine.get("untuned"), mine.get("tuned")]
        both = [line for line in pair if line is not None]
        if len(both) < len(pair) or not (all_groups or _is_whole(both[0])):
            continue
        cells = [cell for line in both for cell in (_ours(line), _others(line))]
        rows.append("| " + " | ".join([situation, both[0]["sets"], *cells]) + " |")
    return "\n".join(rows) + "\n"


def _measured(line: dict[str, str], mean: str, rank: str) -> str:
    """Return a mean and a mean rank."""
    unit = " % AUC" if line["ranked by"] == "AUC" else " %"
    return f"{float(line[mean]):.2f}{unit}, rank {float(line[rank]):.1f}"


def _ours(line: dict[str, str]) -> str:
    return f"{line['take'].removesuffix(', tuned')} {_measured(line, 'mean, %', 'mean rank')}"


def _others(line: dict[str, str]) -> str:
    """Return the best method of other libraries; bold where it is significantly better."""
    peer = line["best peer"]
    if not peer:
        return "not run"
    for form in (", tuned", ", default"):
        peer = peer.removesuffix(form)
    text = f"{peer} {_measured(line, 'its mean, %', 'its rank')}"
    better = (float(line["difference, points"]) > 0) == (line["ranked by"] == "AUC")
    return f"**{text}**" if better and float(line["p"]) < SURE else text


def _is_whole(line: dict[str, str]) -> bool:
    """Whether a group is a whole block of the study: classes, and noise or not."""
    return not line["rows"] and not line["balance"] and "categories" not in line["situation"]


def which_in_short() -> str:
    """Return the README's table."""
    made = which(atlas_table(), all_groups=False)
    says = (
        "On tables of at most 1,000 training rows, the best of ours and of seven methods of other libraries by mean\n"
        "rank among all untuned or all tuned methods (1 is best), with mean test errors; bold where the other is\n"
        "significantly better (Wilcoxon, 5 %, not corrected for the number of tests). A smaller mean error with a\n"
        "worse rank: far fewer errors on some sets, a few more on most. Both are chosen after the fact, ours out of\n"
        "more; [the atlas](studies/atlas/README.md) says what holds where other sets choose.\n"
    )
    return f"\n{says}\n{made}\n" if made else ""


def which_in_full() -> str:
    """Return the table of the page on choosing."""
    made = which(atlas_table(), all_groups=True)
    return f"\n{made}\n" if made else ""


def copies() -> list[tuple[Path, str]]:
    """Return the files that are copies of a study's table, and what they must hold."""
    text = atlas_table()
    return [(ATLAS_COPY, text)] if text else []


# The file, the mark before the list (up to the end of its line), the mark after it, and what makes the list.
LISTS: list[tuple[str, str, str, Callable[[], str]]] = [
    ("docs/boosters.md", "<!-- [boosters] ", "<!-- [/boosters] -->", boosters),
    ("README.md", "<!-- [claims] ", "<!-- [/claims] -->", claims),
    ("README.md", "<!-- [which] ", "<!-- [/which] -->", which_in_short),
    ("docs/choose.md", "<!-- [which] ", "<!-- [/which] -->", which_in_full),
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
    for path, text in copies():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            old += 1
            print(f"{path.relative_to(ROOT)} {'is not up to date' if asked.check else 'is written anew'}")
            if not asked.check:
                path.write_text(text, encoding="utf-8")
    return 1 if asked.check and old else 0


if __name__ == "__main__":
    sys.exit(main())
