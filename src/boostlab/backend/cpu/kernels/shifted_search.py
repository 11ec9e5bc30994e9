"""The best stump on sums of two labels, each of which is weighed by a number of its own (see `contract.ShiftedTask`).

A histogram has two halves: the sums where y = -1, and those where y = 1.  The columns of a word lie side by side: the
slot of code c of a word's column l is at start + c * per_word + l of a half.  So one load brings one code's sums of all
columns, and their running sums, what these weigh, and the largest and the smallest of it are operations on vectors.

The edge of a cut is that of `learners.criteria.shifted`, to the bit.  It takes four conversions and as many products,
so all cuts are first looked at by plus * (sum below where y = 1) - minus * (sum below where y = -1), of which the edge
is a linear function but for rounding; only columns that may have the largest edge are priced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import data_of
from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.paired_columns import vector_of_floats
from boostlab.contract.criterion import PERFECT, TIES

Array = np.ndarray[Any, Any]
Cut = tuple[int, int, int, int]  # cut, side of missing values, sums below where y = -1 and where y = 1

ROUNDED = 2.0**-33  # of all sums: more than `TIES` rounds by
ROUNDING = 2.0**-44  # of all sums times both factors: more than rounding can part two ways to compute an edge
NO_CUT = -np.inf

_I, _D = ir.IntType(64), ir.DoubleType()
_inside: Any = intrinsic  # what is not Python but instructions


def _extremes(per_word: int) -> Any:
    """Return the instructions for words of so many codes."""
    whole, floats = ir.VectorType(_I, per_word), ir.VectorType(_D, per_word)
    places = ir.VectorType(ir.IntType(32), per_word)

    @_inside
    def extremes(
        typing: Any, minus: Any, plus: Any, start: Any, all_have: Any, longest: Any, ends: Any, factors: Any, out: Any
    ) -> Any:
        """Write the largest and the smallest of what the first ends[l] running sums of column l weigh to out[l] and
        out[per_word + l].

        minus and plus are the halves of a histogram; all columns have at least `all_have` sums, none more than
        `longest`.
        """

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def place(array: int, at: Any, kind: Any) -> Any:
                return builder.bitcast(builder.gep(data_of(builder, args[array]), [at]), kind.as_pointer())

            def all_of(x: Any, kind: Any) -> Any:
                nothing = ir.Constant(kind, ir.Undefined)
                first = builder.insert_element(nothing, x, ir.Constant(ir.IntType(32), 0))
                return builder.shuffle_vector(first, nothing, ir.Constant(places, [0] * per_word))

            weights = [all_of(builder.extract_value(args[6], side), floats) for side in (0, 1)]

            def loop(first: Any, last: Any, begin: Any, masked: bool) -> Any:
                """Go from code first to last - 1; return where that ends, and the sums, largest and smallest."""
                before = builder.block
                head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
                builder.branch(head)
                builder.position_at_end(head)
                c, low, high = builder.phi(_I), builder.phi(floats), builder.phi(floats)
                sums = builder.phi(whole), builder.phi(whole)
                builder.cbranch(builder.icmp_signed("<", c, last), body, done)
                builder.position_at_end(body)
                at = builder.add(args[2], builder.mul(c, ir.Constant(_I, per_word)))
                new = [builder.add(sums[h], builder.load(place(h, at, whole), align=8)) for h in (0, 1)]
                worth = [builder.fmul(weights[h], vector_of_floats(builder, new[h], per_word)) for h in (0, 1)]
                x = builder.fsub(worth[1], worth[0])
                up = down = x
                if masked:
                    counts = builder.icmp_signed("<", all_of(c, whole), own)
                    up, down = builder.select(counts, x, high), builder.select(counts, x, low)
                higher = builder.select(builder.fcmp_ordered(">", up, high), up, high)
                lower = builder.select(builder.fcmp_ordered("<", down, low), down, low)
                after = builder.add(c, ir.Constant(_I, 1))
                nows, thens = (c, *sums, high, low), (after, *new, higher, lower)
                for now, start, then in zip(nows, (first, *begin), thens, strict=True):
                    now.add_incoming(start, before)
                    now.add_incoming(then, builder.block)
                builder.branch(head)
                builder.position_at_end(done)
                return c, (*sums, high, low)

            zero = ir.Constant(_I, 0)
            own = builder.load(place(5, zero, whole), align=8)
            none = ir.Constant(whole, [0] * per_word)
            bounds = (ir.Constant(floats, [float(x)] * per_word) for x in ("-inf", "inf"))
            c, sums = loop(zero, args[3], (none, none, *bounds), masked=False)
            _, (_, _, high, low) = loop(c, args[4], sums, masked=True)
            builder.store(high, place(7, zero, floats), align=8)
            builder.store(low, place(7, ir.Constant(_I, per_word), floats), align=8)
            return context.get_dummy_value()

        pair = types.UniTuple(types.float64, 2)  # type: ignore[no-untyped-call]
        return types.void(minus, plus, types.intp, types.intp, types.intp, ends, pair, out), code

    return extremes


_of_eight, _of_four = _extremes(8), _extremes(4)


# -- what a cut is worth ----------------------------------------------------------------------------------------------


@part
def edge_of(low_minus: int, low_plus: int, total: tuple[int, int], factors: tuple[float, float]) -> float:
    """Return the edge of the voter that says 1 above a cut with these sums below, given the sums of both labels."""
    minus, plus = factors
    low_w, low_wy = low_minus + low_plus, low_plus - low_minus
    high_w, high_wy = total[0] + total[1] - low_w, total[1] - total[0] - low_wy
    rise_w, rise_wy = np.float64(high_w) - np.float64(low_w), np.float64(high_wy) - np.float64(low_wy)
    return (plus - minus) / 2 * rise_w + (plus + minus) / 2 * rise_wy


@part
def worth_of(edge: float, turns: tuple[float, float]) -> float:
    """Return the larger edge of the ways that a voter may be turned: 1 and -1, or the same number twice."""
    return max(turns[0] * edge, turns[1] * edge)


@part
def is_perfect(low_minus: int, low_plus: int, total: tuple[int, int], turns: tuple[float, float]) -> bool:
    """Return whether a voter that may be turned so makes no error, by the numbers that the criterion looks at."""
    low_w, low_wy = np.float64(low_minus + low_plus), np.float64(low_plus - low_minus)
    high_minus, high_plus = total[0] - low_minus, total[1] - low_plus
    high_w, high_wy = np.float64(high_minus + high_plus), np.float64(high_plus - high_minus)
    if_up, if_down = low_w + low_wy + (high_w - high_wy), low_w - low_wy + (high_w + high_wy)
    return bool((turns[0] > 0.0 and if_up <= 0.0) or (turns[1] < 0.0 and if_down <= 0.0))


@part
def compared(
    low_minus: int, low_plus: int, total: tuple[int, int], factors: tuple[float, float], turns: tuple[float, float]
) -> float:
    """Return what voters are compared by: cuts that are equally good but for rounding are worth the same."""
    whole = np.float64(total[0] + total[1])
    worth, ties = worth_of(edge_of(low_minus, low_plus, total, factors), turns), TIES * whole
    rounded = (worth + ties) - ties
    return rounded + PERFECT * whole if is_perfect(low_minus, low_plus, total, turns) else rounded


@part
def slack_of(total: tuple[int, int], factors: tuple[float, float]) -> float:
    """Return by how much rounding may part what is compared from another way to compute an edge."""
    return (ROUNDING * (factors[0] + factors[1]) + ROUNDED) * np.float64(total[0] + total[1])


@part
def bound_of_column(
    minus: Array,
    plus: Array,
    filled: Array,
    categorical: bool,
    cuts: int,
    cuts_below: int,
    total: tuple[int, int],
    factors: tuple[float, float],
    turns: tuple[float, float],
) -> float:
    """Return about the worth of the best cut of a column with these slots; of categories what no cut can exceed.

    Cuts are the first ones of the slots, `cuts_below` of them with missing values (the last slot) below, too.
    """
    last, all_ = filled.size - 1, factors[1] * np.float64(total[1]) - factors[0] * np.float64(total[0])
    if categorical:
        size, lightest, slots, up, down = 0.0, np.inf, 0, False, False
        for s in range(last + 1):
            if filled[s]:
                x = factors[1] * np.float64(plus[s]) - factors[0] * np.float64(minus[s])
                slots, size, lightest = slots + 1, size + abs(x), min(lightest, abs(x))
                up, down = up or bool(x > 0.0), down or bool(x < 0.0)
        if slots < 2:
            return NO_CUT
        return (size if up and down else size - 2.0 * lightest) + slack_of(total, factors)
    best, low_minus, low_plus = NO_CUT, np.int64(0), np.int64(0)
    for s in range(cuts):
        low_minus, low_plus = low_minus + minus[s], low_plus + plus[s]
        x = factors[1] * np.float64(low_plus) - factors[0] * np.float64(low_minus)
        best = max(best, worth_of(all_ - 2.0 * x, turns))
        if s < cuts_below:
            x = factors[1] * np.float64(low_plus + plus[last]) - factors[0] * np.float64(low_minus + minus[last])
            best = max(best, worth_of(all_ - 2.0 * x, turns))
    return best


@part
def best_cut(
    minus: Array,
    plus: Array,
    last: int,
    cuts: int,
    cuts_below: int,
    total: tuple[int, int],
    factors: tuple[float, float],
    turns: tuple[float, float],
) -> tuple[int, int, int, int, float]:
    """Return the first of the best cuts of a column of numbers, its side of missing values (slot `last`), the sums
    below and its worth; ties go to the first cut, then missing values above.
    """
    cut, gone, top, a, b = -1, 0, NO_CUT, np.int64(0), np.int64(0)
    low_minus, low_plus = np.int64(0), np.int64(0)
    for s in range(cuts):
        low_minus, low_plus = low_minus + minus[s], low_plus + plus[s]
        worth = compared(low_minus, low_plus, total, factors, turns)
        if worth > top:
            cut, gone, top, a, b = s, 0, worth, low_minus, low_plus
        if s < cuts_below:
            with_minus, with_plus = low_minus + minus[last], low_plus + plus[last]
            worth = compared(with_minus, with_plus, total, factors, turns)
            if worth > top:
                cut, gone, top, a, b = s, 1, worth, with_minus, with_plus
    return cut, gone, a, b, top  # type: ignore[return-value]


# -- columns, and words of them ---------------------------------------------------------------------------------------


@part
def bounds_in_columns(
    minus: Array, plus: Array, words: Any, places: Any, about: Any, first: int, last: int, extremes: Array, out: Array
) -> None:
    """Write about what the best cut of each of the columns first <= j < last is worth to out[j].

    places is (starts, filled, categorical, cuts, cuts_below); about is (sums of both labels, factors, turns).
    """
    starts, filled, categorical, cuts, cuts_below = places
    total, factors, turns = about
    for j in range(first, last):
        mine = slice(starts[j], starts[j + 1])
        what = minus[mine], plus[mine], filled[mine], categorical[j], cuts[j], cuts_below[j]
        out[j] = bound_of_column(*what, total, factors, turns) if starts[j + 1] > starts[j] else NO_CUT


@part
def bounds_in_word(
    minus: Array, plus: Array, start: int, per_word: int, usual: Array, places: Any, about: Any, g: int,
    extremes: Array, out: Array,
) -> None:  # fmt: skip
    """Do the same for the columns of the word g, the extremes of whose running sums are known where columns are usual:
    usual[j] is how many cuts a column has that has neither categories nor missing values.
    """
    starts, filled, categorical, cuts, cuts_below = places
    total, factors, turns = about
    all_ = factors[1] * np.float64(total[1]) - factors[0] * np.float64(total[0])
    for position in range(min(per_word, categorical.size - per_word * g)):
        j = per_word * g + position
        if usual[j] > 0:
            above, below = all_ - 2.0 * extremes[per_word + position], all_ - 2.0 * extremes[position]
            out[j] = max(worth_of(above, turns), worth_of(below, turns))
        elif starts[j + 1] > starts[j]:
            mine = filled[starts[j] : starts[j + 1]]
            sums = minus[start + position :: per_word], plus[start + position :: per_word]
            what = mine, categorical[j], cuts[j], cuts_below[j]
            out[j] = bound_of_column(*sums, *what, total, factors, turns)
        else:
            out[j] = NO_CUT


@part
def bounds_in_words_of_eight(
    minus: Array, plus: Array, words: Any, places: Any, about: Any, first: int, last: int, extremes: Array, out: Array
) -> None:
    """Do the same for the columns of the words first <= g < last, of eight codes.

    words are (base, starts of the words, usual cuts of every column, least and largest number of them a word).
    """
    _, starts, usual, least, most = words
    for g in range(first, last):
        own = usual[8 * g : 8 * g + 8]
        _of_eight(minus, plus, starts[g], least[g], most[g], own, about[1], extremes)
        bounds_in_word(minus, plus, starts[g], 8, usual, places, about, g, extremes, out)


@part
def bounds_in_words_of_four(
    minus: Array, plus: Array, words: Any, places: Any, about: Any, first: int, last: int, extremes: Array, out: Array
) -> None:
    """Do the same for words of four codes."""
    _, starts, usual, least, most = words
    for g in range(first, last):
        own = usual[4 * g : 4 * g + 4]
        _of_four(minus, plus, starts[g], least[g], most[g], own, about[1], extremes)
        bounds_in_word(minus, plus, starts[g], 4, usual, places, about, g, extremes, out)


@part
def start_in_word(words: Any, starts: Array, width: int, j: int) -> int:
    """Return where the slots of a column begin that is one of a word's."""
    return words[1][j // width] + j % width


@part
def start_of_column(words: Any, starts: Array, width: int, j: int) -> int:
    """Return where those of a column begin that lies by itself."""
    return starts[j]


@part
def best_of_columns(
    start_of: Any, minus: Array, plus: Array, words: Any, places: Any, about: Any, width: int, first: int, last: int,
    bounds: Array,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Return (feature, cut, side of missing values, sums below where y = -1 and where y = 1) of the best stump on the
    columns first <= j < last, given about what each of them is worth.

    The feature is -1 if there is none.  The cut is -1 if a column of categories may have a better one: then the first
    sum is what no cut of it can exceed (see `bound_of`).
    """
    starts, _, categorical, cuts, cuts_below = places
    total, factors, turns = about
    about_top = NO_CUT
    for j in range(first, last):
        about_top = max(about_top, bounds[j])
    feature, cut, gone, a, b, top = -1, -1, 0, np.int64(0), np.int64(0), NO_CUT
    if about_top == NO_CUT:
        return feature, cut, gone, a, b  # type: ignore[return-value]
    least = about_top - slack_of(total, factors)
    for j in range(first, last):
        if bounds[j] < least:
            continue
        if categorical[j]:
            if bounds[j] >= top:
                feature, cut, gone, a, b, top = j, -1, 0, told_bound(bounds[j]), np.int64(0), bounds[j]
            continue
        start, size = start_of(words, starts, width, j), starts[j + 1] - starts[j]
        what = size - 1, cuts[j], cuts_below[j], total, factors, turns
        c, side, low_minus, low_plus, worth = best_cut(minus[start::width], plus[start::width], *what)
        if worth > top:
            feature, cut, gone, a, b, top = j, c, side, low_minus, low_plus, worth
    return feature, cut, gone, a, b  # type: ignore[return-value]


@part
def told_bound(bound: float) -> int:
    """Return a bound as a whole number, which may be larger by a part in 2^40."""
    return np.int64(bound * 0.015625 * (1.0 + 2.0**-40)) + 1  # type: ignore[return-value]


@part
def told_worth(found: tuple[int, int, int, int], about: Any) -> float:
    """Return what a member's stump is worth, given its cut and sums; of categories what it cannot exceed."""
    _, cut, low_minus, low_plus = found
    total, factors, turns = about
    if cut < 0:
        return 64.0 * np.float64(low_minus)
    return compared(low_minus, low_plus, total, factors, turns)
