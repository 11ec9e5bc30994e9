"""Rounds as objects and as columns are the same rounds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostlab import AdaBoostClassifier, LogitBoostClassifier
from boostlab.contract import Each
from boostlab.ensemble.rounds import ManyRounds, Round, Rounds, coefficients, history
from boostlab.ensemble.vote import VoteBound
from boostlab.learners.fitted_stump import Stump, Stumps


def singles(rng, n):
    """Rounds of the general loop: some decay, some set all coefficients."""
    made = []
    for _ in range(n):
        facts = {"alpha": float(rng.random()), **({"error": float(rng.random())} if rng.random() < 0.7 else {})}
        made.append(Round(object(), facts["alpha"], decay=float(rng.choice([1.0, 0.5])), facts=facts))
    return made


def columns(rng, n):
    """Rounds of a compiled call, and the same as objects."""
    voters, alphas, errors = [object() for _ in range(n)], rng.random(n).tolist(), rng.random(n).tolist()
    decays = rng.random(n).tolist() if rng.random() < 0.5 else None
    each = zip(voters, alphas, decays or [1.0] * n, errors, strict=True)
    plain = [Round(v, a, d, facts={"alpha": a, "error": e}) for v, a, d, e in each]
    return ManyRounds(voters, alphas, {"alpha": alphas, "error": errors}, decays), plain


@given(st.integers(0, 2**32), st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=5))
def test_the_same_as_a_list(seed, kinds):
    rng, rounds, plain = np.random.default_rng(seed), Rounds(), []
    for many, n in kinds:
        if many:
            new, same = columns(rng, n)
            rounds.join(new)
            plain += same
        else:
            for one in singles(rng, n):
                rounds.append(one)
                plain.append(one)
    a, b, more = *sorted(rng.integers(-9, 20, 2).tolist()), singles(rng, 1)
    before = rounds[a:b]
    assert np.array_equal(coefficients(rounds), coefficients(plain))
    told, expected = history(rounds), history(plain)
    assert list(told) == list(expected)
    assert all(np.array_equal(told[name], expected[name], equal_nan=True) for name in told)
    assert (rounds.voters, len(rounds), bool(rounds)) == ([r.voter for r in plain], len(plain), bool(plain))
    assert before == plain[a:b] == rounds[a:b]  # before and after they were looked at
    assert rounds == plain
    assert rounds + more == plain + more
    assert rounds[::-1] == plain[::-1]
    if plain:
        place = int(rng.integers(-len(plain), len(plain)))
        assert rounds[place] == plain[place]
        assert rounds[place] is rounds[place]
    with pytest.raises(IndexError):
        rounds[len(plain)]


@given(st.integers(0, 2**32), st.booleans())
def test_the_bound_of_many_rounds_is_that_of_each(seed, fade):
    rng, one, all_at_once = np.random.default_rng(seed), VoteBound(), VoteBound()
    sizes, alphas, decays = rng.random((3, 7)).tolist()
    for size, alpha, decay in zip(sizes, alphas, decays, strict=True):
        one.add(Round(Stump(0, 0, 0.0, -size, size, size), alpha, decay if fade else 1.0))
    all_at_once.add_many(sizes, alphas, decays if fade else None)
    assert all_at_once.value == one.value


def test_what_was_made_counts():
    rounds = Rounds()
    rounds.join(ManyRounds(["f", "g"], [1.0, 2.0], {"error": [0.1, 0.2]}))
    kept = rounds[:]
    assert kept.ends_with_last_of(rounds)
    rounds[-1].facts["seen"] = 7.0
    assert np.array_equal(history(kept)["seen"], [np.nan, 7.0], equal_nan=True)
    rounds.append(Round("h", 3.0))
    assert len(kept) == 2
    assert not kept.ends_with_last_of(rounds)
    assert not kept[:1].ends_with_last_of(kept)
    assert kept[1:].ends_with_last_of(kept)


def test_coefficients_of_classes():
    each = Each(np.array([1.0, 2.0]), np.array([0.5, 1.0]))
    rounds = Rounds()
    rounds.join(ManyRounds([("f", "g")], [4.0], {}))
    rounds.append(Round(("f", "g"), 0.0, each=each))
    assert coefficients(rounds).tolist() == [[2.0, 4.0], [1.0, 2.0]]


def test_stumps_as_columns():
    numbers = [np.array(column) for column in ([0, 3], [1, 2], [0.5, 1.5], [-1.0, 0.25], [1.0, -0.5], [1.0, 0.25])]
    stumps = Stumps(*numbers)
    expected = [Stump(0, 1, 0.5, -1.0, 1.0, 1.0), Stump(3, 2, 1.5, 0.25, -0.5, 0.25)]
    assert stumps[1] == expected[1]
    assert "made" not in vars(stumps)
    assert list(stumps) == expected
    assert stumps[0] is stumps[0]
    assert len(stumps) == 2
    assert type(stumps[0].feature) is int
    assert type(stumps[0].left) is float


@pytest.mark.parametrize("cls", [AdaBoostClassifier, LogitBoostClassifier])
def test_a_model_does_not_need_what_is_not_looked_at(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80) > 0
    model = cls(n_estimators=7).fit(X, y)
    assert "estimators_" not in vars(model)
    assert all(isinstance(p, ManyRounds) for p in model._ensemble.rounds.parts)
    copy = pickle.loads(pickle.dumps(model))
    assert len(model.estimators_) == len(copy.estimators_) == 7
    assert repr(copy.estimators_) == repr(model.estimators_)
    assert np.array_equal(copy.decision_function(X), model.decision_function(X))
    assert np.array_equal(list(copy.staged_decision_function(X)), list(model.staged_decision_function(X)))
    assert not hasattr(cls(), "estimators_")
