"""Seconds a round of every booster beside AdaBoost's, on one table:  python benchmarks/rounds.py --help.

Every booster has its defaults and stumps.  Boosters and AdaBoost take turns; the figure is the median over the rounds
of all repeats, without the first five.  Boosters that solve a program every round are left out unless they are named.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from boostlab.boosters import REGISTRY
from data import Normal

BASE = "AdaBoostClassifier"
PROGRAMS = [f"{name}Classifier" for name in ("LPBoost", "ERLPBoost", "SoftBoost", "TotalBoost")]  # see corrective.py


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--boosters", nargs="+", default=[n for n in REGISTRY if n not in PROGRAMS])
    args = parser.parse_args()
    X, y = Normal(args.rows, args.columns).make(small=False)
    names = [n if n.endswith("Classifier") else f"{n}Classifier" for n in args.boosters]
    seconds: dict[str, list[float]] = {name: [] for name in {*names, BASE}}
    solves: dict[str, float] = {}
    for repeat in range(args.repeats + 1):  # the first compiles
        for name in dict.fromkeys([BASE, *names]):
            warnings.simplefilter("ignore")
            model = REGISTRY[name].cls(n_estimators=args.rounds, n_jobs=args.threads).fit(X, y)
            if repeat:
                seconds[name].extend(model.history_["seconds"][5:])
            if "evaluations" in model.history_:
                solves[name] = float(np.nanmean(model.history_["evaluations"]))
    base = float(np.median(seconds[BASE]))
    print(f"{args.rows:,} x {args.columns}, stumps, {args.threads} threads; AdaBoost {1e3 * base:.2f} ms a round")
    print(f"{'booster':28} {'ms a round':>10} {'ratio':>7} {'evaluations':>12}")
    for name in sorted(seconds, key=lambda n: np.median(seconds[n]) if seconds[n] else np.inf):
        if seconds[name]:
            ms = 1e3 * float(np.median(seconds[name]))
            asked = f"{solves[name]:.1f}" if name in solves else ""
            print(f"{name.removesuffix('Classifier'):28} {ms:10.2f} {ms / (1e3 * base):7.2f} {asked:>12}")
        else:
            print(f"{name.removesuffix('Classifier'):28} ended before round 6")


if __name__ == "__main__":
    main()
