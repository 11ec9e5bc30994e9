"""Speed, memory, growth and first steps beside the peers, in one run:  make bench,  or  python benchmarks/run.py.

Every measurement has a process of its own.  The contenders of a row take turns (ours, a peer, ..., ours, a peer), so
that a noisy minute hurts them alike.  Nothing is installed: a contender that is not there is reported as not possible.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CalledProcessError

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cold import COLD  # noqa: E402
from contenders import OURS  # noqa: E402
from measure import Impossible, in_a_new_process  # noqa: E402
from works import GROUPS, WORKS, Measurement, Memory, growths  # noqa: E402

from report import (  # noqa: E402
    HEAD,
    Line,
    Runs,
    cold_lines,
    growth_lines,
    machine,
    memory_lines,
    text_of,
    work_lines,
    write_json,
)

SLOW = 20.0  # seconds: what takes longer is measured once

GROWTHS = growths(os.cpu_count() or 1)
ROWS = (*WORKS, *GROWTHS, *COLD)


def progress(text: str) -> None:
    """Say what is measured now: on a terminal in one line, which the table's next row replaces, else line by line."""
    if sys.stderr.isatty():
        print("\r" + text[:79].ljust(79), end="\r" if not text else "", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def in_turns(
    row: str, names: Sequence[str], repeats: int, measure: Callable[[str], Measurement], ours: Sequence[str]
) -> Runs:
    """Measure all names in turn, `repeats` times; if none of ours is possible, do not trouble the others."""
    runs: dict[str, list[Measurement] | str] = {name: [] for name in names}
    for r in range(repeats):
        for name in names:
            done = runs[name]
            if isinstance(done, str) or (done and done[0].get("seconds", 0.0) > SLOW):
                continue
            if name not in ours and all(isinstance(runs[o], str) for o in ours):
                runs[name] = "skipped, for there is nothing to compare it with"
                continue
            progress(f"{row}: run {r + 1} of {repeats}, {name}")
            try:
                done.append(measure(name))
            except (Impossible, CalledProcessError) as error:
                runs[name] = str(error)
    progress("")
    return runs


def lines_of(row: str, repeats: int, threads: int, without: Sequence[str], small: bool) -> Iterator[Line]:
    """Measure one row and yield its lines."""
    if row in WORKS:
        work = WORKS[row].small() if small else WORKS[row]
        names = [who for who in work.contenders if who not in without]
        ours = [who for who in names if who in OURS]
        runs = in_turns(row, names, repeats, lambda who: in_a_new_process(row, who, threads, small), ours)
        yield from memory_lines(row, work, runs) if isinstance(work, Memory) else work_lines(row, work, runs)
        return
    growth = GROWTHS[row].small() if small else GROWTHS[row]

    def step(name: str) -> Measurement:
        alone = growth.steps[int(name)][1].threads
        return in_a_new_process(f"{row}:{name}", "boostlab", alone or threads, small)

    steps = [str(i) for i in range(len(growth.steps))]
    yield from growth_lines(row, growth, in_turns(row, steps, repeats, step, steps))


def cold_start(rows: Sequence[str], repeats: int) -> Iterator[Line]:
    """Measure first steps, in turns too."""
    runs: dict[str, list[float] | str] = {row: [] for row in rows}
    for r in range(repeats):
        for row in rows:
            done, step = runs[row], COLD[row]
            if isinstance(done, str) or (step.most is not None and r >= step.most):
                continue
            progress(f"{row}: run {r + 1} of {repeats}, {step.says}")
            try:
                done.append(step.measure())
            except CalledProcessError as error:
                runs[row] = f"ended with code {error.returncode}"
    progress("")
    yield from cold_lines(COLD, runs)


def chosen(words: Sequence[str]) -> list[str]:
    """Return the rows that some words name, in the table's order."""
    named = {row for row in ROWS for word in words if row == word or row.startswith(GROUPS.get(word, "?"))}
    strange = [word for word in words if word not in ROWS and word not in GROUPS]
    if strange:
        raise SystemExit(f"No such row: {strange[0]}; there are {', '.join(ROWS)}, and {', '.join(GROUPS)} for groups.")
    return [row for row in ROWS if row in named]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), metavar="ROW", help="rows or groups (default: all)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--without", nargs="+", default=[], metavar="WHO", help="contenders to leave out")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it works; conclude nothing")
    parser.add_argument("--json", type=Path, default=HERE / "results.json", help="where to write the measurements")
    parser.add_argument("--chart", type=Path, default=HERE / "results.png", help="where to draw them")
    args = parser.parse_args()
    if args.repeats < 1 or args.threads < 1:
        parser.error("--repeats and --threads must be at least 1")
    rows, lines = chosen(args.rows), list[Line]()
    facts = machine(args.threads)
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    print(f"{facts['cores']} cores, {args.threads} threads, Python {facts['python']}, {versions}")
    if args.small:
        print("Tiny sizes: these numbers mean nothing.")
    print(text_of(HEAD))

    def show(new: Iterator[Line]) -> None:
        for line in new:
            lines.append(line)
            print(text_of(line.cells()), flush=True)
        write_json(args.json, {**facts, "small": args.small, "repeats": args.repeats}, lines)  # kept if it is stopped

    for row in rows:
        if row not in COLD:
            show(lines_of(row, args.repeats, args.threads, args.without, args.small))
    first_steps = [row for row in rows if row in COLD]
    if first_steps:
        show(cold_start(first_steps, args.repeats))
    print(f"The measurements are in {args.json}.")
    try:
        from chart import draw

        if draw(args.chart, lines):
            print(f"The chart is {args.chart}.")
    except ImportError:
        print("There is no chart: matplotlib is not installed (the extra [bench] has it).")


if __name__ == "__main__":
    main()
