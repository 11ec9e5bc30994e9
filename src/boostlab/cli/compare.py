"""`boostlab compare`: boosters side by side on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostlab.cli.app import Cache, InBatches, app, refuse


@app.command()
def compare(
    table: Annotated[
        Path | None,
        typer.Argument(help="A CSV, TSV (gzipped or not), Excel or Parquet file, - for stdin; a demo if left out."),
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
        typer.Option(metavar="TIME", help="How long it may take, report and all: 90s, 5m, 1h."),
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
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What to tune and rank by: error, log_loss, roc_auc, average_precision, balanced_error, f1, brier; "
            "squared_error or absolute_error to predict a number; what fits the target if left out.",
        ),
    ] = None,
    with_peers: Annotated[
        str, typer.Option("--with-peers", metavar="yes|no", help="Whether yardsticks of other libraries take part.")
    ] = "yes",
    text: Annotated[
        str, typer.Option(metavar="yes|no", help="Whether columns of sentences are used, by length and words.")
    ] = "yes",
    max_rows: Annotated[
        int, typer.Option(help="Of a larger table so many rows are compared on; the model is fitted to all.")
    ] = 100_000,
    in_batches: InBatches = "auto",
    cache: Cache = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Scheduler of a Dask cluster that computes, such as tcp://host:8786."),
    ] = None,
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
        *(table, target, boosters, folds, repeats, rounds, noise, seed, budget, jobs, out, store, drop, keep, encoding),
        *(metric, with_peers, text, max_rows, in_batches, cache, dask),
    )
    try:
        code = command.compare(request, Console(highlight=False))
    except RequestError as problem:
        refuse(str(problem))
    except KeyboardInterrupt:
        typer.echo("Stopped before the first cell.", err=True)
        raise typer.Exit(130) from None
    if code:
        raise typer.Exit(code)
