"""QuadBoost: the risk decomposition, the four weights, and pools with a memory."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from boostlab import QuadBoostClassifier, VoterPool


def brute_force(H, y, rounds, alpha, tol=1e-12):
    """QuadBoost over the rows of H and their negatives, everything recomputed every round."""
    F, picks, weights = np.zeros(len(y)), [], []
    for _ in range(rounds):
        d = H @ (y - F) / len(y)
        k = int(np.abs(d).argmax())
        eta = (H[k] ** 2).mean()
        a = alpha(abs(d[k]), eta)
        if a <= tol:
            break
        F = F + a * np.sign(d[k]) * H[k]
        picks.append((k, np.sign(d[k])))
        weights.append(a)
    return F, picks, np.array(weights)


@pytest.mark.parametrize(
    ("form", "strength", "alpha"),
    [
        (None, 0.01, lambda d, eta: d / eta),
        ("l1", 0.03, lambda d, eta: (d - 0.03) / eta),
        ("l2", 0.7, lambda d, eta: d / (eta + 0.7)),
        ("linf", 0.05, lambda d, eta: min(d / eta, 0.05)),
    ],
)
def test_every_round(data, all_stumps, replay, form, strength, alpha):
    X, codes = data(seed=1, n=80)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = QuadBoostClassifier(regularizer=form, strength=strength, n_estimators=60).fit(X, codes)
    risk, penalty = 1.0, 0.0
    assert model.n_estimators_ >= 30
    for t, (before, h, a, after) in enumerate(replay(model, X)):
        r = y - before
        d = (r * h).mean()
        assert d == pytest.approx(np.abs(H @ r).max() / len(y), abs=1e-12)  # largest correlation with the residual
        assert a == pytest.approx(alpha(d, 1.0), rel=1e-10)
        np.testing.assert_allclose(after, before + a * h, rtol=0, atol=1e-12)
        now = ((y - after) ** 2).mean()
        assert now - risk == pytest.approx(-2 * a * d + a * a, abs=1e-12)
        left = ((y - after) * h).mean()
        if form is None:
            assert risk - now == pytest.approx(d * d, abs=1e-12)
            assert left == pytest.approx(0.0, abs=1e-12)
        elif form == "l1":
            assert left == pytest.approx(strength, abs=1e-12)
            penalty += 2 * strength * a
        elif form == "l2":
            assert left == pytest.approx(d * strength / (1 + strength), abs=1e-12)
            penalty += strength * a * a
        else:
            assert 0 < a <= 0.05
        assert now < risk
        assert now >= (y * after <= 0).mean()
        assert model.history_["risk"][t] == pytest.approx(now, abs=1e-12)
        assert model.history_["objective"][t] == pytest.approx(now + penalty, abs=1e-12)
        assert model.history_["edge"][t] == pytest.approx(d, abs=1e-12)
        risk = now


def test_the_drops_add_up(data):
    # 1 - sum of d^2 = R >= 0: if every d exceeds gamma there are at most 1/gamma^2 rounds.
    X, codes = data(seed=2, n=60)
    y = 2.0 * codes - 1
    model = QuadBoostClassifier(n_estimators=400).fit(X, codes)
    F = model.decision_function(X)
    assert 1 - (model.estimator_weights_**2).sum() == pytest.approx(((y - F) ** 2).mean(), abs=1e-11)
    assert model.n_estimators_ <= 1 / model.estimator_weights_.min() ** 2


def test_no_regularisation_is_vanilla(data, same_stumps):
    X, y = data(seed=3)
    vanilla = QuadBoostClassifier(n_estimators=40).fit(X, y)
    for form, strength in (("l1", 0.0), ("l2", 0.0), ("linf", 1e9)):
        other = QuadBoostClassifier(regularizer=form, strength=strength, n_estimators=40).fit(X, y)
        assert same_stumps(vanilla, other)
        np.testing.assert_allclose(other.decision_function(X), vanilla.decision_function(X), rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="strength=0 caps every weight at zero"):
        QuadBoostClassifier(regularizer="linf", strength=0.0).fit(X, y)


def test_l1_ends_where_no_voter_exceeds_lambda(data, all_stumps):
    # The optimality condition of the penalised objective: |mean r h| <= lambda for every voter, equality if it votes.
    X, codes = data(seed=4, n=100)
    y, lam = 2.0 * codes - 1, 0.1
    model = QuadBoostClassifier(regularizer="l1", strength=lam, n_estimators=100_000).fit(X, codes)
    assert model.stop_reason_.startswith("tolerance")
    r = y - model.decision_function(X)
    assert np.abs(all_stumps(X).H @ r).max() / len(y) <= lam + 2e-6
    assert ((y * model.decision_function(X)) > 0).mean() > 0.8


def test_l1_beyond_every_correlation_leaves_an_empty_vote(data, all_stumps):
    X, codes = data(seed=5)
    y = 2.0 * codes - 1
    top = np.abs(all_stumps(X).H @ y).max() / len(y)
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = QuadBoostClassifier(regularizer="l1", strength=top + 1e-9).fit(X, codes)
    assert model.n_estimators_ == 0
    assert model.stop_reason_.startswith("tolerance")
    assert (model.predict(X) == 0).all()  # sgn(0) = -1
    assert np.allclose(model.predict_proba(X), 0.5)
    assert QuadBoostClassifier(regularizer="l1", strength=top - 1e-4).fit(X, codes).n_estimators_ >= 1


# -- pools -----------------------------------------------------------------------------------------------------------


def test_pool_of_all_stumps_is_the_stump(data, all_stumps):
    X, codes = data(seed=6, n=60)
    mass = np.random.default_rng(6).uniform(0.5, 1.5, 60)  # so that no two stumps tie
    pool = all_stumps(X)
    one = QuadBoostClassifier(n_estimators=80).fit(X, codes, mass)
    two = QuadBoostClassifier(VoterPool(pool.callables()), n_estimators=80).fit(X, codes, mass)
    for stump, voter in zip(one.estimators_, two.estimators_, strict=True):
        assert (stump.feature, stump.right) == (pool.feature[voter.index], voter.sign)
        assert stump.threshold == pytest.approx(pool.threshold[voter.index])
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("real", [False, True], ids=["labels", "real"])
def test_the_memory_of_a_pool_equals_recomputation(data, real):
    # 2500 rounds: far beyond the point where the pool starts its correlations afresh.
    X, codes = data(seed=7, n=50, noise=0.25)
    y = 2.0 * codes - 1
    rng = np.random.default_rng(7)
    directions = rng.normal(size=(40, 4))
    shape = np.tanh if real else lambda z: np.where(z > 0, 1.0, -1.0)
    voters = [lambda X, v=v: shape(X @ v + 0.1) for v in directions]
    H = np.stack([f(X) for f in voters])
    model = QuadBoostClassifier(VoterPool(voters), regularizer="linf", strength=0.002, n_estimators=2500).fit(X, codes)
    assert model.n_estimators_ == 2500
    assert len({v.index for v in model.estimators_}) > 5
    F = np.zeros(len(y))
    for voter, a in zip(model.estimators_, model.estimator_weights_, strict=True):
        d = H @ (y - F) / len(y)
        best = np.abs(d).max()
        assert voter.sign * d[voter.index] >= best - 1e-12  # ties may go either way
        assert a == pytest.approx(min(best / (H[voter.index] ** 2).mean(), 0.002), rel=1e-8)
        F = F + a * voter.sign * H[voter.index]
    np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-12)
    assert model.history_["risk"][-1] == pytest.approx(((y - F) ** 2).mean(), abs=1e-11)


def test_real_valued_voters(data, replay):
    X, codes = data(seed=8, n=70)
    y = 2.0 * codes - 1
    directions = np.random.default_rng(8).normal(size=(12, 4))
    voters = [lambda X, v=v: X @ v for v in directions]
    H = np.stack([f(X) for f in voters])
    model = QuadBoostClassifier(VoterPool(voters), n_estimators=30).fit(X, codes)
    F, picks, weights = brute_force(H, y, 30, lambda d, eta: d / eta)
    assert [(v.index, v.sign) for v in model.estimators_] == picks
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-11)
    risk = 1.0
    for before, h, a, after in replay(model, X):
        d, eta = ((y - before) * h).mean(), (h * h).mean()
        assert a == pytest.approx(d / eta, rel=1e-8)
        now = ((y - after) ** 2).mean()
        assert risk - now == pytest.approx(d * d / eta, abs=1e-11)
        risk = now
    # F stays in the span of four columns, and the least-squares optimum there is the limit.
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    assert ((y - X @ best) ** 2).mean() <= risk + 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("form", "lam"), [("l1", 0.04), ("l2", 0.5), ("linf", 0.03)])
def test_real_valued_voters_regularised(data, replay, form, lam, weighted):
    X, codes = data(seed=8, n=70)
    y = 2.0 * codes - 1
    mass = np.random.default_rng(8).uniform(0.2, 3.0, 70) if weighted else np.ones(70)
    mean = lambda x: np.average(x, weights=mass)  # noqa: E731
    directions = np.random.default_rng(8).normal(size=(12, 4))
    pool = VoterPool([lambda X, v=v: np.tanh(X @ v) for v in directions])
    model = QuadBoostClassifier(pool, regularizer=form, strength=lam, n_estimators=25).fit(X, codes, mass)
    assert model.n_estimators_ > 15
    risk = 1.0
    for before, h, a, after in replay(model, X):
        d, eta, left = mean((y - before) * h), mean(h * h), mean((y - after) * h)
        now = mean((y - after) ** 2)
        assert risk - now == pytest.approx(2 * a * d - a * a * eta, abs=1e-12)
        if form == "l1":
            assert left == pytest.approx(lam, abs=1e-12)
        elif form == "l2":
            assert left == pytest.approx(d * lam / (eta + lam), abs=1e-12)
        else:
            assert a == pytest.approx(min(d / eta, lam), rel=1e-9)
        risk = now


def test_one_sided_pool(data):
    # Without complements only positive correlations count, and training ends when none is left.
    X, codes = data(seed=9, n=70)
    y = 2.0 * codes - 1
    voters = [lambda X, j=j: np.where(X[:, j] > 0, 1.0, -1.0) for j in range(4)]
    model = QuadBoostClassifier(VoterPool(voters, complements=False), n_estimators=5000).fit(X, codes)
    assert model.stop_reason_.startswith("tolerance")
    r = y - model.decision_function(X)
    assert max((r * f(X)).mean() for f in voters) <= 1e-11
    assert (model.estimator_weights_ > 0).all()


def test_vanilla_on_a_pool_reaches_least_squares(data):
    X, codes = data(seed=10, n=70)
    y = 2.0 * codes - 1
    voters = [lambda X, j=j: np.where(X[:, j] > 0.1 * j, 1.0, -1.0) for j in range(4)]
    H = np.stack([f(X) for f in voters], axis=1)
    model = QuadBoostClassifier(VoterPool(voters), n_estimators=5000).fit(X, codes)
    best = np.linalg.lstsq(H, y, rcond=None)[0]
    np.testing.assert_allclose(model.decision_function(X), H @ best, rtol=0, atol=1e-9)


# -- any classifier --------------------------------------------------------------------------------------------------


def test_a_classifier_as_voter(data, replay):
    # Weights |r| and labels sign(r): d = mean|r| (1 - 2 e) with e the weighted error.
    X, codes = data(seed=11, n=120)
    y = 2.0 * codes - 1
    model = QuadBoostClassifier(LogisticRegression(), n_estimators=10).fit(X, codes)
    assert model.n_estimators_ >= 2
    risk = 1.0
    for t, (before, h, _, after) in enumerate(replay(model, X)):
        r = y - before
        w = np.abs(r) / np.abs(r).sum()
        e = w[h != np.sign(r)].sum()
        assert model.history_["edge"][t] == pytest.approx(np.abs(r).mean() * (1 - 2 * e), abs=1e-12)
        twin = LogisticRegression().fit(X, np.sign(r).astype(int), sample_weight=w * len(w))
        assert (twin.predict(X) == h).all()
        now = ((y - after) ** 2).mean()
        assert now < risk
        risk = now


def test_probabilities(data):
    X, y = data(seed=12)
    model = QuadBoostClassifier(n_estimators=50).fit(X, y)
    far = 10 * X
    np.testing.assert_allclose(
        model.predict_proba(far)[:, 1], np.clip((1 + model.decision_function(far)) / 2, 0, 1), atol=1e-15
    )


@pytest.mark.parametrize("resample", ["systematic", True])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_a_draw_ends_where_no_residual_is_left(n, resample):
    for seed in range(10):
        X, y = np.random.default_rng(seed).normal(size=(n, 2)), np.arange(n) % 2
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* kept no voter", ConvergenceWarning)
            model = QuadBoostClassifier(resample=resample, n_estimators=4, random_state=3).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        if np.array_equal(model.decision_function(X), 2.0 * y - 1) and model.n_estimators_ < 4:
            assert model.stop_reason_.startswith("tolerance: no row has any weight left")
        assert n > 2 or model.n_estimators_ == 1
