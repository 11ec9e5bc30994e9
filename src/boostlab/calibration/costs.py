"""Decisions by expected cost, and thresholds by a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def is_cost(cost: Any) -> bool:
    """Return whether something may be a table of costs."""
    return cost is None or isinstance(cost, Mapping | list | tuple | np.ndarray)


def cost_matrix(cost: Any, classes: Array) -> Array:
    """Return what it costs to predict class j for a row of class i, as C[i, j].

    Parameters
    ----------
    cost : mapping or matrix
        {(true label, predicted label): cost}; a mistake that is not named costs 1, a right prediction 0.  Or the
        matrix.
    classes : array
        The labels in order.
    """
    K, names = len(classes), classes.tolist()
    if isinstance(cost, Mapping):
        C = 1.0 - np.eye(K)
        for pair, value in cost.items():
            if not (isinstance(pair, tuple) and len(pair) == 2 and all(label in names for label in pair)):
                raise ValueError(
                    f"cost names {pair!r}, which is not a pair (true label, predicted label) of the labels {names}."
                )
            if not isinstance(value, Real):
                raise ValueError(f"cost[{pair!r}]={value!r} is not a number.")
            C[names.index(pair[0]), names.index(pair[1])] = float(value)
    else:
        C = np.asarray(cost, np.float64)
    if C.shape != (K, K) or not np.isfinite(C).all():
        raise ValueError(f"cost must be {K} lines of {K} finite numbers, a line a true class in the order of {names}.")
    return C


def cheapest(P: Array, C: Array) -> Array:
    """Return the class with the smallest expected cost; of equals the first."""
    return np.asarray((P @ C).argmin(axis=1))


# Metrics of two classes, of the numbers of true and false positives and of rows of both kinds; larger is better.
METRICS: dict[str, Callable[[Array, Array, float, float], Array]] = {
    "accuracy": lambda tp, fp, p, n: (tp + n - fp) / (p + n),
    "balanced_accuracy": lambda tp, fp, p, n: (tp / p + 1 - fp / n) / 2,
    "f1": lambda tp, fp, p, n: 2 * tp / (tp + fp + p),
}


def best_threshold(s: Array, y: Array, metric: Any, C: Array | None) -> float:
    """Return the threshold of a score above which to predict the second class, for the best value of a metric.

    It lies in the middle between two scores; of equals it is the one that predicts the second class least often.

    Parameters
    ----------
    s : array of shape (n_rows,)
        Scores.
    y : array of shape (n_rows,)
        Truth values: whether a row is of the second class.
    metric : str or callable
        "f1", "accuracy", "balanced_accuracy", "cost", or f(y_true, y_pred) of 0 and 1, larger being better.
    C : array of shape (2, 2), optional
        Costs, for "cost".
    """
    x = np.unique(s)[::-1]
    cuts = np.concatenate([[np.inf], (x[:-1] + x[1:]) / 2, [-np.inf]])
    if callable(metric):
        cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, min(len(cuts), 256)).astype(np.intp))]
        worth = np.array([float(metric(y.astype(int), (s > c).astype(int))) for c in cuts])
        return float(cuts[worth.argmax()])
    order = np.argsort(-s, kind="stable")
    last = np.concatenate([[0], np.searchsorted(-s[order], -x, "right")])
    tp = np.concatenate([[0], np.cumsum(y[order])])[last].astype(float)
    fp = last - tp
    p, n = float(y.sum()), float(len(y) - y.sum())
    if metric == "cost":
        if C is None:
            raise ValueError('metric="cost" needs costs: set cost={(true, predicted): ...} on the model, and fit it.')
        worth = -((p - tp) * C[1, 0] + fp * C[0, 1] + tp * C[1, 1] + (n - fp) * C[0, 0])
    elif metric in METRICS:
        worth = METRICS[metric](tp, fp, p, n)
    else:
        raise ValueError(f"metric={metric!r} is not known; use {', '.join(map(repr, METRICS))}, 'cost', or a function.")
    return float(cuts[worth.argmax()])
