"""The application that the commands belong to, and how a request that cannot be answered ends."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from boostlab import __version__

# Plain help: rich's panels would cost a third of the time that `--help` may take.
app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)

# Options that several commands have.
InBatches = Annotated[
    str,
    typer.Option(
        "--in-batches",
        metavar="auto|yes|no",
        help="Whether the file is read in batches and kept at one byte a cell; by its size if left out.",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(help="Folder for the codes of a file that is read in batches; in memory if left out."),
]


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


def refuse(sentence: str) -> NoReturn:
    """End with a sentence about what the person asked for."""
    typer.echo(f"boostlab: {sentence}", err=True)
    raise typer.Exit(2)
