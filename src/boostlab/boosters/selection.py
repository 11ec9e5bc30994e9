"""Parameters that the data decide: a grid of rules, tried on parts of the training sample.

The sample is binned once, before it is parted: parts are slices of its codes, whatever the fold and the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import e, log
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend import CpuRows
from boostlab.contract import Learner, Rule, Stop
from boostlab.data.sample import Sample, held_rows
from boostlab.data.table import Table
from boostlab.engine.training import Training
from boostlab.ensemble.vote import decide
from boostlab.learners.complexity import rademacher

Array = npt.NDArray[Any]
Curve = dict[str, Array]

FOLDS = 5
FIXED = 'give {} a number, or use "fixed_point"'
DELTA = 0.05  # the chance that the bound is wrong
MOST_ROUNDS = 100  # of a trial; not n_estimators, so that a warm start finds the same value again
PATIENCE = 10


@dataclass
class SamplePart:
    """Rows to train on or to judge by: a sample and its table."""

    sample: Sample
    table: Table

    def rows(self, picked: Array) -> SamplePart:
        """Return some of the rows."""
        numbers = np.arange(self.table.n_rows)[picked]
        return SamplePart(self.sample.part(numbers), self.table.take(numbers))


@dataclass
class SelectionData:
    """The training sample and all it takes to train on parts of it.

    Parameters
    ----------
    whole : SamplePart
        The training sample.
    held_out : SamplePart or None
        The validation sample, where there is one.
    learner, resample, max_restarts
        As for `Training`.
    rng : numpy Generator
        The choice's own source of chance: that of the training is not touched.
    validation_fraction : float
        The share to hold out where a validation sample is needed and there is none.
    rounds : int
        The most rounds of a trial.
    """

    whole: SamplePart
    held_out: SamplePart | None
    learner: Learner
    resample: bool | str
    max_restarts: int
    rng: np.random.Generator
    validation_fraction: float
    rounds: int = MOST_ROUNDS

    def training(self, rule: Rule, train: SamplePart, judge: SamplePart, seed: int) -> Training:
        """Return a training of one part that follows another."""
        sample = train.sample
        return Training(
            rule,
            self.learner,
            CpuRows(rule, train.table, sample.rows, sample.codes, len(sample.classes)),
            horizon=self.rounds,
            resample=self.resample,
            max_restarts=self.max_restarts,
            rng=np.random.default_rng(seed),
            watched=judge.table,
        )


Measure = Callable[[Training, SamplePart, float], Array]


def run(training: Training, rounds: int) -> None:
    """Train; Ctrl-C ends the choice, and the fit with it."""
    if training.run(rounds).code == "interrupted":
        raise KeyboardInterrupt


def scores(training: Training) -> Array:
    """Return the scores of the rows that the training follows."""
    assert training.watched is not None
    return training.settled(training.watched.scores)


def clipped_loss(sample: Sample, F: Array) -> Array:
    """Return every row's exponential loss, no more than e and divided by it: between 0 and 1.

    With one score a class it is SAMME's, exp(mean F - F_c).
    """
    if F.ndim == 1:
        margins = np.where(sample.codes == 1, F, -F)
    else:
        margins = F[np.arange(len(F)), sample.codes] - F.mean(axis=1)
    return np.exp(np.minimum(-margins, 1.0)) / e


def mistakes(sample: Sample, F: Array) -> Array:
    """Return 1 for every row that is misclassified, else 0."""
    return (decide(F) != sample.codes).astype(np.float64)


def mean(sample: Sample, x: Array) -> float:
    """Return the mean over the sample."""
    return sample.rows.total(x) / sample.rows.n


class BestRound:
    """Follows the mean clipped loss (and the errors, if they come first) of the judging rows to its lowest round."""

    def __init__(self, judge: SamplePart, errors_first: bool = False) -> None:
        self.sample, self.errors_first = judge.sample, errors_first
        self.round, self.lowest = 0, self._measure(np.zeros(judge.table.n_rows))

    def _measure(self, F: Array) -> tuple[float, float]:
        error = mean(self.sample, mistakes(self.sample, F)) if self.errors_first else 0.0
        return error, mean(self.sample, clipped_loss(self.sample, F))

    def __call__(self, training: Training) -> Stop | None:
        """Take note of the round; stop when none has been better for a while."""
        now = self._measure(scores(training))
        if now < self.lowest:
            self.lowest, self.round = now, training.state.t
        elif training.state.t - self.round >= PATIENCE:
            return Stop("patience")
        return None


def best_round(
    bench: SelectionData, rule: Rule, train: SamplePart, judge: SamplePart, seed: int, errors_first: bool = False
) -> BestRound:
    """Train on one part and return the round that judges best by another."""
    training, best = bench.training(rule, train, judge, seed), BestRound(judge, errors_first)
    training.monitors.append(best)
    run(training, bench.rounds)
    return best


# -- by an empirical Bernstein bound ----------------------------------------------------------------------------------


def folds(sample: Sample, rng: np.random.Generator, name: str, cure: str = "") -> Array:
    """Return the fold of every row: the same share of every class, whatever the order of the rows."""
    smallest = np.bincount(sample.codes, minlength=len(sample.classes))
    if smallest.min() < 3:
        rare = int(smallest.argmin())
        raise ValueError(
            f"{name} is chosen by cross-validation, which needs at least three rows of every class, and class "
            f"{sample.classes[rare]} has {smallest[rare]}; {cure or FIXED.format(name)}."
        )
    n_folds = min(FOLDS, int(smallest.min()))
    order = sample.canonical_order()
    fold, start = np.empty(len(order), np.intp), 0
    for c in range(len(sample.classes)):
        members = rng.permutation(order[sample.codes[order] == c])
        fold[members] = (start + np.arange(len(members))) % n_folds
        start += len(members)
    return fold


def cv_bernstein(bench: SelectionData, name: str, rules: Mapping[float, Rule]) -> tuple[float, Curve]:
    """Return the value whose cross-validated loss has the lowest empirical Bernstein bound, and how all values did.

    1. Every fold is judged by a vote trained on the others, of as many rounds as are best when the next fold is judged
       by the rest.  The losses Z = min(exp(-y F), e) / e of all rows together have the mean m and the variance v.
    2. With probability 1 - delta the expected loss is, for all values of the grid at once, at most
       m + sqrt(2 v ln(2 |grid| / delta) / n) + 7 ln(2 |grid| / delta) / (3 (n - 1)).

    Parameters
    ----------
    bench : SelectionData
        The training sample.
    name : str
        The parameter, for messages and the curve.
    rules : mapping
        The grid: values, and the rules they make.
    """
    whole = bench.whole
    fold = folds(whole.sample, bench.rng, name)
    n_folds = int(fold.max()) + 1
    Z, wrong = np.empty((len(rules), len(fold))), np.empty((len(rules), len(fold)))
    rounds = np.zeros((len(rules), n_folds))
    for k in range(n_folds):
        seed, inner = int(bench.rng.integers(2**62)), (k + 1) % n_folds
        held = np.flatnonzero(fold == k)
        train, judge = whole.rows(np.flatnonzero(fold != k)), whole.rows(held)
        fewer, chooser = (
            whole.rows(np.flatnonzero((fold != k) & (fold != inner))),
            whole.rows(np.flatnonzero(fold == inner)),
        )
        for i, rule in enumerate(rules.values()):
            rounds[i, k] = best_round(bench, rule, fewer, chooser, seed).round
            training = bench.training(rule, train, judge, seed)
            run(training, int(rounds[i, k]))
            F = scores(training)
            Z[i, held], wrong[i, held] = clipped_loss(judge.sample, F), mistakes(judge.sample, F)
    n = max(whole.sample.rows.n, float(len(fold)))
    price = log(2 * len(rules) / DELTA)
    loss = np.array([mean(whole.sample, z) for z in Z])
    variance = np.array([mean(whole.sample, (z - m) ** 2) for z, m in zip(Z, loss, strict=True)]) * n / (n - 1)
    curve = {
        name: np.array(list(rules), dtype=np.float64),
        "loss": loss,
        "variance": variance,
        "bound": loss + np.sqrt(2 * variance * price / n) + 7 * price / (3 * (n - 1)),
        "error": np.array([mean(whole.sample, w) for w in wrong]),
        "rounds": rounds.mean(axis=1),
    }
    return float(curve[name][curve["bound"].argmin()]), curve


# -- by the errors of a cross-validation -------------------------------------------------------------------------------


def cv_errors(bench: SelectionData, name: str, rules: Mapping[float, Rule], measures: Mapping[str, Measure]) -> Curve:
    """Return cross-validated measures of every value's vote after as many rounds as a trial has.

    Parameters
    ----------
    bench : SelectionData
        The training sample.
    name, rules
        As for `cv_bernstein`.
    measures : mapping
        Names, and functions of (training, rows to judge by, value) that say of every such row whether it counts.
    """
    whole = bench.whole
    fold = folds(whole.sample, bench.rng, name, f"give {name} a number")
    counted = {measure: np.empty((len(rules), len(fold))) for measure in measures}
    for k in range(int(fold.max()) + 1):
        seed, held = int(bench.rng.integers(2**62)), np.flatnonzero(fold == k)
        train, judge = whole.rows(np.flatnonzero(fold != k)), whole.rows(held)
        for i, (value, rule) in enumerate(rules.items()):
            training = bench.training(rule, train, judge, seed)
            run(training, bench.rounds)
            for measure, f in measures.items():
                counted[measure][i, held] = f(training, judge, value)
    shares = {measure: np.array([mean(whole.sample, z) for z in table]) for measure, table in counted.items()}
    return {name: np.array(list(rules), dtype=np.float64), **shares}


def misclassified(training: Training, judge: SamplePart, value: float) -> Array:
    """Return 1 for every row that the vote gets wrong."""
    return mistakes(judge.sample, scores(training))


def soft_misclassified(training: Training, judge: SamplePart, rho: float) -> Array:
    """Return 1 where AR-Boost's soft margin y F + lambda |y - h| is negative, h the last voter, lambda = (1/2) ln rho.

    Where no voter joined there is no soft margin, and a row counts that the vote gets wrong.
    """
    if not training.state.rounds:
        return misclassified(training, judge, rho)
    y = np.where(judge.sample.codes == 1, 1.0, -1.0)
    h = training.state.rounds[-1].voter.votes(judge.table)
    return (y * scores(training) + 0.5 * log(rho) * np.abs(y - h) < 0).astype(np.float64)


# -- by a validation set ----------------------------------------------------------------------------------------------


def parted(bench: SelectionData, name: str) -> tuple[SamplePart, SamplePart]:
    """Return rows to train on and rows to judge by: the validation sample, or a share of every class held out.

    Parameters
    ----------
    bench : SelectionData
        The training sample, and the validation sample where there is one.
    name : str
        The parameter, for messages.
    """
    train, judge = bench.whole, bench.held_out
    if judge is None:
        rarest = int(np.bincount(train.sample.codes).min())
        if rarest < 2:
            raise ValueError(
                f"{name} is chosen by validation, which holds out rows of every class, and one class has a single row; "
                "pass X_val and y_val, or give a number."
            )
        held = held_rows(train.sample, bench.validation_fraction, bench.rng)
        train, judge = train.rows(np.flatnonzero(~held)), train.rows(np.flatnonzero(held))
    return train, judge


def validation(bench: SelectionData, name: str, rules: Mapping[float, Rule]) -> tuple[float, Curve]:
    """Return the value with the fewest errors on validation rows, each at its best round; of equals the first.

    Parameters
    ----------
    bench : SelectionData
        The training sample, and the validation sample; where there is none, a share of every class is held out.
    name, rules
        As for `cv_bernstein`.
    """
    seed = int(bench.rng.integers(2**62))
    train, judge = parted(bench, name)
    best = [best_round(bench, rule, train, judge, seed, errors_first=True) for rule in rules.values()]
    curve = {
        name: np.array(list(rules), dtype=np.float64),
        "error": np.array([b.lowest[0] for b in best]),
        "loss": np.array([b.lowest[1] for b in best]),
        "rounds": np.array([float(b.round) for b in best]),
    }
    return float(curve[name][curve["error"].argmin()]), curve


# -- by theory --------------------------------------------------------------------------------------------------------


def complexity(bench: SelectionData) -> float:
    """Return the empirical Rademacher complexity of the weak learner's voters on the training sample."""
    sample = bench.whole.sample
    order = sample.canonical_order()
    return rademacher(bench.learner, bench.whole.table, sample.rows, order, bench.rng)[0]
