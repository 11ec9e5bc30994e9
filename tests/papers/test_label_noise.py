"""What wrong labels do to weights, and the construction of Long & Servedio, on which convex losses fail.

A booster whose round ends with no edge left has as much weight on the rows it gets right as on the others, so the
share of all weight that wrong labels hold says little.  What tells boosters apart is where that weight sits: AdaBoost
puts the more on a row the more hopeless it is.
"""

import numpy as np
import pytest

import boostlab as bl
from boostlab.datasets import flip_labels, long_servedio

TOLERANT = {
    "mada": bl.MadaBoostClassifier(),
    "mada_half": bl.MadaBoostClassifier(exponent=0.5),
    "filter": bl.FilterBoostClassifier(),
    "majority": bl.BoostByMajorityClassifier(gamma=0.05, n_estimators=31),
    "brown": bl.BrownBoostClassifier(target_error=0.3),
    "robust": bl.RobustBoostClassifier(target_error=0.2),
    "robust_smooth": bl.RobustBoostClassifier(target_error=0.15, clip=False),
}
GIVES_UP = ["majority", "brown", "robust", "robust_smooth"]


def clear_problem(seed, n=800):
    """Two classes with a gap between them, 15 % of the labels flipped; which rows are, and which lie deep inside."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (6 * n, 3))
    X = X[np.abs(X.sum(axis=1)) > 0.4][:n]
    y = (X.sum(axis=1) > 0).astype(int)
    told = flip_labels(y, 0.15, random_state=seed)
    flipped, depth = told != y, np.abs(X.sum(axis=1))
    return X, y, told, flipped, flipped & (depth > np.median(depth[flipped]))


def weights_of_rounds(model, X, y):
    """The weights after every round, scaled to mean 1."""
    rule, seen = model._rule(), []

    def look(s):
        asked = rule.task(s)
        if not isinstance(asked, bl.Stop):
            seen.append(asked.weight / asked.weight.mean())

    model.set_params(callbacks=look).fit(X, y)
    return np.array(seen)


@pytest.fixture(scope="module", params=[0, 1, 2])
def noisy(request):
    X, y, told, flipped, deep = clear_problem(request.param)
    ada = bl.AdaBoostClassifier()
    w = weights_of_rounds(ada, X, told)
    return X, y, told, flipped, deep, ada, w


def test_adaboost_chases_the_flipped_rows(noisy):
    *_, flipped, deep, _, w = noisy
    assert w[-1, flipped].mean() > 2.5  # 15 % of the rows, over 37 % of the weight
    assert w[-1, flipped].max() > 6
    assert w[-1, deep].mean() > 1.15 * w[-1, flipped].mean()  # most where there is least hope


@pytest.mark.parametrize("name", TOLERANT)
def test_the_tolerant_do_not(noisy, name):
    X, y, told, flipped, deep, ada, of_ada = noisy
    model = TOLERANT[name]
    w = weights_of_rounds(model, X, told)
    late = w[3 * len(w) // 4 :]  # the last quarter of the rounds
    ratio = (late[:, deep].mean(axis=1) / late[:, flipped].mean(axis=1)).min()
    if name in GIVES_UP:
        assert ratio < 0.4  # the hopeless are given up
        assert w[-1, deep].mean() < 0.5 * of_ada[-1, deep].mean()
    else:
        assert ratio < 1.12  # capped: a hopeless row weighs no more than any other error
        assert w[-1, flipped].max() < 0.6 * of_ada[-1, flipped].max()
    assert (model.predict(X) != y).mean() <= (ada.predict(X) != y).mean() + 0.006  # against the true labels


def test_mada_weighs_all_errors_alike(noisy):
    X, _, told, *_ = noisy
    model = bl.MadaBoostClassifier(n_estimators=60)
    w = weights_of_rounds(model, X, told)
    wrong = (2 * told - 1) * model.decision_function(X) <= 0
    assert wrong.any()
    np.testing.assert_allclose(w[-1, wrong], w[-1].max(), rtol=1e-12)


# -- Long & Servedio ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[0, 1])
def construction(request):
    X, y = long_servedio(2000, random_state=request.param)
    return X, flip_labels(y, 0.1, random_state=request.param), *long_servedio(4000, random_state=100 + request.param)


CONVEX = {
    "ada": bl.AdaBoostClassifier(n_estimators=300),
    "real": bl.AdaBoostClassifier(algorithm="real", n_estimators=300),
    "logit": bl.LogitBoostClassifier(n_estimators=300),
    "gentle": bl.GentleBoostClassifier(n_estimators=300),
    "l2": bl.L2BoostClassifier(n_estimators=300),
    "mada": bl.MadaBoostClassifier(n_estimators=300),
    "filter": bl.FilterBoostClassifier(n_estimators=300),
}


@pytest.mark.parametrize("name", CONVEX)
def test_convex_losses_fail(construction, name):
    X, told, X_test, y_test = construction
    assert CONVEX[name].fit(X, told).score(X_test, y_test) < 0.85  # the majority of the columns has 1


@pytest.mark.parametrize("name", [n for n in CONVEX if n != "l2"])  # which does not like large margins either
def test_without_noise_they_do_not(name):
    X, y = long_servedio(2000, random_state=0)
    assert CONVEX[name].fit(X, y).score(X, y) > 0.99


@pytest.mark.parametrize(
    "model",
    [
        bl.BoostByMajorityClassifier(),
        bl.BrownBoostClassifier(target_error=0.3),
        bl.RobustBoostClassifier(target_error=0.2),
    ],
    ids=lambda m: type(m).__name__,
)
def test_boosters_that_give_up_do_not_fail(construction, model):
    X, told, X_test, y_test = construction
    model.fit(X, told)
    assert model.score(X_test, y_test) > 0.99
    assert (model.predict(X) != told).mean() == pytest.approx(0.1, abs=0.01)  # the flipped labels and no others
