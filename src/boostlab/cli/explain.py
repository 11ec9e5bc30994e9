"""`boostlab explain` and `boostlab card`: what a model file holds, as a page for the browser and as a model card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostlab.cli.app import app, refuse


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="A file that boostlab fit or compare wrote.")],
    table: Annotated[Path | None, typer.Argument(help="A table to test the model on, with or without targets.")] = None,
    out: Annotated[Path | None, typer.Option(help="The HTML file; MODEL.html if left out.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; UTF-8 if left out.")] = None,
) -> None:
    """Write a page about one model: its columns, importances and shapes, and how it does on a table."""
    from boostlab.deployment.explain import explain as write_page
    from boostlab.studies.request import RequestError

    try:
        path = write_page(model, table, out or model.with_suffix(".html"), encoding)
    except RequestError as problem:
        refuse(str(problem))
    typer.echo(f"The page: {path}")


@app.command()
def card(
    model: Annotated[Path, typer.Argument(help="A file that boostlab fit or compare wrote.")],
    out: Annotated[Path | None, typer.Option(help="The Markdown file; stdout if left out.")] = None,
) -> None:
    """Write a model card: what the model takes, what it was trained on, what it is worth, what to beware of."""
    from boostlab.deployment.card import card as model_card
    from boostlab.studies.request import RequestError

    try:
        text = model_card(model)
        if out is not None:
            out.write_text(text, encoding="utf-8")
    except RequestError as problem:
        refuse(str(problem))
    except OSError as error:
        refuse(f"{out} cannot be written ({(error.strerror or '').lower()}).")
    typer.echo(text if out is None else f"The model card: {out}")
