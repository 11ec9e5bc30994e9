"""A stump ensemble as one step function a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.evaluation import step_scores
from boostlab.data.table import Table
from boostlab.learners.fitted_stump import CategoryStump

Array = npt.NDArray[Any]


@dataclass
class LookupTable:
    """A stump ensemble as one step function per used feature: predicting does not depend on the number of rounds."""

    features: Array  # the used features
    starts: Array  # where each feature's cuts start
    cuts: Array
    values: Array  # one row per interval, one column per output, as multiples of 2^-power
    missing: Array  # one row per feature, for NaN
    power: int

    @classmethod
    def of(cls, voters: Sequence[Any], alphas: Array, bound: float, width: int) -> LookupTable:
        """Collapse stumps with these coefficients, whose scores (so many a row) are never larger than the bound."""
        by_feature: dict[int, list[tuple[float, Any]]] = {}
        for alpha, voter in zip(alphas, voters, strict=True):
            if alpha != 0.0:
                by_feature.setdefault(voter.feature, []).append((alpha, voter))
        features = sorted(by_feature)
        steps = [_steps(by_feature[j], width) for j in features]
        empty = np.empty((0, width))
        power = 61 - int(np.frexp(bound)[1])

        def whole(values: list[Array]) -> Array:
            """Round to fixed point: a row's values add up exactly, in any order, and zeros need not be looked at."""
            return np.rint(np.ldexp(np.concatenate([empty, *values]), power)).astype(np.int64)

        return cls(
            np.array(features, np.int64),
            np.concatenate([[0], np.cumsum([len(cuts) for cuts, _, _ in steps])]).astype(np.int64),
            np.concatenate([*(cuts for cuts, _, _ in steps), np.empty(0)]),
            whole([values for _, values, _ in steps]),
            whole([missing for _, _, missing in steps]),
            power,
        )

    def scores(self, table: Table) -> Array:
        """Return the scores of all rows, one column an output."""
        return step_scores(table, self.features, (self.starts, self.cuts, self.values, self.missing), self.power)


def _steps(stumps: list[tuple[float, Any]], width: int) -> tuple[Array, Array, Array]:
    """Return one feature's step function as its cuts, the values between them, and the value of NaN (one row)."""
    categories = [len(v.leaves) for _, v in stumps if isinstance(v, CategoryStump)]
    if categories:  # a stump among them votes alike for all
        alike = [v.leaves if isinstance(v, CategoryStump) else np.array([v.left] * categories[0]) for _, v in stumps]
        leaves: Any = sum(a * _by_class(votes, width) for (a, _), votes in zip(stumps, alike, strict=True))
        return np.arange(len(leaves) - 2) + 0.5, leaves[:-1], leaves[-1:]
    stumps = sorted(stumps, key=lambda av: av[1].threshold)
    threshold = np.array([v.threshold for _, v in stumps]) + 0.0  # -0.0 is 0.0, also to the sign bit of a difference
    alphas = np.array([a for a, _ in stumps])[:, None]
    left = alphas * _by_class(np.array([v.left for _, v in stumps]), width)
    right = alphas * _by_class(np.array([v.right for _, v in stumps]), width)
    missing = [v.right if v.missing is None else v.missing for _, v in stumps]
    absent = alphas * _by_class(np.array(missing), width)
    # In interval k the stumps before it have been crossed and vote right, the others left.
    zero = np.zeros((1, width))
    crossed = np.concatenate([zero, np.cumsum(right, axis=0)])
    ahead = np.concatenate([zero, np.cumsum(left[::-1], axis=0)])[::-1]
    cuts, at = np.unique(threshold, return_index=True)
    values = in_order((crossed + ahead)[np.append(at, len(stumps))], left, right)
    return cuts, values, absent.sum(axis=0, keepdims=True)


def in_order(values: Array, left: Array, right: Array) -> Array:
    """Return the levels of a sum of steps, which rises where all steps do, also where rounding would have it fall."""
    if (left <= right).all():
        return np.maximum.accumulate(values, axis=0)
    return np.minimum.accumulate(values, axis=0) if (left >= right).all() else values


def _by_class(votes: Array, width: int) -> Array:
    """Return votes with a column for each of `width` scores; the number of a class is a 1 in its column."""
    return np.eye(width)[votes] if votes.dtype.kind != "f" else votes.reshape(-1, width)
