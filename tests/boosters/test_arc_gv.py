"""Arc-gv and AdaBoost*_v: steps from the definitions, and a linear program that knows the largest minimum margin."""

from math import atanh, floor, log

import numpy as np
import pytest
from scipy.optimize import linprog

from boostlab import AdaBoostClassifier, ArcGVClassifier


def weights(y, F):
    """w_i proportional to exp(-y_i F_i)."""
    logs = -y * F
    w = np.exp(logs - logs.max())
    return w / w.sum()


def largest_margin(H, y):
    """The hard-margin linear program over voters and complements: max rho, y_i sum_k a_k H_ki >= rho, sum a = 1."""
    A = y * np.concatenate([H, -H])
    k, n = A.shape
    found = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.hstack([-A.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(k), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
    )
    return -found.fun


def separable(seed, n=30):
    """Labels by a sum of stumps, so that some vote of stumps is right everywhere."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, (np.sign(X[:, 0]) + np.sign(X[:, 1] - 0.2) + np.sign(X[:, 2] + 0.3) > 0).astype(int)


def same_rounds(one, two, rounds=None):
    """Whether two models have the same voters in the first rounds, and the same coefficients but for rounding."""
    a, b = one.estimators_[:rounds], two.estimators_[:rounds]
    return [repr(v) for v in a] == [repr(v) for v in b] and np.allclose(
        one.estimator_weights_[:rounds], two.estimator_weights_[:rounds], rtol=1e-13, atol=0
    )


def test_adaboost_while_it_errs(data):
    X, y = data(seed=1, n=100, noise=0.25)
    ada, arc = (cls(n_estimators=80).fit(X, y) for cls in (AdaBoostClassifier, ArcGVClassifier))
    assert ada.score(X, y) < 1
    assert same_rounds(ada, arc)
    for column in ("error", "objective"):
        np.testing.assert_allclose(ada.history_[column], arc.history_[column], rtol=1e-13)


def test_adaboost_until_it_no_longer_errs():
    X, y = separable(0)
    ada, arc = (cls(n_estimators=60).fit(X, y) for cls in (AdaBoostClassifier, ArcGVClassifier))
    first = next(t for t, p in enumerate(arc.staged_predict(X)) if (p == y).all())
    assert 1 < first < 50
    assert same_rounds(ada, arc, first + 1)
    assert arc.history_["target"][first] == 0
    assert arc.history_["target"][first + 1] == arc.history_["minimum_margin"][first] > 0
    assert arc.estimator_weights_[first + 1] < ada.estimator_weights_[first + 1]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"margin_floor": -0.9},
        {"margin_floor": 0.1},
        {"cap": 0.2},
        {"target": "smallest_edge", "accuracy": 0.02},
        {"target": "smallest_edge", "accuracy": 0.3, "cap": 1.0},
    ],
    ids=str,
)
def test_every_round(all_stumps, replay, params):
    X, codes = separable(1)
    y, H = 2.0 * codes - 1, all_stumps(X).H
    mass = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = ArcGVClassifier(n_estimators=50, **params).fit(X, codes, mass)
    assert model.n_estimators_ > 8
    S, edges, least = 0.0, [], -1.0
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        w = mass * weights(y, before) / (mass * weights(y, before)).sum()
        edges.append((w * y * h).sum())
        assert edges[-1] == pytest.approx(np.abs(H @ (w * y)).max(), abs=1e-12)
        if "target" in params:
            rho = min(edges) - params["accuracy"]
        else:
            rho = max(params.get("margin_floor", 0.0), least)
        assert model.history_["target"][t] == pytest.approx(rho, abs=1e-11)
        assert alpha == pytest.approx(min(atanh(edges[-1]) - atanh(rho), params.get("cap", np.inf)), rel=1e-9)
        S += alpha
        least = (y * after).min() / S
        assert model.history_["minimum_margin"][t] == pytest.approx(least, abs=1e-12)
        assert model.history_["average_margin"][t] == pytest.approx(np.average(y * after, weights=mass) / S, abs=1e-12)
        assert model.history_["objective"][t] == pytest.approx(np.average(np.exp(-y * after), weights=mass), rel=1e-9)
    assert model.margins(X, codes).min() == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("floor", [0.0, -0.99])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_largest_margin_is_approached_and_never_passed(all_stumps, seed, floor):
    X, codes = separable(seed)
    best = largest_margin(all_stumps(X).H, 2.0 * codes - 1)
    assert best > 0.05
    model = ArcGVClassifier(n_estimators=1500, margin_floor=floor).fit(X, codes)
    margin = model.history_["minimum_margin"]
    assert margin.max() <= best + 1e-9
    assert margin[20] < margin[200] < margin[-1]
    assert margin[-1] > 0.9 * best
    assert model.history_["edge"].min() >= best - 1e-9  # weak duality: every best edge is a bound from above


@pytest.mark.parametrize("accuracy", [0.3, 0.1, 0.05])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_adaboost_star_keeps_its_promise(all_stumps, seed, accuracy):
    X, codes = separable(seed)
    best = largest_margin(all_stumps(X).H, 2.0 * codes - 1)
    rounds = floor(2 * log(len(codes)) / accuracy**2)
    model = ArcGVClassifier(target="smallest_edge", accuracy=accuracy, n_estimators=rounds).fit(X, codes)
    assert model.stop_reason_.startswith("tolerance")
    assert model.n_estimators_ < rounds
    margin = model.margins(X, codes).min()
    assert best - accuracy <= margin <= best + 1e-12
    before = model.history_["minimum_margin"][:-1]
    assert (before < np.minimum.accumulate(model.history_["edge"])[:-1] - accuracy).all()  # it did not end late


def test_adaboost_star_where_no_vote_separates():
    # The corners of a square: every edge is 0 and so is the largest margin.
    X, codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float), [0, 1, 1, 0]
    model = ArcGVClassifier(target="smallest_edge", accuracy=0.1).fit(X, codes)
    assert model.stop_reason_.startswith("tolerance")
    assert -0.1 <= model.margins(X, codes).min() <= 0


def test_an_edge_at_the_target_is_no_use(all_stumps):
    X, codes = separable(0)
    y, H = 2.0 * codes - 1, all_stumps(X).H
    best = largest_margin(H, y)
    model = ArcGVClassifier(margin_floor=best + 0.05, n_estimators=3000).fit(X, codes)
    assert model.stop_reason_.startswith("no_edge")
    edge = np.abs(H @ (y * weights(y, model.decision_function(X)))).max()
    assert edge <= best + 0.05 + 1e-9
    assert model.history_["edge"].min() > best + 0.05


@pytest.mark.parametrize("params", [{}, {"margin_floor": 0.999}, {"target": "smallest_edge"}], ids=str)
def test_a_perfect_voter_has_a_finite_vote(params):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = ArcGVClassifier(**params).fit(X, y)
    assert model.stop_reason_.startswith("perfect")
    assert model.n_estimators_ == 1
    assert 0.1 < model.estimator_weights_[0] < 5
    if not params:
        assert model.estimator_weights_[0] == AdaBoostClassifier().fit(X, y).estimator_weights_[0]


def test_a_capped_vote_is_breimans():
    X, y = separable(2)
    model = ArcGVClassifier(cap=0.05, n_estimators=200).fit(X, y)
    assert model.estimator_weights_.max() == 0.05
    assert (model.estimator_weights_ > 0).all()


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"margin_floor": -1}, r"margin_floor=-1 is not possible; it must be a number in \(-1, 1\)"),
        ({"margin_floor": 1.0}, r"in \(-1, 1\)"),
        ({"cap": 0}, r"cap=0 is not possible; it must be None or a number in \(0, 100\]"),
        ({"target": "median"}, "target='median' is not possible; it must be 'minimum_margin' or 'smallest_edge'"),
        ({"accuracy": 0.0}, r"accuracy=0.0 is not possible; it must be a number in \(0, 1\)"),
    ],
)
def test_parameters_out_of_range(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        ArcGVClassifier(**params).fit([[0], [1]], [0, 1])


def test_many_rounds_stay_finite():
    X, y = separable(1)
    model = ArcGVClassifier(n_estimators=4000, margin_floor=-0.99).fit(X, y)
    assert np.abs(model.decision_function(X)).max() > 10  # far beyond what exp(-y F) could be told apart by
    assert all(np.isfinite(c).all() for c in model.history_.values())
    assert np.isfinite(model.predict_proba(X)).all()
