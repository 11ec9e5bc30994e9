"""The atlas's protocol: defaults and tuned contenders on one split, with all that is measured of them.

Seconds are processor seconds: everything runs on one thread, and the machine may have other work.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from boostlab.datasets import flip_labels
from boostlab.studies.choice import preference
from boostlab.studies.plan import Definition, Method, Outcome, Procedure
from boostlab_reproductions.protocols.atlas_models import RUN, ContenderRows, TrainedContender, fitted
from boostlab_reproductions.protocols.chance import chance, seed_word
from boostlab_reproductions.protocols.equal_choice import (
    FAILURES,
    JITTER,
    NEAR,
    calibration_error,
    candidates,
    log_loss,
)

Array = npt.NDArray[Any]

FEWEST_OF_CLASS = 10  # rows; smaller classes are left out
FEWEST_TO_TRAIN = 3  # rows of a class
MADE_TO_END = 1000  # rounds of what ends by itself


@dataclass(frozen=True, eq=False)
class AtlasParts:
    """One repeat; labels are class indices, those of `train` with noise, those of `test` true."""

    train: ContenderRows
    test: ContenderRows
    fit: Array  # of the rows that train: those of the candidates
    choose: Array  # and those that choose among them
    seed: int
    facts: dict[str, float]  # of the set


@dataclass(frozen=True)
class Atlas(Procedure):
    """A third of the rows tests; of the others some train, and a quarter of these chooses where there is a choice.

    A method's `how` is "default" (the library's defaults, trained on all rows) or "tuned" (candidate and rounds chosen
    by error on a quarter, then trained on all), followed by " last" for what answers by its last round only.

    Parameters
    ----------
    rounds : int
        The most rounds of a candidate.
    share : float
        Of the training labels, flipped.
    most_train, most_test, most_numbers : int
        At most so many rows, and so many numbers of the table that trains.
    version : int
        To be raised by hand when the procedure changes.
    """

    rounds: int
    share: float = 0.0
    most_train: int = 1000
    most_test: int = 2000
    most_numbers: int = 300_000
    version: int = 2

    def definition(self) -> Definition:
        """Return the settings."""
        return {"protocol": "Atlas", **asdict(self)}

    def basis(self) -> Definition:
        """Return what the parts depend on."""
        return {name: value for name, value in self.definition().items() if name != "rounds"}

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return (seed_word(data_hash, repeat, "split"),)

    def parts(self, data: Any, repeat: int) -> AtlasParts:
        """Split the rows, and plant the noise."""
        rows, y = large_classes(np.asarray(data.y))
        X = data.X[rows] if isinstance(data.X, np.ndarray) else data.X[rows].toarray()
        test, train = self.split(data, y, repeat)
        noisy = y[train]
        if self.share:
            noisy = flip_labels(noisy, self.share, chance(data.hash, repeat, "flips"))
        choose = drawn(noisy, len(train) / 4, chance(data.hash, repeat, "choose"))
        counts, categorical = np.bincount(y), tuple(data.categorical_features)
        facts = {
            "rows": float(len(y)),
            "n_train": float(len(train)),
            "columns": float(X.shape[1]),
            "categorical": float(len(categorical)),
            "classes": float(len(counts)),
            "smallest_class": float(counts.min() * len(counts) / len(y)),  # 1: all classes are equal
            "pace": _pace(),
        }
        return AtlasParts(
            ContenderRows(np.ascontiguousarray(X[train], float), noisy, categorical),
            ContenderRows(np.ascontiguousarray(X[test], float), y[test], categorical),
            np.flatnonzero(~np.isin(np.arange(len(train)), choose)),
            choose,
            int(chance(data.hash, repeat, "models").integers(2**31)),
            facts,
        )

    def split(self, data: Any, y: Array, repeat: int) -> tuple[Array, Array]:
        """Return the rows that test and those that train, among the rows of classes that are large enough."""
        rng = chance(data.hash, repeat, "split")
        test = drawn(y, min(len(y) / 3, self.most_test), rng)
        others = np.flatnonzero(~np.isin(np.arange(len(y)), test))
        most = min(self.most_train, self.most_numbers // data.X.shape[1])
        return test, others[drawn(y[others], min(len(others), most), rng, FEWEST_TO_TRAIN)]

    def warm(self, method: Method) -> None:
        """Do nothing before a batch: `run` warms with rows of the set itself."""

    def run(self, parts: AtlasParts, method: Method) -> Outcome:
        """Choose where there is a choice, train on all rows, and test once."""
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # why training ended is kept
            _warm(parts, method)
            numbers: dict[str, Any] = {}
            values: dict[str, Any] = {}
            rounds = None
            if method.how.startswith("tuned"):
                start = process_time()
                values, rounds, numbers = self._chosen(parts, method)
                numbers["search_seconds"] = process_time() - start
                numbers |= {} if rounds is None else {"chosen_rounds": rounds}
            return Outcome(self._final(parts, method, values, rounds) | numbers | parts.facts)

    def again(self, parts: AtlasParts, method: Method, numbers: Mapping[str, Any]) -> dict[str, Any] | None:
        """Train the choice of a finished cell once more, and measure it; None where the rounds were not kept."""
        rounds = None
        if method.how.startswith("tuned"):
            rounds = numbers.get("chosen_rounds", self._cap(method) if _ends(method) else numbers["rounds"] or None)
            if rounds is None and "cap" in numbers:
                return None
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._final(parts, method, numbers.get("chosen", {}), rounds)

    def _final(
        self, parts: AtlasParts, method: Method, values: Mapping[str, Any], rounds: int | None
    ) -> dict[str, Any]:
        weight = jittered(parts, values)
        return measured(fitted(method, values, rounds, parts.train, parts.seed, weight=weight), parts)

    def _cap(self, method: Method) -> int:
        """Return the most rounds of a candidate."""
        return int(method.params.get("n_estimators", MADE_TO_END)) if _ends(method) else self.rounds

    def _chosen(self, parts: AtlasParts, method: Method) -> tuple[dict[str, Any], int | None, dict[str, Any]]:
        """Return the best candidate, its rounds, and what there is to say of the choice."""
        fit, choose = parts.train.take(parts.fit), parts.train.take(parts.choose)
        ends, cap = _ends(method), self._cap(method)
        tried: list[tuple[dict[str, Any], int, int]] = []
        failures, has_rounds = [], False
        for values in candidates(method):
            try:
                weight = jittered(parts, values)
                own = None if weight is None else weight[parts.fit]
                model = fitted(method, values, cap, fit, parts.seed, choose, own)
                wrong, rounds = _best_round(model, choose, ends)
                has_rounds |= model.errors is not None and not ends
            except FAILURES as problem:
                failures.append(f"{values}: {problem}")
            else:
                tried.append((values, wrong, rounds))
        if not tried:
            raise RuntimeError(f"{method.name} could not be trained: {failures[0]}")
        values, wrong, rounds = min(tried, key=lambda one: preference(method, *one))
        fewest = min(one[1] for one in tried)
        numbers: dict[str, Any] = {
            "chosen": values,
            "validation_error": wrong / len(choose.y),
            "tried": len(tried),
            "tied": float(sum(one[1] == fewest for one in tried) > 1),
        }
        if failures:
            numbers["failed_candidates"] = failures
        if not has_rounds:
            return values, cap if ends else None, numbers
        numbers |= {"cap": cap, "near_cap": float(rounds > NEAR * cap)}
        return values, max(rounds, 1), numbers


def measured(model: TrainedContender, parts: AtlasParts) -> dict[str, Any]:
    """Return what is measured of a trained model."""
    test = parts.test
    n_classes = int(parts.facts["classes"])
    p, scores = model.scores(test.X, n_classes)
    return {
        "test_error": float(np.mean(model.predict(test.X) != test.y)),
        "log_loss": log_loss(p, test.y),
        "calibration_error": calibration_error(p, test.y),
        "auc": auc(scores, test.y),
        "fit_seconds": model.seconds,
        "bytes": model.save(model.model),
        "rounds": model.rounds,
        "stop": model.stop,
    }


def jittered(parts: AtlasParts, values: Mapping[str, Any]) -> Array | None:
    """Return the start weights of a control's run; None for run 0 and for what is no control."""
    run = int(values.get(RUN, 0))
    if not run:
        return None
    return 1 + JITTER * np.random.default_rng([parts.seed, run]).uniform(-1, 1, len(parts.train.y))


def _ends(method: Method) -> bool:
    """Whether only the last round is a model."""
    return method.how.endswith("last")


def auc(scores: Array, y: Array) -> float:
    """Return the area under the ROC curve; of several classes the mean of one against the rest.

    Parameters
    ----------
    scores : array of shape (n,) or (n, n_classes)
        Of the second class, or of every class.
    y : array of int
        Class indices.

    Examples
    --------
    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    0.75
    >>> auc(np.eye(3), np.arange(3))
    1.0
    """
    columns = {1: scores} if scores.ndim == 1 else dict(enumerate(scores.T))
    found = []
    for k, column in columns.items():
        n = np.count_nonzero(y == k)
        if 0 < n < len(y):
            ranks = rankdata(column)[y == k].sum()
            found.append((ranks - n * (n + 1) / 2) / (n * (len(y) - n)))
    return float(np.mean(found)) if found else float("nan")


def drawn(y: Array, size: float, rng: np.random.Generator, fewest: int = 1) -> Array:
    """Return about so many rows, of every class its share and at least `fewest`.

    Examples
    --------
    >>> y = np.repeat([0, 1], [90, 10])
    >>> rows = drawn(y, 20, np.random.default_rng(0))
    >>> np.bincount(y[rows]).tolist()
    [18, 2]
    """
    share, chosen = size / len(y), []
    for k in np.unique(y):
        own = rng.permutation(np.flatnonzero(y == k))
        chosen.append(own[: max(round(share * len(own)), fewest)])
    return np.sort(np.concatenate(chosen))


def large_classes(labels: Array) -> tuple[Array, Array]:
    """Return the rows of classes that are large enough, and their class indices."""
    _, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[places] >= FEWEST_OF_CLASS)
    return rows, np.unique(places[rows], return_inverse=True)[1]


def _best_round(model: TrainedContender, rows: ContenderRows, last: bool) -> tuple[int, int]:
    """Return the fewest wrong rows, and the first round that has them; of the last round, where it alone counts."""
    if model.errors is None or last:
        return int(np.count_nonzero(model.predict(rows.X) != rows.y)), model.rounds
    wrong = model.errors(rows)
    best = int(np.argmin(wrong))
    return int(wrong[best]), best + 1


_warmed: set[tuple[str, bool, bool, bool]] = set()
_FEW = 24  # rows of a fit that loads and compiles


def _warm(parts: AtlasParts, method: Method) -> None:
    """Load and compile what a method needs, with a few rows of every class, once in a process."""
    train = parts.train
    facts = (bool(train.categorical), bool(np.isnan(train.X).any()), parts.facts["classes"] > 2)
    if (method.name, *facts) in _warmed:
        return
    _warmed.add((method.name, *facts))
    few = train.take(drawn(train.y, min(_FEW, len(train.y)), np.random.default_rng(0)))
    tries = list(candidates(method))[:: 2 if method.how.startswith("tuned") else 1]
    for values in tries:
        try:
            model = fitted(method, values, 2, few, 0)
            model.scores(few.X, int(parts.facts["classes"]))
            if model.errors is not None and method.how.startswith("tuned") and method.booster:
                model.errors(few)
        except Exception:  # it will fail, and be told, when it is measured
            continue


def _pace() -> float:
    """Return the seconds of a fixed piece of work, by which machines can be compared."""
    numbers = np.random.default_rng(0).random(200_000)
    times = []
    for _ in range(3):
        start = process_time()
        np.sort(numbers)
        times.append(process_time() - start)
    return min(times)
