"""What every export writes: step functions and trees, how scores become labels and probabilities, and all names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import erf, erfinv, expit, log_expit, logit, softmax

from boostlab.ensemble.vote import Ensemble
from boostlab.explain.forest import Forest, NotAdditive, Steps, joined, steps_and_trees
from boostlab.explain.parts import AdditiveParts, parts_of
from boostlab.model_io.exports.calibrated import Decision
from boostlab.reductions.reduced import Reduced

Array = npt.NDArray[Any]

ONE_SCORE = {  # probabilities of the second class
    "logistic": lambda s, c: expit(c * s),
    "linear": lambda s, c: np.clip((1.0 + c * s) / 2.0, 0.0, 1.0),
    "erf": lambda s, c: (1.0 + erf(c * s)) / 2.0,
}
SCORE_A_CLASS = {
    "softmax": lambda S, c: softmax(c * S, axis=1),
    "softmax of log logistic": lambda S, c: softmax(log_expit(c * S), axis=1),
}


@dataclass(frozen=True)
class Link:
    """How scores become probabilities: the name of a function, and what scores are multiplied by first.

    "normalised" with binary links: every class's own probability, divided by their sum.
    """

    name: str
    scale: float
    normalised: bool = False

    def __call__(self, S: Array) -> Array:
        """Return one probability a class."""
        if self.normalised:
            R = ONE_SCORE[self.name](S, self.scale)
            return R / R.sum(axis=1, keepdims=True)
        if self.name in ONE_SCORE:
            p = ONE_SCORE[self.name](S[:, 0], self.scale)
            return np.column_stack([1.0 - p, p])
        return SCORE_A_CLASS[self.name](S, self.scale)


@dataclass(frozen=True, eq=False)
class Description:
    """A fitted model, ready to be written.

    One score: that of `decision_function` (or of `predict`, for numbers); the second class where it is above `tie`.
    One score a class: the first largest, where scores within `tie` of the largest are as large.
    """

    model: str  # the name of its class
    names: list[str]
    categories: list[list[Any] | None]
    classes: list[Any] | None  # None for numbers
    constant: Array  # of shape (n_scores,)
    steps: Sequence[Steps]
    trees: Forest
    link: Link | None
    tie: float
    decision: Decision | None = None  # of a calibrated model, in the place of link and tie

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return len(self.constant)

    @cached_property
    def n_classes(self) -> int:
        """Number of classes, 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)


def describe(model: Any) -> Description:
    """Return a fitted booster as exports write it, or say why that is not possible.

    Parameters
    ----------
    model : Booster
        Fitted.
    """
    parts = parts_of(model)
    vote, name = model._ensemble, type(model).__name__
    if isinstance(vote, Reduced) and vote.form.decoder != "strongest":
        how = "all pairs" if vote.form.decoder == "vote" else "a code"
        raise NotAdditive(
            f'This {name} decides by {how}, which is no sum of its votes; fit it with multiclass="ovr" or "auto" to '
            "export it."
        )
    decision = Decision.of(model)
    forest, base = _whole(parts, vote, decision is not None)
    constant, steps, trees = steps_and_trees(forest)
    classes = None if model._numeric else [c.item() if hasattr(c, "item") else c for c in model.classes_]
    bound = float(np.abs(base).max(initial=0.0)) + sum(abs_bound(forest))
    link = None if classes is None or decision is not None else link_of(vote, len(base))
    tie = 0.0 if classes is None else 1e-12 * bound
    known = name, parts.names, parts.categories, classes
    return Description(*known, constant + base, steps, trees, link, tie, decision)


def abs_bound(forest: Forest) -> Array:
    """Return the largest magnitude that each tree adds to a score."""
    if not forest.n_trees:
        return np.zeros(1)
    return np.maximum.reduceat(np.abs(forest.values).max(axis=1), forest.roots[:-1])


def _whole(parts: AdditiveParts, vote: Any, shown: bool) -> tuple[Forest, Array]:
    """Return all votes as one forest with a column a score, and the constants; of two classes `shown` is one score."""
    if len(parts.votes) == 1:
        part = parts.votes[0]
        if not shown and isinstance(vote, Ensemble) and vote.rule.n_outputs != "one" and vote.n_classes == 2:
            matrix = vote.rule.gathered(np.eye(2))  # two scores: what makes probabilities may need both
            assert matrix is not None
            return part.forest.mapped(matrix), np.zeros(2)
        return part.forest.mapped(part.matrix), part.base
    width = len(parts.votes)
    spread = [p.forest.mapped(p.matrix @ np.eye(width)[[k]]) for k, p in enumerate(parts.votes)]
    return joined(spread, width), np.concatenate([p.base for p in parts.votes])


def link_of(vote: Any, n_scores: int) -> Link | None:
    """Return how a rule turns scores into probabilities: the known function that agrees with it; None if none does."""
    if isinstance(vote, Reduced):
        own = {_probed(v, 1) for v in vote.votes if len(v)}
        one = own.pop() if len(own) == 1 else None
        return None if one is None or not all(map(len, vote.votes)) else Link(one.name, one.scale, True)
    return _probed(vote, n_scores)


def _probed(vote: Ensemble, n_scores: int) -> Link | None:
    rule, rng = vote.rule, np.random.default_rng(0)
    if rule.n_outputs == "one":
        F = np.concatenate([[-40.0, 0.0, 40.0], rng.normal(size=20)])
        P = np.asarray(rule.probability(F.copy()))
        S = F[:, None]
        known, wanted = ONE_SCORE, np.column_stack([1.0 - P, P])
        # Where the probability is between 1/2 and 1 it says the scale.
        at = 0.2 / float(np.diff(rule.probability(np.array([-1e-6, 1e-6])))[0] / 2e-6)
        p = float(rule.probability(np.array([at]))[0])
        scales = {"logistic": float(logit(p)) / at, "linear": (2 * p - 1) / at, "erf": float(erfinv(2 * p - 1)) / at}
    else:
        F = rng.normal(size=(20, vote.n_classes))
        wanted = rule.probability(F.copy())
        S = F if n_scores == 2 else np.asarray(rule.shown(F.copy()))
        known = SCORE_A_CLASS
        ratio = np.diff(np.log(wanted[:, :2]), axis=1)[0, 0] / np.diff(S[:, :2], axis=1)[0, 0]
        scales = {"softmax": float(ratio), "softmax of log logistic": 2.0}
    for name in known:
        for scale in (round(scales[name], 3), scales[name], _rational(scales[name])):
            link = Link(name, scale)
            if np.allclose(link(S), wanted, rtol=1e-9, atol=1e-12):
                return link
    return None


def _rational(x: float) -> float:
    """Return the simple fraction nearest to a number."""
    from fractions import Fraction

    return float(Fraction(x).limit_denominator(1000)) if np.isfinite(x) else 1.0
