"""Exponential weights that follow the scores up to a shift."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from backend.test_partitioned import parted, sample
from boostlab import AdaBoostClassifier, DecisionStump
from boostlab.backend import CpuRows
from boostlab.backend.cpu.kept_weights import MOST_CUTS, KeptWeights
from boostlab.backend.cpu.shifted_weights import ShiftedExponentials
from boostlab.backend.cpu.threads import AtOnce
from boostlab.boosters.adaboost import AdaBoost
from boostlab.contract import ShiftedTask, Task, formula, weight_sum
from boostlab.engine.training import Training
from boostlab.functions import exp
from boostlab.learners.criteria import ShiftedEdge
from boostlab.learners.fitted_stump import CategoryStump, Stump

ONCE = np.empty(0, np.int32)
UP, DOWN = Stump(0, 0, 0.0, -1.0, 1.0), Stump(0, 0, 0.0, 1.0, -1.0)


@pytest.mark.parametrize("counted", [False, True])
def test_rows_on_the_larger_side_keep_their_weights_to_the_bit(counted):
    rng = np.random.default_rng(0)
    y, F = rng.choice([-1, 1], 400).astype(np.int8), np.zeros(400)
    counts = rng.integers(1, 6, 400).astype(np.int32) if counted else ONCE
    mass = counts if counted else np.ones(400, int)
    weights, renewed, sides = ShiftedExponentials(y, F, counts), 0, set()
    for _ in range(160):
        h = np.where(rng.random(400) < rng.choice([0.1, 0.45, 0.9]), -1, 1).astype(np.int8)
        alpha, before, asked = float(rng.choice([0.1, 0.5, 3.0, -0.2])), weights.v.copy(), []
        F = F + alpha * h
        weights.advance(alpha, h, lambda F=F, asked=asked: asked.append(1) or F, UP)
        if asked:
            renewed += 1
            assert weights.w.max() == 1.0
            assert weights.at.shift == weights.at.far == 0.0
        else:
            side = 1 if 2 * mass[h == 1].sum() <= mass.sum() else -1
            moved = np.where(y == side, before * exp(-2 * alpha), before * exp(2 * alpha))
            sides.add(side)
            assert np.array_equal(weights.v, np.where(h == side, moved, before))
        assert abs(weights.at.shift) <= 2.0  # else sums of one label lose digits beside the other's
        exact = np.exp(-y * F - (-y * F).max())
        np.testing.assert_allclose(weights.w / weights.w.max(), exact, rtol=1e-12, atol=1e-300)
    assert 0 < renewed < 100
    assert sides == {1, -1}
    assert not weights.v.flags.writeable
    assert not weights.w.flags.writeable


@pytest.mark.parametrize(("voter", "side"), [(UP, 1), (DOWN, -1), (CategoryStump(0, np.array([-1.0, 1.0])), -1)])
def test_of_equal_sides_the_one_above_the_cut_moves(voter, side):
    """So that a vote against turned labels leaves turned scores, to the bit."""
    y, h = np.array([1, -1, -1, 1], np.int8), np.array([1, 1, -1, -1], np.int8)
    weights = ShiftedExponentials(y, np.zeros(4), ONCE)
    weights.advance(0.5, h, lambda: 0.5 * h, voter)
    assert (weights.v != 1.0).tolist() == (h == side).tolist()
    assert weights.at.shift == -0.5 * side


def test_an_enormous_step_does_not_overflow():
    y, h = np.array([1, -1, 1], np.int8), np.array([1, 1, -1], np.int8)
    for alpha, expected in ((2000.0, [0.0, 1.0, 1.0]), (-2000.0, [1.0, 0.0, 0.0])):
        weights = ShiftedExponentials(y, np.zeros(3), ONCE)
        weights.advance(alpha, h, lambda alpha=alpha: alpha * h, UP)
        assert weights.w.tolist() == expected


def test_a_column_of_weights_is_the_same_until_the_next_vote():
    y, h = np.array([1, -1, 1, 1], np.int8), np.array([1, -1, -1, -1], np.int8)
    weights = ShiftedExponentials(y, np.zeros(4), ONCE)
    first = weights.w
    assert weights.w is first
    weights.advance(0.5, h, lambda: 0.5 * h, UP)
    np.testing.assert_allclose(weights.w / weights.w[2], np.exp(-0.5 * y * h - 0.5), rtol=1e-15)


class Rows(KeptWeights):
    """Some rows that a rule has seen no votes on."""

    slots, n_rows = SimpleNamespace(n_cuts=3), 2

    def new_weights(self, shifts):
        return ShiftedExponentials(np.array([1, -1], np.int8), np.zeros(2), ONCE)


def test_tasks_of_other_weights_stay_as_they_are():
    rows, y = Rows(), np.array([1, -1], np.int8)
    assert type(rows.shifted(Task("edge", rows.exponentials(), y))) is Task  # not asked to
    rows.keep_shifted(True)
    other = Task("edge", np.ones(2), y)
    assert rows.shifted(other) is other  # before the weights are asked for
    mine = rows.shifted(Task("edge", rows.exponentials(), y))
    assert isinstance(mine, ShiftedTask)
    assert mine.v is rows.weights().v
    assert rows.shifted(other) is other


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_errors_are_sums_of_the_wrong_rows(up):
    rng = np.random.default_rng(1)
    v, y, above = rng.integers(1, 2**50, 60), rng.choice([-1, 1], 60), rng.random(60) < 0.4
    below_sums, above_sums = ([int(v[of].sum()), int((v * y)[of].sum())] for of in (~above, above))
    numbers = np.array([1.5, 0.75, 1.0, -1.0])
    whole, wrong = ShiftedEdge().errors(below_sums, above_sums, up, numbers)
    weight = np.where(y > 0, 0.75, 1.5) * v
    assert whole == pytest.approx(weight.sum(), rel=1e-15)
    assert wrong == pytest.approx(weight[np.where(above, up, -up) != y].sum(), rel=1e-15)
    perfect = [int(v[y < 0].sum()), -int(v[y < 0].sum())], [int(v[y > 0].sum()), int(v[y > 0].sum())]
    assert ShiftedEdge().errors(*perfect, 1.0, numbers)[1] == 0.0


def test_imbalanced_classes_drift_without_loss():
    """Scores of a rare class go far: the shift is given to the rows' scores before sums of both labels grow apart."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 6))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=3000) > 3.5
    assert y.mean() < 0.05
    model = AdaBoostClassifier(n_estimators=150).fit(X, y)
    F, errors, signs = np.zeros(3000), [], np.where(y, 1.0, -1.0)
    for voter, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        w, h = np.exp(-signs * F), voter.predict(X)
        errors.append(w[h != signs].sum() / w.sum())
        assert alpha == pytest.approx(0.5 * np.log((1 - errors[-1]) / errors[-1]), rel=1e-9)
        F += alpha * h
    np.testing.assert_allclose(model.history_["error"], errors, rtol=1e-11)


def test_of_very_many_cuts_one_factor_is_kept():
    rows = Rows()
    for n_cuts, n_rows, shifts in (
        (MOST_CUTS, 5000, True),
        (MOST_CUTS + 1, 5000, False),
        (2 * MOST_CUTS, 500, True),
        (2 * MOST_CUTS + 1, 500, False),
    ):
        rows.slots, rows.n_rows = SimpleNamespace(n_cuts=n_cuts), n_rows
        rows.keep_shifted(True)
        task = rows.shifted(Task("edge", rows.exponentials(), np.array([1, -1], np.int8)))
        assert isinstance(task, ShiftedTask) == shifts


@dataclass(frozen=True)
class Curious(AdaBoost):
    """AdaBoost whose rule looks at the weights before the first round, and at their sum in every step."""

    def begin(self, s):
        super().begin(s)
        s.own.seen = [s.total(s.exponentials()) / s.n]

    def plain(self, s):
        return super().plain(s)

    def step(self, s, task, h):
        s.own.seen.append(s.total(twice_the_weight) / s.total(weight_sum))
        return super().step(s, task, h)


@formula
def twice_the_weight(w: float) -> float:
    return 2.0 * w


def test_a_plain_rule_may_look_at_its_weights(monkeypatch):
    """Weights that were kept before the engine knew of the rule's rounds are forgotten; each round's are its own."""
    table, masses, codes = sample(0, 2, "plain")
    here = CpuRows(Curious(), table, masses, codes, 2)
    there = parted(Curious(), table, masses, codes, 2, np.arange(len(codes)) % 3)
    monkeypatch.setattr(CpuRows, "fused", lambda *args: None)
    trainings = [Training(Curious(), DecisionStump(), rows, horizon=8) for rows in (here, there)]
    for training in trainings:
        assert training.rows.exponential_weights is None
        training.run(8)
        assert training.state.own.seen == [1.0, *[pytest.approx(2.0, rel=1e-14)] * 8]
    one, two = ([(repr(r.voter), r.alpha) for r in training.state.rounds] for training in trainings)
    assert one == two


def test_a_stump_without_an_error_comes_first():
    """Whatever little a row weighs that another, earlier stump gets wrong."""
    y = np.arange(20) % 2 == 0
    X = np.stack([y, y], axis=1).astype(float)
    X[3, 0] = 1.0
    weight = np.where(np.arange(20) == 3, 1e-11, 1.0)
    for n_jobs in (1, AtOnce(2)):
        for watch in (None, lambda state: None):
            model = AdaBoostClassifier(n_jobs=n_jobs, callbacks=watch).fit(X, y, weight)
            assert model.stop_reason_.startswith("perfect")
            assert model.estimators_[0].feature == 1
