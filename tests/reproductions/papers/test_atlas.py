"""The atlas: its registration is its code, all methods are trained alike, and the page says what is planted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostlab.boosters import REGISTRY
from boostlab.studies.plan import Block, Outcome, StudyProblem
from boostlab.studies.schedule import Place
from boostlab.studies.store import CellEntry, Saved
from boostlab.studies.study import Done, Results
from boostlab_reproductions import papers
from boostlab_reproductions.papers import atlas
from boostlab_reproductions.papers.atlas_again import TOGETHER, completed, lacking, measured_again
from boostlab_reproductions.papers.atlas_contenders import (
    AUTO,
    CANDIDATES,
    CONTROLS,
    LEFT_OUT,
    PEERS,
    PROGRAMS,
    SEVERAL_CLASSES,
    TWO_CLASSES,
    all_of,
)
from boostlab_reproductions.papers.atlas_groups import TABLE, _held_out
from boostlab_reproductions.problems import ATLAS_SEVERAL, ATLAS_TWO
from boostlab_reproductions.problems.openml import openml_folds
from boostlab_reproductions.protocols.atlas import Atlas, jittered
from boostlab_reproductions.protocols.atlas_folds import AtlasFolds
from boostlab_reproductions.protocols.atlas_models import fitted
from boostlab_reproductions.protocols.equal_choice import candidates

REGISTRATION = (Path(__file__).parents[3] / "studies/atlas/registration.md").read_text(encoding="utf-8")


N_BOOSTERS = 29  # when the study was registered


def lines_after(head: str) -> list[list[str]]:
    """The rows of the table of the registration that begins with this head."""
    table = REGISTRATION[REGISTRATION.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[word.strip() for word in line.strip("|").split("|")] for line in table]


def test_the_registration_is_the_code():
    groups = {"two classes": TWO_CLASSES, "two classes, small sets": PROGRAMS, "several classes": SEVERAL_CLASSES}
    planned = [
        [one.name, where, "; ".join(f"{name}: {', '.join(map(str, v))}" for name, v in one.grid.items())]
        for where, group in (groups | {"all": PEERS}).items()
        for one in group
    ]
    assert lines_after("| contender | where") == [*planned, [AUTO.name, "all", "none"]]
    said = [[h.name, h.method, h.opponent, h.block, h.expected] for h in atlas.HYPOTHESES]
    assert lines_after("| | method | against") == said
    blocks = {block.name: block for block in atlas.studies()[0].blocks}
    for name, sets, _, repeats in lines_after("| block | sets"):
        sizes = ["500 rows", "2,000 rows", "4,000 rows"] if "4,000" in name else [name]
        for block in sizes:
            assert sets.split()[0] == str(len(blocks[block].problems))
            assert int(repeats) == blocks[block].repeats["full"]
    assert len(ATLAS_TWO) + len(ATLAS_SEVERAL) == 57
    for h in atlas.HYPOTHESES:
        assert {h.method, h.opponent} <= {m.name for m in blocks[h.block].methods}


def test_every_booster_takes_part_and_all_have_six_candidates():
    methods = all_of(*TWO_CLASSES, *PROGRAMS, *SEVERAL_CLASSES, *PEERS, *CONTROLS)
    entered = {m.booster for m in methods if m.booster}
    assert entered | set(LEFT_OUT) <= set(
        REGISTRY
    )  # boosters that came after the study's registration do not take part
    assert not entered & set(LEFT_OUT)
    assert len(entered) + len(LEFT_OUT) == N_BOOSTERS
    for method in methods:
        assert len(list(candidates(method))) == (CANDIDATES if "tuned" in method.how else 1), method.name


@dataclass
class Toy:
    X: Any
    y: Any
    hash: str = "toy"
    categorical_features: tuple[int, ...] = (2,)


def toy(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    X[:, 2] = rng.integers(0, 3, 150)
    score = X[:, 0] + (X[:, 2] == 1)
    X[rng.random((150, 3)) < 0.03] = np.nan
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    y[:3] = n_classes  # a class of three rows, which is left out
    return Toy(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_methods_are_trained_and_measured_alike(n_classes):
    protocol = Atlas(rounds=8, share=0.2, most_train=80)
    parts = protocol.parts(toy(n_classes), 0)
    assert parts.facts["classes"] == n_classes
    assert len(parts.train.y) == pytest.approx(80, abs=2)
    assert sorted([*parts.fit, *parts.choose]) == list(range(len(parts.train.y)))
    names = ["LogitBoost, 8 leaves", "LogitBoost, tuned", "HistGradientBoosting, tuned", "logistic regression, tuned"]
    for method in (m for m in all_of(*SEVERAL_CLASSES, *PEERS) if m.name in names):
        numbers = protocol.run(parts, method).numbers
        assert numbers["test_error"] < 0.6
        assert 0.5 < numbers["auc"] <= 1.0
        assert numbers["log_loss"] > 0
        assert numbers["fit_seconds"] > 0
        assert numbers["bytes"] > 100
        assert 0 <= numbers["calibration_error"] <= 1
        again = protocol.again(parts, method, numbers)  # the same model, without the search
        assert all(again[name] == numbers[name] for name in ("test_error", "log_loss", "calibration_error", "rounds"))
        if "tuned" in method.name:
            assert numbers["tried"] == CANDIDATES
            assert set(numbers["chosen"]) == set(method.grid)
            assert "failed_candidates" not in numbers
            assert ("chosen_rounds" in numbers) == ("logistic" not in method.name)  # it has no rounds


def test_a_choice_of_catboost_is_the_model_that_was_chosen():
    pytest.importorskip("catboost")
    (method,) = (m for m in all_of(*PEERS) if m.name == "CatBoost, tuned")
    for n_classes in (2, 3):
        parts = Atlas(rounds=210, most_train=80).parts(toy(n_classes), 0)
        for values in list(candidates(method))[::4]:
            rows = parts.train.take(parts.fit)
            long, short = (fitted(method, values, n, rows, parts.seed) for n in (210, 20))
            assert long.errors(parts.test)[19] == np.count_nonzero(short.predict(parts.test.X) != parts.test.y)


def test_controls_choose_among_six_runs_of_adaboost():
    protocol = Atlas(rounds=5, most_train=80)
    parts = protocol.parts(toy(2), 0)
    weights = [jittered(parts, {"run": run}) for run in (1, 2)]
    assert jittered(parts, {"run": 0}) is None  # the first is plain AdaBoost
    assert all(np.abs(w - 1).max() <= 0.1 for w in weights)
    assert np.abs(weights[0] - weights[1]).max() > 0.05
    of_stumps = [m for m in all_of(*CONTROLS) if "stumps" in m.name]
    plain, *others = (fitted(of_stumps[1], {"run": 1}, 5, parts.train, 0, weight=w) for w in (None, *weights))
    margins = [one.model.decision_function(parts.test.X) for one in (plain, *others)]
    assert not np.array_equal(margins[0], margins[1])
    assert not np.array_equal(margins[1], margins[2])
    for method in of_stumps:
        numbers = protocol.run(parts, method).numbers
        assert numbers["tried"] == CANDIDATES
        assert set(numbers["chosen"]) == set(method.grid)


def test_a_finished_cell_is_completed_only_by_the_same_model():
    protocol = Atlas(rounds=8, most_train=80)
    parts = protocol.parts(toy(2), 0)
    method = next(m for m in all_of(*TWO_CLASSES) if m.name == "LogitBoost, tuned")
    whole = protocol.run(parts, method)
    kept = {name: value for name, value in whole.numbers.items() if name not in ("calibration_error", "chosen_rounds")}
    assert (
        completed(protocol, parts, method, Outcome(kept)).numbers["calibration_error"]
        == (whole.numbers["calibration_error"])
    )
    assert completed(protocol, parts, method, Outcome({**kept, "log_loss": 1.001 * kept["log_loss"]})) is None


@dataclass(frozen=True)
class ToyProblem(StudyProblem):
    """A set that needs no file."""

    name: str

    def definition(self):
        return {"toy": self.name}

    def data(self):
        return toy(2)


def test_what_finished_cells_lack_is_measured_split_by_split(monkeypatch):
    block = Block("toys", [ToyProblem("a"), ToyProblem("b")], all_of(*PROGRAMS), Atlas(8, most_train=80), {"full": 2})
    places = []
    for cell in block.cells(2):
        entry = CellEntry.of(cell, "hash")
        places.append(Place("toys", cell, entry.key, entry))
    kept = dict.fromkeys(("test_error", "log_loss", "auc", "fit_seconds"), 0.0)
    saved = {place.key: Saved(k, place.key, Outcome(kept), "", 1.0, "", "") for k, place in enumerate(places)}
    measured = places[0]
    saved[measured.key] = Saved(0, measured.key, Outcome({**kept, "calibration_error": 0.1}), "", 1.0, "", "")
    groups = lacking(places, saved)
    found = [place for own in groups for place in own]
    assert {place.key for place in found} == {place.key for place in places[1:]}
    assert len(found) == len(places) - 1
    for own in groups:
        assert len(own) <= TOGETHER
        assert len({(place.cell.problem.name, place.cell.repeat) for place in own}) == 1

    (study,) = atlas.studies()
    monkeypatch.setitem(papers.STUDIES, "atlas", replace(study, blocks=(block,)))
    method = next(m for m in block.methods if m.name == "RLP-Boost, stumps")
    whole = block.protocol.run(block.protocol.parts(toy(2), 1), method)
    old = Outcome({name: value for name, value in whole.numbers.items() if name != "calibration_error"})
    other = Outcome({**old.numbers, "auc": 0.01})
    again = measured_again(("toys", "b", 1, [(method.name, old), (method.name, other)]))
    assert again[0].numbers["calibration_error"] == whole.numbers["calibration_error"]
    assert again[1] is None  # another model stays as it is


def test_ties_in_a_held_out_choice_are_not_broken_by_rounding():
    ours = np.array([[0.1 + 0.2, 0.3], [0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], [0.5, 0.1]])
    costs = np.column_stack([np.full(4, 0.2), ours])
    # The first three sets cannot tell a from b, and so take a for the last one; with it they all take b.
    assert _held_out(costs, ["peer", "a", "b"], ["a", "b"], ["peer"]) == pytest.approx((3 * -0.1 - 0.3) / 4)


def planted(gains, blocks=("two classes",), repeats=1, without=()):
    """Cells whose errors are a set's own plus what a method gains, in points."""
    (study,) = atlas.studies()
    rng = np.random.default_rng(0)
    done = []
    for block in (b for b in study.blocks if b.name in blocks):
        for k, problem in enumerate(block.problems):
            facts = {"rows": 900.0, "n_train": 300.0 + 400 * (k % 2), "columns": 9.0, "categorical": float(k % 3)}
            facts |= {"classes": 2.0, "smallest_class": 0.3 if k % 4 == 0 else 0.9, "pace": 0.01}
            for method in (m for m in block.methods if m.name not in without):
                for repeat in range(repeats):
                    error = 0.1 + 0.005 * k + gains.get(method.name, 0.03) + 0.002 * rng.random()
                    numbers = {
                        "test_error": error,
                        "log_loss": 2 * error,
                        "auc": 1 - error,
                        "fit_seconds": 0.1,
                        **facts,
                    }
                    stop = "max_rounds" if k % 2 else "time_up"
                    tuned = {"near_cap": float(k < 8), "bytes": 1000, "chosen": {"a": 1}, "tied": 0.0, "stop": stop}
                    numbers |= tuned if "tuned" in method.name else {}
                    done.append(Done(block.name, problem.name, method.name, repeat, Outcome(numbers)))
    return Results(study.blocks, done, {}), study


def test_the_page_says_what_is_planted():
    gains = {
        "L2Boost, tuned": -0.05,
        "LogitBoost, 8 leaves": -0.04,
        "LightGBM, tuned": -0.045,
        "AdaBoost, stumps": 0.08,
    }
    results, study = planted(gains, without=("CatBoost, default", "CatBoost, tuned"))
    report = study.report(results)
    whole = {row["tuning"]: row for row in report.tables[TABLE] if row["situation"] == "two classes"}
    assert whole["tuned"]["take"] == "L2Boost, tuned"
    assert whole["untuned"]["take"] == "LogitBoost, 8 leaves"
    assert whole["tuned"]["best peer"] == "LightGBM, tuned"
    assert whole["tuned"]["difference, points"] == pytest.approx(0.5, abs=0.1)
    assert {"two classes, few rows", "two classes, imbalanced"} <= {row["situation"] for row in report.tables[TABLE]}
    assert whole["tuned"]["as good"] == ""  # all others of ours have more errors
    said = {row["where"]: row["what we found"] for row in report.tables["first of each kind"]}
    assert "L2Boost ranks first of our boosters" in said["two classes, tuned"]
    assert "Typically LightGBM errs more by 0.4" in said["two classes, tuned"]
    chosen = {row["method"]: (row["parameters"], row["chosen"]) for row in report.tables["choices"]}
    assert chosen["AdaBoost, tuned"] == ("a", "1: 34")
    verdicts = {claim.text.partition(":")[0]: claim.verdict for claim in report.claims}
    assert verdicts["H3"] == "holds"  # AdaBoost with stumps has more errors
    assert verdicts["H1"] == "does not hold"  # LightGBM has fewer than LogitBoost
    assert "H10" not in verdicts  # CatBoost is not there
    assert report.tables["all methods, two classes"][0]["method"] == "L2Boost, tuned"
    cut_off = {row["method"]: row["cut off, %"] for row in report.tables["choices"]}
    assert cut_off["BrownBoost, tuned"] == 50.0
    assert cut_off["AdaBoost, tuned"] is None  # its rounds are chosen
    (caps,) = (note for note in report.notes if note.startswith("Caps"))
    assert "two classes 24 % (" in caps  # 8 of 34 sets
    assert "AdaBoost 24 %" in caps
    assert "LightGBM, tuned (two classes)" in caps.partition("a hypothesis names: ")[2]
    asked = {row["question"]: row["difference, points"] for row in report.tables["asked afterwards"]}
    assert asked["A3"] == pytest.approx(-7.0, abs=0.1)  # LogitBoost with 8 leaves against stumps
    assert {"ranks, two classes", "seconds and error, two classes", "differences"} <= set(report.figures)


def test_contenders_are_compared_with_controls_and_calibration_is_shown():
    rates, jitter = "AdaBoost, stumps (six rates), tuned", "AdaBoost, stumps (best of six jittered runs), tuned"
    gains = {rates: -0.02, jitter: 0.03, "L2Boost, tuned": -0.04}
    results, study = planted(gains, ("two classes", "two classes, controls"), repeats=2)
    for one in results.rows("two classes"):
        if one.repeat == 0 and one.method != "EBM, tuned":
            one.outcome.numbers["calibration_error"] = one.number("test_error") / 2
    report = study.report(results)
    rows = {(r["control"], r["method"]): r for r in report.tables["against controls, two classes"]}
    l2 = rows["AdaBoost, stumps (six rates)", "L2Boost, tuned"]
    assert l2["difference, points"] == pytest.approx(-2.0, abs=0.1)
    assert (l2["lower on"], l2["sets"]) == (34, 34)
    assert l2["Holm p"] > l2["Wilcoxon p"] > 0
    plain = rows["AdaBoost, stumps (best of six jittered runs)", "AdaBoost, tuned"]
    assert plain["difference, points"] == pytest.approx(0.0, abs=0.1)
    assert not any("six" in method for _, method in rows)
    (note,) = (note for note in report.notes if note.startswith("Controls (two classes)"))
    assert "AdaBoost, stumps (six rates): L2Boost less, " in note
    assert note.endswith("AdaBoost, 8 leaves (best of six jittered runs): L2Boost less, none more.")
    lines = report.tables["calibration, two classes"]
    assert lines[0]["method"] == "L2Boost, tuned"
    assert "EBM, tuned" not in {row["method"] for row in lines}
    said = {row["method"]: row for row in lines}["LogitBoost, tuned"]
    assert said["log loss"] == pytest.approx(4 * said["calibration error, %"] / 100, rel=0.01)
    pairs = {row["hypothesis"] for row in report.tables["hypotheses by calibration error"]}
    assert "H1" in pairs
    assert "ranks, two classes, controls" not in report.figures


def test_openmls_folds_are_tested_and_shown_beside_our_own_splits():
    whole = toy(2)
    rows = np.flatnonzero(whole.y < 2)  # without the class of three rows, which OpenML's folds would hold
    data = Toy(whole.X[rows], whole.y[rows])
    parts = AtlasFolds(rounds=8).parts(data, 3)
    fold = np.sort(openml_folds(data.y)[3])
    np.testing.assert_array_equal(parts.test.X, data.X[fold])
    assert len(parts.train.y) == len(data.y) - len(fold)
    with pytest.raises(ValueError, match="all rows"):
        AtlasFolds(rounds=8).parts(whole, 0)
    results, study = planted({"AutoBoost": -0.02}, ("two classes", "several classes", "OpenML's folds"), repeats=2)
    lines = study.report(results).tables["OpenML's folds beside our own splits"]
    assert (lines[0]["method"], lines[0]["sets"], lines[0]["on our splits"]) == ("AutoBoost", 11, 1.0)
    assert len(lines) == 13
    assert not any("CatBoost" in line["method"] or "tuned" in line["method"] for line in lines)


def test_the_quick_tier_stands_in_for_the_full_one():
    results, study = planted({}, blocks=("two classes, quick",))
    report = study.report(results)
    assert "all methods, two classes" in report.tables
    assert {row["sets"] for row in report.tables["hypotheses"]} == {7}
