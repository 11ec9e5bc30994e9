"""A learner is one file: stumps along a direction of two columns, which the library has never heard of."""

from __future__ import annotations

import inspect
import json
import sys
import zipfile
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import boostlab
from boostlab.contract import Found, Learner, Session, Stop, Task, Voter, error_sums, stored_learner, voter_kind
from boostlab.contract.voter import KINDS, LEARNERS, Arrays, Layout, Setting, need
from boostlab.data.table import Table
from boostlab.model_io import ModelFileError

# -- the learner -----------------------------------------------------------------------------------------------------


@voter_kind("oblique_stump")
@dataclass(slots=True)
class ObliqueStump(Voter):
    """Says `side` where a[0] x_i + a[1] x_j is above the threshold, else -side."""

    columns: tuple[int, int]
    direction: tuple[float, float]
    threshold: float
    side: float

    layout: ClassVar[Layout] = {
        "oblique_columns": ("<i8", ("O", 2)),
        "oblique_direction": ("<f8", ("O", 2)),
        "oblique_cut": ("<f8", ("O", 2)),  # the threshold and the side
    }

    @property
    def bound(self) -> float:
        return 1.0

    def votes(self, table: Any) -> Any:
        return np.where(along(table.floats, self.columns, self.direction) > self.threshold, self.side, -self.side)

    def key(self) -> tuple[Hashable, float]:
        return ("oblique", self.columns, self.direction, self.threshold), self.side

    def importances(self, n_features: int) -> tuple[list[int], list[float]]:
        whole = sum(map(abs, self.direction))
        return list(self.columns), [abs(a) / whole for a in self.direction]

    @classmethod
    def pack(cls, voters: Sequence[ObliqueStump]) -> dict[str, Any]:
        return {
            "oblique_columns": [v.columns for v in voters],
            "oblique_direction": [v.direction for v in voters],
            "oblique_cut": [(v.threshold, v.side) for v in voters],
        }

    @classmethod
    def unpack(cls, arrays: Arrays, setting: Setting) -> Iterator[ObliqueStump]:
        columns, direction, cut = (arrays[f"oblique_{name}"] for name in ("columns", "direction", "cut"))
        need(
            ((columns >= 0) & (columns < setting.n_features)).all(), "an oblique stump on a column that does not exist"
        )
        need(np.isfinite(direction).all() and np.isfinite(cut).all(), "an oblique stump without a direction")
        need((np.abs(cut[:, 1]) == 1).all() and direction.any(axis=1).all(), "an oblique stump without sides")
        for c, a, (threshold, side) in zip(columns.tolist(), direction.tolist(), cut.tolist(), strict=True):
            yield cls((c[0], c[1]), (a[0], a[1]), threshold, side)


def along(X: Any, columns: tuple[int, int], direction: tuple[float, float]) -> Any:
    return direction[0] * X[:, columns[0]] + direction[1] * X[:, columns[1]]


@stored_learner
class ObliqueStumps(Learner, BaseEstimator):
    """The best cut along so many random directions of two columns."""

    def __init__(self, directions: int = 20) -> None:
        self.directions = directions

    def searches(self) -> frozenset[str]:
        return frozenset(["edge"])

    def begin(self, rows: Any, rng: np.random.Generator) -> ObliqueSession:
        return ObliqueSession(self.directions, rows, rng)


class ObliqueSession(Session):
    """Search on one sample."""

    def __init__(self, directions: int, rows: Any, rng: np.random.Generator) -> None:
        self.directions, self.X, self.rows, self.rng = directions, rows.table.floats, rows, rng

    def best(self, task: Task) -> Found | Stop:
        mass = self.rows.mass if task.counts is None else task.counts
        signed, best = task.weight * task.target * mass, (0.0, None, None)
        for _ in range(self.directions):
            i, j = (int(c) for c in self.rng.choice(self.X.shape[1], 2, replace=False))
            angle = self.rng.uniform(0, np.pi)
            a = (float(np.cos(angle)), float(np.sin(angle)))
            x = along(self.X, (i, j), a)
            order = np.argsort(x, kind="stable")
            above = signed.sum() - 2 * np.cumsum(signed[order])[:-1]  # the edge of +1 above each row
            k = int(np.abs(above).argmax())
            if abs(above[k]) > best[0] and x[order[k]] < x[order[k + 1]]:
                middle = float((x[order[k]] + x[order[k + 1]]) / 2)
                voter = ObliqueStump((i, j), a, middle, float(np.sign(above[k])))
                best = abs(float(above[k])), voter, np.where(x > middle, voter.side, -voter.side)
        _, voter, votes = best
        if voter is None:
            return Stop("no_edge", "no direction has an edge")
        if task.counts is not None:
            return Found(voter, votes)
        wrong = task.weight * (votes != task.target)
        return Found(voter, votes, {error_sums: self.rows.total(task.weight, wrong)})


# -- the tests -------------------------------------------------------------------------------------------------------


@pytest.fixture
def diagonal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, (X[:, 1] + X[:, 3] > 0.2).astype(int)


def boosted(**params):
    return boostlab.AdaBoostClassifier(ObliqueStumps(), n_estimators=15, random_state=0, **params)


@pytest.mark.parametrize(
    "name", ["AdaBoostClassifier", "QuadBoostClassifier", "LPBoostClassifier", "MadaBoostClassifier"]
)
def test_it_fits_and_predicts(name, diagonal):
    X, y = diagonal
    model = getattr(boostlab, name)(ObliqueStumps(), n_estimators=15, random_state=0).fit(X, y)
    stumps = getattr(boostlab, name)(n_estimators=15).fit(X, y)
    assert model.score(X, y) > max(0.93, stumps.score(X, y))
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], model.decision_function(X), atol=1e-12)


def test_what_a_booster_can_do_it_can_do_with_it(diagonal):
    X, y = diagonal
    assert boosted(resample=True).fit(X, y).score(X, y) > 0.9
    three = clone(boosted(multiclass="ovr")).fit(X, np.digitize(X[:, 1] + X[:, 3], [-0.5, 0.7]))
    assert three.feature_importances_.argsort()[-2:].tolist() in ([1, 3], [3, 1])
    early = boosted(early_stopping=True).fit(X, y)
    assert early.n_estimators_ >= 1
    assert boostlab.theory.row_weights(boosted().fit(X, y), X, y).by_round.shape[1] == 300


def test_the_sums_it_knows_are_the_sums(diagonal):
    X, y = diagonal
    model = boosted().fit(X, y)
    F, signs = np.zeros(300), 2.0 * y - 1
    for voter, alpha, error in zip(model.estimators_, model.estimator_weights_, model.history_["error"], strict=True):
        h, w = voter.votes(Table(X)), np.exp(-signs * F)
        assert error == pytest.approx(w[h != signs].sum() / w.sum(), abs=1e-12)
        F += alpha * h


def test_importances_are_those_of_its_columns(diagonal):
    model = boosted().fit(*diagonal)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert set(model.feature_importances_.argsort()[-2:]) == {1, 3}


@pytest.mark.parametrize("multiclass", [False, True])
def test_a_saved_model_is_the_same_model(diagonal, tmp_path, multiclass):
    X, y = diagonal
    y = np.digitize(X[:, 1] + X[:, 3], [-0.5, 0.7]) if multiclass else y
    model = boosted(multiclass="ovr").fit(X, y)
    model.save(tmp_path / "model.boost")
    loaded = boostlab.load(tmp_path / "model.boost")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    assert loaded.estimator.directions == 20
    loaded.save(tmp_path / "again.boost")
    assert (tmp_path / "again.boost").read_bytes() == (tmp_path / "model.boost").read_bytes()


@pytest.mark.parametrize("registry", [KINDS, LEARNERS])
def test_who_does_not_know_it_is_told_what_to_do(diagonal, tmp_path, monkeypatch, registry):
    boosted().fit(*diagonal).save(tmp_path / "model.boost")
    monkeypatch.delitem(registry, "oblique_stump" if registry is KINDS else "ObliqueStumps")
    with pytest.raises(ModelFileError, match="not known here; import the module that defines it first"):
        boostlab.load(tmp_path / "model.boost")
    with pytest.raises(ModelFileError, match=r"Oblique.*joblib"):
        boosted().fit(*diagonal).save(tmp_path / "other.boost")


def test_one_in_the_package_is_found_by_its_file(diagonal, tmp_path, monkeypatch):
    """A new file in `learners/`, named in no list: its learner is public, and a model file finds it."""
    own = inspect.getsource(sys.modules[__name__]).partition("# -- the tests")[0]
    for old, new in (("ObliqueStump", "LeaningStump"), ("oblique_", "leaning_")):
        own = own.replace(old, new)
    (tmp_path / "leaning_stump.py").write_text(own)
    monkeypatch.setattr(boostlab.learners, "__path__", [*boostlab.learners.__path__, str(tmp_path)])
    monkeypatch.setattr(boostlab.learners.__spec__, "submodule_search_locations", boostlab.learners.__path__)
    learner = boostlab.LeaningStumps
    try:
        assert {"LeaningStumps", "DecisionStump", "DecisionTree", "VoterPool"} <= set(dir(boostlab))
        model = boostlab.AdaBoostClassifier(learner(), n_estimators=3, random_state=0).fit(*diagonal)
        model.save(tmp_path / "model.boost")
        for registry, name in ((KINDS, "leaning_stump"), (LEARNERS, "LeaningStumps")):
            del registry[name]
        del sys.modules[learner.__module__]  # as in another process
        loaded = boostlab.load(tmp_path / "model.boost")
        np.testing.assert_array_equal(loaded.decision_function(diagonal[0]), model.decision_function(diagonal[0]))
        assert type(loaded.estimator).__module__ == "boostlab.learners.leaning_stump"
    finally:
        for registry, name in (
            (KINDS, "leaning_stump"),
            (LEARNERS, "LeaningStumps"),
            (vars(boostlab), "LeaningStumps"),
        ):
            registry.pop(name, None)
        sys.modules.pop(learner.__module__, None)


def test_arrays_of_another_kind_cannot_be_taken():
    class Thief(Voter):
        layout: ClassVar[Layout] = {"stump_cut": ("<i8", ("S",))}

    with pytest.raises(ValueError, match="Other voters have arrays named"):
        voter_kind("thief")(Thief)
    assert "thief" not in KINDS


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    ("array", "number", "cause"),
    [
        ("columns", np.int64(5), "a column that does not exist"),
        ("columns", np.int64(-1), "a column that does not exist"),
        ("direction", np.nan, "without a direction"),
        ("cut", np.inf, "without a direction"),
    ],
)
def test_damaged_files_are_refused(diagonal, tmp_path, array, number, cause):
    boosted().fit(*diagonal).save(tmp_path / "model.boost")
    members, name = members_of(tmp_path / "model.boost"), f"oblique_{array}.npy"
    members[name] = members[name][:-8] + np.array(number).tobytes()
    with zipfile.ZipFile(tmp_path / "damaged.boost", "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    with pytest.raises(ModelFileError, match=cause):
        boostlab.load(tmp_path / "damaged.boost")


def test_files_of_the_librarys_own_voters_name_no_kinds(diagonal, tmp_path):
    """So that earlier versions read them."""
    boostlab.AdaBoostClassifier(n_estimators=3).fit(*diagonal).save(tmp_path / "model.boost")
    assert "voter_kinds" not in json.loads(members_of(tmp_path / "model.boost")["model.json"])
