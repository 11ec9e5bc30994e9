"""Words, pictures, shapes and pairs; and scikit-learn's own tools on our models."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from sklearn.inspection import DecisionBoundaryDisplay, partial_dependence, permutation_importance

from boostlab import AdaBoostClassifier, AdaBoostMHClassifier, L2BoostRegressor, LogitBoostClassifier, explain
from boostlab.explain.parts import parts_of
from explain.models import MODELS, fitted, rows, table


@pytest.mark.parametrize("name", MODELS)
def test_words_add_up(name):
    model = fitted(name)
    X = rows(model, 3)
    one = X.iloc[[1]] if hasattr(X, "iloc") else X[1]
    told = model.explain(one)
    assert told.base + sum(value for _, value in told.lines(2)) == pytest.approx(told.score, abs=1e-12)
    assert str(told).startswith(f"Predicted: {told.prediction}")
    assert "mean of the reference rows" in str(told)
    if not model._numeric and len(model.classes_) == 3 and name not in ("pairs", "code"):
        best = model.decision_function(X)[1].max()
        assert told.score == pytest.approx(best)


def test_a_row_of_text_is_shown_as_it_was_given():
    model = fitted("stumps")
    frame = table()[0]
    told = model.explain(frame.iloc[[0]])
    assert any(line.startswith("city = ") and line[7:] in "Bern Oslo Rome Turin missing" for line, _ in told.lines(9))
    assert str(model.explain(frame.iloc[0])) == str(told)  # a line of a frame
    assert str(model.explain(frame.iloc[0].tolist())) == str(told)
    assert str(model.explain(frame.iloc[0].to_dict())) == str(told)
    with pytest.raises(ValueError, match="takes one row, and this table has 2"):
        model.explain(frame.iloc[:2])
    with pytest.raises(ValueError, match="The row has no 'a'; give a value for every column"):
        model.explain({"city": "Oslo"})
    with pytest.raises(ValueError, match="fitted without names of columns; give the row as a list"):
        fitted("numbers").explain({"a": 1.0})


def test_words_say_that_costs_decided():
    frame, y, _, _ = table()
    model = AdaBoostClassifier(n_estimators=5, cost={("yes", "no"): 50}).fit(frame, y)
    unlikely = int(model.predict_proba(frame)[:, 1].argmin())
    said = str(model.explain(frame.iloc[[unlikely]])).splitlines()[0]
    assert said.startswith("Predicted: yes (probability 0.")
    assert said.endswith(", the smallest expected cost).")


@pytest.mark.parametrize("name", ["pairs", "code"])
def test_words_are_of_a_problem_that_the_predicted_class_is_in(name):
    model = fitted(name)
    X = rows(model, 30)
    P = model.predict_proba(X)
    for i in range(30):
        told = model.explain(X.iloc[[i]])
        second, first = model.classes_[np.argsort(P[i], kind="stable")[-2:]]
        sides = told.contributions.output_names[told.output].split(" over ")
        with_it = [str(told.prediction) in side for side in sides]
        assert sum(with_it) == 1
        if first == told.prediction and P[i][model.classes_ == second] > np.sort(P[i])[0]:
            assert str(second) in sides[with_it.index(False)]


def test_the_waterfall_ends_at_the_score():
    plt = pytest.importorskip("matplotlib.pyplot")
    told = fitted("trees").explain(rows(fitted("trees"), 1))
    ax = told.plot()
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert ends[-1] == pytest.approx(told.score)
    assert [t.get_text() for t in ax.get_yticklabels()] == [words for words, _ in told.lines()]
    edges = [edge for bar in ax.patches for edge in (bar.get_x(), bar.get_x() + bar.get_width())]
    assert ax.get_xlim()[0] < min(edges)  # space beside the bars
    assert max(edges) < ax.get_xlim()[1]
    plt.close(ax.figure)


@pytest.mark.parametrize("name", ["stumps", "labelwise", "one against the rest"])
def test_shapes_add_up_and_know_the_density(name):
    model = fitted(name)
    X = rows(model, 240)
    shapes = explain.shapes(model, X)
    told = model.contributions(X)
    total = sum(s(told.data[:, s.feature]) for s in shapes)
    assert told.base_values + total == pytest.approx(model.decision_function(X), abs=1e-12)
    for s in shapes:
        x = told.data[:, s.feature]
        assert s.missing_share == pytest.approx(np.isnan(x).mean())
        below = np.searchsorted(s.cuts, x[~np.isnan(x)], "left")
        assert s.density == pytest.approx(np.bincount(below, minlength=len(s.cuts) + 1) / len(below))
    assert [s.importance for s in shapes] == sorted((s.importance for s in shapes), reverse=True)
    assert next(s for s in shapes if s.name == "city").categories == ("Bern", "Oslo", "Rome", "Turin")


def test_bands_hold_the_models_of_drawn_rows():
    frame, y, _, _ = table()
    model = AdaBoostClassifier(n_estimators=10).fit(frame, y)
    shapes = explain.shapes(model, frame, y, bootstrap=4, level=1.0)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(y), len(y))
    other = {s.name: s for s in explain.shapes(AdaBoostClassifier(n_estimators=10).fit(frame.iloc[drawn], y[drawn]))}
    for s in shapes:
        middle = np.concatenate([s.cuts[:1], (s.cuts[1:] + s.cuts[:-1]) / 2, s.cuts[-1:] + 1e-9])
        values = other[s.name](middle) if s.name in other else 0.0
        assert (s.low - 1e-12 <= values).all()
        assert (values <= s.high + 1e-12).all()
    with pytest.raises(ValueError, match="needs the training rows"):
        explain.shapes(model, bootstrap=2)
    with pytest.raises(ValueError, match="has no shape functions"):
        explain.shapes(fitted("trees"))


def test_pairs_from_the_definition_of_partial_dependence():
    """The terms and H from the model's own predictions on all combinations of rows."""
    frame, _, _, score = table()
    X = frame[["a", "b", "c"]].to_numpy()[:40]
    model = L2BoostRegressor(n_estimators=6, max_depth=3).fit(X, score[:40])
    told = {i.features: i for i in explain.interactions(model, X)}

    def dependence(columns):
        out = []
        for x in X:
            mixed = X.copy()
            mixed[:, columns] = x[columns]
            out.append(model.predict(mixed).mean())
        return np.array(out)

    mean = model.predict(X).mean()
    for (j, k), name in {(0, 1): ("x0", "x1"), (0, 2): ("x0", "x2"), (1, 2): ("x1", "x2")}.items():
        one, two, both = dependence([j]), dependence([k]), dependence([j, k])
        term = both - one - two + mean
        assert told[name].strength == pytest.approx(term.std(), abs=1e-12)
        assert told[name].h == pytest.approx(term.std() / both.std(), abs=1e-9)


def test_bands_follow_categories_and_classes_that_few_rows_have():
    rng = np.random.default_rng(0)
    city = np.array(["Bern", "Oslo", "Rome"])[rng.integers(0, 3, 150)]
    city[0] = "Aalt"  # a draw without it numbers the others from 0 on
    X = pandas.DataFrame({"city": city})
    (shape,) = explain.shapes(
        AdaBoostClassifier(n_estimators=5).fit(X, city == "Oslo"), X, city == "Oslo", bootstrap=15, level=1.0
    )
    assert shape.categories == ("Aalt", "Bern", "Oslo", "Rome")
    assert shape.high[[1, 3]].max() < 0 < shape.low[2]
    y = np.where(city == "Aalt", "c", np.where(city == "Oslo", "b", "a"))
    shape = explain.shapes(AdaBoostMHClassifier(n_estimators=3).fit(X, y), X, y, bootstrap=4)[0]
    assert shape.low.shape == shape.values.shape


def test_stumps_have_no_pairs_and_a_product_has_one():
    X = np.random.default_rng(1).normal(size=(300, 4))
    y = X[:, 1] * X[:, 3] > 0
    assert explain.interactions(AdaBoostClassifier(n_estimators=5).fit(X, y), X) == []
    found = explain.interactions(LogitBoostClassifier(n_estimators=20, max_depth=2).fit(X, y), X)
    assert found[0].features == ("x1", "x3")
    assert found[0].h > 0.8


def test_tools_of_scikit_learn_take_the_models():
    plt = pytest.importorskip("matplotlib.pyplot")
    model = fitted("numbers")
    X, y = rows(model, 100), table()[1][:100]
    found = partial_dependence(model, np.nan_to_num(X), [0], grid_resolution=5)
    assert found["average"].shape == (1, 5)
    assert permutation_importance(model, X, y, n_repeats=1, random_state=0).importances.shape == (3, 1)
    flat = LogitBoostClassifier(n_estimators=3).fit(np.nan_to_num(X[:, :2]), y)
    shown = DecisionBoundaryDisplay.from_estimator(flat, np.nan_to_num(X[:, :2]), grid_resolution=5)
    plt.close(shown.figure_)


def test_a_forest_is_made_of_packed_voters_only():
    forest = parts_of(fitted("stumps")).votes[0].forest
    assert (np.diff(forest.roots) == 3).all()
    assert forest.cover[forest.feature < 0].sum() == pytest.approx(forest.n_trees)
