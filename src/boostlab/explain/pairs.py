"""Which pairs of features act together: terms of pairs, and Friedman's H.

The partial dependence on a pair j, k less those on j and on k (plus the mean) is, at a leaf of value v,
v (o_j o_k s_jk - o_j s_j - o_k s_k + s): o tells whether the row agrees with the leaf's path, s_S which share of the
rows agrees with all features on it but S.  The sum over leaves is the pair's term: all of what j and k do together,
where no tree asks more than two features on a path; above that, the part that the other features leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.explain.forest import Forest, steps_and_trees
from boostlab.explain.parts import AdditivePart, parts_of
from boostlab.explain.reference import dense

Array = npt.NDArray[Any]

MOST_ROWS = 500


@dataclass(frozen=True)
class Interaction:
    """Two features and how strongly they act together.

    Attributes
    ----------
    features : (str, str)
        Their names.
    strength : float
        The root mean square of the pair's term over the rows, in units of the score (of all classes, where there are
        several).
    h : float
        Friedman's H: the share of the pair's joint effect that is not the sum of two single ones, from 0 to 1 (above 1
        only where the single effects are nearly nothing).
    """

    features: tuple[str, str]
    strength: float
    h: float


def interactions(model: Any, X: Any, most_rows: int = MOST_ROWS) -> list[Interaction]:
    """Return the pairs of features that some tree asks together, the strongest first.

    Parameters
    ----------
    model : Booster
        Fitted.  A vote of stumps has no interactions.
    X : array-like of shape (n_rows, n_features)
        Rows over which effects are averaged.
    most_rows : int, default=500
        How many of them to use, evenly spaced; the cost is linear in this.

    Returns
    -------
    list of Interaction
        Exact for these rows where no tree asks more than two features on a path (max_depth=2); above that, Friedman's
        H-statistic (Friedman & Popescu 2008).

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab import L2BoostRegressor
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> model = L2BoostRegressor(max_depth=2).fit(X, X[:, 0] * X[:, 2] + X[:, 1])
    >>> interactions(model, X)[0].features
    ('x0', 'x2')
    """
    parts = parts_of(model)
    table = model._table(X)
    chosen = np.unique(np.linspace(0, table.n_rows - 1, min(most_rows, table.n_rows)).astype(np.intp))
    x = dense(table.X, chosen, parts.used)
    pairs: dict[tuple[int, int], float] = {}
    joint: dict[tuple[int, int], float] = {}
    for part in parts.votes:
        for pair, (term, both) in _of_part(part, parts.used, x).items():
            pairs[pair] = pairs.get(pair, 0.0) + term
            joint[pair] = joint.get(pair, 0.0) + both
    found = []
    for (j, k), term in pairs.items():
        h = float(np.sqrt(term / joint[j, k])) if joint[j, k] > 0 else 0.0
        found.append(Interaction((parts.names[j], parts.names[k]), float(np.sqrt(term)), h))
    return sorted(found, key=lambda i: (-i.strength, i.features))


def _of_part(part: AdditivePart, used: Array, x: Array) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the mean squares of the pairs' terms, and of the pairs' joint effects."""
    _, steps, trees = steps_and_trees(part.forest)
    single = {int(j): np.zeros((len(x), part.forest.width)) for j in used}
    pair: dict[tuple[int, int], Array] = {}
    for f in steps:
        single[f.feature] += f(x[:, np.searchsorted(used, f.feature)])
    for leaf, features, agrees in _leaves(trees, used, x):
        v = trees.values[leaf]
        m = len(features)
        others = _SharesWithout(agrees)
        for a in range(m):
            single[features[a]] += np.outer(agrees[a] * others[1 << a] - others[0], v)
        for a, b in combinations(range(m), 2):
            term = (
                agrees[a] * agrees[b] * others[(1 << a) | (1 << b)]
                - agrees[a] * others[1 << a]
                - agrees[b] * others[1 << b]
                + others[0]
            )
            key = (min(features[a], features[b]), max(features[a], features[b]))
            pair[key] = pair.get(key, 0.0) + np.outer(term, v)
    told: dict[tuple[int, int], tuple[float, float]] = {}
    for (j, k), term in pair.items():
        both = term + single[j] + single[k]
        told[j, k] = _mean_square(term @ part.matrix), _mean_square(both @ part.matrix)
    return told


def _mean_square(effect: Array) -> float:
    """Return the mean square of an effect less its mean, summed over the scores."""
    return float(effect.var(axis=0).sum())


class _SharesWithout(dict[int, float]):
    """The share of rows that agree with all features but some (a bit each), made when it is asked for."""

    def __init__(self, agrees: Array) -> None:
        self.agrees = agrees

    def __missing__(self, without: int) -> float:
        kept = [a for k, a in enumerate(self.agrees) if not without >> k & 1]
        self[without] = share = float(np.logical_and.reduce(kept).mean()) if kept else 1.0
        return share


def _leaves(forest: Forest, used: Array, x: Array) -> Iterator[tuple[int, list[int], Array]]:
    """Yield every leaf with the features on its path, and which rows agree with each."""
    goes_low = {}
    for node in np.flatnonzero(forest.feature >= 0).tolist():
        column = x[:, np.searchsorted(used, forest.feature[node])]
        absent = np.isnan(column)
        members = forest.lows[forest.starts[node] : forest.starts[node + 1]]
        if len(members):
            low = members[np.where(absent, 0, column).astype(np.intp)]
        else:
            low = column <= forest.threshold[node]
        goes_low[node] = np.where(absent, forest.missing_low[node], low)
    for leaf in np.flatnonzero(forest.feature < 0).tolist():
        agrees: dict[int, Array] = {}
        node = leaf
        while (parent := int(forest.parent[node])) >= 0:
            low = forest.children[parent, 0] == node
            own = goes_low[parent] if low else ~goes_low[parent]
            j = int(forest.feature[parent])
            agrees[j] = agrees[j] & own if j in agrees else own
            node = parent
        yield leaf, list(agrees), np.array(list(agrees.values()), bool).reshape(len(agrees), len(x))
