"""What every booster owes to weights, labels and the order of the rows."""

from math import log

import numpy as np
import pytest

from boostlab import AdaBoostClassifier
from boostlab.boosters import REGISTRY
from variants import PROGRAMS

# -- the rows and their weights: every booster -----------------------------------------------------------------------

SHORT = {"n_estimators": 10}
BINARY = [
    (name, params)
    for name in sorted(REGISTRY)
    for params in {
        "AdaBoostClassifier": [
            {},
            {"algorithm": "real"},
            {"learning_rate": 0.5},
            {"resample": True, "random_state": 1},
        ],
        "VadaBoostClassifier": [{}, {"step": "exact", "variance_penalty": 3.0}],
        "ArcGVClassifier": [{}, {"margin_floor": -0.5, "cap": 0.3}, {"target": "smallest_edge"}],
        "L1BoostClassifier": [{}, {"penalty": "additive"}],
        "SoftMarginBoostClassifier": [{}, {"power": 2}, {"C": 0.001, "penalty": "cumulative"}],
        "WeightBoostClassifier": [{}, {"normalize": True}],
        "MadaBoostClassifier": [{}, {"exponent": 0.5}],
        "FilterBoostClassifier": [{}, {"mode": "oracle", "random_state": 1}],
        "RobustBoostClassifier": [{}, {"clip": False, "target_error": 0.1}],
        "QuadBoostClassifier": [{}, {"regularizer": "l1"}, {"regularizer": "l2"}, {"regularizer": "linf"}],
    }.get(name, [{}])
]


def ids(case):
    return "-".join([case[0], *map(str, case[1].values())]) if isinstance(case, tuple) else None


def build(name, params):
    return REGISTRY[name].cls(**{**SHORT, **params})


def chancy(params):
    """Whether rows are drawn: draws follow the last digits of the weights, and the order of the labels."""
    return params.get("resample") or params.get("mode") == "oracle"


def known(name):
    """Whether the coefficients come from formulas; a linear program may have several optima."""
    return name not in PROGRAMS


def optimum(model):
    """What the model's program reached."""
    return model.history_.get("program", model.history_["objective"])[-1]


@pytest.mark.parametrize("case", BINARY, ids=ids)
def test_weight_k_equals_k_copies(case, data, same_stumps):
    name, params = case
    X, y = data(seed=8, n=60, noise=0.2)
    X = np.round(X, 1)  # equal values in a column
    k = np.random.default_rng(8).integers(0, 4, len(y))
    copies = np.random.default_rng(9).permutation(np.repeat(np.arange(len(y)), k))
    if known(name):
        weighted = build(name, params).fit(X, y, k)
        copied = build(name, params).fit(X[copies], y[copies])
        assert weighted.n_estimators_ > 1
        assert same_stumps(weighted, copied)
        assert weighted.estimator_weights_.tobytes() == copied.estimator_weights_.tobytes()
        assert weighted.decision_function(X).tobytes() == copied.decision_function(X).tobytes()
        for column in ("objective", "alpha"):
            assert weighted.history_[column].tobytes() == copied.history_[column].tobytes()
        assert weighted.stop_reason_ == copied.stop_reason_
    else:
        params, tol = PROGRAMS[name]
        weighted = REGISTRY[name].cls(**params).fit(X, y, k)
        copied = REGISTRY[name].cls(**params).fit(X[copies], y[copies])
        assert optimum(weighted) == pytest.approx(optimum(copied), abs=tol)


@pytest.mark.parametrize("case", BINARY, ids=ids)
def test_rows_of_weight_zero_do_not_exist(case, data, same_stumps):
    name, params = case
    X, y = data(seed=8, n=60, noise=0.2)
    w = np.ones(80)
    w[60:] = 0.0
    rng = np.random.default_rng(1)
    far = np.concatenate([X, 100 * rng.normal(size=(20, 4))])  # would move every quantile and win every split
    labels = np.concatenate([y, rng.integers(0, 2, 20)])
    one, two = build(name, params).fit(X, y), build(name, params).fit(far, labels, w)
    assert same_stumps(one, two)
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


def test_a_class_of_weight_zero_does_not_exist(data):
    X, y = data(seed=8, n=60, n_classes=3)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y, (y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]


def test_m2_copies_with_three_classes(data, same_stumps):
    X, y = data(seed=8, n=60, n_classes=3)
    k = np.random.default_rng(2).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), k)
    one = build("AdaBoostM2Classifier", {}).fit(X, y, k)
    two = build("AdaBoostM2Classifier", {}).fit(X[copies], y[copies])
    assert same_stumps(one, two)
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


# The sum of the weights, where it exceeds the number of rows, is the n of Real AdaBoost's smoothing and of a draw.
SCALE_FREE = [(n, p) for n, p in BINARY if known(n) and p != {"algorithm": "real"} and not chancy(p)]


@pytest.mark.parametrize("case", SCALE_FREE, ids=ids)
def test_the_scale_of_weights_does_not_matter(case, data):
    # Weights that sum to one are as common as weights that sum to n.
    name, params = case
    X, y = data(seed=11, n=80, noise=0.2)
    w = np.random.default_rng(3).uniform(0.2, 3.0, len(y))
    one = build(name, params).fit(X, y, w)
    scale = max(1.0, np.abs(one.decision_function(X)).max())
    for total in (1000.0, 1.0, 1e-3):
        two = build(name, params).fit(X, y, w * (total / w.sum()))
        assert same_stumps_up_to_leaves(one, two), total
        np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), rtol=0, atol=1e-12 * scale)


def same_stumps_up_to_leaves(one, two):
    return [(s.feature, s.threshold) for s in one.estimators_] == [(s.feature, s.threshold) for s in two.estimators_]


@pytest.mark.parametrize(
    "name", ["AdaBoostClassifier", "VadaBoostClassifier", "EBBoostClassifier", "AdaBoostM2Classifier"]
)
@pytest.mark.parametrize("total", [1.0, 0.1])
def test_a_perfect_voter_is_heard_whatever_the_weights_sum_to(name, total):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = REGISTRY[name].cls().fit(X, y, [total / 4] * 4)
    assert model.stop_reason_.startswith("perfect")
    assert model.estimator_weights_[0] > 0
    assert model.predict(X).tolist() == y


def test_fractional_weights_reach_the_formulas(data, all_stumps, replay):
    # Initial weights D: w proportional to D exp(-y F), and the loss is the D-weighted mean.
    X, codes = data(seed=11, n=80, noise=0.2)
    y = 2.0 * codes - 1
    D = np.random.default_rng(3).uniform(0.2, 3.0, len(y))
    D /= D.mean()
    H = all_stumps(X).H
    model = AdaBoostClassifier(n_estimators=30).fit(X, codes, D)
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        w = D * np.exp(-y * before)
        w /= w.sum()
        assert (w * y * h).sum() == pytest.approx(np.abs(H @ (w * y)).max(), abs=1e-12)
        error = w[h != y].sum()
        assert alpha == pytest.approx(0.5 * log((1 - error) / error), rel=1e-11)
        assert model.history_["objective"][t] == pytest.approx(np.average(np.exp(-y * after), weights=D), rel=1e-11)


@pytest.mark.parametrize("case", BINARY, ids=ids)
def test_row_order_does_not_matter(case, data, same_stumps):
    name, params = case
    X, y = data(seed=12, n=70, noise=0.2)
    order = np.random.default_rng(5).permutation(len(y))
    if known(name):
        one, two = build(name, params).fit(X, y), build(name, params).fit(X[order], y[order])
        assert same_stumps(one, two)
        assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()
    else:
        params, tol = PROGRAMS[name]
        one, two = (REGISTRY[name].cls(**params).fit(X[i], y[i]) for i in (slice(None), order))
        assert optimum(one) == pytest.approx(optimum(two), abs=tol)


# -- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", BINARY, ids=ids)
def test_label_names_do_not_matter(case, data):
    name, params = case
    X, codes = data(seed=13, n=60, noise=0.2)
    plain = build(name, params).fit(X, codes)
    for names in (["no", "yes"], [False, True], [-1, 1], [10.0, 20.0]):
        named = build(name, params).fit(X, np.array(names)[codes])
        assert plain.decision_function(X).tobytes() == named.decision_function(X).tobytes()
        assert named.classes_.tolist() == names
        assert (named.predict(X) == np.array(names)[plain.predict(X)]).all()


@pytest.mark.parametrize("case", [c for c in BINARY if known(c[0]) and c[1].get("mode") != "oracle"], ids=ids)
def test_swapping_the_labels_turns_the_scores_round(case, data):
    name, params = case
    X, y = data(seed=14, n=60, noise=0.2)
    if params.get("resample"):
        params = {**params, "resample": False}  # a draw walks the rows in an order that depends on the labels
    one, two = build(name, params).fit(X, y), build(name, params).fit(X, 1 - y)
    assert same_stumps_up_to_leaves(one, two)
    np.testing.assert_allclose(one.decision_function(X), -two.decision_function(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.estimator_weights_, two.estimator_weights_, rtol=1e-12)
