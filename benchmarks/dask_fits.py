"""Fits on a small Dask cluster: seconds and bytes a round, and a campaign of killed workers.

    python benchmarks/dask_fits.py rounds --rows 1000000 --columns 50 --turns 5
    python benchmarks/dask_fits.py rounds --rows 2000 --columns 10 --turns 5
    python benchmarks/dask_fits.py model
    python benchmarks/dask_fits.py faults --kills 20
    python benchmarks/dask_fits.py scaling --most 16 --out scaling.json

`rounds` compares two worker processes with a local fit of two threads, and with XGBoost's and LightGBM's Dask
estimators where these are installed: in turns on one cluster, medians with the smallest and the largest turn.
`model` measures tables of several sizes and fits the cost model of docs/scale.md to them.  `faults` kills a random
worker at a random moment of every fit and compares the model's bits.  `scaling` measures strong scaling (one table, 1
to 16 processes) and weak scaling (one table a process).  `--out` writes what was measured as JSON.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from sklearn.base import clone

from boostlab import AdaBoostClassifier
from boostlab.backend.dask.cluster import Cluster


class Workers:
    """Worker processes without a nanny, which may be killed."""

    def __init__(self, address: str) -> None:
        self.address, self.processes = address, list[subprocess.Popen[bytes]]()

    def fill(self, client: Client, n: int = 2) -> None:
        """Start workers until there are n."""
        for _ in range(n - len(client.nthreads())):
            command = [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                self.address,
                "--no-nanny",
                "--nthreads",
                "1",
            ]
            options = ["--no-dashboard", "--memory-limit", "0", "--host", "127.0.0.1"]
            quiet: dict[str, Any] = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.processes.append(subprocess.Popen([*command, *options], **quiet))
        client.wait_for_workers(n)

    def close(self) -> None:
        """End them all."""
        for process in self.processes:
            process.kill()
            process.wait()


def table(rows: int, columns: int) -> tuple[Any, Any]:
    """Return a table and its labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=rows) > 0).astype(int)


def same(a: Any, b: Any) -> bool:
    """Return whether two models have the same bits."""
    return repr(a.estimators_) == repr(b.estimators_) and np.array_equal(a.estimator_weights_, b.estimator_weights_)


def spread(x: Sequence[float], digits: int = 2) -> str:
    """Return a median, and the smallest and the largest."""
    return f"{np.median(x):.{digits}f} ({min(x):.{digits}f} to {max(x):.{digits}f})"


def fitted(booster: Any, *data: Any, n: int) -> tuple[float, float]:
    """Return the median seconds of a round after the first few, and the seconds before the first."""
    start = time.perf_counter()
    told = booster.set_params(n_estimators=3 + n).fit(*data).history_["seconds"]
    return float(np.median(told[3:])), time.perf_counter() - start - float(sum(told))


class Stamps:
    """When each round of a peer ended, noted by its workers in files: one a process."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp()

    def note(self, *_: Any) -> bool:
        """Note the time, and let training go on."""
        with (Path(self.folder) / str(os.getpid())).open("a") as file:
            file.write(f"{time.time()}\n")
        return False

    def fitted(self, booster: Any, *data: Any, n: int) -> tuple[float, float]:
        """Return the median seconds of a round after the first few, and the seconds before the first."""
        start = time.time()
        booster.set_params(n_estimators=3 + n)
        options = {"callbacks": [self.note]} if "LGBM" in type(booster).__name__ else {}
        booster.fit(*data, **options)
        found = [[float(line) for line in file.read_text().split()] for file in Path(self.folder).iterdir()]
        shutil.rmtree(self.folder)
        times = max(found, key=len)
        each = np.diff(times)
        return float(np.median(each[2:])), times[0] - start - float(np.median(each))


def peers(kind: str, client: Client) -> dict[str, tuple[Any, Stamps]]:
    """Return the Dask estimators of others that are installed, and who notes the time of their rounds."""
    leaves, found = 2 if kind == "stumps" else 8, dict[str, tuple[Any, Stamps]]()
    with suppress(ImportError):
        from lightgbm import DaskLGBMClassifier

        found["LightGBM"] = DaskLGBMClassifier(client=client, num_leaves=leaves, n_jobs=1, verbose=-1), Stamps()
    with suppress(ImportError):
        from xgboost.callback import TrainingCallback
        from xgboost.dask import DaskXGBClassifier

        stamps = Stamps()
        after = {"after_iteration": lambda self, *_: stamps.note()}
        noted = type("Noted", (TrainingCallback,), after)()
        options = dict(max_depth=1) if leaves == 2 else dict(max_leaves=8, max_depth=0, grow_policy="lossguide")
        model = DaskXGBClassifier(tree_method="hist", n_jobs=1, callbacks=[noted], **options)
        model.client = client
        found["XGBoost"] = model, stamps
    return found


def traffic(booster: Any, *data: Any) -> tuple[float, float]:
    """Return bytes and exchanges a round."""
    run, sent, asked, marks = Cluster.run, [0], [0], list[tuple[int, int]]()

    def counted(self: Any, function: Any, *args: Any, groups: Any) -> Any:
        found = run(self, function, *args, groups=groups)
        sent[0] += len(pickle.dumps(args)) * len(groups) + len(pickle.dumps(found))
        asked[0] += 1
        return found

    Cluster.run = counted  # type: ignore[method-assign]
    try:
        clone(booster).set_params(n_estimators=12, callbacks=lambda s: marks.append((sent[0], asked[0]))).fit(*data)
    finally:
        Cluster.run = run  # type: ignore[method-assign]
    bytes_, calls = ((marks[-1][i] - marks[3][i]) / (len(marks) - 4) for i in (0, 1))
    return bytes_, calls


def rounds(client: Client, given: Any) -> Any:
    """Print seconds and bytes a round, here, there and of others, as ratios in turns."""
    DX, Dy = made_table(client, given.rows, given.columns, 4)
    X, y = client.compute([DX, Dy], sync=True)
    said: dict[str, Any] = {"rows": given.rows, "columns": given.columns}
    for kind, leaves in (("stumps", None), ("8 leaves", 8)):
        booster = AdaBoostClassifier(max_leaf_nodes=leaves)
        clone(booster).set_params(n_estimators=2).fit(DX, Dy)  # compiles
        bytes_, calls = traffic(booster, DX, Dy)
        print(f"{kind}: {bytes_ / 1e3:.0f} kB and {calls:.1f} exchanges a round", flush=True)
        turns: dict[str, list[tuple[float, float]]] = {}
        for turn in range(given.turns):
            ways: dict[str, tuple[Callable[..., tuple[float, float]], Any, Any]] = {
                "boostlab": (fitted, clone(booster), (DX, Dy)),
                "in memory": (fitted, clone(booster).set_params(n_jobs=2), (X, y)),
            }
            for name, (peer, stamps) in ({} if given.alone else peers(kind, client)).items():
                ways[name] = stamps.fitted, peer, (DX, Dy)
            for name, (fit, one, data) in ways.items():
                try:
                    spent = fit(one, *data, n=given.rounds)
                except Exception as error:  # say what a peer cannot do, and go on
                    print(f"{name}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                    continue
                turns.setdefault(name, []).append(spent)
                print(f"{kind}, turn {turn}, {name}: {spent[0] * 1e3:.1f} ms, reading {spent[1]:.1f} s", flush=True)
        ours = turns["boostlab"]
        print(f"\n{kind} on {given.rows:,} x {given.columns}")
        print("             | ms a round        | of boostlab's     | reading, s        | of boostlab's")
        for name, found in turns.items():
            ratios = [[a[i] / b[i] for a, b in zip(found, ours, strict=False)] for i in (0, 1)]
            cells = [spread([1e3 * a for a, _ in found], 1), spread(ratios[0]), spread([b for _, b in found], 1)]
            print(" | ".join(f"{cell:12}" for cell in [name, *cells, spread(ratios[1])]), flush=True)
        print(flush=True)
        said[kind] = {"bytes": bytes_, "exchanges": calls, "seconds a round, and reading": turns}
    return said


def model(client: Client, given: Any) -> Any:
    """Fit the cost model of a round of stumps to some tables, and check it on others."""
    sizes = [(2_000, 10), (200_000, 10), (200_000, 50), (1_000_000, 20), (1_000_000, 50)]
    found: dict[str, Any] = {}
    for kind, leaves in (("stumps", None), ("8 leaves", 8)):
        points = []
        for rows, columns in sizes:
            DX, Dy = made_table(client, rows, columns, 4)
            booster = AdaBoostClassifier(max_leaf_nodes=leaves)
            calls = traffic(booster, DX, Dy)[1]
            each = [fitted(clone(booster), DX, Dy, n=given.rounds)[0] for _ in range(given.turns)]
            points.append((calls, rows / 2, rows * columns / 2, float(np.median(each))))
            print(f"{kind}, {rows:,} x {columns}: {spread([1e3 * x for x in each], 1)} ms a round", flush=True)
            del DX, Dy
        facts = np.array(points)
        # relative errors are made small: every row of the system is divided by what was measured
        prices, *_ = np.linalg.lstsq(facts[:, :3] / facts[:, 3:], np.ones(len(facts)))
        told = facts[:, :3] @ prices
        exchange, row, cell = prices
        print(f"{kind}: {exchange * 1e3:.2f} ms an exchange, {row * 1e9:.0f} ns a row, {cell * 1e9:.2f} ns a cell")
        for (rows, columns), says, was in zip(sizes, told, facts[:, 3], strict=True):
            print(f"  {rows:,} x {columns}: model {says * 1e3:.1f} ms, measured {was * 1e3:.1f}", flush=True)
        found[kind] = {"prices": prices.tolist(), "points": points}
    return found


def faults(client: Client, workers: Workers, given: Any) -> int:
    """Kill a random worker at a random moment of every fit; return how many fits survived."""
    workers.fill(client)
    X, y = table(given.rows, given.columns)
    size = -(-given.rows // 6)
    DX, Dy = (da.from_array(a, chunks=(size, *a.shape[1:])) for a in (X, y))
    booster = AdaBoostClassifier(n_estimators=10, max_leaf_nodes=3)
    here = booster.fit(X, y)
    for _ in range(2):  # the first compiles
        start = time.perf_counter()
        good = same(AdaBoostClassifier(n_estimators=10, max_leaf_nodes=3).fit(DX, Dy), here)
        usual = time.perf_counter() - start
    print(f"without a fault: {usual:.1f} s, same bits: {good}", flush=True)
    random.seed(given.seed)
    survived = 0
    for kill in range(given.kills):
        workers.fill(client)
        delay, pid = random.random() * usual, random.choice(sorted(client.run(os.getpid, on_error="ignore").values()))
        timer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))
        timer.start()
        start = time.perf_counter()
        good = same(AdaBoostClassifier(n_estimators=10, max_leaf_nodes=3).fit(DX, Dy), here)
        survived += good
        spent = time.perf_counter() - start
        timer.join()
        time.sleep(1)
        print(f"kill {kill + 1} after {delay:.2f} s: {spent:.1f} s, same bits: {good}", flush=True)
    print(f"{survived} of {given.kills} fits survived with the same bits")
    return survived


def scaling(client: Client, workers: Workers, given: Any) -> Any:
    """Print seconds a round for one table on ever more processes, and for tables that grow with them."""
    end, counts = time.perf_counter() + given.seconds, [1]
    while counts[-1] * 2 <= given.most:
        counts.append(counts[-1] * 2)
    kinds = {"stumps": (None, 20), "8 leaves": (8, 5)}
    workers.fill(client, 1)
    for leaves, _ in kinds.values():  # compiles, for all processes to come
        X, y = made_table(client, 5_000, given.columns, 2)
        AdaBoostClassifier(n_estimators=3, max_leaf_nodes=leaves).fit(X, y)
    found: dict[tuple[str, str], dict[int, tuple[float, float]]] = {}
    for n in counts:
        workers.fill(client, n)
        for what, rows in (("strong", given.rows), ("weak", given.rows // given.most * n)):
            if what == "weak" and n == counts[-1]:  # the same table
                for kind in kinds:
                    if n in found.get(("strong", kind), {}):
                        found.setdefault(("weak", kind), {})[n] = found["strong", kind][n]
                continue
            X, y = made_table(client, rows, given.columns, given.most if what == "strong" else n)
            for kind, (leaves, rounds) in kinds.items():
                if time.perf_counter() > end:
                    print(f"{what}, {kind}, {n} processes: left out, the time is over", flush=True)
                    continue
                start = time.perf_counter()
                told = AdaBoostClassifier(n_estimators=2 + rounds, max_leaf_nodes=leaves).fit(X, y).history_["seconds"]
                reading = time.perf_counter() - start - sum(told)
                each = told[2:]
                found.setdefault((what, kind), {})[n] = float(np.median(each)), reading
                size = f"{n} processes, {rows:,} x {given.columns}"
                spent = (
                    f"{np.median(each) * 1e3:.1f} ms a round (fastest {min(each) * 1e3:.1f}), reading {reading:.1f} s"
                )
                print(f"{what}, {kind}, {size}: {spent}", flush=True)
            del X, y
    print("\nscaling  | trees    | processes | ms a round | efficiency | reading s | efficiency")
    for (what, kind), points in found.items():
        one = points[1]
        for n, point in points.items():
            share = n if what == "strong" else 1
            good = [a / (share * b) for a, b in zip(one, point, strict=True)]
            cells = f"{point[0] * 1e3:10.1f} | {good[0]:10.2f} | {point[1]:9.1f} | {good[1]:.2f}"
            print(f"{what:8} | {kind:8} | {n:9} | {cells}")
    return [
        {"scaling": what, "trees": kind, "processes": n, "round": point[0], "reading": point[1]}
        for (what, kind), points in found.items()
        for n, point in points.items()
    ]


def made_table(client: Client, rows: int, columns: int, parts: int) -> tuple[Any, Any]:
    """Return a table and its labels that the workers make and keep."""
    made = da.random.default_rng(0).normal(size=(rows, columns + 1), chunks=(-(-rows // parts), -1))
    X, y = client.persist([made[:, 1:], (made[:, 0] + made[:, 1] + made[:, 2] * made[:, 3] > 0).astype(int)])
    wait([X, y])
    return X, y


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["rounds", "model", "faults", "scaling"], nargs="?", default="rounds")
    parser.add_argument("--most", type=int, default=16, help="processes of `scaling`")
    parser.add_argument("--seconds", type=float, default=180, help="after which `scaling` begins nothing new")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="without XGBoost and LightGBM")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file")
    given = parser.parse_args()
    usual = (1_600_000, 50) if given.what == "scaling" else (1_000, 8)
    given.rows, given.columns = given.rows or usual[0], given.columns or usual[1]
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0", silence_logs=logging.CRITICAL) as cluster:
        workers = Workers(cluster.scheduler_address)
        with Client(cluster) as client:
            if given.what in ("scaling", "faults"):
                said = {"scaling": scaling, "faults": faults}[given.what](client, workers, given)
            else:
                workers.fill(client)
                said = {"rounds": rounds, "model": model}[given.what](client, given)
        workers.close()
    if given.out is not None:
        given.out.write_text(json.dumps({"cores": os.cpu_count(), given.what: said}, indent=1))


if __name__ == "__main__":
    main()
