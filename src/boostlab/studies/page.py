"""What a study leaves behind: a page (Markdown, HTML), tables and cells as CSV, figures as PNG, facts for the index."""

from __future__ import annotations

import csv
import io
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostlab.report.markdown import markdown_page
from boostlab.studies import cell_file, index
from boostlab.studies.published_cells import machines
from boostlab.studies.request import RequestError
from boostlab.studies.runner import Ran
from boostlab.studies.study import Report, Results, Study
from boostlab.studies.tables import columns_of, markdown, plain
from boostlab.studies.watch import duration
from boostlab.studies.whole_files import sweep, write_whole

_NAMED = 12  # the most gaps that a page names one by one
OWN = "Our own"  # how the source of a study begins that repeats no paper


@dataclass
class Page:
    """What was written."""

    path: Path
    report: Report
    troubles: list[str] = field(default_factory=list)  # parts of the report that could not be made


def prepare(folder: Path) -> None:
    """Make the folder, and see that files can be written there, before hours are spent.

    Parameters
    ----------
    folder : path
        Where pages go.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        sweep(folder)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise RequestError(f"The folder {folder} cannot be written to ({why}); name another with --out.") from error


def write(ran: Ran, folder: Path) -> Page:
    """Write a study's page, tables and figures into a folder of the study's name.

    Parameters
    ----------
    ran : Ran
        What the runner returned.
    folder : path
        The folder of all studies.

    Returns
    -------
    Page
    """
    here = folder / ran.study.name
    prepare(here)
    troubles: list[str] = []
    try:
        with _quiet():
            report = ran.study.report(ran.results)
        if ran.asked != "full" and (counts := set(ran.results.repeats.values()) - {0}):
            report.claims = [claim.of_few(max(counts)) for claim in report.claims]
    except Exception as error:
        report = Report()
        troubles.append(f"The tables could not be made: {type(error).__name__}: {error}")
    cell_file.write(here / cell_file.NAME, ran.study, ran.results)
    (here / cell_file.BEFORE).unlink(missing_ok=True)
    for name, rows in report.tables.items():
        write_csv(here / f"{slug(name)}.csv", rows)
    figures, said = draw(report, here)
    troubles += said
    text = "\n\n".join(part for part in _parts(ran, report, figures, troubles) if part)
    path = here / "README.md"
    write_whole(path, text + "\n")
    write_whole(here / "report.html", markdown_page(text, here))
    index.note(ran, report, here)
    return Page(path, report, troubles)


def _parts(ran: Ran, report: Report, figures: Sequence[str], troubles: Sequence[str]) -> Iterable[str]:
    """Yield the parts of the page from top to bottom."""
    study, own = ran.study, ran.study.source.startswith(OWN)
    yield f"# {study.title}"
    yield f"Source: {study.source}"
    yield "\n".join(f"- {line}" for line in (*_repeats(ran), *facts(ran)))
    yield from (f"**{trouble}**" for trouble in troubles)
    if ran.planned > len(ran.results.rows()):
        share = len(ran.results.rows()) / ran.planned
        yield f"**Not finished ({share:.1%} of the cells): the verdicts are those of what is there.**"
    yield section("In short", report.headline)
    if report.claims:
        yield "## What was expected, and what we see" if own else "## What the paper says, and what we see"
        yield markdown([{"verdict": f"**{c.verdict}**", "claim": c.text, "ours": c.evidence} for c in report.claims])
    for name, rows in report.tables.items():
        yield f"## {heading(name)}"
        yield report.captions.get(name, "")
        yield markdown(rows) if rows else "No cell of this table is finished."
        yield f"As a file: [{slug(name)}.csv]({slug(name)}.csv)."
    for name in figures:
        yield f"## Figure: {heading(name)}"
        yield "" if name in report.tables else report.captions.get(name, "")
        yield f"![{heading(name)}]({slug(name)}.png)"
    yield section("Notes", report.notes, bullet="")
    yield section("How it was done" if own else "Readings where the paper is silent", study.assumptions)
    yield section("The data as they were read", _readings(study))
    yield section("What is missing", missing(ran))
    yield "## Run it again"
    yield f"```\nboostlab reproduce {study.name}{_option(ran.asked)}\n```"
    yield (
        f"Cells that the store has are not computed again; every finished cell is in [{cell_file.NAME}]"
        f"({cell_file.NAME}): errors are shares of test rows, seconds those of the whole cell, tuning included; seed "
        "has the words of the numpy SeedSequence that draws the split, data the hash of the data, numbers all that was "
        "measured. With --only-page this page is made from that file where there is no store."
    )


def _repeats(ran: Ran) -> Iterable[str]:
    counts = sorted(set(ran.results.repeats.values()) - {0})  # a tier may leave a block out
    tier = f"{ran.asked} tier" if isinstance(ran.asked, str) else "as asked"
    if counts:
        yield f"Repeats: {' to '.join(str(n) for n in dict.fromkeys([counts[0], counts[-1]]))} ({tier})"


def facts(ran: Ran) -> Iterable[str]:
    """Yield what is to be known of the run, a line each: cells, time, machine, version."""
    rows = ran.results.rows()
    failed = sum(bool(one.failure) for one in rows)
    yield f"Cells: {len(rows)} of {ran.planned} finished" + (f", {failed} of them failed" if failed else "")
    computing = sum(one.seconds for one in rows)
    clock = sum(run.seconds for run in ran.runs)
    jobs = " or ".join(str(n) for n in sorted({run.jobs for run in ran.runs}))
    yield f"Time: {duration(computing)} of computing, added up over the cells"
    for machine in machines(ran.runs):
        yield f"Machine: {machine}"
    if ran.runs:
        many = f"the {len(ran.runs)} runs that computed them" if len(ran.runs) > 1 else "the run that computed them"
        others = max(run.studies for run in ran.runs) - 1
        shared = f" (and cells of {others} other {'study' if others == 1 else 'studies'})" if others else ""
        yield f"Clock: {duration(clock)} for {many}{shared}, with {jobs} {'worker' if jobs == '1' else 'workers'}"
        versions = ", ".join(dict.fromkeys(run.version for run in ran.runs))
        days = " to ".join(dict.fromkeys([ran.first[:10], ran.last[:10]]))
        yield f"Computed by boostlab {versions}, {days}"


def missing(ran: Ran) -> list[str]:
    """Return all that is not there, failures among it, each with its reason."""
    lines = list(ran.study.missing)
    lines += [f"{problem}: {why}" for problem, why in ran.results.absent.items()]
    if ran.planned > len(ran.results.rows()):
        gaps = _gaps(ran.results)
        named = f": {'; '.join(gaps)}" if 0 < len(gaps) <= _NAMED else ""
        lines.append(f"{ran.planned - len(ran.results.rows())} cells are not computed yet{named}.")
    failures = Counter((one.problem, one.method, one.failure) for one in ran.results.rows() if one.failure)
    lines += [
        f"{method} on {problem} failed{f' {count} times' if count > 1 else ''}: {why}"
        for (problem, method, why), count in failures.items()
    ]
    return lines


def _gaps(results: Results) -> list[str]:
    """Return which methods lack repeats on which data, those that are not at hand left out."""
    found = Counter((one.block, one.problem, one.method) for one in results.rows())
    return [
        f"{method.name} on {problem.name} has {found[block.name, problem.name, method.name]} of {asked} repeats"
        for block in results.blocks.values()
        for problem in block.problems
        for method in block.methods
        if problem.name not in results.absent
        and found[block.name, problem.name, method.name] < (asked := results.repeats.get(block.name, 0))
    ]


def _readings(study: Study) -> list[str]:
    """Return what the problems themselves say about how they were read."""
    lines: dict[str, None] = {}
    for block in study.blocks:
        for problem in block.problems:
            stands_in = "" if problem.exact else " Not the paper's data: they stand in for them."
            if problem.reading or stands_in:
                lines[f"{problem.name}: {problem.reading}{stands_in}"] = None
    return list(lines)


def section(title: str, lines: Sequence[str], bullet: str = "- ") -> str:
    """Return a part of the page with a heading; nothing where there are no lines."""
    between = "\n" if bullet else "\n\n"
    return f"## {title}\n\n" + between.join(f"{bullet}{line}" for line in lines) if lines else ""


def _option(asked: str | int) -> str:
    if isinstance(asked, int):
        return f" --repeats {asked}"
    return " --quick" if asked == "quick" else ""


def heading(name: str) -> str:
    """Return a name as a heading.

    Parameters
    ----------
    name : str
        Of a table or figure.

    Returns
    -------
    str

    Examples
    --------
    >>> heading("beside_the_paper"), heading("Errors in percent")
    ('Beside the paper', 'Errors in percent')
    """
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def slug(name: str) -> str:
    """Return a name as that of a file.

    Parameters
    ----------
    name : str
        Any text.

    Returns
    -------
    str

    Examples
    --------
    >>> slug("Table 1: errors, in %")
    'table-1-errors-in'
    """
    return re.sub(r"[^a-z0-9.]+", "-", name.casefold()).strip("-.") or "table"


def write_cells(path: Path, results: Results) -> None:
    """Write all finished cells, a line each."""
    write_csv(path, [cell_file.cell(one) for one in results.rows()])


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows of a table."""
    text, written = io.StringIO(), plain(rows)
    writer = csv.DictWriter(text, columns_of(written), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(written)
    write_whole(path, text.getvalue())


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out warnings about means of nothing and legends of nothing: cells that failed are empty cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def draw(report: Report, here: Path) -> tuple[list[str], list[str]]:
    """Draw the figures; return the names of those that worked, and what was wrong with the others."""
    if not report.figures:
        return [], []
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return [], ["The figures were not drawn: they need matplotlib (pip install 'boostlab[plots]')."]
    drawn, troubles = [], []
    for name, painter in report.figures.items():
        figure = Figure(figsize=(7.0, 4.5), layout="constrained")
        try:
            with _quiet():
                painter(figure)
            # No date, no version: the same results give the same file.
            picture = io.BytesIO()
            figure.savefig(picture, format="png", dpi=100, metadata={"Software": None})
            write_whole(here / f"{slug(name)}.png", picture.getvalue())
        except Exception as error:
            troubles.append(f"The figure {name} could not be drawn: {type(error).__name__}: {error}")
        else:
            drawn.append(name)
    return drawn, troubles
