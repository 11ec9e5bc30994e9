"""The noise study: wrong labels of several kinds are planted in what trains and chooses, never in what tests."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostlab.boosters import REGISTRY
from boostlab.datasets import flip_by_class, flip_by_margin, flip_labels
from boostlab.studies.plan import Definition, Method
from boostlab_reproductions.protocols.chance import chance
from boostlab_reproductions.protocols.equal_choice import Array, Candidate, EqualChoice, EqualParts, labels

KINDS = ("uniform", "class", "margin")
CONCENTRATION = 2.0  # "margin": a row on the border is e^2 = 7 times as likely to be flipped as a typical one


@dataclass(frozen=True)
class Noise(EqualChoice):
    """`EqualChoice` with noise in the labels that train and choose.

    Parameters
    ----------
    kind : {"uniform", "class", "margin"}
        Whose labels are flipped: all rows'; those of the second class only; rather those of rows near the border.
        Exactly the share (of the second class's, for "class"), rounded; a larger share flips the same and some more.
    longest : int
        No candidate takes more rounds, however small its steps.
    """

    kind: str = "uniform"
    longest: int = 1200

    def definition(self) -> Definition:
        """Return the settings."""
        concentration = CONCENTRATION if self.kind == "margin" else None
        return {**super().definition(), "protocol": "Noise", "concentration": concentration}

    def cap(self, params: Mapping[str, Any]) -> int:
        """Return the most rounds of a candidate: more for small steps, by whatever parameter they are small."""
        rate = float(params.get("learning_rate", params.get("exponent", 1.0)))
        if params.get("regularizer") is not None:  # QuadBoost's steps are divided by 1 + strength, or cut off at it
            strength = float(params["strength"])
            rate = 1.0 / (1.0 + strength) if params["regularizer"] == "l2" else min(strength, 1.0)
        return min(super().cap({"learning_rate": rate}), max(self.longest, self.rounds))

    def planted(self, data: Any, y: Array, rows: dict[str, Array], repeat: int) -> dict[str, Array]:
        """Return the labels with noise, planted in both parts together."""
        train, rng = np.concatenate(list(rows.values())), chance(data.hash, repeat, f"{self.kind} flips")
        noisy = self._flipped(data.X[train], y[train], rng)
        cuts = np.cumsum([len(some) for some in rows.values()])[:-1]
        return dict(zip(rows, np.split(noisy, cuts), strict=True))

    def _flipped(self, X: Any, y: Array, rng: np.random.Generator) -> Array:
        if self.kind == "uniform":
            return flip_labels(y, self.share, rng)
        if self.kind == "class":
            return flip_by_class(y, {1: self.share}, rng)
        if self.kind == "margin":
            seed = int(rng.integers(2**31))
            return flip_by_margin(y, _sureness(X, y, seed), self.share, rng, concentration=CONCENTRATION)
        raise ValueError(f"kind={self.kind!r} is not a kind of noise; choose one of {', '.join(KINDS)}.")

    def candidate(self, parts: EqualParts, method: Method, values: Mapping[str, Any]) -> Candidate:
        """Train a candidate; those that only weigh the same voters otherwise share one training."""
        if len(method.grid) == 1 and hasattr(REGISTRY[method.booster].cls, "path"):
            ((name, several),) = method.grid.items()
            if self.key(method, {**method.params, **values}) not in parts.kept:
                first = self.fitted(parts, method.booster, {**method.params, name: several[0]})
                for value, model in zip(several, first.path(parts.X_fit, parts.y_fit, several), strict=True):
                    parts.kept[self.key(method, {**method.params, name: value})] = self.read(parts, model, last=True)
        return super().candidate(parts, method, values)

    def own_numbers(self, parts: EqualParts, model: Any, rounds: int) -> dict[str, float]:
        """Return how many of the wrong labels it repeats."""
        if not parts.flipped.any():
            return {}
        said = labels(model, parts.X_fit.take(parts.flipped), rounds)
        return {"learnt_noise": float(np.mean(said == parts.y_fit[parts.flipped]))}


def _sureness(X: Any, y: Array, seed: int) -> Array:
    """Return how far from the border rows are: |P(1) - P(0)| by a forest's out-of-bag votes on the true labels."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(100, oob_score=True, n_jobs=1, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a row that was in every bag has no vote
        votes = forest.fit(X, y).oob_decision_function_
    return np.nan_to_num(np.abs(votes[:, 1] - votes[:, 0]))
