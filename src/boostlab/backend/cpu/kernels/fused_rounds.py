"""Many rounds of a plain rule in one compiled call, by one thread or by a team of them (see `spin_barrier`).

A round is: every member looks for the best stump among its own words of columns; when all have, each takes the best of
these and lets it vote on its own rows; when all have, each brings its share of the histogram up to date.  Sums are
integers, so that the result does not depend on who did what.  The histogram has a half for each label (see
`shifted_search`): only the rows on one side of the vote change, and what all scores have in common is a shift.

Members that share the rows have a histogram each, of all changes since the call began: others only read it, so that a
cache line of it travels once a round.  Each adds up an equal share of the slots, and is waited for by those only that
search them: of 50 columns seven members have a word, whatever the team's size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import jitable, part, stamp_of
from boostlab.backend.cpu.functions import STAMP
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.fused_update import BLOCK, follow, moving_side, renew, turn
from boostlab.backend.cpu.kernels.packed_codes import add_eight_interleaved, add_four_interleaved
from boostlab.backend.cpu.kernels.prefetch import soon_written
from boostlab.backend.cpu.kernels.shifted_search import (
    best_of_columns,
    bounds_in_columns,
    bounds_in_words_of_eight,
    bounds_in_words_of_four,
    edge_of,
    start_in_word,
    start_of_column,
    told_worth,
)
from boostlab.backend.cpu.kernels.small_table import rounded
from boostlab.backend.cpu.kernels.sparse_histogram import add_sparse, give_zeros
from boostlab.backend.cpu.kernels.spin_barrier import await_all, await_member, tell
from boostlab.backend.cpu.kernels.workspace import clear, copy, doubles, integers, signs
from boostlab.backend.cpu.scales import MOST, keeps
from boostlab.contract.criterion import SIGNED
from boostlab.functions import exp

Array = np.ndarray[Any, Any]

# What a member tells, each group on a cache line of its own, which ends with the round that it is of, from 1 on.
FEATURE, CUT, SIDE, BELOW, FOUND = 0, 1, 2, 3, 5  # what it found: the sums below are two
LISTED, GROWN, TURNED = 8, 10, 12  # what its rows came to: of both labels how many are listed, and the sums' growth
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
def nothing_missing(read: Any, starts: Array, out: Array, grown: int, hist: Array) -> None:
    """Dense codes have a slot for every cell."""


@part
def add_with_zeros(read: Any, starts: Array, out: Array, grown: int, hist: Array) -> None:
    """Add the changes of a label, those of one member only, once the slots of zeros have their share of them."""
    give_zeros(out, starts, read[5], grown)
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


IN_WORDS = read_dense, dense_words, span_of_words, start_in_word, nothing_missing
BY_ITSELF = read_sparse, sparse_slots, span_of_columns, start_of_column, add_with_zeros
KINDS = {
    "eight": (8, *IN_WORDS, bounds_in_words_of_eight, add_eight_interleaved),
    "four": (4, *IN_WORDS, bounds_in_words_of_four, add_four_interleaved),
    "sparse": (1, *BY_ITSELF, bounds_in_columns, add_sparse),
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
    width, column, arrays, span, start_of, complete, bounds_of, add = KINDS[kind]

    @in_parts
    def rounds(
        me: int,
        team: Any,
        read: Any,
        word_slots: Any,
        places: Any,
        turns: tuple[float, float],
        ground: Any,
        sums: tuple[int, int],
        moved: tuple[float, float],
        masses: Array,
        rule: Any,
        hist: Array,
        found: Array,
        steps: Array,
    ) -> tuple[int, int, int, int, float, float]:
        """Take up to len(found) rounds; end before an unusual one, and after one that left a range.

        team is (numbers, told, outs, rows, changes): what members tell each other, space for a histogram each, and
        for a list of all rows.  With that list members share the columns and not the rows when they sum, and go word
        by word.  A team of one needs neither of them, but for sparse codes one histogram of zeros.  For dense codes
        word_slots is (base, starts of words, cuts, least, most); places is (starts, filled, categorical, cuts, cuts
        with missing values below), turns are those of `worth_of`, ground is (y, counts, mass, k, F, v, q).  sums are
        those of |q| of both labels; moved is the shift of the scores, and how far the logarithms of v may have moved;
        masses count the examples in every slot; rule is (numbers, limit, far, most, spare, least): voters must have a
        weighted error below the limit, weights must not have moved so far nor scores be shifted so much, and the scale
        must be kept (see `scales`).  Of few rows, that one thread has alone, weights and scale are made anew here.
        hist has a half for each label.  found[t] holds the feature, the cut, the side of missing values and the vote
        above of round t, steps[t] its error and alpha.  Return the number of rounds (-1 if the team broke up), k, the
        sums (the first negative if there is no k), the shift, and how far weights have moved.
        """
        numbers, limit, far, most, spare, least = rule
        meeting, told, outs, rows, changes = team
        starts, _, categorical, _, _ = places
        y, counts, mass, k, F, v, q = ground
        codes, where = arrays(read, word_slots)
        total, (shift, gone_far) = sums, moved
        size, n, d, half = told.shape[0], y.size, categorical.size, hist.size // 2
        minus, plus = hist[:half], hist[half:]
        low, high = -(-d // width) * me // size, -(-d // width) * (me + 1) // size  # whole words
        begin, end = span(word_slots, starts, low, high)
        first, last, before = n * me // size, n * (me + 1) // size, -1
        by_words = rows.size > 0
        alone = by_words and size == 1
        made, left = max(0, stamp), False  # the stamp is negative: here the cache sees changes of what is called
        extremes, bounds = doubles(2 * width), doubles(max(width * -(-d // width), 1))
        if by_words:  # a list has space for one more than the rows
            my_rows, my_changes, stride = rows[first + me :], changes[first + me :], max(last - first, 1)
        else:
            my_rows, my_changes, stride = integers(BLOCK + 1), integers(BLOCK + 1), BLOCK
        out = outs[me][: hist.size] if outs.shape[0] > 0 else hist
        if outs.shape[0] > 1:  # the first has what was there before
            clear(out)
            if me == 0:
                copy(hist, out)
        while True:
            about = total, (exp(shift), exp(-shift)), turns
            for g in range(low, high):  # a word's sums are looked at while they are at hand
                if by_words and made > 0:
                    words, bases = codes[g : g + 1], where[g * width : (g + 1) * width]
                    for p in range(size):
                        at, listed = n * p // size + p, n * (p + 1) // size - n * p // size + 1
                        mine, whose = changes[at:], rows[at:]
                        add(words, bases, mine, whose, 0, told[p, LISTED], minus)
                        add(words, bases, mine, whose, listed - told[p, LISTED + 1], listed, plus)
                bounds_of(minus, plus, word_slots, places, about, g, g + 1, extremes, bounds)
            if made == found.shape[0] or left:
                break
            what = word_slots, places, about, width, width * low, min(width * high, d), bounds
            feature, cut, side, below, below_plus = best_of_columns(start_of, minus, plus, *what)
            if size > 1:
                told[me, FEATURE], told[me, CUT], told[me, SIDE] = feature, cut, side
                told[me, BELOW], told[me, BELOW + 1] = below, below_plus
                tell(told, me, FOUND, made + 1)
                if await_all(told, FOUND, made + 1, meeting):
                    return -1, k, total[0], total[1], shift, gone_far
                top, best = -1, -np.inf
                for p in range(size):  # of equals the first
                    if told[p, FEATURE] >= 0:
                        theirs = told[p, FEATURE], told[p, CUT], told[p, BELOW], told[p, BELOW + 1]
                        worth = told_worth(theirs, about)
                        if worth > best:
                            top, best = p, worth
                if top < 0:
                    break
                feature, cut, side = told[top, FEATURE], told[top, CUT], told[top, SIDE]
                below, below_plus = told[top, BELOW], told[top, BELOW + 1]
            if cut < 0:
                break
            edge, factors = edge_of(below, below_plus, total, about[1]), about[1]
            up = np.int8(turns[0] if turns[0] * edge >= turns[1] * edge else turns[1])
            wrong_plus = below_plus if up > 0 else total[1] - below_plus
            wrong_minus = total[0] - below if up > 0 else below
            wrong = factors[1] * np.float64(wrong_plus) + factors[0] * np.float64(wrong_minus)
            error = wrong / (factors[1] * np.float64(total[1]) + factors[0] * np.float64(total[0]))
            if wrong_plus + wrong_minus <= 0 or not error < limit:
                break
            alpha, gross = alpha_of(error, numbers), total[0] + total[1]
            growing = wrong_plus + wrong_minus if alpha > 0.0 else gross - wrong_plus - wrong_minus
            apart = abs(2 * alpha)
            if not apart < far:
                break
            fits = gross + growing * (exp(apart) - 1.0) < MOST
            if not (fits or alone):
                break
            votes = signs(starts[feature + 1] - starts[feature])
            for s in range(votes.size):
                votes[s] = up
            for s in range(cut + 1):
                votes[s] = -up
            votes[votes.size - 1] = -up if side == 1 else up
            moves = moving_side(votes, masses, starts[feature], up)
            right, wrong_by = exp(-2 * alpha), exp(2 * alpha)
            by_minus, by_plus = (wrong_by, right) if moves > 0 else (right, wrong_by)
            code, ordered = column(read, feature, votes, before)
            before = feature
            if outs.shape[0] > 1:
                claim(out)
            listed_minus, listed_plus, grown_minus, grown_plus = 0, 0, np.int64(0), np.int64(0)
            for start in range(first, last, stride):
                stop = min(start + stride, last)
                listed_minus, listed_plus = turn(*(code, ordered, alpha, moves, y, start, stop, F, my_rows, my_changes))
                given, listed = (counts, mass, k, v, q, my_changes), stop - start + 1
                grown_minus += follow(my_rows, 0, listed_minus, by_minus, -1, *given)
                grown_plus += follow(my_rows, listed - listed_plus, listed, by_plus, 1, *given)
                if not by_words:
                    add(codes, where, my_changes, my_rows, 0, listed_minus, out[:half])
                    add(codes, where, my_changes, my_rows, listed - listed_plus, listed, out[half:])
            told[me, LISTED], told[me, LISTED + 1] = listed_minus, listed_plus
            told[me, GROWN], told[me, GROWN + 1] = grown_minus, grown_plus
            if size > 1:
                tell(told, me, TURNED, made + 1)
                if await_all(told, TURNED, made + 1, meeting):
                    return -1, k, total[0], total[1], shift, gone_far
            if me == 0:
                found[made, 0], found[made, 1], found[made, 2], found[made, 3] = feature, cut, side, up
                steps[made, 0], steps[made, 1] = error, alpha
            grown_minus, grown_plus = np.int64(0), np.int64(0)
            for p in range(size):
                grown_minus, grown_plus = grown_minus + told[p, GROWN], grown_plus + told[p, GROWN + 1]
            complete(read, starts, out[:half], grown_minus, minus)
            complete(read, starts, out[half:], grown_plus, plus)
            if outs.shape[0] > 1:
                add_up(outs, me, hist)
                tell(told, me, ADDED, made + 1)
                broken = await_slots(told, begin, end, hist.size, made + 1, meeting)
                if broken | await_slots(told, half + begin, half + end, hist.size, made + 1, meeting):
                    return -1, k, total[0], total[1], shift, gone_far
            total, made = (total[0] + grown_minus, total[1] + grown_plus), made + 1  # type: ignore[assignment]
            shift, gone_far = shift - alpha * moves, gone_far + apart
            within = gone_far < far and abs(shift) <= most
            left = not (fits and within and keeps(total[0] + total[1], least))
            if left and alone:
                if not within:
                    renew(y, F, v)
                    shift = gone_far = 0.0
                k, signed, gross = rounded(SIGNED, v, y, counts, mass, k, spare, least, q)
                left, total = gross < 0, ((gross - signed) >> 1, (gross + signed) >> 1)
                clear(hist)
                listed_minus, back = 0, n
                for i in range(n):  # all are listed, by their labels
                    if y[i] < 0:
                        my_rows[listed_minus], my_changes[listed_minus] = i, -q[i]
                        listed_minus += 1
                    else:
                        my_rows[back], my_changes[back] = i, q[i]
                        back -= 1
                told[me, LISTED], told[me, LISTED + 1] = listed_minus, n - back
        column(read, -1 if width == 1 else 0, signs(0), before)
        return made, k, total[0], total[1], shift, gone_far

    return rounds
