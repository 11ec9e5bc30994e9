"""Every export against `predict`, on ten thousand rows with values at and beside the cuts (two thousand in floats)."""

from __future__ import annotations

import ctypes
import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas
import pytest

from boostlab.model_io.exports import to_c, to_json, to_onnx, to_sql
from boostlab.model_io.exports.calibrated import ScoreMap
from boostlab.model_io.exports.description import describe
from explain.models import fitted
from model_io.exported import CALIBRATED, KINDS, asked, calibrated, expected, hostile, original

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
        text += [loop_in_c(f"m{k}", fitted(name), "double"), loop_in_c(f"q{k}", fitted(name), "float")]
    (folder / "all.c").write_text("\n".join(text))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable", "-O1", "-shared", "-fPIC"]
    subprocess.run([cc, *flags, "all.c", "-o", "all.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def loop_in_c(name, model, real):
    """C that asks for the scores and the class of n rows."""
    kind = f"const {real} *x, long n, double *scores, double *labels"
    body = f"{name}_scores(x + {model.n_features_in_} * i, scores + {describe(model).n_scores} * i);"
    body += f" labels[i] = {name}_predict(x + {model.n_features_in_} * i);"
    return f"void {name}_all({kind}) {{ for (long i = 0; i < n; i++) {{ {body} }} }}"


def assert_near(found, wanted, near):
    """As `pytest.approx`, which looks at numbers one by one."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=near, equal_nan=False)


def called(library, name, X, width, kind):
    """Call scores and predict on every row."""
    X = np.ascontiguousarray(X, kind)
    out, labels = np.zeros((len(X), width)), np.zeros(len(X))
    x, scores, classes = (ctypes.c_void_p(a.ctypes.data) for a in (X, out, labels))
    getattr(library, f"{name}_all")(x, ctypes.c_long(len(X)), scores, classes)
    return out, labels


@pytest.mark.parametrize("name", KINDS)
def test_c_votes_like_the_model(name, compiled):
    model = fitted(name)
    place, (X, S, labels, P) = KINDS.index(name), asked(name)
    width = describe(model).n_scores
    got, said = called(compiled, f"m{place}", X, width, np.float64)
    assert_near(got, S, 1e-12 * max(1, np.abs(S).max()))
    assert np.array_equal(said, got[:, 0] if labels is None else labels)
    if P is not None:
        p = np.zeros((200, len(model.classes_)))
        ask, double = getattr(compiled, f"m{place}_probabilities"), ctypes.POINTER(ctypes.c_double)
        for i in range(200):
            ask(X[i].ctypes.data_as(double), p[i].ctypes.data_as(double))
        assert_near(p, P[:200], 1e-12)
    single, S, labels, _ = asked(name, 2000, single=True)
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
    assert_near(got[names].to_numpy(), S.reshape(len(S), -1), 1e-12 * max(1, np.abs(S).max()))
    if labels is not None:
        assert got["label"].tolist() == labels.tolist()
    if "probability" in got:
        assert_near(got["probability"].to_numpy(float), P[:, 1], 1e-12)


@pytest.mark.parametrize("name", ["trees", "venn-abers", "three isotonic"])
def test_sql_evaluates_every_score_once(name):
    model = fitted(name) if name == "trees" else calibrated(name)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (a REAL, b REAL, city TEXT, c REAL)")
    query = to_sql(model, "people")
    program = connection.execute("EXPLAIN " + query).fetchall()
    assert len(program) < 15 * query.count("WHEN")


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
    X, S, labels, P = asked(name) if double else asked(name, 2000, single=True)
    session = runtime.InferenceSession(to_onnx(model, double=double).SerializeToString())
    got = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))
    size = max(1.0, np.abs(S).max())
    near = 1e-12 if double else 1e-5
    assert_near(got["scores"], S, near * size)
    if labels is not None:
        sure = slice(None)
        if not double:
            sure = (
                np.abs(S[:, 0]) > near * size if S.shape[1] == 1 else np.ptp(np.sort(S)[:, -2:], axis=1) > near * size
            )
        assert got["label"][sure].tolist() == model.classes_[labels][sure].tolist()
        assert_near(got["probabilities"], P, 1e-12 if double else 1e-4)


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
    assert_near(shown.to_numpy(float), P[:, -shown.shape[1] :], 1e-9)
    # ONNX
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(model, double=True).SerializeToString())
    said = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))
    assert_near(said["probabilities"], P, 1e-9)
    assert (said["label"] == model.predict(frame)).mean() > 0.999  # sums may part equal costs
    # C
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    model.export(tmp_path / "m.c", name="m")
    with (tmp_path / "m.c").open("a") as file:
        file.write(loop_in_c("m", model, "double") + "\n")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([cc, *flags, "m.c", "-o", "m.so", "-lm"], cwd=tmp_path, check=True)
    library, double = ctypes.CDLL(str(tmp_path / "m.so")), ctypes.POINTER(ctypes.c_double)
    _, named = called(library, "m", X, S.shape[1], np.float64)
    assert np.array_equal(named, labels)
    p = np.zeros((len(X), len(model.classes_)))
    for row, out in zip(X, p, strict=True):
        library.m_probabilities(row.ctypes.data_as(double), out.ctypes.data_as(double))
    assert_near(p, P, 1e-12)


@pytest.mark.parametrize("name", [*KINDS, *CALIBRATED])
def test_onnx_has_no_constant_that_nothing_reads(name):
    pytest.importorskip("onnx")
    graph = to_onnx(fitted(name) if name in KINDS else calibrated(name)).graph
    assert {c.name for c in graph.initializer} <= {i for node in graph.node for i in node.input}
