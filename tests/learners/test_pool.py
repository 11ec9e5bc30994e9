"""Finite pools: the best member, the memory for residuals, and what a pool refuses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend import CpuSample, Masses
from boostlab.boosters.adaboost import AdaBoost
from boostlab.boosters.quadboost import QuadBoost
from boostlab.contract import Task
from boostlab.data.table import Bins, Table
from boostlab.learners.fitted_stump import Stump
from boostlab.learners.pool import VoterPool
from tables import training_of


@dataclass
class Column:
    """A voter that reads its votes off the table."""

    j: int

    def __call__(self, X):
        return X[:, self.j]


def pool_on(votes, mass=None, complements=True):
    """A session whose member j votes votes[:, j]."""
    members = [Column(j) for j in range(votes.shape[1])]
    rng = np.random.default_rng(0)
    return VoterPool(members, complements=complements).begin(CpuSample(Table(votes), Masses(len(votes), mass)), rng)


def random_votes(rng, n, members, kind):
    if kind == "labels":
        return rng.choice([-1.0, 1.0], size=(n, members))
    return rng.normal(size=(n, members)) * rng.choice([0.0, 1.0], size=(n, members))  # real, with abstentions


kinds = pytest.mark.parametrize("kind", ["labels", "real"])


# -- the best member ------------------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("complements", [True, False])
@pytest.mark.parametrize("masses", ["none", "counts", "real", "drawn"])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_no_member_is_better(kind, complements, masses, seed):
    rng = np.random.default_rng(seed)
    n, members = int(rng.integers(1, 25)), int(rng.integers(1, 9))
    votes = random_votes(rng, n, members, kind)
    weight, y = rng.random(n), rng.choice([-1.0, 1.0], n)
    mass = {"counts": rng.integers(1, 5, n).astype(float), "real": rng.random(n) + 0.1}.get(masses)
    counts = np.append(rng.integers(0, 4, n - 1), 1) if masses == "drawn" else None
    m = np.ones(n) if mass is None else mass
    m = m if counts is None else counts
    edges = ((m * weight * y)[:, None] * votes).sum(axis=0)
    voter = pool_on(votes, mass, complements).best(Task("edge", weight, y, counts=counts)).voter
    assert voter.sign in ((1.0, -1.0) if complements else (1.0,))
    best = np.abs(edges).max() if complements else edges.max()
    assert voter.sign * edges[voter.index] == pytest.approx(best, rel=1e-12, abs=1e-13)
    assert np.array_equal(voter.votes(Table(votes)), voter.sign * votes[:, voter.index])
    assert np.array_equal(voter.predict(votes.tolist()), voter.sign * votes[:, voter.index])
    assert voter.bound == np.abs(votes[:, voter.index]).max()


def test_of_equal_members_the_first_wins_and_zero_keeps_its_sign():
    votes = np.array([[1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    for order in ([0, 1, 2], [1, 0, 2]):
        voter = pool_on(votes[:, order]).best(Task("edge", np.ones(3), votes[:, 0])).voter
        assert (voter.index, voter.sign) == (0, 1.0 if order[0] == 0 else -1.0)
    flat = pool_on(np.array([[1.0, 1.0], [-1.0, -1.0]])).best(Task("edge", np.ones(2), np.ones(2))).voter
    assert (flat.index, flat.sign) == (0, 1.0)


@kinds
@pytest.mark.parametrize("complements", [True, False])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_the_best_voter_but_one(kind, complements, seed):
    rng = np.random.default_rng(seed)
    n, members = int(rng.integers(1, 5)), int(rng.integers(1, 9))  # few rows: members vote alike
    votes = random_votes(rng, n, members, kind)
    weight, y = rng.random(n), rng.choice([-1.0, 1.0], n)
    unwanted = votes[:, int(rng.integers(members))] * rng.choice([-1.0, 1.0])
    candidates = [(j, s) for j in range(members) for s in ((1.0, -1.0) if complements else (1.0,))]
    others = [weight * y @ votes[:, j] * s for j, s in candidates if not np.array_equal(s * votes[:, j], unwanted)]
    found = pool_on(votes, None, complements).best(Task("edge", weight, y, without=unwanted))
    if others:
        found = found.voter
        assert found.sign * (weight * y @ votes[:, found.index]) == pytest.approx(max(others), abs=1e-13)
        assert not np.array_equal(found.sign * votes[:, found.index], unwanted)
        assert (found.index, found.sign) in candidates
    else:
        assert str(found) == "no_edge: the pool holds no other voter than the one to leave out"


@kinds
def test_mass_k_is_k_copies(kind):
    rng = np.random.default_rng(1)
    votes, copies = random_votes(rng, 20, 6, kind), rng.integers(1, 5, 20)
    weight, y = rng.random(20), rng.choice([-1.0, 1.0], 20)
    a = pool_on(votes, copies.astype(float))._edges(weight * y, None)
    b = pool_on(votes.repeat(copies, axis=0))._edges((weight * y).repeat(copies), None)
    assert np.array_equal(a, b)
    order = rng.permutation(20)
    c = pool_on(votes[order], copies[order].astype(float))._edges((weight * y)[order], None)
    assert np.array_equal(a, c)


def test_a_pool_knows_whether_its_voters_say_labels():
    votes = np.array([[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]])
    assert pool_on(votes).labels
    assert not pool_on(votes * 0.5).labels
    assert not pool_on(np.where(np.eye(3, 2) == 1, 0.0, votes)).labels  # an abstention is no label


def test_label_votes_are_summed_exactly():
    votes = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    x = np.array([2.0**-40, 1.0, -(2.0**-40), 1.0])
    assert pool_on(votes)._edges(x, None).tolist() == [2.0**-39, -2.0]


# -- the memory for residuals ---------------------------------------------------------------------------------------


def masses_of(kind, rng, n):
    return {"none": None, "counts": rng.integers(1, 6, n).astype(float), "real": rng.random(n) + 0.2}[kind]


def follow(votes, mass, rounds, step=lambda d, eta: d / eta, fresh=1000):
    """Least squares by a pool with a memory; yield every round's session, voter, residual and correlations."""
    session = pool_on(votes, mass)
    session.fresh = fresh
    rng = np.random.default_rng(3)
    m = np.ones(len(votes)) if mass is None else mass
    r = rng.choice([-1.0, 1.0], len(votes))
    for _ in range(rounds):
        voter = session.best(Task("edge", np.abs(r), np.sign(r), linear=True)).voter
        fresh = ((m * r)[:, None] * votes).sum(axis=0)
        yield session, voter, r, fresh
        h = voter.votes(Table(votes))
        alpha = step((m * r * h).sum(), (m * h * h).sum())
        session.added(voter, alpha)
        r = r - alpha * h


@kinds
@pytest.mark.parametrize("masses", ["none", "counts", "real"])
def test_the_memory_equals_recomputation(kind, masses):
    rng = np.random.default_rng(2)
    votes, mass = random_votes(rng, 60, 15, kind), masses_of(masses, rng, 60)
    norm = 60 if mass is None else mass.sum()
    for t, (session, voter, _, fresh) in enumerate(follow(votes, mass, 50)):
        assert np.abs(session.correlations - fresh).max() <= 1e-10 * norm
        assert voter.sign * fresh[voter.index] >= np.abs(fresh).max() - 1e-10 * norm
        assert session.age == t + 1  # nothing was recomputed


@kinds
def test_the_memory_survives_large_and_negative_steps(kind):
    votes = random_votes(np.random.default_rng(4), 40, 10, kind)
    steps = iter([3.0, -2.0, 0.5, 0.0, -0.25, 1.0, 0.1, -1.0, 2.0, -0.125])
    for session, _, _, fresh in follow(votes, None, 10, lambda d, eta: next(steps)):
        assert np.abs(session.correlations - fresh).max() <= 1e-10 * 40


@kinds
def test_the_memory_is_refreshed(kind):
    rng = np.random.default_rng(5)
    votes, mass = random_votes(rng, 30, 8, kind), masses_of("counts", rng, 30)
    plain = pool_on(votes, mass)
    for t, (session, _, r, fresh) in enumerate(follow(votes, mass, 23, fresh=5)):
        assert session.age == t % 5 + 1
        drift = np.abs(session.correlations - fresh).max()
        if t % 5 == 0:
            assert drift <= 1e-10 * mass.sum()
            assert np.array_equal(session.correlations, plain._edges(r, None))  # from the rows, bit for bit
            session.correlations = session.correlations + 1e-3  # an error that creeps in now ...
        else:
            assert drift == pytest.approx(1e-3, rel=1e-6)  # ... stays until the next look at the rows


@kinds
def test_a_draw_does_not_use_the_memory(kind):
    rng = np.random.default_rng(6)
    votes = random_votes(rng, 30, 8, kind)
    session = pool_on(votes)
    r = rng.normal(size=30)
    session.best(Task("edge", np.abs(r), np.sign(r), linear=True))
    counts = rng.integers(1, 4, 30)
    voter = session.best(Task("edge", np.ones(30), np.sign(r), linear=True, counts=counts)).voter
    edges = ((counts * np.sign(r))[:, None] * votes).sum(axis=0)
    assert voter.sign * edges[voter.index] == pytest.approx(np.abs(edges).max(), rel=1e-12)


@dataclass(frozen=True)
class Forgetful(QuadBoost):
    """QuadBoost that does not promise a linear task."""

    def task(self, s):
        task = super().task(s)
        return Task(task.criterion, task.weight, task.target)


@kinds
@pytest.mark.parametrize("masses", ["none", "counts", "real"])
def test_quadboost_is_the_same_with_and_without_the_memory(kind, masses):
    rng = np.random.default_rng(7)
    votes, mass = random_votes(rng, 80, 20, kind), masses_of(masses, rng, 80)
    codes = rng.integers(0, 2, 80)
    pool = VoterPool([Column(j) for j in range(20)])
    runs = []
    for rule in (QuadBoost("l2", 0.05), Forgetful("l2", 0.05)):
        training = training_of(rule, pool, Table(votes), Masses(80, mass), codes, 2, horizon=50)
        training.run(50)
        runs.append(training.state.rounds)
    assert len(runs[0]) == 50
    assert [(r.voter.index, r.voter.sign) for r in runs[0]] == [(r.voter.index, r.voter.sign) for r in runs[1]]
    assert [r.alpha for r in runs[0]] == pytest.approx([r.alpha for r in runs[1]], rel=1e-10, abs=1e-13)


# -- the default pool -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_default_stumps_are_evenly_spaced_inside_the_range(dtype):
    X = np.array([[0.0, 5.0, -2.0], [10.0, 5.0, 0.0], [4.0, 5.0, 1.0]], dtype)
    session = VoterPool(stumps_per_feature=4).begin(CpuSample(Table(X), Masses(3)), np.random.default_rng(0))
    assert all(isinstance(m, Stump) for m in session.members)
    assert [m.feature for m in session.members] == [0] * 4 + [2] * 4  # a constant column has none
    thresholds = [m.threshold for m in session.members]
    assert thresholds == pytest.approx([2.0, 4.0, 6.0, 8.0, -1.4, -0.8, -0.2, 0.4], abs=1e-15)
    assert {(m.left, m.right) for m in session.members} == {(-1.0, 1.0)}
    assert (
        len(VoterPool().begin(CpuSample(Table(X), Masses(3)), np.random.default_rng(0)).members) == 20
    )  # 10 a column by default


def test_default_stumps_on_huge_numbers():
    X = np.array([[-1e308], [0.0], [1e308]])
    session = VoterPool(stumps_per_feature=3).begin(CpuSample(Table(X), Masses(3)), np.random.default_rng(0))
    assert [m.threshold for m in session.members] == pytest.approx([-5e307, 0.0, 5e307], rel=1e-12)


def test_default_stumps_vote_by_threshold_also_on_binned_tables():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 2))
    rows = Masses(40)
    binned = Table.of(X, Bins.fit(X, rows, 4))  # few bins: most thresholds are not among the cuts
    session = VoterPool(stumps_per_feature=7).begin(CpuSample(binned, rows), rng)
    for votes, m in zip(session.votes, session.members, strict=True):
        assert np.array_equal(votes, np.where(X[:, m.feature] <= m.threshold, -1, 1))
    y = np.where(X[:, 1] > 0.3, 1.0, -1.0)
    voter = session.best(Task("edge", np.ones(40), y)).voter
    assert np.array_equal(voter.votes(binned), voter.votes(Table(X)))


def test_an_engine_run_keeps_the_votes_of_the_pool():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(60, 3))
    codes = (X[:, 0] + X[:, 1] > 0).astype(int)
    rows = Masses(60)
    table = Table.of(X, Bins.fit(X, rows, 5))
    training = training_of(AdaBoost(), VoterPool(), table, rows, codes, 2, horizon=10)
    training.run(10)
    F = sum(r.alpha * r.voter.predict(X) for r in training.state.rounds)
    assert training.state.t == 10
    assert np.abs(training.state.F - F).max() < 1e-12


# -- what a pool refuses --------------------------------------------------------------------------------------------


def begin(voters=None, X=None, **params):
    X = np.arange(6.0).reshape(3, 2) if X is None else X
    return VoterPool(voters, **params).begin(CpuSample(Table(X), Masses(len(X))), np.random.default_rng(0))


def test_an_empty_pool_is_refused():
    with pytest.raises(ValueError, match="The pool is empty: give VoterPool at least one voter"):
        begin([])
    constant = begin(None, np.ones((4, 3))).best(Task("edge", np.ones(4), np.array([1.0, -1.0, 1.0, 1.0])))
    assert str(constant) == "no_edge: every column is constant, so there is no stump in the pool"


@pytest.mark.parametrize(
    "shape",
    [lambda X: X, lambda X: X[:1, 0], lambda X: 1.0, lambda X: X[:, :1]],
    ids=["all", "one", "number", "column"],
)
def test_votes_of_the_wrong_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"one number a row; .* returned the shape"):
        begin([Column(0), shape])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_votes_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match=r"finite numbers; .* returned NaN or infinity"):
        begin([lambda X: np.array([1.0, bad, -1.0])])


@pytest.mark.parametrize("k", [0, -3, 2.5, "ten"])
def test_stumps_per_feature_is_a_count(k):
    with pytest.raises(ValueError, match=r"stumps_per_feature=.* must be a whole number of at least 1"):
        begin(stumps_per_feature=k)


def test_a_pool_searches_what_a_list_of_voters_can_and_needs_no_bins():
    assert VoterPool().searches() == {"edge", "svp", "risk", "coordinate", "least_squares"}
    assert not VoterPool().uses_bins
    assert not VoterPool().draws
