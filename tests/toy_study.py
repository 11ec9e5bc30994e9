"""A study without boosters: its protocol writes down what it is asked to do, and can be told to fail or to wait.

Run as a script (`python toy_study.py FOLDER JOBS`) it is a study that can be killed.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from boostlab.studies.plan import Block, Method, Outcome, Procedure, StudyProblem
from boostlab.studies.runner import run
from boostlab.studies.store import Store
from boostlab.studies.study import Report, Study


@dataclass(frozen=True)
class ToyData:
    name: str
    X: Any
    y: Any
    hash: str


@dataclass(frozen=True)
class ToyProblem(StudyProblem):
    name: str
    rows: int = 12
    seed: int = 0  # of the numbers; not part of the definition, as files can change under the same name
    lost: bool = field(default=False, compare=False)

    def definition(self):
        return {"name": self.name, "rows": self.rows}

    def data(self):
        if self.lost:
            raise ValueError(f"The data set {self.name!r} was not found; look under the carpet.")
        X = np.random.default_rng(self.seed).random((self.rows, 2))
        return ToyData(self.name, X, X[:, 0] > 0.5, f"{zlib.crc32(X.tobytes()):08x}")


@dataclass(frozen=True)
class ToyProtocol(Procedure):
    folder: Path  # of the log; not part of the definition
    version: int = 1

    def definition(self):
        return {"protocol": "toy", "version": self.version}

    def log(self, *words):
        with (self.folder / "log").open("a") as file:
            file.write(" ".join(map(str, words)) + "\n")

    def parts(self, data, repeat):
        self.log("parts", data.name, repeat)
        if (self.folder / f"broken-{data.name}").exists():
            raise ValueError("these rows cannot be split")
        seed = np.random.SeedSequence([zlib.crc32(data.name.encode()), repeat])
        return data.name, repeat, np.random.default_rng(seed).permutation(len(data.y))

    def run(self, parts, method):
        name, repeat, order = parts
        self.log("begin", name, method.name, repeat)
        if method.params.get("interrupt"):
            raise KeyboardInterrupt
        if method.params.get("fail") and not (self.folder / "mended").exists():
            raise RuntimeError("the abacus is jammed")
        if method.params.get("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        while (self.folder / f"block-{name}-{method.name}-{repeat}").exists():
            time.sleep(0.01)
        time.sleep(method.params.get("seconds", 0.0))
        split = zlib.crc32(order.tobytes())
        numbers = {"test_error": split % 97 / 97 + method.params.get("shift", 0.0), "split": split, "rounds": 3}
        if method.params.get("object"):
            numbers["object"] = object()
        return Outcome(numbers, {"order": order.astype(np.int8)})


def toy_study(folder, problems=("a", "b"), methods=("m0", "m1", "m2"), version=1, name="toy", repeats=3):
    problems = [ToyProblem(p) if isinstance(p, str) else p for p in problems]
    methods = [Method(m, "", {"shift": i / 10}) if isinstance(m, str) else m for i, m in enumerate(methods)]
    block = Block("errors", problems, methods, ToyProtocol(Path(folder), version), {"quick": 2, "full": repeats})
    return Study(name, "A toy", "nobody", (block,), ("It is a toy.",), lambda results: Report())


def said(folder, word="begin"):
    """Return what the protocol was asked for, in order."""
    log = Path(folder) / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [tuple(line.split()[1:]) for line in lines if line.startswith(word)]


if __name__ == "__main__":
    folder, jobs = Path(sys.argv[1]), int(sys.argv[2])
    with Store(folder / "cells.sqlite") as store:
        ran = run(toy_study(folder), store, jobs=jobs)
    print(ran.computed, "of", ran.planned, "interrupted" if ran.interrupted else "done")
