"""`boostlab predict`: the predictions of a model file for a raw table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostlab.cli.app import app, refuse


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A file that boostlab fit or compare wrote.")],
    table: Annotated[
        Path, typer.Argument(help="A table with the columns of the training table; - for stdin; a pattern for several.")
    ],
    out: Annotated[Path | None, typer.Option(help="The CSV file to write (.gz: gzipped); stdout if left out.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add what every column contributes to the score.")] = False,
    columns: Annotated[
        str, typer.Option(metavar="keep|drop", help="Whether the table's own columns are carried through.")
    ] = "keep",
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; UTF-8 if left out.")] = None,
) -> None:
    """Predict every row of a table with a model file.

    Columns are found by name, in any order; other columns are carried through.  Text and Parquet files are read in
    batches, so a table may be larger than memory.
    """
    from boostlab.deployment.predict import predict as predict_table
    from boostlab.studies.request import RequestError

    try:
        options = {"proba": proba, "explain": explain, "columns": columns, "encoding": encoding}
        count = predict_table(model, table, out, **options)  # type: ignore[arg-type]
    except RequestError as problem:
        refuse(str(problem))
    if out is not None:
        typer.echo(f"{count:,} rows: {out}", err=True)
