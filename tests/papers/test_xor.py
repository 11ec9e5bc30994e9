"""The XOR example of Zhou's chapter on boosting (section 2.3, Figures 2.3 and 2.4)."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, VoterPool

X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
Y = np.array([1, 1, -1, -1])


def basis(feature, cut, above):
    """One function of Figure 2.4: `above` where the feature exceeds the cut, else -above."""
    return lambda X: np.where(X[:, feature] > cut, above, -above).astype(float)


# h1..h8 in the order of the figure.
H = [basis(j, cut, above) for j in (0, 1) for cut in (-0.5, 0.5) for above in (1, -1)]


@pytest.fixture
def model():
    return AdaBoostClassifier(VoterPool(H, complements=False), n_estimators=3).fit(X, Y)


def smallest_errors(weights):
    """The tie set of a round, by exact arithmetic: the error and the numbers of the functions that reach it."""
    errors = [sum(w for w, h, y in zip(weights, f(X), Y, strict=True) if h != y) for f in H]
    return min(errors), {k + 1 for k, e in enumerate(errors) if e == min(errors)}


def test_the_ties_of_the_text():
    # Halving rule: after a round the wrong points share 1/2 and the right ones share 1/2, in proportion.
    quarter = [Fraction(1, 4)] * 4
    assert smallest_errors(quarter) == (Fraction(1, 4), {2, 3, 5, 8})
    second = [Fraction(1, 2), *[Fraction(1, 6)] * 3]  # h2 misses z1
    assert smallest_errors(second) == (Fraction(1, 6), {3, 5, 8})
    third = [Fraction(3, 10), Fraction(1, 2), Fraction(1, 10), Fraction(1, 10)]  # h3 misses z2
    assert smallest_errors(third) == (Fraction(1, 10), {5, 8})


def test_picks_and_weights(model):
    assert [v.index + 1 for v in model.estimators_] == [2, 3, 5]
    np.testing.assert_allclose(model.history_["error"], [1 / 4, 1 / 6, 1 / 10], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_, [0.5 * log(3), 0.5 * log(5), 0.5 * log(9)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_, [0.549306, 0.804719, 1.098612], rtol=0, atol=5e-7)


def test_scores(model):
    a, b, c = 0.5 * log(3), 0.5 * log(5), 0.5 * log(9)
    by_hand = [-a + b + c, a - b + c, -a - b + c, -a - b - c]
    np.testing.assert_allclose(model.decision_function(X), by_hand, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        model.decision_function(X), [1.354025, 0.843199, -0.255413, -2.452637], rtol=0, atol=1e-6
    )


def test_three_linear_voters_solve_what_no_line_can(model):
    errors = [(p != Y).sum() for p in model.staged_predict(X)]
    assert min(errors[:2]) > 0
    assert errors[2] == 0
    assert all((np.sign(h(X)) != Y).any() for h in H)


def test_the_weights_along_the_way(model):
    expected = [
        [1 / 2, 1 / 6, 1 / 6, 1 / 6],
        [3 / 10, 1 / 2, 1 / 10, 1 / 10],
        # h5 misses z3: its 1/10 becomes 1/2, the other 9/10 share the rest.
        [3 / 18, 5 / 18, 1 / 2, 1 / 18],
    ]
    for F, by_hand in zip(model.staged_decision_function(X), expected, strict=True):
        w = np.exp(-Y * F)
        np.testing.assert_allclose(w / w.sum(), by_hand, rtol=0, atol=1e-12)


def test_stumps_find_the_same_solution_size():
    # The eight functions are all the stumps this table has, so the default learner needs three rounds as well.
    model = AdaBoostClassifier(n_estimators=3).fit(X, Y)
    np.testing.assert_allclose(model.history_["error"], [1 / 4, 1 / 6, 1 / 10], rtol=0, atol=1e-12)
    assert (model.predict(X) == Y).all()
