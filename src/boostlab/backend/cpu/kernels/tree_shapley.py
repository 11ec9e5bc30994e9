"""Shapley values of trees, leaf by leaf (Lundberg et al. 2020; tables of patterns as in Yang 2021, "Fast TreeSHAP").

What a leaf adds to a row's Shapley values depends only on the leaf's pattern: which of the m features on its path the
row agrees with.  So a leaf has a table of 2^m patterns with m numbers each, filled once, and a row costs one comparison
a node and m additions a leaf, instead of the m^2 operations a leaf of TreeSHAP.  Leaves with more than a few features
on their path, and small tables of rows, compute the numbers when they are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part

Array = np.ndarray[Any, Any]

ONE = np.uint64(1)
BATCH = 64  # rows whose patterns are in the cache together


@kernel
def count_low(
    X: Array,
    mass: Array,
    roots: Array,
    feature: Array,
    threshold: Array,
    missing_low: Array,
    children: Array,
    starts: Array,
    lows: Array,
    reached: Array,
    low: Array,
) -> None:
    """Add every row's mass to reached[node] for the nodes it reaches, and to low[node] for those it leaves low."""
    for t in range(roots.size - 1):
        for i in range(X.shape[0]):
            node = roots[t]
            while feature[node] >= 0:
                x = X[i, feature[node]]
                goes_low = x <= threshold[node]
                if x != x:
                    goes_low = missing_low[node]
                elif starts[node] < starts[node + 1]:
                    goes_low = lows[starts[node] + np.int64(x)]
                reached[node] += mass[i]
                if goes_low:
                    low[node] += mass[i]
                    node = children[node, 0]
                else:
                    node = children[node, 1]


@kernel
def trace_paths(
    feature: Array,
    parent: Array,
    children: Array,
    low_share: Array,
    start: Array,
    path: Array,
    share: Array,
    slot: Array,
) -> Array:
    """Write the distinct features on the path to every node, and the share of rows that agree with each.

    Node's path is path[start[node]:start[node] + count[node]]; slot[node] is the place of its parent's feature in it.
    """
    count = np.zeros(feature.size, np.int64)
    for node in range(feature.size):
        p = parent[node]
        if p < 0:
            continue
        n, here, above = count[p], start[node], start[p]
        s = n
        for k in range(n):
            path[here + k], share[here + k] = path[above + k], share[above + k]
            if path[above + k] == feature[p]:
                s = k
        if s == n:
            path[here + n], share[here + n] = feature[p], 1.0
            n += 1
        is_low = children[p, 0] == node
        share[here + s] *= low_share[p] if is_low else 1.0 - low_share[p]
        slot[node], count[node] = s, n
    return count


@part
def _patterns(
    X: Array,
    row: int,
    last_row: int,
    first: int,
    last: int,
    feature: Array,
    threshold: Array,
    missing_low: Array,
    children: Array,
    starts: Array,
    lows: Array,
    slot: Array,
    count: Array,
    pattern: Array,
) -> None:
    """Write which features of its path each row agrees with, one bit a slot, for the nodes of one tree.

    X holds one line a column, pattern one line a node, so that the loops over rows vectorise.
    """
    n = last_row - row
    pattern[0, :n] = np.uint64(0)
    for node in range(first, last):
        j = feature[node]
        if j < 0:
            continue
        low, high = children[node, 0], children[node, 1]
        bit = ONE << np.uint64(slot[low])  # both children have the same slot
        new = bit if slot[low] == count[node] else np.uint64(0)  # whether the feature is new on the path
        here, below, above = pattern[node - first], pattern[low - first], pattern[high - first]
        if starts[node] < starts[node + 1]:
            for r in range(n):
                x = X[j, row + r]
                is_low = missing_low[node] if x != x else lows[starts[node] + np.int64(x)]
                below[r] = here[r] | new if is_low else here[r] & ~bit
                above[r] = here[r] & ~bit if is_low else here[r] | new
        else:
            cut, absent = threshold[node], missing_low[node]
            for r in range(n):
                x = X[j, row + r]
                is_low = (x <= cut) | ((x != x) & absent)
                with_, without = here[r] | new, here[r] & ~bit
                below[r] = with_ if is_low else without
                above[r] = without if is_low else with_


@part
def _by_shares(agrees: Any, m: int, share: Array, sums: Array, out: Array) -> None:
    """Write the Shapley values of a leaf of value 1, where a feature that is left out agrees with its share.

    With A the features that agree, phi_i = -prod_{not A} z * sum_R prod_R z * w for i not in A, and (1 - z_i) times the
    same sum without i for i in A, over the subsets R of A; w = s! (m - 1 - s)! / m! for the s features of A not in R.
    """
    c, a = 1.0, 0
    sums[0] = 1.0
    for k in range(m):
        if (agrees >> np.uint64(k)) & ONE:
            a += 1
            sums[a] = 0.0
            for r in range(a, 0, -1):
                sums[r] += share[k] * sums[r - 1]
        else:
            c *= share[k]
    outside = 0.0
    weight = 1.0 / m  # of s = 0, where m - 1 others are left
    for s in range(a + 1):
        if s < m:
            outside += sums[a - s] * weight
            weight *= (s + 1.0) / max(m - 1.0 - s, 1.0)
    for k in range(m):
        if not (agrees >> np.uint64(k)) & ONE:
            out[k] = -c * outside
            continue
        inside, rest, weight = 0.0, 0.0, 1.0
        # Sums without k, from those with it; r features of A are in R, and s = a - 1 - r are not.
        weight = 1.0 / m
        for s in range(a - 1):
            weight *= (s + 1.0) / max(m - 1.0 - s, 1.0)
        for r in range(a):
            rest = sums[r] - share[k] * rest
            inside += rest * weight
            s = a - 1 - r
            if s > 0:
                weight *= (m - s) / s
        out[k] = c * (1.0 - share[k]) * inside


@part
def _by_rows(agrees: Any, m: int, seen: Array, weight: Array, inverse: Array, out: Array) -> None:
    """Write the Shapley values of a leaf of value 1, where features that are left out are those of background rows.

    A background row matters only if every feature agrees in one of the two rows: with a features that agree in the row
    alone and b in the background row alone, the former get (a-1)! b! / (a+b)!, the latter -a! (b-1)! / (a+b)!.
    """
    full = (ONE << np.uint64(m)) - ONE
    for k in range(m):
        out[k] = 0.0
    for i in range(seen.size):
        if (agrees | seen[i]) != full:
            continue
        mine, its = agrees & ~seen[i], seen[i] & ~agrees
        a, b = 0, 0
        for k in range(m):
            a += 1 if (mine >> np.uint64(k)) & ONE else 0
            b += 1 if (its >> np.uint64(k)) & ONE else 0
        if a + b == 0:
            continue
        for k in range(m):
            if (mine >> np.uint64(k)) & ONE:
                out[k] += weight[i] * inverse[a + b, a - 1]
            elif (its >> np.uint64(k)) & ONE:
                out[k] -= weight[i] * inverse[a + b, a]


@part
def _unit(
    agrees: Any, m: int, share: Array, seen: Array, weight: Array, inverse: Array, sums: Array, out: Array
) -> None:
    """Write the Shapley values of a leaf of value 1."""
    if seen.size:
        _by_rows(agrees, m, seen, weight, inverse, out)
    else:
        _by_shares(agrees, m, share, sums, out)


@kernel
def background_patterns(
    X: Array, mass: Array, roots: Array, nodes: Any, slot: Array, count: Array, leaves: Array
) -> Any:
    """Return the distinct patterns of background rows at every leaf, their masses, and where each leaf's start."""
    n, n_leaves = X.shape[1], leaves.size
    pattern = np.empty((np.max(np.diff(roots)), n), np.uint64)
    start = np.zeros(n_leaves + 1, np.int64)
    seen, weight = np.empty(n_leaves * n, np.uint64), np.empty(n_leaves * n)
    at, leaf = 0, 0
    for t in range(roots.size - 1):
        _patterns(X, 0, n, roots[t], roots[t + 1], *nodes, slot, count, pattern)
        while leaf < n_leaves and leaves[leaf] < roots[t + 1]:
            own = pattern[leaves[leaf] - roots[t]]
            order = np.argsort(own)
            for k in range(n):
                i = order[k]
                if k and own[i] == seen[at - 1]:
                    weight[at - 1] += mass[i]
                else:
                    seen[at], weight[at] = own[i], mass[i]
                    at += 1
            leaf += 1
            start[leaf] = at
    return seen[:at].copy(), weight[:at].copy(), start


@kernel
def fill_tables(
    first: int,
    last: int,
    leaves: Array,
    start: Array,
    count: Array,
    share: Array,
    background: Any,
    inverse: Array,
    place: Array,
    tables: Array,
) -> None:
    """Fill the tables of the leaves number first <= k < last, 2^m numbers a slot; place[k] is -1 for none."""
    seen, weight, begins = background
    sums, own = np.empty(65), np.empty(64)
    for k in range(first, last):
        if place[k] < 0:
            continue
        m = count[leaves[k]]
        z = share[start[leaves[k]] : start[leaves[k]] + m]
        mine = slice(begins[k], begins[k + 1])
        for pattern in range(1 << m):
            _unit(np.uint64(pattern), m, z, seen[mine], weight[mine], inverse, sums, own)
            for s in range(m):
                tables[place[k] + (s << m) + pattern] = own[s]


@kernel
def add_shapley(
    X: Array,
    roots: Array,
    nodes: Any,
    paths: Any,
    leaves: Array,
    background: Any,
    inverse: Array,
    place: Array,
    tables: Array,
    values: Array,
    phi: Array,
) -> None:
    """Add the Shapley values of all trees to phi[score, feature, row]; X holds one line a column."""
    start, path, share, slot, count = paths
    seen, weight, begins = background
    pattern = np.empty((np.max(np.diff(roots)), BATCH), np.uint64)
    sums, own = np.empty(65), np.empty(64)
    for t in range(roots.size - 1):
        low, high = np.searchsorted(leaves, roots[t]), np.searchsorted(leaves, roots[t + 1])
        for row in range(0, X.shape[1], BATCH):
            n = min(BATCH, X.shape[1] - row)
            _patterns(X, row, row + n, roots[t], roots[t + 1], *nodes, slot, count, pattern)
            for k in range(low, high):
                leaf = leaves[k]
                m, agrees, here = count[leaf], pattern[leaf - roots[t]], start[leaf]
                if place[k] < 0:
                    mine = slice(begins[k], begins[k + 1])
                    for r in range(n):
                        z = share[here : here + m]
                        _unit(agrees[r], m, z, seen[mine], weight[mine], inverse, sums, own)
                        for s in range(m):
                            for w in range(values.shape[1]):
                                phi[w, path[here + s], row + r] += values[leaf, w] * own[s]
                    continue
                for w in range(values.shape[1]):
                    v = values[leaf, w]
                    if v == 0.0:
                        continue
                    for s in range(m):
                        at = np.uint64(place[k] + (s << m))
                        out = phi[w, path[here + s]]
                        for r in range(n):
                            out[row + r] += v * tables[at + agrees[r]]
