"""BrownBoost: the clock, the conserved potential and the promise about the training error."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.special import erf, erfinv, log_ndtr, logsumexp
from sklearn.exceptions import ConvergenceWarning

from boostlab import AdaBoostClassifier, BrownBoostClassifier, RobustBoostClassifier, VoterPool, load
from boostlab.functions import erfcinv


def check_every_round(model, X, y, replay, eps):
    """Both equations of every round, the potential and the clock, from scores alone; returns the times left."""
    c = float(erfinv(1 - eps)) ** 2
    left, times = c, []
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        b = y * h
        W = np.exp(-((y * before + left) ** 2) / c)
        assert (W * b).sum() > 0
        left = model.history_["time_left"][t]
        times.append(left)
        r = y * before + alpha * b
        np.testing.assert_allclose(r, y * after, rtol=0, atol=1e-12)
        potential = (1 - erf((r + left) / sqrt(c))).mean()
        assert potential == pytest.approx(eps, abs=1e-12)  # conserved since the start, where it was 1 - erf(sqrt c)
        assert model.history_["objective"][t] == pytest.approx(potential, abs=1e-12)
        if left > 0:  # the voter has no edge left
            W = np.exp(-((r + left) ** 2) / c)
            assert abs((W * b).sum() / W.sum()) <= 1e-9
    return c, times


@pytest.mark.parametrize(
    ("noise", "eps"), [(0.0, 0.01), (0.0, 0.05), (0.0, 0.2), (0.1, 0.15), (0.1, 0.3), (0.2, 0.25), (0.2, 0.4)]
)
def test_the_clock_runs_out_with_the_promised_error(data, replay, noise, eps):
    X, codes = data(seed=1, n=120, noise=noise)
    y = 2.0 * codes - 1
    model = BrownBoostClassifier(target_error=eps).fit(X, codes)
    assert model.stop_reason_.startswith("time_up")
    c, times = check_every_round(model, X, y, replay, eps)
    assert times[-1] == 0.0
    assert (np.diff([c, *times]) < 0).all()  # time only passes
    F = model.decision_function(X)
    assert np.abs(y - erf(F / sqrt(c))).mean() == pytest.approx(eps, abs=1e-10)
    assert (y * F <= 0).mean() <= eps


def test_best_stump_every_round(data, all_stumps, replay):
    X, codes = data(seed=2, n=80)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = BrownBoostClassifier(target_error=0.2).fit(X, codes)
    c = left = float(erfinv(0.8)) ** 2
    for t, (before, h, _, _) in enumerate(replay(model, X)):
        W = np.exp(-((y * before + left) ** 2) / c)
        W /= W.sum()
        edge = (W * y * h).sum()
        assert edge == pytest.approx(np.abs(H @ (W * y)).max(), abs=1e-12)
        assert model.history_["edge"][t] == pytest.approx(edge, abs=1e-12)
        left = model.history_["time_left"][t]


def test_hopeless_examples_are_given_up():
    # One column, a clear threshold, and eight rows in the far corners with the wrong label: the clock runs out on the
    # threshold alone, with the eight as the errors it was allowed.
    x = np.linspace(-1, 1, 200)
    truth = (x > 0).astype(int)
    told = truth.copy()
    odd = [5, 10, 20, 30, 165, 175, 185, 190]
    told[odd] = 1 - told[odd]
    model = BrownBoostClassifier(target_error=0.1).fit(x[:, None], told)
    assert model.stop_reason_.startswith("time_up")
    assert (model.predict(x[:, None]) == truth).all()


def test_a_perfect_voter_uses_up_the_clock():
    # b = 1 everywhere: t = alpha along the curve, so the clock ends it with alpha = c.
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = BrownBoostClassifier(target_error=0.1).fit(X, y)
    assert model.n_estimators_ == 1
    assert model.stop_reason_.startswith("time_up")
    assert model.estimator_weights_[0] == pytest.approx(float(erfinv(0.9)) ** 2, rel=1e-12)
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize("eps", [0.02, 0.1, 0.5])
def test_total_time_is_another_name_for_the_target(data, same_stumps, eps):
    X, y = data(seed=4, n=80, noise=0.0)
    one = BrownBoostClassifier(target_error=eps, n_estimators=40).fit(X, y)
    two = BrownBoostClassifier(total_time=erfcinv(eps) ** 2, n_estimators=40).fit(X, y)
    assert same_stumps(one, two)
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()
    # 1 - erf(sqrt c) is the target, whichever was given.
    three = BrownBoostClassifier(total_time=1.0, n_estimators=5).fit(X, y)
    assert three.history_["objective"][0] == pytest.approx(1 - erf(1.0), abs=1e-13)


@pytest.mark.parametrize("eps", [1e-6, 1e-3, 0.05])
def test_a_hopeless_target_ends_with_a_reason_and_a_finite_model(eps):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(150, 2)), rng.integers(0, 2, 150)
    model = BrownBoostClassifier(target_error=eps, n_estimators=300).fit(X, y)
    assert model.stop_reason_.split(":")[0] in {"no_edge", "max_rounds", "solver_failed"}
    assert model.history_["time_left"][-1] > 0
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert all(np.isfinite(c).all() for c in model.history_.values())
    c = float(erfinv(1 - eps)) ** 2
    r = (2.0 * y - 1) * model.decision_function(X)
    # The potential is conserved to the end all the same.
    assert (1 - erf((r + model.history_["time_left"][-1]) / sqrt(c))).mean() == pytest.approx(eps, abs=1e-11)


def test_no_edge_at_the_start():
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = BrownBoostClassifier().fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert model.stop_reason_.startswith("no_edge")


def test_a_generous_target_ends_at_once(data):
    X, codes = data(seed=6, noise=0.0)
    model = BrownBoostClassifier(target_error=0.99).fit(X, codes)
    assert model.stop_reason_.startswith("time_up")
    assert model.n_estimators_ <= 3


def test_real_valued_votes(data, replay):
    # Nothing in the two equations needs votes of -1 and +1.
    X, codes = data(seed=7, n=80, noise=0.05)
    y = 2.0 * codes - 1
    voters = [lambda X, v=v: np.tanh(X @ v) for v in np.random.default_rng(7).normal(size=(30, 4))]
    model = BrownBoostClassifier(VoterPool(voters), target_error=0.3).fit(X, codes)
    check_every_round(model, X, y, replay, 0.3)
    assert model.stop_reason_.startswith("time_up")
    assert (y * model.decision_function(X) <= 0).mean() <= 0.3


@pytest.mark.parametrize("scale", [0.01, 5.0, 300.0])
def test_votes_of_any_size(data, replay, scale):
    X, codes = data(seed=7, n=80, noise=0.05)
    y = 2.0 * codes - 1
    directions = np.random.default_rng(7).normal(size=(30, 4))
    small, large = (VoterPool([lambda X, v=v, k=k: k * np.tanh(X @ v) for v in directions]) for k in (1.0, scale))
    model = BrownBoostClassifier(large, target_error=0.3).fit(X, codes)
    check_every_round(model, X, y, replay, 0.3)
    assert model.stop_reason_.startswith("time_up")
    one = BrownBoostClassifier(small, target_error=0.3).fit(X, codes)
    np.testing.assert_allclose(model.decision_function(X), one.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("c", [16.0, 30.0, 33.0, 100.0, 1e4])  # targets from 1e-8 down to what no float can hold
def test_tiny_potentials_are_conserved_too(data, c):
    X, codes = data(seed=3, n=150, noise=0.15)
    y = 2.0 * codes - 1
    model = BrownBoostClassifier(total_time=c, n_estimators=25).fit(X, codes)
    assert model.n_estimators_ == 25
    left = model.history_["time_left"]
    assert (np.diff([c, *left]) < 0).all()  # time only passes
    first = log_ndtr(-sqrt(2 * c))  # the potential, up to a factor 2, as a logarithm
    for F, time in zip(model.staged_decision_function(X), left, strict=True):
        now = logsumexp(log_ndtr(-sqrt(2) * (y * F + time) / sqrt(c))) - log(len(y))
        assert now == pytest.approx(first, rel=0, abs=1e-9)
    if c == 1e4:  # where there is time without end it is AdaBoost, at half its size
        ada = AdaBoostClassifier(n_estimators=25).fit(X, codes)
        np.testing.assert_allclose(2 * model.estimator_weights_, ada.estimator_weights_, rtol=0.01)


def test_soft_output(data):
    X, y = data(seed=8, noise=0.0)
    model = BrownBoostClassifier(target_error=0.1).fit(X, y)
    c = float(erfinv(0.9)) ** 2
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], (1 + erf(model.decision_function(X) / sqrt(c))) / 2, atol=1e-14
    )


def test_the_time_left_is_told(data, tmp_path):
    X, y = data(seed=9, n=120, noise=0.2)
    done = BrownBoostClassifier(target_error=0.4).fit(X, y)
    assert done.time_left_ == 0.0
    assert done.total_time_ == pytest.approx(float(erfinv(0.6)) ** 2, rel=1e-12)
    assert 1 - erf(sqrt(done.total_time_)) == pytest.approx(0.4, abs=1e-12)
    cut = BrownBoostClassifier(target_error=0.05, n_estimators=7).fit(X, y)
    assert cut.stop_reason_.startswith("max_rounds")
    assert cut.time_left_ == cut.history_["time_left"][-1]
    assert 0 < cut.time_left_ < cut.total_time_
    best = BrownBoostClassifier(target_error=0.05, early_stopping=True, n_iter_no_change=3).fit(X, y)
    assert best.n_estimators_ < len(best.history_["time_left"])
    assert best.time_left_ == best.history_["time_left"][best.n_estimators_ - 1]  # of the rounds that were kept
    cut.save(tmp_path / "cut.boost")
    again = load(tmp_path / "cut.boost")
    assert (again.total_time_, again.time_left_) == (cut.total_time_, cut.time_left_)
    with pytest.warns(ConvergenceWarning):
        none = BrownBoostClassifier(total_time=2.0).fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert (none.total_time_, none.time_left_) == (2.0, 2.0)
    assert "with 2 of the time 2 left" in none.stop_reason_


def test_a_few_evaluations_a_round(data):
    X, y = data(seed=1, n=300, noise=0.1)
    model = BrownBoostClassifier(target_error=0.2).fit(X, y)
    assert model.n_estimators_ > 20
    assert np.median(model.history_["evaluations"]) <= 6  # Newton's method; the walk takes hundreds


@pytest.mark.parametrize("kind", [BrownBoostClassifier, RobustBoostClassifier])
def test_a_rare_class_is_not_given_up_by_the_target(kind, tmp_path):
    """Of 15 classes each has fewer rows than the default target may err on."""
    y = np.repeat(np.arange(15), 8)
    X = np.column_stack([y % 4, y // 4]) + np.random.default_rng(0).normal(0, 0.05, (len(y), 2))
    model = kind().fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.target_error_ == pytest.approx([0.1 * 2 / 15] * 15)
    model.save(tmp_path / "model.boost")
    again = load(tmp_path / "model.boost")
    assert again.target_error_ == model.target_error_
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    two = kind().fit(X, y < 3)
    assert two.target_error_ == 0.1  # of two classes it is what was asked for
