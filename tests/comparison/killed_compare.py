"""A comparison that is killed again and again while it writes its folder; prints what each attempt ended with.

Run as a script of its own, because it forks: attempt k ends itself by SIGKILL at its (3k - 2)-th opening, renaming or
making of something in the folder, every attempt goes on in what the earlier ones left, and the last is let through.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path

from typer.testing import CliRunner

from boostlab.cli import app

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


def attempt(arguments: list[str], moment: int, folder: str) -> int:
    """Return the exit code of a run in a process of its own; negative if it was killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that the child does not need
        child = os.fork()
    if not child:
        kill_at(moment, folder)
        os._exit(CliRunner().invoke(app, ["compare", *arguments]).exit_code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def broken(folder: Path) -> list[str]:
    """Return the files of the page that are not whole."""
    ends = {".png": b"IEND\xaeB`\x82", ".csv": b"\n", ".md": b"\n"}
    found = [path for path in folder.glob("*") if path.suffix in ends]
    return [path.name for path in found if not path.read_bytes().endswith(ends[path.suffix])]


def main(folder: str, *arguments: str) -> None:
    """Kill at the first moment, the fourth and so on, until a run is through."""
    CliRunner().invoke(app, ["compare", *arguments, "--out", "warm"])  # compiles, and draws for the first time
    for moment in range(1, 200, 3):
        code = attempt([*arguments, "--out", folder], moment, folder)
        print(code, *broken(Path(folder)), flush=True)
        if code >= 0:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
