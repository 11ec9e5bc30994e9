"""`boostlab fit`: one model of a table, in a file that takes raw tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostlab.cli.app import Cache, InBatches, app, refuse


@app.command()
def fit(
    table: Annotated[
        Path,
        typer.Argument(help="A CSV, TSV (gzipped or not), Excel or Parquet file; - for stdin; a pattern for several."),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column to predict; guessed where there is no doubt.")
    ] = None,
    booster: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which booster; chosen by AutoBoost if left out.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the booster; may be given several times."),
    ] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Let AutoBoost choose, which is what happens anyway.")] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Let AutoBoost compare boosters for so long: 90s, 5m, 1h.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The model file.")] = Path("model.boost"),
    drop: Annotated[str | None, typer.Option(metavar="NAME,...", help="Columns to leave out.")] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Columns to use though they look like ids.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; UTF-8 if left out.")] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="What --budget tunes and ranks by; as for compare.")
    ] = None,
    text: Annotated[
        str, typer.Option(metavar="yes|no", help="Whether columns of sentences are used, by length and words.")
    ] = "yes",
    seed: Annotated[int, typer.Option(help="Seed of the booster and its hold-out.")] = 0,
    in_batches: InBatches = "auto",
    cache: Cache = None,
) -> None:
    """Fit one model to a table, and write it with the recipe of the table.

    The file holds how every column is read, so that `boostlab predict` takes raw tables again: columns by name, in any
    order, with the same dates, units and categories.  Nothing in it is executed.  CSV and Parquet files larger than a
    share of memory, and files of a pattern, are read in batches; the model is the same.
    """
    from rich.console import Console

    from boostlab.comparison.command import words, yes_or_no
    from boostlab.deployment.fit import FitOptions
    from boostlab.deployment.fit import fit as fit_model
    from boostlab.studies.request import RequestError

    try:
        if auto and booster is not None:
            raise RequestError("--auto lets AutoBoost choose, and --booster names one; give one of them.")
        request = FitOptions(
            *(table, target, booster, settings or (), budget, out, words(drop or ""), words(keep or ""), encoding),
            *(metric, yes_or_no("--text", text), seed, in_batches, cache),
        )
        fit_model(request, Console(highlight=False))
    except RequestError as problem:
        refuse(str(problem))
