"""Tuning, ranking and advice follow the metric; numbers, yardsticks, and what a comparison leaves behind."""

import re

import numpy as np
import pytest

import boostlab
from boostlab.comparison import peers
from boostlab.comparison.design import design
from boostlab.comparison.methods import suitable
from boostlab.comparison.metrics import METRICS
from boostlab.comparison.model_sections import importances_section, ranges_of
from boostlab.comparison.peers import build, fit_in_steps
from boostlab.comparison.protocol import NestedCV
from boostlab.comparison.report import build_report
from boostlab.studies.plan import Method, Outcome
from boostlab.studies.progress import TimeOver, noting
from boostlab.studies.schedule import find_places, in_groups
from boostlab.studies.store import Saved, Store
from boostlab.studies.watch import StudyProgress
from boostlab.tables.table import LabelledTable

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=400)
RARE = (np.quantile(SCORE, 0.94) < SCORE).astype(int)
TABLE = LabelledTable("t", X, RARE, ("ok", "fraud"))


@pytest.mark.parametrize("metric", ["log_loss", "roc_auc", "average_precision", "brier", "f1"])
def test_the_choice_is_that_of_a_plain_search_by_the_metric(metric):
    protocol = NestedCV(folds=3, rounds=8, metric=metric)
    split = protocol.parts(TABLE, 0)
    method = Method("LogitBoost", "LogitBoostClassifier", grid={"learning_rate": (0.1, 1.0)})
    found = protocol.run(split, method).numbers
    one, table = METRICS[metric], {}
    for rate in (0.1, 1.0):
        for rounds in range(1, 9):
            model = boostlab.LogitBoostClassifier(n_estimators=rounds, learning_rate=rate)
            costs = []
            for a, b in split.inner:
                model.fit(a.X, a.y)
                answer = {"labels": model.predict, "probabilities": model.predict_proba}
                costs.append(len(b.y) * one.cost(b.y, answer.get(one.needs, model.decision_function)(b.X)))
            table[rate, rounds] = sum(costs)
    rate, rounds = min(table, key=table.get)
    assert (found["chosen"]["learning_rate"], found["rounds"]) == (rate, rounds)
    assert found["cost"] == found["costs"][metric]


# What each metric recommends on this table (seed 0).
GOLDEN = {
    "error": "boostlab.LogitBoostClassifier(n_estimators=1, learning_rate=0.1)",
    "log_loss": "boostlab.LogitBoostClassifier(n_estimators=4, learning_rate=1.0)",
    "roc_auc": "boostlab.LogitBoostClassifier(n_estimators=4, learning_rate=1.0, max_leaf_nodes=8)",
    "average_precision": "boostlab.LogitBoostClassifier(n_estimators=6, learning_rate=1.0, max_leaf_nodes=8)",
    "balanced_error": "boostlab.LogitBoostClassifier(n_estimators=4, learning_rate=0.1, max_leaf_nodes=8)",
    "f1": "boostlab.LogitBoostClassifier(n_estimators=4, learning_rate=1.0, max_leaf_nodes=8)",
    "brier": "boostlab.LogitBoostClassifier(n_estimators=4, learning_rate=1.0)",
}


def test_recommendations_follow_the_metric_on_a_rare_class():
    found = {}
    for metric in GOLDEN:
        result = boostlab.compare(X, RARE, ["LogitBoost"], metric=metric, folds=2, rounds=6, with_peers=False)
        found[metric] = result.advice.code
        assert result.rankings[0].metric.name == metric
        assert f"its {METRICS[metric].word} of" in result.advice.sentences[0]
    assert found == GOLDEN
    plan = design(TABLE, ["LogitBoost"])
    assert plan.metric.name == "average_precision"
    assert plan.because.startswith("only one in 17 rows is 'fraud'")


def test_numbers_are_compared_beside_yardsticks_and_the_best_is_fitted(monkeypatch):
    """Beside those of scikit-learn only, whatever is installed: the slowest of the others takes a minute."""
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    result = boostlab.compare(X, SCORE, metric="squared_error", folds=2, rounds=10, store=None)
    ranking = result.rankings[0]
    assert {one.name for one in ranking.ranked} == {"L2Boost", "additive L2Boost", "pairwise L2Boost"}
    assert {one.name for one in ranking.peers} == {"HistGradientBoosting", "random forest", "linear model"}
    assert ranking.ranked[0].cost < ranking.baseline
    assert "yardstick" in result.advice.sentences[2].lower()
    rows = result.ranking
    assert {"rank", "name", "yardstick", "squared_error", "low", "high", "p"} <= set(rows)
    model = result.best_estimator_
    assert isinstance(model, boostlab.L2BoostRegressor)
    assert model.predict(X).shape == (400,)
    assert result.best_estimator_ is model
    leaves = {one.name: one.chosen["max_leaf_nodes"] for one in ranking.ranked}
    assert (leaves["additive L2Boost"], leaves["pairwise L2Boost"]) == (2, 3)
    assert leaves["L2Boost"] in (8, 16, 31)
    by_size = boostlab.compare(X, SCORE, metric="absolute_error", folds=2, rounds=5, with_peers=False)
    assert "its absolute error of" in by_size.advice.sentences[0]


def test_a_large_table_of_several_classes_has_the_strongest_booster():
    methods, left_out = suitable(None, 7, 3_000_000)
    grids = {method.name: dict(method.grid) for method in methods}
    assert grids["LogitBoost"] == {"max_leaf_nodes": (8, 16, 31), "learning_rate": (0.1,)}
    assert set(left_out) == {"AdaBoostM1", "AdaBoostMH"}
    methods, left_out = suitable(None, 100, 30_000_000)
    assert "LogitBoost" not in {method.name for method in methods}
    assert left_out["LogitBoost"].startswith("it grows a tree a class and round, and with 100 classes")


def test_a_comparison_of_a_file_gives_a_pipeline_and_a_report(tmp_path):
    lines = ["size,colour <script>alert(1)</script>,kind"]
    lines += [
        f"{x[0]:.3f},{'<b>red</b>' if x[1] > 0 else 'blue'},{'a' if s > 0 else 'b'}"
        for x, s in zip(X, SCORE, strict=True)
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    result = boostlab.compare(
        path, target="kind", boosters=["AdaBoost", "LogitBoost"], folds=2, rounds=5, with_peers=False
    )
    assert result.best_estimator_.predict({"size": [1.0], lines[0].split(",")[1]: ["blue"]}).tolist() in (["a"], ["b"])
    text = result.report(tmp_path / "r.html").read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<b>red" not in text
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", text)
    for heading in ("Ranking", "Pair by pair", "Learning curves", "Rows whose labels look wrong", "Margins"):
        assert f"<h2>{heading}" in text
    assert "<table" in result._repr_html_()
    assert "AdaBoost" in result._repr_html_()


def test_splits_come_first(tmp_path):
    """With a budget for half of the cells every booster has a split."""
    plan = design(TABLE, ["AdaBoost", "LogitBoost", "MadaBoost"], folds=3, repeats=1, with_peers=False)
    assert plan.study.splits_first
    with Store(tmp_path / "c.sqlite") as store:
        groups = in_groups(find_places(plan.study, store, "full")[0], {}, 2, splits_first=True)
    assert [group[0].cell.repeat for group in groups] == [0] * 3 + [1] * 3 + [2] * 3
    assert all(len(group) == 1 for group in groups)


def test_a_short_budget_has_the_yardsticks(tmp_path):
    """They come after the first booster of a split, whatever cells took before."""
    plan = design(TABLE, ["AdaBoost", "LogitBoost", "MadaBoost"], folds=2, repeats=1)
    with Store(tmp_path / "c.sqlite") as store:
        places = find_places(plan.study, store, "full")[0]
    usual = {place.entry.kind: 9.0 for place in places if place.cell.method.name == "MadaBoost"}
    cells = [group[0].cell for group in in_groups(places, usual, 1, splits_first=True)]
    names = [cell.method.name for cell in cells if cell.repeat == 0]
    assert names == ["AdaBoost", *(one.name for one in plan.peers), "LogitBoost", "MadaBoost"]
    assert len(plan.peers) >= 3


def test_a_forest_that_tells_how_far_it_is_is_the_same(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    whole, told = (build("random forest", [], False, X, 7) for _ in range(2))
    with noting(tmp_path, "cell"):
        fit_in_steps(told, X, X[:, 0] > 0)
    np.testing.assert_array_equal(whole.fit(X, X[:, 0] > 0).predict_proba(X), told.predict_proba(X))
    with noting(tmp_path, "cell", until=0.0, after=tmp_path / "finished"):
        (tmp_path / "finished").touch()
        with pytest.raises(TimeOver):
            fit_in_steps(told, X, X[:, 0] > 0)


def test_time_left_does_not_judge_a_search_by_a_yardstick(tmp_path):
    plan = design(TABLE, ["AdaBoost", "LogitBoost"], folds=2, repeats=1)
    with Store(tmp_path / "c.sqlite") as store:
        places = find_places(plan.study, store, "full")[0]
    progress = StudyProgress("table")
    progress.begin(places, {}, {}, jobs=1)
    n = len(plan.peers)
    for place in places:
        if place.cell.repeat == 0 and place.cell.method.name != "LogitBoost":
            seconds = 10.0 if place.cell.method.name == "AdaBoost" else 0.5
            progress.cell(place, Saved(1, place.key, Outcome({"cost": 0.1}), "", seconds, "", "run"))
    assert progress.seconds_left() == pytest.approx(10.0 + 2 * 8.0 + n * 0.5)  # LogitBoost takes .8 of AdaBoost


def test_time_left_knows_what_other_boosters_take(tmp_path):
    """Seconds of CPU measured on adult's 39,000 training rows: from the first cell on within a factor of two."""
    takes = {"AdaBoost": 4.5, "LogitBoost": 8.9, "MadaBoost": 3.9, "VadaBoost": 6.1, "HistGradientBoosting": 1.2}
    takes |= {"random forest": 5.4, "linear model": 0.4, "LightGBM": 0.64, "XGBoost": 0.46}
    table = LabelledTable("adult", np.zeros((40_000, 14)), np.arange(40_000) % 2, ("a", "b"))
    with Store(tmp_path / "c.sqlite") as store:
        places = [p for p in find_places(design(table).study, store, "full")[0] if p.cell.method.name in takes]
    progress = StudyProgress("table")
    progress.begin(places, {}, {}, jobs=1)
    rest = sum(takes[place.cell.method.name] for place in places)
    for place in places:
        seconds = takes[place.cell.method.name]
        progress.cell(place, Saved(1, place.key, Outcome({"cost": 0.1}), "", seconds, "", "run"))
        rest -= seconds
        assert rest / 2 - 1e-9 <= progress.seconds_left() <= 2 * rest + 1e-9


def test_shapes_are_drawn_over_the_values_of_a_column():
    """A stump on weekdays: its axis is not 5.4 to 5.6; yes and no are words."""
    X = np.column_stack([np.arange(70) % 7 + 1.0, np.arange(70) % 2])
    shapes = []
    for y in (X[:, 0] > 5.5, X[:, 1] > 0):
        booster = boostlab.AdaBoostClassifier(n_estimators=1).fit(X, y)
        text = importances_section(booster, ["weekday", "member"], [None, ("no", "yes")], ranges_of(X))
        shapes.append(text[text.index("What each column adds") :])
    ticks = {float(one) for one in re.findall(r'class="tick"[^>]*>([\d.]+)<', shapes[0])}
    assert {2.0, 4.0, 6.0} <= ticks
    assert ">yes<" in shapes[1]


def test_lines_have_a_legend():
    text = build_report(
        boostlab.compare(X, RARE, ["AdaBoost", "LogitBoost"], folds=2, repeats=1, rounds=3, with_peers=False)
    )
    curves = text[text.index("<h2>Learning curves") :]
    assert re.search(r'class="legend".*AdaBoost</span>.*LogitBoost</span>', curves[: curves.index("<svg")])
