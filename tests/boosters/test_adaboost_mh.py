"""AdaBoost.MH: the Hamming edge and its bound, factored, free and real votes, and one AdaBoost a class."""

from contextlib import nullcontext
from math import log, sqrt

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import AdaBoostClassifier, AdaBoostMHClassifier, DecisionTree, LogitBoostClassifier, VoterPool
from boostlab.backend import CpuSample, Masses
from boostlab.contract import Task
from boostlab.data.table import Bins, Table

SIMPLE = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])


def signs(codes, K):
    """Y: 1 for the right label, -1 for the others."""
    return np.where(np.arange(K) == codes[:, None], 1.0, -1.0)


def scores(model, X):
    """The scores of all classes, two among them."""
    return model._ensemble.scores(Table(X))


# -- the joint form --------------------------------------------------------------------------------------------------


def test_two_rounds_by_hand():
    # Three rows of classes 0 1 2, D = 1/9.  Cut 1.5 (phi = - + +): the labels' edges are -3/9, 1/9, 1/9, so v = - + +
    # and r = 5/9; cut 2.5 mirrors it and comes second.  alpha = (1/2) ln(14/4).  Wrong are label 1 of row 3 and label 2
    # of row 2: their D becomes 1/4 each, the seven others' 1/14.
    # Round 2.  Cut 1.5: edges -3/14, -3/28, -3/28, r = 3/7.  Cut 2.5 (phi = - - +): edges -1/14, -1/4, 11/28, r = 5/7.
    X, y = SIMPLE
    model = AdaBoostMHClassifier(n_estimators=2).fit(X, y)
    one, two = model.estimators_
    assert (one.threshold, one.left.tolist(), one.right.tolist()) == (1.5, [1, -1, -1], [-1, 1, 1])
    assert (two.threshold, two.left.tolist(), two.right.tolist()) == (2.5, [1, 1, -1], [-1, -1, 1])
    np.testing.assert_allclose(model.history_["edge"], [5 / 9, 5 / 7], rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.history_["Z"], [sqrt(56) / 9, sqrt(24) / 7], rtol=1e-14)
    a, b = 0.5 * log(7 / 2), 0.5 * log(6)
    np.testing.assert_allclose(model.estimator_weights_, [a, b], rtol=1e-14)
    expected = [[a + b, b - a, -a - b], [b - a, a + b, a - b], [-a - b, a - b, a + b]]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-14)
    assert model.predict(X).tolist() == [0, 1, 2]


def best_edge(signed, cuts, votes):
    """The largest sum of D Y h over all cuts, h factored or free."""
    above = cuts @ signed  # a row a cut, a column a label
    below = signed.sum(axis=0) - above
    if votes == "factored":
        return np.abs(above - below).sum(axis=1).max()
    return (np.abs(above) + np.abs(below)).sum(axis=1).max()


@pytest.mark.parametrize("votes", ["factored", "free"])
@pytest.mark.parametrize(("K", "weighted"), [(2, False), (3, True), (5, False)])
def test_every_round(data, all_stumps, votes, K, weighted):
    X, codes = data(seed=1, n=60, d=3, noise=0.1, n_classes=K)
    mass = np.random.default_rng(0).uniform(0.3, 2, 60) if weighted else np.ones(60)
    model = AdaBoostMHClassifier(n_estimators=25, votes=votes).fit(X, codes, mass if weighted else None)
    Y, cuts = signs(codes, K), (all_stumps(X).H > 0).astype(float)
    D = mass[:, None] / (mass.sum() * K) * np.ones((60, K))
    F, product = np.zeros((60, K)), 1.0
    for t, (stump, alpha) in enumerate(zip(model.estimators_, model.estimator_weights_, strict=True)):
        h = stump.predict(X)
        assert set(np.unique(h)) <= {-1.0, 1.0}
        if votes == "factored":
            assert (stump.left == -stump.right).all()
        r = (D * Y * h).sum()
        assert r == pytest.approx(best_edge(D * Y, cuts, votes), abs=1e-12)
        assert alpha == pytest.approx(0.5 * log((1 + r) / (1 - r)), rel=1e-10)
        D = D * np.exp(-alpha * Y * h)
        Z = D.sum()
        D /= Z
        assert pytest.approx(sqrt(1 - r * r), rel=1e-12) == Z
        assert model.history_["Z"][t] == pytest.approx(Z, rel=1e-11)
        assert model.history_["error"][t] == pytest.approx((1 - r) / 2, abs=1e-12)
        F += alpha * h
        product *= Z
        assert model.history_["objective"][t] == pytest.approx(product, rel=1e-10)
        hamming = np.average((Y * F <= 0).mean(axis=1), weights=mass)
        assert hamming <= product * (1 + 1e-12)
        one_error = np.average(F.argmax(axis=1) != codes, weights=mass)
        assert one_error <= K * np.average((np.sign(F) != Y).mean(axis=1), weights=mass) + 1e-12
    np.testing.assert_allclose(scores(model, X), F, rtol=0, atol=1e-11)


def test_real_votes_every_round(data, all_stumps):
    X, codes = data(seed=2, n=60, d=3, noise=0.1, n_classes=3)
    model = AdaBoostMHClassifier(n_estimators=20, votes="real").fit(X, codes)
    Y, cuts, s = signs(codes, 3), (all_stumps(X).H > 0).astype(float), 0.5 / (60 * 3)
    F = np.zeros((60, 3))
    for t, stump in enumerate(model.estimators_):
        D = np.exp(-Y * F)
        D /= D.sum()
        plus, minus = D * (Y > 0), D * (Y < 0)
        Z = 0.0
        for side in (cuts, 1 - cuts):
            Z = Z + 2 * np.sqrt((side @ plus) * (side @ minus)).sum(axis=1)
        above = X[:, stump.feature] > stump.threshold
        mine = sum(2 * np.sqrt(plus[k].sum(axis=0) * minus[k].sum(axis=0)).sum() for k in (above, ~above))
        assert mine == pytest.approx(Z.min(), abs=1e-12)
        for leaf, rows in ((stump.right, above), (stump.left, ~above)):
            expected = 0.5 * np.log((plus[rows].sum(axis=0) + s) / (minus[rows].sum(axis=0) + s))
            np.testing.assert_allclose(leaf, expected, rtol=0, atol=1e-9)
        F += stump.predict(X)
        assert model.history_["objective"][t] == pytest.approx(np.exp(-Y * F).mean(), rel=1e-10)
        assert (Y * F <= 0).mean() <= model.history_["objective"][t]
    assert (model.estimator_weights_ == 1).all()
    assert (np.diff(model.history_["objective"]) < 0).all()


TWO = {
    "factored": {},
    "tree": {"max_leaf_nodes": 4},
    "ovr": {"form": "ovr"},
    "sum_alpha": {"form": "ovr", "normalise": "sum_alpha"},
    "real": {"votes": "real"},
}


@pytest.mark.parametrize("name", TWO)
def test_two_classes_are_adaboost(data, name):
    # Two labels are each other's opposites, so that F_1 = -F_0 is the binary score.
    X, codes = data(seed=3, n=90, noise=0.2)
    mass = np.random.default_rng(1).uniform(0.5, 1.5, 90)  # no ties
    params = TWO[name]
    plain = {k: v for k, v in params.items() if k == "max_leaf_nodes"}
    ada = AdaBoostClassifier(n_estimators=25, algorithm="real" if name == "real" else "discrete", **plain)
    ada.fit(X, codes, mass)
    model = AdaBoostMHClassifier(n_estimators=25, **params).fit(X, codes, mass)
    F = scores(model, X)
    np.testing.assert_allclose(F[:, 0], -F[:, 1], rtol=0, atol=1e-10)
    scale = ada.estimator_weights_.sum() if name == "sum_alpha" else 1.0
    np.testing.assert_allclose(scale * F[:, 1], ada.decision_function(X), rtol=0, atol=1e-8)
    assert (model.predict(X) == ada.predict(X)).all()
    if name != "sum_alpha":
        np.testing.assert_allclose(model.predict_proba(X), ada.predict_proba(X), rtol=0, atol=1e-8)
        np.testing.assert_allclose(model.history_["objective"], ada.history_["objective"], rtol=1e-8)
    if name != "real":
        np.testing.assert_allclose(model.margins(X, codes), ada.margins(X, codes), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_factored_tree_is_one_function_with_a_sign_a_label(data, all_stumps, seed):
    X, codes = data(seed=seed, n=80, d=3, noise=0.2, n_classes=4)
    rng = np.random.default_rng(seed)
    D, Y = rng.exponential(size=(80, 4)), signs(codes, 4)
    D[Y > 0] *= 3
    rows = Masses(80)
    table = Table.of(X, Bins.fit(X, rows, "exact"))
    session = DecisionTree(max_leaf_nodes=6).begin(CpuSample(table, rows), rng)
    found = session.best(Task("factored", D, Y, {"no": -1.0}))
    h = found.voter.predict(X)
    assert np.array_equal(h, found.votes)
    v = h[0] * h[0, 0]
    assert np.array_equal(h, h[:, :1] * v)  # of rank one
    edges = (D * Y * h[:, :1]).sum(axis=0)
    assert np.array_equal(np.sign(edges), v)  # every label has the better sign
    assert np.abs(edges).sum() >= best_edge(D * Y, (all_stumps(X).H > 0).astype(float), "factored") - 1e-9
    assert 2 <= found.voter.n_leaves <= 6


def test_trees_of_the_first_round_and_their_limits(data):
    # At first no is the best answer to most labels, and the tree is one cut; min_samples_leaf holds for it as well.
    X, codes = data(seed=5, n=80, d=3, noise=0.1, n_classes=5)
    model = AdaBoostMHClassifier(DecisionTree(max_leaf_nodes=5, min_samples_leaf=9), n_estimators=8).fit(X, codes)
    assert model.estimators_[0].n_leaves == 2
    assert max(t.n_leaves for t in model.estimators_) > 2
    for tree in model.estimators_:
        assert np.unique(tree.leaf_of(Table(X)), return_counts=True)[1].min() >= 9
    errors = model.history_["error"]
    np.testing.assert_allclose(model.history_["Z"], 2 * np.sqrt(errors * (1 - errors)), rtol=1e-10)


def test_a_factored_tree_does_not_split_too_few_examples(data):
    X, codes = data(seed=5, n=80, d=3, noise=0.1, n_classes=3)
    for fewest, kept in ((80, 3), (81, 0)):
        model = AdaBoostMHClassifier(DecisionTree(max_leaf_nodes=4, min_samples_split=fewest), n_estimators=3)
        with nullcontext() if kept else pytest.warns(ConvergenceWarning):
            assert model.fit(X, codes).n_estimators_ == kept


# -- one versus rest -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [{}, {"max_leaf_nodes": 4}], ids=["stumps", "trees"])
def test_one_versus_rest_is_one_adaboost_a_class(data, learner):
    X, codes = data(seed=6, n=120, d=3, noise=0.1, n_classes=4)
    model = AdaBoostMHClassifier(n_estimators=15, form="ovr", **learner).fit(X, codes)
    even = AdaBoostMHClassifier(n_estimators=15, form="ovr", normalise="sum_alpha", **learner).fit(X, codes)
    shown = AdaBoostMHClassifier(n_estimators=15, form="ovr", normalise="probability", **learner).fit(X, codes)
    boosters = [AdaBoostClassifier(n_estimators=15, **learner).fit(X, codes == k) for k in range(4)]
    F = np.stack([b.decision_function(X) for b in boosters], axis=1)
    sums = np.array([b.estimator_weights_.sum() for b in boosters])
    np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-9)
    np.testing.assert_allclose(even.decision_function(X), F / sums, rtol=0, atol=1e-11)
    np.testing.assert_allclose(shown.decision_function(X), -np.log1p(np.exp(-2 * F)), rtol=1e-7, atol=1e-12)
    assert (shown.predict(X) == model.predict(X)).all()  # one link for all: the order stays
    assert model.estimator_weights_.shape == (15, 4)
    np.testing.assert_allclose(model.estimator_weights_.sum(axis=0), sums, rtol=1e-10)
    np.testing.assert_allclose(even.estimator_weights_.sum(axis=0), 1.0, rtol=1e-12)
    loss = np.mean([b.history_["objective"] for b in boosters], axis=0)
    np.testing.assert_allclose(model.history_["objective"], loss, rtol=1e-9)
    # Stages are the stages of the boosters, each by its own sum so far.
    stages = np.stack([list(b.staged_decision_function(X)) for b in boosters], axis=2)
    for F_t, G_t, alphas, expected in zip(
        model.staged_decision_function(X),
        even.staged_decision_function(X),
        np.cumsum(model.estimator_weights_, axis=0),
        stages,
        strict=True,
    ):
        np.testing.assert_allclose(F_t, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(G_t, expected / alphas, rtol=0, atol=1e-9)
    for m in (model, even):
        assert np.abs(m.margins(X, codes)).max() <= 1
        np.testing.assert_allclose(m.predict_proba(X).sum(axis=1), 1)


def test_a_class_that_is_done_keeps_its_score():
    # Class "a" is alone below 0: its first voter makes no error, and its booster stops; "b" and "c" overlap.
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.uniform(-2, -1, 20), rng.normal(1.5, 0.5, 20).clip(0.1), rng.normal(2, 0.5, 20).clip(0.1)])
    y = np.repeat(["a", "b", "c"], 20)
    model = AdaBoostMHClassifier(n_estimators=6, form="ovr").fit(x[:, None], y)
    assert model.estimator_weights_[0, 0] == pytest.approx(0.5 * log(2 * 60 - 1))
    assert (model.estimator_weights_[1:, 0] == 0).all()
    assert (model.estimator_weights_[:, 1:] > 0).all()
    assert model.history_["classes"].tolist() == [3, 2, 2, 2, 2, 2]
    last = AdaBoostMHClassifier(form="ovr", max_leaf_nodes=3).fit(*SIMPLE)
    assert last.n_estimators_ == 1
    assert last.stop_reason_ == "perfect: every class has a voter that makes no error"


def test_a_class_without_an_edge_scores_its_share(tmp_path):
    # One "a" of four on either side of the only cut: no stump tells it from the rest.
    X, y = np.repeat([[0.0], [1.0]], 4, axis=0), np.array(list("abbbaccc"))
    for normalise in ("none", "sum_alpha"):
        model = AdaBoostMHClassifier(n_estimators=3, form="ovr", normalise=normalise).fit(X, y)
        for F in model.staged_decision_function(X):
            np.testing.assert_allclose(F[:, 0], 0.5 * log(1 / 3), rtol=1e-12)
        assert model.predict(X).tolist() == list("bbbbcccc")
        model.save(tmp_path / "m.boost")
        again = boostlab.load(tmp_path / "m.boost")
        assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert again.estimator_weights_.tobytes() == model.estimator_weights_.tobytes()


def test_parameters_that_do_not_go_together():
    with pytest.raises(ValueError, match='normalise is for form="ovr"'):
        AdaBoostMHClassifier(normalise="sum_alpha").fit(*SIMPLE)
    with pytest.raises(ValueError, match='votes is for form="joint"'):
        AdaBoostMHClassifier(form="ovr", votes="real").fit(*SIMPLE)


# -- all forms, many classes -----------------------------------------------------------------------------------------

FORMS = [{}, {"votes": "free"}, {"votes": "real"}, {"form": "ovr"}, {"form": "ovr", "normalise": "sum_alpha"}]


@pytest.mark.parametrize("params", FORMS, ids=["factored", "free", "real", "ovr", "sum_alpha"])
def test_iris_and_a_lonely_class(params, tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = AdaBoostMHClassifier(n_estimators=40, **params).fit(X[::2], names[::2])
    assert model.score(X[1::2], names[1::2]) >= 0.92
    # One example of a class, and k equal examples instead of the weight k.
    X = np.vstack([X, [[9.0, 9, 9, 9]]])
    names = np.append(names, "lonely")
    k = np.random.default_rng(0).integers(1, 4, 151)
    one = AdaBoostMHClassifier(n_estimators=12, max_leaf_nodes=4, **params).fit(X, names, k)
    assert one.predict(X[-1:]) == "lonely"
    copies = np.repeat(np.arange(151), k)
    two = AdaBoostMHClassifier(n_estimators=12, max_leaf_nodes=4, **params).fit(X[copies], names[copies])
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()
    one.save(tmp_path / "m.boost")
    assert boostlab.load(tmp_path / "m.boost").decision_function(X).tobytes() == one.decision_function(X).tobytes()
    grown = AdaBoostMHClassifier(n_estimators=5, max_leaf_nodes=4, warm_start=True, **params).fit(X, names, k)
    grown.set_params(n_estimators=12).fit(X, names, k)
    assert grown.decision_function(X).tobytes() == one.decision_function(X).tobytes()
    stopped = AdaBoostMHClassifier(n_estimators=60, early_stopping=True, random_state=0, **params).fit(X, names)
    assert 0 < stopped.n_estimators_ <= 60
    assert np.isfinite(stopped.history_["validation_score"]).all()


@pytest.mark.parametrize("params", FORMS, ids=["factored", "free", "real", "ovr", "sum_alpha"])
@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=2), RidgeClassifier(), KNeighborsClassifier(7)])
def test_any_learner(learner, params):
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMHClassifier(learner, n_estimators=4, random_state=0, **params).fit(X[::2], y[::2])
    assert model.n_estimators_ > 0
    assert model.score(X[1::2], y[1::2]) > 0.8
    F = model.decision_function(X[::2])
    *_, last = model.staged_decision_function(X[::2])
    np.testing.assert_allclose(last, F, rtol=0, atol=1e-11)
    if "form" not in params:
        Y = signs(y[::2], 3)
        assert model.history_["objective"][-1] == pytest.approx(np.exp(-Y * F).mean(), rel=1e-9)


@pytest.mark.parametrize("make", [AdaBoostMHClassifier, LogitBoostClassifier])
def test_a_pool_serves_a_voter_a_class(make):
    X, y = load_iris(return_X_y=True)
    params = {"form": "ovr"} if make is AdaBoostMHClassifier else {}
    model = make(VoterPool(), n_estimators=6, **params).fit(X, y)
    assert model.score(X, y) > 0.9
    if params:
        boosters = [AdaBoostClassifier(VoterPool(), n_estimators=6).fit(X, y == k) for k in range(3)]
        F = np.stack([b.decision_function(X) for b in boosters], axis=1)
        np.testing.assert_allclose(model.decision_function(X), F, rtol=0, atol=1e-9)


@pytest.mark.parametrize("params", FORMS, ids=["factored", "free", "real", "ovr", "sum_alpha"])
@pytest.mark.parametrize("leaves", [None, 5])
def test_sparse_tables_and_threads_give_the_same_bits(data, params, leaves):
    X, codes = data(seed=8, n=150, d=5, n_classes=4)
    X = np.where(X < 0.2, 0.0, np.round(X, 1))
    fits = [
        AdaBoostMHClassifier(n_estimators=8, max_leaf_nodes=leaves, n_jobs=jobs, **params).fit(T, codes)
        for T, jobs in ((X, 1), (sparse.csr_matrix(X), 1), (X, 3))
    ]
    F = fits[0].decision_function(X)
    for other in fits[1:]:
        assert other.decision_function(X).tobytes() == F.tobytes()
    np.testing.assert_allclose(fits[1].decision_function(sparse.csr_matrix(X)), F, rtol=0, atol=1e-12)


def test_twenty_six_noisy_letters():
    # As many clouds as letters, a tenth of the labels wrong, and one letter that is seen once.
    rng = np.random.default_rng(9)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    centres, y = 2.5 * rng.normal(size=(26, 6)), np.append(np.repeat(np.arange(25), 12), 25)
    X = centres[y] + rng.normal(size=(len(y), 6))
    flip = rng.random(len(y)) < 0.1
    flip[-1] = False
    noisy = np.where(flip, rng.integers(0, 25, len(y)), y)
    for params in FORMS[:4]:
        model = AdaBoostMHClassifier(n_estimators=12, max_leaf_nodes=8, **params).fit(X, letters[noisy])
        assert model.classes_.tolist() == letters.tolist()
        assert model.score(X, letters[y]) > (0.4 if not params else 0.75)
        P = model.predict_proba(X)
        assert P.shape == (301, 26)
        assert (letters[P.argmax(axis=1)] == model.predict(X)).all()
