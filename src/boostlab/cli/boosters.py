"""`boostlab list`: all boosters."""

from __future__ import annotations

from boostlab.cli.app import app


@app.command("list")
def list_boosters() -> None:
    """List all boosters: origin, own parameters, when to choose them."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from boostlab.boosters import REGISTRY, REGRESSORS

    console = Console(highlight=False)
    console.print(Text("AutoBoostClassifier, AutoBoostRegressor", "bold"))
    console.print(
        "  A good model without a question asked: a recipe that needs no tuning, or with budget='5m' the best of a "
        "comparison.\n"
    )
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
