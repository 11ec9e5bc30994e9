"""Many usual rounds of any rule in formulas in one compiled call, by one thread or by a team of them.

A round is: weights and targets, their integers, the cheapest stump, its votes, sums over rows, the step, the scores.
Each is a prepared call (see `prepared`) of a kernel, so that this loop is compiled once for all rules, and the numbers
are those of the general loop, to the bit.  An unusual round is left to that loop.

Every member of a team runs this loop: it makes each call for its own rows, or its own columns, and has calls, integers
and numbers of its own.  Where the members' results come to one, all meet first, and then each settles for itself what
they come to (see `shared_rounds`).  So all go the same way, and a round has two to six meetings, and two more for
every other look of a solver.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.functions import STAMP, from_bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.prepared import ADDRESS, give, make
from boostlab.backend.cpu.kernels.spin_barrier import meet
from boostlab.contract.usual import AGAIN, MOST_OTHERS, OTHER, TAKEN
from boostlab.functions import exp

Array = np.ndarray[Any, Any]

# Prepared calls, in their order; those that a rule, or a table, has none of have no address.
TASK, LOGARITHMS, TOP, EXPONENTIALS, BEFORE, TOTALS_BEFORE, SETTLE_BEFORE, PLAN = range(8)
ROUND, SETTLE_ROUND, SEARCH, SETTLE_SEARCH, VOTE, SUMS, TOTALS, SETTLE_SUMS, STEP = range(8, 17)
AFTER, TOTALS_AFTER, SETTLE_AFTER, SMALLEST, SETTLE_SMALLEST, CHECK, KEEP, ADVANCE = range(17, 25)
LOST, FOLLOW, OTHERS = range(25, 28)  # three of each of the other sums: they, their totals, and what they come to
CALLS = OTHERS + 3 * MOST_OTHERS

# Places of what calls read and write, in one array of integers (each array is compiled at a cost) ...
FRESH, KNOWN, SAID, FOUND, PLACE, FACTS, TOTAL, KEPT, OF_SEARCH = 0, 1, 2, 3, 10, 13, 21, 23, 31
CUT, SIDE, LEFT, RIGHT = FOUND + 1, FOUND + 2, FOUND + 5, FOUND + 6
# ... and of numbers.
LEAVES, WORTH, MOVED, FLOATS = 0, 3, 7, 9
# The round's own numbers are followed by the sums for the step, those after it, those before the search, and the
# criterion's numbers; the last one is the largest logarithm of a weight.  From `OF_SEARCH` on integers say which sums
# the search knows, where each of these begins, and which numbers are the criterion's; then whether the histogram is
# summed anew, how many rows changed, and of which channels the scale is known.
MINE, AFTERWARDS, BEFOREHAND, PRICED, TAKES = range(OF_SEARCH + 1, OF_SEARCH + 6)
ANEW, CHANGED, KNOWN_OF = TAKES + 4, TAKES + 5, TAKES + 6
INTEGERS = 48  # whole cache lines, because every member has its own
MOST_ASKED = 10_000  # decisions of a round, after which it is left to the general loop, which hears Ctrl-C

# Which sums follow from what the search found (see `contract.sums`).
NO_SUMS, ERRORS, EDGES, SQUARES = range(4)


@in_parts
def minus_margins(y: Array, F: Array, w: Array) -> float:
    """Write -y F to w; return the largest."""
    top = -np.inf
    for i in range(w.size):
        w[i] = -y[i] * F[i]
        top = max(top, w[i])
    return top


@in_parts
def largest_value(x: Array) -> float:
    """Return the largest x."""
    top = -np.inf
    for i in range(x.size):
        top = max(top, x[i])
    return top


@in_parts
def smallest_of_each(values: Array, out: Array) -> None:
    """Write the smallest of each row of values to out."""
    for v in range(values.shape[0]):
        least = np.inf
        for i in range(values.shape[1]):
            least = min(least, values[v, i])
        out[v] = least


def _follow_votes() -> Any:
    stamp = STAMP

    def follow(y: Array, h: Array, counts: Array, size: int, far: float, w: Array, alpha: float, moved: Array) -> int:
        """Let exponential weights follow votes of -1 and +1, as `Exponentials.advance` does; return 0 if they must be
        computed anew.

        size is the number of examples, moved how far logarithms may have risen and fallen.
        """
        lost, apart = np.int64(max(0, stamp)), 2.0 * alpha  # the stamp is negative: so the cache sees changes of `exp`
        if not abs(apart) < far:
            return 0
        if counts.size == 0:
            for i in range(w.size):
                lost += h[i] != y[i]
        else:
            for i in range(w.size):
                lost += counts[i] * (h[i] != y[i])
        power = apart if 2 * lost <= size else -apart
        factor = exp(power)
        if_wrong, if_right = (factor, 1.0) if 2 * lost <= size else (1.0, factor)
        for i in range(w.size):
            w[i] *= if_wrong if h[i] != y[i] else if_right
        moved[0], moved[1] = moved[0] + max(power, 0.0), moved[1] + max(-power, 0.0)
        return 1 if moved[0] < far and moved[1] < far else 0

    return in_parts(follow)


follow_votes = _follow_votes()


@part
def is_label(vote: float) -> bool:
    """Return whether a vote is -1 or +1."""
    return vote == 1.0 or vote == -1.0


@part
def place_cut(starts: Array, n_bins: Array, low_slots: Array, ints: Array, floats: Array) -> bool:
    """Write what `votes_of_cut` needs to know of the stump that was found; return whether it says -1 and +1 only."""
    feature, cut = ints[FOUND], ints[CUT]
    low = low_slots[starts[feature] + cut]
    ints[PLACE], ints[PLACE + 1], ints[PLACE + 2] = feature, cut, n_bins[feature]
    left, right = from_bits(ints[LEFT]), from_bits(ints[RIGHT])
    missing = left if low == 1 or (low < 0 and ints[SIDE] == 1) else right
    floats[LEAVES], floats[LEAVES + 1], floats[LEAVES + 2] = left, right, missing
    return is_label(left) and is_label(missing) and (is_label(right) or cut + 1 == n_bins[feature])


@part
def scale(ints: Array, floats: Array) -> None:
    """Write what a search needs to know of the channels that were rounded."""
    for c in range(2):
        k, ints[TOTAL + c] = -ints[FACTS + c], ints[FACTS + 2 + c]
        floats[WORTH + c], floats[WORTH + 2 + c] = math.ldexp(1.0, k), math.ldexp(float(ints[FACTS + 4 + c]), k)


@part
def known_sums(ints: Array, floats: Array, out: Array) -> None:
    """Write the sums that follow from what the search found."""
    which, at = ints[OF_SEARCH], ints[MINE]
    if which == SQUARES:
        for c in range(2):
            unit, whole, low = floats[WORTH + c], floats[WORTH + 2 + c], ints[FOUND + 3 + c]
            rise = (ints[TOTAL + c] - low) * unit - low * unit
            out[at + 2 * c], out[at + 2 * c + 1] = whole, max(whole - from_bits(ints[RIGHT]) * rise, 0.0) / 2
    elif which != NO_SUMS:
        k, gross, worth = -ints[FACTS], ints[FACTS + 4], ints[FOUND + 4]
        whole, wrong = math.ldexp(float(gross), k), math.ldexp(float((gross - worth) // 2), k)
        out[at], out[at + 1] = whole, wrong if which == ERRORS else whole - 2.0 * wrong


@part
def are_finite(sums: Array, first: int, last: int) -> bool:
    """Return whether some sums are numbers."""
    finite = True
    for v in range(first, last):
        finite &= abs(sums[v]) < np.inf
    return finite


@part
def is_settling(which: int) -> bool:
    """Return whether a call looks at what all members have found."""
    if which in (TOP, SETTLE_ROUND, SETTLE_SEARCH, FOLLOW):
        return True
    return which in (SETTLE_BEFORE, SETTLE_SUMS, SETTLE_AFTER, SETTLE_SMALLEST) or settles_others(which)


@part
def settles_others(which: int) -> bool:
    """Return whether a call is the last of the three of other sums."""
    return which >= OTHERS and (which - OTHERS) % 3 == 2


@part
def is_answer(said: int, calls: Array) -> bool:
    """Return whether a decision has said something that a usual round knows."""
    if said >= OTHER:
        at = OTHERS + 3 * (said - OTHER)
        return at < CALLS and calls[at + 1, ADDRESS] != 0
    return said in (TAKEN, AGAIN)


@part
def next_call(which: int, ints: Array) -> int:
    """Return the call that follows one, by what that said; `CALLS` ends the round."""
    said = ints[SAID]
    if said == AGAIN:
        if which == SETTLE_ROUND:
            return ROUND
        if which in (PLAN, STEP, CHECK):  # with other numbers
            return BEFORE if which == PLAN else SUMS if which == STEP else AFTER
        return which - 1  # the sums at another power of two
    if said != TAKEN:
        return OTHERS + 3 * (said - OTHER)
    if which == FOLLOW:
        return CALLS
    return CHECK if settles_others(which) else which + 1


@in_parts
def usual_rounds(
    me: int,
    team: Array,
    calls: Array,
    starts: Array,
    n_bins: Array,
    low_slots: Array,
    all_ints: Array,
    all_floats: Array,
    all_numbers: Array,
    found: Array,
    told: Array,
) -> int:
    """Take up to so many rounds as `found` can hold; end before an unusual one.  Return how many.

    Arrays whose names begin with `all`, and calls, have a row for every member of the team.

    Parameters
    ----------
    me, team : the member's number, and the numbers that members meet by (see `spin_barrier`)
    calls : what is called, a row each
    starts, n_bins, low_slots : of the columns, and for every slot whether missing values are low if the cut is after it
        (1, 0, or -1 where the search says so)
    all_ints, all_floats : what calls read and write, by the places above
    all_numbers : those of the round, the coefficient first, and the sums, by the places that integers name
    found, told : what rounds leave: what the search found; the numbers, and the sums for the step and after it
    """
    mine, ints, floats, numbers = calls[me], all_ints[me], all_floats[me], all_numbers[me]
    size, first, labels = calls.shape[0], numbers[0], False
    for done in range(found.shape[0]):
        numbers[0], which, asked = first, 0, 0
        while which < CALLS:  # one place that calls: every other would be compiled, too
            skips = mine[which, ADDRESS] == 0 or (ints[FRESH] == 1 and LOGARITHMS <= which <= EXPONENTIALS)
            if size > 1 and not skips and is_settling(which) and meet(team, size):
                return done
            give(mine, which, numbers)
            ints[SAID] = TAKEN
            if not skips and not make(mine, which, me, size):
                raise MemoryError
            if which == EXPONENTIALS:
                if not skips and not abs(numbers[numbers.size - 1]) < np.inf:  # no row has any weight
                    return done
                if ints[FRESH] == 0:
                    floats[MOVED], floats[MOVED + 1] = 0.0, 0.0
            elif which in (PLAN, STEP, CHECK):
                at = BEFOREHAND if which == PLAN else MINE if which == STEP else AFTERWARDS
                asked += 1
                answered = is_answer(ints[SAID], mine) and asked <= MOST_ASKED
                if not answered or not are_finite(numbers, ints[at], ints[at + 1]):
                    return done
                if which == PLAN and ints[SAID] != AGAIN:
                    for c in range(numbers.size - 1 - ints[PRICED]):  # the last is the largest logarithm
                        numbers[ints[PRICED] + c] = numbers[ints[TAKES + c]]
            elif which == SETTLE_ROUND:
                if ints[KNOWN] == 0:
                    return done
                scale(ints, floats)
            elif which == SETTLE_SEARCH:
                if ints[FOUND] < 0 or ints[CUT] < 0:
                    return done
                labels = place_cut(starts, n_bins, low_slots, ints, floats)
                known_sums(ints, floats, numbers)
            if ints[SAID] != TAKEN and size > 1 and meet(team, size):  # what others still look at is written again
                return done
            which = next_call(which, ints)
            if which == LOST and not labels:  # weights that do not follow are computed anew
                ints[FRESH], which = 0, CALLS
        if me > 0:
            continue
        for c in range(TOTAL - FACTS):
            ints[KEPT + c] = ints[FACTS + c]
        for c in range(PLACE - FOUND):
            found[done, c] = ints[FOUND + c]
        for v in range(told.shape[1]):
            told[done, v] = numbers[v]
    return found.shape[0]
