"""The command line: `boostlab compare`, `boostlab reproduce`, `boostlab list`.

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
    boosters: Annotated[
        str | None, typer.Option(metavar="NAME,NAME,...", help="The boosters to compare; all if left out.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts of the cross-validation, at least 2.")] = 5,
    rounds: Annotated[int, typer.Option(help="The largest number of boosting rounds.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the splits, the label noise and the boosters.")] = 0,
    noise: Annotated[
        float, typer.Option(help="Share of the training labels to flip in the noisy column, from 0 to below 0.5.")
    ] = 0.2,
) -> None:
    """Compare boosters on a table that comes with scikit-learn.

    The table is breast_cancer.  Every booster is cross-validated twice on the same splits: with the labels as they are,
    and with some of the training labels flipped; test labels are never touched.  Ctrl-C ends early and shows what is
    there.
    """
    from rich.console import Console
    from sklearn.datasets import load_breast_cancer

    from boostlab.studies import RequestError, terminal
    from boostlab.studies import compare as run
    from boostlab.studies.request import check_request, choose

    data = load_breast_cancer()
    X, y = data.data, data.target
    levels = [0.0, noise] if noise else [0.0]
    try:
        names = choose(None if boosters is None else [name for name in boosters.split(",") if name.strip()])
        check_request(y, folds=folds, repeats=1, rounds=rounds, noise=levels, random_state=seed)
    except RequestError as problem:
        _refuse(str(problem))

    console = Console(highlight=False)
    console.print(
        terminal.facts(
            {
                "Data": f"breast cancer, from scikit-learn: {X.shape[0]} rows, {X.shape[1]} columns, "
                f"{len(data.target_names)} classes",
                "Method": f"{folds}-fold cross-validation, the same splits for all boosters; seed {seed}",
                "Boosters": f"{len(names)}, default settings, at most {rounds} rounds",
                "Noise": f"{100 * noise:.3g} % of the labels flipped in every training part; test labels stay clean"
                if noise
                else "none",
            }
        )
    )
    with terminal.live(console) as on_cell:
        result = run(X, y, names, folds=folds, rounds=rounds, noise=levels, random_state=seed, on_cell=on_cell)
    terminal.show(console, result)
    if result.interrupted:
        raise typer.Exit(130)  # what a shell expects of a command that Ctrl-C ended
    if not result.ranks():
        raise typer.Exit(1)


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

    from boostlab.studies import RequestError
    from boostlab.studies import reproduce as studies

    console = Console(highlight=False)
    if list_studies:
        studies.show_list(console)
        return
    if quick and repeats is not None:
        _refuse("--quick and --repeats exclude each other; give one of them.")
    asked: str | int = "quick" if quick else "full" if repeats is None else repeats
    request = studies.Request(study, asked, jobs, out, store, merge or (), retry, only_page)
    try:
        code = studies.reproduce(request, console)
    except RequestError as problem:
        _refuse(str(problem))
    except KeyboardInterrupt:
        typer.echo("Stopped; what is finished is kept: run the same command again to go on.", err=True)
        raise typer.Exit(130) from None
    if code:
        raise typer.Exit(code)


# -- list ------------------------------------------------------------------------------------------------------------


@app.command("list")
def list_boosters() -> None:
    """List all boosters: origin, own parameters, when to choose them."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from boostlab.estimators import REGISTRY, REGRESSORS

    entries = REGISTRY | REGRESSORS
    table = Table(box=box.SIMPLE_HEAD, show_lines=True, padding=(0, 1))
    table.add_column("Booster and reference", width=max(map(len, entries)))
    table.add_column("Own parameters, defaults", no_wrap=True)
    table.add_column("Choose it when")
    for name, entry in sorted(entries.items()):
        own = "\n".join(f"{key}={value!r}" for key, value in _own_parameters(entry.cls).items())
        title = Text.assemble((name, "bold"), f"\n{entry.reference}")
        table.add_row(title, Text(own or "none"), Text(entry.choose))
    console = Console(highlight=False)
    console.print(table)
    console.print("All boosters share further parameters, such as estimator and n_estimators: see their docstrings.")


def _own_parameters(cls: type) -> dict[str, Any]:
    """Return the parameters that not all boosters have, with their defaults."""
    from inspect import signature

    from boostlab.estimators.base import BoostingClassifier

    shared = signature(BoostingClassifier).parameters
    return {p.name: p.default for p in signature(cls).parameters.values() if p.name not in shared}
