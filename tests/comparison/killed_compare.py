"""Comparisons that are killed while they write their folder, or stopped between cells; prints what became of them.

Run as a script of its own, because it forks: importing all libraries anew would cost more than the comparisons.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner

from boostlab.cli import app
from boostlab.cli import main as command
from boostlab.studies.store import Saved, Store

MOMENTS = ("open", "os.rename", "os.remove", "os.mkdir", "sqlite3.connect")


def kill_at(moment: int, folder: str) -> None:
    """Let this process die at such a moment."""
    left = moment

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in MOMENTS and folder in str(arguments[0]):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def forked(work: Callable[[], int]) -> int:
    """Return the number of a process that does some work and ends with the code it returns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that the child does not need
        child = os.fork()
    if not child:
        os._exit(work())
    return child


def ended(child: int) -> int:
    """Return the exit code of a process; negative if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(arguments: list[str]) -> int:
    """Return the exit code of a comparison in this process."""
    return CliRunner().invoke(app, ["compare", *arguments]).exit_code


def attempt(arguments: list[str], moment: int, folder: str) -> int:
    """Return the exit code of a run that is to die at such a moment."""

    def work() -> int:
        kill_at(moment, folder)
        return run(arguments)

    return ended(forked(work))


def broken(folder: Path) -> list[str]:
    """Return the files of the page that are not whole."""
    ends = {".png": b"IEND\xaeB`\x82", ".csv": b"\n", ".md": b"\n"}
    found = [path for path in folder.glob("*") if path.suffix in ends]
    return [path.name for path in found if not path.read_bytes().endswith(ends[path.suffix])]


def killed(folder: str, arguments: list[str]) -> list[list[object]]:
    """Kill at the first moment, the fourth and so on, each time in what the earlier ones left, until a run is through.

    Returns the exit code of each, and the files that were not whole after it.
    """
    attempts: list[list[object]] = []
    for moment in range(1, 200, 3):
        code = attempt([*arguments, "--out", folder], moment, folder)
        attempts.append([code, *broken(Path(folder))])
        if code >= 0:
            break
    return attempts


def cells(folder: Path) -> list[Saved]:
    """Return the cells that are finished."""
    path = folder / "cells.sqlite"
    if not path.exists():
        return []
    with Store(path) as store:
        return store.after(0)


def as_from_the_shell(arguments: list[str], said: Path) -> int:
    """Run the command as its entry point does, and write what it says to files."""
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(said.with_suffix(f".{name}"), os.O_WRONLY | os.O_CREAT), stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["boostlab", "compare", *arguments]
    try:
        command()
    except SystemExit as end:
        sys.stdout.flush()
        return int(end.code or 0)
    return 0


def stopped(how: signal.Signals, arguments: list[str]) -> dict[str, object]:
    """Send a signal after two cells; return the exit code, what was said and written, and the run of every cell before
    and after the same command goes on.
    """
    folder, limit = Path(how.name), time.monotonic() + 120
    arguments = [*arguments, "--out", folder.name]
    child = forked(lambda: as_from_the_shell(arguments, Path(f"said-{how.name}")))
    while len(cells(folder)) < 2:
        assert time.monotonic() < limit
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.02)
    os.kill(child, how)
    code, kept = ended(child), [one.run for one in cells(folder)]
    out, err = (Path(f"said-{how.name}.{name}").read_text() for name in ("out", "err"))
    page = folder / "report.html"
    report = page.read_text(encoding="utf-8") if page.exists() else ""
    models = [path.name for path in folder.glob("*.boost")]
    again = run(arguments)
    after = [one.run for one in cells(folder)]
    told = {"out": out, "err": err, "report": report, "models": models}
    return {"code": code, "kept": kept, "again": again, "after": after, **told}


def main(table: str, small: str, longer: str) -> None:
    """Print what became of small comparisons of a table that are killed, and of longer ones that are stopped."""
    brief, full = [table, *small.split()], [table, *longer.split()]
    run([*brief, "--out", "warm"])  # compiles, and draws for the first time
    found = {how.name: stopped(how, full) for how in (signal.SIGINT, signal.SIGKILL)}
    print(json.dumps({"attempts": killed("killed", brief), **found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
