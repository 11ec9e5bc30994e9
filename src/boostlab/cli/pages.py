"""`boostlab pages`: the studies for the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostlab.cli.app import app, refuse


@app.command()
def pages(
    folder: Annotated[Path, typer.Argument(help="Folder of the studies.")] = Path("studies"),
) -> None:
    """Make pages for the browser of the studies in a folder; nothing is computed."""
    from boostlab.studies.browser import write_pages
    from boostlab.studies.request import RequestError

    try:
        index = write_pages(folder)
    except RequestError as problem:
        refuse(str(problem))
    typer.echo(f"Open this in a browser: {index}")
