"""`boostlab reproduce`: run studies by name, and write their pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from boostlab.studies import cell_file, index, page
from boostlab.studies.published_cells import TakenOver, take_over
from boostlab.studies.request import RequestError
from boostlab.studies.runner import Ran, collect, run_all
from boostlab.studies.store import Store
from boostlab.studies.study import Study
from boostlab.studies.watch import watching
from boostlab_reproductions import papers
from boostlab_reproductions.papers.agreement import agreement, sentence

OUT = "studies"  # in the working directory, where a person sees it
STORE = "cells.sqlite"  # in that folder


class NothingError(RequestError):
    """There is not one cell to show; others of several studies may have some."""


@dataclass(frozen=True)
class ReproduceOptions:
    """What was asked for on the command line."""

    name: str | None  # of a study, or "all"
    repeats: str | int = "full"
    jobs: int | None = None
    out: Path = Path(OUT)
    store: Path | None = None
    merge: Sequence[Path] = ()
    retry: bool = False
    only_page: bool = False


def find(name: str | None) -> list[Study]:
    """Return the studies that a name means; "all" means every paper's.

    Parameters
    ----------
    name : str or None
        As typed; None where nothing was.

    Returns
    -------
    list of Study

    Examples
    --------
    >>> find("smok")
    Traceback (most recent call last):
    ...
    boostlab.studies.request.RequestError: There is no study 'smok'; did you mean smoke?
    """
    known = papers.STUDIES
    if name is None:
        raise RequestError(f"No study was named; choose from all, {', '.join(known)}.")
    plain = name.strip().casefold()
    if plain == "all":
        return [study for study in known.values() if study.name != "smoke"]
    if plain in known:
        return [known[plain]]
    near = get_close_matches(plain, [*known, "all"], n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose from all, {', '.join(known)}."
    raise RequestError(f"There is no study {name!r}; {hint}")


def reproduce(request: ReproduceOptions, console: Console) -> int:
    """Run what was asked for; return the exit code.

    Parameters
    ----------
    request : ReproduceOptions
        What was asked for; what is not possible is a RequestError.
    console : rich Console
        Where to show it.

    Returns
    -------
    int
        0; 1 if a study could not be finished; 130 after Ctrl-C.
    """
    if isinstance(request.repeats, int) and request.repeats < 1:
        raise RequestError(f"repeats={request.repeats} is not possible; it must be at least 1.")
    studies = find(request.name) if request.name is not None or not request.merge else []
    path = request.store or request.out / STORE
    for other in request.merge:
        if not other.is_file():
            raise RequestError(f"There is no store {other} to merge.")
    published = {other: _published(other) for other in request.merge if other.suffix == ".gz"}
    if studies:
        page.prepare(request.out)
    if request.only_page and not path.is_file() and not request.merge:
        return _from_files(studies, request, path, console)
    worst, stopped = 0, list[tuple[str, int, int]]()
    with Store(path) as store:
        for other in request.merge:
            cells = take_over(published[other], store) if other in published else TakenOver(*store.merge(other))
            _say(console, f"Merged {other} into {path}: {cells}.")
        for ran in _ran(studies, store, request, console):
            if ran.interrupted:
                stopped.append((ran.study.name, len(ran.results.rows()), ran.planned))
                continue
            try:
                worst = max(worst, _finish(ran, request, path, console))
            except NothingError as nothing:
                if len(studies) == 1:
                    raise
                _say(console, str(nothing))
                worst = max(worst, 1)
    if stopped:
        _say(console, _stopped(stopped, path))
    return 130 if stopped else worst


def _published(file: Path) -> Ran:
    """Return what the page beside a file of cells was made of."""
    name = file.absolute().parent.name
    study = papers.STUDIES.get(name)
    ran = index.recall(study, file.absolute().parent.parent) if study and file.name == cell_file.NAME else None
    if ran is None:
        raise RequestError(
            f"{file} cannot be merged: it must be a study's {cell_file.NAME}, in a folder of that study's name with "
            f"{index.FACTS} beside it, as `boostlab reproduce` writes them."
        )
    return ran


def _from_files(studies: Sequence[Study], request: ReproduceOptions, store: Path, console: Console) -> int:
    """Make the pages of the cells that lie beside them, where there is no store."""
    found = [ran for study in studies if (ran := index.recall(study, request.out)) is not None]
    if not found:
        raise RequestError(
            f"There is no store {store} and no {cell_file.NAME} of {request.name} in {request.out}, so there is "
            "nothing to make a page of; name a store with --store."
        )
    return max(_finish(ran, request, store, console) for ran in found)


def _ran(studies: Sequence[Study], store: Store, request: ReproduceOptions, console: Console) -> Iterable[Ran]:
    if request.only_page or not studies:
        return (_collected(study, store, request) for study in studies)
    name = studies[0].name if len(studies) == 1 else f"{len(studies)} studies"
    with watching(name, console) as watch:
        return run_all(studies, store, request.repeats, jobs=request.jobs, retry=request.retry, watch=watch)


def _collected(study: Study, store: Store, request: ReproduceOptions) -> Ran:
    """Return what the store has of a study, or what lies beside its page where that is nothing."""
    ran = collect(study, store, request.repeats)
    return ran if ran.results.rows() else index.recall(study, request.out) or ran


def _stopped(studies: Sequence[tuple[str, int, int]], store: Path) -> str:
    """Return where Ctrl-C came, given what is finished and planned of the studies that it ended."""
    names, counts, plans = zip(*studies, strict=True)
    name, done, planned = names[0] if len(names) == 1 else f"{len(names)} studies", sum(counts), sum(plans)
    kept = f"after {done} of {planned} cells, which are kept in {store}" if done else "before the first cell"
    return f"{name}: stopped {kept}; run the same command again to go on."


def _finish(ran: Ran, request: ReproduceOptions, store: Path, console: Console) -> int:
    """Say what came out, and write the page."""
    name, rows, absent = ran.study.name, ran.results.rows(), ran.results.absent
    for problem, why in absent.items():
        _say(console, f"{name}: without {problem}: {why}")
    if not rows:
        if absent and not ran.planned:
            raise NothingError(f"{name} cannot be run: none of its data sets was found.")
        if request.only_page:
            raise NothingError(f"The store {store} has no cell of {name} as it is now; run it without --only-page.")
    failed = sum(bool(one.failure) for one in rows)
    counts = [f"{len(rows)} of {ran.planned} cells", f"{ran.computed} computed now"]
    counts += [f"{failed} failed (--retry computes them again)"] if failed else []
    if index.stays(ran, request.out / name):
        kept = f"{request.out / name} has a page of the full tier, which is kept (--out writes to another folder)"
        _say(console, f"{name}: {', '.join(counts)}; {kept}.")
        return int(bool(ran.ended))
    written = page.write(ran, request.out)
    index.write(request.out, [study.name for study in find("all")])
    _say(console, f"{name}: {', '.join(counts)}; the page is {written.path}")
    for claim in written.report.claims:
        _say(console, f"  {claim.verdict}: {claim.text}")
    for trouble in written.troubles:
        _say(console, f"  {trouble}")
    if ran.ended:
        _say(console, f"{name}: it is not finished, because {ran.ended}; run the same command again to go on.")
    return int(bool(ran.ended or written.troubles or (rows and failed == len(rows))))


def show_list(console: Console) -> None:
    """Print all studies: name, title, cells in the quick and the full tier.

    Parameters
    ----------
    console : rich Console
        Where to.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("Study", no_wrap=True)
    table.add_column("What it is")
    table.add_column("Cells:\nquick", justify="right")
    table.add_column("\nfull", justify="right")
    for study in papers.STUDIES.values():
        table.add_row(study.name, Text(study.title), *(str(_size(study, tier)) for tier in ("quick", "full")))
    console.print(table)


def show_agreement(folder: Path, console: Console) -> None:
    """Print how many printed errors are as ours, table by table and together.

    Parameters
    ----------
    folder : path
        The folder of all studies.
    console : rich Console
        Where to.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("Study", no_wrap=True)
    for name in ("printed", "within 2 s.e.", "explained", "unexplained", "missing"):
        table.add_column(name, justify="right")
    found = agreement(folder)
    for one in found:
        table.add_row(one.study, *map(str, (one.printed, one.near, one.explained, one.unexplained, one.missing)))
    console.print(table)
    _say(console, sentence(found[-1]))


def _size(study: Study, tier: str) -> int:
    repeats = study.repeats(tier)
    return sum(len(block.problems) * len(block.methods) * repeats[block.name] for block in study.blocks)


def _say(console: Console, sentence: str) -> None:
    console.print(Text(sentence), soft_wrap=True)
