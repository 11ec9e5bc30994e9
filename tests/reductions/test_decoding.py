"""Decoders against direct solves and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from boostlab.reductions import coupling, decoding
from boostlab.reductions.codes import exhaustive, make_code, one_vs_one, one_vs_rest
from boostlab.reductions.form import ReductionForm

RNG = np.random.default_rng(0)


def chances(code, p):
    """What perfect binary problems say of class probabilities p."""
    high, low = p @ (code > 0), p @ (code < 0)
    return high / (high + low)


def divergence(code, R, n, p):
    """The sum that coupling minimises."""
    mu = chances(code, p)
    return (n * (R * np.log(R / mu) + (1 - R) * np.log((1 - R) / (1 - mu)))).sum(axis=-1)


TWICE = one_vs_one(3)[:, [0, 1, 1]]  # three columns, and yet not all pairs of three classes
CODES = [one_vs_one(3), one_vs_one(6), exhaustive(4), one_vs_rest(5), make_code("sparse", 6, None, RNG), TWICE]
IDS = ["ovo3", "ovo6", "exhaustive", "ovr", "sparse", "twice"]


@pytest.mark.parametrize("code", CODES, ids=IDS)
def test_coupling_recovers_consistent_probabilities(code):
    p = RNG.dirichlet(np.ones(len(code)), 20)
    p = np.maximum(p, 0.01)
    p /= p.sum(axis=1, keepdims=True)
    n = RNG.integers(5, 100, code.shape[1])
    assert np.abs(coupling.coupled(code, chances(code, p), n) - p).max() < 1e-5


@pytest.mark.parametrize("code", CODES, ids=IDS)
def test_coupling_is_the_direct_minimum(code):
    """Where the answers contradict each other, no p is closer to them than the one found."""
    K, L = code.shape
    n = RNG.uniform(1, 20, L)
    for _ in range(3):
        R = RNG.uniform(0.1, 0.9, (1, L))
        p = coupling.coupled(code, R, n)[0]
        assert p.sum() == pytest.approx(1)

        def cost(theta, R=R):
            q = np.exp(theta - theta.max())
            return divergence(code, R[0], n, q / q.sum())

        found = min((minimize(cost, RNG.normal(size=K), tol=1e-12) for _ in range(3)), key=lambda m: m.fun)
        assert divergence(code, R[0], n, p) <= found.fun + 1e-7
        if len(np.unique(np.abs(code))) > 1 and K == 6 and L == 15:  # all pairs: convex, so the minimum is one
            q = np.exp(found.x - found.x.max())
            assert np.abs(p - q / q.sum()).max() < 1e-4


def test_every_sweep_lowers_the_divergence():
    code, n = one_vs_one(5), RNG.uniform(1, 9, 10)
    R = RNG.uniform(0.01, 0.99, (4, 10))
    last = np.inf
    for sweeps in range(1, 12):
        now = divergence(code, R, n, coupling.coupled(code, R, n, sweeps))
        assert (now <= last + 1e-12).all()
        last = now


def test_nearly_certain_pairs_of_many_classes_are_coupled_to_the_end():
    """At the minimum every class wins as often as it should: no number of sweeps does that in reasonable time."""
    K = 12
    code, n = one_vs_one(K), RNG.uniform(20, 100, K * (K - 1) // 2)
    p = np.exp(RNG.normal(0, 4, (30, K)))
    odds = np.log(p @ (code > 0)) - np.log(p @ (code < 0)) + RNG.normal(0, 3, (30, len(n)))
    R = np.clip(1 / (1 + np.exp(-odds)), 1e-6, 1 - 1e-6)
    order = RNG.permutation(len(n))
    found = coupling.coupled(code, R, n)
    assert np.abs((n * (R - chances(code, found))) @ code.T).max() < 1e-6 * n.sum()
    assert np.abs(coupling.coupled(-code[:, order], 1 - R[:, order], n[order]) - found).max() < 1e-7
    swept = coupling._swept(code, R, n)
    assert (divergence(code, R, n, found) <= divergence(code, R, n, swept) + 1e-9).all()


def test_certain_answers_do_not_break_coupling():
    code = one_vs_one(4)
    R = RNG.integers(0, 2, (50, 6)).astype(float)
    p = coupling.coupled(code, R, np.ones(6))
    assert np.isfinite(p).all()
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-12


def test_wu_lin_weng_solves_its_own_problem():
    K, code = 4, one_vs_one(4)
    p = np.maximum(RNG.dirichlet(np.ones(K), 10), 0.02)
    p /= p.sum(axis=1, keepdims=True)
    assert np.abs(decoding.least_squares(code, chances(code, p), np.ones(6)) - p).max() < 1e-10
    R = RNG.uniform(0.1, 0.9, (1, 6))
    pairs = list(combinations(range(K), 2))

    def cost(q):
        return sum((R[0, c] * q[i] - (1 - R[0, c]) * q[j]) ** 2 for c, (i, j) in enumerate(pairs))

    simplex = {"type": "eq", "fun": lambda q: q.sum() - 1}
    direct = minimize(cost, np.full(K, 1 / K), bounds=[(0, 1)] * K, constraints=simplex, tol=1e-14)
    assert cost(decoding.least_squares(code, R, np.ones(6))[0]) == pytest.approx(direct.fun, abs=1e-9)


def walk(F, K, order):
    """The DAG as it is told: two ends of a list, the loser leaves."""
    left, pairs = list(order), list(combinations(range(K), 2))
    while len(left) > 1:
        a, b = left[0], left[-1]
        i, j = min(a, b), max(a, b)
        wins = j if F[pairs.index((i, j))] > 0 else i
        left.remove(b if wins == a else a)
    return left[0]


def test_the_dag_is_its_walk_and_equals_the_vote_on_consistent_pairs():
    K, code = 6, one_vs_one(6)
    F = RNG.normal(size=(300, 15))
    F[RNG.random(F.shape) < 0.1] = 0.0  # a tie is for the first class of the pair
    for order in (None, [3, 0, 5, 1, 4, 2]):
        found = decoding.dag(code, F, order).argmax(axis=1)
        assert found.tolist() == [walk(f, K, order or range(K)) for f in F]
    scores = decoding.dag(code, F)
    assert (np.sort(scores, axis=1) == np.arange(K)).all()  # a ranking
    votes = decoding.voted(code, F)
    winner = np.round(votes).max(axis=1) == K - 1  # one class wins all its pairs
    assert 10 < winner.sum() < 290
    assert (found[winner] == votes.argmax(axis=1)[winner]).all()
    assert (scores.argmax(axis=1)[winner] == votes.argmax(axis=1)[winner]).all()


def test_votes_by_hand():
    code = one_vs_one(3)  # the pairs 01, 02, 12; a positive score is for the second
    F = np.array([[-1.0, -1.0, 1.0], [-3.0, 1.0, -0.5], [0.0, 0.0, 0.0]])
    votes = decoding.voted(code, F)
    assert np.round(votes).tolist() == [[2, 0, 1], [1, 1, 1], [2, 1, 0]]
    # A circle: sums of scores 0: 3 - 1, 1: -3 + 0.5, 2: 1 - 0.5.
    assert votes.argmax(axis=1).tolist() == [0, 0, 0]
    assert votes[1].argsort().tolist() == [1, 2, 0]


def test_losses_and_hamming_by_hand():
    code = np.array([[1, 1, 0], [1, -1, 1], [-1, 0, -1]], np.int8)
    F = np.array([[2.0, -1.0, 3.0]])
    assert decoding.hamming(code, F).tolist() == [[-1.5, 0.0, -2.5]]
    losses = [np.exp(-2) + np.exp(1) + 1, np.exp(-2) + np.exp(-1) + np.exp(-3), np.exp(2) + 1 + np.exp(3)]
    assert decoding.loss_based(code, F)[0] == pytest.approx(-np.log(losses))
    assert np.isfinite(decoding.loss_based(code, 1e4 * F)).all()


def test_probabilities_agree_with_the_decision():
    P = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5]])
    said = decoding.agreeing(P, np.array([1, 1, 2]))
    assert said[0].tolist() == [0.3, 0.5, 0.2]
    assert said.argmax(axis=1).tolist() == [1, 1, 2]
    assert np.abs(said.sum(axis=1) - 1).max() < 1e-12
    assert decoding.normalised(code=None, R=np.zeros((1, 4)), n=None).tolist() == [[0.25] * 4]
    by_code = {one_vs_one: ("vote", "dag", "coupling", "least_squares"), exhaustive: ("loss", "hamming")}
    for make, decoder in [(m, d) for m, names in by_code.items() for d in names] + [(one_vs_rest, "strongest")]:
        code = make(4)
        form = ReductionForm.of(code, decoder, np.array([10.0, 20, 30, 1]))
        F = RNG.normal(size=(200, code.shape[1]))
        R = 1 / (1 + np.exp(-2 * F))
        P = form.probabilities(F, R)
        assert np.abs(P.sum(axis=1) - 1).max() < 1e-9
        assert (P.argmax(axis=1) == form.scores(F, R).argmax(axis=1)).all()


def test_margins():
    """Between -1 and 1, and 1 where every problem is sure of the truth; of pairs the smallest of the true class."""
    for code in (one_vs_rest(4), one_vs_one(4), exhaustive(4), make_code("sparse", 7, None, RNG)):
        K = len(code)
        truth = np.arange(K)
        sure = code.astype(float)
        assert decoding.margins(code, sure, truth).tolist() == [1.0] * K
        assert decoding.margins(code, -sure, truth).tolist() == [-1.0] * K
        f = RNG.uniform(-1, 1, (50, code.shape[1]))
        m = decoding.margins(code, f, RNG.integers(0, K, 50))
        assert (np.abs(m) <= 1).all()
    f = RNG.uniform(-1, 1, (20, 3))
    assert decoding.margins(one_vs_one(3), f, np.ones(20, int)) == pytest.approx(np.minimum(f[:, 0], -f[:, 2]))
    assert decoding.margins(one_vs_rest(3), f, np.zeros(20, int)) == pytest.approx(
        (f[:, 0] - np.maximum(f[:, 1], f[:, 2])) / 2
    )


def test_probabilities_that_rounding_tells_apart_are_equal() -> None:
    third = 0.25
    above = np.nextafter(third, 1.0)
    P = np.array([[above, 0.5, third], [third, 0.5, above], [0.2, 0.5, 0.3]])
    said = decoding.agreeing(P, np.array([1, 1, 1]))
    assert said[0, 0] == said[0, 2]
    assert said[1, 0] == said[1, 2]
    np.testing.assert_array_equal(said[2], P[2])


def test_logarithms_have_the_order_of_probabilities() -> None:
    P = np.array([[0.4, np.nextafter(0.4, 1.0), 0.2], [0.4, 0.4, 0.2]])
    said = decoding.agreeing(P, np.array([0, 1]))
    assert said.argmax(axis=1).tolist() == [0, 1]
    np.testing.assert_array_equal(np.argsort(np.log(said)), np.argsort(said))
