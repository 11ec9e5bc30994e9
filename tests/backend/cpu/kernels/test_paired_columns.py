"""Two sums a slot, a word's columns side by side, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.kernels import paired_columns
from boostlab.backend.cpu.kernels.paired_columns import PAIRS


def adder(per_word):
    add = PAIRS[per_word][0]

    @kernel
    def of_rows(hist, words, values):
        for i in range(np.uint64(words.size)):
            add(hist, words[i], values, i)

    return of_rows


def screener(screen):
    @kernel
    def of_word(hist, longest, ends, all0, all1, bar, hits):
        screen(hist, longest, ends, all0, all1, bar, hits)

    return of_word


@pytest.mark.parametrize("per_word", [8, 4])
def test_sums_of_a_word(per_word):
    rng = np.random.default_rng(per_word)
    codes = rng.integers(0, 256 if per_word == 8 else 300, size=(200, per_word))
    words = codes.astype(np.uint8 if per_word == 8 else np.uint16).view(np.uint64).ravel()
    q = rng.integers(-(2**50), 2**50, size=(200, 2))
    hist = np.zeros(2 * per_word * 300, np.int64)
    adder(per_word)(hist, words, q.ravel())
    expected = np.zeros((300, per_word, 2), np.int64)
    for row, two in zip(codes, q, strict=True):
        for column, code in enumerate(row):
            expected[code, column] += two
    assert np.array_equal(hist.reshape(expected.shape), expected)


@pytest.mark.parametrize("converts", [True, False])
@pytest.mark.parametrize("per_word", [8, 4])
def test_columns_that_may_explain_more(per_word, converts, monkeypatch):
    monkeypatch.setattr(paired_columns, "CONVERTS", converts)  # conversions that not every CPU has, and those of all
    kernel_of_word = screener(paired_columns._screening(per_word))
    rng = np.random.default_rng(per_word)
    sums = np.stack([rng.integers(1, 2**52, size=(20, per_word)), rng.integers(-(2**50), 2**50, size=(20, per_word))])
    sums[:, -1] += sums.sum(axis=1).max(axis=1, keepdims=True) - sums.sum(axis=1)  # of one total in all columns
    all0, all1 = sums.sum(axis=1)[:, 0].tolist()
    ends = rng.integers(0, 20, per_word)
    below = np.cumsum(sums, axis=1).astype(float)
    w, a = below
    explained = a * a / w + (all1 - a) ** 2 / np.maximum(all0 - w, 1.0)
    best = [explained[:end, l].max(initial=-1.0) for l, end in enumerate(ends)]
    hist = np.stack(sums, axis=-1).ravel()
    for bar in (*(x * (1 + s) for x in best for s in (-1e-9, 1e-9)), explained.max() * 2):
        hits = np.full(per_word, 7)
        kernel_of_word(hist, int(ends.max()), ends, all0, all1, bar, hits)
        assert hits.tolist() == [int(x >= bar) for x in best]
