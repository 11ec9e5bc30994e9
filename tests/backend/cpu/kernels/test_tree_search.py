"""The cheapest cut of a node, and the most even one, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from boostlab.backend.cpu.compiling import admit
from boostlab.backend.cpu.kernels import tree_kinds as kinds
from boostlab.backend.cpu.kernels import tree_search as search
from boostlab.contract.criterion import explains
from boostlab.learners.criteria import CRITERIA, gini, squares, z

WAYS = [njit(search.put_together), njit(search.converted)]


@given(x=st.integers(-(2**63) + 1, 2**63 - 1))
def test_integers_become_the_nearest_floats(x):
    assert [way(np.int64(x)) for way in WAYS] == [float(np.int64(x))] * 2


def node(rng, K, categories):
    """Return the integer sums of a node, and what is known of its columns, some with missing values."""
    d = int(rng.integers(1, 6))
    widths = rng.integers(2, 9, d)
    starts = np.append(0, np.cumsum(widths))
    hist = rng.integers(0, 3, (starts[-1], K)) * rng.integers(1, 5, (starts[-1], K))
    hist[rng.random(starts[-1]) < 0.3] = 0
    categorical = rng.random(d) < (0.5 if categories else 0.0)
    gaps = (rng.random(d) < 0.5) & ~categorical
    hist[starts[1:][~gaps & ~categorical] - 1] = 0
    filled = np.ones(starts[-1], bool)
    cuts = np.where(categorical | gaps, widths - 1, widths - 2)
    below = np.where(gaps, widths - 2, 0)
    return hist, search.SlotColumns(starts, cuts, below, filled, categorical)


def orders(hist, columns, mean):
    """The slots of every column in the order in which it is cut."""
    for j, categorical in enumerate(columns.categorical):
        slots = list(range(columns.starts[j], columns.starts[j + 1]))
        yield sorted(slots, key=lambda s: mean(hist[s])) if categorical else slots


def candidates(hist, columns, mean):
    """Yield every cut: its slot, its side and the sums below it."""
    for j, order in enumerate(orders(hist, columns, mean)):
        for k in range(columns.cuts[j]):
            low = hist[order[: k + 1]].sum(axis=0)
            yield columns.starts[j] + k, 0, low
            if k < columns.cuts_below[j]:
                yield columns.starts[j] + k, 1, low + hist[columns.starts[j + 1] - 1]


def run(function):
    @njit(error_model="numpy")
    def of(hist, starts, cuts, below, filled, categorical, first, last, total, unit, gross, numbers, K):
        columns = search.SlotColumns(starts, cuts, below, filled, categorical)
        buffers = search.new_buffers(20, K)
        return function(hist, columns, first, last, total, search.Scales(unit, gross, numbers), buffers)

    return of


for functions in ((gini,), (z,), (squares,), (CRITERIA["labels"].fold, CRITERIA["labels"].close)):
    admit(*functions)
SUMS = {"labels": search.sums_of_sides, "numbers": search.sums_of_numbers}
PAIRS = {
    (kind, cost): run(search.pair_search(cost, SUMS[kind], explains(cost)))
    for kind, cost in (("labels", gini), ("labels", z), ("numbers", squares))
}


@pytest.mark.parametrize(("kind", "cost"), PAIRS)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_cheapest_cut_of_two_sums(kind, cost, seed):
    """Costs one by one; equals go to the first column, then the first cut, then missing values above."""
    rng = np.random.default_rng(seed)
    hist, columns = node(rng, 2, categories=True)
    if kind == "numbers":
        hist[:, 1] *= rng.choice([-1, 1], len(hist))
        hist[hist[:, 0] == 0, 1] = 0
    pair = (lambda x: (x[0] + x[1], x[1] - x[0])) if kind == "labels" else (lambda x: (x[0], x[1]))
    unit, numbers, gross = np.array([0.25, 0.125 if kind == "numbers" else 0.25]), np.empty(0), np.ones(2)
    total = hist.sum(axis=0) + 9  # more than any column has below a cut

    def mean(sums):
        w, wt = np.array(pair(sums)) * unit
        return wt / w if w > 0 else 0.0

    def price(low):
        left, whole = np.array(pair(low)), np.array(pair(total))
        return float(cost(left * unit, (whole - left) * unit, gross, numbers))

    found = PAIRS[kind, cost](
        *(hist.reshape(-1).astype(np.int64), *columns, 0, len(columns.cuts)),
        *(pair(total.astype(np.int64)), unit, gross, numbers, 2),
    )
    wanted = (-1, 0, np.inf)
    for at, side, low in candidates(hist, columns, mean):
        if price(low) < wanted[2]:
            wanted = at, side, price(low)
    assert found == wanted


CLASSES = {name: run(search.class_search(CRITERIA[name].fold, CRITERIA[name].close)) for name in ("labels",)}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_cheapest_cut_of_classes(seed):
    """Equals go to the first column, then to missing values above, then to the first cut."""
    rng = np.random.default_rng(seed)
    hist, columns = node(rng, 4, categories=False)
    criterion, unit = CRITERIA["labels"], 0.25
    total = hist.sum(axis=0)

    def fold(sums):
        so_far = 0.0
        for x in sums:
            so_far = criterion.fold(so_far, float(x) * unit)
        return so_far

    def price(low):
        rest = total - low
        return float(criterion.close(fold(low), low.sum() * unit, fold(rest), rest.sum() * unit))

    found = CLASSES["labels"](
        *(hist.reshape(-1).astype(np.int64), *columns, 0, len(columns.cuts)),
        *(total.astype(np.int64), np.array([unit]), np.ones(1), np.empty(0), 4),
    )
    cuts = [
        (np.searchsorted(columns.starts, at, side="right"), side, at, low)
        for at, side, low in candidates(hist, columns, None)
    ]
    wanted = (-1, 0, np.inf)
    for _, side, at, low in sorted(cuts, key=lambda c: c[:3]):
        if price(low) < wanted[2]:
            wanted = at, side, price(low)
    assert found == wanted


@search.part
def arrange(hist, columns, j, unit, buffers):
    search.arrange_pairs(search.sums_of_sides, hist, columns, j, unit, buffers)


EVEN = search.even_search(kinds._both, arrange)


@njit
def most_even(hist, starts, cuts, below, filled, categorical, whole, unit):
    columns = search.SlotColumns(starts, cuts, below, filled, categorical)
    return EVEN(hist, columns, whole, search.Scales(unit, unit, unit), search.new_buffers(20, 2))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_most_even_cut(seed):
    rng = np.random.default_rng(seed)
    hist, columns = node(rng, 2, categories=True)
    whole, unit = (
        int(max(hist[a:b].sum() for a, b in zip(columns.starts, columns.starts[1:], strict=False))),
        np.ones(2),
    )
    found = most_even(hist.reshape(-1).astype(np.int64), *columns, whole, unit)
    wanted, best = (-1, 0), 0
    for at, side, low in candidates(hist, columns, lambda x: (x[1] - x[0]) / x.sum() if x.sum() > 0 else 0.0):
        if min(low.sum(), whole - low.sum()) > best:
            wanted, best = (at, side), min(low.sum(), whole - low.sum())
    assert found == wanted
