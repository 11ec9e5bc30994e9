"""`boostlab datasets`: the named data sets."""

from __future__ import annotations

from boostlab.cli.app import app


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
