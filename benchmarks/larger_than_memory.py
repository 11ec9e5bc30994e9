"""A Parquet file ten times the memory limit: peak memory and seconds, beside XGBoost and LightGBM.

    python benchmarks/larger_than_memory.py --rows 2000000 --columns 50 --turns 3

Every contender runs in a process of its own, in turns.  boostlab reads the file in batches (`Binned.from_parquet`);
XGBoost has its external memory (an iterator of batches, `ExtMemQuantileDMatrix`) and the same iterator with all bins in
memory (`QuantileDMatrix`); LightGBM has two-round loading, which takes text, so the file is written as CSV for it as
well.  Peak memory is the process's largest resident set less what it has after its imports.  `--tenth` lets the system
refuse boostlab's process more memory that is no file than a tenth of the file (RLIMIT_DATA, counted after its imports
and a fit to a small file); with the codes in a folder it must do with that:

    python benchmarks/larger_than_memory.py --tenth --names boostlab_cache --rows 800000 --columns 100

The same for CSV: the command line (`boostlab fit table.csv`, then `boostlab predict`) and `Binned.from_batches` of
pandas' chunks; a tenth of the text, in the folder of which it is read:

    python benchmarks/larger_than_memory.py --tenth --names boostlab_csv,boostlab_chunks --rows 500000 --columns 100
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 10
GROUP = BATCH = 16_384  # rows of a row group of the file, and of a batch


def write(folder: Path, rows: int, columns: int, text: bool) -> tuple[Path, Path]:
    """Write the table as Parquet, and as CSV if that is wanted, some rows at a time."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng, names = np.random.default_rng(0), ["y", *(f"x{j}" for j in range(columns))]
    schema = pa.schema([(name, pa.float64() if name != "y" else pa.int8()) for name in names])
    plain = csv.WriteOptions(include_header=False)
    files = folder / "table.parquet", folder / "table.csv"
    with parquet.ParquetWriter(files[0], schema) as one, csv.CSVWriter(files[1], schema, write_options=plain) as two:
        for start in range(0, rows, GROUP):
            X = rng.normal(size=(min(GROUP, rows - start), columns))
            y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X)) > 0).astype(np.int8)
            batch = pa.table([y, *X.T], schema=schema)
            one.write_table(batch)
            if text:
                two.write_table(batch)
    return files


def arrays(path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield the batches of a Parquet file."""
    from pyarrow import parquet

    for batch in parquet.ParquetFile(path, pre_buffer=False).iter_batches(BATCH):
        yield np.column_stack([c.to_numpy() for c in batch.columns[1:]]), batch.columns[0].to_numpy()


def boostlab(parquet: Path, _: Path, cache: str | None = None) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """Return how boostlab reads and fits."""
    from boostlab import AdaBoostClassifier, Binned

    warm = Binned.from_batches([np.random.default_rng(0).normal(size=(50, 3))], max_bins=9)
    AdaBoostClassifier(n_estimators=2, n_jobs=2).fit(warm, np.arange(50) % 2)
    fit = AdaBoostClassifier(n_estimators=ROUNDS, n_jobs=2).fit
    read = lambda: Binned.from_parquet(parquet, target="y", batch_rows=BATCH, cache=cache, n_jobs=2)  # noqa: E731
    return read, lambda table: fit(table, table.target)


def boostlab_cache(parquet: Path, csv: Path) -> Any:
    """Return how boostlab reads and fits with its codes in a folder."""
    return boostlab(parquet, csv, str(parquet.parent / "codes"))


def boostlab_csv(_: Path, csv: Path) -> Any:
    """Return how the command line reads and fits a CSV file, and predicts it."""
    from boostlab.cli import app

    model, out = csv.with_suffix(".boost"), csv.with_suffix(".scored")

    def run(*words: Any) -> None:
        with suppress(SystemExit):
            app([str(word) for word in words], standalone_mode=False)

    def read() -> None:
        options = ("--set", f"n_estimators={ROUNDS}", "--in-batches", "yes", "--cache", csv.parent / "codes")
        run("fit", csv, "--target", "column 1", "--booster", "adaboost", "--out", model, *options)
        assert model.exists()

    def predict(_: Any) -> None:
        run("predict", model, csv, "--columns", "drop", "--out", out)
        assert out.exists()

    return read, predict


def boostlab_chunks(_: Path, csv: Path) -> Any:
    """Return how boostlab reads a CSV file by pandas' chunks, and fits."""
    import pandas as pd

    from boostlab import AdaBoostClassifier, Binned

    def chunks() -> Iterator[tuple[Any, Any]]:
        for frame in pd.read_csv(csv, header=None, chunksize=2_048):
            yield frame.iloc[:, 1:].to_numpy(), frame.iloc[:, 0].to_numpy()

    read = lambda: Binned.from_batches(chunks, cache=csv.parent / "codes", n_jobs=2)  # noqa: E731
    fit = AdaBoostClassifier(n_estimators=ROUNDS, n_jobs=2).fit
    return read, lambda table: fit(table, table.target)


def xgboost(parquet: Path, _: Path, kind: str = "QuantileDMatrix") -> Any:
    """Return how XGBoost reads and fits."""
    import xgboost as xgb

    class Batches(xgb.DataIter):
        def __init__(self) -> None:
            super().__init__(cache_prefix=str(parquet.parent / "xgb") if kind.startswith("Ext") else None)
            self.reset()

        def next(self, input_data: Any) -> bool:
            found = next(self.open, None)
            if found is not None:
                input_data(data=found[0], label=found[1])
            return found is not None

        def reset(self) -> None:
            self.open = arrays(parquet)

    options = {"max_depth": 1, "tree_method": "hist", "nthread": 2, "max_bin": 256}
    read = lambda: getattr(xgb, kind)(Batches(), max_bin=256, nthread=2)  # noqa: E731
    return read, lambda table: xgb.train(options, table, ROUNDS)


def xgboost_external(parquet: Path, csv: Path) -> Any:
    """Return how XGBoost reads and fits with its external memory."""
    return xgboost(parquet, csv, "ExtMemQuantileDMatrix")


def lightgbm(_: Path, csv: Path) -> Any:
    """Return how LightGBM reads and fits, by two-round loading of text."""
    import lightgbm as lgb

    options = {"two_round": True, "header": False, "label_column": "0", "num_threads": 2, "verbose": -1}
    settings = {**options, "num_leaves": 2, "objective": "binary"}
    return lambda: lgb.Dataset(str(csv), params=settings).construct(), lambda table: lgb.train(settings, table, ROUNDS)


CONTENDERS = {
    f.__name__: f
    for f in (boostlab, boostlab_cache, boostlab_csv, boostlab_chunks, xgboost, xgboost_external, lightgbm)
}


TEXT = ("boostlab_csv", "boostlab_chunks", "lightgbm")  # who read it


def peak() -> int:
    """Return the largest resident set so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Watch(threading.Thread):
    """Looks at the memory of this process that is no file, every few milliseconds."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.end, self.first = threading.Event(), self.look()
        self.most = self.first

    @staticmethod
    def look(what: str = "RssAnon") -> int:
        """Return bytes of resident memory that belong to no file."""
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(what))

    def run(self) -> None:
        """Look until the end."""
        while not self.end.wait(0.005):
            self.most = max(self.most, self.look())


def one(name: str, folder: Path, limit: int) -> None:
    """Read and fit in this process, and print what it took."""
    read, fit = CONTENDERS[name](folder / "table.parquet", folder / "table.csv")
    before = peak()
    if limit:  # kernels and threads are no part of it
        warm = folder / "warm"
        warm.mkdir(exist_ok=True)
        small, fit_small = CONTENDERS[name](*write(warm, 20_000, 5, name in TEXT))
        fit_small(small())
        most = Watch.look("VmData") + limit
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    watch = Watch()
    watch.start()
    start = time.perf_counter()
    table = read()
    reading = time.perf_counter() - start
    fit(table)
    whole = time.perf_counter() - start
    watch.end.set()
    watch.join()
    private = watch.most - watch.first
    said = {"read": reading, "fit": whole - reading, "memory": peak() - before, "private": private, "imports": before}
    print(json.dumps(said))


def main() -> None:
    """Let the contenders take turns."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tenth", action="store_true", help="limit boostlab's memory to a tenth of the file")
    parser.add_argument("--batch", type=int, default=BATCH, help="rows of a batch")
    parser.add_argument("--group", type=int, default=GROUP, help="rows of a row group of the file")
    parser.add_argument("--limit", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--names", default="boostlab,boostlab_cache,xgboost,xgboost_external,lightgbm")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    globals().update(BATCH=given.batch, GROUP=given.group)
    if given.one:
        one(given.one, Path(given.folder), given.limit)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write(folder, given.rows, given.columns, any(name in given.names for name in TEXT))
        sizes = [file.stat().st_size for file in files]
        size = sizes[0]
        print(f"{given.rows:,} x {given.columns}: Parquet {size / 1e6:.0f} MB, CSV {sizes[1] / 1e6:.0f} MB")
        found: dict[str, list[dict[str, float]]] = {}
        for turn in range(given.turns):
            for contender in given.names.split(","):
                shutil.rmtree(folder / "codes", ignore_errors=True)
                for left in folder.glob("xgb*"):
                    left.unlink()
                limit = sizes[contender in TEXT] // 10 if given.tenth and contender.startswith("boostlab") else 0
                command = [sys.executable, __file__, "--one", contender, "--folder", name, "--limit", str(limit)]
                command += ["--batch", str(given.batch)]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    print(f"{contender}: failed: {done.stderr.strip().splitlines()[-1][:300]}", flush=True)
                    continue
                said = json.loads(done.stdout.strip().splitlines()[-1])
                found.setdefault(contender, []).append(said)
                spent = f"read {said['read']:.1f} s, {ROUNDS} rounds {said['fit']:.1f} s"
                memory = f"{said['memory'] / 1e6:.0f} MB, without files {said['private'] / 1e6:.0f} MB"
                print(f"turn {turn}, {contender}: {spent}, {memory}", flush=True)
        print("\ncontender        | MB of memory | bytes a byte of file | read s | rounds s | read, of boostlab's")
        for contender, runs in found.items():
            middle = {key: float(np.median([r[key] for r in runs])) for key in runs[0]}
            ratios = [r["read"] / b["read"] for r, b in zip(runs, found.get("boostlab", []), strict=False)]
            spread = f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else "not known"
            memory = f"{middle['memory'] / 1e6:12.0f} | {middle['memory'] / sizes[contender in TEXT]:20.3f}"
            print(f"{contender:16} | {memory} | {middle['read']:6.1f} | {middle['fit']:8.2f} | {spread}")


if __name__ == "__main__":
    main()
