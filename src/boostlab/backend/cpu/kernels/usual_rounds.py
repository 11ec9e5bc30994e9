"""Many usual rounds of any rule in formulas, on a small table, in one compiled call.

A round is: weights and targets, their integers, the cheapest stump, its votes, sums over rows, the step, the scores.
Each is a prepared call (see `prepared`) of the very kernel that the general loop calls, so that this loop is compiled
once for all rules and the numbers are the same to the bit.  An unusual round is left to the general loop.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import from_bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.prepared import ADDRESS, make, make_with
from boostlab.contract.usual import TAKEN, UNUSUAL

Array = np.ndarray[Any, Any]

# Prepared calls; those that a rule has none of have no address.  Values are summed by the call behind theirs.
MARGINS, EXPONENTIALS, TASK, ROUND, SEARCH, VOTE, SUMS, TOTALS, STEP, AFTER, TOTALS_AFTER, ADVANCE, CALLS = range(13)

# Places of what calls read and write, in one array of integers (each array is compiled at a cost) ...
TOP, KNOWN, SAID, FOUND, PLACE, FACTS, TOTAL, KEPT, INTEGERS = 0, 1, 2, 3, 10, 13, 21, 23, 31
CUT, SIDE, LEFT, RIGHT = FOUND + 1, FOUND + 2, FOUND + 5, FOUND + 6
# ... and of numbers.
LEAVES, WORTH, FLOATS = 0, 3, 7


@in_parts
def minus_margins(y: Array, F: Array, w: Array) -> float:
    """Write -y F to w; return the largest."""
    top = -np.inf
    for i in range(w.size):
        w[i] = -y[i] * F[i]
        top = max(top, w[i])
    return top


@part
def weighed(calls: Array, ints: Array) -> bool:
    """Write the rows' weights and targets; return whether that went well."""
    if calls[TASK, ADDRESS] != 0:
        return make(calls, TASK)
    return make(calls, MARGINS) and make_with(calls, EXPONENTIALS, from_bits(ints[TOP]))


@part
def is_label(vote: float) -> bool:
    """Return whether a vote is -1 or +1."""
    return vote == 1.0 or vote == -1.0


@part
def place_cut(columns: Any, ints: Array, floats: Array) -> bool:
    """Write what `votes_of_cut` needs to know of the stump that was found; return whether it says -1 and +1 only."""
    starts, n_bins, low_slots = columns
    feature, cut = ints[FOUND], ints[CUT]
    low = low_slots[starts[feature] + cut]
    ints[PLACE], ints[PLACE + 1], ints[PLACE + 2] = feature, cut, n_bins[feature]
    left, right = from_bits(ints[LEFT]), from_bits(ints[RIGHT])
    missing = left if low == 1 or (low < 0 and ints[SIDE] == 1) else right
    floats[LEAVES], floats[LEAVES + 1], floats[LEAVES + 2] = left, right, missing
    return is_label(left) and is_label(missing) and (is_label(right) or cut + 1 == n_bins[feature])


@part
def summed(calls: Array, which: int, number: float, sums: Array) -> bool:
    """Sum a formula over the sample, given its number; return whether all sums are finite."""
    if calls[which, ADDRESS] == 0:
        return True
    finite = make_with(calls, which, number) and make(calls, which + 1)
    for v in range(sums.size):
        finite &= -np.inf < sums[v] < np.inf
    return finite


@kernel
def usual_rounds(
    calls: Array, columns: Any, ints: Array, floats: Array, numbers: Array, sums: Any, found: Array, told: Array
) -> int:
    """Take up to so many rounds as there is room for in `found`; end before an unusual one.  Return how many.

    Parameters
    ----------
    calls : what is called, a row each
    columns : (starts, bins) of the columns, and for every slot whether missing values are low if the cut is after it:
        1, 0, or -1 where the search says so
    ints, floats : what calls read and write, by the places above
    numbers : the step's, the coefficient first
    sums : (those that the step sees, those after it)
    found, told : what rounds leave: what the search found; the coefficient and the sums
    """
    (mine, after), follows, first = sums, calls[TASK, ADDRESS] == 0, numbers[0]
    for done in range(found.shape[0]):
        if not weighed(calls, ints) or not make(calls, ROUND) or ints[KNOWN] == 0:
            return done
        for c in range(2):
            k, ints[TOTAL + c] = -ints[FACTS + c], ints[FACTS + 2 + c]
            floats[WORTH + c], floats[WORTH + 2 + c] = math.ldexp(1.0, k), math.ldexp(float(ints[FACTS + 4 + c]), k)
        if not make(calls, SEARCH) or ints[FOUND] < 0:
            return done
        if (place_cut(columns, ints, floats) and follows) or not make(calls, VOTE):
            return done  # weights that follow labels are not computed anew
        numbers[0], ints[SAID] = first, 0
        while ints[SAID] != TAKEN:
            if not summed(calls, SUMS, numbers[0], mine) or not make(calls, STEP) or ints[SAID] == UNUSUAL:
                return done
        if not summed(calls, AFTER, numbers[0], after) or not make_with(calls, ADVANCE, numbers[0]):
            return done
        for c in range(TOTAL - FACTS):
            ints[KEPT + c] = ints[FACTS + c]
        for c in range(PLACE - FOUND):
            found[done, c] = ints[FOUND + c]
        told[done, 0] = numbers[0]
        for v in range(mine.size):
            told[done, 1 + v] = mine[v]
        for v in range(after.size):
            told[done, 1 + mine.size + v] = after[v]
    return found.shape[0]
