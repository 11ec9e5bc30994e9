"""Many usual rounds of a rule with a weight for every row and label in one compiled call, by one thread or a team.

As in `usual_rounds` a round is a list of prepared calls, and so this loop is compiled once for all rules: every member
makes each call for its own rows, or columns, with integers and numbers of its own.  Where what the members found comes
to one, all meet first, and each settles for itself what it comes to.  The bits are those of the general loop.  An
unusual round is left to it: whatever says so has changed nothing that the general loop looks at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import admit, part
from boostlab.backend.cpu.functions import bits, from_bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.label_channels import round_channels
from boostlab.backend.cpu.kernels.prepared import ADDRESS, give, make
from boostlab.backend.cpu.kernels.small_table import EXTREME
from boostlab.backend.cpu.kernels.spin_barrier import meet
from boostlab.backend.cpu.kernels.split_search import search_channels, search_pairs
from boostlab.backend.cpu.kernels.whole_histogram import adding_rows, held_by
from boostlab.backend.cpu.kernels.workspace import BLOCK, block_of_doubles, clear, integers, last_at_most
from boostlab.contract.usual import AGAIN, TAKEN, UNUSUAL

Array = np.ndarray[Any, Any]

# Prepared calls, in their order.  A formula that is summed is called by the plan behind it only, and has no address.
TASK, ROUND, SETTLE_ROUND, ADD, SEARCH, VOTE, LOST, TOTAL_LOST, SETTLE_LOST, STEP = range(10)
LOGARITHMS, LARGEST, SETTLE_LARGEST, EXPONENTIALS, TOTAL, SETTLE_TOTAL, CHECK, ADVANCE, CALLS = range(10, 19)

# Places in a member's integers: what a call said; of two labels, whether one has the other's integers or minus those
# (then only the first is summed), and which; the power of two of the channels' integers; and what the search found.
SAID, MIRRORED, SIGN, AT_POWER = of.SAID, 3, 4, 5
FEATURE, CUT, SIDE, INTEGERS = 8, 9, 10, 16  # whole cache lines, because every member has its own
LINE = 8  # numbers of a cache line
POWERS = 2  # of two, that sums are made at in one pass: the second fits, as the first one tells (see `exact_sums`)


_round_rows = part(round_channels.function)


def told_of(labels: int) -> int:
    """Return how many integers `round_channels` tells of so many labels' channels."""
    return 2 * (POWERS + labels + 1)


@in_parts
def round_labels(
    weight: Array,
    target: Array,
    sizes: Array,
    all_powers: Array,
    first: int,
    last: int,
    me: int,
    ints: Array,
    q: Array,
    tops: Array,
    sums: Array,
    found: Array,
) -> None:
    """Round the rows first <= i < last as `round_channels` does; copy the sums for each power to where they settle."""
    clear(found[me])
    ints[me, AT_POWER] = all_powers[me, POWERS - 1, 0]
    _round_rows(weight, target, sizes, all_powers[me], first, last, me, q, tops, found)
    for k in range(POWERS):
        sums[me, k, 0, 0], sums[me, k, 0, 1] = found[me, 2 * k], found[me, 2 * k + 1]


@part
def note_labels(tops: Array, found: Array, ints: Array, totals: Array, worth: Array) -> int:
    """Note what the integers of all rows sum to, and what a unit and all magnitudes are worth, for each label.

    Return whether all is as usual: some integer is not 0, and weights are not extreme.
    """
    labels, top, unit, whole = totals.size, 0.0, math.ldexp(1.0, -ints[AT_POWER]), integers(2 * totals.size + 2)
    clear(whole)
    for p in range(found.shape[0]):
        top = max(top, tops[p]) if tops[p] == tops[p] and top == top else np.nan
        for c in range(whole.size):
            whole[c] += found[p, 2 * POWERS + c]
    differ, not_opposite = whole[2 * labels] > 0, whole[2 * labels + 1] > 0
    ints[MIRRORED], ints[SIGN] = labels == 2 and not (differ and not_opposite), -1 if differ else 1
    for c in range(labels):
        totals[c], worth[c], worth[labels + c] = whole[2 * c], unit, float(whole[2 * c + 1]) * unit
    return TAKEN if 0.0 < top < np.inf and abs(math.frexp(top)[1]) < EXTREME else UNUSUAL


def together(labels: int) -> int:
    """Return how many labels are summed at once: two, but of two labels one, which mostly mirrors the other."""
    return 1 if labels == 2 else 2


@cache
def add_labels(per_word: int, step: int) -> Any:
    """Return the compiled histogram of so many channels at once, on codes of which a word holds so many."""
    of_rows = "one" if step == 1 else "two"
    add_rows, held = adding_rows(per_word, of_rows), held_by(of_rows)

    @in_parts
    def add(
        words: Array,
        bases: Array,
        starts: Array,
        q: Array,
        first: int,
        last: int,
        me: int,
        tops: Array,
        found: Array,
        all_powers: Array,
        all_ints: Array,
        totals: Array,
        worth: Array,
        sums: Array,
    ) -> None:
        """Note what all members found, and write the sums of the channels q of the rows first <= i < last.

        Where another power of two fits than rows were rounded at, say so.  Channels that are summed at once lie side by
        side in a slot; a last one that is alone is summed twice.
        """
        ints = all_ints[me]
        if all_powers[me, POWERS - 1, 0] != ints[AT_POWER]:
            ints[SAID] = AGAIN
            return
        ints[SAID] = note_labels(tops, found, ints, totals[me], worth[me])
        d, at, mine = starts.size - 1, (0, words.shape[0], first, last), sums[me]
        n_slots, values, channels = starts[d], integers(held), 1 if ints[MIRRORED] == 1 else q.shape[0]
        for c in range(0, channels, step):
            out = mine[c * n_slots : (c + step) * n_slots]
            clear(out)
            add_rows(words, bases, d, q[c], q[min(c + step, channels) - 1], at, values, out)

    return add


@part
def add_up_labels(sums: Array, begin: int, end: int, step: int, mirrored: bool, sign: int, slots: Array) -> None:
    """Add the members' sums to the slots begin <= s < end of every channel, of which so many lie side by side."""
    for c in range(1 if mirrored else slots.shape[0]):
        mine, at = slots[c, begin:end], (c - c % step) * slots.shape[1] + c % step + step * begin
        clear(mine)
        for p in range(sums.shape[0]):
            other = sums[p, at:]
            for s in range(mine.size):
                mine[s] += other[step * s]
    if mirrored:
        for s in range(begin, end):
            slots[1, s] = sign * slots[0, s]


@cache
def search_of_labels(cost: Callable[..., Any], step: int) -> Any:
    """Return the search of some columns for a cost(left, right, gross, numbers) of labels that are so many at once."""
    stamp, cheapest = admit(cost), search_pairs if step == 1 else search_channels  # one at a time: of two labels

    @in_parts
    def search(
        starts: Array,
        possible: Array,
        possible_below: Array,
        numbers: Array,
        first: int,
        last: int,
        me: int,
        ints: Array,
        totals: Array,
        worth: Array,
        sums: Array,
        slots: Array,
        finds: Array,
    ) -> None:
        """Note (slot, side, cost) of the cheapest cut of some columns; the slot is negative if there is none."""
        mirrored, channels, mine = ints[me, MIRRORED] == 1, slots.shape[0], finds[me]
        add_up_labels(sums, starts[first], starts[last], step, mirrored, ints[me, SIGN], slots)
        scale, gross = worth[me, :channels], worth[me, channels:]
        given = slots, starts, possible, possible_below, totals[me], scale, gross, numbers, 0.0
        at, side, price = cheapest(cost, *given, first, last)
        mine[0], mine[1], mine[2] = at if at >= 0 else stamp, side, bits(price)

    return search


@part
def vote_on_labels(codes: Array, cut: int, gone: int, missing: float, leaves: Array, out: Array) -> None:
    """Write what a stump says of the labels of some rows, given their codes; leaves are those below, and above.

    Rows with the code `gone` miss a value, and are below where `missing` is 0, above where it is 1.
    """
    labels, sides = out.shape[0], block_of_doubles()
    for start in range(0, codes.size, BLOCK):  # codes are read once for all labels
        mine = codes[start : min(start + BLOCK, codes.size)]
        for i in range(mine.size):
            code = np.int64(mine[i])
            sides[i] = missing if code == gone else 0.0 if code <= cut else 1.0
        for label in range(labels):
            low, high, to = leaves[label], leaves[labels + label], out[label, start : start + mine.size]
            for i in range(to.size):
                to[i] = low if sides[i] == 0.0 else high


@cache
def votes_of_labels(says: Callable[..., Any]) -> Any:
    """Return what settles which stump is the cheapest and votes, given what both sides of a cut say of a label."""
    stamp = admit(says)

    @in_parts
    def vote(
        cells: Array,
        starts: Array,
        n_bins: Array,
        numbers: Array,
        finds: Array,
        slots: Array,
        first: int,
        last: int,
        me: int,
        all_ints: Array,
        all_totals: Array,
        all_worth: Array,
        all_leaves: Array,
        out: Array,
    ) -> None:
        """Settle which member's stump is the cheapest, of equals the first, and what its sides say of every label.

        Write its votes on the rows first <= i < last to `out`, which has a row a label.
        """
        ints, leaves, best, d = all_ints[me], all_leaves[me], max(-1, stamp), cells.shape[2]  # the stamp is negative
        for p in range(finds.shape[0]):
            if finds[p, 0] >= 0 and (best < 0 or from_bits(finds[p, 2]) < from_bits(finds[best, 2])):
                best = p
        if best < 0:
            ints[SAID] = UNUSUAL
            return
        at, side, labels = finds[best, 0], finds[best, 1], slots.shape[0]
        j = last_at_most(starts, at)
        ints[FEATURE], ints[CUT], ints[SIDE] = j, at - starts[j], side
        for c in range(labels):
            below, unit = side * slots[c, starts[j + 1] - 1], all_worth[me, c]
            for s in range(starts[j], at + 1):
                below += slots[c, s]
            leaves[c], leaves[labels + c] = says(below * unit, (all_totals[me, c] - below) * unit, numbers)
        missing = 0.0 if side == 1 else 1.0
        vote_on_labels(cells[j // d, first:last, j % d], ints[CUT], n_bins[j], missing, leaves, out[:, first:last])

    return vote


@in_parts
def settle_largest(tops: Array, at: int, me: int, numbers: Array) -> None:
    """Write the largest of what members found to a member's numbers."""
    top = -np.inf
    for p in range(tops.shape[0]):
        top = max(top, tops[p, 0]) if tops[p, 0] == tops[p, 0] and top == top else np.nan
    numbers[me, at] = top


@part
def looks_at_all(which: int) -> bool:
    """Return whether a call looks at what all members have found."""
    return which in (SETTLE_ROUND, SEARCH, VOTE, SETTLE_LOST, SETTLE_LARGEST, SETTLE_TOTAL)


@in_parts
def label_rounds(
    me: int,
    team: Array,
    calls: Array,
    all_ints: Array,
    all_numbers: Array,
    all_leaves: Array,
    places: Array,
    leaves: Array,
    told: Array,
) -> int:
    """Take up to so many rounds as `told` can hold; end before an unusual one.  Return how many.

    Arrays whose names begin with `all`, and calls, have a row for every member of the team.

    Parameters
    ----------
    me, team : the member's number, and the numbers that members meet by (see `spin_barrier`)
    calls : what is called, a row each
    all_ints, all_numbers, all_leaves : what calls read and write
    places, leaves, told : what rounds leave: the stump's column, cut and side of missing values; what its sides say of
        every label; the numbers
    """
    mine, ints, numbers, size = calls[me], all_ints[me], all_numbers[me], calls.shape[0]
    for done in range(told.shape[0]):
        which, again = 0, 0
        while which < CALLS:  # one place that calls: every other would be compiled, too
            if size > 1 and looks_at_all(which) and meet(team, size):
                return done
            give(mine, which, numbers)
            ints[SAID] = TAKEN
            if mine[which, ADDRESS] != 0 and not make(mine, which, me, size):
                raise MemoryError
            if (ints[SAID] != TAKEN and ints[SAID] != AGAIN) or again > of.MOST_ASKED:
                return done
            if ints[SAID] == AGAIN:
                again += 1
                if size > 1 and meet(team, size):  # what others still look at is written again
                    return done
                which = ROUND if which == ADD else which - 1
            else:
                which += 1
        if me == 0:
            for c in range(places.shape[1]):
                places[done, c] = ints[FEATURE + c]
            for c in range(leaves.shape[1]):
                leaves[done, c] = all_leaves[0, c]
            for c in range(told.shape[1]):
                told[done, c] = numbers[c]
    return told.shape[0]
