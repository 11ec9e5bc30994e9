"""One measurement in a process of its own, with its own memory and warm-up:  measure.py ROW WHO THREADS SMALL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from works import WORKS, Measurement, Work, growths

HERE = Path(__file__).parent


class Impossible(Exception):
    """Why a contender cannot do a work."""


def find(row: str, small: bool) -> Work:
    """Return a work by its name; a step of a growth is called ROW:STEP."""
    name, _, step = row.partition(":")
    work = growths(os.cpu_count() or 1)[name].steps[int(step)][1] if step else WORKS[name]
    return work.small() if small else work


def in_a_new_process(row: str, who: str, threads: int, small: bool) -> Measurement:
    """Measure, or raise Impossible with the reason."""
    command = [sys.executable, str(HERE / "measure.py"), row, who, str(threads), str(int(small))]
    env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    try:
        said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise Impossible(f"the process ended with code {done.returncode}; it last said: {last}") from None
    if "impossible" in said:
        raise Impossible(said["impossible"])
    return {name: float(value) for name, value in said.items()}


def main() -> None:
    row, who, threads, small = sys.argv[1:]
    warnings.simplefilter("ignore")
    said: dict[str, Any]
    try:
        said = dict(find(row, bool(int(small))).measure(who, int(threads), bool(int(small))))
    except ImportError as error:
        said = {"impossible": f"not installed ({error})"}
    except Exception as error:
        said = {"impossible": (str(error).splitlines() or [type(error).__name__])[0]}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
