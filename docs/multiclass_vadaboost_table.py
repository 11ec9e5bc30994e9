"""Measure the table of multiclass_vadaboost.md:  BOOSTLAB_DATA=folder python docs/multiclass_vadaboost_table.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from real_tables import table
from sklearn.model_selection import train_test_split

from boostlab import SAMMEClassifier, VadaBoostClassifier
from boostlab.datasets import flip_labels

NAMES = ("vowel", "segmentation", "satimage")
ROWS, SPLITS, ROUNDS, LEAVES = 3000, 5, 100, 8


def boosters() -> dict[str, Any]:
    """Return who is measured."""
    shared = dict(max_leaf_nodes=LEAVES, n_estimators=ROUNDS)
    found: dict[str, Any] = {"SAMME": SAMMEClassifier(**shared)}
    for step, penalties in (("bound", (0.0, 0.1, 0.3, 0.5, 1.0)), ("exact", (0.1, 0.5, 2.0, 5.0))):
        for penalty in penalties:
            model = VadaBoostClassifier(variance_penalty=penalty, step=step, **shared)
            found[f'VadaBoost, step="{step}", λ = {penalty:g}'] = model
    return found


def measured(model: Any, X: np.ndarray, y: np.ndarray, share: float) -> str:
    """Return the mean test error in percent over the splits and its standard error, and the spread of the losses."""
    errors, spreads = [], []
    for r in range(SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=r)
        said = flip_labels(y_train, share, random_state=r)
        model.fit(X_train, said)
        errors.append(100 * np.mean(model.predict(X_test) != y_test))
        K = len(model.classes_)
        e = np.exp(-model.decision_function(X_train)[np.arange(len(said)), said] * (K - 1) / K)
        spreads.append(e.std() / e.mean())
    return f"{np.mean(errors):.1f} ± {np.std(errors, ddof=1) / SPLITS**0.5:.1f} ({np.mean(spreads):.1f})"


def main() -> None:
    """Print the table."""
    tables = {}
    for name in NAMES:
        X, labels, _ = table(name)
        kept = np.sort(np.random.default_rng(0).permutation(len(X))[:ROWS])
        tables[name] = X[kept], np.unique(labels, return_inverse=True)[1][kept]
    print("| booster | " + " | ".join(f"{name} | {name}, 20 % flipped" for name in NAMES) + " |")
    print("|---|" + "---|" * (2 * len(NAMES)))
    for name, model in boosters().items():
        cells = [measured(model, X, y, share) for X, y in tables.values() for share in (0.0, 0.2)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
