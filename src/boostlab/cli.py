"""The command line: `boostlab compare`, `boostlab list`.

Only typer is imported at the top, so that `boostlab --help` answers at once; a command imports what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from boostlab import __version__

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from boostlab.studies import Comparison

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
    """Compare boosters on the breast cancer data that come with scikit-learn.

    Every booster is cross-validated twice on the same splits: with the labels as they are, and with some of the training
    labels flipped.  Test labels are never touched.  Ctrl-C ends early and shows what there is.
    """
    from rich.console import Console
    from sklearn.datasets import load_breast_cancer

    from boostlab.studies import RequestError, verdict
    from boostlab.studies import compare as run
    from boostlab.studies.choice import choose

    console = Console(highlight=False)
    data = load_breast_cancer()
    try:
        names = choose(None if boosters is None else [name for name in boosters.split(",") if name.strip()])
        with _Screen(console) as screen:
            result = run(
                data.data,
                data.target,
                names,
                folds=folds,
                rounds=rounds,
                noise=[0.0, noise] if noise else [0.0],
                random_state=seed,
                on_cell=screen.show,
            )
    except RequestError as problem:
        _refuse(str(problem))
