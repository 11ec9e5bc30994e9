"""The noise table computes what it says, once."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, LPBoostClassifier
from boostlab.datasets import flip_labels
from tables import noisy_table

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = DOCS / "noise_table.py"


@pytest.fixture
def noise_table(tmp_path, monkeypatch):
    """The script as a module, with one small data set."""
    X, y = noisy_table(60, 3, seed=0)
    with gzip.open(tmp_path / "toy.csv.gz", "wt", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["a", "b", "c", "target"], *([*x, "yes" if t else "no"] for x, t in zip(X, y, strict=True))]
        )
    monkeypatch.setenv("BOOSTLAB_DATA", str(tmp_path))
    spec = importlib.util.spec_from_file_location("noise_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "noise_table", module)
    spec.loader.exec_module(module)
    return module


def made_up(module, boosters, splits=2, limit=5, missing=()):
    """Jobs on the toy data and made-up results: booster number b errs on b + 1 percent plus split number percent."""
    jobs = [module.Job(b, "toy", noise, k, limit) for b in boosters for noise in module.NOISE for k in range(splits)]
    done = {j: module.Line((boosters.index(j.booster) + 1 + j.split) / 100, 5, 0.1, "max_rounds") for j in jobs}
    return jobs, {j: line for j, line in done.items() if j not in missing}


def test_one_fit_is_half_the_rows_flipped_labels_and_clean_tests(noise_table):
    X, y = noise_table.read("toy")
    assert X.shape == (60, 3)
    assert set(y) == {0, 1}
    line = noise_table.fit(noise_table.Job("AdaBoostClassifier", "toy", 20, 3, 7))
    order = np.random.RandomState(3).permutation(60)
    test, train = order[:30], order[30:]
    model = AdaBoostClassifier(n_estimators=7).fit(X[train], flip_labels(y[train], 0.2, random_state=3))
    assert line.error == np.mean(model.predict(X[test]) != y[test])
    assert (line.rounds, line.stop) == (model.n_estimators_, model.stop_reason_.split(":")[0])


def test_a_torn_line_is_dropped_and_the_rest_kept(noise_table, tmp_path):
    path = tmp_path / "noise_table.csv"
    jobs, done = made_up(noise_table, ["AdaBoostClassifier"])
    store = noise_table.Store(path)
    for job in jobs:
        store.add(job, done[job])
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-9], encoding="utf-8")  # killed while writing
    again = noise_table.Store(path)
    assert list(again.lines) == jobs[:-1]
    again.add(jobs[-1], done[jobs[-1]])
    assert path.read_text(encoding="utf-8") == whole
    assert noise_table.Store(path).lines == done


def test_the_table_shows_means_standard_errors_and_what_is_missing(noise_table, tmp_path):
    boosters = ["AdaBoostClassifier", "LPBoostClassifier", "WeightBoostClassifier"]
    hole = noise_table.Job("WeightBoostClassifier", "toy", 10, 1, 5)
    jobs, done = made_up(noise_table, boosters, missing=[hole])
    store = noise_table.Store(tmp_path / "noise_table.csv")
    store.lines = done
    rows = [
        [c.strip() for c in r.split("|")[1:-1]] for r in noise_table.table(jobs, store).splitlines() if r[:1] == "|"
    ]
    assert rows[0] == ["booster", "toy 0 %", "toy 10 %", "toy 20 %", "mean rank"]
    assert rows[2] == ["AdaBoost", *["**1.5 ± 0.5**"] * 3, "1.0"]
    assert rows[3] == ["LPBoost", *["2.5 ± 0.5†"] * 3, "2.0"]  # it would have gone on by itself
    assert rows[4] == ["WeightBoost", "3.5 ± 0.5", "–", "3.5 ± 0.5", "–"]  # no rank: it is not measured everywhere


def test_wrong_requests_are_explained(noise_table, monkeypatch, capsys):
    with pytest.raises(SystemExit, match=r"moon\.csv\.gz is not there"):
        noise_table.main(["--data", "moon"])
    with pytest.raises(SystemExit):
        noise_table.main(["--boosters", "adaboots", "--data", "toy"])
    assert "there is no booster 'adaboots'; choose from " in capsys.readouterr().err
    monkeypatch.delenv("BOOSTLAB_DATA")
    noise_table.read.cache_clear()
    with pytest.raises(SystemExit, match="Set BOOSTLAB_DATA"):
        noise_table.main(["--data", "toy"])


def test_a_second_run_computes_only_what_is_missing(noise_table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(noise_table, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(2))  # quicker to start
    jobs, done = made_up(noise_table, ["AdaBoostClassifier"])
    store = noise_table.Store(tmp_path / "noise_table.csv")
    for job in jobs[1:]:
        store.add(job, done[job])
    wanted = ["--boosters", "adaboost", "--data", "toy", "--rounds", "5", "--splits", "2", "--out", str(tmp_path)]
    assert noise_table.main(wanted) == 0
    assert "5 of 6 fits are done already; 1 to go" in capsys.readouterr().err
    lines = noise_table.Store(tmp_path / "noise_table.csv").lines
    assert {j: lines[j] for j in jobs[1:]} == {j: done[j] for j in jobs[1:]}  # not computed again: they are made up
    assert lines[jobs[0]].error == noise_table.fit(jobs[0]).error
    assert "| AdaBoost |" in (tmp_path / "noise_table.md").read_text(encoding="utf-8")


def test_a_booster_that_fails_does_not_stop_the_others(noise_table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(noise_table, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(2))
    wanted = ["--boosters", "adaboost", "lpboost", "--data", "toy", "--rounds", "3", "--splits", "1"]
    monkeypatch.setattr(LPBoostClassifier, "fit", lambda *_: 1 / 0)
    assert noise_table.main([*wanted, "--out", str(tmp_path)]) == 1
    assert "LPBoostClassifier on toy, 20 %, split 0 failed: ZeroDivisionError" in capsys.readouterr().err
    page = (tmp_path / "noise_table.md").read_text(encoding="utf-8")
    assert "| LPBoost | – | – | – | – |" in page
    assert "| AdaBoost | **" in page


# -- the page that is there --------------------------------------------------------------------------------------------


def test_the_page_is_written_from_the_file_without_fits(noise_table, tmp_path, monkeypatch):
    monkeypatch.delenv("BOOSTLAB_DATA")  # not even the data are needed
    (tmp_path / "noise_table.csv").write_bytes((DOCS / "noise_table.csv").read_bytes())
    assert noise_table.main(["--no-fits", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "noise_table.csv").read_bytes() == (DOCS / "noise_table.csv").read_bytes()
    made, kept = (f.joinpath("noise_table.md").read_text(encoding="utf-8") for f in (tmp_path, DOCS))
    assert made.rpartition("\nMade by ")[0] == kept.rpartition("\nMade by ")[0]


def test_the_reading_agrees_with_the_numbers(noise_table):
    cells = {}
    for job, line in noise_table.Store(DOCS / "noise_table.csv").lines.items():
        cells.setdefault((job.booster.removesuffix("Classifier"), job.data, job.noise), []).append(100 * line.error)
    mean = {k: np.mean(errors) for k, errors in cells.items()}
    assert all(len(errors) == 10 for errors in cells.values())
    names = {b for b, _, _ in mean}

    def place(booster, data, noise):
        values = sorted(mean[b, data, noise] for b in names if (b, data, noise) in mean)
        return values.index(mean[booster, data, noise])

    def worse(booster, data, noise):
        return sum((b, data, noise) in mean and mean[b, data, noise] > mean[booster, data, noise] for b in names)

    noisy = [(d, noise) for d in noise_table.DATA for noise in (10, 20)]
    views = ("RealAdaBoost", "GentleBoost", "LogitBoost")
    assert {place(b, "ringnorm", 0) for b in views} == {0, 1, 2}
    assert {place(b, "ionosphere", 0) for b in (*views, "L2Boost")} == {0, 1, 2, 3}

    def beats(booster, d, noise):
        return mean[booster, d, noise] < mean["AdaBoost", d, noise]

    for d, noise in noisy:
        assert (place("L2Boost", d, noise) == 0) == (d in ("ringnorm", "ionosphere"))
        assert (place("MadaBoost", d, noise) == 0) == ((d, noise) == ("spambase", 10))
        assert (place("RQPBoost", d, noise) == 0) == (d in ("twonorm", "pima") or (d, noise) == ("spambase", 20))
        assert beats("RQPBoost", d, noise) == ((d, noise) != ("ringnorm", 10))
        assert (mean["RLPBoost", d, noise] >= 30) == (d != "ionosphere")
        for booster in ("MadaBoost", "FilterBoost", "VadaBoost"):
            assert beats(booster, d, noise) == ((d, noise) != ("ionosphere", 20)), (booster, d, noise)
        assert beats("WeightBoost", d, noise)
        for booster in views:
            assert d not in ("twonorm", "spambase", "pima") or not beats(booster, d, noise)
        assert d in ("ionosphere", "pima") or beats("QuadBoost", d, noise)
        assert beats("SoftMarginBoost", d, noise) == (d != "ringnorm")
    columns = [(d, noise) for d in noise_table.DATA for noise in noise_table.NOISE]
    ranks = {b: float(r) for b, r in noise_table.mean_ranks(sorted(names), columns, mean).items()}
    assert sorted(ranks, key=ranks.__getitem__)[0] == "L2Boost"
    second = {b: ranks[b] for b in ("RQPBoost", "FilterBoost", "MadaBoost")}
    assert max(second.values()) - min(second.values()) < 0.2
    assert all(ranks[b] > max(second.values()) for b in ranks.keys() - second.keys() - {"L2Boost"})
    assert "LPBoost" not in ranks
    assert not {"ERLPBoost", "SoftBoost", "TotalBoost"} & names
    assert sum(place("L2Boost", d, noise) < 3 for d, noise in noisy) == 9  # docs/statistical_view.md
    assert all(
        beats("RQPBoost", d, 0) != (d in ("ringnorm", "spambase")) for d in noise_table.DATA if d != "ionosphere"
    )
    assert abs(mean["RQPBoost", "ionosphere", 0] - mean["AdaBoost", "ionosphere", 0]) < 0.1  # level
    assert all(worse("RobustBoost", d, 0) <= 1 for d in noise_table.DATA if d != "pima")
    assert all(worse("BoostByMajority", d, 20) <= 3 for d in noise_table.DATA)
    assert all(worse("QuadBoost", "ionosphere", noise) <= 3 for noise in (10, 20))
    assert [place("L1Boost", "pima", noise) for noise in noise_table.NOISE] == [0, 1, 1]
    assert all(mean["L1Boost", "ringnorm", noise] > 1.7 * mean["AdaBoost", "ringnorm", noise] for noise in (10, 20))
    assert all(mean["ARBoost", d, 20] > 50 for d in ("twonorm", "ringnorm", "pima"))
    assert all(worse("LPBoost", d, noise) <= 3 for d in ("ionosphere", "pima") for noise in noise_table.NOISE)
