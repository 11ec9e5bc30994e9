"""The command line: `boostlab compare`, `boostlab reproduce`, `boostlab list`, `boostlab datasets`.

Only typer is imported at the top, so that `boostlab --help` answers at once; a command imports what it needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from boostlab import __version__

# Plain help: rich's panels would cost a third of the time that `--help` may take.
app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line."""
    app(prog_name="boostlab")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"boostlab {__version__}")
        raise typer.Exit()


@app.callback()
def boostlab(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Boosting algorithms of the AdaBoost line, side by side."""


def _refuse(sentence: str) -> NoReturn:
    """End with a sentence about what the person asked for."""
    typer.echo(f"boostlab: {sentence}", err=True)
    raise typer.Exit(2)


# -- compare ---------------------------------------------------------------------------------------------------------


@app.command()
def compare(
    table: Annotated[
        Path | None,
        typer.Argument(help="A CSV, TSV (either may be gzipped) or Parquet file; a small demo if left out."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column to predict; guessed where there is no doubt.")
    ] = None,
    boosters: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME,...", help="The boosters, or all; a choice for the table if left out."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts of the cross-validation, at least 2.")] = 5,
    repeats: Annotated[
        int | None, typer.Option(help="How often the rows are divided; 2, or 1 for large tables, if left out.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="The largest number of boosting rounds; 200 (demo: 100) if left out.")
    ] = None,
    noise: Annotated[
        float, typer.Option(help="Also compare with this share of the training labels flipped, below 0.5.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the splits, the label noise and the boosters.")] = 0,
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Begin nothing new after this time (compiling not counted): 90s, 5m, 1h."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of workers; one on every core if left out.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page and its plots; TABLE-boosters if left out.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="File that keeps finished cells; cells.sqlite in the --out folder if left out.")
    ] = None,
    drop: Annotated[str | None, typer.Option(metavar="NAME,...", help="Columns to leave out.")] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Columns to use though they look like ids.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; UTF-8 if left out.")] = None,
) -> None:
    """Compare boosters on a table of yours, and recommend one.

    Every booster is tested by nested cross-validation on the same parts of the rows.  The end is a ranking with
    confidence intervals, a recommendation, and a page with plots.  Every finished cell is kept at once: after Ctrl-C,
    or a crash, the same command goes on where it stopped.
    """
    from rich.console import Console

    from boostlab.comparison import command
    from boostlab.studies.request import RequestError

    request = command.CompareOptions(
        *(table, target, boosters, folds, repeats, rounds, noise, seed, budget, jobs, out, store, drop, keep, encoding)
    )
    try:
        code = command.compare(request, Console(highlight=False))
    except RequestError as problem:
        _refuse(str(problem))
    except KeyboardInterrupt:
        typer.echo("Stopped before the first cell.", err=True)
        raise typer.Exit(130) from None
    if code:
        raise typer.Exit(code)


# -- reproduce -------------------------------------------------------------------------------------------------------


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
        typer.Option(metavar="FILE", help="First take over the cells of another store; may be given several times."),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Compute failed cells again.")] = False,
    only_page: Annotated[
        bool, typer.Option("--only-page", help="Compute nothing: make the page of what the store has.")
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
    if quick and repeats is not None:
        _refuse("--quick and --repeats exclude each other; give one of them.")
    asked: str | int = "quick" if quick else "full" if repeats is None else repeats
    request = command.ReproduceOptions(study, asked, jobs, out, store, merge or (), retry, only_page)
    try:
        code = command.reproduce(request, console)
    except RequestError as problem:
        _refuse(str(problem))
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
        _refuse(
            "reproduce needs the papers' studies, which are not part of the package boostlab; install them from the "
            "repository: pip install ./reproductions"
        )
    return command


# -- list ------------------------------------------------------------------------------------------------------------


@app.command("list")
def list_boosters() -> None:
    """List all boosters: origin, own parameters, when to choose them."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from boostlab.boosters import REGISTRY, REGRESSORS

    console = Console(highlight=False)
    for name, entry in sorted((REGISTRY | REGRESSORS).items(), key=lambda one: one[0].casefold()):
        own = ", ".join(f"{key}={value!r}" for key, value in entry.parameters.items())
        console.print(Text(name, "bold"))
        lines = Table.grid(padding=(0, 2))
        lines.add_row("  What it is", Text(entry.summary))
        lines.add_row("  Reference", Text(entry.reference))
        lines.add_row("  Parameters", Text(own or "none of its own"))
        lines.add_row("  Choose it when", Text(entry.choose))
        console.print(lines)
        console.print()
    console.print(
        "Parameters are those that not all boosters share, with their defaults; the others, such as estimator and "
        "n_estimators, are in every docstring."
    )


# -- datasets --------------------------------------------------------------------------------------------------------


@app.command("datasets")
def list_datasets() -> None:
    """List the named data sets: size, and where each was found or how to get it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from boostlab import datasets

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("Set", no_wrap=True)
    for title in ("Rows", "Columns", "Classes"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("Found in")
    table.add_column("Get it from")
    for name in datasets.names():
        known = datasets.facts(name)
        cure = "a file" if known.openml is None else f"OpenML {known.openml}"
        found = datasets.where(name)
        sizes = (f"{known.rows:,}", f"{known.features:,}", f"{len(known.class_counts)}")
        table.add_row(name, *sizes, found.place if found else "-", "" if found else cure)
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    folder = datasets.data_folder()
    console.print(f"The data folder, which BOOSTLAB_DATA names: {folder or 'not set'}")
    console.print(f"The cache, which BOOSTLAB_CACHE can move: {datasets.cache_folder()}")
    console.print("What OpenML has is downloaded by boostlab.datasets.load(name) and by studies that need it.")
