"""Test errors of all boosters under label noise, as a table:  python docs/noise_table.py --help.

Every registered booster, and Real AdaBoost, with its defaults (stumps) and one limit on rounds, on five data sets with
0, 10 and 20 percent of the training labels flipped, over random 50/50 splits.  Every finished fit is written to
noise_table.csv at once, and a second run computes only what is missing: stop it whenever you like.  After a change to a
booster delete its lines.
With --no-fits nothing is computed and the page is written from the file as it is, about the boosters in it.
The data come from the folder that the variable BOOSTLAB_DATA names: <name>.csv.gz with a header, the label last.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import platform
import signal
import statistics
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

import boostlab
from boostlab.boosters import REGISTRY
from boostlab.boosters.base import BoostingClassifier
from boostlab.datasets import flip_labels

HERE = Path(__file__).parent
DATA = ("twonorm", "ringnorm", "spambase", "ionosphere", "pima")
NOISE = (0, 10, 20)  # percent
BOOSTERS: dict[str, Any] = {name: entry.cls for name, entry in REGISTRY.items()}
BOOSTERS["RealAdaBoostClassifier"] = partial(boostlab.AdaBoostClassifier, algorithm="real")  # an algorithm of its own

# Stands above the table of all boosters; tests/docs/test_noise_table.py holds it against the numbers.
READING = """\
- No booster is best everywhere. On clean labels most are within a percent of AdaBoost; Real AdaBoost, GentleBoost and
  LogitBoost are ahead on ringnorm, and with L2Boost on ionosphere.
- With 10 and 20 % of the labels flipped RQP-Boost is the best on twonorm and pima, L2Boost on ringnorm and ionosphere;
  on spambase it is MadaBoost with 10 % and RQP-Boost with 20 %. MadaBoost and FilterBoost are ahead of AdaBoost in all
  of these columns but the last of ionosphere, most of the time by far. So is VadaBoost, by less, and WeightBoost in all
  of them. Real AdaBoost, GentleBoost and LogitBoost suffer more than AdaBoost on twonorm, spambase and pima.
- The best mean rank over all columns is L2Boost's, before RQP-Boost's, FilterBoost's and MadaBoost's, which are nearly
  equal. L2Boost takes small steps by default (its learning rate is 0.1) and AdaBoost whole ones: a part of the
  difference is the step, see [noisy labels](noisy_labels.md).
- RQP-Boost, which weighs AdaBoost's voters anew with a price on large weights, is behind AdaBoost on clean ringnorm and
  spambase and no better on ringnorm with 10 %; elsewhere it is level or ahead.
- RLP-Boost has nu = 0.1 by default, no more than the share of wrong labels. On twonorm, ringnorm and spambase it then
  errs on 30 % and more, as it does on pima; in four fits that were looked at, the largest soft margin was below zero.
  Choose nu above the share of wrong labels ([totally corrective](totally_corrective.md)).
- BrownBoost and RobustBoost are told to settle for 10 % of errors. On clean labels that is too many, and RobustBoost,
  which gives rows up at once, is the last or nearly the last on all but pima; with 20 % flipped it is too few, and
  300 rounds do not use up their time. Their target belongs to the data.
- Boost by majority plans for 299 voters with an edge of 0.1 each. Only ionosphere has them; elsewhere it ends with
  `assumption_violated` and is among the last with noise.
- QuadBoost is ahead of AdaBoost on twonorm, ringnorm and spambase with noise, but among the last on ionosphere.
  SoftMarginBoost is ahead of AdaBoost with noise on all but ringnorm.
- L1Boost's default price (beta = 0.05) suits pima, where it is the best with clean labels and the second with noise. It
  is far too high for ringnorm: it ends early and errs nearly twice as often as AdaBoost. Choose beta by validation.
- AR-Boost with exact stumps and its default rho = 2 alternates between a stump and its complement (on all but
  ionosphere) and can end worse than chance. Do not use it so:
  [AR-Boost, and errors above one half](adaptive_regularised.md#ar-boost-and-errors-above-one-half) says when to use it.
- LPBoost is not measured on twonorm, ringnorm and spambase, where a fit takes minutes, and has no rank therefore. With
  its default nu = 0.1 it is the last or nearly the last on the other two. ERLPBoost, SoftBoost and TotalBoost are not
  measured; [totally corrective](totally_corrective.md) has their times.
- SAMME, AdaBoost.M1, MH and MR are not measured: they are for [several classes](multiclass.md), and with two they are
  AdaBoost, all but MH over stumps whose leaves are free.

"""


class Job(NamedTuple):
    """One fit: what identifies a line of the CSV file."""

    booster: str
    data: str
    noise: int
    split: int
    limit: int  # on rounds


class Line(NamedTuple):
    """What came of it."""

    error: float
    rounds: int
    seconds: float
    stop: str


# -- one fit -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the table and the labels (0 and 1) of a data set."""
    folder = os.environ.get("BOOSTLAB_DATA")
    if not folder:
        raise SystemExit("Set BOOSTLAB_DATA to the folder that holds the data sets, one <name>.csv.gz each.")
    path = Path(folder) / f"{name}.csv.gz"
    if not path.exists():
        raise SystemExit(f"{path} is not there; choose other data sets with --data, or another folder.")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    X = np.array([[float(v) if v else np.nan for v in row[:-1]] for row in rows])
    return X, np.unique([row[-1] for row in rows], return_inverse=True)[1]


def fit(job: Job) -> Line:
    """Train on one half of the data with flipped labels, test on the other half with true ones."""
    X, y = read(job.data)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.5, random_state=job.split)
    y_train = flip_labels(y_train, job.noise / 100, random_state=job.split)  # more noise: the same flips and some more
    model: Any = BOOSTERS[job.booster](n_estimators=job.limit, random_state=job.split, n_jobs=1)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # why training ended is kept
        model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    stop = model.stop_reason_.split(":")[0]
    if stop == "interrupted":  # half a model is no result
        raise KeyboardInterrupt
    return Line(float(np.mean(model.predict(X_test) != y_test)), model.n_estimators_, round(seconds, 4), stop)


# -- the CSV file ------------------------------------------------------------------------------------------------------


class Store:
    """Finished fits, one line each; a line that was torn by a crash is dropped when the file is opened."""

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, {}
        names = [*Job._fields, *Line._fields]
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for row in csv.reader(line for line in text.splitlines(keepends=True)[1:] if line.endswith("\n")):
            try:
                b, d, noise, split, limit, error, rounds, seconds, stop = row
                job, line = Job(b, d, int(noise), int(split), int(limit)), (float(error), int(rounds), float(seconds))
            except ValueError:
                continue
            self.lines[job] = Line(*line, stop)
        whole = "".join(",".join(map(str, row)) + "\n" for row in [names, *([*j, *r] for j, r in self.lines.items())])
        if text != whole:
            path.with_suffix(".tmp").write_text(whole, encoding="utf-8")
            path.with_suffix(".tmp").replace(path)

    def add(self, job: Job, line: Line) -> None:
        """Keep a finished fit."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(",".join(map(str, (*job, *line))) + "\n")
        self.lines[job] = line


def compute(jobs: Sequence[Job], store: Store, processes: int) -> int:
    """Do the jobs, in processes of their own, and return how many failed."""
    todo, failed, start = [job for job in jobs if job not in store.lines], 0, time.perf_counter()
    print(f"{len(jobs) - len(todo)} of {len(jobs)} fits are done already; {len(todo)} to go", file=sys.stderr)
    if not todo:
        return 0
    quiet = (signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business: it lets the running fits end
    with ProcessPoolExecutor(processes, get_context("spawn"), signal.signal, quiet) as pool:
        futures: dict[Future[Line], Job] = {pool.submit(fit, job): job for job in todo}
        try:
            for done, future in enumerate(as_completed(futures), 1):
                job = futures[future]
                left = (time.perf_counter() - start) / done * (len(todo) - done)
                at = f"{job.booster} on {job.data}, {job.noise} %, split {job.split}"
                try:
                    store.add(job, future.result())
                except Exception as problem:
                    failed += 1
                    print(f"\n{at} failed: {type(problem).__name__}: {problem}", file=sys.stderr)
                report = f"{done}/{len(todo)}  {at}  about {left / 60:.0f} min left"
                if sys.stderr.isatty():
                    print(f"\r{report}\033[K", end="", file=sys.stderr, flush=True)
                elif done % 25 == 0 or done == len(todo):  # a log file
                    print(report, file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print("\nstopped; run it again to go on", file=sys.stderr)
            raise SystemExit(130) from None
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return failed


# -- the table ---------------------------------------------------------------------------------------------------------


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return statistics.fmean(values), error


def table(jobs: Iterable[Job], store: Store) -> str:
    """Return the table in Markdown; a cell appears when all its splits are done."""
    cells: dict[tuple[str, str, int], list[Line | None]] = defaultdict(list)
    splits = 0
    for job in jobs:
        cells[job.booster, job.data, job.noise].append(store.lines.get(job))
        splits, limit = max(splits, job.split + 1), job.limit
    columns = list(dict.fromkeys((d, noise) for _, d, noise in cells))
    boosters = list(dict.fromkeys(b for b, _, _ in cells))
    done = {k: [line for line in lines if line] for k, lines in cells.items() if all(lines)}
    means = {k: mean_and_error([100 * line.error for line in lines]) for k, lines in done.items()}
    best = {c: min((means[b, *c][0] for b in boosters if (b, *c) in means), default=None) for c in columns}

    def cell(b: str, c: tuple[str, int]) -> str:
        if (b, *c) not in means:
            return "–"
        mean, error = means[b, *c]
        own_end: Any = REGISTRY[b].cls if b in REGISTRY else BoostingClassifier
        cut = own_end.n_estimators > BoostingClassifier.n_estimators and any(
            line.stop == "max_rounds" for line in done[b, *c]
        )
        text = f"{mean:.1f} ± {error:.1f}" + ("†" if cut else "")
        return f"**{text}**" if mean == best[c] else text

    ranks = mean_ranks(boosters, columns, {k: mean for k, (mean, _) in means.items()})
    head = ["booster", *(f"{d} {noise} %" for d, noise in columns), "mean rank"]
    lines = [head, ["---"] * len(head)]
    lines += [[b.removesuffix("Classifier"), *(cell(b, c) for c in columns), ranks.get(b, "–")] for b in boosters]
    about = (
        "# Label noise\n\n"
        f"Test error in percent: mean ± standard error over {splits} random 50/50 splits, with a share of the training "
        "labels\nflipped (the column's percentage; test labels are clean). Every booster has its default parameters, "
        f"stumps and at most\n{limit} rounds. **Bold** is the smallest mean of a column. † marks boosters that end by "
        "themselves and were cut off by\nthe limit in at least one split. The splits overlap, so the standard errors "
        "are too small for tests of significance.\nMean rank: among the boosters that are measured in all columns, 1 "
        "is best. – is not measured.\n`python docs/noise_table.py` makes this page and "
        "[noise_table.csv](noise_table.csv), which has every fit.\n\n"
    )
    if {job.booster for job in store.lines} <= set(boosters) and {d for d, _ in columns} == set(DATA):
        about += "What it says:\n\n" + READING
    made = f"\nMade by boostlab {boostlab.__version__}, NumPy {np.__version__}, Python {platform.python_version()}.\n"
    return about + "".join(f"| {' | '.join(line)} |\n" for line in lines) + made


def mean_ranks(boosters: list[str], columns: list[Any], means: dict[Any, float]) -> dict[str, str]:
    """Return the mean ranks of the boosters that have a value in all columns, among themselves; ties share a rank."""
    from scipy.stats import rankdata

    whole = [b for b in boosters if all((b, *c) in means for c in columns)]
    if not whole:
        return {}
    ranks = np.mean([rankdata([round(means[b, *c], 9) for b in whole]) for c in columns], axis=0)
    return {b: f"{r:.1f}" for b, r in zip(whole, ranks, strict=True)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boosters", nargs="+", metavar="NAME", help="some boosters only, with or without Classifier")
    parser.add_argument("--data", nargs="+", default=list(DATA), metavar="NAME", help="some data sets only")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-fits", action="store_true", help="only write the page, from the fits that are there")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of noise_table.csv and noise_table.md")
    asked = parser.parse_args(arguments)
    names = {name.lower().removesuffix("classifier"): name for name in BOOSTERS}
    store = Store(asked.out / "noise_table.csv")
    measured = {job.booster for job in store.lines}
    default = [name for name in BOOSTERS if name in measured] if asked.no_fits else BOOSTERS
    chosen = [n.lower().removesuffix("classifier") for n in asked.boosters or default]
    if unknown := [n for n in chosen if n not in names]:
        parser.error(f"there is no booster {unknown[0]!r}; choose from {', '.join(BOOSTERS)}")
    if not asked.no_fits:
        for name in asked.data:
            read(name)
    parts = sorted(names[n] for n in chosen), asked.data, NOISE, range(asked.splits)
    jobs = [
        Job(b, d, noise, k, asked.rounds) for b in parts[0] for d in parts[1] for noise in parts[2] for k in parts[3]
    ]
    failed = 0 if asked.no_fits else compute(jobs, store, asked.processes)
    (asked.out / "noise_table.md").write_text(table(jobs, store), encoding="utf-8")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
