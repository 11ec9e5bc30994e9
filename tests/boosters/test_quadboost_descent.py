"""QuadBoost by the objective itself: coordinate descent to the optimum, and the steepest voter of a stage."""

import pickle

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.linear_model import Lasso, LogisticRegression

from boostlab import DecisionStump, DecisionTree, QuadBoostClassifier, VoterPool
from boostlab.learners.pool import FRESH, PoolSession
from boostlab.model_io import load, save

FORMS = {"l1": 0.03, "l2": 0.1, "linf": 0.06}


def pool_data(kind="labels", n=80, size=14, seed=0):
    """A pool of voters along random directions, its votes (one column a voter) and labels that need some of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    directions, shifts = rng.normal(size=(size, 3)), rng.normal(size=size) / 2
    if kind == "labels":
        voters = [lambda X, v=v, b=b: np.where(X @ v > b, 1.0, -1.0) for v, b in zip(directions, shifts, strict=True)]
    else:
        voters = [lambda X, v=v, b=b: 2 * np.tanh(X @ v - b) for v, b in zip(directions, shifts, strict=True)]
    codes = (X[:, 0] - X[:, 1] ** 2 + rng.normal(size=n) > -0.5).astype(int)
    return X, codes, voters, np.stack([f(X) for f in voters], axis=1)


def signed(model, size):
    """The coefficients of the pool's members, the complements' taken off."""
    beta = np.zeros(size)
    for voter, weight in zip(model.estimators_, model.estimator_weights_, strict=True):
        beta[voter.index] += voter.sign * weight
    return beta


def objective(form, lam, y, H, beta, mass=None):
    penalty = {"l1": 2 * lam * np.abs(beta).sum(), "l2": lam * (beta**2).sum()}.get(form, 0.0)
    return np.average((y - H @ beta) ** 2, weights=mass) + penalty


def optimum(form, lam, y, H, complements, mass):
    """The coefficients by another solver; a weighted mean of squares is one of scaled rows."""
    scale = np.sqrt(mass / mass.sum())
    A, b, m = H * scale[:, None], y * scale, H.shape[1]
    if form == "l1":
        A, b = A * np.sqrt(len(y)), b * np.sqrt(len(y))
        return Lasso(lam, fit_intercept=False, positive=not complements, tol=1e-14, max_iter=10**6).fit(A, b).coef_
    if form == "l2":
        if complements:
            return np.linalg.solve(A.T @ A + lam * np.eye(m), A.T @ b)
        A, b = np.vstack([A, np.sqrt(lam) * np.eye(m)]), np.append(b, np.zeros(m))
        return lsq_linear(A, b, (0, np.inf), method="bvls", tol=1e-15).x
    return lsq_linear(A, b, (-lam if complements else 0.0, lam), method="bvls", tol=1e-15).x


def descend(form, voters, complements=True, **params):
    pool = VoterPool(voters, complements=complements)
    return QuadBoostClassifier(
        pool, regularizer=form, strength=FORMS[form], mode="coordinate", n_estimators=20_000, **params
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["labels", "real"])
@pytest.mark.parametrize("complements", [True, False], ids=["closed", "one-sided"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_optimum_is_reached(form, kind, complements, weighted):
    X, codes, voters, H = pool_data(kind, seed=1)
    y, lam = 2.0 * codes - 1, FORMS[form]
    mass = np.random.default_rng(1).uniform(0.3, 2.0, len(y)) if weighted else np.ones(len(y))
    model = descend(form, voters, complements).fit(X, codes, mass)
    assert model.stop_reason_.startswith("tolerance")
    beta, best = signed(model, len(voters)), optimum(form, lam, y, H, complements, mass)
    least = objective(form, lam, y, H, best, mass)
    assert objective(form, lam, y, H, beta, mass) == pytest.approx(least, abs=1e-13)
    assert model.history_["objective"][-1] == pytest.approx(least, abs=1e-12)
    np.testing.assert_allclose(beta, best, rtol=0, atol=2e-8)
    np.testing.assert_allclose(model.decision_function(X), H @ best, rtol=0, atol=2e-8)
    assert (model.estimator_weights_ >= 0).all()
    if form == "linf":
        assert model.estimator_weights_.max() <= lam * (1 + 1e-12)
        assert (np.abs(best) > lam - 1e-9).any()  # the box is felt
    if form == "l1":
        assert 0 < (beta != 0).sum() < len(voters)  # the lasso leaves some out


def test_without_a_regulariser_it_is_least_squares():
    X, codes, voters, H = pool_data("real", size=5)
    y = 2.0 * codes - 1
    model = QuadBoostClassifier(VoterPool(voters), mode="coordinate", n_estimators=20_000).fit(X, codes)
    np.testing.assert_allclose(signed(model, 5), np.linalg.lstsq(H, y, rcond=None)[0], rtol=0, atol=2e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["labels", "real"])
def test_every_round_takes_the_voter_that_lowers_the_objective_most(form, kind):
    X, codes, voters, H = pool_data(kind, seed=3)
    y, lam, n = 2.0 * codes - 1, FORMS[form], len(codes)
    model = descend(form, voters).fit(X, codes)
    rounds = model._ensemble.rounds[:150]
    alphas = np.zeros((2, H.shape[1]))  # of the voters and of their complements
    J, F = 1.0, np.zeros(n)
    for t, (r, after) in enumerate(zip(rounds, model.staged_decision_function(X), strict=False)):
        drops = []
        for side, sign in enumerate((1.0, -1.0)):
            for k in range(H.shape[1]):
                if alphas[1 - side, k] > 0:
                    continue  # its other side votes
                h, a = sign * H[:, k], alphas[side, k]
                d, eta = ((y - F) * h).mean(), (h * h).mean()
                best = {
                    "l1": max(0.0, (eta * a + d - lam) / eta),
                    "l2": max(0.0, (eta * a + d) / (eta + lam)),
                    "linf": np.clip(a + d / eta, 0.0, lam),
                }[form]
                new = alphas.copy()
                new[side, k] = best
                drops.append((J - objective(form, lam, y, H, new[0] - new[1]), side, k, best))
        most, side, k, best = max(drops)
        assert r.voter.index == k or most - max(d for d, _, i, _ in drops if i == r.voter.index) < 1e-13
        side, k = (0 if r.voter.sign > 0 else 1), r.voter.index
        best = next(b for _, s, i, b in drops if (s, i) == (side, k))
        assert r.alpha == pytest.approx(best - alphas[side, k], abs=1e-11)
        alphas[side, k] = best
        F = H @ (alphas[0] - alphas[1])
        now = objective(form, lam, y, H, alphas[0] - alphas[1])
        assert now < J or (most < 1e-14 and now < J + 1e-14)  # near the end floats cannot show it
        J = now
        np.testing.assert_allclose(after, F, rtol=0, atol=1e-11)
        assert model.history_["objective"][t] == pytest.approx(J, abs=1e-11)
        assert model.history_["risk"][t] == pytest.approx(((y - F) ** 2).mean(), abs=1e-11)
        assert model.history_["distinct"][t] == (alphas > 0).sum()
        left, eta = ((y - F) * r.voter.predict(X)).mean(), (H[:, k] ** 2).mean()
        if form == "l1" and best > 0:
            assert left == pytest.approx(lam, abs=1e-11)
        elif form == "l2" and best > 0:
            assert left == pytest.approx(lam * best, abs=1e-11)
        elif form == "linf" and 0 < best < lam:
            assert left == pytest.approx(0.0, abs=1e-11 * eta)
    assert (model.history_["alpha"] < 0).any()  # a weight was taken back


def test_voters_are_listed_once_with_the_weight_they_have():
    X, codes, voters, _ = pool_data("real")
    model = descend("l1", voters).fit(X, codes)
    names = [(v.index, v.sign) for v in model.estimators_]
    assert len(set(names)) == len(names) < model.n_estimators_
    rounds = model._ensemble.rounds
    for name, weight in zip(names, model.estimator_weights_, strict=True):
        assert weight == pytest.approx(sum(r.alpha for r in rounds if (r.voter.index, r.voter.sign) == name), abs=1e-13)
    assert model.history_["distinct"][-1] == (model.estimator_weights_ > 0).sum()
    assert (model.estimator_weights_ == 0).any()  # one was dropped, exactly
    total = sum(w * v.bound for w, v in zip(model.estimator_weights_, model.estimators_, strict=True))
    np.testing.assert_allclose(
        model.margins(X, codes), (2 * codes - 1) * model.decision_function(X) / total, atol=1e-12
    )
    assert len(list(model.staged_predict(X))) == model.n_estimators_


def test_early_stopping_keeps_the_weights_of_the_best_round():
    X, codes, voters, _ = pool_data("real", n=160, seed=5)
    val = dict(X_val=X[100:], y_val=codes[100:])
    model = descend("l2", voters, early_stopping=True, n_iter_no_change=3).fit(X[:100], codes[:100], **val)
    assert model.stop_reason_.startswith("patience")
    short = descend("l2", voters).set_params(n_estimators=model.n_estimators_).fit(X[:100], codes[:100])
    assert np.array_equal(model.estimator_weights_, short.estimator_weights_)
    assert np.array_equal(model.decision_function(X), short.decision_function(X))


def test_pickles_and_files_know_their_voters_again(tmp_path):
    X, codes, _, _ = pool_data(seed=3)
    model = QuadBoostClassifier(
        VoterPool(stumps_per_feature=5), regularizer="l1", strength=0.02, mode="coordinate", n_estimators=300
    ).fit(X, codes)
    assert len(model.estimators_) < model.n_estimators_
    save(model, tmp_path / "m.boost")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "m.boost")):
        assert np.array_equal(again.estimator_weights_, model.estimator_weights_)
        assert list(map(repr, again.estimators_)) == list(map(repr, model.estimators_))
        for F, G in zip(again.staged_decision_function(X), model.staged_decision_function(X), strict=True):
            assert np.array_equal(F, G)
        assert again.strength_ == 0.02


def test_a_round_costs_as_much_as_there_are_voters(monkeypatch):
    X, codes, voters, _ = pool_data(seed=3)
    passes = []
    edges = PoolSession._edges
    monkeypatch.setattr(PoolSession, "_edges", lambda self, *a: passes.append(1) or edges(self, *a))
    model = descend("l2", voters).fit(X, codes)
    assert model.n_estimators_ > 200
    members = len({v.index for v in model.estimators_})
    assert len(passes) == members + 1 + model.n_estimators_ // FRESH  # Gram rows, and looks at the rows


def test_drawn_rows_still_lower_the_objective():
    X, codes, voters, _ = pool_data(seed=3)
    model = descend("l1", voters, resample=True, random_state=0).set_params(n_estimators=60).fit(X, codes)
    J = np.append(1.0, model.history_["objective"])
    assert (np.diff(J) < 0).all()


@pytest.mark.parametrize(
    "learner", [None, DecisionStump(), DecisionTree(), LogisticRegression()], ids=lambda e: type(e).__name__
)
def test_learners_that_do_not_know_their_voters_again_are_refused(learner, data):
    X, y = data()
    for params in (dict(mode="coordinate"), dict(criterion="risk")):
        with pytest.raises(ValueError, match=r"QuadBoostClassifier needs .* use a VoterPool") as told:
            QuadBoostClassifier(learner, **params).fit(X, y)
        assert type(learner or DecisionStump()).__name__ in str(told.value)


# -- the steepest voter of a stage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "strength"), [(None, 0.01), *FORMS.items()])
def test_the_risk_criterion(form, strength):
    X, codes, voters, H = pool_data("real", seed=4)
    H = H * np.linspace(0.2, 3.0, H.shape[1])  # voters of very different loudness
    voters = [lambda X, f=f, c=c: c * f(X) for f, c in zip(voters, np.linspace(0.2, 3.0, len(voters)), strict=True)]
    y, lam = 2.0 * codes - 1, strength
    eta = (H**2).mean(axis=0)
    model = QuadBoostClassifier(
        VoterPool(voters), regularizer=form, strength=strength, criterion="risk", n_estimators=40
    ).fit(X, codes)
    F, louder = np.zeros(len(y)), 0
    assert model.n_estimators_ == 40
    for voter, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        d = np.abs(H.T @ (y - F)) / len(y)
        step = {
            None: d / eta,
            "l1": np.maximum(d - lam, 0) / eta,
            "l2": d / (eta + lam),
            "linf": np.minimum(d / eta, lam),
        }[form]
        drop = {
            None: d**2 / eta,
            "l1": np.maximum(d - lam, 0) ** 2 / eta,
            "l2": d**2 / (eta + lam),
            "linf": step * (2 * d - eta * step),
        }[form]
        k = int(drop.argmax())
        louder += k != d.argmax()
        assert voter.index == k
        assert alpha == pytest.approx(step[k], rel=1e-8)
        F = F + alpha * voter.sign * H[:, k]
    np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-10)
    assert louder > 0  # and correlation alone would have chosen otherwise


def test_for_labels_risk_is_correlation():
    X, codes, voters, _ = pool_data(seed=6)
    for form, strength in [(None, 0.01), *FORMS.items()]:
        one, two = (
            QuadBoostClassifier(
                VoterPool(voters), regularizer=form, strength=strength, criterion=c, n_estimators=50
            ).fit(X, codes)
            for c in ("correlation", "risk")
        )
        assert [(v.index, v.sign) for v in one.estimators_] == [(v.index, v.sign) for v in two.estimators_]
        assert np.array_equal(one.estimator_weights_, two.estimator_weights_)


def test_distinct_voters_are_counted_up_to_sign(data):
    X, codes = data(seed=2, n=60)
    stumps = QuadBoostClassifier(n_estimators=200).fit(X, codes)
    pool = QuadBoostClassifier(VoterPool(stumps_per_feature=3), n_estimators=200).fit(X, codes)
    words = QuadBoostClassifier(categorical_features=[0, 1, 2, 3], n_estimators=200).fit(X > 0.3, codes)
    names = [
        [(s.feature, s.threshold) for s in stumps.estimators_],
        [v.index for v in pool.estimators_],
        [s.feature for s in words.estimators_],
    ]
    for model, seen in zip((stumps, pool, words), names, strict=True):
        assert model.history_["distinct"].tolist() == [len(set(seen[: t + 1])) for t in range(len(seen))]
        assert len(set(seen)) < len(seen)
    assert len({(v.index, v.sign) for v in pool.estimators_}) > len(set(names[1]))  # some came with their complements
