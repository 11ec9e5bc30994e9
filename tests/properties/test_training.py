"""What must not matter to a training, on tables full of ties: the same bits, rule by rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.masses import Masses
from boostlab.boosters.adaboost import AdaBoost, RealAdaBoost
from boostlab.boosters.adaboost_m2 import AdaBoostM2
from boostlab.boosters.adaboost_mh import AdaBoostMH, AdaBoostMHFree, AdaBoostMHOneVersusRest, AdaBoostMHReal
from boostlab.boosters.adaboost_mr import AdaBoostMR
from boostlab.boosters.arboost import ARBoost
from boostlab.boosters.arc_gv import ArcGV
from boostlab.boosters.brownboost import BrownBoost
from boostlab.boosters.ebboost import EBBoost, FixedPointEBBoost
from boostlab.boosters.l1boost import L1Boost
from boostlab.boosters.logitboost import LogitBoost, LogitBoostOfClasses
from boostlab.boosters.quadboost import CoordinateQuadBoost, QuadBoost, SteepestQuadBoost
from boostlab.boosters.soft_margin_boost import SoftMargin
from boostlab.boosters.vadaboost import FixedPointVadaBoost, VadaBoost, VadaBoostOfClasses
from boostlab.boosters.weightboost import WeightBoost
from boostlab.data.table import Bins, Table
from boostlab.ensemble.vote import Ensemble
from boostlab.learners import DecisionStump, VoterPool
from tables import training_of

RULES = {
    "adaboost": AdaBoost(),
    "real": RealAdaBoost(),
    "ebboost": EBBoost(0.5),
    "ebboost beyond one": EBBoost(3.0),
    "vadaboost": VadaBoost(0.5),
    "vadaboost exact": VadaBoost(2.0, True),
    "fixed point": FixedPointVadaBoost(),
    "fixed point, all stumps": FixedPointEBBoost(),
    "logitboost": LogitBoost(),
    "quadboost": QuadBoost("l2", 0.1),
    "arboost": ARBoost(2.0),
    "weightboost": WeightBoost(0.5),
    "brownboost": BrownBoost(0.1),
    "arc-gv": ArcGV(-0.5),
    "adaboost*": ArcGV(target="smallest_edge", accuracy=0.05),
    "l1boost": L1Boost(0.1, "multiplicative"),
    "l1boost additive": L1Boost(0.1, "additive"),
    "soft margin": SoftMargin(0.1),
    "soft margin squared": SoftMargin(0.1, 2),
    "soft margin cumulative": SoftMargin(0.01, 1, "cumulative"),
    "m2": AdaBoostM2(),
    "vadaboost of classes": VadaBoostOfClasses(0.5),
    "vadaboost of classes, exact": VadaBoostOfClasses(2.0, True),
    "mr": AdaBoostMR(),
    "mh": AdaBoostMH(),
    "mh free": AdaBoostMHFree(),
    "mh real": AdaBoostMHReal(),
    "mh ovr": AdaBoostMHOneVersusRest("sum_alpha"),
    "logitboost of classes": LogitBoostOfClasses(),
}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
seeds = st.integers(0, 2**32)
ROUNDS = 6


def a_table(seed, rule):
    """A small table of few distinct values, all classes present."""
    rng = np.random.default_rng(seed)
    classes = 2 if rule.n_outputs == "one" else 3
    n, d = int(rng.integers(4, 25)), int(rng.integers(1, 4))
    X = rng.integers(0, rng.integers(2, 9), size=(n, d)).astype(float)
    if rng.random() < 0.3:
        X[:, 0] = rng.normal(size=n)
    codes = (X[:, 0] + rng.integers(0, 3, n)).astype(int) % classes
    codes[:classes] = np.arange(classes)
    return X, codes, rng


def train(rule, X, codes, mass=None, learner=None, max_bins="exact", **params):
    rows = Masses(len(X), mass)
    learner = learner or DecisionStump()
    bins = Bins.fit(X, rows, max_bins) if learner.uses_bins else None
    n_classes = 2 if rule.n_outputs == "one" else 3
    table = Table.of(X, bins)
    rng = np.random.default_rng(5)
    training = training_of(rule, learner, table, rows, codes, n_classes, horizon=ROUNDS, rng=rng, **params)
    training.last = training.run(ROUNDS)
    return training


def told(training):
    """Everything a training says, but for the seconds."""
    rounds = [
        (repr(r.voter), r.alpha, r.decay, {k: v for k, v in r.facts.items() if k != "seconds"})
        for r in training.state.rounds
    ]
    return str(training.last), repr(rounds)


@every_rule
@settings(max_examples=6)
@given(resample=st.sampled_from([False, True, "systematic"]), seed=seeds)
def test_weight_k_is_k_copies(rule, resample, seed):
    X, codes, rng = a_table(seed, rule)
    copies = rng.integers(1, 5, len(X))
    origin = rng.permutation(np.repeat(np.arange(len(X)), copies))
    for max_bins in (3, "exact"):
        a = train(rule, X, codes, copies.astype(float), max_bins=max_bins, resample=resample)
        b = train(rule, X[origin], codes[origin], max_bins=max_bins, resample=resample)
        assert told(a) == told(b)
        assert np.array_equal(a.state.F[origin], b.state.F)


@every_rule
@settings(max_examples=6)
@given(seed=seeds)
def test_a_row_may_be_split_into_parts(rule, seed):
    X, codes, rng = a_table(seed, rule)
    mass = rng.integers(2, 9, len(X))
    part = rng.integers(1, mass)
    twice = np.tile(np.arange(len(X)), 2)
    a = train(rule, X, codes, mass.astype(float))
    b = train(rule, X[twice], codes[twice], np.concatenate([part, mass - part]).astype(float))
    assert told(a) == told(b)


@every_rule
@settings(max_examples=7)
@given(resample=st.booleans(), seed=seeds)
def test_row_order_does_not_matter(rule, resample, seed):
    X, codes, rng = a_table(seed, rule)
    order, mass = rng.permutation(len(X)), rng.random(len(X)) + 0.1
    a = train(rule, X, codes, mass, resample=resample)
    b = train(rule, X[order], codes[order], mass[order], resample=resample)
    assert told(a) == told(b)
    assert np.array_equal(a.state.F[order], b.state.F)


@every_rule
@settings(max_examples=6)
@given(seed=seeds)
def test_stumps_see_the_order_of_values_only(rule, seed):
    X, codes, rng = a_table(seed, rule)
    ranks = np.stack([np.unique(x, return_inverse=True)[1] for x in X.T], axis=1)
    steps = np.cumsum(rng.random(ranks.max() + 1) + 0.1) * 10.0 ** rng.integers(-9, 9)
    a, b = train(rule, X, codes), train(rule, (steps - steps.mean())[ranks], codes)
    assert np.array_equal(a.state.F, b.state.F)
    assert np.array_equal(a.state.alphas, b.state.alphas)


@every_rule
@settings(max_examples=6)
@given(seed=seeds)
def test_columns_that_say_nothing_new_change_nothing(rule, seed):
    X, codes, _ = a_table(seed, rule)
    more = np.hstack([X, np.full((len(X), 1), 3.0), X])
    assert told(train(rule, X, codes)) == told(train(rule, more, codes))


TURNED = ["adaboost", "vadaboost", "vadaboost exact", "arboost", "quadboost", "weightboost"]
TURNED += ["arc-gv", "adaboost*", "l1boost", "l1boost additive", "soft margin", "soft margin squared"]


@pytest.mark.parametrize("name", TURNED)
@settings(max_examples=10)
@given(seed=seeds)
def test_turned_labels_turn_the_scores(name, seed):
    X, codes, _ = a_table(seed, RULES[name])
    a, b = train(RULES[name], X, codes), train(RULES[name], X, 1 - codes)
    assert np.array_equal(a.state.F, -b.state.F)


@every_rule
@settings(max_examples=6)
@given(seed=seeds)
def test_the_vote_adds_up(rule, seed):
    X, codes, rng = a_table(seed, rule)
    training = train(rule, X, codes, rng.random(len(X)) + 0.1)
    vote = Ensemble(rule, training.state.rounds, training.state.n_classes)
    table = Table(X)
    F = vote.scores(table)
    assert np.abs(F - training.state.F).max() <= 1e-12 * max(1.0, vote.bound)
    stages = list(vote.staged_scores(table))
    assert len(stages) == training.state.t
    if stages:
        assert np.array_equal(stages[-1], training.state.F)
    assert np.abs(F).max() <= vote.bound * (1 + 1e-12)


@pytest.mark.parametrize(
    "rule", [QuadBoost("l2", 0.1), SteepestQuadBoost("l1", 0.05), CoordinateQuadBoost("l1", 0.05)], ids=repr
)
@settings(max_examples=10)
@given(seed=seeds)
def test_pools_keep_the_same_promises(rule, seed):
    X, codes, rng = a_table(seed, rule)
    copies = rng.integers(1, 5, len(X))
    origin = rng.permutation(np.repeat(np.arange(len(X)), copies))
    pool = VoterPool(stumps_per_feature=3)
    if np.ptp(X, axis=0).any():
        a = train(rule, X, codes, copies.astype(float), learner=pool)
        b = train(rule, X[origin], codes[origin], learner=pool)
        assert told(a) == told(b)
