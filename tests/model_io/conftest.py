"""Fitted boosters of every kind that a file can hold."""

from __future__ import annotations

import numpy as np
import pytest

import boostlab
from boostlab.model_io import load, save
from tables import noisy_table


@pytest.fixture
def again(tmp_path):
    """Save and load."""

    def through_a_file(model, name="model.boost"):
        save(model, tmp_path / name)
        return load(tmp_path / name)

    return through_a_file


def mixed_frame(library, n=200, seed=3):
    """Numbers with missing values beside text."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    colour = rng.choice(["red", "green", "blue", 'grün; "x"\n'], n).tolist()
    for i in range(0, n, 17):
        colour[i] = None
    y = np.where(np.nan_to_num(size) + np.isin(np.array(colour, dtype=object), ["red", "blue"]) > 0.6, "yes", "no")
    return library.DataFrame({"size": size, "colour": colour, "shape": rng.choice(["a", "b"], n).tolist()}), y


@pytest.fixture
def frame():
    return mixed_frame


@pytest.fixture
def model(table):
    return boostlab.AdaBoostClassifier(n_estimators=5).fit(*table)


@pytest.fixture
def file(model, tmp_path):
    save(model, tmp_path / "model.boost")
    return tmp_path / "model.boost"


@pytest.fixture(scope="session")
def zoo():
    """Models of all structures, each with a table to predict: name, fitted model, rows."""
    X, y = noisy_table()
    three_classes = X, np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    holes = X.copy()
    holes[::7, 0] = np.nan
    words = np.array(["a", "b", "c", None], object)[np.random.default_rng(0).integers(0, 4, len(X))]
    mixed = np.column_stack([words, holes.astype(object)])
    n = dict(n_estimators=8)
    models = [
        ("stumps", boostlab.AdaBoostClassifier(**n), holes, y),
        ("trees", boostlab.AdaBoostClassifier(max_depth=3, categorical_features=[0], **n), mixed, y),
        ("real_trees", boostlab.LogitBoostClassifier("tree", **n), holes, y),
        ("categories", boostlab.LogitBoostClassifier(categorical_features=[0, 6], **n), mixed, y),
        ("three", boostlab.AdaBoostM2Classifier(**n), *three_classes),
        ("three_trees", boostlab.AdaBoostM2Classifier(max_depth=2, **n), *three_classes),
        ("three_logits", boostlab.LogitBoostClassifier(**n), *three_classes),
        ("ovr", boostlab.AdaBoostMHClassifier(form="ovr", normalise="sum_alpha", **n), *three_classes),
        ("lp", boostlab.LPBoostClassifier(**n), X, y),
        ("reduced", boostlab.LPBoostClassifier(multiclass="ovo", n_estimators=4), *three_classes),
        ("brake", boostlab.WeightBoostClassifier(**n), holes, y),
        ("pool", boostlab.QuadBoostClassifier(boostlab.VoterPool(), **n), X, y),
    ]
    return [(name, model.fit(rows, labels), rows) for name, model, rows, labels in models]
