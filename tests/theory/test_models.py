"""Theory asked of fitted models: margins, weights, hard examples, shape functions, bias and variance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, DecisionTree, VoterPool, WeightBoostClassifier, theory
from boostlab.datasets import flip_labels, three_gaussians, twonorm
from variants import every

X, CLEAN = twonorm(300, random_state=0)
Y = flip_labels(CLEAN, 0.1, random_state=0)


# -- margins ---------------------------------------------------------------------------------------------------------


@every
def test_staged_margins_end_with_the_models_margins_and_are_normalised(make):
    model = make(n_estimators=12, random_state=0).fit(X, Y)
    *_, last = theory.staged_margins(model, X, Y)
    assert np.abs(last).max() <= 1 + 1e-9
    np.testing.assert_allclose(last, theory.normalised_margins(model, X, Y), atol=1e-12)
    if model._ensemble.rule.additive:
        np.testing.assert_allclose(last, model.margins(X, Y), atol=1e-12)


def test_weightboosts_margins_are_divided_by_what_was_said_about_the_row():
    model = WeightBoostClassifier(beta=0.5, n_estimators=10).fit(X, Y)
    said, H = np.zeros(len(X)), np.zeros(len(X))
    for alpha, voter in zip(model.estimator_weights_, model.estimators_, strict=True):
        g = np.exp(-np.abs(0.5 * H))
        said += alpha * g
        H = H + alpha * g * voter.predict(X)
    np.testing.assert_allclose(theory.normalised_margins(model, X, Y), Y * H / said, atol=1e-12)


def test_margins_of_three_classes():
    X3, y3 = three_gaussians(150, random_state=0)
    model = AdaBoostM2Classifier(n_estimators=8).fit(X3, y3)
    stages = list(theory.staged_margins(model, X3, y3))
    np.testing.assert_allclose(stages[-1], model.margins(X3, y3), atol=1e-12)
    assert np.mean(stages[0] <= 0) >= np.mean(model.predict(X3) != y3) - 0.2


def test_statistics_and_curve_against_numpy():
    v = np.random.default_rng(0).normal(0.2, 0.3, 101)
    found = theory.margin_statistics(v)
    assert (found.minimum, found.median, found.n) == (v.min(), np.median(v), 101)
    assert found.sd == pytest.approx(np.sqrt(np.mean((v - v.mean()) ** 2)))
    assert found.skewness == pytest.approx(np.mean((v - v.mean()) ** 3) / v.std() ** 3)
    assert found.error == theory.margin_share(v, 0.0)
    values, shares = theory.margin_curve(np.round(v, 1))
    for x, share in zip(values, shares, strict=True):
        assert share == np.mean(np.round(v, 1) <= x)


def test_the_table_has_a_line_a_model():
    models = {T: AdaBoostClassifier(n_estimators=T).fit(X, Y) for T in (1, 30)}
    table = theory.margin_table({f"{T} rounds": m for T, m in models.items()}, X, Y)
    frame = pd.DataFrame(table).set_index("model")
    assert frame.loc["1 rounds", "mean"] == pytest.approx(models[1].margins(X, Y).mean())
    assert frame.loc["30 rounds", "sd"] < frame.loc["1 rounds", "sd"]
    assert theory.margin_table({"own": [0.0, 1.0]})[0]["mean"] == 0.5
    with pytest.raises(ValueError, match="give X and y"):
        theory.margin_table({"model": models[1]})


# -- weights and hard examples ---------------------------------------------------------------------------------------


def test_recorded_weights_are_adaboosts():
    model = AdaBoostClassifier(n_estimators=15).fit(X, Y)
    seen = theory.row_weights(model, X, Y)
    F = np.zeros(len(X))
    for line, after in zip(seen.by_round, model.staged_decision_function(X), strict=True):
        w = np.exp(-Y * F)
        np.testing.assert_allclose(line, w / w.sum(), rtol=1e-9)
        F = after
    share = model.estimator_weights_ / model.estimator_weights_.sum()
    np.testing.assert_allclose(seen.influence, share @ seen.by_round)
    np.testing.assert_allclose(seen.effective_size, 1 / (seen.by_round**2).sum(axis=1))


@every
def test_every_booster_can_be_watched(make):
    model = make(n_estimators=8, random_state=0).fit(X, Y)
    seen = theory.row_weights(model, X, Y)
    assert seen.by_round.shape == (model.n_estimators_, len(X))
    np.testing.assert_allclose(seen.by_round.sum(axis=1), 1)
    hard = theory.hard_examples(model, X, Y)
    assert sorted(hard.ranking) == list(range(len(X)))


def test_looking_does_not_change_the_model_and_weights_and_settled_words_are_kept():
    mass = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    model = boostlab.VadaBoostClassifier(variance_penalty="auto", n_estimators=10, random_state=0).fit(X, Y, mass)
    before = model.decision_function(X).copy()
    seen = theory.row_weights(model, X, Y, mass)
    np.testing.assert_array_equal(model.decision_function(X), before)
    np.testing.assert_allclose(seen.by_round[0], mass / mass.sum())
    assert model.get_params()["estimator"] is None


@pytest.mark.parametrize("make", [AdaBoostClassifier, boostlab.LogitBoostClassifier, boostlab.QuadBoostClassifier])
def test_planted_flips_are_found(make):
    hard = theory.hard_examples(make(n_estimators=30).fit(X, Y), X, Y)
    found = hard.precision(Y != CLEAN)
    assert found["chance"] == pytest.approx(0.1)
    assert min(found["margin"], found["ranking"]) > 4 * found["chance"]
    assert hard.precision(Y != CLEAN, k=len(X))["ranking"] == found["chance"]
    assert hard.margin[hard.by("margin")[0]] == hard.margin.min()
    assert hard.weight[hard.by("weight")[0]] == hard.weight.max()


def test_hard_examples_refuse_in_a_sentence():
    hard = theory.hard_examples(AdaBoostClassifier(n_estimators=3).fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="each of the 300 rows"):
        hard.precision([True])
    with pytest.raises(ValueError, match="k=0"):
        hard.precision(Y != CLEAN, k=0)
    with pytest.raises(ValueError, match="'weight', 'margin', 'influence'"):
        hard.by("luck")


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: theory.certificate(m, X, Y),
        lambda m: theory.hard_examples(m, X, Y),
        lambda m: theory.normalised_margins(m, X, Y),
        lambda m: list(theory.staged_margins(m, X, Y)),
        theory.shape_functions,
    ],
)
def test_other_models_and_unfitted_ones_are_refused(ask):
    with pytest.raises(TypeError, match="LogisticRegression is not a booster"):
        ask(LogisticRegression().fit(X, Y))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask(AdaBoostClassifier())


# -- shape functions -------------------------------------------------------------------------------------------------


def test_shape_functions_add_up_to_the_score():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    table.loc[::7, "a"] = np.nan
    y = np.where(table["a"].fillna(1) + table["b"] > 0, "yes", "no")
    model = boostlab.LogitBoostClassifier(n_estimators=25).fit(table, y)
    shapes = theory.shape_functions(model)
    assert {f.name for f in shapes} == {"a", "b"}
    total = sum(f(table.iloc[:, f.feature]) for f in shapes)
    np.testing.assert_allclose(total, model.decision_function(table), atol=1e-9)
    assert shapes[0].feature == model.feature_importances_.argmax()
    X3, y3 = three_gaussians(150, random_state=0)
    many = AdaBoostM2Classifier(n_estimators=8).fit(X3, y3)
    scores = sum(f(X3[:, f.feature]) for f in theory.shape_functions(many))
    np.testing.assert_allclose(scores, many.decision_function(X3), atol=1e-9)


@pytest.mark.parametrize("estimator", [DecisionTree(), VoterPool()])
def test_no_shape_functions_without_stumps(estimator):
    model = AdaBoostClassifier(estimator, n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="need stumps"):
        theory.shape_functions(model)


# -- bias and variance -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
def test_decompositions_add_up_to_the_error(classes):
    rng = np.random.default_rng(classes)
    y = rng.integers(classes, size=80)
    predictions = np.where(rng.random((15, 80)) < 0.6, y, rng.integers(classes, size=(15, 80)))
    error = np.mean(predictions != y)
    kw, do = theory.kohavi_wolpert(predictions, y), theory.domingos(predictions, y)
    assert kw.bias2 + kw.variance + kw.noise == pytest.approx(error)
    assert kw.noise == 0
    assert kw.error == pytest.approx(error)
    assert do.error == pytest.approx(error)
    assert do.bias + do.net_variance == pytest.approx(error)
    if classes == 2:  # then every deviation from a wrong main prediction is right
        biased = do.by_row[:, 0] == 1
        assert do.biased_variance == pytest.approx(np.where(biased, do.by_row[:, 1], 0).mean())
    corrected = theory.kohavi_wolpert(predictions, y, unbiased=True)
    assert corrected.error == pytest.approx(error)
    assert corrected.variance > kw.variance


def test_the_unbiased_form_is_unbiased():
    """A coin that says 1 with chance p: squared bias (1 - p)^2, variance p (1 - p)."""
    rng, p = np.random.default_rng(0), 0.7
    said = (rng.random((4, 40_000)) < p).astype(int)
    found = theory.kohavi_wolpert(said, np.ones(40_000, int), unbiased=True)
    assert found.bias2 == pytest.approx((1 - p) ** 2, abs=0.005)
    assert found.variance == pytest.approx(p * (1 - p), abs=0.005)
    assert theory.kohavi_wolpert(said, np.ones(40_000, int)).variance < found.variance - 0.02


def test_limiting_cases():
    y = np.array([0, 1, 1, 0])
    same = np.tile([0, 1, 0, 0], (5, 1))
    assert theory.domingos(same, y).variance == 0
    assert theory.kohavi_wolpert(same, y).bias2 == 0.25 == theory.domingos(same, y).bias
    tie = np.array([[0], [1]])  # of equals the first class is the main prediction
    assert theory.domingos(tie, np.array([0])).bias == 0
    assert theory.domingos(tie, np.array([1])).bias == 1


def test_boosting_lowers_both_parts_for_any_classifier_in_parallel_with_a_bar(capsys):
    Xw, y = twonorm(900, random_state=1)
    given = dict(n_repeats=12, random_state=0)
    stump = theory.bias_variance(DecisionTreeClassifier(max_depth=1), Xw, y, **given)
    boosted = theory.bias_variance(AdaBoostClassifier(n_estimators=50, n_jobs=1), Xw, y, progress=True, **given)
    assert "12/12" in capsys.readouterr().err
    assert boosted.kohavi_wolpert.bias2 < stump.kohavi_wolpert.bias2 / 2
    assert boosted.kohavi_wolpert.variance < stump.kohavi_wolpert.variance / 2
    assert boosted.domingos.bias < stump.domingos.bias
    assert boosted.predictions.shape == (12, 270)
    with parallel_config("threading"):  # processes take seconds to start
        again = theory.bias_variance(KNeighborsClassifier(1), pd.DataFrame(Xw), y, n_jobs=2, **given)
    alone = theory.bias_variance(KNeighborsClassifier(1), Xw, y, **given)
    np.testing.assert_array_equal(again.predictions, alone.predictions)
    stable = theory.bias_variance(LogisticRegression(), Xw, y, **given)
    assert stable.kohavi_wolpert.variance < alone.kohavi_wolpert.variance
    np.testing.assert_array_equal(stable.y, y[stable.test])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.kohavi_wolpert([[1, 0]], [1]), "one column a label"),
        (lambda: theory.kohavi_wolpert([[1, 0]], [1, 0], unbiased=True), "two training sets"),
        (lambda: theory.bias_variance(LogisticRegression(), X, Y, n_repeats=1), "n_repeats=1"),
        (lambda: theory.bias_variance(LogisticRegression(), X, Y, test_size=2), "test_size=2"),
    ],
)
def test_wrong_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
