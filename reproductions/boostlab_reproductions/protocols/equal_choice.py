"""A protocol in which everybody chooses alike: as many candidates, the same rows, one rule for ties.

What is trained in a repeat is kept with its parts, so that a training that several methods have among their candidates
is made once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice, product
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab import Binned
from boostlab.boosters import REGISTRY
from boostlab.calibration.maps import Calibration
from boostlab.datasets import flip_labels
from boostlab.studies.choice import preference
from boostlab.studies.plan import Definition, Method, Outcome
from boostlab_reproductions.protocols.chance import chance

Array = npt.NDArray[Any]

JITTER = 0.1  # by which share start weights vary
BINS = 10  # of the calibration error
NEAR = 0.9  # of the cap: a choice beyond might have gone on


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate after its best round on the rows that choose."""

    wrong: int  # rows that choose and are wrong
    rounds: int
    cap: int
    stop: str
    score_choose: Array
    score_test: Array
    said_test: Array
    own: dict[str, float]  # what the booster settled by itself


@dataclass(frozen=True, eq=False)
class EqualParts:
    """One repeat; labels are class indices, those of `fit` and `choose` with noise, those of `test` true."""

    X_fit: Binned
    y_fit: Array
    X_choose: Binned
    y_choose: Array
    X_test: Binned
    y_test: Array
    n_classes: int
    rows: dict[str, Array]
    hash: str
    repeat: int
    seed: int
    kept: dict[str, Candidate] = field(default_factory=dict)


@dataclass(frozen=True)
class EqualChoice:
    """Half of the rows train, a quarter chooses candidate and rounds, a quarter (or all that is left) tests once.

    A method's `how` is "" (train every candidate of its grid) or "jitter" (train from slightly different start weights;
    the grid numbers the runs, and run 0 is not jittered).

    Parameters
    ----------
    rounds : int
        The most rounds of whole steps; a candidate with the learning rate nu may take 1 / nu times as many.
    share : float
        Of the labels that train and choose, flipped.
    most_fit, most_choose, most_test : int
        At most so many rows.
    version : int
        To be raised by hand when the procedure changes.
    """

    rounds: int
    share: float = 0.0
    most_fit: int = 500
    most_choose: int = 250
    most_test: int = 2000
    version: int = 1

    def definition(self) -> Definition:
        """Return the settings."""
        return {"protocol": "EqualChoice", **asdict(self), "jitter": JITTER, "bins": BINS}

    def basis(self) -> Definition:
        """Return what the parts depend on; trainings of other lengths are not shared."""
        return self.definition()

    def parts(self, data: Any, repeat: int) -> EqualParts:
        """Split the rows, and plant the noise."""
        y = np.unique(data.y, return_inverse=True)[1]
        n, order = len(y), chance(data.hash, repeat, "split").permutation(len(y))
        fit = order[: min(n // 2, self.most_fit)]
        choose = order[len(fit) :][: min(n // 4, self.most_choose)]
        test = order[len(fit) + len(choose) :][: self.most_test]
        fit, choose, test = np.sort(fit), np.sort(choose), np.sort(test)
        noisy = {"fit": y[fit], "choose": y[choose]}
        if self.share:
            for name, labels in noisy.items():
                noisy[name] = flip_labels(labels, self.share, chance(data.hash, repeat, f"flips, {name}"))
        bins = Binned.fit(data.X[fit], categorical_features=list(data.categorical_features) or "from_dtype", n_jobs=1)
        return EqualParts(
            *(bins, noisy["fit"]),
            *(bins.like(data.X[choose]), noisy["choose"]),
            *(bins.like(data.X[test]), y[test]),
            int(y.max()) + 1,
            {"fit": fit, "choose": choose, "test": test},
            data.hash,
            repeat,
            int(chance(data.hash, repeat, "models").integers(2**31)),
        )

    def run(self, parts: EqualParts, method: Method) -> Outcome:
        """Choose by the rows held out, then test once."""
        tried = [(values, self.candidate(parts, method, values)) for values in candidates(method)]
        ranks = [preference(method, values, one.wrong, one.rounds) for values, one in tried]
        values, best = tried[min(range(len(tried)), key=ranks.__getitem__)]
        fewest = min(one.wrong for _, one in tried)
        y, p = parts.y_test, probabilities(parts, best)
        numbers = {
            "test_error": float(np.mean(best.said_test != y)),
            "log_loss": log_loss(p, y),
            "calibration_error": calibration_error(p, y),
            "validation_error": best.wrong / len(parts.y_choose),
            "rounds": best.rounds,
            "cap": best.cap,
            "near_cap": float(best.rounds > NEAR * best.cap),
            "chosen": values,
            "tried": len(tried),
            "tied": float(sum(one.wrong == fewest for _, one in tried) > 1),
            "stop": best.stop,
            **best.own,
        }
        if method.grid:  # so that every candidate can be looked at without a choice
            numbers["grid"] = {
                "values": [list(values.values()) for values, _ in tried],
                "wrong": [one.wrong for _, one in tried],
                "test_errors": [float(np.mean(one.said_test != y)) for _, one in tried],
                "rounds": [one.rounds for _, one in tried],
            }
        return Outcome(numbers)

    def candidate(self, parts: EqualParts, method: Method, values: Mapping[str, Any]) -> Candidate:
        """Train a candidate, or take the training of another method."""
        run = int(values["run"]) if method.how == "jitter" else 0
        params = {**method.params, **({} if method.how == "jitter" else values)}
        key = repr((method.booster, sorted(params.items()), run))
        if key not in parts.kept:
            parts.kept[key] = self._trained(parts, method.booster, params, run)
        return parts.kept[key]

    def _trained(self, parts: EqualParts, booster: str, params: dict[str, Any], run: int) -> Candidate:
        cap = ceil(self.rounds / float(params.get("learning_rate", 1.0)))
        model = REGISTRY[booster].cls(n_estimators=cap, n_jobs=1, random_state=parts.seed, **params)
        weight = None
        if run:
            rng = chance(parts.hash, parts.repeat, f"jitter {run}")
            weight = 1 + JITTER * rng.uniform(-1, 1, len(parts.y_fit))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # why training ended is kept
            model.fit(parts.X_fit, parts.y_fit, weight)
        wrong, rounds = best_round(model, parts.X_choose, parts.y_choose)
        own = {"variance_penalty": model.variance_penalty_} if hasattr(model, "variance_penalty_") else {}
        score_choose, score_test = (scores(model, X, rounds, parts.n_classes) for X in (parts.X_choose, parts.X_test))
        said, stop = labels(model, parts.X_test, rounds), model.stop_reason_.split(":")[0]
        return Candidate(wrong, rounds, cap, stop, score_choose, score_test, said, own)


def candidates(method: Method) -> Iterator[dict[str, Any]]:
    """Yield every combination of the values of a grid."""
    for values in product(*method.grid.values()):
        yield dict(zip(method.grid, values, strict=True))


def best_round(model: Any, X: Any, y: Array) -> tuple[int, int]:
    """Return the fewest wrong rows, and the first round that has them."""
    if not model.n_estimators_:
        return int(np.count_nonzero(model.predict(X) != y)), 0
    wrong = [int(np.count_nonzero(said != y)) for said in model.staged_predict(X)]
    best = int(np.argmin(wrong))
    return wrong[best], best + 1


def scores(model: Any, X: Any, rounds: int, n_classes: int) -> Array:
    """Return the scores after so many rounds; a class that was not trained on is below all others."""
    if rounds in (0, model.n_estimators_):
        F = np.asarray(model.decision_function(X))
    else:
        F = np.asarray(next(islice(model.staged_decision_function(X), rounds - 1, None)))
    if F.ndim == 1 or F.shape[1] == n_classes:
        return F
    whole = np.tile(F.min(axis=1, keepdims=True) - 1.0, (1, n_classes))
    whole[:, model.classes_] = F
    return whole


def labels(model: Any, X: Any, rounds: int) -> Array:
    """Return the labels after so many rounds."""
    if rounds in (0, model.n_estimators_):
        return np.asarray(model.predict(X))
    return np.asarray(next(islice(model.staged_predict(X), rounds - 1, None)))


def probabilities(parts: EqualParts, found: Candidate) -> Array:
    """Return probabilities of the test rows: Platt's map of the scores, fitted to the rows that choose.

    Boosters differ in what their own link promises; with one map for all, what is compared are the scores.
    """
    mass = np.ones(len(parts.y_choose))
    return Calibration.fit("sigmoid", found.score_choose, parts.y_choose, mass).probabilities(found.score_test)


def log_loss(p: Array, y: Array) -> float:
    """Return the mean of -log P(true class).

    Examples
    --------
    >>> round(log_loss(np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([0, 1])), 3)
    0.399
    """
    return float(-np.mean(np.log(np.maximum(p[np.arange(len(y)), y], 1e-15))))


def calibration_error(p: Array, y: Array) -> float:
    """Return how far the confidence in the likeliest class is from how often it is right, over bins of equal size.

    Examples
    --------
    >>> calibration_error(np.array([[0.2, 0.8]] * 10), np.array([1] * 8 + [0] * 2)) < 1e-9
    True
    """
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    order = np.argsort(confidence, kind="stable")
    bins = [part for part in np.array_split(order, min(BINS, len(y))) if len(part)]
    if confidence[order[0]] == confidence[order[-1]]:
        bins = [order]
    gaps = [len(part) * abs(confidence[part].mean() - right[part].mean()) for part in bins]
    return float(np.sum(gaps) / len(y))
