"""A comparison on the terminal: a table that grows while the boosters are at work, and the last word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isnan
from statistics import fmean

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from boostlab.studies.request import short_name
from boostlab.studies.result import Comparison, Summary
from boostlab.studies.verdict import verdict


def facts(named: Mapping[str, str]) -> Table:
    """Return names and what they stand for, side by side.

    Parameters
    ----------
    named : mapping from str to str
        The facts.

    Returns
    -------
    rich Table
    """
    grid = Table.grid(padding=(0, 2))
    for name, text in named.items():
        grid.add_row(Text(name, "bold"), Text(text))
    return grid


@contextmanager
def live(console: Console) -> Iterator[Callable[[Comparison], None] | None]:
    """Give something to call with the comparison so far, which shows it on the terminal until the block ends.

    Where the output goes to a file, the table is shown on the terminal of the error stream; where there is none, None
    is given and nothing shown.

    Parameters
    ----------
    console : rich Console
        Where the final table will go.

    Yields
    ------
    callable or None
    """
    screen = console if console.is_terminal else Console(stderr=True, highlight=False)
    if not screen.is_terminal:
        yield None
        return
    waiting = Text("Getting ready (the first run on a machine compiles for some seconds) ...")
    # Drawn between fits only: a clock that ticks in another thread would disturb the times in the table.
    with Live(waiting, console=screen, transient=True, auto_refresh=False) as view:
        view.refresh()

        def on_cell(so_far: Comparison) -> None:
            done = Text(f"{len(so_far.cells)} of {so_far.planned} fits; Ctrl-C ends early and keeps what is there.")
            view.update(Group(table(so_far, _sign(screen)), done), refresh=True)

        yield on_cell


def show(console: Console, comparison: Comparison) -> None:
    """Print the table, what it means, what befell single boosters, and who won.

    Parameters
    ----------
    console : rich Console
        Where to.
    comparison : Comparison
        Complete or not.
    """
    for booster, reason in comparison.left_out.items():
        console.print(Text(f"{short_name(booster)} is left out: {reason}."))
    if not comparison.cells:
        why = "Ctrl-C ended it before the first fit." if comparison.interrupted else "Nothing was fitted."
        console.print(Text(why))
        return
    sign = _sign(console)
    console.print(table(comparison, sign))
    if comparison.interrupted:
        done = f"{len(comparison.cells)} of {comparison.planned} fits"
        console.print(Text(f"Ctrl-C ended it after {done}, so not all boosters were tested on the same parts."))
    console.print(
        Text(
            f"Error: mean share of test rows predicted wrongly, in percent, {sign} one standard error over the "
            f"{comparison.folds * comparison.repeats} test parts (a description: they share training rows). "
            "Seconds: mean time of one fit."
        )
    )
    for booster in comparison.boosters:
        for remark in comparison.remarks(booster):
            console.print(Text(f"* {short_name(booster)}: {remark}"))
    console.print()
    for sentence in verdict(comparison):
        console.print(Text(sentence))


def table(comparison: Comparison, sign: str = "±") -> Table:
    """Return the comparison as a table, ranked by the error at the last level of noise.

    Parameters
    ----------
    comparison : Comparison
        Complete or not.
    sign : str, default="±"
        What stands between an error and its standard error.

    Returns
    -------
    rich Table
    """
    levels = comparison.noise[::-1]
    ranks = {level: comparison.ranks(level) for level in levels}
    view = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    view.add_column("Booster", no_wrap=True)
    for level in levels:
        name = f"{100 * level:.3g} % flipped" if level else "clean labels"
        view.add_column("\nRank", justify="right")
        view.add_column(f"{name}\nerror {sign} s.e.", justify="right", no_wrap=True)
    view.add_column("Seconds\na fit", justify="right", no_wrap=True)
    for last in comparison.ranking():
        summaries = [comparison.summary(last.booster, level) for level in levels]
        mark = " *" if comparison.remarks(last.booster) else ""
        cells = [f"{short_name(last.booster)}{mark}"]
        for level, summary in zip(levels, summaries, strict=True):
            cells += [str(ranks[level].get(last.booster, "-")), _error(summary, sign)]
        times = [s.seconds for s in summaries if not isnan(s.seconds)]
        cells.append(f"{fmean(times):.3f}" if times else "")
        view.add_row(*map(Text, cells))
    return view


def _error(summary: Summary, sign: str) -> str:
    if summary.failed:
        return "failed"
    if isnan(summary.error):
        return "..."
    if isnan(summary.standard_error):
        return f"{100 * summary.error:.2f}"
    return f"{100 * summary.error:.2f} {sign} {100 * summary.standard_error:.2f}"


def _sign(console: Console) -> str:
    """Return a plus-minus sign that the stream can write."""
    return "±" if console.encoding.lower().startswith("utf") else "+-"
