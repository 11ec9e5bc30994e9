"""Codes: their shape, their distances, and what they correct."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from boostlab.reductions.codes import (
    _POLYNOMIALS,
    CODES,
    _bch_words,
    _powers,
    check_code,
    exhaustive,
    is_proper,
    make_code,
    min_distance,
    one_vs_one,
    one_vs_rest,
    random_code,
)
from boostlab.reductions.decoding import hamming


def rng(seed=0):
    return np.random.default_rng(seed)


def test_small_codes_by_hand():
    assert one_vs_rest(3).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert one_vs_one(3).tolist() == [[-1, -1, 0], [1, 0, -1], [0, 1, 1]]
    assert exhaustive(3).tolist() == [[1, 1, 1], [1, -1, -1], [-1, 1, -1]]
    assert make_code("ovo", 2, None, rng()).tolist() == [[-1], [1]]


@pytest.mark.parametrize("K", [3, 4, 5, 7, 8, 11, 26])
@pytest.mark.parametrize("name", ["auto", *CODES])
def test_no_column_is_constant_repeated_or_a_complement(name, K):
    if name == "exhaustive" and K > 8:
        pytest.skip("large")
    code = make_code(name, K, None, rng())
    assert code.dtype == np.int8
    assert len(code) == K
    assert set(np.unique(code)) <= {-1, 0, 1}
    for a in code.T:
        assert a.max() == 1
        assert a.min() == -1
    assert len(np.unique(np.hstack([code, -code]), axis=1).T) == 2 * code.shape[1]
    assert is_proper(code)
    assert np.array_equal(code, make_code(name, K, None, rng()))
    # Brute force: where two rows differ, a zero counting one half.
    brute = min(((1.0 - a * b) / 2).sum() for a, b in combinations(code, 2))
    assert min_distance(code) == brute > 0


def test_sizes_and_distances():
    for K in (3, 4, 5, 6, 7):
        code = exhaustive(K)
        assert code.shape[1] == 2 ** (K - 1) - 1
        assert min_distance(code) == 2 ** (K - 2)  # every pair of rows
    # Primitive BCH codes: (15, 5, 7), (31, 6, 15), (63, 7, 31) are what the sizes below ask for.
    for K, columns, shape, distance in ((8, 15, 15, 7), (26, 31, 31, 15), (26, None, 63, 31), (60, 63, 63, 31)):
        code = make_code("bch", K, columns, rng())
        assert code.shape == (K, shape)
        assert min_distance(code) >= distance
    assert all(len(set(_powers(m))) == 2**m - 1 for m in _POLYNOMIALS)  # each generates its field
    words = {w.tobytes() for w in _bch_words(4, 16)}
    assert len(words) == 32
    assert {np.roll(np.frombuffer(w, np.int64), 1).tobytes() for w in words} == words  # a cyclic code
    assert make_code("dense", 10, None, rng()).shape[1] == 34
    assert make_code("sparse", 10, None, rng()).shape[1] == 50
    assert 0.35 < (make_code("sparse", 26, None, rng()) == 0).mean() < 0.65
    assert make_code("dense", 3, 100, rng()).shape[1] == 3  # there are no more


@pytest.mark.parametrize("seed", range(5))
def test_small_codes_have_every_column(seed):
    # Of 4 classes there are (3^4 - 2^5 + 1) / 2 = 25 columns with both signs, a column and its complement once.
    for name, K, n_columns in (("sparse", 3, 6), ("sparse", 4, 25), ("dense", 3, 3), ("dense", 4, 7)):
        code = make_code(name, K, None, rng(seed))
        assert code.shape == (K, n_columns)
        assert is_proper(code)


def test_more_candidates_make_better_codes():
    found = [
        [min_distance(random_code(26, 40, rng(seed), candidates=candidates)) for seed in range(5)]
        for candidates in (1, 100)
    ]
    assert all(one <= many for one, many in zip(*found, strict=True))
    assert sum(found[0]) < sum(found[1])
    assert min(found[1]) >= 11


@pytest.mark.parametrize(("name", "K"), [("exhaustive", 5), ("bch", 10), ("dense", 12), ("ovr", 4)])
def test_hamming_decoding_corrects_what_the_distance_promises(name, K):
    code = make_code(name, K, None, rng(3))
    distance = min_distance(code)
    corrects = int((distance - 1) // 2)
    draw = rng(1)
    for _ in range(50):
        k = draw.integers(K)
        answers = code[k] * draw.uniform(0.1, 9, code.shape[1])
        answers[draw.choice(code.shape[1], corrects, replace=False)] *= -1
        assert hamming(code, answers[None]).argmax() == k
    # And no more than that: beyond halfway to the nearest row another class is as near.
    i, j = next((i, j) for i, j in combinations(range(K), 2) if (code[i] != code[j]).sum() == distance)
    answers, differ = code[i].astype(float), np.flatnonzero(code[i] != code[j])
    answers[differ[: corrects + 1]] *= -1
    scores = hamming(code, answers[None])[0]
    assert scores[j] >= scores[i]


def test_what_a_person_gives_is_checked():
    good = [[1, 1], [1, -1], [-1, 0]]
    assert check_code(good, 3).dtype == np.int8
    for bad, says in (
        ([[1, 1], [1, -1]], "one row a class"),
        ([[1, 2], [1, -1], [-1, 0]], "entries -1, 0"),
        ([[1, 1], [1, 1], [-1, 0]], "column 1 does not"),
        ([[1, 1], [1, 1], [-1, -1]], "the same"),
        ([[], [], []], "no column"),
    ):
        with pytest.raises(ValueError, match=says):
            check_code(bad, 3)
    with pytest.raises(ValueError, match="columns; use"):
        make_code("exhaustive", 20, None, rng())
    with pytest.raises(ValueError, match="fewer columns"):
        make_code("bch", 8, 200, rng())
    with pytest.raises(ValueError, match="more columns"):
        make_code("dense", 26, 3, rng())
