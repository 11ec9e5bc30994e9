"""The benchmark's own arithmetic, and that it runs where peers and data are missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from boostlab.datasets import facts, names

HERE = Path(__file__).parents[1] / "benchmarks"
MODULES = ("chart", "cold", "contenders", "data", "defaults_table", "measure", "peak", "report", "run", "works")

pytestmark = pytest.mark.skipif(not HERE.is_dir(), reason="the benchmarks are not here")


@pytest.fixture
def bench(monkeypatch):
    """Import a module of the benchmark, and forget it afterwards."""
    monkeypatch.syspath_prepend(str(HERE))
    yield import_module
    for name in MODULES:
        sys.modules.pop(name, None)


def seconds(*values):
    return [{"seconds": v, "cells": 100.0, "rows": 10.0, "values": 100.0} for v in values]


def test_contenders_take_turns(bench):
    order = []

    def measure(name):
        order.append(name)
        return {"seconds": 30.0 if name == "slow" else 1.0}

    runs = bench("run").in_turns("W0", ["boostlab", "fast", "slow"], 3, measure, ["boostlab"])
    assert order == ["boostlab", "fast", "slow", "boostlab", "fast", "boostlab", "fast"]  # what is slow is asked once
    assert [len(r) for r in runs.values()] == [3, 3, 1]


def test_what_is_not_possible_is_reported(bench):
    run, order = bench("run"), []

    def measure(name):
        order.append(name)
        if name == "boostlab":
            raise run.Impossible("no such thing")
        return {"seconds": 1.0}

    runs = run.in_turns("W0", ["boostlab", "peer"], 2, measure, ["boostlab"])
    assert order == ["boostlab"]  # no peer to compare with
    assert runs["boostlab"] == "no such thing"
    assert runs["peer"].startswith("skipped")
    work = bench("works").WORKS["W8"]
    lines = list(bench("report").work_lines("W8", work, runs))
    assert lines[0].cells()[3:] == ("not possible", "", "", ">= 30x", "no such thing")


def test_the_ratio_is_to_the_fastest_peer(bench):
    work = bench("works").WORKS["W1"]
    runs = {
        "boostlab": seconds(0.9, 1.0, 1.3),
        "LightGBM": seconds(8.0),
        "XGBoost": seconds(6.0, 5.5),
        "HistGradientBoosting": "not installed",
        "scikit-learn AdaBoost": seconds(2.0),  # beside, not a peer that counts
    }
    ours, light, xgb, hist, ada = bench("report").work_lines("W1", work, runs)
    assert (ours.median, ours.ratio, ours.target, ours.met) == (1.0, 5.75, ">= 5x", True)
    assert (xgb.ratio, light.ratio, ada.ratio) == (1.0, 5.75 / 8, 5.75 / 2)
    assert hist.values == []
    assert "0.9 - 1.3" in bench("report").text_of(ours.cells())
    runs["XGBoost"] = seconds(4.9)
    assert next(bench("report").work_lines("W1", work, runs)).met is False


def test_memory_is_measured_against_cells_and_rows(bench):
    work, report = bench("works").WORKS["M1"], bench("report")
    allowed = 1.3 * 5e6 + 40 * 1e5
    for peak, met in ((allowed, True), (1.01 * allowed, False)):
        runs = {"boostlab": [{"peak_bytes": peak, "values": 5e6, "rows": 1e5}]}
        (line,) = report.memory_lines("M1", work, runs)
        assert line.ratio == pytest.approx(peak / allowed)
        assert line.met is met


def test_growth_is_step_by_step_and_threads_from_the_first(bench):
    works, report = bench("works"), bench("report")
    growths = works.growths(16)
    rows = report.growth_lines("S1", growths["S1"], dict(zip("012", map(seconds, (1.0, 9.0, 95.0)), strict=True)))
    assert [(line.ratio, line.met) for line in rows] == [(None, None), (9.0, True), (95 / 9, False)]
    assert [size for size, _ in growths["S4"].steps] == [1, 2, 4, 8, 16]
    times = dict(zip("01234", map(seconds, (16.0, 8.0, 5.0, 3.0, 2.0)), strict=True))
    lines = list(report.growth_lines("S4", growths["S4"], times))
    assert [line.ratio for line in lines] == [None, 2.0, 3.2, 16 / 3, 8.0]
    assert [line.met for line in lines] == [None] * 4 + [True]
    assert [size for size, _ in works.growths(6)["S4"].steps] == [1, 2, 4, 6]


def test_first_steps_have_limits_in_seconds_or_beside_another(bench):
    steps, report = bench("cold").COLD, bench("report")
    lines = {line.row: line for line in report.cold_lines(steps, {"C1": [1.0], "C2": [1.6], "C4": [0.4], "C6": "no"})}
    assert (lines["C2"].ratio, lines["C2"].target, lines["C2"].met) == (1.6, "< 1.5x", False)
    assert (lines["C4"].target, lines["C4"].met) == ("< 0.5 s", True)
    assert lines["C6"].note == "no"


def test_words_name_rows_and_groups(bench):
    chosen = bench("run").chosen
    assert chosen(["W3", "memory", "W1"]) == ["W1", "W3", "M1", "M2", "M3"]
    assert len(chosen(["W", "scaling", "cold"])) == 8 + 4 + 6
    with pytest.raises(SystemExit, match=r"No such row: W99; there are W1, "):
        chosen(["W99"])


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="Linux keeps the mark, others are sampled")
def test_memory_peaks_are_seen():
    """In a process of its own: here, threads and garbage of other tests would be seen as well."""
    code = "import numpy as np; from peak import PeakMemory\n"
    code += "with PeakMemory() as peak: np.ones(5_000_000)\n"  # 40 MB, gone at once
    code += "print(peak.bytes)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HERE)
    assert 30e6 < int(done.stdout) < 60e6


def test_it_runs_without_peers_and_data(tmp_path):
    out = tmp_path / "out.json"
    command = [sys.executable, str(HERE / "run.py"), "--small", "--repeats", "1", "--threads", "1"]
    command += ["--rows", "W2", "W7", "--without", "LightGBM", "XGBoost", "HistGradientBoosting"]
    command += ["--json", str(out), "--chart", str(tmp_path / "out.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "BOOSTLAB_DATA": ""})
    lines = json.loads(out.read_text(encoding="utf-8"))["lines"]
    assert [(line["row"], line["who"]) for line in lines] == [
        ("W2", "boostlab"),
        ("W7", "boostlab"),
        ("W7", "boostlab, dense"),
    ]
    assert lines[0]["median"] > 0
    assert lines[1]["values"] == []
    assert "needs w8a.svm.gz; set BOOSTLAB_DATA" in lines[1]["note"]
    assert "not possible" in done.stdout


def test_the_defaults_table_holds_every_set_of_several_classes(bench):
    defaults = bench("defaults_table")
    several = {name for name in names() if len(facts(name).class_counts) > 2}
    assert several - set(defaults.SETS) == {"digits", "mnist_extra_15k"}  # parts of optdigits; more of mnist_10k
    text = (HERE / "defaults_table.json").read_text(encoding="utf-8")
    held = json.loads(text)
    assert held == defaults.ordered(held)
    assert set(held) == set(defaults.SETS)
    assert all(set(of) == {defaults.PEER, *defaults.BOOSTERS} for of in held.values())
    page = (HERE.parent / "docs" / "multiclass.md").read_text(encoding="utf-8")
    assert defaults.table(held) in page
    means = {m: sum(of[m][0] for of in held.values()) / len(held) for m in defaults.BOOSTERS}
    assert max(means.values()) <= sum(of[defaults.PEER][0] for of in held.values()) / len(held)


def test_the_defaults_table_names_what_fails_and_keeps_the_rest(bench, tmp_path, capsys):
    out = tmp_path / "table.json"
    with pytest.raises(SystemExit, match="NoSuch on wine: "):
        bench("defaults_table").main(["wine", "--boosters", "NoSuch", "SAMME", "--out", str(out)])
    assert set(json.loads(out.read_text())["wine"]) == {"scikit-learn's AdaBoost", "SAMME"}
    assert "| wine |" in capsys.readouterr().out
