"""Every plot is drawn, is not empty, is labelled, and can be read without colours."""

from __future__ import annotations

import builtins
import inspect

import numpy as np
import pandas as pd
import pytest

import boostlab
from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, plots, theory
from boostlab.datasets import three_gaussians, twonorm, xor

pytest.importorskip("matplotlib").use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, Y = twonorm(160, random_state=0)
ERRORS = np.random.default_rng(0).random((12, 4)) + np.arange(4) / 2


@pytest.fixture(scope="module")
def model():
    return AdaBoostClassifier(n_estimators=60).fit(X[:100], Y[:100])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def draw_all(model, **where):
    """Draw every picture; `where` maps a function's name to the axes it gets."""
    flat, labels = X[:, :2], Y
    small = AdaBoostClassifier(n_estimators=5).fit(flat, labels)
    train = X[:100], Y[:100]
    calls = {
        "learning_curves": lambda **k: plots.learning_curves(model, *train, X[100:], Y[100:], **k),
        "round_facts": lambda **k: plots.round_facts(model, **k),
        "costs": lambda **k: plots.costs({"AdaBoost": model}, *train, **k),
        "margin_distribution": lambda **k: plots.margin_distribution({"60": model, "own": [0.1, 0.2]}, *train, **k),
        "margin_rounds": lambda **k: plots.margin_rounds(model, *train, **k),
        "loss_functions": lambda **k: plots.loss_functions(**k),
        "variance_bound": lambda **k: plots.variance_bound([0.2, 0.3, 0.5], [True, False, True], 0.2, **k),
        "decision_boundary": lambda **k: plots.decision_boundary(small, flat, labels, voters=True, resolution=40, **k),
        "weight_concentration": lambda **k: plots.weight_concentration(model, *train, k=10, **k),
        "shape_functions": lambda **k: plots.shape_functions(model, X, most=3, **k),
        "error_scatter": lambda **k: plots.error_scatter(ERRORS[:, 0], ERRORS[:, 1], ("A", "B"), **k),
        "critical_difference": lambda **k: plots.critical_difference(ERRORS, list("ABCD"), **k),
    }
    helpers = {"look", "tidy", "mean_ranks", "nemenyi_distance"}
    assert set(calls) == set(plots.__all__) - helpers
    return {name: call(**where.get(name, {})) for name, call in calls.items()}


def test_every_picture_is_drawn_labelled_and_not_empty(model, tmp_path):
    for name, axes in draw_all(model).items():
        all_axes = np.ravel(np.asarray(axes, dtype=object))
        for ax in all_axes:
            artists = [*ax.get_lines(), *ax.collections, *ax.images]
            assert artists, name
        assert any(ax.get_xlabel() for ax in all_axes), name
        assert any(ax.get_ylabel() for ax in all_axes) or name == "critical_difference", name
        path = tmp_path / f"{name}.png"
        all_axes[0].figure.savefig(path, dpi=50)
        image = plt.imread(path)
        assert (image[..., :3].min(axis=2) < 0.9).mean() > 0.005, f"{name} is an empty sheet"


def test_named_lines_differ_in_colour_and_in_marker_or_style(model):
    for name, axes in draw_all(model).items():
        for ax in np.ravel(np.asarray(axes, dtype=object)):
            lines = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
            assert len({line.get_color() for line in lines}) == len(lines), name
            assert len({(line.get_marker(), str(line.get_linestyle())) for line in lines}) == len(lines), name
            if len(lines) > 1:
                assert ax.get_legend() is not None, name


def test_pictures_are_drawn_where_one_says(model):
    ones = [n for n in plots.__all__ if n not in {"weight_concentration", "shape_functions"}]
    given = {name: {"ax": plt.subplots()[1]} for name in ones}
    given["weight_concentration"] = {"axes": plt.subplots(2)[1]}
    given["shape_functions"] = {"axes": plt.subplots(3)[1]}
    for name, axes in draw_all(model, **given).items():
        first, wanted = np.ravel([axes])[0], np.ravel([*given[name].values()])[0]
        assert first is wanted, name


def test_the_curves_show_the_numbers(model):
    ax = plots.learning_curves(model, X[:100], Y[:100], X[100:], Y[100:], measures=["error", "exponential"])
    train, validation, loss, _ = ax.get_lines()
    np.testing.assert_allclose(train.get_ydata(), [np.mean(p != Y[:100]) for p in model.staged_predict(X[:100])])
    np.testing.assert_allclose(validation.get_ydata()[-1], np.mean(model.predict(X[100:]) != Y[100:]))
    np.testing.assert_allclose(loss.get_ydata(), model.history_["objective"])
    cost = plots.costs({"AdaBoost": model}, X[:100], Y[:100], normalised=True).get_lines()[0].get_ydata()
    np.testing.assert_allclose(cost[1:], model.history_["objective"] ** 2)
    assert cost[0] == 1
    alpha, error = plots.round_facts(model).get_lines()[:2]
    np.testing.assert_array_equal(alpha.get_ydata(), model.estimator_weights_)
    np.testing.assert_array_equal(error.get_ydata(), model.history_["error"])
    shown = plots.margin_rounds(model, X[:100], Y[:100], [60]).get_lines()[0]
    assert set(model.margins(X[:100], Y[:100]).round(9)) == set(shown.get_xdata()[1:].round(9))


def test_the_ten_heaviest_rows_are_named(model):
    names = [f"patient {i}" for i in range(100)]
    table = pd.DataFrame(X[:100], index=names)
    fitted = AdaBoostClassifier(n_estimators=20).fit(table, Y[:100])
    for axes in (plots.weight_concentration(fitted, table, Y[:100]),):
        shown = [t.get_text() for t in axes[1].get_yticklabels()]
        influence = theory.row_weights(fitted, table, Y[:100]).influence
        assert shown == [names[i] for i in np.argsort(-influence, kind="stable")[:10]]


def test_shape_curves_are_the_shape_functions(model):
    first = theory.shape_functions(model)[0]
    (ax,) = plots.shape_functions(model, features=[first.name])
    line = ax.get_lines()[0]
    np.testing.assert_allclose(line.get_ydata()[:-1], first.values)
    np.testing.assert_allclose(line.get_xdata()[1:-1], first.cuts)
    X3, y3 = three_gaussians(90, random_state=0)
    axes = plots.shape_functions(AdaBoostM2Classifier(n_estimators=5).fit(X3, y3), X3)
    assert len(axes[0].get_legend().get_texts()) == 3


def test_categories_are_shown_by_name_and_gaps_by_a_star():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"colour": pd.Categorical(rng.choice(["red", "green", "blue"], 90)), "size": X[:90, 0]})
    table.loc[::9, "size"] = np.nan
    labels = (table["colour"] == "red") | (table["size"] > 1)
    fitted = AdaBoostClassifier(n_estimators=10, categorical_features="from_dtype").fit(table, labels)
    colour, size = plots.shape_functions(fitted, table, features=["colour", "size"])
    assert [t.get_text() for t in colour.get_xticklabels()] == ["blue", "green", "red"]
    points = next(line for line in colour.get_lines() if len(line.get_xdata()) == 3)
    shape = next(f for f in theory.shape_functions(fitted) if f.name == "colour")
    np.testing.assert_array_equal(points.get_ydata(), shape([0, 1, 2]))
    assert shape.categories == ("blue", "green", "red")
    assert any(t.get_text().strip() == "missing" for t in size.texts)


def test_boundaries_of_any_classifier_and_of_xor():
    from sklearn.neighbors import KNeighborsClassifier

    points, labels = xor()
    ax = plots.decision_boundary(KNeighborsClassifier(1).fit(points, labels), points, labels, resolution=30)
    assert len(ax.get_legend().get_texts()) == 2
    X3, y3 = three_gaussians(90, random_state=0)
    boosted = AdaBoostM2Classifier(max_leaf_nodes=4, n_estimators=3).fit(X3, y3)
    assert plots.decision_boundary(boosted, X3, y3, voters=True, resolution=30).collections


def test_nemenyi_distances_of_the_printed_table():
    """q of Demsar's table for k = 2..10, times sqrt(k (k + 1) / (6 N))."""
    q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, value in enumerate(q, start=2):
        assert plots.nemenyi_distance(k, 25) == pytest.approx(value * np.sqrt(k * (k + 1) / 150), abs=2e-3)
    from scipy.stats import friedmanchisquare

    ranks = plots.mean_ranks(ERRORS)
    chi2 = 12 * 12 / 20 * (np.sum(ranks**2) - 4 * 25 / 4)
    assert friedmanchisquare(*ERRORS.T).statistic == pytest.approx(chi2)


def test_errors_that_differ_by_rounding_share_their_rank():
    assert plots.mean_ranks([[0.3, 0.1 + 0.2, 0.5]]).tolist() == [1.5, 1.5, 3.0]


def test_bars_join_what_is_within_the_critical_difference():
    from boostlab.plots.comparison import _cliques

    assert _cliques(np.array([1.0, 1.5, 3.0, 3.4]), 1.0) == [(1.0, 1.5), (3.0, 3.4)]
    assert _cliques(np.array([1.0, 2.0, 3.0]), 1.0) == [(1.0, 2.0), (2.0, 3.0)]
    assert _cliques(np.array([1.0, 3.0]), 1.0) == []


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install \"boostlab\[plots\]\""):
        plots.loss_functions()


@pytest.mark.parametrize("name", sorted(plots.__all__))
def test_every_function_says_what_it_returns(name):
    assert "Returns" in inspect.getdoc(getattr(plots, name)) or name == "tidy"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: plots.learning_curves(m, X, Y, X), "go together"),
        (lambda m: plots.learning_curves(m, X, Y, measures=["luck"]), "luck"),
        (lambda m: plots.learning_curves(m, X, Y, measures=[]), "no measure"),
        (lambda m: plots.learning_curves(m, X, Y[:5]), "give one label a row"),
        (lambda m: plots.learning_curves(m, X, Y + 7), "not among the training labels"),
        (lambda m: plots.error_scatter([1, np.nan], [1, 2]), "missing"),
        (lambda m: plots.error_scatter([1, 3], [1, 2], labels=["a"]), "each of the 2 data sets"),
        (lambda m: plots.round_facts(m, ["luck"]), "has no 'luck'"),
        (lambda m: plots.margin_rounds(m, X, Y, [61]), "rounds 1 to 60"),
        (lambda m: plots.margin_distribution({"a": m}), "give X and y"),
        (lambda m: plots.loss_functions(0.5), "rho=0.5"),
        (lambda m: plots.decision_boundary(m, X, Y), "two columns"),
        (lambda m: plots.weight_concentration(m, X[:100], Y[:100], ["one"]), "each of the 100 rows"),
        (lambda m: plots.shape_functions(m, features=["luck"]), "does not use the feature 'luck'"),
        (lambda m: plots.error_scatter([1], [1, 2]), "same length"),
        (lambda m: plots.critical_difference(ERRORS, ["A"]), "a column for each of 1 names"),
        (lambda m: plots.critical_difference(np.where(ERRORS > 1, np.nan, ERRORS), list("ABCD")), "missing values"),
    ],
)
def test_wrong_input_is_named(model, call, words):
    with pytest.raises(ValueError, match=words):
        call(model)


def test_costs_of_three_classes_are_refused():
    X3, y3 = three_gaussians(90, random_state=0)
    three = AdaBoostM2Classifier(n_estimators=3).fit(X3, y3)
    for draw in (
        lambda: plots.costs({"a": three}, X3, y3),
        lambda: plots.learning_curves(three, X3, y3, measures=["exponential"]),
    ):
        with pytest.raises(ValueError, match="tells 3 classes apart"):
            draw()


def test_trees_have_no_shape_to_draw():
    model = boostlab.AdaBoostClassifier(max_depth=2, n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="need stumps"):
        plots.shape_functions(model)


def test_fourteen_lines_can_be_told_apart_without_colours_of_their_own():
    ax = plots.margin_distribution({str(k): [0.01 * k, 0.5] for k in range(14)})
    lines = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 14
    assert len({(line.get_color(), line._dash_pattern[1] and tuple(line._dash_pattern[1])) for line in lines}) == 14


def test_nothing_lies_between_the_regions_of_two_classes():
    """Classes 0 and 2 meet on a line: no strip of class 1 between them, and one boundary, not two."""
    from sklearn.neighbors import KNeighborsClassifier

    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 9.0]])
    model = KNeighborsClassifier(1).fit(points, [0, 2, 1])
    box = ((0.0, 1.0), (0.0, 1.0))
    ax = plots.decision_boundary(model, points[:2], [0, 2], resolution=50, limits=box)
    drawn = [c for c in ax.collections if hasattr(c, "levels")]
    assert sum(c.filled for c in drawn) == 2
    across = {round(float(x), 9) for c in drawn if not c.filled for path in c.get_paths() for x in path.vertices[:, 0]}
    assert across == {0.5}
    assert (ax.get_xlim(), ax.get_ylim()) == box


def test_every_booster_has_round_facts():
    for make in (boostlab.LogitBoostClassifier, boostlab.QuadBoostClassifier, AdaBoostClassifier):
        fitted = make(n_estimators=5).fit(X, Y)
        first, *_ = plots.round_facts(fitted).get_lines()
        np.testing.assert_array_equal(first.get_ydata(), fitted.history_["alpha"])
    assert plots.round_facts(fitted, "edge").get_lines()[0].get_ydata() == pytest.approx(fitted.history_["edge"])


def test_labels_may_come_as_a_column(model):
    curves = [plots.learning_curves(model, X[:100], y).get_lines()[0].get_ydata() for y in (Y[:100], Y[:100, None])]
    np.testing.assert_array_equal(*curves)
    margins = [list(theory.staged_margins(model, X[:100], y))[-1] for y in (Y[:100], Y[:100, None])]
    np.testing.assert_array_equal(*margins)


def test_frames_keep_their_column_names():
    import warnings

    frame = pd.DataFrame(X[:, :2], columns=["height", "weight"])
    fitted = AdaBoostClassifier(n_estimators=5).fit(frame, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plots.decision_boundary(fitted, frame, Y, voters=True, resolution=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "weight")
