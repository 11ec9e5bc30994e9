"""Sums of several integers a row: a row adds all of them to each of its slots, side by side.

A slot's sums lie next to one another, so that adding a row's integers is a few vector instructions, where one histogram
after another would scatter every integer on its own.  The totals lie behind the slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.in_parts import adding

Array = np.ndarray[Any, Any]
U = np.uint64

BLOCK = 64  # rows: their integers stay in the cache while group after group of columns is read


@adding
def panel_sums(words: Array, base: Array, q: Array, members: Array, first: int, last: int, out: Array) -> None:
    """Add q[i] to out[slot] for all slots of the rows first <= i < last (of members[first:last] unless that is empty).

    A word holds the codes of as many columns as `base` has entries a group of words.
    """
    some, K, last_slot = members.size > 0, q.shape[1], out.shape[0] - 1
    lanes = base.size // words.shape[0]
    bits = U(64 // lanes)
    mask = (U(1) << bits) - U(1)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        for m in range(start, stop):
            i = np.int64(members[m]) if some else m
            for c in range(K):
                out[last_slot, c] += q[i, c]
        for g in range(words.shape[0]):
            for m in range(start, stop):
                i = np.int64(members[m]) if some else m
                word = words[g, i]
                for lane in range(lanes):
                    slot = np.int64(base[g * lanes + lane] + (word & mask))
                    word = word >> bits
                    for c in range(K):
                        out[slot, c] += q[i, c]


@adding
def sparse_panel_sums(slots: Array, indptr: Array, q: Array, members: Array, first: int, last: int, out: Array) -> None:
    """Do the same for the cells that a sparse table stores."""
    some, K, last_slot = members.size > 0, q.shape[1], out.shape[0] - 1
    for m in range(first, last):
        i = np.int64(members[m]) if some else m
        for c in range(K):
            out[last_slot, c] += q[i, c]
        for cell in range(indptr[i], indptr[i + 1]):
            slot = np.int64(slots[cell])
            for c in range(K):
                out[slot, c] += q[i, c]
