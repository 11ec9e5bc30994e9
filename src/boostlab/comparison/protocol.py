"""Nested cross-validation: the outer parts test, the inner ones choose, and no row does both."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from boostlab.boosters import REGISTRY
from boostlab.data.binned import Binned
from boostlab.datasets import flip_labels
from boostlab.studies.plan import Definition, Method, Outcome

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LabelledRows:
    """Rows and their labels."""

    X: Any
    y: Array


@dataclass(frozen=True)
class OuterSplit:
    """What all boosters share in one outer split."""

    train: LabelledRows
    test: LabelledRows
    inner: list[tuple[LabelledRows, LabelledRows]]  # to train on, and to choose by
    seed: int


@dataclass(frozen=True)
class NestedCV:
    """Repeated stratified cross-validation, in which every training part chooses by a cross-validation of its own.

    A repeat of the study is one outer split: repeat r tests on part r % folds of division r // folds.  A booster is
    trained once a candidate and inner part, for all rounds; the number of rounds is read off these runs.  The candidate
    and the number of rounds with the fewest wrong inner predictions (of equals, the first candidate and the fewest
    rounds) are trained on the whole outer training part, and tested.

    Parameters
    ----------
    folds : int, default=5
        Outer parts.
    inner : int, default=3
        Inner parts; all of them choose, or with `hold_out` only the first.
    hold_out : bool, default=False
        Whether to train a candidate once and not for every inner part.
    rounds : int, default=200
        The largest number of rounds.
    noise : float, default=0.0
        Share of the labels flipped in every outer training part; the choice is made by flipped labels, too, and the
        test by clean ones.
    seed : int, default=0
        Of the divisions, the flips and the boosters.
    version : int, default=1
        Raised when this code computes something else.
    """

    folds: int = 5
    inner: int = 3
    hold_out: bool = False
    rounds: int = 200
    noise: float = 0.0
    seed: int = 0
    version: int = 1

    def definition(self) -> Definition:
        """Return all that may change a result."""
        return {"protocol": "nested cross-validation", **asdict(self)}

    def parts(self, data: Any, repeat: int) -> OuterSplit:
        """Return the rows of one outer split, binned by its training rows."""
        again, fold = divmod(repeat, self.folds)
        divide, flip, choose, seed = (
            int(number) for number in np.random.SeedSequence([self.seed, again, fold]).generate_state(4)
        )
        divide = int(np.random.SeedSequence([self.seed, again]).generate_state(1)[0])  # the same for all its folds
        train, test = _splits(data.y, self.folds, divide)[fold]
        y = flip_labels(data.y[train], self.noise, flip) if self.noise else data.y[train]
        categorical = list(data.categorical_features) or None
        binned = Binned.fit(data.X[train], categorical_features=categorical, n_jobs=1)
        inner = _splits(y, self.inner, choose)
        return OuterSplit(
            LabelledRows(binned, y),
            LabelledRows(binned.like(data.X[test]), data.y[test]),
            [
                (LabelledRows(binned.take(rows), y[rows]), LabelledRows(binned.take(others), y[others]))
                for rows, others in (inner[:1] if self.hold_out else inner)
            ],
            seed,
        )

    def warm(self, method: Method) -> None:
        """Let the kernels that a method needs be compiled or read before any clock runs."""
        X = np.random.default_rng(0).normal(size=(40, 3))
        part = LabelledRows(Binned.fit(X), np.arange(40) % 2)
        for chosen in _candidates(method):
            self._errors(method, chosen, part, part, rounds=3, seed=0)

    def run(self, parts: OuterSplit, method: Method) -> Outcome:
        """Choose by the inner parts, train on the whole training part, test."""
        best: tuple[float, int, dict[str, Any], Array] | None = None
        for chosen in _candidates(method):
            curves = [self._errors(method, chosen, a, b, self.rounds, parts.seed) for a, b in parts.inner]
            curve = _added(curves)
            # A booster that plans for its number of rounds would be another one with fewer.
            at = len(curve) - 1 if _plans(method, chosen) else int(curve.argmin())
            if best is None or curve[at] < best[0]:
                best = (float(curve[at]), at, chosen, curve)
        assert best is not None
        wrong, at, chosen, curve = best
        tried = sum(len(part.y) for _, part in parts.inner)
        limit = self.rounds if _plans(method, chosen) else at + 1
        model = _model(method, chosen, limit, parts.seed)
        start = time.perf_counter()
        model.fit(parts.train.X, parts.train.y)
        seconds = time.perf_counter() - start
        usual = np.bincount(parts.train.y).argmax()
        return Outcome(
            {
                "test_error": float(np.mean(model.predict(parts.test.X) != parts.test.y)),
                "validation_error": wrong / tried,
                "rounds": at + 1,
                "chosen": chosen,
                "stop": model.stop_reason_,
                "seconds": seconds,
                "baseline": float(np.mean(usual != parts.test.y)),
                "curve": [int(number) for number in curve],
                "tried": tried,
            }
        )

    def _errors(
        self, method: Method, chosen: dict[str, Any], train: LabelledRows, choose: LabelledRows, rounds: int, seed: int
    ) -> Array:
        """Return how many rows are predicted wrongly after every round."""
        model = _model(method, chosen, rounds, seed).fit(train.X, train.y)
        if str(model.stop_reason_).startswith("interrupted"):
            raise KeyboardInterrupt  # the engine has answered Ctrl-C with a model of few rounds
        counts = [int((stage != choose.y).sum()) for stage in model.staged_predict(choose.X)]
        return np.array(counts or [int((model.predict(choose.X) != choose.y).sum())])


def _splits(y: Array, parts: int, seed: int) -> list[tuple[Array, Array]]:
    """Return a stratified division: every part once as test rows, the others as training rows."""
    with warnings.catch_warnings():  # a class of fewer rows than parts is in some of them only
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(StratifiedKFold(parts, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def _candidates(method: Method) -> Iterator[dict[str, Any]]:
    for values in product(*method.grid.values()):
        yield dict(zip(method.grid, values, strict=True))


def _model(method: Method, chosen: dict[str, Any], rounds: int, seed: int) -> Any:
    # max_leaf_nodes=2 is a stump, which is what boosters take when nothing is said, and fastest by that name.
    named = {name: value for name, value in chosen.items() if (name, value) != ("max_leaf_nodes", 2)}
    params = {**method.params, **named, "n_estimators": rounds, "n_jobs": 1, "random_state": seed}
    return REGISTRY[method.booster].cls(**params)


def _plans(method: Method, chosen: dict[str, Any]) -> bool:
    """Whether the rule depends on the number of rounds."""
    one, two = (_model(method, chosen, rounds, 0)._rule() for rounds in (11, 12))
    return bool(one != two)


def _added(curves: list[Array]) -> Array:
    """Return the sum of curves; one that ended early stays where it was."""
    longest = max(map(len, curves))
    return np.sum([np.append(c, np.full(longest - len(c), c[-1])) for c in curves], axis=0)
