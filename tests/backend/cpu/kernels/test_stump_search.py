"""The best edge against an enumeration of all stumps in Python integers."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.kernels.stump_search import best_edge


def numeric_stumps(values, missing):
    """Every stump as (cut, missing side, sum below, sum above), in the order of the tie rule; missing None: no row."""
    for cut in range(len(values) if missing is not None else len(values) - 1):
        low, high = sum(values[: cut + 1]), sum(values[cut + 1 :])
        if missing is None:
            yield cut, 0, low, high
        else:
            yield cut, 0, low, high + missing
            if cut < len(values) - 1:  # the last cut parts the values from the missing ones
                yield cut, 1, low + missing, high


def best_of_category(sums):
    """The largest edge of a stump that splits the categories in two."""
    signs = [s for s in product((-1, 1), repeat=len(sums)) if len(set(s)) == 2]
    return max(sum(s * v for s, v in zip(side, sums, strict=True)) for side in signs)


def enumerate_edges(features, total, sides):
    """The first of the best: (feature, cut, missing side, signed edge), or None."""
    best = None
    for j, (values, missing, category) in enumerate(features):
        if category:
            filled = [v for v in (*values, missing) if v is not None]
            found = [(-1, 0, +1, best_of_category(filled))] if len(filled) > 1 else []
        else:
            found = [
                (cut, side, polarity, polarity * (above - below))
                for cut, side, below, above in numeric_stumps(values, missing)
                for polarity in (+1, -1)
                if sides in (0, polarity)
            ]
        for cut, side, polarity, edge in found:
            if best is None or edge > best[0]:
                best = edge, (j, cut, side, polarity * edge)
    return best and best[1]


def search(features, total, sides):
    """Run the kernel: values is None where no row is in the slot (categories only)."""
    hist, filled, starts = [], [], [0]
    for values, missing, _ in features:
        for v in (*values, missing) if values else ():
            hist.append(v or 0)
            filled.append(v is not None)
        starts.append(len(hist))
    categorical = np.array([c for _, _, c in features])
    what = np.array(hist, np.int64), np.array(starts), np.array(filled, bool), categorical, total, sides
    *found, worth = best_edge(*what, 0, len(features))
    if found[0] >= 0:
        assert worth == (abs(found[3]) if sides == 0 else sides * found[3]) or found[1] < 0
    half = len(features) // 2  # the best of the parts, the first if they are equal, is the best of all
    parts = [best_edge(*what, a, b) for a, b in ((0, half), (half, len(features)))]
    assert tuple(max(parts, key=lambda part: part[4])[:4]) == tuple(found)
    return tuple(found)


EMPTY = ([], None, False)  # no slots at all


def plain(*rows):
    return [(list(row), None, False) for row in rows]


@settings(max_examples=125)
@given(st.data())
def test_best_edge_takes_the_first_of_the_best(data):
    size = data.draw(st.sampled_from([1, 3, 2**56]))  # small numbers: many ties
    # All features split one and the same set of rows, so every one of them has the same sum.
    total = data.draw(st.integers(-4, 4)) * size
    features = []
    for _ in range(data.draw(st.integers(1, 10))):
        category = data.draw(st.booleans())
        if data.draw(st.integers(0, 5)) == 0:  # a sparse column of zeros
            features.append(EMPTY)
            continue
        cells = [c * size for c in data.draw(st.lists(st.integers(-3, 3), max_size=5 if category else 14))]
        missing = data.draw(st.integers(-3, 3)) * size if data.draw(st.booleans()) else None
        cells.append(total - sum(cells) - (missing or 0))
        if category:  # categories that no row has, anywhere among the others
            cells = [c for v in cells for c in ([v, None] if data.draw(st.booleans()) else [v])]
        features.append((cells, missing, category))
    for sides in (0, 1, -1):
        feature, cut, side, edge = search(features, total, sides)
        expected = enumerate_edges(features, total, sides)
        assert ((feature, cut, side, edge) if feature >= 0 else None) == expected


def test_best_edge_ties_by_hand():
    rows = [1, -1, 1], [-1, 1, 1], [1, 1, -1]  # total 1; edges -1 1 | 3 1 | -1 -3
    assert search(plain(*rows), 1, 0) == (1, 0, 0, 3)  # -3 of the last feature is as good but later
    assert search(plain(*rows), 1, 1) == (1, 0, 0, 3)
    assert search(plain(*rows), 1, -1) == (2, 1, 0, -3)
    assert search(plain(*rows[::-1]), 1, 0) == (0, 1, 0, -3)
    assert search(plain(rows[0], rows[0]), 1, 0) == (0, 0, 0, -1)  # first feature, then first cut
    assert search(plain([0, 0, 0], [0, 0, 0]), 0, 0) == (0, 0, 0, 0)


def test_missing_values_by_hand():
    # Votes +1 above: 5 rows' worth below, 5 above, and the missing 4 belong below.
    assert search([([-5, 5], -4, False)], -4, 0) == (0, 0, 1, 14)
    assert search([([-5, 5], 4, False)], 4, 0) == (0, 0, 0, 14)
    assert search([([5, 5], -4, False)], 6, 0) == (0, 1, 0, -14)  # present against missing
    assert search([([5], -4, False)], 1, 0) == (0, 0, 0, -9)
    assert search(plain([3], [2]), 3, 0)[0] == -1  # constant columns offer nothing


def test_a_short_column_beside_a_long_one_has_no_cut_behind_its_last():
    # The whole sum, 5, is more than any cut gains: it must not count, wherever in its word the short column is.
    short, long = [2, 3], [1, 1, 1, 1, 1]
    for place in range(9):
        columns = plain(*[long] * place, short, *[long] * (8 - place))
        assert search(columns, 5, 0) == (0 if place else 1, 0, 0, 3)


def test_many_columns_of_all_lengths():
    rng = np.random.default_rng(4)
    for d in (1, 7, 8, 9, 33):
        rows = [rng.integers(-9, 9, rng.integers(1, 300)) for _ in range(d)]
        rows = [[*map(int, row), int(5 - row.sum())] for row in rows]  # columns of one sample have the same sum
        for sides in (0, 1, -1):
            assert search(plain(*rows), 5, sides) == enumerate_edges(plain(*rows), 5, sides)


def test_categories_by_hand():
    assert search([([3, None, -2, 1], None, True)], 2, 0) == (0, -1, 0, 6)
    assert search([([3, 2, 1], None, True)], 6, 0) == (0, -1, 0, 4)  # all agree: the lightest goes to the other side
    assert search([([3, None], None, True)], 3, 0)[0] == -1
    assert search([([3, None], -1, True)], 2, 0) == (0, -1, 0, 4)  # missing values are a category of their own
