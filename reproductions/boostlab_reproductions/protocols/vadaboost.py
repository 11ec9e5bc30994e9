"""The protocol of the VadaBoost paper, and of the EBBoost slides with another patience.

A third of the rows chooses the number of rounds and the parameter, another measures; one training serves both, and
both patiences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from boostlab.boosters import REGISTRY
from boostlab.boosters.staged_training import StagedTraining, TrainTest, weak_learner
from boostlab.studies.plan import Definition, Method, Outcome, Procedure

Array = npt.NDArray[Any]

VERSION = 1
DRAWN = ", drawn"


def halves(n: int, repeat: int, salt: str, n_train: int | None = None) -> tuple[Array, Array, Array]:
    """Return 50, 25 and 25 percent of the row numbers, drawn at random; or so many, half as many, and the rest.

    Parameters
    ----------
    n : int
        Number of rows.
    repeat : int
        Which draw.
    salt : str
        A hexadecimal text: the data's hash.
    n_train : int, optional
        Number of training rows, at most half of all.

    Examples
    --------
    >>> [len(part) for part in halves(101, 0, "ab")], [len(part) for part in halves(101, 0, "ab", 20)]
    ([50, 25, 26], [20, 10, 71])
    """
    order = chance(salt, repeat, "split").permutation(n)
    first, second = n // 2, n // 2 + n // 4
    if n_train is not None and n_train < first:
        first, second = n_train, n_train + n_train // 2
    return order[:first], order[first:second], order[second:]


def chance(salt: str, repeat: int, purpose: str) -> np.random.Generator:
    """Return a generator for one purpose in one repeat on one data set: the same for all methods."""
    return np.random.default_rng(np.random.SeedSequence(seed_words(salt, repeat, purpose)))


def seed_words(salt: str, repeat: int, purpose: str) -> tuple[int, ...]:
    """Return what the SeedSequence of such a generator is made of."""
    return int(salt[:16], 16), repeat, crc32(purpose.encode())


@dataclass
class StoppedParts:
    """What all methods share in one repeat.

    Parameters
    ----------
    split : TrainTest
        The training rows, binned; the rows looked at are those of validation, then those of the test.
    n_validation : int
        How many of these are for validation.
    salt, repeat
        What chance depends on.
    """

    split: TrainTest
    n_validation: int
    salt: str
    repeat: int
    kept: dict[str, StoppedTraining] = field(default_factory=dict)  # trainings, for other methods and other patiences

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of rows to train, to choose and to test by."""
        whole = self.split.watched.n_rows
        return self.split.table.n_rows, self.n_validation, whole - self.n_validation

    def record(self, run: StoppedTraining, wrong: Array, alphas: Array) -> dict[str, Array]:
        """Return the classes of the test rows, 0 and 1, and their normalised margins, to three digits.

        Parameters
        ----------
        run : StoppedTraining
            The training.
        wrong : array
            Which of the rows looked at are misclassified.
        alphas : array
            The coefficients of its first voters, by which they are.
        """
        predictions = (self.split.watched_codes ^ wrong)[self.n_validation :].astype(np.int8)
        margins = run.staged.margins(alphas, watched=True)[self.n_validation :].astype(np.float16)
        return {"predictions": predictions, "margins": margins}


def stopped(errors: Array, patience: int) -> int:
    """Return the round in which patience runs out, or the last.

    Only a strict decrease counts as a drop.

    Parameters
    ----------
    errors : array
        The validation errors after rounds 0, 1, ...; that of round 0, before there is a vote, does not count.
    patience : int
        Number of rounds without a drop.

    Examples
    --------
    >>> stopped(np.array([9, 5, 4, 4, 4, 3]), 2), stopped(np.array([9, 5, 4, 4, 4, 3]), 3)
    (4, 5)
    """
    lowest, since = np.inf, 0
    for t, error in enumerate(errors[1:].tolist(), 1):
        if error < lowest:
            lowest, since = error, t
        elif t - since >= patience:
            return t
    return len(errors) - 1


class StoppedTraining:
    """One training with the mistakes of all its rounds.

    Parameters
    ----------
    staged : StagedTraining
        Not yet begun.
    n_validation : int
        How many of the rows looked at are for validation: when to stop is asked of them only.
    patience, cap : int
        When to stop.
    """

    def __init__(self, staged: StagedTraining, n_validation: int, patience: int, cap: int) -> None:
        self.staged, self.n_validation, self.seconds = staged, n_validation, 0.0
        self.go_on(patience, cap)

    def go_on(self, patience: int, cap: int) -> None:
        """Train until this patience runs out, if it has not yet."""
        start, staged = perf_counter(), self.staged
        while staged.stop is None and staged.t < (aim := min(max(self._best(), 1) + patience, cap)):
            staged.go(aim)  # not a round too many: patience cannot have run out before
        self.seconds += perf_counter() - start
        self.validation = staged.wrong[:, : self.n_validation].sum(axis=1)  # after every round, from round 0 on
        self.test = staged.wrong[:, self.n_validation :].sum(axis=1)

    def _best(self) -> int:
        """Return the round with the first smallest validation error, 0 before there is one."""
        staged = self.staged
        return first_lowest(staged.wrong[1:, : self.n_validation].sum(axis=1)) + 1 if staged.t else 0

    def facts(self, patience: int) -> dict[str, int]:
        """Return what this patience makes of the training: its best round by validation, and its last."""
        last = stopped(self.validation, patience)
        best = first_lowest(self.validation[1 : last + 1]) + 1 if last else 0
        at = {"": best, "last_": last}
        counts = {"validation": self.validation, "test": self.test}
        facts = {f"{which}{name}": int(c[t]) for which, t in at.items() for name, c in counts.items()}
        return {"rounds": best, "last_rounds": last, **facts}

    def stop(self, patience: int, cap: int) -> str:
        """Return why it ended."""
        last = stopped(self.validation, patience)
        if last < self.staged.t or self.staged.stop is None:
            return "max_rounds" if last == cap else "patience"
        return self.staged.stop.code


def first_lowest(counts: Any) -> int:
    """Return the place of the smallest number, the first of them if there are several."""
    return int(np.argmin(np.asarray(counts, np.float64)))


def _rule(booster: str, params: Any) -> Any:
    return REGISTRY[booster].cls(**params)._rule()


@dataclass(frozen=True)
class Stopped(Procedure):
    """Split 50/25/25; stop when the validation error has not dropped for a while; choose by validation; test once.

    A method's `how` is "" (train every value of its grid), "jitter" (train AdaBoost from slightly different start
    weights; the grid numbers the runs, and run 0 is not jittered) or "reweigh" (weigh AdaBoost's voters anew).

    Parameters
    ----------
    learner : {"stump", "cart", "depth 3"}
        The weak learner: the best stump, a full tree that does not split fewer than ten examples, or a tree of so many
        levels; with ", drawn" at the end it is trained on a weighted draw of the rows instead of on weighted rows.
    patience : int
        Rounds without a drop.
    longer : int or None
        A second patience, read off the same training, for methods without a grid (a grid would cost three times as
        much).
    cap : int
        The largest number of rounds.
    max_bins : int or "exact"
        Which cuts are tried.
    jitter : float
        By which share start weights vary, for methods that ask for it.
    margins : bool
        Whether to note the mean and the spread of the training rows' normalised margins.
    n_train : int or None
        At most so many training rows, half as many to choose by, and all others to test; None is half of all rows.
    """

    learner: str = "stump"
    patience: int = 100
    longer: int | None = 500
    cap: int = 5000
    max_bins: int | str = "exact"
    jitter: float = 0.1
    margins: bool = False
    n_train: int | None = None

    def definition(self) -> Definition:
        """Return all that may change a result."""
        settings = {name: value for name, value in asdict(self).items() if name != "n_train" or value is not None}
        return {"protocol": "validation-stopped, 50/25/25", "version": VERSION, **settings}

    def basis(self) -> Definition:
        """Return what the parts depend on; trainings on them differ in nothing but their end."""
        kept = ("learner", "cap", "max_bins", "jitter", "n_train")
        return {"protocol": "50/25/25", "version": VERSION, **{name: getattr(self, name) for name in kept}}

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return seed_words(data_hash, repeat, "split")

    def parts(self, data: Any, repeat: int) -> StoppedParts:
        """Split, and bin by the training rows."""
        train, validation, test = halves(len(data.y), repeat, data.hash, self.n_train)
        split = TrainTest.of(data.X, np.asarray(data.y) > 0, train, np.append(validation, test), self.max_bins)
        return StoppedParts(split, len(validation), data.hash, repeat)

    def run(self, parts: StoppedParts, method: Method) -> Outcome:
        """Train every value of the grid, choose, test."""
        return self._reweighed(parts, method) if method.how == "reweigh" else self._trained(parts, method)

    # -- one training a value ----------------------------------------------------------------------------------------

    def _trained(self, parts: StoppedParts, method: Method) -> Outcome:
        values, seconds = list[Any](), 0.0
        found: list[dict[str, int]] = []
        best: StoppedTraining | None = None
        for value, run in self._runs(parts, method):
            facts = run.facts(self.patience)
            if self.longer is not None and not method.grid:
                facts |= {f"longer_{name}": n for name, n in run.facts(self.longer).items()}
            if best is None or facts["validation"] < min(f["validation"] for f in found):
                best = run
            values.append(value)
            found.append(facts)
            seconds += run.seconds
        assert best is not None, "a grid has at least one value"
        grid = {name: [facts[name] for facts in found] for name in found[0]}
        numbers = self._chosen(parts, method, values, grid)
        numbers |= {"stop": best.stop(self.patience, self.cap), "seconds": seconds}
        alphas = best.staged.alphas(numbers["rounds"])
        if self.margins:
            margins = best.staged.margins(alphas)
            numbers |= {"margin_mean": float(margins.mean()), "margin_std": float(margins.std())}
        return Outcome(numbers, parts.record(best, best.staged.wrong[numbers["rounds"]], alphas))

    def _runs(self, parts: StoppedParts, method: Method) -> Iterator[tuple[Any, StoppedTraining]]:
        """Yield the values of the grid and what came of them."""
        if not method.grid:
            patience = max(self.patience, self.longer or 0)
            yield None, self._train(parts, method.booster, method.params, patience)
            return
        ((name, values),) = method.grid.items()
        for value in values:
            if method.how == "jitter":
                yield value, self._train(parts, method.booster, method.params, self.patience, jitter=value)
            else:
                yield value, self._train(parts, method.booster, {**method.params, name: value}, self.patience)

    def _train(self, parts: StoppedParts, booster: str, params: Any, patience: int, jitter: int = 0) -> StoppedTraining:
        """Train, or go on with a training of another method or study."""
        rule = _rule(booster, params)
        key = repr((rule, jitter))
        if key not in parts.kept:
            mass = None
            if jitter:
                rng = chance(parts.salt, parts.repeat, f"jitter {jitter}")
                mass = 1 + self.jitter * rng.uniform(-1, 1, parts.sizes[0])
            draws = chance(parts.salt, parts.repeat, f"rows {jitter}") if DRAWN in self.learner else None
            learner = weak_learner(self.learner.removesuffix(DRAWN))
            staged = parts.split.training(rule, learner, self.cap, mass, draws)
            parts.kept[key] = StoppedTraining(staged, parts.n_validation, patience, self.cap)
        run = parts.kept[key]
        run.go_on(patience, self.cap)
        return run

    def _chosen(
        self, parts: StoppedParts, method: Method, values: list[Any], grid: dict[str, list[int]]
    ) -> dict[str, Any]:
        """Return the protocol's choice, and those at the last round and with the longer patience."""
        _, n_validation, n_test = parts.sizes
        numbers: dict[str, Any] = {"sizes": list(parts.sizes)}
        for which in ("", "last_", "longer_", "longer_last_"):
            if f"{which}test" in grid:
                at = first_lowest(grid[f"{which}validation"])
                numbers |= {
                    f"{which}test_error": grid[f"{which}test"][at] / n_test,
                    f"{which}validation_error": grid[f"{which}validation"][at] / n_validation,
                    f"{which}rounds": grid[f"{which}rounds"][at],
                    f"{which}chosen": dict.fromkeys(method.grid, values[at]),
                }
        if method.grid:
            numbers["grid"] = {"values": values, **grid}
        return numbers

    # -- AdaBoost's voters, weighed anew -----------------------------------------------------------------------------

    def _reweighed(self, parts: StoppedParts, method: Method) -> Outcome:
        first = self._train(parts, "AdaBoostClassifier", {}, self.patience)
        rounds, ((name, values),) = stopped(first.validation, self.patience), method.grid.items()
        before = perf_counter()
        if name == "nu":
            values = [value for value in values if value * parts.sizes[0] >= 1]
        rules = [_rule(method.booster, {**method.params, name: value}) for value in values]
        answers = first.staged.reweighed(rounds, rules) if rounds else []
        solved = [(v, a) for v, a in zip(values, answers, strict=False) if isinstance(a, tuple)]
        if not solved:
            raise RuntimeError(f"no program was solved: {answers[0] if answers else 'AdaBoost found no voter'}.")
        wrong = [a[1] for _, a in solved]
        split = parts.n_validation
        grid = {
            "validation": [int(w[:split].sum()) for w in wrong],
            "test": [int(w[split:].sum()) for w in wrong],
            "rounds": [rounds] * len(wrong),
            "voters": [int((a[0] > 0).sum()) for _, a in solved],
        }
        at = first_lowest(grid["validation"])
        numbers = self._chosen(parts, method, [v for v, _ in solved], grid)
        numbers |= {"stop": first.stop(self.patience, self.cap), "voters": grid["voters"][at]}
        numbers |= {"seconds": perf_counter() - before + first.seconds, "failed": len(answers) - len(solved)}
        return Outcome(numbers, parts.record(first, wrong[at], solved[at][1][0]))
