"""The command line, one file a command.

Only typer is imported at the top, so that `boostlab --help` answers at once; a command imports what it needs.
"""

from __future__ import annotations

from boostlab.cli import boosters, compare, datasets, explain, fit, pages, predict, reproduce
from boostlab.cli.app import app

__all__ = ["app", "boosters", "compare", "datasets", "explain", "fit", "main", "pages", "predict", "reproduce"]


def main() -> None:
    """Run the command line."""
    app(prog_name="boostlab")
