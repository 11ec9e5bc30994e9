"""Fits on a small Dask cluster: seconds and bytes a round, and a campaign of killed workers.

    python benchmarks/dask_fits.py rounds --rows 1000000 --columns 50
    python benchmarks/dask_fits.py faults --kills 20
    python benchmarks/dask_fits.py --scaling --most 16

`rounds` compares two worker processes with a local fit, and with XGBoost's and LightGBM's Dask estimators where these
are installed.  `faults` kills a random worker at a random moment of every fit and compares the model's bits.
`--scaling` measures strong scaling (one table, 1 to 16 processes) and weak scaling (one table a process).
"""

from __future__ import annotations

import argparse
import logging
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

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


def seconds_a_round(booster: Any, *data: Any, n: int) -> float:
    """Return the median seconds of a round after the first few."""
    return float(np.median(booster.set_params(n_estimators=n).fit(*data).history_["seconds"][3:]))


def seconds_by_two_fits(booster: Any, *data: Any, few: int, many: int) -> float:
    """Return the seconds of a round of a peer, by the difference of two fits."""
    spent = []
    for n in (few, many):
        start = time.perf_counter()
        booster.set_params(n_estimators=n).fit(*data)
        spent.append(time.perf_counter() - start)
    return (spent[1] - spent[0]) / (many - few)


def rounds(client: Client, given: Any) -> None:
    """Print seconds and bytes a round."""
    size = -(-given.rows // 4)
    made = da.random.default_rng(0).normal(size=(given.rows, given.columns + 1), chunks=(size, -1))
    DX, Dy = client.persist([made[:, 1:], (made[:, 0] + made[:, 1] + made[:, 2] * made[:, 3] > 0).astype(int)])
    X, y = client.compute([DX, Dy], sync=True)
    run, sent, asked = Cluster.run, [0], [0]

    def counted(self: Any, function: Any, *args: Any, groups: Any) -> Any:
        found = run(self, function, *args, groups=groups)
        sent[0] += len(pickle.dumps(args)) * len(groups) + len(pickle.dumps(found))
        asked[0] += 1
        return found

    for name, leaves in (("stumps", None), ("8 leaves", 8)):
        booster = AdaBoostClassifier(max_leaf_nodes=leaves)
        start = time.perf_counter()
        booster.set_params(n_estimators=1).fit(DX, Dy)
        print(f"{name}: reading and one round {time.perf_counter() - start:.2f} s", flush=True)
        Cluster.run = counted  # type: ignore[method-assign]
        marks: list[tuple[int, int]] = []
        booster.set_params(n_estimators=8, callbacks=lambda s, m=marks: m.append((sent[0], asked[0]))).fit(DX, Dy)
        Cluster.run = run  # type: ignore[method-assign]
        booster.set_params(callbacks=None)
        bytes_, calls = ((marks[-1][i] - marks[3][i]) / (len(marks) - 4) for i in (0, 1))
        print(f"{name}: {bytes_ / 1e3:.0f} kB and {calls:.1f} exchanges a round", flush=True)
        for turn in range(given.turns):
            there = seconds_a_round(booster, DX, Dy, n=3 + given.rounds)
            booster.n_jobs = 2
            here = seconds_a_round(booster, X, y, n=3 + given.rounds)
            booster.n_jobs = None
            print(f"{name}, turn {turn}: {there * 1e3:.1f} ms a round, locally {here * 1e3:.2f} ms", flush=True)
            for peer, model in peers(name, client):
                try:
                    spent = seconds_by_two_fits(model, DX, Dy, few=5, many=5 + given.rounds)
                    print(f"{name}, turn {turn}: {peer} {spent * 1e3:.1f} ms a round", flush=True)
                except Exception as error:  # say what a peer cannot do, and go on
                    print(f"{peer}: {type(error).__name__}: {str(error)[:200]}", flush=True)


def peers(name: str, client: Client) -> list[tuple[str, Any]]:
    """Return the Dask estimators of others that are installed."""
    leaves, found = 2 if name == "stumps" else 8, list[tuple[str, Any]]()
    try:
        from lightgbm import DaskLGBMClassifier

        found.append(("LightGBM", DaskLGBMClassifier(client=client, num_leaves=leaves, n_jobs=1, verbose=-1)))
    except ImportError:
        pass
    try:
        from xgboost.dask import DaskXGBClassifier

        options = dict(max_depth=1) if leaves == 2 else dict(max_leaves=8, max_depth=0, grow_policy="lossguide")
        model = DaskXGBClassifier(tree_method="hist", n_jobs=1, **options)
        model.client = client
        found.append(("XGBoost", model))
    except ImportError:
        pass
    return found


def faults(client: Client, workers: Workers, given: Any) -> None:
    """Kill a random worker at a random moment of every fit."""
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


def scaling(client: Client, workers: Workers, given: Any) -> None:
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
                fitted = AdaBoostClassifier(n_estimators=2 + rounds, max_leaf_nodes=leaves).fit(X, y)
                whole = time.perf_counter() - start
                each = fitted.history_["seconds"][2:]
                reading = whole - sum(fitted.history_["seconds"])
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


def made_table(client: Client, rows: int, columns: int, parts: int) -> tuple[Any, Any]:
    """Return a table and its labels that the workers make and keep."""
    made = da.random.default_rng(0).normal(size=(rows, columns + 1), chunks=(-(-rows // parts), -1))
    X, y = client.persist([made[:, 1:], (made[:, 0] + made[:, 1] + made[:, 2] * made[:, 3] > 0).astype(int)])
    wait([X, y])
    return X, y


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["rounds", "faults", "scaling"], nargs="?", default="rounds")
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--most", type=int, default=16, help="processes of --scaling")
    parser.add_argument("--seconds", type=float, default=200, help="after which --scaling begins nothing new")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.what = "scaling" if given.scaling else given.what
    usual = (1_600_000, 50) if given.what == "scaling" else (1_000, 8)
    given.rows, given.columns = given.rows or usual[0], given.columns or usual[1]
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0", silence_logs=logging.CRITICAL) as cluster:
        workers = Workers(cluster.scheduler_address)
        with Client(cluster) as client:
            if given.what == "scaling":
                scaling(client, workers, given)
                workers.close()
                return
            workers.fill(client)
            if given.what == "rounds":
                rounds(client, given)
            else:
                faults(client, workers, given)
        workers.close()


if __name__ == "__main__":
    main()
