"""Every export against `predict`, on ten thousand rows with values at and beside the cuts."""

from __future__ import annotations

import ctypes
import json
import shutil
import sqlite3
import subprocess
from functools import cache

import numpy as np
import pandas
import pytest
from scipy.special import expit

from boostlab import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    L2BoostClassifier,
    LogitBoostClassifier,
    MadaBoostClassifier,
    SAMMEClassifier,
    WeightBoostClassifier,
)
from boostlab.model_io.exports import export, to_c, to_json, to_onnx, to_scorecard, to_sql
from boostlab.model_io.exports.calibrated import ScoreMap
from boostlab.model_io.exports.description import SCORE_A_CLASS, describe
from explain.models import MODELS, fitted, rows, table

COSTLY = [[0, 1, 3], [2, 0, 1], [4, 1, 0]]
CALIBRATED = {
    "sigmoid": lambda: AdaBoostClassifier(n_estimators=15, calibrate="sigmoid").fit(table()[0], table()[1]),
    "isotonic": lambda: LogitBoostClassifier(
        n_estimators=5, max_depth=2, calibrate="isotonic", cost={("yes", "no"): 4}
    ).fit(table()[0], table()[1]),
    "venn-abers": lambda: SAMMEClassifier(n_estimators=8, calibrate="venn-abers").fit(table()[0], table()[1]),
    "three sigmoids": lambda: SAMMEClassifier(n_estimators=6, max_depth=2, calibrate="sigmoid").fit(
        table()[0], table()[2]
    ),
    "three isotonic": lambda: AdaBoostClassifier(
        n_estimators=6, multiclass="ovr", calibrate="isotonic", cost=COSTLY
    ).fit(table()[0], table()[2]),
}


@cache
def calibrated(name):
    return CALIBRATED[name]()


KINDS = [name for name in MODELS if name not in ("pairs", "code")]


def hostile(model, n=10_000, single=False):
    """Rows of numbers as the exports take them: cuts, their neighbours, extremes, missing values, categories."""
    d, rng = describe(model), np.random.default_rng(1)
    kind = np.float32 if single else np.float64
    X = np.empty((n, len(d.names)), kind)
    for j, known in enumerate(d.categories):
        own = [f.cuts for f in d.steps if f.feature == j] + [d.trees.threshold[d.trees.feature == j]]
        cuts = np.concatenate(own) if known is None else np.arange(len(known), dtype=float)
        cuts = cuts[np.isfinite(cuts)].astype(kind)
        near = [cuts] if known else [cuts, *(np.nextafter(cuts, kind(to)) for to in (-np.inf, np.inf)), [0.0, -0.0]]
        if known is None:
            near.append([3e38, -3e38, 1e-40])
        values = np.concatenate(near).astype(kind)
        X[:, j] = np.where(rng.random(n) < 0.1, np.nan, rng.choice(values, n))
    return X


def original(model, X):
    """The same rows in the form that the model was fitted to."""
    if model.n_features_in_ != 4:
        return X
    frame = pandas.DataFrame(np.asarray(X, float), columns=["a", "b", "city", "c"])
    names = np.array(["Bern", "Oslo", "Rome", "Turin", None], object)
    frame["city"] = names[np.where(np.isnan(X[:, 2]), 4, X[:, 2]).astype(int)]
    return frame


def expected(model, X):
    """Scores, class numbers and probabilities by the model itself."""
    given = original(model, X)
    if model._numeric:
        return model.predict(given)[:, None], None, None
    S = np.asarray(model.decision_function(given))
    if S.ndim == 1:
        S = S[:, None]
    return S, np.searchsorted(model.classes_, model.predict(given)), model.predict_proba(given)


# -- C ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """All models in one library, so that the compiler starts once."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("c")
    text = ["#include <math.h>"]
    for k, name in enumerate(KINDS):
        text += [to_c(fitted(name), f"m{k}"), to_c(fitted(name), f"q{k}", int16=True).replace("boost_clip", f"clip{k}")]
    (folder / "all.c").write_text("\n".join(text))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable", "-O1", "-shared", "-fPIC"]
    subprocess.run([cc, *flags, "all.c", "-o", "all.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def called(library, name, X, width, kind):
    """Call scores, predict and probabilities on every row."""
    number = ctypes.c_double if kind is np.float64 else ctypes.c_float
    X = np.ascontiguousarray(X, kind)
    out, labels = np.zeros((len(X), width)), np.zeros(len(X))
    scores, predict = getattr(library, f"{name}_scores"), getattr(library, f"{name}_predict")
    pointer = ctypes.POINTER(number)
    for i in range(len(X)):
        row = X[i].ctypes.data_as(pointer)
        scores(row, out[i].ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        labels[i] = predict(row)
    return out, labels


@pytest.mark.parametrize("name", KINDS)
def test_c_votes_like_the_model(name, compiled):
    model = fitted(name)
    X, place = hostile(model), KINDS.index(name)
    S, labels, P = expected(model, X)
    width = describe(model).n_scores
    if model._numeric:
        getattr(compiled, f"m{place}_predict").restype = ctypes.c_double
    got, said = called(compiled, f"m{place}", X, width, np.float64)
    assert got == pytest.approx(S, abs=1e-12 * max(1, np.abs(S).max()))
    assert np.array_equal(said, got[:, 0] if labels is None else labels)
    if P is not None:
        p = np.zeros((200, len(model.classes_)))
        ask, double = getattr(compiled, f"m{place}_probabilities"), ctypes.POINTER(ctypes.c_double)
        for i in range(200):
            ask(X[i].ctypes.data_as(double), p[i].ctypes.data_as(double))
        assert p == pytest.approx(P[:200], abs=1e-12)
    single = hostile(model, 2000, single=True)
    S, labels, _ = expected(model, single)
    got, said = called(compiled, f"q{place}", single, width, np.float32)
    d = describe(model)
    unit = float(to_c(model, "q", int16=True).split("Q_UNIT ")[1].split()[0])
    error = (len(d.steps) + d.trees.n_trees) * unit / 2 + 1e-9
    assert np.abs(got - S).max() <= error
    if labels is not None:
        sure = np.abs(S[:, 0]) > error if width == 1 else np.ptp(np.sort(S, axis=1)[:, -2:], axis=1) > 2 * error
        assert np.array_equal(said[sure], labels[sure])


# -- SQL --------------------------------------------------------------------------------------------------------------


def in_database(X):
    """Rows as databases take them: None for missing values."""
    frame = X.astype(object)
    return frame.where(frame.notna(), None)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", ["stumps", "trees", "regressor", "named classes", "one against the rest"])
def test_sql_votes_like_the_model(name, database):
    model = fitted(name)
    numbers = hostile(model, 10_000 if name == "stumps" else 2000)
    X = original(model, numbers)
    X.loc[:50, "city"] = "Atlantis"  # which the model does not know
    S, labels, P = model.predict(X) if model._numeric else model.decision_function(X), None, None
    if not model._numeric:
        labels, P = model.predict(X), model.predict_proba(X)
    query = to_sql(model, "people") + " ORDER BY place"
    frame = in_database(X).assign(place=range(len(X)))
    if database == "sqlite":
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE TABLE people (a REAL, b REAL, city TEXT, c REAL, place INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", frame.to_numpy().tolist())
        cursor = connection.execute(query)
        got = pandas.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])
    else:
        duckdb = pytest.importorskip("duckdb")
        people = X.assign(place=range(len(X)))  # found by its name; its NaN are NULL
        people["city"] = people["city"].astype(object).where(people["city"].notna(), None)
        connection = duckdb.connect()
        connection.register("people", people)
        got = connection.execute(query).df()
    names = [c for c in got.columns if c.startswith("score")]
    assert got[names].to_numpy() == pytest.approx(S.reshape(len(S), -1), abs=1e-12 * max(1, np.abs(S).max()))
    if labels is not None:
        assert got["label"].tolist() == labels.tolist()
    if "probability" in got:
        assert got["probability"].to_numpy(float) == pytest.approx(P[:, 1], abs=1e-12)


@pytest.mark.parametrize("name", ["stumps", "trees", "one against the rest"])
def test_sql_is_postgresqls(name):
    sqlglot = pytest.importorskip("sqlglot")
    for model in (fitted(name), calibrated({"stumps": "sigmoid", "trees": "isotonic"}.get(name, "three isotonic"))):
        (query,) = sqlglot.parse(to_sql(model, "people"), read="postgres", error_level=sqlglot.ErrorLevel.RAISE)
        shown = {column.alias_or_name for column in query.selects}
        assert "label" in shown
        calls = {type(f).__name__ for f in query.find_all(sqlglot.exp.Func)} - {"Case", "If", "And", "Or", "Connector"}
        assert calls <= {"Exp"}  # which every database has


# -- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("double", [False, True], ids=["float", "double"])
@pytest.mark.parametrize("name", KINDS)
def test_onnx_votes_like_the_model(name, double):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = fitted(name)
    X = hostile(model, single=not double)
    S, labels, P = expected(model, X)
    session = runtime.InferenceSession(to_onnx(model, double=double).SerializeToString())
    got = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))
    size = max(1.0, np.abs(S).max())
    near = 1e-12 if double else 1e-5
    assert got["scores"] == pytest.approx(S, abs=near * size)
    if labels is not None:
        sure = slice(None)
        if not double:
            sure = (
                np.abs(S[:, 0]) > near * size if S.shape[1] == 1 else np.ptp(np.sort(S)[:, -2:], axis=1) > near * size
            )
        assert got["label"][sure].tolist() == model.classes_[labels][sure].tolist()
        assert got["probabilities"] == pytest.approx(P, abs=1e-12 if double else 1e-4)


# -- JSON and scorecards ----------------------------------------------------------------------------------------------


def evaluate(model, x):
    """A reader of the JSON form in plain Python."""
    scores = list(model["constant"])

    def add(values):
        for k, v in enumerate(values):
            scores[k] += v

    for step in model["steps"]:
        value = x[step["column"]]
        place = sum(float(c) < value for c in step["cuts"])
        add(step["missing"] if value != value else step["values"][place])
    for tree in model["trees"]:
        node = 0
        while tree["column"][node] >= 0:
            value = x[tree["column"][node]]
            if value != value:
                low = tree["missing_low"][node]
            elif tree["categories"][node] is not None:
                low = int(value) in tree["categories"][node]
            else:
                low = value <= float(tree["threshold"][node])
            node = tree["low" if low else "high"][node]
        add(tree["values"][node])
    return scores


@pytest.mark.parametrize("name", KINDS)
def test_json_says_all(name):
    model = fitted(name)
    X = hostile(model, 300)
    S, _, P = expected(model, X)
    told = json.loads(to_json(model))
    got = np.array([evaluate(told, x) for x in X.tolist()])
    assert got == pytest.approx(S, abs=1e-12 * max(1, np.abs(S).max()))
    if P is not None and told["link"]["name"] == "logistic" and not told["link"]["normalised"]:
        assert expit(told["link"]["scale"] * got[:, 0]) == pytest.approx(P[:, 1])
    elif P is not None and told["link"]["name"] in SCORE_A_CLASS:
        assert SCORE_A_CLASS[told["link"]["name"]](got, told["link"]["scale"]) == pytest.approx(P)


def test_links_are_found_for_every_kind():
    X, y = rows(fitted("numbers"), 200), table()[1][:200]
    for make, name in [
        (AdaBoostClassifier, "logistic"),
        (MadaBoostClassifier, "logistic"),
        (L2BoostClassifier, "linear"),
        (BrownBoostClassifier, "erf"),
    ]:
        model = make(n_estimators=3).fit(X, y)
        link = describe(model).link
        assert link.name == name
        assert link(model.decision_function(X)[:, None]) == pytest.approx(model.predict_proba(X), abs=1e-12)
    assert describe(fitted("one against the rest")).link.normalised


def test_a_scorecard_adds_up_by_hand():
    model = fitted("stumps")
    card = to_scorecard(model, points=200)
    frame, told = table()[0], describe(model)
    used = {told.names[f.feature] for f in told.steps}
    lines = [line for line in card.lines if line[0] == "city"]
    assert {label for _, label, _ in lines} == {"Bern", "Oslo", "Rome", "Turin", "missing"}

    def points(column, value):
        for name, label, p in card.lines:
            if name != column:
                continue
            if label == "missing":
                fits = value is None or value != value
            elif value is None or value != value:
                fits = False
            elif isinstance(value, str):
                fits = label == value
            else:
                low = float(label.split("above ")[1].split(" to ")[0]) if "above" in label else -np.inf
                high = float(label.split(" to ")[1]) if " to " in label else np.inf
                fits = low < value <= high if label != "any" else True
            if fits:
                return p
        return next(p for name, label, p in reversed(card.lines) if name == column)

    total = [card.start + sum(points(c, r[c]) for c in used) for r in frame.to_dict("records")]
    error = np.abs(np.array(total) * card.unit - model.decision_function(frame))
    assert error.max() <= (len(used) + 1) * card.unit / 2 + 1e-9
    assert "Above 0 points: yes, else no." in str(card)
    with pytest.raises(ValueError, match="needs stumps and one score"):
        to_scorecard(fitted("trees"))


def test_files_and_refusals(tmp_path):
    for ending in ("c", "json", "md", "sql"):
        export(fitted("stumps"), tmp_path / f"model.{ending}")
        assert (tmp_path / f"model.{ending}").stat().st_size > 100
    with pytest.raises(ValueError, match="says no form that is known"):
        export(fitted("stumps"), tmp_path / "model.txt")
    with pytest.raises(ValueError, match='all pairs, which is no sum of its votes; fit it with multiclass="ovr"'):
        to_json(fitted("pairs"))
    X, y = rows(fitted("numbers")), table()[1][:60]
    with pytest.raises(ValueError, match="not a sum over its voters"):
        WeightBoostClassifier(n_estimators=2).fit(X, y).export(tmp_path / "model.c")
    with pytest.raises(ValueError, match="cannot begin the name of a C function"):
        to_c(fitted("stumps"), "1st")


# -- calibrated models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALIBRATED)
def test_calibrated_probabilities_and_decisions_travel(name, tmp_path):
    model = calibrated(name)
    X = hostile(model, 1000)
    S, labels, P = expected(model, X)
    told = json.loads(to_json(model))
    maps = [ScoreMap(m["kind"], np.array(m["x"]), np.array(m["p"])) for m in told["calibration"]]
    R = np.column_stack([m(s) for m, s in zip(maps, S.T, strict=True)])
    R = np.column_stack([1 - R, R]) if len(maps) == 1 else R / R.sum(axis=1, keepdims=True)
    assert np.abs(R - P).max() < 1e-12
    assert (told["cost"] is not None) == (model.cost is not None)
    # SQL
    frame = original(model, X)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (a REAL, b REAL, city TEXT, c REAL, place INTEGER)")
    people = in_database(frame).assign(place=range(len(X)))
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", people.to_numpy().tolist())
    cursor = connection.execute(to_sql(model, "people") + " ORDER BY place")
    got = pandas.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])
    assert got["label"].tolist() == model.predict(frame).tolist()
    shown = got[["probability"]] if len(maps) == 1 else got[[f"probability_{k}" for k in range(3)]]
    assert shown.to_numpy(float) == pytest.approx(P[:, -shown.shape[1] :], abs=1e-9)
    # ONNX
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(model, double=True).SerializeToString())
    said = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))
    assert said["probabilities"] == pytest.approx(P, abs=1e-9)
    assert (said["label"] == model.predict(frame)).mean() > 0.999  # sums may part equal costs
    # C
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    model.export(tmp_path / "m.c", name="m")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([cc, *flags, "m.c", "-o", "m.so", "-lm"], cwd=tmp_path, check=True)
    library, double = ctypes.CDLL(str(tmp_path / "m.so")), ctypes.POINTER(ctypes.c_double)
    _, named = called(library, "m", X, S.shape[1], np.float64)
    assert np.array_equal(named, labels)
    p = np.zeros((len(X), len(model.classes_)))
    for row, out in zip(X, p, strict=True):
        library.m_probabilities(row.ctypes.data_as(double), out.ctypes.data_as(double))
    assert p == pytest.approx(P, abs=1e-12)


def test_a_calibrated_scorecard_says_where_to_decide():
    X, y = table()[0], table()[1]
    model = AdaBoostClassifier(n_estimators=20, calibrate="sigmoid", cost={("yes", "no"): 5}).fit(X, y)
    card = to_scorecard(model, points=1000)
    points = model.decision_function(X) / card.unit
    clear = np.abs(points - card.threshold) > 5  # what rounding may add up to
    assert card.threshold < 0
    assert (np.where(points > card.threshold, "yes", "no") == model.predict(X))[clear].all()
    assert f"Above {card.threshold} points: yes" in str(card)
    assert "Probability of yes by points:" in str(card)
    for at, p in card.chances:
        assert model._calibration.maps[0](np.array([at * card.unit]))[0] == pytest.approx(p, abs=0.01)
