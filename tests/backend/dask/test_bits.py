"""A fit on a Dask collection gives the model of the whole table in memory, to the bit, however it is parted."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask import delayed
from distributed import Client, worker_client
from sklearn.base import clone

import boostlab
import boostlab.dask
from boostlab import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    BrownBoostClassifier,
    EBBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    MadaBoostClassifier,
    RLPBoostClassifier,
    RobustBoostClassifier,
    SAMMEClassifier,
    SoftMarginBoostClassifier,
    VadaBoostClassifier,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

BOOSTERS = [
    (AdaBoostClassifier(max_leaf_nodes=3), 2, "plain"),
    (AdaBoostClassifier(algorithm="real", max_bins=16), 2, "real"),
    (VadaBoostClassifier(), 2, "counts"),
    (EBBoostClassifier(max_bins=16, class_weight="balanced"), 2, "counts"),
    (MadaBoostClassifier(), 3, "plain"),  # one class against the rest
    (RobustBoostClassifier(), 2, "plain"),
    (BrownBoostClassifier(class_weight={0: 1, 1: 2.5}), 2, "plain"),
    (SoftMarginBoostClassifier(), 2, "plain"),
    (GentleBoostClassifier(max_depth=2), 2, "real"),
    (LogitBoostClassifier(), 3, "counts"),
    (SAMMEClassifier(), 3, "plain"),
    (AdaBoostMHClassifier(), 3, "real"),
    (L2BoostRegressor(), 0, "real"),
]


def sample(n_classes, kind, seed=0, n=240):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = rng.integers(0, 5, n)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) + rng.normal(size=n)
    y = score if not n_classes else np.digitize(score, [2.0, 3.5][: n_classes - 1])
    weight = {"plain": None, "counts": rng.integers(0, 4, n).astype(float), "real": rng.random(n)}[kind]
    return X, y, weight


def facts(model):
    """Return all that a fit leaves, but for seconds."""
    if isinstance(model.history_, list):
        return [facts(one) for one in model.estimators_]
    told = {k: v.tolist() for k, v in model.history_.items() if k != "seconds"}
    kept = repr(model.estimators_), np.asarray(model.estimator_weights_).tolist(), model.stop_reason_
    return *kept, repr(told), model.feature_importances_.tolist(), model.n_features_in_


def collection(X, chunks):
    return da.from_array(X, chunks=(chunks, *X.shape[1:]))


@pytest.mark.parametrize(("booster", "n_classes", "kind"), BOOSTERS, ids=lambda v: type(v).__name__)
def test_ten_boosters_over_random_partitionings(client, booster, n_classes, kind):
    X, y, weight = sample(n_classes, kind)
    booster = booster.set_params(n_estimators=2)
    here = facts(booster.fit(X, y, sample_weight=weight))

    rng = np.random.default_rng(len(type(booster).__name__))
    for ends in (rng.integers(0, len(X), 5), [0, 90, 90]):  # equal ends are empty partitions
        chunks = tuple(np.diff([0, *sorted(ends), len(X)]).tolist())
        beside = None if weight is None else collection(weight, chunks)
        there = facts(booster.fit(collection(X, chunks), collection(y, chunks), sample_weight=beside))
        assert there == here, chunks
    if n_classes:
        assert booster.classes_.tolist() == list(range(n_classes))


def frame(n=200):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["u", "v", "zz"], n), "c": rng.integers(0, 9, n)})
    table["d"] = pd.Categorical(rng.choice(["r", "s"], n))
    table.loc[rng.random(n) < 0.1, ["a", "b"]] = np.nan
    table["y"] = np.where(table["a"].fillna(0) + (table["b"] == "v") + rng.normal(size=n) > 0.5, "yes", "no")
    return table


def test_frames_with_categories_one_class_and_empty_partitions_of_unknown_size(client, tmp_path):
    table = frame().sort_values("y", ignore_index=True)  # most partitions hold one class
    table.loc[table.index[-9:], "b"] = "late"  # a category that the last partition has
    ddf = dd.from_pandas(table, npartitions=5)
    ddf = ddf.assign(d=ddf["d"].cat.as_unknown())
    names = ["a", "b", "c", "d"]
    kept, few = table[table["c"] < 7], ddf[ddf["c"] < 7]
    none = few[few["c"] > 99]  # empty partitions
    few = dd.concat([few, none], interleave_partitions=True) if none.npartitions else few
    here = AdaBoostClassifier(n_estimators=4).fit(kept[names], kept["y"])
    there = AdaBoostClassifier(n_estimators=4).fit(few[names], few["y"])
    assert facts(there) == facts(here)
    assert there.classes_.tolist() == ["no", "yes"]
    assert there.feature_names_in_.tolist() == names
    there.save(tmp_path / "model")
    loaded = boostlab.load(tmp_path / "model")
    lazy = there.predict_proba(few[names])
    assert isinstance(lazy, da.Array)
    assert np.array_equal(np.sort(lazy.compute(), axis=0), np.sort(loaded.predict_proba(kept[names]), axis=0))
    same = (m.contributions(kept[names].iloc[:9]).values for m in (here, there))
    assert np.array_equal(*same)


@pytest.mark.parametrize("weighted", [False, True])
def test_rare_categories_are_those_of_all_partitions(client, weighted):
    table = frame()
    table.loc[table.index[::23], "b"] = "rare"  # one to three in a partition
    weight = table["c"] / 4 if weighted else None
    ddf = dd.from_pandas(table.assign(w=weight), npartitions=4)
    booster, names, found = AdaBoostClassifier(n_estimators=4), ["a", "b", "d"], []
    for least in (2, 30):
        booster.set_params(min_category_size=least)
        here = facts(booster.fit(table[names], table["y"], sample_weight=weight)), booster._columns.categories
        there = booster.fit(ddf[names], ddf["y"], sample_weight=ddf["w"] if weighted else None)
        assert (facts(there), there._columns.categories) == here
        found.append("rare" in there._columns.categories[1])
    assert found == [True, False]


def test_frames_of_small_files_which_dask_would_read_together(client, tmp_path):
    """A column of numbers takes fewer bytes than the rest, so that Dask reads more files of it in one task."""
    pytest.importorskip("pyarrow")
    table = frame()
    dd.from_pandas(table, npartitions=6).to_parquet(tmp_path / "files")
    ddf = dd.read_parquet(tmp_path / "files")
    assert ddf["c"].optimize().npartitions < ddf.npartitions
    names, here = ["a", "b", "d"], L2BoostRegressor(n_estimators=3)
    given = table[names], table["c"].astype(float)
    with dask.config.set({"boostlab.fan": 2}):  # what is said of six partitions is merged by a tree of three levels
        there = clone(here).fit(ddf[names], ddf["c"].astype(float), sample_weight=ddf["c"] + 1)
    here.fit(*given, sample_weight=table["c"] + 1)
    assert facts(there) == facts(here)
    told = there.score(ddf[names], ddf["c"], ddf["c"] + 1)
    assert told == pytest.approx(here.score(*given, table["c"] + 1), rel=1e-12)
    graphs = []
    with pytest.MonkeyPatch.context() as patch:  # of all partitions together
        compute = client.compute
        patch.setattr(client, "compute", lambda *args: (graphs.append(len(args[0])), compute(*args))[1])
        AdaBoostClassifier(n_estimators=2).fit(ddf[names], ddf["y"])
    assert set(graphs) == {6}


def test_scores_and_what_needs_rows_here(client):
    table = frame()
    ddf, names = dd.from_pandas(table, npartitions=4), ["a", "b", "c", "d"]
    model = AdaBoostClassifier(n_estimators=4).fit(table[names], table["y"])
    few = ddf[ddf["c"] > 5]  # of unknown sizes
    some = table[table["c"] > 5]
    assert model.score(few[names], few["y"]) == pytest.approx(model.score(some[names], some["y"]), rel=1e-12)
    other = Client(client.scheduler.address, set_as_default=False)
    with boostlab.dask.using(other):
        weighted = model.score(few[names], few["y"], few["c"])
    other.close()
    assert weighted == pytest.approx(model.score(some[names], some["y"], some["c"]), rel=1e-12)
    for asked in (
        lambda: model.margins(few[names], few["y"]),
        lambda: next(model.staged_predict(few[names])),
        lambda: model.contributions(few[names]),
        lambda: boostlab.Binned.fit(few[names]),
        lambda: boostlab.Binned.from_batches(few),
    ):
        with pytest.raises(TypeError, match=r"Dask collection(, and this needs its rows here| is fitted where it is)"):
            asked()


def test_validation_rows_stop_and_are_followed_as_locally(client):
    X, y, _ = sample(2, "plain")
    train, rest = slice(0, 160), slice(160, 240)
    for scoring in ("auto", "error", "log_loss"):
        booster = AdaBoostClassifier(n_estimators=7, early_stopping=True, n_iter_no_change=2, scoring=scoring)
        here = facts(booster.fit(X[train], y[train], X_val=X[rest], y_val=y[rest]))
        DX, Dy = collection(X, (50, 110, 80)), collection(y, (50, 110, 80))
        assert facts(booster.fit(DX[train], Dy[train], X_val=DX[rest], y_val=Dy[rest])) == here
        assert facts(booster.fit(DX[train], Dy[train], X_val=X[rest], y_val=y[rest])) == here
    seen = []
    AdaBoostClassifier(n_estimators=2, callbacks=lambda s: seen.append(s.t), verbose=1).fit(DX, Dy)
    assert seen == [1, 2]


def test_sparse_partitions_and_lazy_predictions(client):
    X, y, _ = sample(3, "plain")
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.4, np.nan_to_num(X), 0.0)
    DX = collection(X, (100, 0, 140)).map_blocks(sp.csr_matrix)
    here = SAMMEClassifier(n_estimators=3).fit(sp.csr_matrix(X), y)
    there = SAMMEClassifier(n_estimators=3).fit(DX, y)
    assert facts(there) == facts(here)
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(there, method)(DX)
        assert isinstance(lazy, da.Array)
        assert np.array_equal(lazy.compute(), getattr(here, method)(X))


@pytest.mark.parametrize(
    ("booster", "what"),
    [
        (LPBoostClassifier(), "use AdaBoost or LogitBoost"),
        (RLPBoostClassifier(), "use AdaBoost or LogitBoost"),
        (AdaBoostClassifier(resample=True), "resample=False"),
        (AdaBoostClassifier(early_stopping=True), "give X_val"),
        (AdaBoostClassifier(calibrate="sigmoid"), "calibrate on rows in memory"),
        (AdaBoostClassifier(warm_start=True), "more n_estimators"),
        (AdaBoostClassifier(scoring="roc_auc"), "'log_loss'"),
        (AdaBoostClassifier(early_stopping=True, scoring="auto"), "give X_val|'log_loss'"),
        (VadaBoostClassifier(variance_penalty="auto"), "give a number"),
        (AdaBoostClassifier(boostlab.VoterPool([boostlab.DecisionStump()])), "stumps or trees"),
    ],
    ids=lambda v: v.replace(" ", "_") if isinstance(v, str) else "",
)
def test_what_needs_all_rows_is_refused_in_one_sentence(client, booster, what):
    X, y, _ = sample(2, "plain", n=60)
    given = {"X_val": X, "y_val": y} if booster.scoring != "auto" else {}
    with pytest.raises(TypeError, match=what) as caught:
        booster.fit(collection(X, (30, 30)), collection(y, (30, 30)), **given)
    assert "\n" not in str(caught.value)


def test_wrong_collections_are_refused_in_one_sentence(client, cluster):
    X, y, _ = sample(2, "plain", n=60)
    DX = collection(X, (30, 30))
    for table, labels, weight, what in (
        (DX, y[:50], None, "give one a row"),
        (DX[DX[:, 0] > 0], y, None, "sizes are not known"),
        (DX, collection(y * 0, (30, 30)), None, "only one class"),
        (DX, collection(np.where(y, np.nan, 1.0), (30, 30)), None, "In partition 0: .*label"),
        (da.where(DX > 2, np.inf, DX), y, None, "infinity"),
        (DX, y, collection(-np.ones(60), (30, 30)), "at least 0"),
        (DX, y, collection(np.zeros(60), (30, 30)), "All weights are zero"),
        (DX[:, 0], y, None, "dimensions"),
        (DX, None, None, "requires y to be passed"),
        (dd.from_dask_array(DX), y, None, "such as a column of the same frame"),
        (delayed(X), y, None, r"^X is a Dask collection without columns \(Delayed\w*\); give an array or a frame\.$"),
    ):
        with pytest.raises((ValueError, TypeError), match=what) as caught:
            AdaBoostClassifier(n_estimators=2).fit(table, labels, sample_weight=weight)
        assert "\n" not in str(caught.value)


def fitted_in_a_task(X, y):
    with worker_client():  # has left the worker's pool of threads already
        first = AdaBoostClassifier(n_estimators=2).fit(collection(X, (30, 30)), y)
    return facts(first), facts(AdaBoostClassifier(n_estimators=2).fit(collection(X, (30, 30)), y))


def test_fits_in_tasks_on_all_workers_at_once(client):
    X, y, _ = sample(2, "plain", n=60)
    here = facts(AdaBoostClassifier(n_estimators=2).fit(X, y))
    several = [client.submit(fitted_in_a_task, X, y, pure=False) for _ in range(3)]
    assert [one.result(timeout=60) for one in several] == [(here, here)] * 3


def test_using_names_the_client(cluster, client):
    X, y, _ = sample(2, "plain", n=60)
    other = Client(cluster.scheduler.scheduler_address, set_as_default=False)
    with boostlab.dask.using(other):
        AdaBoostClassifier(n_estimators=2).fit(collection(X, (30, 30)), y)
    other.close()
    with boostlab.dask.using(other), pytest.raises(RuntimeError, match="client or its scheduler is gone"):
        AdaBoostClassifier(n_estimators=2).fit(collection(X, (30, 30)), y)
