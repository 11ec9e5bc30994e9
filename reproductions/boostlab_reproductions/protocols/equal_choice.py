"""A protocol in which all methods choose alike: as many candidates, the same rows, one rule for ties.

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
from boostlab.studies.plan import Definition, Method, Outcome, Procedure
from boostlab_reproductions.protocols.chance import chance, seed_word

Array = npt.NDArray[Any]

JITTER = 0.1  # by which share start weights vary
BINS = 10  # of the calibration error
NEAR = 0.9  # of the cap: a choice beyond might have gone on
FAILURES = (ValueError, ArithmeticError, RuntimeError)  # of a candidate that cannot be trained


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
    flipped: Array  # which rows of `fit` have a wrong label
    rows: dict[str, Array]
    hash: str
    repeat: int
    seed: int
    kept: dict[str, Candidate] = field(default_factory=dict)


@dataclass(frozen=True)
class EqualChoice(Procedure):
    """Half of the rows train, a quarter chooses candidate and rounds, a quarter (or all that is left) tests once.

    A method's `how` is "" (train every candidate of its grid; any of its rounds may be chosen), "last" (the same, for
    what is made to end: only its last round is a model) or "jitter" (train from slightly different start weights; the
    grid numbers the runs, and run 0 is not jittered).

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

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return (seed_word(data_hash, repeat, "split"),)

    def parts(self, data: Any, repeat: int) -> EqualParts:
        """Split the rows, and plant the noise."""
        y = np.unique(data.y, return_inverse=True)[1]
        n, order = len(y), chance(data.hash, repeat, "split").permutation(len(y))
        fit = order[: min(n // 2, self.most_fit)]
        choose = order[len(fit) :][: min(n // 4, self.most_choose)]
        test = order[len(fit) + len(choose) :][: self.most_test]
        fit, choose, test = np.sort(fit), np.sort(choose), np.sort(test)
        noisy = self.planted(data, y, {"fit": fit, "choose": choose}, repeat)
        bins = Binned.fit(data.X[fit], categorical_features=list(data.categorical_features) or "from_dtype", n_jobs=1)
        return EqualParts(
            *(bins, noisy["fit"]),
            *(bins.like(data.X[choose]), noisy["choose"]),
            *(bins.like(data.X[test]), y[test]),
            int(y.max()) + 1,
            noisy["fit"] != y[fit],
            {"fit": fit, "choose": choose, "test": test},
            data.hash,
            repeat,
            int(chance(data.hash, repeat, "models").integers(2**31)),
        )

    def planted(self, data: Any, y: Array, rows: dict[str, Array], repeat: int) -> dict[str, Array]:
        """Return the labels of the rows that train and choose, with noise."""
        if not self.share:
            return {name: y[some] for name, some in rows.items()}
        return {
            name: flip_labels(y[some], self.share, chance(data.hash, repeat, f"flips, {name}"))
            for name, some in rows.items()
        }

    def run(self, parts: EqualParts, method: Method) -> Outcome:
        """Choose by the rows held out, then test once."""
        tried, failures = [], []
        for values in candidates(method):
            try:
                tried.append((values, self.candidate(parts, method, values)))
            except FAILURES as problem:
                failures.append(f"{values}: {problem}")
        if not tried:
            raise RuntimeError(f"{method.name} could not be trained: {failures[0]}")
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
        if failures:
            numbers["failed_candidates"] = failures
        return Outcome(numbers)

    def candidate(self, parts: EqualParts, method: Method, values: Mapping[str, Any]) -> Candidate:
        """Train a candidate, or take the training of another method."""
        run = int(values["run"]) if method.how == "jitter" else 0
        params = {**method.params, **({} if method.how == "jitter" else values)}
        key = self.key(method, params, run)
        if key not in parts.kept:
            model = self.fitted(parts, method.booster, params, run)
            parts.kept[key] = self.read(parts, model, method.how == "last")
        return parts.kept[key]

    def key(self, method: Method, params: Mapping[str, Any], run: int = 0) -> str:
        """Return by what a training is known."""
        return repr((method.booster, sorted(params.items()), run))

    def cap(self, params: Mapping[str, Any]) -> int:
        """Return the most rounds of a candidate."""
        return ceil(self.rounds / float(params.get("learning_rate", 1.0)))

    def fitted(self, parts: EqualParts, booster: str, params: dict[str, Any], run: int = 0) -> Any:
        """Return a trained model."""
        model = REGISTRY[booster].cls(n_estimators=self.cap(params), n_jobs=1, random_state=parts.seed, **params)
        weight = None
        if run:
            rng = chance(parts.hash, parts.repeat, f"jitter {run}")
            weight = 1 + JITTER * rng.uniform(-1, 1, len(parts.y_fit))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # why training ended is kept
            return model.fit(parts.X_fit, parts.y_fit, weight)

    def read(self, parts: EqualParts, model: Any, last: bool = False) -> Candidate:
        """Return a model after its best round, or its last."""
        wrong, rounds = best_round(model, parts.X_choose, parts.y_choose, last)
        score_choose, score_test = (scores(model, X, rounds, parts.n_classes) for X in (parts.X_choose, parts.X_test))
        said, stop = labels(model, parts.X_test, rounds), model.stop_reason_.split(":")[0]
        own = self.own_numbers(parts, model, rounds)
        return Candidate(wrong, rounds, model.n_estimators, stop, score_choose, score_test, said, own)

    def own_numbers(self, parts: EqualParts, model: Any, rounds: int) -> dict[str, float]:
        """Return what else there is to say of a model."""
        return {"variance_penalty": model.variance_penalty_} if hasattr(model, "variance_penalty_") else {}


def candidates(method: Method) -> Iterator[dict[str, Any]]:
    """Yield every combination of the values of a grid."""
    for values in product(*method.grid.values()):
        yield dict(zip(method.grid, values, strict=True))


def best_round(model: Any, X: Any, y: Array, last: bool = False) -> tuple[int, int]:
    """Return the fewest wrong rows, and the first round that has them; of the last round, where it alone counts."""
    if not model.n_estimators_ or last:
        return int(np.count_nonzero(model.predict(X) != y)), model.n_estimators_
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
