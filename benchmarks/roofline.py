"""A round of AdaBoost beside what its additions alone would cost:  python benchmarks/roofline.py --help.

A round with stumps must add one integer a cell, on the rows whose weight changes: those on the smaller side of the cut
(a shift of all scores is the rest of the vote).  The roof is the number of these cells times the cost of one addition
(0.4 ns), shared by the threads.  Measured is a round in a fit of many, less the fit of one.  Writes a JSON file and a
picture beside it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from boostlab import AdaBoostClassifier  # noqa: E402
from data import Normal  # noqa: E402

ADD = 0.4e-9  # seconds
SHAPES = [(500, 30), (5_000, 784), (10_000, 50), (100_000, 10), (100_000, 50), (100_000, 200), (1_000_000, 50)]


def seconds(X: Any, y: Any, rounds: int, threads: int) -> float:
    """Return the time of one fit."""
    start = time.perf_counter()
    AdaBoostClassifier(n_estimators=rounds, n_jobs=threads).fit(X, y)
    return time.perf_counter() - start


def touched(X: Any, y: Any, rounds: int, threads: int) -> float:
    """Return the share of the rows whose weight changes, on average over the rounds."""
    model = AdaBoostClassifier(n_estimators=rounds, n_jobs=threads).fit(X, y)
    above = [np.mean(voter.predict(X) > 0) for voter in model.estimators_]
    return float(np.mean([min(share, 1 - share) for share in above]))


def measured(n: int, d: int, rounds: int, threads: int, repeats: int) -> dict[str, float]:
    """Measure one shape."""
    X, y = Normal(n, d).make(small=False)
    seconds(X, y, min(rounds, 40), threads)  # compiles
    many = [seconds(X, y, rounds + 1, threads) for _ in range(repeats)]
    one = [seconds(X, y, 1, threads) for _ in range(repeats)]
    share = touched(X, y, rounds, threads)
    return {
        "rows": n,
        "columns": d,
        "threads": threads,
        "touched": share,
        "roof": share * n * d * ADD / threads,
        "round": (statistics.median(many) - statistics.median(one)) / rounds,
    }


def draw(path: Path, points: list[dict[str, float]]) -> None:
    """Draw a round's time against its roof."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.2, 4.6), layout="constrained", dpi=130)
    ends = [0.6 * min(p["roof"] for p in points) * 1e3, 2 * max(p["round"] for p in points) * 1e3]
    axis.plot(ends, ends, "k--", lw=1, label="the additions alone, 0.4 ns each")
    for threads, colour in zip(sorted({p["threads"] for p in points}), ("#D55E00", "#0072B2", "#009E73"), strict=False):
        mine = [p for p in points if p["threads"] == threads]
        label = f"{threads:.0f} thread" + ("s" if threads > 1 else "")
        axis.plot([p["roof"] * 1e3 for p in mine], [p["round"] * 1e3 for p in mine], "o", color=colour, label=label)
    for p in (p for p in points if p["threads"] == 1):
        where = (p["roof"] * 1e3, p["round"] * 1e3)
        text = f"{p['rows']:,.0f} × {p['columns']:.0f}"
        axis.annotate(text, where, (6, -9), textcoords="offset points", fontsize=8)
    axis.set(xscale="log", yscale="log", xlabel="roof, ms a round", ylabel="measured, ms a round")
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=HERE / "roofline.json")
    args = parser.parse_args()
    points = []
    for threads in args.threads:
        for n, d in SHAPES:
            points.append(measured(n, d, 10 * args.rounds if n < 1000 else args.rounds, threads, args.repeats))
            p = points[-1]
            ms = 1e3 * p["round"], 1e3 * p["roof"]
            what = f"{n:>9,} x {d:<4} {threads:2} threads"
            print(f"{what}: {ms[0]:8.3f} ms a round, roof {ms[1]:8.3f}, {ms[0] / ms[1]:.2f}x", flush=True)
    args.out.write_text(json.dumps(points, indent=1) + "\n")
    draw(args.out.with_suffix(".png"), points)
    print(f"written to {args.out} and {args.out.with_suffix('.png').name}")


if __name__ == "__main__":
    main()
