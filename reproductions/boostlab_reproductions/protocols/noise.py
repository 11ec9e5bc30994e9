"""The noise study: wrong labels are planted in the training part, and everything is chosen by that part alone."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice, product
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab import Binned
from boostlab.boosters import REGISTRY
from boostlab.datasets import flip_by_class, flip_by_margin, flip_labels
from boostlab.studies.plan import Definition, Method, Outcome
from boostlab_reproductions.protocols.chance import chance

Array = npt.NDArray[Any]

FAILURES = (ValueError, ArithmeticError, RuntimeError)  # of a candidate that cannot be trained
KINDS = ("uniform", "class", "margin")
CONCENTRATION = 2.0  # "margin": a row on the border is e^2 = 7 times as likely to be flipped as a typical one


@dataclass(frozen=True, eq=False)
class NoisyParts:
    """One repeat; labels are 0 and 1, those of `fit` and `choose` with noise, those of `test` true."""

    X_fit: Binned
    y_fit: Array
    X_choose: Binned
    y_choose: Array
    X_test: Binned
    y_test: Array
    X_train: Binned | None  # `fit` and `choose` together, where the choice is trained once more
    y_train: Array
    flipped_fit: Array  # which rows of `fit` have a wrong label
    rows: dict[str, Array]  # of the problem, by part
    seed: int


@dataclass(frozen=True)
class Noise:
    """Halves of the data, noise in the training half, a third of which chooses parameters and rounds.

    Repeats 2k and 2k + 1 are the two halves of one split, each training once: ten repeats are five times two.

    Parameters
    ----------
    kind : {"uniform", "class", "margin"}
        Whose labels are flipped: anybody's; those of the second class only; rather those of rows near the border.
    share : float
        How many of the labels are flipped (of the second class's, for "class"): exactly this share, rounded.
        A larger share flips the same labels and some more.
    rounds : int
        Rounds of boosting.
    most_train, most_test : int, optional
        At most so many rows of each half.
    refit : bool
        Train the choice once more on the whole training part.
    version : int
        To be raised by hand when the procedure changes.
    """

    kind: str
    share: float
    rounds: int = 100
    most_train: int | None = None
    most_test: int | None = None
    refit: bool = False
    version: int = 2

    def definition(self) -> Definition:
        """Return the settings."""
        return {"protocol": "Noise", **asdict(self), "concentration": CONCENTRATION if self.kind == "margin" else None}

    def parts(self, data: Any, repeat: int) -> NoisyParts:
        """Split the rows and plant the noise."""
        train, test = self.halves(data, repeat)
        y = np.unique(data.y, return_inverse=True)[1]
        noisy = self.planted(data.X[train], y[train], chance(data.hash, repeat, f"{self.kind} flips"))
        order = chance(data.hash, repeat, "choose").permutation(len(train))
        choose, fit = np.sort(order[: len(train) // 3]), np.sort(order[len(train) // 3 :])
        columns = list(data.categorical_features) or "from_dtype"
        bins = Binned.fit(data.X[train[fit]], categorical_features=columns, n_jobs=1)  # of what is fitted to, no more
        whole = Binned.fit(data.X[train], categorical_features=columns, n_jobs=1) if self.refit else None
        return NoisyParts(
            *(bins, noisy[fit]),
            *(bins.like(data.X[train[choose]]), noisy[choose]),
            *(bins.like(data.X[test]), y[test]),
            *(whole, noisy),
            noisy[fit] != y[train[fit]],
            {"fit": train[fit], "choose": train[choose], "test": test},
            int(chance(data.hash, repeat, "models").integers(2**31)),
        )

    def halves(self, data: Any, repeat: int) -> tuple[Array, Array]:
        """Return the training and the test rows."""
        n = len(data.y)
        order = chance(data.hash, repeat // 2, "split").permutation(n)
        first, second = order[: n // 2], order[n // 2 :]
        train, test = (first, second) if repeat % 2 == 0 else (second, first)
        return np.sort(train[: self.most_train]), np.sort(test[: self.most_test])

    def planted(self, X: Any, y: Array, rng: np.random.Generator) -> Array:
        """Return the labels with noise; a larger share flips the same ones and some more."""
        if self.kind == "uniform":
            return flip_labels(y, self.share, rng)
        if self.kind == "class":
            return flip_by_class(y, {1: self.share}, rng)
        if self.kind == "margin":
            seed = int(rng.integers(2**31))
            return flip_by_margin(y, _sureness(X, y, seed), self.share, rng, concentration=CONCENTRATION)
        raise ValueError(f"kind={self.kind!r} is not a kind of noise; choose one of {', '.join(KINDS)}.")

    def run(self, parts: NoisyParts, method: Method) -> Outcome:
        """Choose parameters and rounds by the noisy rows held out, then test once."""
        start = time.perf_counter()
        best, failures, tried = None, [], 0
        for candidate, model in _models(method, parts, self.rounds):
            tried += 1
            if isinstance(model, Exception):
                failures.append(f"{candidate}: {model}")
                continue
            wrong, rounds = _choice(model, parts.X_choose, parts.y_choose, method.how)
            if best is None or wrong < best[0]:
                best = wrong, rounds, candidate, model
        if best is None:
            raise RuntimeError(f"{method.name} could not be trained: {failures[0]}")
        wrong, rounds, candidate, model = best
        if parts.X_train is not None:
            limit = self.rounds if method.how == "last" else max(rounds, 1)
            model = _fitted(method, candidate, parts, parts.X_train, parts.y_train, limit)
            rounds = model.n_estimators_
        seconds = time.perf_counter() - start
        said = predicted(model, parts.X_test, rounds)
        numbers = {
            "test_error": float(np.mean(said != parts.y_test)),
            "validation_error": wrong / len(parts.y_choose),
            "rounds": rounds,
            "chosen": candidate,
            "tried": tried,
            "stop": model.stop_reason_.split(":")[0],
            "seconds": round(seconds, 4),
        }
        if parts.flipped_fit.any():  # how many of the wrong labels it repeats
            repeated = predicted(model, parts.X_fit.take(parts.flipped_fit), rounds) == parts.y_fit[parts.flipped_fit]
            numbers["learnt_noise"] = float(np.mean(repeated))
        if failures:
            numbers["failed_candidates"] = failures
        return Outcome(numbers, {"predictions": said.astype(np.int8)})


def _candidates(method: Method) -> Iterator[dict[str, Any]]:
    for values in product(*method.grid.values()):
        yield dict(zip(method.grid, values, strict=True))


def _models(method: Method, parts: NoisyParts, rounds: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield every candidate and its model, or why it cannot be trained.

    Candidates that only weigh the same voters otherwise share one training.
    """
    if len(method.grid) == 1 and hasattr(REGISTRY[method.booster].cls, "path"):
        ((name, values),) = method.grid.items()
        with suppress(*FAILURES):  # then each is tried alone
            first = _fitted(method, {name: values[0]}, parts, parts.X_fit, parts.y_fit, rounds)
            models = first.path(parts.X_fit, parts.y_fit, values)
            yield from (({name: value}, model) for value, model in zip(values, models, strict=True))
            return
    for candidate in _candidates(method):
        try:
            yield candidate, _fitted(method, candidate, parts, parts.X_fit, parts.y_fit, rounds)
        except FAILURES as problem:
            yield candidate, problem


def _fitted(method: Method, candidate: dict[str, Any], parts: NoisyParts, X: Any, y: Array, rounds: int) -> Any:
    params = {**method.params, **candidate}
    model = REGISTRY[method.booster].cls(n_estimators=rounds, n_jobs=1, random_state=parts.seed, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # why training ended is kept
        return model.fit(X, y)


def _choice(model: Any, X: Any, y: Array, how: str) -> tuple[int, int]:
    """Return the fewest wrong rows and the first round that has them; of the end only, for what is made to end."""
    if not model.n_estimators_ or how == "last":
        return int(np.count_nonzero(model.predict(X) != y)), model.n_estimators_
    wrong = [int(np.count_nonzero(said != y)) for said in model.staged_predict(X)]
    best = int(np.argmin(wrong))
    return wrong[best], best + 1


def predicted(model: Any, X: Any, rounds: int) -> Array:
    """Return the labels that the first rounds of a model give."""
    if rounds >= model.n_estimators_:
        return np.asarray(model.predict(X))
    return np.asarray(next(islice(model.staged_predict(X), rounds - 1, None)))


def _sureness(X: Any, y: Array, seed: int) -> Array:
    """Return how far from the border rows are: |P(1) - P(0)| by a forest's out-of-bag votes on the true labels."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(100, oob_score=True, n_jobs=1, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a row that was in every bag has no vote
        votes = forest.fit(X, y).oob_decision_function_
    return np.nan_to_num(np.abs(votes[:, 1] - votes[:, 0]))
