"""The page of pages: one line for every study in a folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from boostlab.studies import cell_file
from boostlab.studies.runner import Ran
from boostlab.studies.store import Run
from boostlab.studies.study import VERDICTS, Report, Results, Study
from boostlab.studies.tables import markdown
from boostlab.studies.watch import duration
from boostlab.studies.whole_files import write_whole

NAME, FACTS = "README.md", "study.json"
_TITLE = "# The papers' tables, computed again"
_TEXT = (
    "Every page shows ours beside what was published, a verdict on every claim, and all readings where a paper is "
    "silent; studies of our own have a registration instead of a paper. `boostlab reproduce NAME` (with `--quick` "
    "where the tier is quick) makes it again. Computing is the time of all cells added up, clock that of the runs that "
    "computed them; cells that two studies share count in both. `boostlab reproduce all` is one run for all studies. "
    "`boostlab pages studies` makes pages for the browser of all of them, which can be sorted and printed: open "
    "`studies/index.html`. Verdicts are counted of finished pages of the full tier only."
)


def note(ran: Ran, report: Report, here: Path) -> None:
    """Write what the index says of a study beside its page.

    Parameters
    ----------
    ran : Ran
        What the runner returned.
    report : Report
        What the study made of it.
    here : path
        The study's folder.
    """
    rows, counts = ran.results.rows(), sorted(set(ran.results.repeats.values()) - {0})
    facts = {
        "title": ran.study.title,
        "asked": ran.asked,
        "repeats": [counts[0], counts[-1]] if counts else [],
        "cells": len(rows),
        "planned": ran.planned,
        "computing": round(sum(one.seconds for one in rows), 1),
        "clock": round(sum(run.seconds for run in ran.runs), 1),
        "workers": sorted({run.jobs for run in ran.runs}),
        "studies": max((run.studies for run in ran.runs), default=1),
        "verdicts": dict(Counter(claim.verdict for claim in report.claims)),
        "absent": ran.results.absent,
        "first": ran.first,
        "last": ran.last,
        "runs": [asdict(run) for run in ran.runs],
    }
    write_whole(here / FACTS, json.dumps(facts, indent=1) + "\n")


def recall(study: Study, folder: Path) -> Ran | None:
    """Return what a study's page was made of, from the files beside it; None where they are not there.

    Parameters
    ----------
    study : Study
        The study.
    folder : path
        The folder of all studies.

    Returns
    -------
    Ran or None
    """
    here = folder / study.name
    facts = _read(here / FACTS)
    if facts is None or "runs" not in facts or not (here / cell_file.NAME).is_file():
        return None
    asked = facts["asked"]
    results = Results(study.blocks, cell_file.read(here / cell_file.NAME, study), study.repeats(asked), facts["absent"])
    runs = [Run(**run) for run in facts["runs"]]
    return Ran(study, asked, results, facts["planned"], runs=runs, first=facts["first"], last=facts["last"])


def write(folder: Path, names: Sequence[str]) -> Path | None:
    """Write the index of the pages that a folder has; a README.md of another origin is left alone.

    Parameters
    ----------
    folder : path
        The folder of all studies.
    names : sequence of str
        All studies that there are, in the order of the index.

    Returns
    -------
    path or None
        Of the index; None if there is no page, or the place is taken.
    """
    path = folder / NAME
    known = {name: facts for name in names if (facts := _read(folder / name / FACTS)) is not None}
    if not known or (path.exists() and not _is_ours(path)):
        return None
    parts = [_TITLE, _TEXT, markdown([_line(name, facts) for name, facts in known.items()])]
    parts.append(_total(known.values()))
    absent = [name for name in names if name not in known]
    old = [name for name in known if not (folder / name / cell_file.NAME).is_file()]
    if old:
        parts.append(
            f"Of an earlier version, which kept too little of every cell to make the page again: {', '.join(old)}. "
            "Their words and verdicts are those of its rules."
        )
    parts += [f"Not run here: {', '.join(absent)}."] if absent else []
    write_whole(path, "\n\n".join(parts) + "\n")
    return path


def stays(ran: Ran, here: Path) -> bool:
    """Return whether the page in a study's folder is of the full tier, and rests on more than what would replace it.

    Parameters
    ----------
    ran : Ran
        What the runner returned.
    here : path
        The study's folder.

    Returns
    -------
    bool
    """
    facts = _read(here / FACTS) or {"asked": None}
    return facts["asked"] == "full" != ran.asked and int(facts["cells"]) > len(ran.results.rows())


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8", errors="replace").startswith(_TITLE)


def _read(path: Path) -> dict[str, Any] | None:
    """Return what is noted of a study; None if nothing is, or it is not to be read."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        _line(path.parent.name, facts)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(facts)


def _line(name: str, facts: dict[str, Any]) -> dict[str, str]:
    asked, cells, planned = facts["asked"], facts["cells"], facts["planned"]
    repeats = " to ".join(str(n) for n in dict.fromkeys(facts["repeats"]))
    workers = " or ".join(str(n) for n in facts["workers"])
    several = facts.get("studies", 1)  # pages of earlier versions do not say
    return {
        "study": f"[{name}]({name}/README.md)",
        "what": facts["title"],
        "repeats": f"{repeats} ({asked})" if isinstance(asked, str) else repeats,
        "cells": str(cells) if cells == planned else f"{cells} of {planned}",
        "computing": duration(facts["computing"]),
        "clock": f"{duration(facts['clock'])}{f' for {several} studies' if several > 1 else ''}, "
        f"{workers} {'worker' if workers == '1' else 'workers'}"
        if workers
        else "",
        "verdicts": _counted(facts["verdicts"]) if _counts(facts) else "not counted",
    }


def _counts(facts: dict[str, Any]) -> bool:
    """Whether a page's verdicts count: it is of the full tier, and finished."""
    return bool(facts["asked"] == "full" and facts["cells"] == facts["planned"])


def _counted(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{verdicts[v]} {v}" for v in VERDICTS if verdicts.get(v))


def _total(pages: Iterable[dict[str, Any]]) -> str:
    """Return the verdicts of all pages that count, in a sentence."""
    of_full = [facts for facts in pages if _counts(facts)]
    total = sum((Counter(facts["verdicts"]) for facts in of_full), Counter[str]())
    return f"Verdicts of the {len(of_full)} finished pages of the full tier: {_counted(total) or 'none'}."
