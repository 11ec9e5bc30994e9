"""Monotone columns and allowed interactions: from what a user passes to constraints on the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression

from boostlab.boosters.params import Check, one_of
from boostlab.contract import Learner, Rule
from boostlab.contract.constraints import Constraints
from boostlab.contract.slots import Slots
from boostlab.ensemble.rounds import Round, Rounds, coefficients
from boostlab.learners import DecisionStump
from boostlab.learners.fitted_stump import Stump

Array = npt.NDArray[Any]

WORDS = ("no_interactions", "pairwise")  # as in scikit-learn
SCORED = ("edge", "svp", "z", "least_squares")  # criteria of votes that are one number


def _is_directions(v: Any) -> bool:
    return isinstance(v, Mapping) and all(_is_column(k) and d in (-1, 0, 1) for k, d in v.items())


def _is_groups(v: Any) -> bool:
    groups = isinstance(v, Sequence) and not isinstance(v, str)
    return groups and all(_is_group(g) and all(map(_is_column, g)) for g in v)


def _is_group(v: Any) -> bool:
    return isinstance(v, Iterable) and not isinstance(v, str | bytes | Mapping)


def _is_column(v: Any) -> bool:
    return isinstance(v, str) or (isinstance(v, Integral) and not isinstance(v, bool))


MONOTONE = one_of(None) | Check(_is_directions, "a mapping from columns (names or positions) to +1 or -1")
INTERACTIONS = one_of(None, *WORDS) | Check(_is_groups, "a list of lists of columns (names or positions)")


class Constraining:
    """A booster whose vote may be told to keep to constraints."""

    monotone: Any
    interactions: Any
    shapes: str | None
    n_features_in_: int
    _columns: Any

    def _constrained(self, learner: Learner, rule: Rule) -> Learner:
        """Return the learner that keeps to the constraints, or say why there is none."""
        if self.shapes is not None and not self.monotone:
            raise ValueError('shapes="isotonic" makes columns monotone; name them: monotone={column: +1 or -1}.')
        if not self.monotone and self.interactions is None:
            return learner
        name, asked = type(self).__name__, "monotone" if self.monotone else "interactions"
        if rule.gathered(np.zeros((1, 3))) is None:
            raise ValueError(f"{name}'s vote is not a weighted sum, so that {asked} cannot be kept to; leave it out.")
        if not learner.constrains:
            raise ValueError(
                f"{asked} is for stumps and trees of this package, and the weak learner is {learner.name}; use "
                "estimator=None, max_depth or a DecisionTree."
            )
        if self.monotone and not (rule.needs == "labels" or (rule.needs in SCORED and rule.n_outputs == "one")):
            raise ValueError(
                f"monotone is for votes of one score, and {name} votes on every class; use AdaBoostClassifier."
            )
        if self.shapes is not None:
            if not isinstance(learner, DecisionStump) or rule.n_outputs != "one":
                raise ValueError('shapes="isotonic" is for stumps, whose score is one shape a column; leave it out.')
            return learner  # its stumps are free, and their sum is made monotone
        return learner.constrained(Constraints(self._directions(), self._groups()))

    def _directions(self) -> Array | None:
        """Return the direction of every column; None where all are free."""
        if not self.monotone:
            return None
        directions = np.zeros(self.n_features_in_, np.int64)
        for column, direction in self.monotone.items():
            j = self._place(column, "monotone")
            if direction and self._columns is not None and j in self._columns.n_categories:
                raise ValueError(f"monotone is for columns of numbers, and {column!r} holds categories; leave it out.")
            directions[j] = direction
        return directions if directions.any() else None

    def _groups(self) -> Array | None:
        """Return which columns are in which group; those that no group lists are a group of their own."""
        asked, d = self.interactions, self.n_features_in_
        if asked is None:
            return None
        listed: list[Iterable[int]]
        if isinstance(asked, str):
            listed = list(combinations(range(d), 1 if asked == "no_interactions" or d < 2 else 2))
        else:
            listed = [{self._place(column, "interactions") for column in group} for group in asked]
        groups = np.zeros((len(listed) + 1, d), bool)
        for group, members in zip(groups, listed, strict=False):
            group[sorted(members)] = True
        groups[-1] = ~groups.any(axis=0)
        return groups

    def _place(self, column: Any, parameter: str) -> int:
        """Return a column's position."""
        if isinstance(column, str):
            names = list(getattr(self, "feature_names_in_", ()))
            if column not in names:
                known = f"they are {names[:8]}" if names else "they have none: use positions"
                raise ValueError(f"{parameter} names {column!r}, and no column of X is called so; {known}.")
            return names.index(column)
        if not 0 <= column < self.n_features_in_:
            raise ValueError(
                f"{parameter} names the column {column}, and X has {self.n_features_in_}; positions start at 0."
            )
        return int(column)

    def _check_constraints(self, n_classes: int) -> None:
        """Refuse directions where there is no single score."""
        if self.monotone and n_classes > 2:
            raise ValueError(
                f"monotone is for two classes and for numbers, and y has {n_classes} classes; make it one class "
                "against the rest, or leave monotone out."
            )

    def _shaped(self, rounds: Rounds, slots: Slots | None) -> Rounds:
        """Return the rounds, with monotone columns' shapes made monotone where that is asked for."""
        directions = None if self.shapes is None else self._directions()
        if directions is None or slots is None or not rounds:
            return rounds
        return Rounds(isotonic_rounds(rounds, directions, slots))


def isotonic_rounds(rounds: Sequence[Round], directions: Array, slots: Slots) -> list[Round]:
    """Return a vote of stumps in which every monotone column's step function is the closest monotone one.

    Closest in the squares, every bin weighing what it holds of the sample, so that the mean stays.  The stumps of such
    columns go; one for every step that is left takes their place, after those of the other columns.

    Parameters
    ----------
    rounds : sequence of Round
        Stumps and their coefficients.
    directions : array of shape (n_features,)
        See `Constraints`.
    slots : Slots
        Of the training sample.
    """
    alphas = coefficients(rounds)
    voters: dict[int, list[tuple[float, Stump]]] = {}
    kept: list[Round] = []
    for alpha, r in zip(alphas.tolist(), rounds, strict=True):
        if directions[r.voter.feature] and isinstance(r.voter, Stump):
            voters.setdefault(r.voter.feature, []).append((alpha, r.voter))
        else:
            kept.append(replace(r, alpha=alpha, decay=1.0, alphas=None))
    for j in sorted(voters):
        stumps = _isotonic(j, voters[j], int(directions[j]), slots.masses[slots.mine(j)])
        kept += [Round(stump, 1.0, facts={"alpha": 1.0}) for stump in stumps]
    return kept


def _isotonic(feature: int, stumps: list[tuple[float, Stump]], direction: int, masses: Array) -> list[Stump]:
    """Return stumps whose sum is one column's shape made monotone; what it says of missing values stays."""
    cuts = sorted({s.threshold: s.cut for _, s in stumps if s.threshold < np.inf}.items())
    thresholds = np.array([threshold for threshold, _ in cuts])
    above = thresholds[None, :] < np.append(thresholds, np.inf)[:, None]  # of an interval, the cuts below it
    shape, missing = np.zeros(len(cuts) + 1), 0.0
    for alpha, s in stumps:
        k = int(np.searchsorted(thresholds, s.threshold))
        crossed = above[:, k] if k < len(cuts) else np.zeros(len(shape), bool)
        shape += alpha * np.where(crossed, s.right, s.left)
        missing += alpha * float(s.right if s.missing is None else s.missing)
    ends = [0, *(int(cut or 0) + 1 for _, cut in cuts), len(masses) - 1]
    weight = np.array([masses[a:b].sum() for a, b in pairwise(ends)], np.float64)
    weight = np.maximum(weight, 1e-9 * max(float(weight.sum()), 1.0))
    shape = isotonic_regression(shape, sample_weight=weight, increasing=direction > 0)
    steps, half = np.diff(shape), 0.0
    found: list[Stump] = []
    for (threshold, cut), step in zip(cuts, steps.tolist(), strict=True):
        if step != 0.0:
            found.append(Stump(feature, cut, threshold, -step / 2, step / 2, -step / 2))
            half += step / 2
    return [Stump(feature, None, np.inf, float(shape[0]) + half, missing + half, missing + half), *found]
