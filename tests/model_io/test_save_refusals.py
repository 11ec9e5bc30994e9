"""What cannot be saved is refused with one sentence; a save that fails leaves the older file."""

from __future__ import annotations

import os
import stat

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import AdaBoostClassifier, VoterPool
from boostlab.model_io import ModelFileError, load, save


def save_refusal(model, path):
    with pytest.raises(ModelFileError) as caught:
        save(model, path)
    said = str(caught.value)
    assert said.startswith(f"Cannot save {type(model).__name__} to {str(path)!r}: ")
    assert said.endswith(".")
    assert "\n" not in said
    return said


def test_an_unfitted_model(tmp_path):
    with pytest.raises(NotFittedError):
        save(AdaBoostClassifier(), tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_voters_of_other_kinds(table, tmp_path):
    X, y = table
    n = dict(n_estimators=2)
    trees = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), **n).fit(X, y)
    said = save_refusal(trees, tmp_path / "x")
    assert "joblib.dump" in said
    assert "DecisionTreeClassifier" in said
    pool = AdaBoostClassifier(VoterPool([lambda X: np.sign(X[:, 0])]), **n).fit(X, y)
    assert "joblib.dump" in save_refusal(pool, tmp_path / "x")
    pool.estimator = None
    assert "joblib.dump" in save_refusal(pool, tmp_path / "x")

    class Mine(AdaBoostClassifier):
        pass

    assert "joblib.dump" in save_refusal(Mine(**n).fit(X, y), tmp_path / "x")
    assert "joblib.dump" in save_refusal(DecisionTreeClassifier().fit(X, y), tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_a_learner_of_another_kind(model, tmp_path):
    class Stumps(boostlab.DecisionStump):
        pass

    model.estimator = Stumps()
    assert "'Stumps'" in save_refusal(model, tmp_path / "x")
    model.estimator = VoterPool([len])
    assert "voters of your own" in save_refusal(model, tmp_path / "x")


def test_a_scoring_function(table, tmp_path):
    scorer = make_scorer(roc_auc_score, response_method="decision_function")
    model = AdaBoostClassifier(scoring=scorer, n_estimators=2).fit(*table)
    assert 'set scoring="error" before saving' in save_refusal(model, tmp_path / "x")
    save(model.set_params(scoring="error"), tmp_path / "x")


def test_parameters_that_changed(table, tmp_path):
    model = boostlab.WeightBoostClassifier(n_estimators=2).fit(*table)
    assert "changed since it was fitted" in save_refusal(model.set_params(beta=0.1), tmp_path / "x")
    assert "beta=-1 is not possible" in save_refusal(model.set_params(beta=-1), tmp_path / "x")
    save(model.set_params(beta=0.5, n_estimators=10), tmp_path / "x")


def test_categories_of_other_kinds(tmp_path):
    days = pandas.date_range("2020", periods=20)
    X = pandas.DataFrame({"day": pandas.Categorical(days), "x": np.arange(20.0)})
    model = AdaBoostClassifier(n_estimators=2).fit(X, np.arange(20) % 2)
    assert "Column 'day' holds Timestamp" in save_refusal(model, tmp_path / "x")
    X = np.empty((20, 1), object)
    X[:, 0] = [(i % 3,) for i in range(20)]
    model = AdaBoostClassifier(categorical_features=[0], n_estimators=2).fit(X, np.arange(20) % 3 == 0)
    assert "joblib.dump" in save_refusal(model, tmp_path / "x")


def test_targets_that_cannot_be_written(model, tmp_path):
    assert "it is a folder" in save_refusal(model, tmp_path)
    assert "does not exist" in save_refusal(model, tmp_path / "no" / "x")
    assert "cannot be written" in save_refusal(model, str(tmp_path / "a\0b"))
    (tmp_path / "f").write_text("x")
    assert "does not exist" in save_refusal(model, tmp_path / "f" / "x")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert "not a plain file" in save_refusal(model, tmp_path / "pipe")


def test_a_protected_file_is_left_alone(model, file, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the tests may run as root, who may do everything
    assert "write-protected" in save_refusal(model, file)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_save_leaves_the_older_file(failing, model, file, monkeypatch):
    before = file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    model.n_estimators = 77
    assert "No space left on device" in save_refusal(model, file)
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == [file.name]


def test_an_interrupted_save_leaves_the_older_file(model, file, monkeypatch):
    before = file.read_bytes()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        save(model, file)
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == [file.name]


@pytest.mark.skipif(os.name != "posix", reason="rights and links as on Unix")
def test_rights_and_links_stay(model, file):
    file.chmod(0o640)
    link = file.with_name("link")
    link.symlink_to(file)
    save(model, link)
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert load(link).n_estimators_ == model.n_estimators_
