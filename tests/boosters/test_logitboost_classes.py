"""LogitBoost of three or more classes, as a user meets it; its rounds are checked in test_k_tasks."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_digits, load_iris

import boostlab
from boostlab import LogitBoostClassifier
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.rows import CpuRows
from boostlab.boosters.logitboost import LogitBoostOfClasses, sum_of_votes
from boostlab.contract import Step
from boostlab.data.table import Table


def test_by_hand():
    # x = 1 2 3 of classes 0 1 2, p = 1/3: w = 2/9 for all, z = 3 for the own class, -3/2 for the others.
    # Class 0: cut 1.5 fits it exactly, (3, -3/2, -3/2); class 2 likewise at 2.5.  Class 1 has z = (-3/2, 3, -3/2): both
    # cuts leave the same error, the first wins: (-3/2, 3/4, 3/4).
    # F = (2/3)(f - mean f): row 1 has f = (3, -3/2, -3/2), mean 0; row 2 (-3/2, 3/4, -3/2), mean -3/4; row 3
    # (-3/2, 3/4, 3), mean 3/4.
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])
    model = LogitBoostClassifier(n_estimators=1).fit(X, y)
    (voters,) = model.estimators_
    assert [v.threshold for v in voters] == [1.5, 1.5, 2.5]
    expected = [[2, -1, -1], [-0.5, 1, -0.5], [-1.5, 0, 1.5]]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-12)
    P = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), P, rtol=1e-12)
    assert model.history_["objective"][0] == pytest.approx(-np.log(np.diag(P)).mean(), rel=1e-12)


def test_not_safe_takes_every_step_in_full(data, all_stumps):
    X, codes = data(seed=3, n=90, noise=0.3, n_classes=3)
    H = all_stumps(X).H > 0
    model = LogitBoostClassifier(n_estimators=60, z_max=1.5, safe=False).fit(X, codes)
    assert (model.estimator_weights_ == 1.0).all()
    F, right = np.zeros((90, 3)), np.arange(3) == codes[:, None]
    for voters, after in zip(model.estimators_, model.staged_decision_function(X), strict=True):
        P = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
        f = np.zeros((90, 3))
        for j, stump in enumerate(voters):
            w = P[:, j] * (1 - P[:, j])
            z = np.clip((right[:, j] - P[:, j]) / w, -1.5, 1.5)
            top, low = H @ (w * z), ~H @ (w * z)
            best = int((top**2 / (H @ w) + low**2 / (~H @ w)).argmax())
            assert ((X[:, stump.feature] > stump.threshold) == H[best]).all()
            f[:, j] = np.where(H[best], top[best] / (H[best] @ w), low[best] / (~H[best] @ w))
        F = F + 2 / 3 * (f - f.mean(axis=1, keepdims=True))
        np.testing.assert_allclose(after, F, rtol=0, atol=1e-9)
    assert (np.diff(model.history_["objective"]) > 0).any()


@pytest.mark.parametrize("learner", [{}, {"max_leaf_nodes": 4}], ids=["stumps", "trees"])
def test_the_loss_falls_every_round_under_noise(data, learner, tmp_path):
    X, codes = data(seed=2, n=150, noise=0.25, n_classes=4)
    names = np.array(["ash", "oak", "elm", "fir"])[codes]
    model = LogitBoostClassifier(n_estimators=40, **learner).fit(X, names)
    loss = np.append(np.log(4), model.history_["objective"])
    assert (np.diff(loss) < 0).all()
    F = model.decision_function(X)
    assert np.abs(F.sum(axis=1)).max() <= 1e-10
    P = model.predict_proba(X)
    own = np.searchsorted(model.classes_, names)
    assert -np.log(P[np.arange(150), own]).mean() == pytest.approx(loss[-1], rel=1e-9)
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    assert np.abs(model.margins(X, names)).max() <= 1
    model.save(tmp_path / "m.boost")
    assert boostlab.load(tmp_path / "m.boost").predict_proba(X).tobytes() == P.tobytes()


def test_weights_are_copies_and_a_warm_start_goes_on():
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, [[9.0, 9, 9, 9]]]), np.append(y, 7)  # one example of a class
    k = np.random.default_rng(0).integers(1, 4, 151)
    copies = np.repeat(np.arange(151), k)
    one = LogitBoostClassifier(n_estimators=8).fit(X, y, k)
    two = LogitBoostClassifier(n_estimators=8).fit(X[copies], y[copies])
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()
    grown = LogitBoostClassifier(n_estimators=3, warm_start=True).fit(X, y, k)
    grown.set_params(n_estimators=8).fit(X, y, k)
    assert grown.decision_function(X).tobytes() == one.decision_function(X).tobytes()
    assert one.predict(X[-1:]) == 7
    assert one.feature_importances_.sum() == pytest.approx(1)


def test_digits_and_early_stopping():
    X, y = load_digits(return_X_y=True)
    model = LogitBoostClassifier(
        n_estimators=25, early_stopping=True, n_iter_no_change=3, scoring="log_loss", random_state=0
    ).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert len(model.estimators_[0]) == 10


def test_separable_classes_end_it():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    model = LogitBoostClassifier(n_estimators=300, max_leaf_nodes=3).fit(X, y)
    assert model.stop_reason_.startswith("perfect")
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X) == y).all()


def test_which_rule(data):
    X, codes = data(n=40, n_classes=3)
    model = LogitBoostClassifier(z_max=3.0, learning_rate=0.5, n_estimators=2).fit(X, codes)
    assert model._ensemble.rule == LogitBoostOfClasses(3.0, 0.5)
    assert not isinstance(LogitBoostClassifier(n_estimators=2).fit(X, codes > 0)._ensemble.rule, LogitBoostOfClasses)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n_classes", [3, 10])
def test_the_formula_that_advances_the_scores_is_combine(n_classes, threads):
    rng, n = np.random.default_rng(n_classes), 2500
    rule = LogitBoostOfClasses()
    rows = CpuRows(rule, Table(np.zeros((n, 1)), threads=threads), Masses(n), rng.integers(0, n_classes, n), n_classes)
    F, h = rng.normal(size=(2, n, n_classes))
    rows.scores.take(np.asfortranarray(F))
    rows.look_at(None, h, {})
    rows.keep("sum_of_votes", sum_of_votes)
    rows.advance(Step(0.3), h)
    np.testing.assert_array_equal(rows.scores.now, rule.combine(F, 0.3, h))


def test_the_log_sum_of_a_step_is_that_of_the_scores_it_led_to(monkeypatch, data):
    X, codes = data(seed=3, n=90, noise=0.3, n_classes=3)
    gaps, task = [], LogitBoostOfClasses.task

    def looked_at(rule, s):
        gaps.append(np.abs(s.column("log_sum") - logsumexp(s.F, axis=1)).max())
        return task(rule, s)

    monkeypatch.setattr(LogitBoostOfClasses, "task", looked_at)
    model = LogitBoostClassifier(n_estimators=60, z_max=1.0).fit(X, codes)
    assert len(gaps) > model.n_estimators_  # steps that were tried in vain, and asked for again, are among them
    assert max(gaps) < 1e-12
