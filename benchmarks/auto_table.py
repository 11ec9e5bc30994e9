"""How good `AutoBoostClassifier()` is untuned, beside other libraries' defaults:  python benchmarks/auto_table.py.

Every set is divided into three parts, stratified by class, each of which tests once what the others trained.  The table
gives the mean log loss and error of every method and, at its end, mean ranks over the sets.  The sets are listed below:
those of the data folder up to 10,000 rows that are not drawn from a formula.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from boostlab import AutoBoostClassifier, datasets
from boostlab.comparison.metrics import METRICS
from boostlab.comparison.peers import build

SETS = (
    *("australian", "breast_cancer", "breast_w", "bupa", "car", "cmc", "crx", "cylinder_bands", "ecoli", "german"),
    *("glass", "heart_statlog", "hepatitis", "horse_colic", "ionosphere", "monks1", "monks2", "monks3", "musk1"),
    *("new_thyroid", "optdigits", "pima", "satimage", "segmentation", "spambase", "splice", "tictactoe", "titanic"),
    *("vote", "vowel", "wdbc", "wine", "wine_quality", "wpbc", "yeast", "zoo"),
)
PEERS = {"HistGradientBoosting": "sklearn", "LightGBM": "lightgbm", "XGBoost": "xgboost"}


def measured(name: str, methods: list[str], seed: int = 0) -> dict[str, dict[str, float]]:
    """Return log loss, error and seconds of every method on one set."""
    data = datasets.load(name)
    X, y = np.asarray(data.X, float), np.unique(data.y, return_inverse=True)[1]
    categorical = list(getattr(data, "categorical_features", None) or [])
    keep = np.bincount(y)[y] >= 3
    X, y = X[keep], np.unique(y[keep], return_inverse=True)[1]
    found: dict[str, dict[str, list[float]]] = {m: {"log_loss": [], "error": [], "seconds": []} for m in methods}
    for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
        for method in methods:
            model: Any
            if method == "AutoBoost":
                model = AutoBoostClassifier(categorical_features=categorical or None, n_jobs=1)
            else:
                model = build(method, categorical, False, X[train], seed)
            start = time.perf_counter()
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                model.fit(X[train], y[train])
                p = np.asarray(model.predict_proba(X[test]), float)
            found[method]["seconds"].append(time.perf_counter() - start)
            found[method]["log_loss"].append(METRICS["log_loss"].cost(y[test], p))
            found[method]["error"].append(float(np.mean(p.argmax(axis=1) != y[test])))
    return {m: {key: float(np.mean(values)) for key, values in of.items()} for m, of in found.items()}


def table(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the results as Markdown, with mean ranks."""
    methods = list(next(iter(results.values())))
    lines = [
        f"| set | {' | '.join(f'{m}, log loss | {m}, error %' for m in methods)} |",
        "|---" * (2 * len(methods) + 1) + "|",
    ]
    for name, of in results.items():
        cells = [f"{of[m]['log_loss']:.3f} | {100 * of[m]['error']:.1f}" for m in methods]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    ranks = {
        key: np.mean([rankdata([round(of[m][key], 9) for m in methods]) for of in results.values()], axis=0)
        for key in ("log_loss", "error")
    }
    means = [f"{ranks['log_loss'][i]:.2f} | {ranks['error'][i]:.2f}" for i in range(len(methods))]
    return "\n".join([*lines, f"| **mean rank of {len(results)} sets** | {' | '.join(means)} |"])


def main() -> None:
    """Measure the sets that are asked for, write JSON and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--out", type=Path, default=None, help="JSON file that keeps what is measured")
    asked = parser.parse_args()
    methods = ["AutoBoost", *(name for name, package in PEERS.items() if find_spec(package) is not None)]
    results = json.loads(asked.out.read_text()) if asked.out and asked.out.exists() else {}
    for name in asked.sets:
        missing = [m for m in methods if m not in results.get(name, {})]
        if missing:
            both = {**results.get(name, {}), **measured(name, missing)}
            results[name] = {m: both[m] for m in methods}
            if asked.out:
                asked.out.write_text(json.dumps(results, indent=1))
    print(table(results))


if __name__ == "__main__":
    main()
