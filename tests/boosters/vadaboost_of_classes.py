"""VadaBoost of classes by its definition, for its tests."""

import numpy as np
import pytest

from boostlab import DecisionStump, VadaBoostClassifier

BOUND = [("bound", lam) for lam in (0.0, 0.1, 0.5, 0.9, 1.0)]
EXACT = [("exact", lam) for lam in (0.0, 0.3, 1.0, 2.0, 10.0)]
both = pytest.mark.parametrize(("step", "lam"), [*BOUND, *EXACT])

BY_ERROR = DecisionStump(criterion="error")


def coded(classes, K):
    """The paper's codes: 1 for the class, -1/(K-1) for the others."""
    return np.where(np.arange(K) == np.asarray(classes)[:, None], 1.0, -1 / (K - 1))


def losses(codes, f):
    """exp(-y'f / K)."""
    K = f.shape[1]
    return np.exp(-(coded(codes, K) * f).sum(axis=1) / K)


def cost(lam, e, mass=None):
    """(sum e)^2 + lambda (n sum e^2 - (sum e)^2), literally."""
    mass = np.ones(len(e)) if mass is None else mass
    return (mass @ e) ** 2 + lam * (mass.sum() * (mass @ e**2) - (mass @ e) ** 2)


def penalised(lam, e, mass):
    """u = lambda n w^2 + (1 - lambda) w, with every row's mass."""
    w = e / (mass @ e)
    return mass * (lam * mass.sum() * w**2 + (1 - lam) * w)


def rounds(model, X, codes):
    """Yield (f before, h, boostlab's alpha, the paper's step along the codes of h)."""
    K = len(model.classes_)
    f = np.zeros((len(X), K))
    for voter, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        h, beta = voter.predict(X), alpha * (K - 1) ** 2 / K
        yield f, h, alpha, beta
        f = f + beta * coded(h, K)


def best_error(u, codes, X, K):
    """The smallest error of any stump whose leaves name classes: all cuts, all leaves."""
    best = np.inf
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for cut in (values[:-1] + values[1:]) / 2:
            above = X[:, j] > cut
            right = sum(np.bincount(codes[side], u[side], minlength=K).max() for side in (above, ~above))
            best = min(best, u.sum() - right)
    return best


class SmallGrid:
    """Tries few penalties, by trials of few rounds."""

    _grid, _beyond = (0.0, 0.4, 1.0), (3.0,)
    _trial_rounds = 12


class FewVada(SmallGrid, VadaBoostClassifier):
    pass
