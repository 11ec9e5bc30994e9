"""Wrong data: one sentence that names the cause and the cure, and the model of the last fit stays."""

from __future__ import annotations

import datetime
import warnings
from contextlib import suppress
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import boostlab
from boostlab import AdaBoostClassifier, VadaBoostClassifier, VoterPool
from boostlab.boosters import REGISTRY
from boostlab.data import input_tables
from boostlab.data.sample import _told_apart
from tables import noisy_table

X = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 4.0], [3.0, 1.0]])
Y = [0, 1, 0, 1]
FRAME = pd.DataFrame(X, columns=["a", "b"])
INF = np.where(X == 4, np.inf, X)
TEXT = np.array([[1, "x"], [2, "y"], [3, "x"], [4, "y"]], dtype=object)
UNLABELLED = ("row 2 has no label", "drop such rows, or give them a label")
NOT_FINITE = "put NaN for a missing value, or a finite number"
NO_TEXT = "turn it into numbers, or give a pandas or polars frame"
ONE_LABEL = ("inconsistent numbers of samples", "give one label a row of X")
LISTS = [[1], [2], [3], [4]]
DAYS = [datetime.date(2026, 11, d) for d in (1, 2, 3, 4)]
VAL = dict(X_val=X, y_val=Y)

FITS = {  # parameters, what fit is given, cause, cure
    "one class": ({}, (X, [1] * 4), {}, "only one class", "needs at least two classes"),
    "one class counts": ({}, (X, Y, [1, 0, 1, 0]), {}, "only one class", "needs at least two classes"),
    "three classes": ({"multiclass": "all"}, (X, [0, 1, 2, 1]), {}, "multiclass='all'", "it must be 'auto' or 'ovr'"),
    "numbers as labels": ({}, (X, [0.5, 1.5, 0.1, 1]), {}, "Unknown label type: continuous", "give class labels"),
    "two columns of labels": ({}, (X, [[0, 1]] * 4), {}, "should be a 1d array", "give one label a row of X"),
    "no labels": ({}, (X, None), {}, "y is None", "give one label a row of X"),
    "NaN label": ({}, (X, [0, 1, np.nan, 1]), {}, *UNLABELLED),
    "NaN label in an array": ({}, (X, np.array([0, 1, np.nan, 1])), {}, *UNLABELLED),
    "NaN among text": ({}, (X, ["n", "y", np.nan, "y"]), {}, *UNLABELLED),
    "None label": ({}, (X, [0, 1, None, 1]), {}, *UNLABELLED),
    "None among text": ({}, (X, np.array(["n", "y", None, "y"], object)), {}, *UNLABELLED),
    "NA label": ({}, (X, pd.Series([0, 1, pd.NA, 1], dtype=object)), {}, *UNLABELLED),
    "NA in Int64": ({}, (X, pd.Series([0, 1, pd.NA, 1], dtype="Int64")), {}, *UNLABELLED),
    "NA in strings": ({}, (X, pd.Series(["n", "y", None, "y"], dtype="string")), {}, *UNLABELLED),
    "NA in categories": ({}, (X, pd.Series(["n", "y", None, "y"], dtype="category")), {}, *UNLABELLED),
    "null in polars": ({}, (X, pl.Series([0, 1, None, 1])), {}, *UNLABELLED),
    "null in polars text": ({}, (X, pl.Series(["n", "y", None, "y"])), {}, *UNLABELLED),
    "null in polars truth": ({}, (X, pl.Series([True, False, None, True])), {}, *UNLABELLED),
    "NaT label": ({}, (X, np.array(["2025", "2026", "NaT", "2026"], "M8[D]")), {}, *UNLABELLED),
    "infinite label": ({}, (X, [0, 1, np.inf, 1]), {}, "Input y contains infinity", "give them a label"),
    "mixed labels": ({}, (X, np.array([0, "y", 0, "y"], object)), {}, "Unknown label", "all text or all numbers"),
    "text before numbers": ({}, (X, np.array(["y", 0, "y", 0], object)), {}, "not supported", "all text or all"),
    "infinity": ({}, (INF, Y), {}, "infinity .*column 1", NOT_FINITE),
    "infinity in single": ({}, (INF.astype("f4"), Y), {}, "infinity .*column 1", NOT_FINITE),
    "infinity in pandas": ({}, (FRAME.replace(4, -np.inf), Y), {}, "infinity .*column 'b'", NOT_FINITE),
    "infinity beside text": ({}, (FRAME.replace(4, np.inf).assign(c="x"), Y), {}, "infinity .*column 'b'", NOT_FINITE),
    "infinity in polars": ({}, (pl.DataFrame(INF, schema=["a", "b"]), Y), {}, "infinity .*column 'b'", NOT_FINITE),
    "infinity in sparse": ({}, (sparse.csr_matrix(INF), Y), {}, "infinity .*column 1", NOT_FINITE),
    "huge whole number": ({}, ([[0, 10**400]] * 4, Y), {}, "too large .*column 1", "scale the numbers"),
    "huge object": ({}, (FRAME.assign(b=[1, 2, 3, 10**400]), Y), {}, "Column 'b' .*too large", "scale it"),
    "fewer labels": ({}, (X, Y[:3]), {}, *ONE_LABEL),
    "fewer labels, mixed frame": ({}, (FRAME.assign(c="x"), Y[:3]), {}, *ONE_LABEL),
    "fewer weights": ({}, (X, Y, [1, 2]), {}, r"sample_weight.shape == \(2,\)", "give one weight a row of X"),
    "square weights": ({}, (X, Y, X), {}, "must be 1D", "give one weight a row of X"),
    "negative weights": ({}, (X, Y, [1, 1, -1, 1]), {}, "Negative values", "weights must be at least 0"),
    "zero weights": ({}, (X, Y, [0] * 4), {}, "at least one non-zero", "at least two classes a weight above 0"),
    "NaN weight": ({}, (X, Y, [1, 1, np.nan, 1]), {}, "sample_weight contains NaN", "a finite number"),
    "infinite weight": ({}, (X, Y, [1, 1, np.inf, 1]), {}, "sample_weight contains infinity", "a finite number"),
    "text as weight": ({}, (X, Y, [1, 1, "x", 1]), {}, "sample_weight: could not convert", "a finite number"),
    "wide weights": ({}, (X, Y, [1, 1, 1e-150, 1]), {}, "more than 100 orders", "weights of like size, and 0"),
    "text in an array": ({}, (TEXT, Y), {}, "could not convert .*'x' .*column 1", NO_TEXT),
    "text in a list": ({}, (TEXT.tolist(), Y), {}, "could not convert .*'x' .*column 1", NO_TEXT),
    "text alone": ({}, (TEXT.astype(str), Y), {}, "could not convert .*column 1|bytes/strings", NO_TEXT),
    "dates in an array": ({}, (np.array([DAYS] * 4, "M8[D]"), Y), {}, "holds dates", "turn them into numbers"),
    "complex numbers": ({}, (X * 1j, Y), {}, "Complex data not supported", "give real numbers"),
    "dates in a frame": ({}, (FRAME.assign(c=pd.to_datetime(DAYS)), Y), {}, "holds neither", "turn it into numbers"),
    "dates as objects": ({}, (FRAME.assign(c=DAYS), Y), {}, "Column 'c' holds neither", "turn it into numbers"),
    "lists in a frame": ({}, (FRAME.assign(c=LISTS), Y), {}, "Column 'c' holds neither", "or drop it"),
    "lists in polars": ({}, (pl.DataFrame({"c": LISTS}), Y), {}, "Column 'c' holds neither", "or drop it"),
    "lists as categories": (
        dict(categorical_features=["c"]), (FRAME.assign(c=LISTS), Y), {}, "cannot be categories", "text or numbers",
    ),
    "no rows": ({}, (X[:0], []), {}, r"0 sample\(s\)", "at least one row"),
    "no rows in a frame": ({}, (FRAME[:0], []), {}, r"0 sample\(s\)", "at least one row"),
    "no columns": ({}, (X[:, :0], Y), {}, r"0 feature\(s\)", "at least one column"),
    "no columns in pandas": ({}, (FRAME[[]], Y), {}, r"0 feature\(s\)", "at least one column"),
    "no columns in polars": ({}, (pl.DataFrame(), Y), {}, r"0 feature\(s\)", "at least one column"),
    "one dimension": ({}, (X[:, 0], Y), {}, "got 1D array instead", "Reshape your data"),
    "three dimensions": ({}, (np.ones((4, 2, 2)), Y), {}, "dim 3", "rows and columns"),
    "a series": ({}, (FRAME["a"], Y), {}, "2-dimensional container", "Pass a DataFrame"),
    "ragged rows": ({}, ([[1, 2], [3], [4, 5], [6, 7]], Y), {}, "inhomogeneous", "give every row as many values"),
    "infinite class weight": (dict(class_weight={0: 1, 1: np.inf}), (X, Y), {}, "has inf for the class 1", "finite"),
    "NaN class weight": (dict(class_weight={0: 1, 1: np.nan}), (X, Y), {}, "has nan for the class 1", "finite"),
    "text class weight": (dict(class_weight={0: 1, 1: "x"}), (X, Y), {}, "has 'x' for the class 1", "finite"),
    "negative class weight": (dict(class_weight={0: 1, 1: -1}), (X, Y), {}, "negative weight", "give at least 0"),
    "zero class weights": (dict(class_weight={0: 0, 1: 0}), (X, Y), {}, "weights are zero", "a weight above 0"),
    "unknown class weight": (dict(class_weight={0: 1, 7: 1}), (X, Y), {}, "not in class_weight", "every class"),
    "wide class weights": (dict(class_weight={0: 1, 1: 1e-150}), (X, Y), {}, "class_weight spans", "of like size"),
    "half a validation set": ({}, (X, Y), dict(X_val=X), "go together", "give both or neither"),
    "validation weights alone": ({}, (X, Y), dict(sample_weight_val=Y), "sample_weight_val", "needs X_val and y_val"),
    "new label": ({}, (X, Y), dict(X_val=X, y_val=[5] * 4), "label 5, .*the training labels", "leave such rows out"),
    "fewer y_val": ({}, (X, Y), dict(X_val=X, y_val=Y[:3]), "inconsistent", "give one label a row of X_val"),
    "NaN in y_val": ({}, (X, Y), dict(X_val=X, y_val=[0, 1, np.nan, 1]), "y_val .*" + UNLABELLED[0], UNLABELLED[1]),
    "fewer validation weights": ({}, (X, Y), dict(VAL, sample_weight_val=[1]), "weight_val.shape", "a row of X_val"),
    "negative validation weights": ({}, (X, Y), dict(VAL, sample_weight_val=[-1] * 4), "`sample_weight_val`", "be at"),
    "infinity in X_val": ({}, (X, Y), dict(X_val=INF, y_val=Y), "X_val contains infinity .*column 1", NOT_FINITE),
    "columns of X_val": ({}, (X, Y), dict(X_val=X[:, :1], y_val=Y), "X_val has 1 features", "the columns of fit"),
    "pool of a number": (dict(estimator=VoterPool(3)), (X, Y), {}, "voters=3", "must be a list of callables"),
    "pool of numbers": (dict(estimator=VoterPool([3])), (X, Y), {}, r"voters=\[3\]", "must be a list of callables"),
    "pool of nothing": (dict(estimator=VoterPool([])), (X, Y), {}, "pool is empty", "at least one voter"),
    "complements": (dict(estimator=VoterPool(complements="yes")), (X, Y), {}, "complements='yes'", "True or False"),
}  # fmt: skip


def assert_one_sentence(caught, cure):
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert sentence.count(cure) == 1


@pytest.mark.parametrize("case", FITS)
def test_wrong_data_is_one_sentence(case):
    params, args, kwargs, cause, cure = FITS[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=cause) as caught:
            AdaBoostClassifier(**params).fit(*args, **kwargs)
    assert_one_sentence(caught, cure)


@pytest.mark.parametrize("case", FITS)
def test_a_fit_that_fails_leaves_the_model_of_the_last_one(case):
    params, args, kwargs, cause, _ = FITS[case]
    before = pd.DataFrame({"c": list("uvuv"), "n": [1.0, np.nan, 3.0, 4.0], "d": 0.0})
    model = AdaBoostClassifier(n_estimators=3).fit(before, ["no", "yes", "no", "yes"])
    kept, expected = set(vars(model)), model.decision_function(before)
    model.set_params(**params)
    with pytest.raises(ValueError, match=cause):
        model.fit(*args, **kwargs)
    assert set(vars(model)) == kept
    assert model.n_features_in_ == 3
    assert list(model.feature_names_in_) == ["c", "n", "d"]
    assert model.classes_.tolist() == ["no", "yes"]
    assert np.array_equal(model.decision_function(before), expected)


def test_values_that_no_number_can_be_are_a_type_error():
    with pytest.raises(TypeError, match=r"not 'dict' .*column 1") as caught:
        AdaBoostClassifier().fit(np.array([[0, {}]] * 4, dtype=object), Y)
    assert_one_sentence(caught, NO_TEXT)
    with pytest.raises(TypeError, match="not 'NAType'") as caught:
        AdaBoostClassifier().fit(np.array([[0, pd.NA]] * 4, dtype=object), Y)
    assert_one_sentence(caught, "put NaN for a missing value")


ON_ARRAY, ON_FRAME, ON_TEXT = "array", "frame", "text"


@cache
def fitted_on(what):
    table = {ON_ARRAY: X, ON_FRAME: FRAME, ON_TEXT: FRAME.assign(a=list("uvuv"))}[what]
    return AdaBoostClassifier(n_estimators=2).fit(table, Y)


ASKED = {  # what the model was fitted on, table, cause, cure
    "infinity": (ON_ARRAY, INF, "infinity .*column 1", NOT_FINITE),
    "text": (ON_ARRAY, TEXT, "could not convert .*column 1", NO_TEXT),
    "one dimension": (ON_ARRAY, X[0], "got 1D array instead", "Reshape your data"),
    "no rows": (ON_ARRAY, X[:0], r"0 sample\(s\)", "at least one row"),
    "fewer columns": (ON_ARRAY, X[:, :1], "X has 1 features, .*expecting 2", "give the columns of fit"),
    "no columns": (ON_FRAME, FRAME[[]], r"0 feature\(s\)", "at least one column"),
    "another order": (ON_FRAME, FRAME[["b", "a"]], "column 0 is 'b' and was 'a'", "give the columns of fit"),
    "a column less": (ON_FRAME, FRAME[["b"]], "now missing: a;", "give the columns of fit"),
    "a column more": (ON_FRAME, FRAME.assign(z=1), "unseen at fit time: z;", "give the columns of fit"),
    "other columns": (ON_FRAME, FRAME.rename(columns=str.upper), "unseen .*: A, B; .*missing: a, b;", "the columns"),
    "text for numbers": (ON_FRAME, FRAME.assign(a="x"), "Column 'a' held numbers at fit", "a table of the same kind"),
    "text for numbers, mixed": (ON_TEXT, FRAME.assign(a="u", b="x"), "Column 'b' held numbers", "of the same kind"),
    "numbers for text": (ON_TEXT, FRAME, "Column 'a' held text at fit and holds numbers", "a table of the same kind"),
    "numbers for text, array": (ON_TEXT, X, "Column 'a' held text at fit", "a table of the same kind"),
    "lists for text": (ON_TEXT, FRAME.assign(a=LISTS), "Column 'a' .*cannot be categories", "text or numbers"),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_wrong_question_is_one_sentence(case):
    learnt, table, cause, cure = ASKED[case]
    model = fitted_on(learnt)
    for ask in (model.predict, model.staged_predict_proba, lambda Z: model.margins(Z, Y)):
        with pytest.raises(ValueError, match=cause) as caught:
            ask(table)
        assert_one_sentence(caught, cure)


def test_margins_want_one_known_label_a_row():
    for y, cause, cure in (
        ([0], "X has 4 rows and y has 1 labels", "give one label a row of X"),
        ([0, 1, None, 1], *UNLABELLED),
        ([[0, 1]] * 4, "should be a 1d array", "give one label a row of X"),
        ([0, 1, 2, 1], "label 2, which is not among", "leave such rows out"),
    ):
        with pytest.raises(ValueError, match=cause) as caught:
            fitted_on(ON_ARRAY).margins(X, y)
        assert_one_sentence(caught, cure)


def test_asking_before_fitting_is_one_sentence():
    with pytest.raises(NotFittedError, match="not fitted yet") as caught:
        AdaBoostClassifier().predict(X)
    assert_one_sentence(caught, "Call 'fit'")


def test_scores_that_need_two_classes_say_so():
    with pytest.raises(ValueError, match="exponential"):
        boostlab.AdaBoostM2Classifier(early_stopping=True, scoring="exponential").fit(*noisy_table(60))


# -- frames: what a column is, its values say -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (FRAME, FRAME.assign(a=None)),
        (FRAME.assign(c="x"), FRAME.assign(a=None, c="x")),
        (FRAME, FRAME.assign(a=pd.Series([pd.NA] * 4, dtype=object))),
        (pl.DataFrame(FRAME), pl.DataFrame(FRAME).with_columns(a=None)),
        (pl.DataFrame(FRAME).with_columns(c=pl.lit("x")), pl.DataFrame(FRAME).with_columns(a=None, c=pl.lit("x"))),
        (FRAME.assign(a=list("uvuv")), FRAME.assign(a=None)),
        (FRAME.assign(a=list("uvuv")), FRAME.assign(a=np.nan)),
    ],
    ids=["pandas", "pandas with text", "NA", "polars", "polars with text", "text", "text as NaN"],
)
def test_a_column_of_nothing_is_missing(then, now):
    model = AdaBoostClassifier(n_estimators=3).fit(then, Y)
    gaps = [np.nan] * 4 if model._columns is None or model._columns.categories[0] is None else ["never seen"] * 4
    same = pd.DataFrame({name: gaps if name == "a" else list(then[name]) for name in then.columns})
    assert np.array_equal(model.decision_function(now), model.decision_function(same))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_nothing_at_fit_is_a_numeric_one(frame):
    model = AdaBoostClassifier(n_estimators=3).fit(frame({"a": [None] * 4, "b": X[:, 1]}), Y)
    expected = AdaBoostClassifier(n_estimators=3).fit(np.column_stack([[np.nan] * 4, X[:, 1]]), Y)
    assert np.array_equal(model.estimator_weights_, expected.estimator_weights_)
    assert model.feature_importances_[0] == 0
    assert np.isfinite(model.decision_function(frame({"a": [1.0, 2.0], "b": [1.0, 2.0]}))).all()


@pytest.mark.parametrize("kind", [float, Decimal, np.float32, "mixed"])
def test_objects_that_are_numbers_are_numeric(kind):
    Z, y = noisy_table(120, seed=4)
    Z = np.round(Z, 1).astype(np.float32).astype(float)
    cells = Z.astype(object)
    if kind != "mixed":
        cells = np.vectorize(kind, otypes=[object])(Z)
    else:
        cells[::2] = np.vectorize(Decimal, otypes=[object])(Z[::2])
        Z[:9], cells[:9] = 1.0, True
        Z[9:12], cells[9:12] = np.nan, np.array([[None], [pd.NA], [np.nan]], dtype=object)
    names = [f"c{j}" for j in range(Z.shape[1])]
    objects, floats = pd.DataFrame(cells, columns=names, dtype=object), pd.DataFrame(Z, columns=names)
    one, two = (AdaBoostClassifier(n_estimators=10).fit(t, y) for t in (objects, floats))
    for table in (objects, floats):
        assert np.array_equal(one.decision_function(table), two.decision_function(floats))
    assert np.array_equal(two.decision_function(objects), two.decision_function(floats))


def test_text_among_numbers_makes_categories():
    frame = FRAME.assign(a=[1, "x", 1, "x"])
    model = AdaBoostClassifier(n_estimators=1).fit(frame, Y)
    assert model._columns.categories[0] == [1, "x"]
    assert model.predict(frame).tolist() == Y
    assert model.predict(FRAME.assign(a=1)).tolist() == [0] * 4  # one of its categories, not a change of kind


def test_dates_named_as_categories_are_taken():
    frame = FRAME.assign(a=[DAYS[0], DAYS[1], DAYS[0], DAYS[1]])
    model = AdaBoostClassifier(n_estimators=1, categorical_features=["a"]).fit(frame, Y)
    assert model.predict(frame).tolist() == Y


# -- weights at the ends of what floats hold --------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e308, 1e-300, 5e-324])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1e300, 1: 1e300}, {0: 1e-300, 1: 1e-300}])
def test_the_scale_of_all_weights_means_nothing(scale, class_weight):
    one, two = (
        AdaBoostClassifier(n_estimators=5, class_weight=w).fit(X, Y, v)
        for w, v in ((class_weight, [scale] * 4), (None, None))
    )
    assert np.allclose(one.estimator_weights_, two.estimator_weights_, rtol=1e-12)


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize("light", [1e-30, 1e-99])
@pytest.mark.filterwarnings("ignore:.*kept no voter")
def test_light_rows_among_heavy_ones(name, light):
    Z, y = noisy_table(60, seed=6)
    for weights in (np.where(np.arange(60) % 3 == 0, light, 1.0), np.where(np.arange(60) == 7, 1 / light, 1.0)):
        model = REGISTRY[name].cls(n_estimators=6).fit(Z, y, weights)
        assert np.isfinite(model.decision_function(Z)).all()
        assert np.isfinite(model.estimator_weights_).all()


def test_weights_that_span_too_much_are_refused():
    for weights in ([1e200, 1e-200, 1, 1], [1e-101, 1, 1, 1], [1e308, 5e-324, 0, 1]):
        with pytest.raises(ValueError, match="sample_weight spans more than 100 orders of magnitude") as caught:
            VadaBoostClassifier().fit(X, Y, weights)
        assert_one_sentence(caught, "0 to rows that do not count")
    assert VadaBoostClassifier(n_estimators=2).fit(X, Y, [1e-99, 1, 1, 0]).n_estimators_ > 0


# -- labels that are whole numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        np.array([True, False, True]),
        np.array([-128, 127, 0, 127], np.int8),
        np.array([255, 250, 255], np.uint8),
        np.array([2**63 - 1, 2**63 - 3]),
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
        np.array([-(2**63), -(2**63) + 5]),
        np.arange(300)[::-1],
        np.array([7, 7]),
        np.array([4, 5, 4]),
        np.array([6, 4, 5, 4], np.uint16),
    ],
    ids=str,
)
def test_whole_numbers_are_told_apart_as_numpy_does(y):
    (classes, codes), (expected, places) = _told_apart(y), np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype
    assert classes.tolist() == expected.tolist()
    assert codes.tolist() == places.tolist()


def test_other_labels_are_left_to_numpy():
    for y in (np.array([0, 10**6]), np.array([0.0, 1.0]), np.array(["a", "b"]), np.array([], int)):
        assert _told_apart(y) is None


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_infinite_number_is_refused_wherever_it_is(bad, dtype):
    X = np.random.default_rng(0).normal(size=(4000, 300)).astype(dtype)
    y = X[:, 0] > 0
    for row in (0, 1999, 3999):
        Z = X.copy()
        Z[row, 7] = bad
        Z[row // 2, 9] = np.nan  # which is allowed
        with pytest.raises(ValueError, match="infinity"):
            AdaBoostClassifier(n_estimators=1, n_jobs=2).fit(Z, y)
    Z = np.full((10, 3), np.finfo(dtype).max, dtype)  # whose sum is not finite
    Z[:5, 0] = 0
    assert AdaBoostClassifier(n_estimators=1).fit(Z, Z[:, 0] > 0).score(Z, Z[:, 0] > 0) == 1


def test_infinity_is_refused_where_sums_do_not_show_it():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = X[:, 0] > 0
    long = X.astype(np.longdouble)
    long[3, 1] = np.finfo(np.longdouble).max  # as a float it is infinite, where the two types differ
    masked = np.ma.masked_invalid(np.where(np.arange(3) == 1, np.inf, X))
    for Z in (masked, long) if np.isinf(float(long[3, 1])) else (masked,):
        with pytest.raises(ValueError, match="infinity"), np.errstate(over="ignore"):
            AdaBoostClassifier(n_estimators=1).fit(Z, y)


@pytest.mark.parametrize("order", "CF")
def test_a_plain_array_is_read_without_scikit_learn(order, monkeypatch):
    """Its checks would change nothing; what is not plain goes through them."""
    asked = []
    checks = input_tables.validate_data
    monkeypatch.setattr(input_tables, "validate_data", lambda *args, **how: asked.append(1) or checks(*args, **how))
    X, y = noisy_table(60)
    X = np.asarray(X, order=order)
    X[3, 0] = np.nan
    model = AdaBoostClassifier(n_estimators=2).fit(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y)
    assert asked
    asked.clear()
    assert not hasattr(model.fit(X, np.asarray(y, int)), "feature_names_in_")
    assert not asked
    assert model.n_features_in_ == X.shape[1]
    for Z, z in (
        (X.tolist(), y),
        (X, y.astype(str)),
        (np.nan_to_num(X).astype(int), y),
        (X[:, :0], y),
        (X, y[:-1]),
        (X, y[:, None]),
    ):
        asked.clear()
        with suppress(ValueError), warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.simplefilter("ignore")
            AdaBoostClassifier(n_estimators=2).fit(Z, z)
        assert asked
