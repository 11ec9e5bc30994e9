"""Test error and log loss next to speed:  python benchmarks/accuracy.py --threads 2 --json benchmarks/targets.json.

The contenders of `targets.py` with the same rounds and leaves, each with its default rate, on real sets (the variable
BOOSTLAB_DATA says where they are): a third of the rows, drawn by class, is held out.  Categories are given as their
numbers, to all alike.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from contenders import PEERS, Contender
from targets import HERE, RIVALS, Ours

SETS = ("adult", "spambase", "letter")
BOOSTERS = ("AdaBoost", "VadaBoost", "LogitBoost", "GentleBoost", "L2Boost", "AdaBoostMH", "SAMME")
LEAVES = (2, 8, 31)


def table_of(name: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return the rows to train on, their classes as numbers, and the rows held out with theirs."""
    from sklearn.model_selection import train_test_split

    from boostlab import datasets

    data = datasets.load(name)
    X, y = np.asarray(data.X, float), np.unique(data.y, return_inverse=True)[1]
    train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
    return X[train], y[train], X[test], y[test]


def judged(contender: Contender, split: tuple[Any, Any, Any, Any]) -> dict[str, float]:
    """Return the error in percent, the log loss and the seconds of one contender."""
    from sklearn.metrics import log_loss

    X, y, X_test, y_test = split
    contender.fit(X[: len(X) // 4], y[: len(X) // 4])  # nothing compiles while the clock runs
    start = time.perf_counter()
    contender.fit(X, y)
    found = {"seconds": time.perf_counter() - start}
    P = np.asarray(contender.probabilities(X_test))
    P = np.stack([1 - P, P], axis=1) if P.ndim == 1 else P
    error, loss = np.mean(P.argmax(axis=1) != y_test), log_loss(y_test, P, labels=np.arange(P.shape[1]))
    return {"error": 100 * float(error), "log_loss": float(loss), **found}


def main() -> None:
    """Measure, print one table a set and size of trees, and add it to the JSON of `targets.py`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--leaves", nargs="+", type=int, default=list(LEAVES))
    parser.add_argument("--boosters", nargs="+", default=list(BOOSTERS))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, default=HERE / "targets.json")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = json.loads(args.json.read_text()) if args.json.is_file() else {}
    for name in args.sets:
        splits = [table_of(name, seed) for seed in range(args.seeds)]
        for leaves in args.leaves:
            setting = leaves, args.rounds, args.threads
            made: dict[str, Contender] = {f"boostlab {b}": Ours(*setting, booster=b) for b in args.boosters}
            made |= {peer: PEERS[peer](*setting) for peer in RIVALS}
            print(f"\n{name}, {leaves} leaves, {args.rounds} rounds, {args.seeds} splits: error, log loss, seconds")
            for who, contender in made.items():
                told = [judged(contender, split) for split in splits]
                mean = {what: float(np.mean([t[what] for t in told])) for what in told[0]}
                kept.setdefault("accuracy", {}).setdefault(f"{name}, {leaves} leaves", {})[who] = mean
                shown = f"{mean['error']:6.2f} %  {mean['log_loss']:8.4f}  {mean['seconds']:8.3f} s"
                print(f"  {who:24} {shown}", flush=True)
            args.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
