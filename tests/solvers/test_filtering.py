"""The filter's calls and the sequential test of an edge."""

from math import ceil, log, sqrt

import numpy as np
import pytest

from boostlab.solvers.filtering import Calls, FilteredEdge, sequential_edge


def plain_edge(answers, delta, tau):
    """The loop as the paper has it."""
    s = 0
    for n, a in enumerate(answers, start=1):
        s += a
        u = s / n - 0.5
        if abs(u) >= sqrt(log(n * (n + 1) / delta) / (2 * n)) * (1 + 1 / tau):
            return FilteredEdge(u / (1 + tau), n)
    return FilteredEdge(0.0, len(answers))


@pytest.mark.parametrize("tau", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("chance", [0.5, 0.55, 0.7, 0.95, 1.0, 0.2])
def test_it_is_the_plain_loop(chance, tau):
    answers = np.random.default_rng(0).random(20_000) < chance
    given = iter(answers)
    found = sequential_edge(lambda n: np.array([next(given) for _ in range(n)]), 0.05, tau, 20_000)
    plain = plain_edge(answers, 0.05, tau)
    assert found.n == plain.n
    assert found.g == pytest.approx(plain.g, abs=1e-15)


def test_the_estimate_is_right_more_often_than_promised():
    rng, gamma, tau, bad = np.random.default_rng(1), 0.1, 0.5, 0
    for _ in range(200):
        g = sequential_edge(lambda n: rng.random(n) < 0.5 + gamma, 0.1, tau, 10**6).g
        bad += not (gamma * (1 - tau) / (1 + tau) <= g <= gamma)
    assert bad <= 200 * 0.1


def test_an_empty_filter_ends_the_test_and_no_edge_is_zero():
    assert sequential_edge(lambda n: None, 0.1, 0.5, 100) is None
    assert sequential_edge(lambda n: np.arange(n) % 2 == 0, 0.1, 0.5, 5000) == (0.0, 5000)


def test_calls_are_counted_up_to_the_first_that_comes_back_empty():
    calls = Calls(0.5, 0.1, 10)
    limits = [ceil(4 * log(r * (r + 1) / 0.1)) for r in (1, 2, 3, 4)]
    assert calls.limits(4).tolist() == limits
    assert calls.made(np.array([1, limits[1]]))
    assert (calls.r, calls.drawn) == (2, 1 + limits[1])
    assert not calls.made(np.array([limits[2] + 1, 1]))
    assert (calls.r, calls.drawn, calls.limit) == (3, 1 + limits[1] + limits[2], limits[2])


def test_a_good_filter_hardly_ever_comes_back_empty():
    # If more than eps/2 is accepted, some call of the round fails by chance at most delta.
    rng, failed = np.random.default_rng(2), 0
    for _ in range(400):
        failed += not Calls(0.2, 0.1, 1).made(rng.geometric(0.1, 500))
    assert failed <= 400 * 0.1
