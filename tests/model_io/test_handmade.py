"""Files that no `save` wrote: each is refused in one short sentence, or is a model whose answers are finite."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import boostlab
from boostlab.ensemble.vote import Ensemble, Round, constant
from boostlab.model_io import ModelFileError, load, save
from boostlab.model_io.archive import _npy_header


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def rewritten(path, header=None, **arrays):
    """Change entries of model.json, and arrays as a whole."""
    members = members_of(path.read_bytes())
    told = {**json.loads(members["model.json"]), **(header or {})}
    for name, array in arrays.items():
        told["arrays"][name] = {"dtype": array.dtype.str, "shape": list(array.shape)}
        members[f"{name}.npy"] = _npy_header(array.dtype.str, array.shape) + array.tobytes()
    members["model.json"] = json.dumps(told).encode()
    path.write_bytes(zipped(list(members.items())))
    return path


def array_of(path, name):
    members = members_of(path.read_bytes())
    listed = json.loads(members["model.json"])["arrays"][name]
    size = int(np.prod(listed["shape"])) * np.dtype(listed["dtype"]).itemsize
    content = members[f"{name}.npy"]
    return np.frombuffer(content[len(content) - size :], listed["dtype"]).reshape(listed["shape"]).copy()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.boost"


@pytest.mark.parametrize("first", [False, True], ids=["after", "before"])
def test_a_constant_stump_on_a_categorical_column(first, path):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 200), rng.normal(size=200)])
    y = (np.isin(X[:, 0], [0, 2]) ^ (rng.random(200) < 0.2)).astype(int)
    model = boostlab.LogitBoostClassifier(n_estimators=4, categorical_features=[0]).fit(X, y)
    rounds, told = list(model._ensemble.rounds), model.history_
    where = 0 if first else 3
    rounds[where] = Round(constant(0.25), rounds[where].alpha)
    model._ensemble = Ensemble(model._ensemble.rule, rounds, 2)
    assert len(told["alpha"]) == 4
    save(model, path)
    loaded = load(path)
    assert np.isfinite(loaded.predict_proba(X)).all()
    np.testing.assert_allclose(loaded.decision_function(X), list(loaded.staged_decision_function(X))[-1], atol=1e-12)


def test_a_threshold_of_minus_zero(path):
    X = np.array([[-1.0], [0.0], [-0.0], [1.0], [2.0]] * 4)
    save(boostlab.AdaBoostClassifier(n_estimators=1).fit(X, (X[:, 0] > 0.5).astype(int)), path)
    for zero in (0.0, -0.0):
        loaded = load(rewritten(path, stump_threshold=np.array([zero])))
        F = loaded.decision_function(X)
        np.testing.assert_array_equal(F, list(loaded.staged_decision_function(X))[-1])
        np.testing.assert_array_equal(F > 0, X[:, 0] > 0)


MASSES = [
    *([5e-324, 1.0, 1.0], [1.0, 1e308, 1.0], [1e-300, 1.0, 1e300], [1.7e308] * 3, [5e-324] * 3),
    *([1e-20, 1e-20, 1.0], [1.0, 1e-17, 1.0], [1e160, 1.0, 1e-160]),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("aggregate", ["vote", "coupling", "least_squares", "dag"])
def test_masses_of_pairs_leave_probabilities_finite(aggregate, path, three_classes):
    X, y = three_classes
    model = boostlab.PairwiseClassifier(boostlab.AdaBoostClassifier(n_estimators=20), aggregate).fit(X, y)
    save(model, path)
    for sizes in MASSES:
        P = load(rewritten(path, sizes=np.array(sizes))).predict_proba(X)
        assert np.isfinite(P).all(), sizes
        np.testing.assert_allclose(P.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("error")
def test_masses_of_a_code_leave_probabilities_finite(path, three_classes):
    X, y = three_classes
    save(boostlab.ECOCClassifier(boostlab.AdaBoostClassifier(n_estimators=20)).fit(X, y), path)
    n = len(array_of(path, "sizes"))
    for sizes in MASSES:
        P = load(rewritten(path, sizes=np.resize(sizes, n))).predict_proba(X)
        assert np.isfinite(P).all(), sizes
        np.testing.assert_allclose(P.sum(axis=1), 1.0)


def params(**changed):
    return lambda header: {"params": {**header["params"], **changed}}


@pytest.mark.parametrize(
    "change",
    [
        params(multiclass="x" * 100_000),
        params(early_stopping="x\n" * 1000),
        params(max_bins=10**4000),
        params(**{"w" * 100_000: 1}),
        lambda header: {"class": "C" * 100_000},
        lambda header: {"boostlab": "0" * 100_000, "class": "C"},
        lambda header: {"version": 10**4000},
        lambda header: {"columns": {"names": ["n" * 100_000], "categories": [["a", "a"]] * 6}},
        lambda header: {"arrays": {"q" * 100_000: {}}},
        lambda header: {"settled": {"s" * 100_000: 1.0}},
    ],
)
def test_messages_fit_on_a_screen(change, path, table):
    save(boostlab.AdaBoostClassifier(n_estimators=2).fit(*table), path)
    header = json.loads(members_of(path.read_bytes())["model.json"])
    with pytest.raises(ModelFileError) as caught:
        load(rewritten(path, change(header)))
    said = str(caught.value).replace(str(path), "")
    assert len(said) < 500
    assert "\n" not in said
    assert said.endswith(".")


def test_pairwise_messages_fit_on_a_screen(path, three_classes):
    save(boostlab.PairwiseClassifier(boostlab.AdaBoostClassifier(n_estimators=2)).fit(*three_classes), path)
    for changed in ({"aggregate": "x" * 100_000}, {"order": list(range(100_000))}, {"aggregate": ["dag"] * 10_000}):
        header = json.loads(members_of(path.read_bytes())["model.json"])
        with pytest.raises(ModelFileError) as caught:
            load(rewritten(path, {"params": {**header["params"], **changed}}))
        assert len(str(caught.value).replace(str(path), "")) < 500


@pytest.mark.parametrize("name", ["AdaBoostM2Classifier", "LogitBoostClassifier", "AdaBoostClassifier"])
@pytest.mark.parametrize("estimator", ["stump", "tree"])
def test_importances_cost_what_the_vote_uses(name, estimator, three_classes):
    """A file may declare any number of features; no voter has an array of that length."""
    model = getattr(boostlab, name)(estimator, n_estimators=5).fit(*three_classes)
    used, shares = model._ensemble.shares_of_used(2**60)  # an array that no memory holds
    np.testing.assert_array_equal(np.flatnonzero(model.feature_importances_), used[shares > 0])
    np.testing.assert_array_equal(model.feature_importances_[used], shares)


@pytest.mark.parametrize("name", ["AdaBoostM1Classifier", "SAMMEClassifier", "AdaBoostM2Classifier"])
def test_a_vote_without_voters_is_saved(name, path):
    X, y = np.zeros((9, 1)), np.arange(9) % 3  # a column that tells nothing apart
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = getattr(boostlab, name)().fit(X, y)
    save(model, path)
    np.testing.assert_array_equal(load(path).predict_proba(X), model.predict_proba(X))
