"""`boostlab reproduce`: the papers' studies, which are a package of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from boostlab.cli.app import app, refuse


@app.command()
def reproduce(
    study: Annotated[str | None, typer.Argument(help="Name of a study, or all; see --list.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few repeats instead of the paper's number.")] = False,
    repeats: Annotated[int | None, typer.Option(help="So many repeats instead.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of workers; one on every core if left out.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for pages, tables and figures.")] = Path("studies"),
    store: Annotated[
        Path | None, typer.Option(help="File that keeps finished cells; cells.sqlite in the --out folder if left out.")
    ] = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="First take over the cells of another store, or of the cells.csv.gz of a page; may be given several "
            "times.",
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Compute failed cells again.")] = False,
    only_page: Annotated[
        bool, typer.Option("--only-page", help="Compute nothing: make the page of what the store has.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Print how many printed errors are as those of the pages, and exit.")
    ] = False,
    list_studies: Annotated[bool, typer.Option("--list", help="List the studies and exit.")] = False,
) -> None:
    """Repeat a study of a paper with its protocol, and write a page that compares.

    Every finished cell is kept in the store at once: after Ctrl-C, or a crash, the same command goes on where it
    stopped.  The data sets are looked for in the folder that BOOSTLAB_DATA names.
    """
    from rich.console import Console

    from boostlab.studies.request import RequestError

    command = _reproductions()
    console = Console(highlight=False)
    if list_studies:
        command.show_list(console)
        return
    if agreement:
        command.show_agreement(out, console)
        return
    if quick and repeats is not None:
        refuse("--quick and --repeats exclude each other; give one of them.")
    asked: str | int = "quick" if quick else "full" if repeats is None else repeats
    request = command.ReproduceOptions(study, asked, jobs, out, store, merge or (), retry, only_page)
    try:
        code = command.reproduce(request, console)
    except RequestError as problem:
        refuse(str(problem))
    except KeyboardInterrupt:
        typer.echo("Stopped; what is finished is kept: run the same command again to go on.", err=True)
        raise typer.Exit(130) from None
    if code:
        raise typer.Exit(code)


def _reproductions() -> Any:
    """Return the command of the papers' studies, which are a package of their own beside boostlab."""
    try:
        from boostlab_reproductions import command
    except ModuleNotFoundError as missing:
        if missing.name != "boostlab_reproductions":
            raise
        refuse(
            "reproduce needs the papers' studies, which are not part of the package boostlab; install them from the "
            "repository: pip install ./reproductions"
        )
    return command
