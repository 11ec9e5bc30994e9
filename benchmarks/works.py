"""The rows of the benchmark: one small object each."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from contenders import CONTENDERS
from peak import PeakMemory

from data import Normal, Stored, n_bytes, n_values

Measurement = dict[str, float]

GRADIENT_BOOSTERS = ("LightGBM", "XGBoost", "HistGradientBoosting")
CELL, ROW = 1.3, 40.0  # bytes a cell and a row that a fit may use at its peak


@dataclass(frozen=True)
class Work:
    """Something to fit or predict, and who is to do it; the first contender is ours."""

    says: str
    data: Normal | Stored
    rounds: int
    leaves: int = 2
    against: tuple[str, ...] = GRADIENT_BOOSTERS
    ours: tuple[str, ...] = ("boostlab",)
    also: tuple[str, ...] = ()  # measured, but no measure
    target: float | None = None  # how many times faster than the fastest peer of `against`
    unit: str = "s"  # or "us a round", "ms"
    threads: int | None = None  # None is what the command line says
    repeats: int = 1  # inside one process, where one run is short

    warm_rows: ClassVar[int | None] = None  # of the table, for the warm-up; None is all

    @property
    def contenders(self) -> tuple[str, ...]:
        return (*self.ours, *self.against, *self.also)

    @property
    def scale(self) -> float:
        """What seconds are multiplied by to be in the unit."""
        return {"s": 1.0, "ms": 1e3, "us a round": 1e6 / self.rounds}[self.unit]

    def small(self) -> Work:
        """Return the same with fewer rounds, to see that it works."""
        return replace(self, rounds=max(5, self.rounds // 20))

    def measure(self, who: str, threads: int, small: bool) -> Measurement:
        """Return what one contender needs, in this process: seconds, bytes above the table, and the table's size."""
        make = CONTENDERS[who]
        contender = make(self.leaves, self.rounds, threads)
        X, y = self.data.make(small)
        X = contender.prepare(X)
        # Rounds after which every kernel has been met: a whole run where runs are short, for some are met late.
        warm = self.rounds if self.repeats > 1 else min(self.rounds, 40)
        make(self.leaves, warm, threads).fit(X[: self.warm_rows], y[: self.warm_rows])
        facts = {"rows": float(X.shape[0]), "values": float(n_values(X)), "input_bytes": float(n_bytes(X))}
        facts["cells"] = float(X.shape[0] * X.shape[1])
        return {**self._measured(contender, X, y), **facts}

    def _measured(self, contender: Any, X: Any, y: Any) -> Measurement:
        return {"seconds": _seconds(lambda: contender.fit(X, y), self.repeats)}


class Predict(Work):
    """Scores of all rows; the fit is not measured, and needs no more than some of them."""

    def _measured(self, contender: Any, X: Any, y: Any) -> Measurement:
        contender.fit(X[:10_000], y[:10_000])
        contender.predict(X[:100])
        return {"seconds": _seconds(lambda: contender.predict(X), self.repeats)}


class Memory(Work):
    """The peak of memory above the table; the target is in multiples of what is allowed."""

    warm_rows = 2000  # so that the peak is not served from memory that the warm-up left

    def _measured(self, contender: Any, X: Any, y: Any) -> Measurement:
        with PeakMemory() as peak:
            contender.fit(X, y)
        return {"peak_bytes": float(peak.bytes)}


def _seconds(work: Any, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@dataclass(frozen=True)
class Growth:
    """Works of growing size, each `factor` times the last one; their cost should grow no faster."""

    says: str
    along: str  # what grows
    steps: tuple[tuple[float, Work], ...]  # the size, and the work
    factor: float | None = 10.0  # None: the steps share one work among more threads
    speedup: tuple[float, float] | None = None  # so many times faster on so many threads

    def small(self) -> Growth:
        """Return the same with fewer rounds."""
        return replace(self, steps=tuple((size, work.small()) for size, work in self.steps))


W8A = Stored("w8a.svm.gz", 300)
SPARSE = ("boostlab", "boostlab, dense")


def _stumps(n: int, d: int, rounds: int, threads: int | None = None) -> Work:
    return Work(f"stumps, {n:,} x {d}, {rounds:,} rounds", Normal(n, d), rounds, against=(), threads=threads)


WORKS: dict[str, Work] = {
    "W1": Work(
        "stumps, 100,000 x 50, 100 rounds", Normal(100_000, 50), 100, also=("scikit-learn AdaBoost",), target=5.0
    ),
    "W2": Work(
        "stumps, 500 x 30, 1,000 rounds",
        Normal(500, 30),
        1000,
        against=("LightGBM",),
        also=("XGBoost", "HistGradientBoosting"),
        target=4.0,
        unit="us a round",
        repeats=3,
    ),
    "W3": Work("trees of 8 leaves, 100,000 x 50, 100 rounds", Normal(100_000, 50), 100, leaves=8, target=1.5),
    "W4": Work("stumps, 5,000 x 784, 200 rounds", Normal(5_000, 784), 200, target=4.0),
    "W5": Work("stumps, 100,000 x 50, 1,000 rounds", Normal(100_000, 50), 1000, target=4.0),
    "W6": Predict(
        "predict 100,000 rows, 1,000 stumps",
        Normal(100_000, 50),
        1000,
        against=("XGBoost",),
        also=("LightGBM",),
        target=5.0,
        unit="ms",
        repeats=7,
    ),
    "W7": Work("sparse w8a, 49,749 x 300, 200 stumps", W8A, 200, ours=SPARSE, target=3.0),
    "W8": Work(
        "SAMME, letter, 16,000 x 16, 26 classes, trees of 8 leaves, 100 rounds",
        Stored("letter.csv.gz", 16, "train"),
        100,
        leaves=8,
        against=("scikit-learn AdaBoost",),
        target=30.0,
    ),
    "M1": Memory("memory, 100,000 x 50", Normal(100_000, 50), 20, target=1.0),
    "M2": Memory("memory, 1,000,000 x 50", Normal(1_000_000, 50), 20, target=1.0),
    "M3": Memory("memory, sparse w8a, 49,749 x 300", W8A, 20, ours=SPARSE),
}


def growths(cores: int) -> dict[str, Growth]:
    """Return how cost should grow; threads go up to the cores of this machine."""
    threads = sorted({*(2**k for k in range(10) if 2**k < cores), cores})
    return {
        "S1": Growth(
            "stumps, x 50, 100 rounds", "rows", tuple((n, _stumps(n, 50, 100)) for n in (10_000, 100_000, 1_000_000))
        ),
        "S2": Growth(
            "stumps, 100,000 x, 100 rounds", "features", tuple((d, _stumps(100_000, d, 100)) for d in (10, 100))
        ),
        "S3": Growth(
            "stumps, 100,000 x 50", "rounds", tuple((t, _stumps(100_000, 50, t)) for t in (100, 1000, 10_000))
        ),
        "S4": Growth(
            "stumps, 1,000,000 x 100, 100 rounds",
            "threads",
            tuple((k, _stumps(1_000_000, 100, 100, threads=k)) for k in threads),
            factor=None,
            speedup=(8.0, 16.0),
        ),
    }


GROUPS = {"W": "W", "memory": "M", "scaling": "S", "cold": "C"}  # a word on the command line, and how its rows begin
