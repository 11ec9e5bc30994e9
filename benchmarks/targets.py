"""Every booster beside the fastest peer, at some number of threads:  python benchmarks/targets.py --threads 2 16.

The contenders of a group take turns in one process, so that a noisy minute hurts them alike; each has been fitted once
before, so that nothing is compiled while the clock runs.  A ratio is the fastest peer's median over ours.  On a machine
that others use, `--threads 1 --processor` compares processor seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from contenders import PEERS, Contender  # noqa: E402

from data import Blobs, Normal, Stored  # noqa: E402

PROGRAMS = ("LPBoost", "ERLPBoost", "SoftBoost", "TotalBoost", "RLPBoost", "RQPBoost")  # see corrective.py
RIVALS = ("LightGBM", "XGBoost", "HistGradientBoosting")
LEAST_SECONDS = 0.2  # shorter fits are repeated inside one measurement


@dataclass(frozen=True)
class Group:
    """Contenders that do the same work; `wanted` is the ratio at 2 and at 16 threads, by booster or for all."""

    says: str
    data: Normal | Stored | Blobs
    rounds: int
    leaves: int
    wanted: dict[str, tuple[float, float]]
    work: str = "fit"  # or "predict", "one row"
    rivals: tuple[str, ...] = RIVALS
    all_boosters: bool = False

    @property
    def boosters(self) -> list[str]:
        from boostlab.boosters import REGISTRY

        named = [name.removesuffix("Classifier") for name in REGISTRY]
        return [name for name in named if name not in PROGRAMS] if self.all_boosters else list(self.wanted)


WIDE, LONG, SMALL = Normal(100_000, 50), Normal(1_000_000, 50), Normal(500, 30)
NEWTON = dict.fromkeys(("LogitBoost", "GentleBoost", "L2Boost"), (1.5, 1.2))
LABELS = dict.fromkeys(("AdaBoost", "VadaBoost"), (2.5, 1.5))
CLASSES = {**dict.fromkeys(("LogitBoost", "AdaBoostMH", "AdaBoostM2", "AdaBoostMR"), (1.5, 1.2)), "SAMME": (5.0, 3.0)}

GROUPS: dict[str, Group] = {
    "stumps": Group("100,000 x 50, 100 stumps", WIDE, 100, 2, {"AdaBoost": (8, 6), "*": (2, 2)}, all_boosters=True),
    "stumps-1000": Group("100,000 x 50, 1,000 stumps", WIDE, 1000, 2, {"AdaBoost": (8, 6)}),
    "leaves-8": Group("100,000 x 50, 100 trees of 8 leaves", WIDE, 100, 8, {**LABELS, **NEWTON}),
    "leaves-31": Group("100,000 x 50, 100 trees of 31 leaves", WIDE, 100, 31, {**LABELS, **NEWTON}),
    "million-stumps": Group("1,000,000 x 50, 100 stumps", LONG, 100, 2, {"AdaBoost": (8, 6)}),
    "million-31": Group("1,000,000 x 50, 50 trees of 31 leaves", LONG, 50, 31, {**LABELS, **NEWTON}),
    "classes": Group("50,000 x 30, 10 classes, 50 trees of 8 leaves", Blobs(50_000, 30, 10), 50, 8, CLASSES),
    "small": Group("500 x 30, 1,000 stumps", SMALL, 1000, 2, {"AdaBoost": (4, 4), "LogitBoost": (2, 2)}),
    "predict": Group("predict 100,000 rows, 1,000 stumps", WIDE, 1000, 2, {"AdaBoost": (10, 10)}, "predict"),
    "predict-31": Group(
        "predict 100,000 rows, 300 trees of 31 leaves", WIDE, 300, 31, {"AdaBoost": (1.5, 1.5)}, "predict"
    ),
    "one-row": Group("predict_proba of one row, 100 stumps", WIDE, 100, 2, {"AdaBoost": (1, 1)}, "one row"),
}


@dataclass
class Ours(Contender):
    """A booster of ours by its name."""

    booster: str = "AdaBoost"

    def fit(self, X: Any, y: Any) -> None:
        from boostlab.boosters import REGISTRY

        make = REGISTRY[f"{self.booster}Classifier"].cls
        leaves = None if self.leaves == 2 else self.leaves
        self.model = make(max_leaf_nodes=leaves, n_estimators=self.rounds, n_jobs=self.threads).fit(X, y)


def seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return the time of one piece of work; short ones are repeated."""
    times: list[float] = []
    while sum(times) < LEAST_SECONDS and len(times) < 200:
        start = clock()
        work()
        times.append(clock() - start)
    return statistics.median(times)


def work_of(group: Group, contender: Any, X: Any, y: Any) -> Callable[[], object]:
    """Return what is measured; what comes before it is done here."""
    if group.work == "fit":
        return lambda: contender.fit(X, y)
    contender.fit(X[:10_000], y[:10_000])
    if group.work == "predict":
        return lambda: contender.predict(X)
    row = X[:1].copy()
    return lambda: contender.probabilities(row)


def measure(
    group: Group, threads: int, repeats: int, only: Sequence[str], clock: Callable[[], float] = time.perf_counter
) -> dict[str, dict[str, Any]]:
    """Return the times of all contenders of a group, taken in turns."""
    X, y = group.data.make(small=False)
    names = [name for name in group.boosters if not only or name in only]
    made: dict[str, Contender] = {
        f"boostlab {name}": Ours(group.leaves, group.rounds, threads, booster=name) for name in names
    }
    made.update({name: PEERS[name](group.leaves, group.rounds, threads) for name in group.rivals})
    told: dict[str, dict[str, Any]] = {}
    ready: dict[str, Callable[[], object]] = {}
    for name, contender in made.items():
        try:
            ready[name] = work_of(group, contender, X, y)
            ready[name]()
            told[name] = {"seconds": []}
        except Exception as error:
            told[name] = {"impossible": (str(error).splitlines() or [type(error).__name__])[0]}
            ready.pop(name, None)
    for _ in range(repeats):
        for name, work in ready.items():
            told[name]["seconds"].append(seconds(work, clock))
    for name, contender in made.items():
        if name in ready and name.startswith("boostlab"):
            told[name]["rounds"] = int(contender.model.n_estimators_)
    return told


def show(name: str, group: Group, threads: int, told: dict[str, dict[str, Any]]) -> None:
    """Print one group: medians, spread and ratio to the fastest peer."""
    times = {who: facts["seconds"] for who, facts in told.items() if facts.get("seconds")}
    peers = {who: statistics.median(s) for who, s in times.items() if not who.startswith("boostlab")}
    fastest = min(peers, key=lambda who: peers[who]) if peers else None
    print(f"\n{name}: {group.says}, {threads} threads")
    for who, spent in times.items():
        median = statistics.median(spent)
        line = f"  {who:30} {median:10.5f} s ({min(spent):.5f} to {max(spent):.5f})"
        if who.startswith("boostlab") and fastest is not None:
            booster = who.split()[1]
            pair = group.wanted.get(booster, group.wanted.get("*"))
            least = min(times[fastest]) / max(spent)
            line += f"  ratio {peers[fastest] / median:6.2f} (worst {least:.2f})"
            line += f", wanted {pair[0 if threads < 16 else 1]:g}" if pair else ""
            line += f", {told[who]['rounds']} rounds" if told[who]["rounds"] < group.rounds else ""
        print(line)
    for who, facts in told.items():
        if "impossible" in facts:
            print(f"  {who:30} not possible: {facts['impossible']}")
    sys.stdout.flush()


def main() -> None:
    """Measure the groups that are asked for, one process for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS), metavar="GROUP")
    parser.add_argument("--boosters", nargs="+", default=[], help="only these of ours")
    parser.add_argument("--threads", nargs="+", type=int, default=[2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, default=HERE / "targets.json")
    parser.add_argument("--processor", action="store_true", help="processor seconds, of one thread")
    args = parser.parse_args()
    if args.processor and args.threads != [1]:
        parser.error("--processor needs --threads 1: threads that wait for one another spend processor seconds.")
    if len(args.threads) > 1:  # OpenMP reads its number of threads once
        for threads in args.threads:
            part = [*sys.argv[1:], "--threads", str(threads)]
            env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
            subprocess.run([sys.executable, __file__, *part], env=env, check=True)
        return
    threads = args.threads[0]
    warnings.simplefilter("ignore")
    kept = json.loads(args.json.read_text()) if args.json.is_file() else {}
    for name in args.groups:
        clock = time.process_time if args.processor else time.perf_counter
        told = measure(GROUPS[name], threads, args.repeats, args.boosters, clock)
        show(name, GROUPS[name], threads, told)
        kept.setdefault("processor" if args.processor else str(threads), {}).setdefault(name, {}).update(told)
        args.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
