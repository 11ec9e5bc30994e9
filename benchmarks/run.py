"""Speed and memory beside the peers, measured in one run:  make bench,  or  python benchmarks/run.py --help."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from workloads import CONTENDERS, WORKS  # noqa: E402


def measured(work: str, who: str, threads: int) -> dict[str, float]:
    """Measure one contender in a process of its own, so that memory and warm-up are its own."""
    command = [sys.executable, str(HERE / "run.py"), "--one", work, who, str(threads)]
    env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(f"{who} failed on {work}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def interleaved(work: str, contenders: list[str], repeats: int, threads: int) -> dict[str, list[dict[str, float]]]:
    """Measure all contenders in turn, `repeats` times, so that a noisy minute hurts them alike; slow ones once."""
    runs: dict[str, list[dict[str, float]]] = {who: [] for who in contenders}
    for r in range(repeats):
        for who in contenders:
            if r and runs[who][0]["seconds"] > 20:
                continue
            print(f"\r{work}: run {r + 1} of {repeats}, {who:<24}", end="", file=sys.stderr, flush=True)
            runs[who].append(measured(work, who, threads))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return runs


def table_of(work: str, runs: dict[str, list[dict[str, float]]]) -> Iterator[str]:
    w = WORKS[work]
    scale = 1.0 if w.unit == "s" else 1e6 / w.rounds
    ours = statistics.median(r["seconds"] for r in runs["boostlab"])
    yield f"{work}: {w.says} (binning included)"
    yield f"  {'':<24}{w.unit + ', median':>16}{'min - max':>18}{'x boostlab':>12}{'peak MB over data':>19}"
    for who, measurements in runs.items():
        seconds = [r["seconds"] for r in measurements]
        spread = f"{min(seconds) * scale:.3g} - {max(seconds) * scale:.3g}"
        middle = statistics.median(seconds)
        peak = max(r["peak_mb"] for r in measurements)
        yield f"  {who:<24}{middle * scale:>16.4g}{spread:>18}{middle / ours:>12.2f}{peak:>19.1f}"


def cold_start() -> dict[str, float]:
    """Return the seconds of a first fit in a new process, with and without the kernel cache, and of the imports."""
    fit = "from boostlab import AdaBoostClassifier as A; A(n_estimators=5).fit([[0.], [1.], [2.], [3.]], [0, 1, 0, 1])"
    clock = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"

    def seconds(code: str, **env: str) -> float:
        command = [sys.executable, "-c", clock.format(code)]
        out = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **env})
        return float(out.stdout)

    with tempfile.TemporaryDirectory() as cache:
        without = seconds(fit, NUMBA_CACHE_DIR=cache)
        with_ = statistics.median(seconds(fit, NUMBA_CACHE_DIR=cache) for _ in range(3))
    return {
        "first fit without kernel cache": without,
        "first fit with kernel cache": with_,
        "import boostlab": statistics.median(seconds("import boostlab") for _ in range(3)),
        "from boostlab import AdaBoostClassifier": statistics.median(
            seconds("from boostlab import AdaBoostClassifier") for _ in range(3)
        ),
        "import sklearn.ensemble": statistics.median(seconds("import sklearn.ensemble") for _ in range(3)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--works", default=",".join([*WORKS, "cold"]), help="rows to measure (default: all)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--without", default="", help="contenders to leave out, separated by commas")
    parser.add_argument("--json", type=Path, default=HERE / "results.json", help="where to write the measurements")
    parser.add_argument("--one", nargs=3, metavar=("WORK", "WHO", "THREADS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        work, who, threads = args.one
        print(json.dumps(WORKS[work].measure(who, int(threads))))
        return
    results: dict[str, object] = {
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()},
        "threads": args.threads,
    }
    for work in args.works.split(","):
        if work == "cold":
            results[work] = cold = cold_start()
            print("Cold start, seconds")
            for name, value in cold.items():
                print(f"  {name:<44}{value:>8.2f}")
            continue
        if work not in WORKS:
            parser.error(f"no such work: {work}; there are {', '.join(WORKS)} and cold")
        contenders = [c for c in WORKS[work].against if c in CONTENDERS and c not in args.without.split(",")]
        runs = interleaved(work, contenders, args.repeats, args.threads)
        results[work] = runs
        print("\n".join(table_of(work, runs)), end="\n\n")
    args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"Measurements are in {args.json}.")


if __name__ == "__main__":
    main()
