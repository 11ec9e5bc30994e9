"""Rows in parts give the models of rows in memory, to the bit, however they are parted."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab import DecisionStump, DecisionTree
from boostlab.backend import CpuRows, Masses
from boostlab.backend.partitioned.answers import merged
from boostlab.backend.partitioned.part import Part, PartRows
from boostlab.backend.partitioned.rows import PartitionedRows
from boostlab.backend.partitioned.whole import Whole
from boostlab.boosters import REGISTRY
from boostlab.boosters.adaboost import AdaBoost
from boostlab.boosters.logitboost import LogitBoostOfClasses
from boostlab.boosters.madaboost import MadaBoost
from boostlab.contract.constraints import Constraints
from boostlab.data.table import Table
from boostlab.engine import measures
from boostlab.engine.measures import ScaledLogLoss
from boostlab.engine.training import Training
from boostlab.ensemble.vote import Ensemble


class InThisProcess:
    """Parts side by side, which take turns."""

    def __init__(self, parts):
        self.parts, self.asked = parts, 0

    def ask(self, orders, question):
        self.asked += 1
        for part in self.parts:
            for order in orders:
                part.obey(order)
        return merged(question[0], [part.answer(question) for part in self.parts])


def parted(rule, table, masses, codes, n_classes, owner):
    """Return the sample with row i held by part owner[i]; parts may be empty."""

    def part(mine):
        return Part(PartRows(rule, table.take(mine), masses.share(mine), codes[mine], n_classes))

    parts = [part(np.flatnonzero(owner == p)) for p in range(owner.max() + 1)]
    whole = Whole(
        *(masses.n_rows, masses.n_examples, masses.n, n_classes, table.bins, table.codes.starts, masses.uniform)
    )
    return PartitionedRows(rule, InThisProcess(parts), part(np.empty(0, np.intp)), whole)


def sample(seed, n_classes, kind, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 3] = rng.integers(0, 4, n)
    X[rng.random(X.shape) < 0.1 * (kind != "counts")] = np.nan
    codes = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 3]) + rng.normal(size=n) > 1.5).astype(np.int8)
    if n_classes > 2:
        codes = (codes + (np.nan_to_num(X[:, 1]) > 0.3) * rng.integers(0, 2, n)).astype(np.int8)
    mass = {"counts": rng.integers(1, 4, n).astype(float), "real": rng.random(n) + 0.1, "plain": None}[kind]
    masses = Masses(n, mass)
    return Table.fit(X, masses, 255, 1, {3: 4} if kind == "real" else {}), masses, codes


LEARNERS = {
    "stump": DecisionStump(),
    "leaves": DecisionTree(max_leaf_nodes=4),
    "least": DecisionTree(min_samples_leaf=4),
}
KEPT = Constraints(np.array([1, -1, 0, 0, 0]), np.array([[1, 1, 0, 1, 0], [0, 0, 1, 0, 1]], bool))
LEARNERS |= {f"constrained-{name}": learner.constrained(KEPT) for name, learner in LEARNERS.items()}
TOGETHER = {"ERLPBoost", "LPBoost", "RLPBoost", "SoftBoost", "TotalBoost"}  # these look at all rows' votes
MANY = ["AdaBoost", "LogitBoost", "SAMME", "AdaBoostMH", "AdaBoostM2", "VadaBoost", "RobustBoost", "L2Boost"]


def rounds_of(training):
    stop = training.run(5)
    kept = [(repr(r.voter), r.alpha, {**r.facts, "seconds": 0}) for r in training.state.rounds]
    return kept, stop.code


def both(name, learner, kind, n_classes, seed=1, n=120):
    """Return the rounds of rows in memory and of rows in parts; None if the rule is of another number of classes."""
    table, masses, codes = sample(0, n_classes, kind, n)
    model = REGISTRY[f"{name}Classifier"].cls(n_estimators=2).fit(table.X[:120], codes[:120])
    if not isinstance(model._ensemble, Ensemble):  # binary problems
        return None
    rule, learner = model._ensemble.rule, LEARNERS[learner]
    owner = np.random.default_rng(seed).integers(0, 4, len(codes))
    owner[owner == 2] = 3  # an empty part
    here, there = CpuRows(rule, table, masses, codes, n_classes), parted(rule, table, masses, codes, n_classes, owner)
    return tuple(rounds_of(Training(rule, learner, rows, horizon=5)) for rows in (here, there))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(n.removesuffix("Classifier") for n in REGISTRY))
def test_every_rule_in_formulas(name):
    if name in TOGETHER:
        with pytest.raises(TypeError, match=r"in one place|not in this process"):
            both(name, "stump", "plain", 2)
        return
    for n_classes in (2, 3):
        found = both(name, "stump", "plain", n_classes)
        assert found is None or (found[0][0] and found[1] == found[0])


@pytest.mark.parametrize(
    ("name", "learner", "kind"),
    # every two of booster, learner and kind of weights meet once
    [
        (name, learner, ["plain", "counts", "real"][(i + j) % 3])
        for i, name in enumerate(MANY)
        for j, learner in enumerate(["stump", "leaves", "least"])
    ],
)
def test_trees_masses_missing_values_and_categories(name, learner, kind):
    here, there = both(name, learner, kind, 3 if name in ("SAMME", "AdaBoostMH", "AdaBoostM2") else 2, seed=len(kind))
    assert there == here


@pytest.mark.parametrize("learner", ["stump", "leaves"])
def test_many_rows_of_several_classes(learner):
    """Where rows are many, two channels are rounded together, and classes take turns."""
    here, there = both("LogitBoost", learner, "plain", 3, n=5000)
    assert there == here
    assert here[0]


def depth_of(tree):
    depth = np.zeros(len(tree.feature), int)
    for node in np.flatnonzero(tree.feature >= 0):
        depth[tree.children[node]] = depth[node] + 1
    return int(depth.max())


@pytest.mark.parametrize(
    "learner",
    [
        DecisionTree(max_leaf_nodes=13),
        DecisionTree(max_leaf_nodes=None, max_depth=3),
        DecisionTree(max_leaf_nodes=9, min_samples_split=20, ccp_alpha=1e-3),
    ],
    ids=["leaves", "depth", "pruned"],
)
def test_an_exchange_for_a_level_of_a_tree(learner):
    """Leaves that may be split next are parted and summed at once, and the tree is that of one after the other."""
    table, masses, codes = sample(0, 2, "plain", 3000)
    rule, owner = AdaBoost(), np.arange(3000) % 3
    here = Training(rule, learner, CpuRows(rule, table, masses, codes, 2), horizon=5)
    there = Training(rule, learner, parted(rule, table, masses, codes, 2, owner), horizon=5)
    asked = []
    for t in range(1, 6):
        before = there.rows.parts.asked
        here.run(t), there.run(t)
        asked.append(there.rows.parts.asked - before)
    voters = [[r.voter for r in training.state.rounds] for training in (here, there)]
    assert repr(voters[1]) == repr(voters[0])
    assert [r.alpha for r in there.state.rounds] == [r.alpha for r in here.state.rounds]
    for n, tree in zip(asked[1:], voters[1][1:], strict=True):
        # The root, and the children of every level but the last; how many examples are wrong is asked with the next
        # root.  Leaves that come late may gain more than those that were prepared before.
        assert n <= depth_of(tree) + (learner.max_leaf_nodes is not None) * 3 < (tree.feature >= 0).sum() + 2


def test_what_is_supposed_is_asked_with_the_next_question_and_mended():
    """Which side of the weights is scaled is guessed; a guess that fails costs one exchange, and no bit."""
    table, masses, codes = sample(0, 3, "plain", 600)
    rule = REGISTRY["SAMMEClassifier"].cls(n_estimators=1).fit(table.X, codes)._ensemble.rule
    learner, rounds = DecisionTree(max_depth=2, max_leaf_nodes=None), 12
    here = Training(rule, learner, CpuRows(rule, table, masses, codes, 3), horizon=rounds)
    rows = parted(rule, table, masses, codes, 3, np.arange(600) % 2)
    there, asked, ask = Training(rule, learner, rows, horizon=rounds), [], rows.parts.ask
    rows.parts.ask = lambda orders, question: (asked.append((orders, question[0])), ask(orders, question))[1]
    here.run(rounds), there.run(rounds)
    assert [(repr(r.voter), r.alpha) for r in there.state.rounds] == [
        (repr(r.voter), r.alpha) for r in here.state.rounds
    ]
    mended = sum(any(name == "unscale" for name, _ in orders) for orders, _ in asked)
    assert 0 < mended < rounds
    assert not any(question == ("wrong_mass",) for _, question in asked)  # never alone


@pytest.mark.parametrize("factor", [1.0, 2.0**600])
def test_weights_are_tamed_with_the_next_question(factor):
    table, masses, codes = sample(0, 2, "plain")
    rule = AdaBoost()
    here = CpuRows(rule, table, masses, codes, 2)
    there = parted(rule, table, masses, codes, 2, np.arange(len(codes)) % 3)
    there.y, before = there.y * factor, there.parts.asked
    tame = there.tame(there.y)
    squares = tame * tame
    assert there.parts.asked == before
    assert there.total(squares) == here.total(here.tame(here.y * factor) ** 2)
    assert there.smallest(there.y) == -factor  # the weights themselves stay


def test_a_round_of_stumps_is_one_exchange():
    for name, n_classes, most in (("AdaBoost", 2, 1), ("LogitBoost", 2, 2), ("SAMME", 3, 2)):
        table, masses, codes = sample(0, n_classes, "real", 500)
        rule = REGISTRY[f"{name}Classifier"].cls(n_estimators=1).fit(table.X, codes)._ensemble.rule
        there = Training(rule, DecisionStump(), parted(rule, table, masses, codes, n_classes, codes * 0), horizon=9)
        asked = []
        for t in range(1, 8):
            before = there.rows.parts.asked
            there.run(t)
            asked.append(there.rows.parts.asked - before)
        assert np.median(asked) <= most, (name, asked)


@pytest.mark.parametrize("kind", ["plain", "real"])
def test_constraints(kind):
    for name in ("AdaBoost", "LogitBoost", "VadaBoost"):
        for learner in ("constrained-stump", "constrained-least"):
            here, there = both(name, learner, kind, 2)
            assert there == here
            assert here[0]


def test_columns_compute_where_the_rows_are():
    rule = AdaBoost()
    table, masses, codes = sample(0, 2, "plain")
    rows = parted(rule, table, masses, codes, 2, np.arange(len(codes)) % 3)
    y = CpuRows(rule, table, masses, codes, 2).y
    x = np.abs(rows.y * 2.5 - 1.0)
    assert rows.total(x, x * x) == (np.abs(y * 2.5 - 1).sum(), (np.abs(y * 2.5 - 1) ** 2).sum())
    assert (x.max(), rows.smallest(x), x.shape, x.any(), (x == 1.5).all()) == (3.5, 1.5, (120,), True, False)
    matrix = np.stack([x, -x], axis=1)
    assert matrix.shape == (120, 2)
    assert rows.largest(matrix.sum(axis=1)) == 0.0
    assert rows.largest(matrix[:, 1]) == -1.5
    with pytest.raises(TypeError, match="not in this process"):
        np.asarray(x)
    with pytest.raises(TypeError, match="picked out"):
        x[3]
    held = rows.parts.parts[0].columns
    n = len(held)
    del x, matrix
    rows.smallest(rows.y)
    assert len(held) < n  # what nothing refers to is dropped


def measured(training):
    """Return what every measure says of a training's rows."""
    s, rows = training.state, training.rows.masses
    F, tie = s.held.scores.now, 1e-3
    scaled = ScaledLogLoss()
    found = [measures.error(rows, s.codes, F, tie), measures.log_loss(rows, s.codes, F, training.rule, tie)]
    found += [scaled(rows, s.codes, F, tie) for _ in range(2)]
    return found if F.ndim > 1 else [*found, measures.exponential_loss(rows, s.codes, F, tie)]


@pytest.mark.parametrize("kind", ["plain", "counts", "real"])
@pytest.mark.parametrize("name", ["AdaBoost", "MadaBoost", "LogitBoostOfClasses"])
def test_measures(name, kind):
    n_classes = 3 if name == "LogitBoostOfClasses" else 2
    rule = {"AdaBoost": AdaBoost(), "MadaBoost": MadaBoost(), "LogitBoostOfClasses": LogitBoostOfClasses()}[name]
    table, masses, codes = sample(0, n_classes, kind)
    owner = np.random.default_rng(2).integers(0, 3, len(codes))
    found = []
    for rows in (CpuRows(rule, table, masses, codes, n_classes), parted(rule, table, masses, codes, n_classes, owner)):
        training = Training(rule, DecisionStump(), rows, horizon=3)
        training.run(3)
        found.append(measured(training))
    assert found[0] == found[1]
