"""The page of a comparison: the recommendation, the ranking, pictures, and how all that came about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote

from boostlab.comparison import figures
from boostlab.comparison.result import Comparison, Design
from boostlab.studies.page import Page, draw, facts, missing, section, slug, write_cells, write_csv
from boostlab.studies.request import RequestError
from boostlab.studies.study import Report
from boostlab.studies.tables import markdown
from boostlab.studies.whole_files import write_whole

_MARK = "<!-- written by boostlab compare -->"  # by which a page is known for ours, and may be written again
_TABLE = r"<!-- table: (\S+) -->"  # and the table that it is about
_OURS = ("model.boost", "report.html", "cells.csv", "ranking.csv", *(f"{slug(name)}.png" for name in figures.NAMES))


def claim(folder: Path, table: Path | None = None) -> None:
    """Refuse a folder in which files would be overwritten that no comparison has written.

    Parameters
    ----------
    folder : path
        Where the page is to go.
    table : path, optional
        If given, a page of another table is not overwritten either.
    """
    page = folder / "README.md"
    if page.is_file():
        try:
            text = page.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        is_ours = _MARK in text
        other = re.search(_TABLE, text)
        if table is not None and is_ours and other and other[0] != _named(table, folder):
            theirs = unquote(other[1])
            raise RequestError(
                f"The folder {folder} holds the comparison of another table, {theirs} as seen from there; name a folder"
                f" for {table} with --out."
            )
        foreign = [] if is_ours else ["README.md"]
    else:
        foreign = [name for name in _OURS if (folder / name).exists()]
    if foreign:
        raise RequestError(
            f"The folder {folder} holds a {foreign[0]} that boostlab did not write; name another folder with --out."
        )


def _named(table: Path, folder: Path) -> str:
    """Return the line by which a page knows its table: the way to it from the page's folder."""
    try:
        way = Path(os.path.relpath(table.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        way = table.resolve().as_posix()
    return f"<!-- table: {quote(way).replace('--', '%2D%2D')} -->"


def mark(plan: Design, command: str, folder: Path, source: Path | None = None) -> None:
    """Write a page that says that the comparison is under way, unless there is one: by it the folder is known for ours.

    Parameters
    ----------
    plan : Design
        What was asked for.
    command : str
        How it was asked for.
    folder : path
        Where the page is to go; it has been claimed.
    source : path, optional
        The file that the table came from.
    """
    path = folder / "README.md"
    if not path.exists():
        parts = (_marks(folder, source), f"# {plan.study.title}", "**Not finished; the same command goes on.**")
        write_whole(path, "\n\n".join((*parts, f"```\n{command}\n```")) + "\n")


def _marks(folder: Path, source: Path | None) -> str:
    return _MARK if source is None else f"{_MARK}\n{_named(source, folder)}"


def write(plan: Design, comparison: Comparison, command: str, folder: Path, source: Path | None = None) -> Page:
    """Write page, tables and pictures.

    Parameters
    ----------
    plan : Design
        What was asked for.
    comparison : Comparison
        What came out.
    command : str
        How it was asked for.
    folder : path
        Where to.
    source : path, optional
        The file that the table came from.

    Returns
    -------
    Page
    """
    report = plan.study.report(comparison.ran.results)
    write_cells(folder / "cells.csv", comparison.ran.results)
    for name, table in report.tables.items():
        write_csv(folder / f"{slug(name)}.csv", table)
    drawn, troubles = draw(report, folder)
    parts = [_marks(folder, source), *_parts(plan, comparison, report, drawn, command)]
    path = folder / "README.md"
    write_whole(path, "\n\n".join(part for part in parts if part) + "\n")
    return Page(path, report, troubles)


def _parts(plan: Design, comparison: Comparison, report: Report, drawn: list[str], command: str) -> Iterable[str]:
    """Yield the parts of the page from top to bottom."""
    ran = comparison.ran
    yield f"# {plan.study.title}"
    yield " ".join(comparison.advice.sentences)
    if comparison.advice.code:
        yield f"```python\n{comparison.advice.code}\n```"
    if ran.ended:
        yield f"**Not finished, because {ran.ended}: {len(ran.results.rows())} of {ran.planned} cells.**"
    for (name, table), ranking in zip(report.tables.items(), comparison.rankings, strict=True):
        yield f"## {name}"
        yield markdown(table)
        common = "that all have finished" if ranking.fair else "that each has finished, which are not the same"
        parts = f"{ranking.splits} part{'s' if ranking.splits != 1 else ''}"
        yield (
            f"{ranking.metric.title}: {ranking.metric.sentence}, with its 95 % interval, over the {parts} {common}. "
            "**Bold**: not distinguishable from the best. The best constant answer has "
            f"{ranking.metric.show(ranking.baseline)}."
        )
    for name in drawn:
        yield f"## {name}"
        yield f"![{name}]({slug(name)}.png)"
    yield section("The table", [f"{name}: {text}" for name, text in plan.table.facts.items()])
    yield section("How it was done", plan.study.assumptions)
    yield section("The run", [line for line in facts(ran) if line])
    yield section("What is missing", [*(f"{name}: {why}" for name, why in plan.left_out.items()), *missing(ran)])
    yield f"## Run it again\n\n```\n{command}\n```"
    yield "Finished cells are not computed again. Every one is in [cells.csv](cells.csv)."
