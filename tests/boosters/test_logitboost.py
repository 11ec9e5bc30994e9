"""LogitBoost: Newton steps on the logistic loss."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeRegressor

from boostlab import LogitBoostClassifier, load


def deviance(y, F):
    """mean ln(1 + exp(-2 y F))."""
    return np.logaddexp(0.0, -2.0 * y * F).mean()


def newton(y, F):
    """-g/H of the loss of a leaf constant added to F, by finite differences at 0."""
    d = 1e-4
    low, mid, high = (deviance(y, F + c) for c in (-d, 0.0, d))
    return -((high - low) / (2 * d)) / ((high - 2 * mid + low) / d**2)


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("z_max", [2.0, 4.0])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_deviance_falls_every_round(data, noise, z_max, rate):
    X, codes = data(seed=1, n=120, noise=noise)
    y = 2.0 * codes - 1
    model = LogitBoostClassifier(n_estimators=150, z_max=z_max, learning_rate=rate).fit(X, codes)
    loss = np.log(2.0)
    for F, said in zip(model.staged_decision_function(X), model.history_["objective"], strict=True):
        now = deviance(y, F)
        assert now < loss
        assert said == pytest.approx(now, rel=1e-10)
        loss = now
    assert model.n_estimators_ > 50


def test_round_one_is_the_least_squares_fit_of_the_labels(data, all_stumps):
    X, codes = data(seed=2, n=90)
    y = 2.0 * codes - 1
    pool = all_stumps(X)
    model = LogitBoostClassifier(n_estimators=1).fit(X, codes)
    stump = model.estimators_[0]
    above = X[:, stump.feature] > stump.threshold
    assert (stump.left, stump.right) == pytest.approx((y[~above].mean(), y[above].mean()), abs=1e-13)
    np.testing.assert_allclose(
        model.decision_function(X), np.where(above, y[above].mean(), y[~above].mean()), atol=1e-13
    )
    errors = [y[h > 0].var() * (h > 0).sum() + y[h < 0].var() * (h < 0).sum() for h in pool.H]
    assert ((y - model.decision_function(X)) ** 2).sum() == pytest.approx(min(errors), rel=1e-12)


def test_leaves_are_newton_steps(data):
    # Without clipping a leaf's constant is -g/H of the loss over its rows.
    X, codes = data(seed=3, n=150, noise=0.2)
    y = 2.0 * codes - 1
    model = LogitBoostClassifier(n_estimators=15, z_max=1e6).fit(X, codes)
    before = np.zeros(len(y))
    for stump, after in zip(model.estimators_, model.staged_decision_function(X), strict=True):
        above = X[:, stump.feature] > stump.threshold
        assert stump.left == pytest.approx(newton(y[~above], before[~above]), rel=2e-5, abs=2e-5)
        assert stump.right == pytest.approx(newton(y[above], before[above]), rel=2e-5, abs=2e-5)
        before = after


def fit_clipped(y, F, H, bound, careful):
    """The least-squares stump of the response clipped to +-bound: which rows are above its cut, and its leaves / 2."""
    p = 1 / (1 + np.exp(-2 * F))
    w = p * (1 - p)
    gradient = (1 + y) / 2 - p
    z = np.clip(gradient / w, -bound, bound)
    if careful:
        w = gradient / z
    right, top = H @ w, H @ (w * z)
    left, low = w.sum() - right, w @ z - top
    best = int((top**2 / right + low**2 / left).argmax())
    return H[best], low[best] / left[best] / 2, top[best] / right[best] / 2


@pytest.mark.parametrize("z_max", [1.5, 4.0])
def test_every_round_by_brute_force(data, all_stumps, z_max):
    # Fit the clipped response; halve the step until the loss falls; where no step helps, raise the weights
    # so that they make up for what was clipped, from then on.
    X, codes = data(seed=4, n=90, noise=0.2)
    y = 2.0 * codes - 1
    H = all_stumps(X).H > 0
    model = LogitBoostClassifier(n_estimators=60, z_max=z_max).fit(X, codes)
    F, halved, raised = np.zeros(len(y)), 0, 0
    for stump, alpha, after in zip(
        model.estimators_, model.estimator_weights_, model.staged_decision_function(X), strict=True
    ):
        for careful in (True,) if raised else (False, True):
            above, left, right = fit_clipped(y, F, H, z_max, careful)
            steps = [
                s for s in 0.5 ** np.arange(12) if deviance(y, F + s * np.where(above, right, left)) < deviance(y, F)
            ]
            if steps:
                break
        assert ((X[:, stump.feature] > stump.threshold) == above).all()
        assert [stump.left, stump.right] == pytest.approx([left, right], abs=1e-9)
        assert alpha == steps[0]
        F = F + alpha * np.where(above, right, left)
        np.testing.assert_allclose(after, F, rtol=0, atol=1e-9)
        halved, raised = halved + (alpha < 1), raised + careful
    assert raised > 0 if z_max == 1.5 else halved > 0


@pytest.mark.parametrize("z_max", [1.5, 4.0])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_not_safe_is_the_printed_algorithm(data, all_stumps, z_max, rate, tmp_path):
    # Figure 2.9: fit the clipped response, add the whole step, whatever becomes of the loss.
    X, codes = data(seed=4, n=90, noise=0.2)
    y = 2.0 * codes - 1
    H = all_stumps(X).H > 0
    model = LogitBoostClassifier(n_estimators=60, z_max=z_max, learning_rate=rate, safe=False).fit(X, codes)
    assert (model.estimator_weights_ == rate).all()
    assert model.n_estimators_ == 60
    F = np.zeros(len(y))
    for stump, after, said in zip(
        model.estimators_, model.staged_decision_function(X), model.history_["objective"], strict=True
    ):
        above, left, right = fit_clipped(y, F, H, z_max, careful=False)
        assert ((X[:, stump.feature] > stump.threshold) == above).all()
        assert [stump.left, stump.right] == pytest.approx([left, right], abs=1e-9)
        F = F + rate * np.where(above, right, left)
        np.testing.assert_allclose(after, F, rtol=0, atol=1e-9)
        assert said == pytest.approx(deviance(y, F), rel=1e-9)
    if rate == 1.0:
        assert (np.diff(model.history_["objective"]) > 0).any()
    model.save(tmp_path / "m.boost")
    again = load(tmp_path / "m.boost")
    assert again.safe is False
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_not_safe_ends_where_there_is_nothing_to_fit():
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = LogitBoostClassifier(safe=False).fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert model.stop_reason_.startswith("no_edge")
    with pytest.raises(ValueError, match="safe='no' is not possible; it must be True or False"):
        LogitBoostClassifier(safe="no").fit([[0.0], [1.0]], [0, 1])


def test_probabilities_are_the_link(data):
    X, y = data(seed=5)
    model = LogitBoostClassifier(n_estimators=30).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(X))), rtol=0, atol=1e-15)
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-15)


def test_probabilities_are_calibrated_on_a_table():
    # One binary column: the fit is the observed share of ones on each side.
    X = np.repeat([[0.0], [1.0]], 100, axis=0)
    y = np.concatenate([np.arange(100) < 20, np.arange(100) < 70]).astype(int)
    model = LogitBoostClassifier(n_estimators=200).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]])[:, 1], [0.2, 0.7], atol=1e-7)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_three_thousand_rounds_stay_finite(noise):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(150, 3))
    codes = (X[:, 0] + X[:, 1] > 0).astype(int)
    flip = rng.random(150) < noise
    codes[flip] = 1 - codes[flip]
    model = LogitBoostClassifier(n_estimators=3000).fit(X, codes)
    assert model.stop_reason_.split(":")[0] in {"max_rounds", "perfect", "no_edge"}
    F, P = model.decision_function(X), model.predict_proba(X)
    assert np.isfinite(F).all()
    assert np.isfinite(P).all()
    assert all(np.isfinite(c).all() for c in model.history_.values())
    if noise == 0:
        assert (model.predict(X) == codes).all()
        assert deviance(2.0 * codes - 1, F) < 1e-3


def test_a_single_cut_that_separates():
    model = LogitBoostClassifier(n_estimators=3000).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.stop_reason_.startswith("perfect")
    assert np.isfinite(model.decision_function([[0.0], [3.0]])).all()
    assert model.predict([[0.0], [3.0]]).tolist() == [0, 1]


def test_any_regressor_serves(data, replay):
    X, codes = data(seed=7, n=120, noise=0.1)
    y = 2.0 * codes - 1
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = LogitBoostClassifier(tree, n_estimators=20, z_max=1e6).fit(X, codes)
    loss = np.log(2.0)
    for before, h, _, after in replay(model, X):
        for value in np.unique(h):  # every leaf of the tree holds a Newton step
            leaf = h == value
            if np.abs(before[leaf]).max() < 3:
                assert value == pytest.approx(newton(y[leaf], before[leaf]), rel=1e-4, abs=1e-4)
        assert deviance(y, after) < loss
        loss = deviance(y, after)


def test_sample_weights_weight_the_fit(data):
    X, codes = data(seed=8, n=80)
    y = 2.0 * codes - 1
    mass = np.random.default_rng(8).uniform(0.2, 3.0, 80)
    model = LogitBoostClassifier(n_estimators=1).fit(X, codes, mass)
    stump = model.estimators_[0]
    above = X[:, stump.feature] > stump.threshold
    means = [np.average(y[s], weights=mass[s]) for s in (~above, above)]
    assert [stump.left, stump.right] == pytest.approx(means, abs=1e-13)
    loss = np.average(np.logaddexp(0, -2 * y * model.decision_function(X)), weights=mass)
    assert model.history_["objective"][0] == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("leaves", [8, 31])
def test_votes_stay_bounded_with_trees(data, leaves):
    X, y = data(seed=8, n=400, noise=0.25)
    model = LogitBoostClassifier(max_leaf_nodes=leaves, n_estimators=60).fit(X, y)
    assert max(v.bound for v in model.estimators_) <= 2.0 + 1e-9  # half of z_max
    assert (np.diff(model.history_["objective"]) < 0).all()
    F = model.decision_function(X)
    assert deviance(2.0 * y - 1, F) == pytest.approx(model.history_["objective"][-1], rel=1e-9)
