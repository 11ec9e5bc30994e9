"""What the members of a team do in a round of rows and labels, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu.formulas import shown
from boostlab.backend.cpu.kernels import label_rounds as of
from boostlab.backend.cpu.kernels.shared_sums import settle_sums
from boostlab.backend.cpu.kernels.sum_powers import KNOWN
from boostlab.backend.cpu.masses import Masses
from boostlab.contract import AGAIN, TAKEN, UNUSUAL
from boostlab.contract.slots import Slots
from boostlab.data.table import Bins, Table
from boostlab.learners.labelwise import Factored, Hamming

CRITERIA = {"hamming": (Hamming(), np.array([-1.0])), "factored": (Factored(), np.empty(0))}


class Team:
    """A search of weights and targets by some members."""

    def __init__(self, X, labels, members, bins=255):
        rows = Masses(len(X))
        self.codes = Table.of(X, Bins.fit(X, rows, bins, 1, {}), 1).codes
        masses = self.codes.sums_of_equals(rows.unit)
        self.slots = Slots(self.codes.starts, Bins.fit(X, rows, bins, 1, {}), masses)
        self.rows, self.labels, self.members, n = rows, labels, members, len(X)
        self.ints = np.zeros((members, of.INTEGERS), np.int64)
        self.q, self.tops = np.empty((labels, n), np.int64), np.empty(members)
        self.both = np.empty((members, of.POWERS, 1, 2), np.int64)
        self.found = np.empty((members, of.told_of(labels)), np.int64)
        self.step = of.together(labels)
        self.sums = np.empty((members, (labels + labels % 2) * self.codes.n_slots), np.int64)
        self.hist = np.empty((labels, self.codes.n_slots), np.int64)
        self.totals, self.worth = np.empty((members, labels), np.int64), np.empty((members, 2 * labels))
        self.votes = np.empty((labels, n))
        self.finds, self.leaves = np.empty((members, of.LINE), np.int64), np.empty((members, 2 * labels))
        self.powers, self.numbers = np.zeros((members, of.POWERS, 1), np.int64), np.empty((members, 1))
        self.known = np.zeros((members, 1, KNOWN, 3), np.int64), np.zeros((members, 1), np.int64)

    def settle(self, weight, target):
        """Round until all is settled; return what was said last, and how often rows were rounded."""
        words, base = self.codes.read
        places = words, base * np.uint64(self.step), self.codes.starts
        looks, n = 0, len(weight)
        while True:
            what = shown(weight), shown(target), np.zeros(1, bool), self.powers, 0, n
            of.round_labels.in_so_many(self.members, *what, self.ints, self.q, self.tops, self.both, self.found)
            looks += 1
            settled = float(self.q.size), 0, self.powers, *self.known, self.numbers
            said = self._said(settle_sums, self.tops[:, None], self.both, *settled)
            if said != AGAIN:
                noted = self.tops, self.found, self.powers, self.ints, self.totals, self.worth
                self.ints[:, of.SAID] = TAKEN
                add = of.add_labels(self.codes.cells.shape[2], self.step)
                add.in_so_many(self.members, *places, self.q, 0, n, *noted, self.sums)
                said = self._one_answer()
            if said != AGAIN:
                return said, looks

    def _said(self, kernel, *given):
        """Return what all members say."""
        self.ints[:, of.SAID] = TAKEN
        kernel.in_so_many(self.members, *given, self.ints)
        return self._one_answer()

    def _one_answer(self):
        (said,) = set(self.ints[:, of.SAID].tolist())  # all members conclude the same
        return said

    def search(self, name):
        """Search the histogram; return what was said."""
        criterion, numbers = CRITERIA[name]
        slots, d = self.slots, len(self.slots.n_bins)
        given = 0, d, self.ints, self.totals, self.worth, self.sums, self.hist, self.finds
        search = of.search_of_labels(criterion.cost, self.step)
        search.in_so_many(self.members, slots.starts, slots.possible, slots.possible_below, numbers, *given)
        told = self.finds, self.hist, 0, self.rows.n_rows, self.ints, self.totals, self.worth, self.leaves, self.votes
        vote = of.votes_of_labels(criterion.says_of_label)
        vote.in_so_many(self.members, self.codes.cells, slots.starts, slots.n_bins, numbers, *told)
        return self._one_answer()


def histogram(codes, q):
    """Sum the integers of every channel per slot."""
    slots = np.zeros((len(q), codes.n_slots), np.int64)
    for j in range(len(codes.starts) - 1):
        for c in range(len(q)):
            np.add.at(slots[c], codes.starts[j] + codes.column(j), q[c])
    return slots


def cheapest(team, criterion, numbers):
    """Look at all cuts, one after the other; return (column, cut, side)."""
    best, found, slots = np.inf, None, team.slots
    hist, total, unit = histogram(team.codes, team.q), team.q.sum(axis=1), team.worth[0, 0]
    for j, starts in enumerate(slots.starts[:-1]):
        for s in range(starts, slots.starts[j + 1] - 1):
            for side in (0, 1):
                if (slots.possible, slots.possible_below)[side][s]:
                    below = hist[:, starts : s + 1].sum(axis=1) + side * hist[:, slots.starts[j + 1] - 1]
                    cost = criterion.cost(below * unit, (total - below) * unit, team.worth[0, team.labels :], numbers)
                    if cost < best:
                        best, found = cost, (j, s - starts, side)
    return found


def problem(labels, seed=0, n=500, kind="eight"):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 300 if kind == "four" else 6, (n, 5)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.random((n, labels)), rng.choice([-1.0, 1.0], (n, labels)), rng


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("kind", ["eight", "four"])
@pytest.mark.parametrize("labels", [2, 3, 4, 5])
def test_channels_are_rounded_as_sums_of_all_rows_are(labels, kind, members):
    X, weight, target, _ = problem(labels, kind=kind)
    team = Team(X, labels, members, bins=1000)
    for scale in (1.0, 0.9, 1e-9):  # powers of two that are not known, that fit, that are far off
        said, looks = team.settle(scale * weight, target)
        q, power, _, _ = team.rows.whole(scale * weight * target)
        assert said == TAKEN
        assert looks == 1 or scale != 0.9
        assert np.array_equal(team.q, q.T)
        assert (team.totals == q.sum(axis=0)).all()
        assert (team.worth[:, :labels] == 2.0**-power).all()
        assert (team.worth[:, labels:] == np.ldexp(np.abs(q).sum(axis=0).astype(float), -power)).all()
        assert team.search("hamming") == TAKEN
        assert np.array_equal(team.hist, histogram(team.codes, team.q))


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("second", ["opposite", "the same", "another"])
def test_two_labels_that_mirror_each_other_are_summed_once(second, members):
    X, weight, target, _ = problem(2)
    if second != "another":
        weight[:, 1], target[:, 1] = weight[:, 0], target[:, 0] * (-1.0 if second == "opposite" else 1.0)
    team = Team(X, 2, members)
    assert team.settle(weight, target)[0] == TAKEN
    assert (team.ints[:, of.MIRRORED] == (second != "another")).all()
    assert team.search("hamming") == TAKEN
    assert np.array_equal(team.hist, histogram(team.codes, team.q))


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("labels", [2, 3])
def test_the_cheapest_cut_and_what_its_sides_say(labels, name, members):
    for seed in range(5):
        X, weight, target, _ = problem(labels, seed)
        (criterion, numbers), team = CRITERIA[name], Team(X, labels, members)
        team.settle(weight, target)
        assert team.search(name) == TAKEN
        j, cut, side = cheapest(team, criterion, numbers)
        assert (team.ints[:, of.FEATURE : of.SIDE + 1] == [j, cut, side]).all()
        code, last = team.codes.column(j), team.slots.n_bins[j]
        low = np.where(code == last, side == 1, code <= cut)
        unit = team.worth[0, 0]
        below, above = (team.q[:, rows].sum(axis=1) * unit for rows in (low, ~low))
        leaves = criterion.leaves(below, above, team.worth[0, labels:], numbers)
        assert (team.leaves == np.concatenate(leaves)).all()
        assert np.array_equal(team.votes, np.where(low, leaves[0][:, None], leaves[1][:, None]))


@pytest.mark.parametrize("what", ["nothing", "NaN", "huge", "tiny"])
def test_what_cannot_be_rounded_is_unusual(what):
    X, weight, target, _ = problem(3)
    weight *= {"nothing": 0.0, "NaN": np.nan, "huge": 2.0**200, "tiny": 2.0**-200}[what]
    assert Team(X, 3, 2).settle(weight, target)[0] == UNUSUAL


def test_where_no_column_can_be_cut_it_is_unusual():
    _, weight, target, _ = problem(3, n=50)
    team = Team(np.ones((50, 2)), 3, 1)
    team.settle(weight, target)
    assert team.search("hamming") == UNUSUAL
