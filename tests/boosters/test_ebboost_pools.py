"""EBBoost on a finite pool: the exact minimum over its voters and their complements."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab import EBBoostClassifier, VoterPool


@pytest.mark.parametrize("complements", [True, False])
@pytest.mark.parametrize("lam", [0.0, 0.5, 3.0])
def test_every_round_is_the_best_of_the_pool(data, all_stumps, replay, lam, complements):
    X, codes = data(seed=3, n=60, noise=0.15)
    y, n, stumps = 2.0 * codes - 1, 60, all_stumps(X)
    pool = VoterPool(stumps.callables(), complements=complements)
    model = EBBoostClassifier(pool, variance_penalty=lam, n_estimators=25).fit(X, codes)
    assert model.n_estimators_ == 25
    H = np.concatenate([stumps.H, -stumps.H]) if complements else stumps.H
    for before, h, alpha, _ in replay(model, X):
        w = np.exp(-y * before)
        w /= w.sum()
        right = y == H
        W, S = right @ w, n * (right @ (w * w))
        A, B = (1 - lam) * W**2 + lam * S, (1 - lam) * (1 - W) ** 2 + lam * (n * (w @ w) - S)
        score = np.where(A >= B, np.sqrt(A * B) + (1 - lam) * W * (1 - W), np.inf)
        mine = np.flatnonzero((h == H).all(axis=1))[0]
        assert score[mine] == pytest.approx(score.min(), rel=1e-10)
        assert alpha == pytest.approx(0.25 * np.log(A[mine] / B[mine]), rel=1e-8)
    assert (np.diff(model.history_["objective"]) < 0).all()


def test_all_stumps_as_a_pool_are_the_stumps(data, all_stumps):
    X, codes = data(seed=4, n=80, noise=0.2)
    pool = EBBoostClassifier(VoterPool(all_stumps(X).callables()), n_estimators=30).fit(X, codes)
    stumps = EBBoostClassifier(n_estimators=30).fit(X, codes)
    np.testing.assert_allclose(pool.decision_function(X), stumps.decision_function(X), rtol=1e-9, atol=1e-12)


def test_voters_that_are_not_labels_are_refused(data):
    X, codes = data(seed=4, n=40)
    with pytest.raises(ValueError, match=r"needs voters that say -1 or \+1"):
        EBBoostClassifier(VoterPool([lambda X: X[:, 0]])).fit(X, codes)
