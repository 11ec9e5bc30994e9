"""Textbook figure 2.6: AdaBoost of 50 rounds against its single voter, stump or tree, on many data sets."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from real_tables import stand_in, table, two_classes
from sklearn.model_selection import train_test_split

from boostlab import AdaBoostClassifier
from boostlab.plots import error_scatter

NAMES = [
    "abalone",
    "australian",
    "balance_scale",
    "breast_cancer",
    "breast_w",
    "bupa",
    "car",
    "cmc",
    "crx",
    "cylinder_bands",
    "ecoli",
    "flags",
    "german",
    "glass",
    "heart_statlog",
    "hepatitis",
    "horse_colic",
    "image_ida",
    "ionosphere",
    "letter",
    "monks1",
    "monks2",
    "monks3",
    "mushrooms",
    "musk1",
    "new_thyroid",
    "optdigits",
    "pendigits",
    "pima",
    "satimage",
    "segmentation",
    "spambase",
    "splice",
    "splice_ida",
    "tictactoe",
    "titanic",
    "vote",
    "vowel",
    "waveform21",
    "waveform40",
    "wdbc",
    "wine",
    "wine_quality",
    "wpbc",
    "yeast",
    "zoo",
]
LEARNERS = {"stump": dict(max_depth=1), "tree of 16 leaves": dict(max_leaf_nodes=16)}
LARGEST = 2000  # rows of a table that are used


def errors(X: np.ndarray, y: np.ndarray, categories: list[int], splits: int) -> dict[str, tuple[float, float]]:
    """Return the test errors of one voter and of AdaBoost, half of the rows for training, by learner."""
    found = {name: np.zeros((splits, 2)) for name in LEARNERS}
    for s in range(splits):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=s, stratify=y)
        for name, limits in LEARNERS.items():
            model = AdaBoostClassifier(n_estimators=50, categorical_features=categories or None, n_jobs=1, **limits)
            stages = list(model.fit(X_train, y_train).staged_predict(X_test))
            found[name][s] = [np.mean(stages[0] != y_test), np.mean(stages[-1] != y_test)]
    return {name: tuple(100 * pair.mean(axis=0)) for name, pair in found.items()}


def draw(quick: bool = False) -> plt.Figure:
    results = []
    if quick:
        results = [errors(*stand_in(n), [], 1) for n in (60, 120)]
    else:
        for name in NAMES:
            X, labels, categories = table(name)
            chosen = np.random.default_rng(0).permutation(len(labels))[:LARGEST]
            results.append(errors(X[chosen], two_classes(labels)[chosen], categories, splits=3))
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for ax, learner in zip(axes, LEARNERS, strict=True):
        single, boosted = zip(*(result[learner] for result in results), strict=True)
        error_scatter(single, boosted, (f"one {learner}", "AdaBoost"), ax=ax)
        ax.set(xlabel=f"error of one {learner}, %", ylabel="error of AdaBoost, %")
    return figure
