"""The JSON form and scorecards against `predict`, files of all forms, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest
from scipy.special import expit

from boostlab import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    L2BoostClassifier,
    MadaBoostClassifier,
    WeightBoostClassifier,
)
from boostlab.model_io.exports import export, to_c, to_json, to_scorecard, to_sql
from boostlab.model_io.exports.description import SCORE_A_CLASS, describe
from explain.models import fitted, rows, table
from model_io.exported import KINDS, expected, hostile


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
    with pytest.raises(TypeError, match=r"A \.c file takes name and int16, not 'double'; leave it out"):
        export(fitted("stumps"), tmp_path / "model.c", double=True)
    with pytest.raises(ValueError, match='all pairs, which is no sum of its votes; fit it with multiclass="ovr"'):
        to_json(fitted("pairs"))
    X, y = rows(fitted("numbers")), table()[1][:60]
    with pytest.raises(ValueError, match="not a sum over its voters"):
        WeightBoostClassifier(n_estimators=2).fit(X, y).export(tmp_path / "model.c")
    named = pandas.DataFrame({"Score": X[:, 2]})  # SQLite would decide by this one
    with pytest.raises(ValueError, match="makes a column named like the model's 'Score'; rename it and fit again"):
        to_sql(AdaBoostClassifier(n_estimators=2).fit(named, y))
    with pytest.raises(ValueError, match="cannot begin the name of a C function"):
        to_c(fitted("stumps"), "1st")


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
