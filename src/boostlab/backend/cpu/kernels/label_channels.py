"""Integers of rows and labels, a channel after the other: formed, and summed over rows.

Some rows' channels are summed two by two, as trees sum two channels (`tree_histogram`): 0.23 ns an integer, against 0.3
to 0.45 for a row's integers side by side, whose histogram leaves the first cache.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import adding, in_parts
from boostlab.backend.cpu.kernels.fixed_point import largest_of, power_factors
from boostlab.backend.cpu.kernels.row_blocks import BLOCK as ROWS
from boostlab.backend.cpu.kernels.row_blocks import new_block
from boostlab.backend.cpu.kernels.tree_histogram import ADD_PAIRS, gather_numbers
from boostlab.backend.cpu.kernels.workspace import BLOCK, block_of_doubles, clear, integers

Array = np.ndarray[Any, Any]


@in_parts
def form_channels(weight: Array, target: Array, sizes: bool, first: int, last: int, out: Array) -> None:
    """Write weight * target (the weight alone, of sizes) of the rows first <= i < last; all have a row a label."""
    for label in range(out.shape[0]):
        w, t, mine = weight[label, first:last], target[label, first:last], out[label, first:last]
        for i in range(mine.size):
            mine[i] = w[i] if sizes else w[i] * t[i]


@in_parts
def round_channels(
    weight: Array,
    target: Array,
    sizes: Array,
    powers: Array,
    first: int,
    last: int,
    part: int,
    q: Array,
    tops: Array,
    found: Array,
) -> None:
    """Do as `tops_and_sums` does for the values of all channels together, of the rows first <= i < last.

    Write the integers at the last of the powers to q, a row a channel: a channel a label for each form, which is the
    weight alone or weight * target.  Add to the part's numbers: for each power the sums of q and of |q| of all
    channels, and then, at the last power, each channel's.  Behind these, of two labels, comes for each form in how many
    blocks integers differ, and in how many they are not opposite.
    """
    values, labels, top, mine = block_of_doubles(), weight.shape[0], 0.0, found[part]
    behind = 2 * powers.shape[0]
    for start in range(first, last, BLOCK):
        end = min(start + BLOCK, last)
        for c in range(q.shape[0]):
            label, size_only = c % labels, sizes[c // labels]
            w, t, x, to = weight[label, start:end], target[label, start:end], values[: end - start], q[c, start:end]
            for i in range(x.size):
                x[i] = w[i] if size_only else w[i] * t[i]
            here = largest_of(x)
            top = max(top, here) if here == here and top == top else np.nan
            signed, gross = np.int64(0), np.int64(0)
            for p in range(powers.shape[0]):
                scale, more = power_factors(powers[p, 0])
                signed, gross = np.int64(0), np.int64(0)
                for i in range(x.size):
                    new = np.int64(np.rint(x[i] * scale * more))
                    to[i] = new
                    signed += new
                    gross += abs(new)
                mine[2 * p] += signed
                mine[2 * p + 1] += gross
            mine[behind + 2 * c] += signed
            mine[behind + 2 * c + 1] += gross
            if labels == 2 and label == 1:
                differ, not_opposite = differences(q[c - 1, start:end], to)
                at = behind + 2 * q.shape[0] + c - 1
                mine[at] += differ
                mine[at + 1] += not_opposite
    tops[part] = top


@part
def differences(q: Array, p: Array) -> tuple[int, int]:
    """Return whether some integers differ, and whether some are not opposite."""
    same, opposite = np.int64(0), np.int64(0)
    for i in range(q.size):
        same |= q[i] - p[i]
        opposite |= q[i] + p[i]
    return same != 0, opposite != 0


@in_parts
def signs_between(q: Array, p: Array, first: int, last: int) -> tuple[int, int]:
    """Do the same for the integers first <= i < last."""
    return differences(q[first:last], p[first:last])


@in_parts
def subtract(sums: Array, others: Array, first: int, last: int) -> None:
    """Subtract others from sums, for first <= s < last."""
    sums, others = sums[first:last], others[first:last]
    for s in range(sums.size):
        sums[s] -= others[s]


@adding
def channel_totals(q: Array, first: int, last: int, out: Array) -> None:
    """Add the sums of q and of |q| over the rows first <= i < last to the channels' out."""
    for c in range(q.shape[0]):
        signed, gross, mine = np.int64(0), np.int64(0), q[c, first:last]
        for i in range(mine.size):
            signed += mine[i]
            gross += abs(mine[i])
        out[c, 0] += signed
        out[c, 1] += gross


@adding
def turned_totals(q: Array, votes: Array, first: int, last: int, out: Array) -> None:
    """Add the sums of q times the votes, -1 and +1, over the rows first <= i < last to the channels' out."""
    votes = votes[first:last]
    for c in range(q.shape[0]):
        found, mine = np.int64(0), q[c, first:last]
        for i in range(mine.size):
            found += mine[i] if votes[i] > 0 else -mine[i]
        out[c] += found


@cache
def sums_of_members(per_word: int) -> Any:
    """Return the compiled sums of all channels over some rows, on codes of which a word holds so many."""
    add = ADD_PAIRS[per_word]

    @in_parts
    def sums(
        words: Array, bases: Array, starts: Array, q: Array, members: Array, first: int, last: int, slots: Array
    ) -> None:
        """Write the sums of the members' integers to slots[channel], for the stretches first <= u < last.

        A stretch is one word of columns for one pair of channels, those of a pair after each other.  Bases are where
        columns start in the histogram of a pair.
        """
        groups, d, channels = words.size // q.shape[1], starts.size - 1, q.shape[0]
        block, sums = new_block(), integers(2 * starts[d])
        at = first
        while at < last:
            pair, g = at // groups, at % groups
            end = min(groups, g + last - at)
            a, b = 2 * pair, min(2 * pair + 1, channels - 1)
            low, high = starts[g * per_word], starts[min(end * per_word, d)]
            clear(sums[2 * low : 2 * high])
            for start in range(0, members.size, ROWS):
                size = min(ROWS, members.size - start)
                gather_numbers((q[a:], q[b:]), 0, members, True, 1, start, size, block)
                add(words, 1, q.shape[1], bases, d, 2, block, size, 0, g, end, sums)
            for s in range(low, high):
                slots[a, s], slots[b, s] = sums[2 * s], sums[2 * s + 1]
            at += end - g

    return sums
