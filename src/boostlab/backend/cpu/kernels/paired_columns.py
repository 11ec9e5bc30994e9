"""Two sums a slot, where the columns of a word lie side by side in the histogram.

The sums of code c of a word's column l are at 2 * (c * per_word + l) and behind it.  A row adds two numbers to a column
by one vector addition.  One code's sums of all columns are two vectors, so that running sums and what a cut explains
are operations on vectors: 0.2 ns a cut, where a column after the other takes 0.5.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import data_of
from boostlab.backend.cpu.compiling import inlined, part
from boostlab.backend.cpu.kernels.tree_search import OFFSET, Array

_inside: Any = intrinsic  # what is not Python but instructions
_I, _D, _POSITION = ir.IntType(64), ir.DoubleType(), ir.IntType(32)
CONVERTS = bool(get_host_cpu_features().get("avx512dq", False))  # vectors of integers to floats by one instruction


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any) -> Any:
    data = data_of(builder, array)
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _adding(per_word: int) -> Any:
    """Return the instructions for words of so many codes."""
    pair, width, apart = ir.VectorType(_I, 2), 64 // per_word, per_word.bit_length()

    @_inside
    def add(typing: Any, hist: Any, word: Any, values: Any, k: Any) -> Any:
        """Add values[2 k] and values[2 k + 1] to the slots of all columns of a word."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds, last = signature.args, ir.Constant(_I, (1 << width) - 1)
            twice = builder.shl(args[3], ir.Constant(_I, 1))
            value = builder.load(_place(context, builder, kinds[2], args[2], twice, pair), align=8)
            for position in range(per_word):
                code = builder.and_(builder.lshr(args[1], ir.Constant(_I, width * position)), last)
                slot = builder.or_(builder.shl(code, ir.Constant(_I, apart)), ir.Constant(_I, 2 * position))
                at = _place(context, builder, kinds[0], args[0], slot, pair)
                builder.store(builder.add(builder.load(at, align=8), value), at, align=8)
            return context.get_dummy_value()

        return types.void(hist, types.uint64, values, types.uint64), code

    return add


def vector_of_floats(builder: Any, x: Any, size: int) -> Any:
    """Return integers as floats, rounded once; see `tree_search.put_together`."""
    kind = ir.VectorType(_D, size)
    if CONVERTS:
        return builder.sitofp(x, kind)

    def all_of(bits: int) -> Any:
        return ir.Constant(x.type, [bits] * size)

    def as_bits(half: Any, digits: int) -> Any:
        return builder.bitcast(builder.or_(half, all_of(digits)), kind)

    bits = builder.xor(x, all_of(1 << 63))
    upper = as_bits(builder.lshr(bits, all_of(32)), 0x4530000000000000)
    lower = as_bits(builder.and_(bits, all_of(0xFFFFFFFF)), 0x4330000000000000)
    return builder.fadd(builder.fsub(upper, ir.Constant(kind, [OFFSET] * size)), lower)


def _screening(per_word: int) -> Any:
    """Return the instructions for words of so many codes."""
    whole, floats, flags = (ir.VectorType(kind, per_word) for kind in (_I, _D, ir.IntType(1)))
    places = ir.VectorType(_POSITION, per_word)

    @_inside
    def screen(typing: Any, hist: Any, longest: Any, ends: Any, all0: Any, all1: Any, bar: Any, hits: Any) -> Any:
        """Write to hits[l] whether one of the first ends[l] cuts of a word's column l, longest at most, might explain
        more than the bar (see `tree_search.may_explain`).
        """

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def at(array: int, index: Any) -> Any:
                return _place(context, builder, signature.args[array], args[array], index, whole)

            def all_of(x: Any, kind: Any) -> Any:
                nothing = ir.Constant(kind, ir.Undefined)
                first = builder.insert_element(nothing, x, ir.Constant(_POSITION, 0))
                return builder.shuffle_vector(first, nothing, ir.Constant(places, [0] * per_word))

            own = builder.load(at(2, ir.Constant(_I, 0)), align=8)
            all_w, all_a, bars = all_of(args[3], whole), all_of(args[4], whole), all_of(args[5], floats)
            before = builder.block
            head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
            builder.branch(head)
            builder.position_at_end(head)
            c, low, high, hit = builder.phi(_I), builder.phi(whole), builder.phi(whole), builder.phi(flags)
            builder.cbranch(builder.icmp_signed("<", c, args[1]), body, done)
            builder.position_at_end(body)
            slot = builder.mul(c, ir.Constant(_I, 2 * per_word))
            behind = builder.add(slot, ir.Constant(_I, per_word))
            lower = builder.add(low, builder.load(at(0, slot), align=8))
            higher = builder.add(high, builder.load(at(0, behind), align=8))
            sums = [
                builder.shuffle_vector(lower, higher, ir.Constant(places, list(range(side, 2 * per_word, 2))))
                for side in (0, 1)
            ]
            rest = [builder.sub(total, below) for total, below in zip((all_w, all_a), sums, strict=True)]
            (w, a), (v, b) = ([vector_of_floats(builder, x, per_word) for x in pair] for pair in (sums, rest))
            left = builder.fmul(builder.fmul(a, a), v)
            right = builder.fmul(builder.fmul(b, b), w)
            worth = builder.fcmp_ordered(">=", builder.fadd(left, right), builder.fmul(bars, builder.fmul(w, v)))
            inside = builder.icmp_signed("<", all_of(c, whole), own)
            some = builder.or_(hit, builder.and_(worth, inside))
            none, never = ir.Constant(whole, [0] * per_word), ir.Constant(flags, [0] * per_word)
            after = builder.add(c, ir.Constant(_I, 1))
            starts, nexts = (ir.Constant(_I, 0), none, none, never), (after, lower, higher, some)
            for now, start, then in zip((c, low, high, hit), starts, nexts, strict=True):
                now.add_incoming(start, before)
                now.add_incoming(then, builder.block)
            builder.branch(head)
            builder.position_at_end(done)
            builder.store(builder.zext(hit, whole), at(6, ir.Constant(_I, 0)), align=8)
            return context.get_dummy_value()

        return types.void(hist, types.intp, ends, types.int64, types.int64, types.float64, hits), code

    return screen


_add_eight, _add_four, _screen_eight, _screen_four = _adding(8), _adding(4), _screening(8), _screening(4)


@inlined
def add_to_eight(hist: Array, word: int, values: Array, k: int) -> None:
    """Add values[2 k] and values[2 k + 1] to the slots of all columns of a word of eight."""
    _add_eight(hist, word, values, k)


@inlined
def add_to_four(hist: Array, word: int, values: Array, k: int) -> None:
    """Do the same for a word of four."""
    _add_four(hist, word, values, k)


@part
def screen_eight(hist: Array, longest: int, ends: Array, all0: int, all1: int, bar: float, hits: Array) -> None:
    """Write to hits[l] whether one of the first ends[l] cuts of column l might explain more than the bar; none has more
    than `longest`.
    """
    _screen_eight(hist, longest, ends, all0, all1, bar, hits)


@part
def screen_four(hist: Array, longest: int, ends: Array, all0: int, all1: int, bar: float, hits: Array) -> None:
    """Do the same for a word of four columns."""
    _screen_four(hist, longest, ends, all0, all1, bar, hits)


PAIRS = {8: (add_to_eight, screen_eight), 4: (add_to_four, screen_four)}
