"""Stumps against brute force: every feature, every midpoint, both orientations, every criterion by its definition."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend import CpuSample, Masses
from boostlab.backend.cpu.threads import WORTH
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
from boostlab.learners.criteria import CRITERIA
from boostlab.learners.fitted_stump import Stump
from boostlab.learners.stump import DecisionStump

ALL = [*sorted(CRITERIA), "gini"]  # "labels" by their weighted error, and by their gini index
LABELWISE = "hamming", "factored", "hamming_z"  # a column a label
every_criterion = pytest.mark.parametrize("criterion", ALL)


# -- problems -------------------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """A table, a task on it and the rows' masses."""

    X: np.ndarray
    task: Task
    mass: np.ndarray | None = None
    names_by: str = "error"  # the criterion of stumps that name one of three or more classes

    def take(self, index, mass=None):
        task = replace(self.task, weight=self.task.weight[index], target=self.task.target[index])
        return Problem(self.X[index], task, mass, self.names_by)

    @property
    def criterion(self):
        """What the best stump is best by: stumps that name one of two classes are AdaBoost's."""
        several = self.task.criterion == "labels" and self.task.target.max() > 1
        return "gini" if several and self.names_by == "gini" else self.task.criterion

    def best(self, max_bins="exact", threads=1, polarity="both", bins=None):
        rows = Masses(len(self.X), self.mass)
        bins = Bins.fit(self.X, rows, max_bins) if bins is None else bins
        table = Table.of(self.X, bins, threads)
        learner = DecisionStump(polarity, self.names_by)
        found = learner.begin(CpuSample(table, rows), np.random.default_rng(0)).best(self.task)
        return found if isinstance(found, Stop) else found.voter


def names_by(criterion):
    return "gini" if criterion == "gini" else "error"


def make_task(rng, criterion, n, weights):
    """Random labels or targets of the kind the criterion wants, and weights of one kind."""
    shape = (n, 3) if criterion in LABELWISE else n
    w = {
        "equal": np.ones(shape),
        "small": rng.integers(0, 9, shape).astype(float),  # whole numbers, zero among them
        "some": 10.0 ** -rng.uniform(0, 6, shape),
        "wide": 10.0 ** -rng.uniform(0, 30, shape),
    }[weights]
    if not w.any():
        w += 1.0
    if criterion == "hamming":
        right = np.arange(3) == rng.integers(0, 3, n)[:, None]
        D = np.where(right, 0.0, w)
        weight = np.where(right, D.sum(axis=1, keepdims=True), D)
        return Task(criterion, weight, np.where(right, 1.0, -1.0), {"no": 0.0})
    if criterion in LABELWISE:
        return Task(criterion, w, np.where(rng.random(shape) < 0.4, 1.0, -1.0), {"smoothing": 0.5 / n})
    if criterion in ("labels", "gini"):
        return Task("labels", w, rng.integers(0, 4, n).astype(np.int8))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if criterion == "least_squares":
        return Task(criterion, w, np.round(rng.normal(size=n) * 4, rng.integers(0, 3)))
    params = {
        "edge": {},
        "z": {"smoothing": 0.5 / n},
        "svp": {"variance_penalty": float(rng.choice([0.0, 0.3, 0.5, 1.0, 2.5])), "n": float(n)},
    }[criterion]
    return Task(criterion, w, y, params)


def make(seed, criterion, weights, masses="none"):
    """A small table with ties, constant columns and few distinct values."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 22)), int(rng.integers(1, 4))
    X = rng.integers(0, rng.integers(2, 12), size=(n, d)).astype(float)
    if rng.random() < 0.4:
        X[:, 0] = rng.normal(size=n)
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = 7.0
    if rng.random() < 0.3:
        X[:, -1] = -X[:, 0]
    mass = {"none": None, "counts": rng.integers(1, 5, n).astype(float), "real": rng.uniform(0.1, 3, n)}[masses]
    task = make_task(rng, criterion, n, weights)
    if criterion == "svp":
        task.params["n"] = float(n if mass is None else mass.sum())
    return Problem(X, task, mass, names_by(criterion))


# -- brute force ----------------------------------------------------------------------------------------------------


def cuts_of(X):
    """Every (feature, midpoint) in the order of the tie rule."""
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in pairwise(values):
            yield j, (low + high) / 2


def cost(problem, below):
    """What the criterion's definition says of the best voter on this split; the lower the better."""
    task, w, t, criterion = problem.task, problem.task.weight, problem.task.target, problem.criterion
    m = np.ones(len(w)) if problem.mass is None else problem.mass
    m = m if task.counts is None else task.counts.astype(float)
    if criterion == "edge":
        h = np.where(below, -1.0, 1.0)
        return -abs(math.fsum(m * w * t * h))
    if criterion == "svp":
        lam, n = task.params["variance_penalty"], task.params["n"]
        agrees = np.where(below, -1.0, 1.0) == t
        W_I, W_J = math.fsum((m * w)[agrees]), math.fsum((m * w)[~agrees])
        S_I, S_J = math.fsum((m * w * w)[agrees]), math.fsum((m * w * w)[~agrees])
        A, B = (1 - lam) * W_I**2 + lam * n * S_I, (1 - lam) * W_J**2 + lam * n * S_J
        return math.sqrt(max(A, 0) * max(B, 0)) + (1 - lam) * W_I * W_J
    if criterion == "factored":  # every choice of a sign a label
        edges = [math.fsum(m * w[:, k] * t[:, k] * np.where(below, -1.0, 1.0)) for k in range(w.shape[1])]
        return -max(math.fsum(v * e for v, e in zip(vs, edges, strict=True)) for vs in product((-1, 1), repeat=3))
    value = 0.0
    for leaf in (below, ~below):
        if criterion in ("z", "hamming_z"):
            for wk, tk in zip(w.reshape(len(w), -1).T, t.reshape(len(t), -1).T, strict=True):
                W = [math.fsum((m * wk)[leaf & (tk == s)]) for s in (1, -1)]
                value += 2 * math.sqrt(W[0]) * math.sqrt(W[1])
        elif criterion == "labels":  # what is wrong, whichever class the leaf names
            value += min(math.fsum((m * w)[leaf & (t != k)]) for k in range(4))
        elif criterion == "gini":  # the leaf's weight times 1 - the sum of its classes' squared shares
            W = [math.fsum((m * w)[leaf & (t == k)]) for k in range(4)]
            value += math.fsum(W) * (1 - math.fsum((v / math.fsum(W)) ** 2 for v in W)) if any(W) else 0.0
        elif criterion == "least_squares":
            mean = leaf_mean(problem, leaf)
            value += math.fsum((m * w * (t - mean) ** 2)[leaf])
        else:  # every choice of plausible labels, by the definition of the pseudo-loss
            value += min(pseudo_loss(problem, leaf, p) for p in product((0.0, 1.0), repeat=w.shape[1]))
    return value


def leaf_mean(problem, leaf):
    w, z = problem.task.weight, problem.task.target
    m = np.ones(len(w)) if problem.mass is None else problem.mass
    m = m if problem.task.counts is None else problem.task.counts.astype(float)
    W = math.fsum((m * w)[leaf])
    return math.fsum((m * w * z)[leaf]) / W if W > 0 else 0.0


def pseudo_loss(problem, leaf, p):
    """(1/2) sum over the leaf's rows i and wrong labels y of D(i, y) (1 - p(c_i) + p(y))."""
    m = np.ones(len(leaf)) if problem.mass is None else problem.mass
    m = m if problem.task.counts is None else problem.task.counts.astype(float)
    terms = []
    for i in np.flatnonzero(leaf):
        right = int(problem.task.target[i].argmax())
        terms += [m[i] * problem.task.weight[i, y] * (1 - p[right] + p[y]) for y in range(len(p)) if y != right]
    return math.fsum(terms) / 2


def scale(problem):
    """The natural unit of the criterion's costs."""
    w, t = problem.task.weight, problem.task.target
    m = np.ones(len(w)) if problem.mass is None else problem.mass
    m = m if w.ndim == 1 else m[:, None]
    if problem.task.criterion == "least_squares":
        return float((m * w * t * t).sum())
    W = float((m * w).sum())
    return W * W if problem.task.criterion == "svp" else W


def below(problem, stump):
    return problem.X[:, stump.feature] <= stump.threshold


def brute(problem):
    return min((cost(problem, problem.X[:, j] <= c) for j, c in cuts_of(problem.X)), default=None)


# -- the best stump -------------------------------------------------------------------------------------------------


@every_criterion
@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@pytest.mark.parametrize("weights", ["equal", "small", "some"])
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_no_stump_is_better(criterion, weights, masses, seed):
    problem = make(seed, criterion, weights, masses)
    optimum, stump = brute(problem), problem.best()
    if optimum is None:
        assert isinstance(stump, Stop)
        return
    got = cost(problem, below(problem, stump))
    slack = scale(problem) if criterion in ("least_squares", "labels", "gini") else abs(optimum)
    assert got <= optimum + 1e-12 * slack + 1e-300


@every_criterion
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_weights_over_thirty_magnitudes(criterion, seed):
    problem = make(seed, criterion, "wide")
    optimum, stump = brute(problem), problem.best()
    if optimum is None:
        return
    # Sums are right to about n 2^-53 of all weight; criteria with a root lose half of the digits near zero.
    digits = {"edge": 1e-15, "least_squares": 1e-13, "z": 1e-6, "svp": 1e-6, "hamming_z": 1e-6}
    assert cost(problem, below(problem, stump)) <= optimum + digits.get(criterion, 1e-14) * scale(problem)


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from(["both", "+", "-"]), st.sampled_from(["none", "counts"]))
def test_edge_follows_the_tie_rule(seed, polarity, masses):
    problem = make(seed, "edge", "small", masses)
    m = np.ones(len(problem.X)) if problem.mass is None else problem.mass
    signed = [int(v) for v in m * problem.task.weight * problem.task.target]
    best = None
    for j, c in cuts_of(problem.X):
        above = problem.X[:, j] > c
        for sign in (+1, -1):  # +1 above comes first
            if polarity in ("both", "+-"[sign < 0]):
                edge = sum(sign * s if a else -sign * s for s, a in zip(signed, above, strict=True))
                if best is None or edge > best[0]:  # a later one must be strictly better
                    best = edge, j, c, sign
    stump = problem.best(polarity=polarity)
    if best is None:
        assert isinstance(stump, Stop)
        return
    _, j, c, sign = best
    assert (stump.feature, stump.threshold, stump.left, stump.right) == (j, c, -float(sign), float(sign))
    assert isinstance(stump.feature, int)
    assert isinstance(stump.threshold, float)


@every_criterion
def test_of_equal_columns_the_first_wins(criterion):
    rng = np.random.default_rng(3)
    for _ in range(30):
        x, constant = rng.integers(0, 6, 40).astype(float), np.ones(40)
        task = make_task(rng, criterion, 40, "small")
        task.target = np.rint(task.target).astype(task.target.dtype)  # whole numbers all along: ties are exact
        for columns, first in (([x, x, -x], 0), ([-x, x, x], 0), ([constant, x, -x], 1), ([x > 9, x > 9, x], 2)):
            problem = Problem(np.stack(columns, axis=1).astype(float), task, names_by=names_by(criterion))
            assert problem.best().feature == first


@every_criterion
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_only_the_cuts_of_the_bins_are_searched(criterion, seed):
    problem = make(seed, criterion, "some")
    bins = Bins.fit(problem.X, Masses(len(problem.X)), 3)
    stump = problem.best(bins=bins)
    costs = [cost(problem, problem.X[:, j] <= c) for j in range(bins.n_features) for c in bins.of(j)]
    if not costs:
        assert isinstance(stump, Stop)
        return
    assert stump.threshold == bins.of(stump.feature)[stump.cut]
    slack = scale(problem) if criterion in ("least_squares", "gini") else abs(min(costs))
    assert cost(problem, below(problem, stump)) <= min(costs) + 1e-12 * slack + 1e-300


@every_criterion
@pytest.mark.parametrize("mass", [None, np.arange(1.0, 7.0)])
def test_constant_columns_leave_nothing_to_split(criterion, mass):
    task = make_task(np.random.default_rng(0), criterion, 6, "some")
    problem = Problem(np.full((6, 3), 2.5), task, mass, names_by(criterion))
    stop = problem.best()
    assert isinstance(stop, Stop)
    assert stop.code == "no_edge"


# -- leaves ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_edge_and_svp_take_the_better_side(masses, seed):
    for criterion in ("edge", "svp"):
        problem = make(seed, criterion, "some", masses)
        stump = problem.best()
        if isinstance(stump, Stop):
            return
        assert {stump.left, stump.right} == {-1.0, 1.0}
        assert stump.bound == 1.0
        m = np.ones(len(problem.X)) if problem.mass is None else problem.mass
        w, y = m * problem.task.weight, problem.task.target
        agrees = np.where(below(problem, stump), stump.left, stump.right) == y
        if criterion == "edge":
            assert w[agrees].sum() >= w[~agrees].sum() * (1 - 1e-12)
        else:
            lam, n = problem.task.params["variance_penalty"], problem.task.params["n"]
            v = w * problem.task.weight
            A, B = ((1 - lam) * w[s].sum() ** 2 + lam * n * v[s].sum() for s in (agrees, ~agrees))
            assert A >= B * (1 - 1e-9)


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_the_only_cut_is_turned_the_right_way(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    x = np.arange(n) % 2
    for criterion in ("edge", "svp"):
        problem = Problem(x[:, None].astype(float), make_task(rng, criterion, n, "small"))
        w, up = problem.task.weight, np.where(x == 1, 1.0, -1.0) == problem.task.target  # right if +1 goes above
        lam = problem.task.params.get("variance_penalty", 0.0)
        A, B = ((1 - lam) * w[s].sum() ** 2 + lam * n * (w[s] ** 2).sum() for s in (up, ~up))
        if A == B or abs(A - B) > 1e-9 * (A + B):
            assert problem.best().right == (1.0 if A >= B else -1.0)


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_z_vote_half_the_smoothed_log_odds(masses, seed):
    problem = make(seed, "z", "some", masses)
    stump = problem.best()
    if isinstance(stump, Stop):
        return
    m = np.ones(len(problem.X)) if problem.mass is None else problem.mass
    w, y = m * problem.task.weight, problem.task.target
    s = problem.task.params["smoothing"] * w.sum()
    side = below(problem, stump)
    for leaf, vote in ((side, stump.left), (~side, stump.right)):
        expected = 0.5 * math.log((w[leaf & (y > 0)].sum() + s) / (w[leaf & (y < 0)].sum() + s))
        assert vote == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_least_squares_vote_the_mean(masses, seed):
    problem = make(seed, "least_squares", "some", masses)
    stump = problem.best()
    if isinstance(stump, Stop):
        return
    side = below(problem, stump)
    top = np.abs(problem.task.target).max()
    for leaf, vote in ((side, stump.left), (~side, stump.right)):
        assert vote == pytest.approx(leaf_mean(problem, leaf), rel=1e-9, abs=1e-9 * top)
    assert stump.bound == max(abs(stump.left), abs(stump.right))


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_pseudo_loss_are_the_cheapest_labels(masses, seed):
    problem = make(seed, "hamming", "some", masses)
    stump = problem.best()
    if isinstance(stump, Stop):
        return
    votes = stump.votes(Table(problem.X))
    assert votes.shape == problem.task.weight.shape
    assert set(np.unique(votes).tolist()) <= {0.0, 1.0}
    side = below(problem, stump)
    assert (votes == np.where(side[:, None], stump.left, stump.right)).all()
    got = pseudo_loss(problem, side, stump.left) + pseudo_loss(problem, ~side, stump.right)
    assert got == pytest.approx(cost(problem, side), rel=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_a_light_leaf_is_averaged_as_well_on_the_right_as_on_the_left(turned):
    # Sums are right to n 2^-61 of all weight, on both sides of the cut: here 1e-12 of the weight lies in one leaf.
    X = np.arange(8.0)[:, None] * (-1 if turned else 1)
    w = np.array([0.3, 0.7, 0.11, 0.23, 0.9, 0.77, 1.3e-12, 1.7e-12])
    z = np.array([0.01, 0.02, 0.013, 0.011, 0.02, 0.012, 5e6, 4e6])
    problem = Problem(X, Task("least_squares", w, z))
    stump = problem.best()
    light = stump.left if turned else stump.right
    share = w[6:].sum() / w.sum()
    assert abs(stump.threshold) == 5.5
    assert light == pytest.approx(leaf_mean(problem, np.arange(8) > 5), rel=4 * 8 * 2.0**-61 / share)


# -- what does not matter -------------------------------------------------------------------------------------------


@every_criterion
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_row_order_does_not_matter(criterion, seed):
    for weights, masses in (("some", "real"), ("wide", "counts")):
        problem = make(seed, criterion, weights, masses)
        order = np.random.default_rng(seed).permutation(len(problem.X))
        assert repr(problem.take(order, problem.mass[order]).best()) == repr(problem.best())


@every_criterion
@pytest.mark.parametrize("max_bins", [3, "exact"])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_weight_k_is_k_copies(criterion, max_bins, seed):
    problem = make(seed, criterion, "some", "counts")
    copies = problem.take(np.repeat(np.arange(len(problem.X)), problem.mass.astype(int)))
    assert repr(problem.best(max_bins)) == repr(copies.best(max_bins))


@every_criterion
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_a_draw_is_its_rows(criterion, seed):
    problem = make(seed, criterion, "some", "real")  # the masses are already in the draw
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(2 * len(problem.X), np.full(len(problem.X), 1 / len(problem.X)))
    if criterion == "gini":
        counts[problem.task.target.argmax()] += 1  # a draw from a sample knows the sample's classes
    bins = Bins.fit(problem.X, Masses(len(problem.X)), "exact")
    problem.task.counts = counts
    drawn = problem.take(np.repeat(np.arange(len(problem.X)), counts))
    drawn.task.counts = None
    # Where values never seen would go is decided by the whole sample.
    one, two = (p.best(bins=bins) for p in (problem, drawn))
    if isinstance(one, Stump) and isinstance(two, Stump):
        one, two = (replace(stump, missing=None) for stump in (one, two))
    assert repr(one) == repr(two)


@every_criterion
@pytest.mark.parametrize("power", [-600, -100, 100, 400])
def test_the_scale_of_the_weights_does_not_matter(criterion, power):
    for seed in range(12):
        problem = make(seed, criterion, "some")
        scaled = replace(problem, task=replace(problem.task, weight=problem.task.weight * 2.0**power))
        assert repr(scaled.best()) == repr(problem.best())


@every_criterion
def test_threads_do_not_matter(criterion):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(12_000, 45))
    assert X.size >= WORTH
    bins = Bins.fit(X, Masses(len(X)), 255, 4)
    problem = Problem(X, make_task(rng, criterion, len(X), "some"), names_by=names_by(criterion))
    assert repr(problem.best(bins=bins, threads=4)) == repr(problem.best(bins=bins, threads=1))


@every_criterion
def test_a_session_remembers_nothing_but_its_scale(criterion):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 3))
    rows = Masses(30)
    table = Table.of(X, Bins.fit(X, rows))
    learner = DecisionStump(criterion=names_by(criterion))
    session = learner.begin(CpuSample(table, rows), rng)
    for _ in range(5):
        task = make_task(rng, criterion, 30, "some")
        again = learner.begin(CpuSample(table, rows), rng)
        stump = session.best(task).voter
        fresh = again.best(task).voter
        assert (stump.feature, stump.cut, stump.threshold) == (fresh.feature, fresh.cut, fresh.threshold)
        for leaf in ("left", "right", "missing"):
            np.testing.assert_allclose(getattr(stump, leaf), getattr(fresh, leaf), rtol=1e-12)
        session.added(stump, 0.5)


# -- voters and settings --------------------------------------------------------------------------------------------


def test_votes_on_bins_on_numbers_and_on_plain_arrays_are_the_same():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 2)).astype(np.float32)
    bins = Bins.fit(X, Masses(50), 10)
    for cut, threshold in enumerate(bins.of(1).tolist()):
        for left, right in ((-1.0, 1.0), (0.25, -3.5), (np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0]))):
            stump = Stump(1, cut, threshold, left, right)
            expected = np.array([left if float(v) <= threshold else right for v in X[:, 1]])
            for votes in (stump.votes(Table.of(X, bins)), stump.votes(Table(X)), stump.predict(X)):
                assert np.array_equal(votes, expected)


def test_polarity_limits_the_criteria_and_must_be_known():
    assert DecisionStump().searches() == frozenset(CRITERIA)
    assert DecisionStump("+").searches() == DecisionStump("-").searches() == {"edge"}
    with pytest.raises(ValueError, match='polarity=\'up\' is not known; use "both", "\\+" or "-"'):
        make(0, "edge", "equal").best(polarity="up")


def test_polarity_by_hand():
    problem = Problem(np.arange(4.0)[:, None], Task("edge", np.ones(4), np.array([1.0, 1.0, -1.0, -1.0])))
    assert repr(problem.best()) == repr(Stump(0, 1, 1.5, 1.0, -1.0, -1.0))
    assert repr(problem.best(polarity="-")) == repr(Stump(0, 1, 1.5, 1.0, -1.0, -1.0))
    assert repr(problem.best(polarity="+")) == repr(Stump(0, 0, 0.5, -1.0, 1.0, 1.0))  # edge -2, better than -4
