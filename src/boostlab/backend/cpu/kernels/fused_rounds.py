"""Many rounds of a plain rule in one compiled call, by one thread or by a team of them (see `spin_barrier`).

A round is: every member looks for the best stump among its own words of columns; when all have, each takes the best of
these and lets it vote on its own rows; when all have, each brings its share of the histogram up to date.  Sums are
integers, so that the result does not depend on who did what.  The histogram of a dense table is that of
`interleaved_histogram`.

Members that share the rows have a histogram each, of all changes since the call began: others only read it, so that a
cache line of it travels once a round.  Each adds up an equal share of the slots, and is waited for by those only that
search them: of 50 columns seven members have a word, whatever the team's size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import jitable, part, stamp_of
from boostlab.backend.cpu.functions import STAMP
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.fused_update import BLOCK, fewer_wrong, renew, turn
from boostlab.backend.cpu.kernels.interleaved_histogram import best_of_eight, best_of_four
from boostlab.backend.cpu.kernels.packed_codes import add_eight_interleaved, add_four_interleaved
from boostlab.backend.cpu.kernels.prefetch import soon_written
from boostlab.backend.cpu.kernels.small_table import rounded
from boostlab.backend.cpu.kernels.sparse_histogram import add_sparse, give_zeros
from boostlab.backend.cpu.kernels.spin_barrier import await_all, await_member, tell
from boostlab.backend.cpu.kernels.stump_search import LEAST, edge_search
from boostlab.backend.cpu.kernels.workspace import clear, copy, integers, signs
from boostlab.backend.cpu.scales import MOST, keeps
from boostlab.contract.criterion import SIGNED
from boostlab.functions import exp

Array = np.ndarray[Any, Any]

# What a member tells, each group on a cache line of its own, which ends with the round that it is of, from 1 on.
FEATURE, CUT, SIDE, EDGE, WORTH, FOUND = range(6)  # what it found
CHANGED, GROWN, SIZE, TURNED = range(8, 12)  # what its rows came to
ADDED = 16  # its slots are summed
FACTS = 24
LINE = 8  # integers in a cache line
STRETCH = 512  # slots that stay in the cache while all members' are added up


# -- what differs between kinds of codes: how a column is read, and what a histogram lacks ---------------------------


@part
def read_dense(read: Any, feature: int, votes: Array, last: int) -> tuple[Array, Array]:
    """Return the column's codes of all rows, and the votes in their order."""
    cells = read[0]
    return cells[feature // cells.shape[2], :, feature % cells.shape[2]], votes


@part
def read_sparse(read: Any, feature: int, votes: Array, last: int) -> tuple[Array, Array]:
    """Do the same for a sparse table: 0 stands for zero; the codes of the column that was read last are taken back."""
    _, _, row_of, code_of, by_columns, zero, code = read
    if last >= 0:
        for m in range(by_columns[last], by_columns[last + 1]):
            code[row_of[m]] = 0
    if feature < 0:
        return code, votes
    for m in range(by_columns[feature], by_columns[feature + 1]):
        code[row_of[m]] = code_of[m] + 1
    mine = signs(votes.size + 1)
    mine[0] = votes[zero[feature]]
    copy(votes, mine[1:])
    return code, mine


@part
def nothing_missing(read: Any, starts: Array, outs: Array, signed: int, hist: Array) -> None:
    """Dense codes have a slot for every cell."""


@part
def add_with_zeros(read: Any, starts: Array, outs: Array, signed: int, hist: Array) -> None:
    """Add the changes, which are those of one member only, once the slots of zeros have their share of them."""
    out = outs[0]
    give_zeros(out, starts, read[5], signed)
    for s in range(starts[starts.size - 1]):
        hist[s] += out[s]
        out[s] = 0


@part
def dense_words(read: Any, word_slots: Any) -> tuple[Array, Array]:
    """Return what the sums over dense codes read."""
    return read[1], word_slots[0]


@part
def sparse_slots(read: Any, word_slots: Any) -> tuple[Array, Array]:
    """Return what the sums over sparse codes read."""
    return read[0], read[1]


@part
def span_of_words(word_slots: Any, starts: Array, first: int, last: int) -> tuple[int, int]:
    """Return where the slots of some words begin and end."""
    return word_slots[1][first], word_slots[1][last]


@part
def span_of_columns(word_slots: Any, starts: Array, first: int, last: int) -> tuple[int, int]:
    """Return where the slots of some columns do."""
    return starts[first], starts[last]


# A plain function around a kernel: the cache on disk would not know a kernel again that a loop is made of.


@part
def in_columns(
    hist: Array, word_slots: Any, places: Any, total: int, sides: int, first: int, last: int, bar: int, extremes: Array
) -> Any:
    """Find the best stump on some columns, however low the bar."""
    return edge_search(hist, *places, total, sides, first, last)


KINDS = {
    "eight": (8, read_dense, dense_words, span_of_words, best_of_eight, add_eight_interleaved, nothing_missing),
    "four": (4, read_dense, dense_words, span_of_words, best_of_four, add_four_interleaved, nothing_missing),
    "sparse": (1, read_sparse, sparse_slots, span_of_columns, in_columns, add_sparse, add_with_zeros),
}


# -- the slots that a member adds up ----------------------------------------------------------------------------------


@part
def share(slots: int, size: int, member: int) -> tuple[int, int]:
    """Return where a member's share of the slots begins and ends: whole cache lines."""
    lines = -(-slots // LINE)
    return LINE * (lines * member // size), min(LINE * (lines * (member + 1) // size), slots)


@part
def add_up(outs: Array, me: int, hist: Array) -> None:
    """Write the sums of all members' slots to this member's share of the histogram, beginning with its own ones."""
    size = outs.shape[0]
    begin, end = share(hist.size, size, me)
    for start in range(begin, end, STRETCH):
        stop = min(start + STRETCH, end)
        for s in range(np.uint64(start), np.uint64(stop)):
            hist[s] = outs[me, s]
        for other in range(1, size):
            p = (me + other) % size
            for s in range(np.uint64(start), np.uint64(stop)):
                hist[s] += outs[p, s]


@part
def claim(out: Array) -> None:
    """Ask for the lines of a histogram that others have read.

    A store to such a line waits until the others have given it up: on 16 threads the next sums would take a quarter
    longer.
    """
    for s in range(0, out.size, LINE):
        soon_written(out, s)


@part
def await_slots(told: Array, begin: int, end: int, slots: int, value: int, team: Array) -> bool:
    """Wait until the slots begin <= s < end are summed; return whether the team is broken."""
    broken, size = False, told.shape[0]
    for p in range(size):
        first, last = share(slots, size, p)
        if first < end and last > begin:
            broken |= await_member(told, p, ADDED, value, team)
    return broken


# -- the rounds ------------------------------------------------------------------------------------------------------


@cache
def rounds_of(alpha_of: Callable[..., float], kind: str) -> Any:
    """Return the compiled loop for a rule whose voters vote alpha_of(error, numbers), on codes of a kind."""
    alpha_of, stamp = jitable(alpha_of), stamp_of(alpha_of) + STAMP
    width, column, arrays, span, best, add, complete = KINDS[kind]

    @in_parts
    def rounds(
        me: int,
        team: Any,
        read: Any,
        word_slots: Any,
        places: Any,
        sides: int,
        ground: Any,
        sums: tuple[int, int],
        moved: tuple[float, float],
        masses: Array,
        rule: Any,
        hist: Array,
        found: Array,
        alphas: Array,
    ) -> tuple[int, int, int, int, float, float]:
        """Take up to alphas.size rounds; end before an unusual one, and after one that left a range.

        team is (numbers, told, outs, rows, changes): what members tell each other, space for a histogram each, and
        for a list of all rows.  With that list members share the columns and not the rows when they sum, and go word
        by word.  A team of one needs neither of them, but for sparse codes one histogram of zeros.  For dense codes
        word_slots is (base, starts of words, cuts, least, most); places is (starts, filled, categorical),
        ground is (y, counts, mass, k, F, w, q).  sums are those of q and |q|; moved is how far
        the logarithms of the weights may have risen and fallen; masses[0] and masses[1] count the rows of y = -1 and
        y = +1 in every slot; rule is (numbers, limit, far, spare, least): voters must have a weighted error below the
        limit, weights must not have moved so far, and the scale must be kept (see `scales`).  Of few rows, that one
        thread has alone, weights and scale are made anew here.  found[t] holds the feature, the cut, the side of
        missing values, the edge, the sum of |q| and k of round t.  Return the number of rounds (-1 if the team broke
        up), k, the sums of q and |q| (-1 if there is no k), and how far weights have moved.
        """
        numbers, limit, far, spare, least = rule
        meeting, told, outs, rows, changes = team
        starts, _, categorical = places
        y, counts, mass, k, F, w, q = ground
        codes, where = arrays(read, word_slots)
        (total, gross), (risen, fallen) = sums, moved
        size, n, d = told.shape[0], y.size, categorical.size
        low, high = -(-d // width) * me // size, -(-d // width) * (me + 1) // size  # whole words
        begin, end = span(word_slots, starts, low, high)
        first, last = n * me // size, n * (me + 1) // size
        by_words, nothing, before = rows.size > 0, (-1, -1, 0, 0, LEAST), -1
        alone = by_words and size == 1
        made, left = max(0, stamp), False  # the stamp is negative: here the cache sees changes of what is called
        extremes = integers(2 * width)
        if by_words:  # a list has space for one more than the rows
            my_rows, my_changes, stride, together = rows[first + me :], changes[first + me :], max(last - first, 1), 1
        else:
            my_rows, my_changes = integers(BLOCK + 1), integers(BLOCK + 1)
            stride, together = BLOCK, max(high - low, 1)
        out = outs[me][: hist.size] if outs.shape[0] > 0 else hist
        if outs.shape[0] > 1:  # the first has what was there before
            clear(out)
            if me == 0:
                copy(hist, out)
        while True:
            mine = nothing
            for g in range(low, high, together):  # a word's sums are looked at while they are at hand
                if by_words and made > 0:
                    words, bases = codes[g : g + 1], where[g * width : (g + 1) * width]
                    for p in range(size):
                        at = n * p // size + p
                        add(words, bases, changes[at:], rows[at:], 0, told[p, SIZE], hist)
                other = best(hist, word_slots, places, total, sides, g, min(g + together, high), mine[WORTH], extremes)
                if other[FEATURE] >= 0:
                    mine = other
            if made == alphas.size or left:
                break
            feature, cut, side, edge, worth = mine
            if size > 1:
                told[me, FEATURE], told[me, CUT], told[me, SIDE] = feature, cut, side
                told[me, EDGE], told[me, WORTH] = edge, worth
                tell(told, me, FOUND, made + 1)
                if await_all(told, FOUND, made + 1, meeting):
                    return -1, k, total, gross, risen, fallen
                top = 0
                for p in range(1, size):  # of equals the first
                    if told[p, WORTH] > told[top, WORTH]:
                        top = p
                feature, cut = told[top, FEATURE], told[top, CUT]
                side, edge = told[top, SIDE], told[top, EDGE]
            if cut < 0:
                break
            wrong = (gross - (abs(edge) if sides == 0 else sides * edge)) // 2
            error = math.ldexp(float(wrong), -k) / math.ldexp(float(gross), -k)
            if wrong <= 0 or not error < limit:
                break
            alpha = alpha_of(error, numbers)
            fits = gross + wrong * (exp(2 * alpha) - 1.0) < MOST
            if not abs(2 * alpha) < far or not (fits or alone):
                break
            votes = signs(starts[feature + 1] - starts[feature])
            up = np.int8(1 if sides > 0 or (sides == 0 and edge >= 0) else -1)
            for s in range(votes.size):
                votes[s] = up
            for s in range(cut + 1):
                votes[s] = -up
            votes[votes.size - 1] = -up if side == 1 else up
            few = fewer_wrong(votes, masses, starts[feature])
            power = 2 * alpha if few else -2 * alpha
            code, ordered = column(read, feature, votes, before)
            factor, before = exp(power), feature
            if outs.shape[0] > 1:
                claim(out)
            touched, up_by, grown_by = 0, np.int64(0), np.int64(0)
            for start in range(first, last, stride):
                touched, by, by_gross = turn(
                    *(code, ordered, alpha, few, factor, y, counts, mass, k, start, min(start + stride, last), F, w, q),
                    *(my_rows, my_changes),
                )
                up_by, grown_by = up_by + by, grown_by + by_gross
                if not by_words:
                    add(codes, where, my_changes, my_rows, 0, touched, out)
            told[me, SIZE], told[me, CHANGED], told[me, GROWN] = touched, up_by, grown_by
            if size > 1:
                tell(told, me, TURNED, made + 1)
                if await_all(told, TURNED, made + 1, meeting):
                    return -1, k, total, gross, risen, fallen
            if me == 0:
                found[made, 0], found[made, 1], found[made, 2] = feature, cut, side
                found[made, 3], found[made, 4], found[made, 5] = edge, gross, k
                alphas[made] = alpha
            signed, grown = np.int64(0), np.int64(0)
            for p in range(size):
                signed, grown = signed + told[p, CHANGED], grown + told[p, GROWN]
            complete(read, starts, outs, signed, hist)
            if outs.shape[0] > 1:
                add_up(outs, me, hist)
                tell(told, me, ADDED, made + 1)
                if await_slots(told, begin, end, hist.size, made + 1, meeting):
                    return -1, k, total, gross, risen, fallen
            total, gross, made = total + signed, gross + grown, made + 1  # type: ignore[assignment]
            risen, fallen = risen + max(power, 0.0), fallen + max(-power, 0.0)
            within = risen < far and fallen < far
            left = not (fits and within and keeps(gross, least))
            if left and alone:
                if not within:
                    renew(y, F, w)
                    risen = fallen = 0.0
                k, total, gross = rounded(SIGNED, w, y, counts, mass, k, spare, least, q)
                left, told[me, SIZE] = gross < 0, n
                clear(hist)
                for i in range(n):
                    my_rows[i], my_changes[i] = i, q[i]
        column(read, -1 if width == 1 else 0, signs(0), before)
        return made, k, total, gross, risen, fallen

    return rounds
