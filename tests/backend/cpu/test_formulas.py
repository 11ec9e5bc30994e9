"""Formulas over rows in memory against plain Python loops."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum

import numpy as np
import pytest

from boostlab.backend.cpu.kernels.workspace import BLOCK
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.rows import MANY, CpuRows
from boostlab.backend.cpu.scores import scores_after
from boostlab.contract import Row, Rule, Step, Task, formula, largest_over_labels, sum_over_labels
from boostlab.contract import exp as row_exp
from boostlab.contract.formula import n_values, parameters
from boostlab.contract.sums import edge_sums, error_sums, errors_of_labels
from boostlab.data.table import Table


@formula
def weight(y: float, F: float, left: float, c: float) -> float:
    return exp(-((y * F + left) ** 2) / c)


@formula
def log_weight(y: float, F: float) -> float:
    return -y * F


@formula
def moments(y: float, F: float, shift: float) -> tuple[float, float, float]:
    return y * F, abs(F), weight(y, F, shift, 2.0)


@formula
def looked_up(F: float, table: float) -> float:
    return table[int(F > 0)]


@formula
def grown(V: float, y: float, by: float) -> float:
    return V + by * y


@formula
def of_class(F: float, k: int) -> float:
    return F[k]


@formula
def log_weight_of_label(F: float, k: int, l: int, scale: float) -> float:
    return scale * (F[l] - F[k])


@formula
def two_of_label(F: float, h: float, k: int, l: int, scale: float) -> tuple[float, float]:
    return F[l] + scale * h[l] if l == k else F[k], row_exp(F[l]) * h[k]


@sum_over_labels
def partition(F: float, top: float, l: int) -> float:
    return row_exp(F[l] - top)


@largest_over_labels
def top(F: float, l: int, shift: float) -> float:
    return F[l] - shift * l


class OneAClass(Rule):
    n_outputs = "class"


def held(n=200, mass=None, threads=1, rule=None, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, n_classes, n)
    rows = CpuRows(rule or Rule(), Table(np.zeros((n, 1)), threads=threads), Masses(n, mass), k, n_classes)
    rows.scores.own[...] = rng.normal(size=rows.scores.own.shape)
    return rows


def test_a_formula_says_what_it_takes_and_gives():
    assert parameters(weight) == ("y", "F", "left", "c")
    assert n_values(weight) == 1
    assert n_values(moments) == 3


def test_each_is_the_formula_on_every_row():
    rows = held()
    wanted = [weight(y, F, 0.3, 2.0) for y, F in zip(rows.y.tolist(), rows.scores.now.tolist(), strict=True)]
    np.testing.assert_allclose(rows.each(weight, 0.3, 2), wanted, rtol=1e-15)


@pytest.mark.parametrize("kind", ["once", "counts", "real"])
def test_total_is_the_sum_with_masses(kind):
    rng = np.random.default_rng(1)
    mass = {"once": None, "counts": rng.integers(1, 5, 200).astype(float), "real": rng.exponential(size=200)}[kind]
    rows = held(mass=mass)
    pairs = list(zip(rows.y.tolist(), rows.scores.now.tolist(), rows.masses.masses.tolist(), strict=True))
    found = rows.total(moments, 0.5)
    for v in range(3):
        assert found[v] == pytest.approx(fsum(m * moments(y, F, 0.5)[v] for y, F, m in pairs), rel=1e-13)


def test_extremes_and_scaled_weights():
    rows = held()
    logs = -rows.y * rows.scores.now
    assert rows.largest(log_weight) == logs.max()
    assert rows.smallest(log_weight) == logs.min()
    w = rows.weigh(log_weight)
    assert w.max() == 1.0
    np.testing.assert_allclose(w, np.exp(logs - logs.max()), rtol=1e-15)


def test_a_number_may_be_a_small_table():
    rows = held()
    found = rows.each(looked_up, np.array([10.0, 20.0]))
    np.testing.assert_array_equal(found, np.where(rows.scores.now > 0, 20.0, 10.0))


def test_a_rule_keeps_columns_of_its_own():
    rows = held()
    rows.keep("V", 1.0)
    rows.keep("V", grown, 0.5)
    rows.keep("V", grown, 0.25)
    np.testing.assert_array_equal(rows.column("V"), 1.0 + 0.75 * rows.y)


def test_one_score_a_class():
    rows = held(rule=OneAClass(), n_classes=3)
    F = rows.scores.now
    np.testing.assert_array_equal(rows.each(of_class), F[np.arange(200), rows.k])


@pytest.mark.parametrize("mass", [None, 3.0, 0.7])
def test_a_formula_of_rows_and_labels(mass):
    rows = held(rule=OneAClass(), n_classes=3, mass=None if mass is None else np.full(200, mass))
    F = rows.scores.now
    wanted = 0.5 * (F - F[np.arange(200), rows.k][:, None])
    np.testing.assert_array_equal(rows.each(log_weight_of_label, 0.5), wanted)
    assert rows.total(log_weight_of_label, 0.5) == pytest.approx(wanted.sum() * (mass or 1.0), rel=1e-12)
    assert rows.largest(log_weight_of_label, 0.5) == wanted.max()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("n", "n_classes"), [(1, 3), (BLOCK, 4), (2 * BLOCK + 77, 10), (3 * BLOCK + 1, 2)])
def test_values_of_rows_and_labels_are_those_of_plain_loops(n, n_classes, threads):
    rows = held(n, None, threads, OneAClass(), n_classes)
    h = np.random.default_rng(2).choice(np.array([-1, 1], np.int8), (n, n_classes))
    F, k = rows.scores.now.tolist(), rows.k.tolist()
    for votes in (h, h.astype(float), np.asfortranarray(h)):  # of any type and layout
        rows.look_at(None, votes, {})
        wanted = [
            [two_of_label(f, v, c, l, 0.3) for l in range(n_classes)] for f, v, c in zip(F, h.tolist(), k, strict=True)
        ]
        np.testing.assert_array_equal(np.moveaxis(rows.each(two_of_label, 0.3), 0, 2), wanted)
        for l, columns in enumerate(rows.each_label(two_of_label, 0.3)):
            np.testing.assert_array_equal(np.stack(columns, axis=1), np.array(wanted)[:, l])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("n", "n_classes"), [(1, 3), (2 * BLOCK + 77, 10)])
def test_labels_are_summed_in_their_order(n, n_classes, threads):
    rows = held(n, None, threads, OneAClass(), n_classes)
    F = rows.scores.now.tolist()
    rows.keep("top", top, 0.25)
    tops = [max(f - 0.25 * l for l, f in enumerate(of)) for of in F]
    assert rows.column("top").tolist() == tops
    sums = [0.0] * n
    for l in range(n_classes):
        sums = [s + row_exp(of[l] - t) for s, of, t in zip(sums, F, tops, strict=True)]
    assert rows.each(partition).tolist() == sums
    assert rows.total(partition) == rows.masses.total(np.array(sums))
    assert rows.largest(partition) == max(sums)


@formula
def halfway(F: Row, h: Row, alpha: float, beta: float, l: int) -> float:
    return F[l] + alpha * (h[l] - beta * F[l])


@dataclass(frozen=True)
class Halfway(OneAClass):
    beta: float = 0.5
    joins = staticmethod(halfway)


@pytest.mark.parametrize("threads", [1, 3])
def test_votes_join_by_a_formula_of_rows_and_labels_in_training_and_elsewhere(threads):
    n = 2 * BLOCK + 77
    rows = held(n, None, threads, Halfway(0.25), 3)
    F, h = rows.scores.F, np.random.default_rng(2).normal(size=(n, 3))
    elsewhere = scores_after(rows.rule, F, 0.7, h, threads)
    rows.advance(Step(0.7), h)
    np.testing.assert_array_equal(rows.scores.now, F + 0.7 * (h - 0.25 * F))
    np.testing.assert_array_equal(elsewhere, rows.scores.now)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["once", "counts", "real"])
def test_sums_of_many_rows_and_labels(kind, threads):
    n = MANY // 2 + 5  # several blocks
    rng = np.random.default_rng(1)
    mass = {"once": None, "counts": rng.integers(1, 5, n).astype(float), "real": rng.exponential(size=n)}[kind]
    rows = held(n, mass, threads, OneAClass(), 3)
    for scale in (0.5, 0.5, 1e9):
        values = rows.each(log_weight_of_label, scale)
        assert rows.total(log_weight_of_label, scale) == rows.masses.total(np.ascontiguousarray(values))
        assert rows.total(log_weight_of_label, scale) == rows.masses.total(values)  # whatever their layout
        assert rows.largest(log_weight_of_label, scale) == values.max()
        assert rows.smallest(log_weight_of_label, scale) == values.min()
    w, shift = rows.scaled_exp(log_weight_of_label, 0.5)
    assert shift == rows.largest(log_weight_of_label, 0.5)
    again, _ = rows.scaled_exp(np.ascontiguousarray(rows.each(log_weight_of_label, 0.5)))
    np.testing.assert_array_equal(w, again)


@sum_over_labels
def sum_of_F(F: Row, l: int) -> float:
    return F[l]


@largest_over_labels
def top_of_F(F: Row, l: int) -> float:
    return F[l]


@formula
def share_of_label(F: Row, whole: float, by: float, most: float, l: int) -> float:
    return by * F[l] / whole - most


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sum_over_labels_stands_for_a_number(threads):
    rows = held(3 * BLOCK + 5, None, threads, OneAClass(), 3)
    whole, most = rows.each(sum_of_F), rows.each(top_of_F)
    found, F = rows.each(share_of_label, sum_of_F, 2.0, top_of_F), rows.scores.now
    np.testing.assert_array_equal(found, 2.0 * F / whole[:, None] - most[:, None])
    np.testing.assert_array_equal(rows.each(share_of_label, 1.0, 2.0, 0.0), 2.0 * F / 1.0 - 0.0)


def test_columns_side_by_side_are_copied_unless_they_are_rows_of_one_array():
    rows = held(rule=OneAClass(), n_classes=3)
    table = np.random.default_rng(0).normal(size=(3, 200))
    assert rows.side_by_side(list(table)).base is table
    for columns in ([table[0], table[2], table[1]], [table[0], table[1]], [*table[:2], table[2].copy()]):
        made = rows.side_by_side(columns)
        np.testing.assert_array_equal(made, np.stack(columns, axis=1))
        assert not np.shares_memory(made, table)


def test_what_the_learner_knows_is_not_summed_again():
    rows = held()
    rows.known = {error_sums: (5.0, 1.0)}
    assert rows.total(error_sums) == (5.0, 1.0)
    rows.look_at(Task("edge", np.ones(200), rows.y), rows.y, errors_of_labels(5.0, 1.0))
    assert rows.total(error_sums) == (5.0, 1.0)
    assert rows.total(edge_sums) == (5.0, 3.0)


def test_the_same_bits_for_any_number_of_threads():
    found = [held(120_000, np.linspace(0.5, 2, 120_000), threads).total(moments, 0.5) for threads in (1, 2, 3)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("numbers", [(), (1.0,), (1.0, 2.0, 3.0)])
def test_numbers_that_are_missing_or_too_many(numbers):
    with pytest.raises(TypeError, match=r"weight takes 2 numbers \(left, c\), not"):
        held().each(weight, *numbers)


def test_a_sum_that_is_not_finite_is_refused():
    with pytest.raises(ArithmeticError, match="NaN or infinity"):
        held().total(weight, float("nan"), 1.0)
