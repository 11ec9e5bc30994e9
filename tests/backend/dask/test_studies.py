"""Comparisons and studies run their cells on a cluster, with the same results."""

from __future__ import annotations

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from boostlab.cli import app
from boostlab.studies import clusters

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def run(*arguments):
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_compare_on_a_cluster_gives_the_same_ranking(client, cluster, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(2)
    lines = [",".join(map(str, [*row, "ab"[int(row[0] + rng.normal() > 0)]])) for row in X.tolist()]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,z,class", *lines]))
    monkeypatch.chdir(tmp_path)
    options = ("--boosters", "AdaBoost", "--folds", 2, "--repeats", 1, "--rounds", 3, "--with-peers", "no")
    there = run("compare", "t.csv", *options, "--out", "there", "--dask", cluster.scheduler.scheduler_address)
    here = run("compare", "t.csv", *options, "--out", "here", "--jobs", 1)
    assert there.exit_code == here.exit_code == 0
    found = [re.findall(r"AdaBoost .*?%", one.stdout) for one in (there, here)]
    assert found[0] == found[1] != []
    assert not [f.name for f in (tmp_path / "there").iterdir() if f.name.startswith(".boostlab")]


def test_clusters_that_cannot_be_used_are_refused_in_one_sentence(client, cluster, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("x,class\n" + "1,a\n2,b\n" * 30)
    monkeypatch.setattr(clusters, "PATIENCE", 1)
    for address, sentence in (
        ("tcp://127.0.0.1:9", "boostlab: No Dask scheduler answers at tcp://127.0.0.1:9; start one"),
        ("nonsense:", "boostlab: No Dask scheduler answers at nonsense:"),
    ):
        done = run("compare", tmp_path / "t.csv", "--out", tmp_path / "out", "--dask", address)
        assert done.exit_code == 2
        assert sentence in " ".join(done.stderr.split())
    monkeypatch.setattr(clusters, "_sees", _blind)
    done = run("compare", tmp_path / "t.csv", "--out", tmp_path / "out", "--dask", cluster.scheduler.scheduler_address)
    assert done.exit_code == 2
    assert "where finished cells are kept; name a --store on a disk" in " ".join(done.stderr.split())


def _blind(path):
    return False
