"""The data and the fits that are measured; every contender includes its binning."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def table(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; the label is a noisy linear and quadratic score above its median."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    score = X @ rng.standard_normal(d) + (X[:, :5] ** 2).sum(axis=1) + 3 * rng.standard_normal(n)
    return X, (score > np.median(score)).astype(np.int64)


def boostlab_stumps(rounds: int, threads: int) -> Any:
    from boostlab import AdaBoostClassifier

    return AdaBoostClassifier(n_estimators=rounds, n_jobs=threads)


def lightgbm_stumps(rounds: int, threads: int) -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=rounds, num_leaves=2, n_jobs=threads, verbose=-1)


class XGBoostStumps:
    """XGBoost with a QuantileDMatrix, its fastest door."""

    def __init__(self, rounds: int, threads: int) -> None:
        self.rounds, self.threads = rounds, threads

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        import xgboost

        data = xgboost.QuantileDMatrix(X, y, nthread=self.threads)
        params = dict(max_depth=1, tree_method="hist", objective="binary:logistic", nthread=self.threads)
        self.model = xgboost.train(params, data, self.rounds)


def sklearn_hist(rounds: int, threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=rounds, max_leaf_nodes=2, early_stopping=False)


def sklearn_adaboost(rounds: int, threads: int) -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(n_estimators=rounds)


CONTENDERS: dict[str, Callable[[int, int], Any]] = {
    "boostlab": boostlab_stumps,
    "LightGBM": lightgbm_stumps,
    "XGBoost": XGBoostStumps,
    "HistGradientBoosting": sklearn_hist,
    "scikit-learn AdaBoost": sklearn_adaboost,
}


@dataclass(frozen=True)
class Work:
    """One row of the table."""

    name: str
    says: str
    n: int
    d: int
    rounds: int
    against: tuple[str, ...]
    unit: str = "s"

    def measure(self, who: str, threads: int) -> dict[str, float]:
        """Return seconds and the peak of memory above the data, in this process."""
        from peak import PeakMemory

        make = CONTENDERS[who]
        X, y = table(self.n, self.d)
        small = table(2000, self.d, seed=1)
        make(2, threads).fit(*small)  # compiles and warms up
        model = make(self.rounds, threads)
        with PeakMemory() as peak:
            start = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - start
        return {"seconds": seconds, "peak_mb": peak.megabytes, "input_mb": X.nbytes / 2**20}


_HISTOGRAM = ("boostlab", "LightGBM", "XGBoost", "HistGradientBoosting")

WORKS = {
    w.name: w
    for w in (
        Work("W1", "stumps, 100,000 x 50, 100 rounds", 100_000, 50, 100, (*_HISTOGRAM, "scikit-learn AdaBoost")),
        Work("W2", "stumps, 500 x 30, 1,000 rounds", 500, 30, 1000, _HISTOGRAM, "us/round"),
    )
}
