"""What models are compared by: one measure for tuning, stopping, ranking and advice.

A metric is a cost, better when smaller, so that one rule serves all of them; areas and F1 are shown as they are known,
one minus the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.studies.request import RequestError

Array = npt.NDArray[Any]

_FLOOR = np.finfo(float).eps  # of a probability, as scikit-learn has it
RARE = 0.1  # share of the rarer of two classes below which the share of errors says little


@dataclass(frozen=True)
class Metric:
    """One measure.

    Attributes
    ----------
    name : str
        As `--metric` has it.
    title : str
        Of a table's column.
    sentence : str
        What it is, for people.
    cost : callable
        (y, answer) -> float, better when smaller; y are class numbers or numbers, the answer is what `needs` says.
    needs : {"labels", "probabilities", "scores", "numbers"}
        "scores" is one number a row and class (for two classes, of the second) by which rows can be ordered.
    flipped : bool
        Whether it is shown as one minus the cost.
    percent : bool
        Whether it is shown in percent.
    bounded : bool
        Whether the cost lies between 0 and 1.
    """

    name: str
    title: str
    sentence: str
    cost: Callable[[Array, Array], float]
    needs: str = "labels"
    flipped: bool = False
    percent: bool = False
    bounded: bool = True

    @property
    def word(self) -> str:
        """What to call it in a sentence."""
        return (
            self.title.removesuffix(" %").strip() if self.title[:2].isupper() else self.title.removesuffix(" %").lower()
        )

    def value(self, cost: float) -> float:
        """Return a cost as it is shown."""
        return (1.0 - cost if self.flipped else cost) * (100.0 if self.percent else 1.0)

    def show(self, cost: float, digits: int | None = None) -> str:
        """Return a cost as text.

        Examples
        --------
        >>> METRICS["error"].show(0.201), METRICS["roc_auc"].show(0.25), METRICS["squared_error"].show(1234567.0)
        ('20.10', '0.7500', '1,234,567')
        """
        value = self.value(cost)
        if digits is not None:
            return f"{value:.{digits}f}"
        if self.percent:
            return f"{value:.2f}"
        return f"{value:.4f}" if self.bounded or abs(value) < 100 else f"{value:,.0f}"

    def say(self, cost: float) -> str:
        """Return a cost as a sentence has it."""
        return f"{self.value(cost):.1f} %" if self.percent else self.show(cost, 3 if self.bounded else None)

    def span(self, low: float, high: float) -> str:
        """Return an interval of costs."""
        low, high = (high, low) if self.flipped else (low, high)
        digits = 1 if self.percent else 3 if self.bounded else None
        return f"{self.show(low, digits)} to {self.show(high, digits)}"


# -- costs of class numbers -------------------------------------------------------------------------------------------


def _error(y: Array, labels: Array) -> float:
    return float(np.mean(labels != y))


def _balanced_error(y: Array, labels: Array) -> float:
    """Return the mean of the classes' shares of errors."""
    return float(np.mean([np.mean(labels[y == k] != k) for k in np.unique(y)]))


def _f1(y: Array, labels: Array) -> float:
    """Return 1 - F1: of the rarer of two classes, else the mean over the classes that occur."""
    classes = np.unique(y)
    if y.max(initial=0) <= 1 and labels.max(initial=0) <= 1:
        classes = np.array([int(np.mean(y) <= 0.5)])
    scores = []
    for k in classes:
        hit = np.sum((labels == k) & (y == k))
        scores.append(2.0 * hit / max(np.sum(labels == k) + np.sum(y == k), 1))
    return float(1.0 - np.mean(scores))


# -- costs of probabilities -------------------------------------------------------------------------------------------


def _log_loss(y: Array, p: Array) -> float:
    return float(np.mean(-np.log(np.maximum(p[np.arange(len(y)), y], _FLOOR))))


def _brier(y: Array, p: Array) -> float:
    """Return half of the squared distance between probabilities and truth: (p - y)^2 for two classes."""
    truth = np.zeros_like(p)
    truth[np.arange(len(y)), y] = 1.0
    return float(np.mean(np.sum((p - truth) ** 2, axis=1)) / 2.0)


# -- costs of an order ------------------------------------------------------------------------------------------------


def _each_class(one: Callable[[Array, Array], float]) -> Callable[[Array, Array], float]:
    """Return a cost of two classes as one of any number: the mean over the classes, each against the others."""

    def cost(y: Array, scores: Array) -> float:
        if scores.ndim == 1:
            return one(y == 1, scores) if np.mean(y) <= 0.5 else one(y == 0, -scores)  # the rarer is to be found
        return float(np.mean([one(y == k, scores[:, k]) for k in np.unique(y)]))

    return cost


def _auc(positive: Array, scores: Array) -> float:
    """Return one minus the area under the ROC curve: the share of pairs in the wrong order."""
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return 0.5
    ranks = stats.rankdata(scores)
    return 1.0 - float((ranks[positive].sum() - n * (n + 1) / 2.0) / (n * m))


def _average_precision(positive: Array, scores: Array) -> float:
    """Return one minus average precision: the mean precision at the places of the positive rows, ties as one place."""
    if not positive.any():
        return 1.0
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    hits = np.cumsum(positive[order])[ends]
    precision = hits / (ends + 1.0)
    return 1.0 - float(np.sum(precision * np.diff(hits, prepend=0)) / hits[-1])


# -- costs of numbers -------------------------------------------------------------------------------------------------


def _squared(y: Array, guess: Array) -> float:
    return float(np.mean((y - guess) ** 2))


def _absolute(y: Array, guess: Array) -> float:
    return float(np.mean(np.abs(y - guess)))


_EACH_AUC, _EACH_PRECISION = _each_class(_auc), _each_class(_average_precision)
_ORDER = "area under the ROC curve: how often a row of a class is ordered above one of another"
_PRECISION = "mean precision at the places of the rarer class's rows"
METRICS = {
    one.name: one
    for one in (
        Metric("error", "Error %", "mean share of test rows predicted wrongly", _error, percent=True),
        Metric("log_loss", "Log loss", "mean of -log P(true class)", _log_loss, "probabilities", bounded=False),
        Metric("roc_auc", "AUC", _ORDER, _EACH_AUC, "scores", flipped=True),
        Metric("average_precision", "Average precision", _PRECISION, _EACH_PRECISION, "scores", flipped=True),
        Metric(
            "balanced_error",
            "Balanced error %",
            "mean over the classes of the share predicted wrongly",
            _balanced_error,
            percent=True,
        ),
        Metric("f1", "F1", "F1 of the rarer class (of several classes: the mean)", _f1, flipped=True),
        Metric("brier", "Brier score", "squared distance of probabilities from the truth", _brier, "probabilities"),
        Metric("squared_error", "Squared error", "mean of (y - prediction)²", _squared, "numbers", bounded=False),
        Metric("absolute_error", "Absolute error", "mean of |y - prediction|", _absolute, "numbers", bounded=False),
    )
}


def find_metric(name: str) -> Metric:
    """Return a metric by its name, or raise a sentence with the nearest.

    Examples
    --------
    >>> find_metric("roc-auc").title
    'AUC'
    """
    aliases = {"auc": "roc_auc", "accuracy": "error", "ap": "average_precision", "mse": "squared_error"}
    aliases |= {"mae": "absolute_error", "logloss": "log_loss", "balanced_accuracy": "balanced_error"}
    plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
    plain = aliases.get(plain, plain)
    if plain in METRICS:
        return METRICS[plain]
    near = get_close_matches(plain, METRICS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(METRICS)}."
    raise RequestError(f"There is no metric {name!r}; {hint}")


def fitting_metric(y: Array, classes: tuple[str, ...]) -> tuple[Metric, str]:
    """Return the metric that fits a target, and why, as a sentence.

    Parameters
    ----------
    y : array
        Class numbers, or numbers.
    classes : tuple of str
        Empty for numbers.

    Returns
    -------
    metric : Metric
    why : str
    """
    if not classes:
        return METRICS["squared_error"], "the target is a number (--metric absolute_error weighs large misses less)"
    counts = np.bincount(y, minlength=len(classes))
    rare = counts.min() / counts.sum()
    if len(classes) == 2 and rare < RARE:
        return METRICS["average_precision"], (
            f"only {_one_in(rare)} rows is {classes[int(counts.argmin())]!r}, and always answering the other class "
            "would err on few"
        )
    if counts.max() > 10 * counts.min():
        return METRICS["log_loss"], (
            f"the classes differ in size ({counts.max():,} rows to {counts.min():,}), and the share of errors would "
            "hardly count the small ones"
        )
    return METRICS["error"], "no class is rare"


def _one_in(share: float) -> str:
    return f"one in {1.0 / share:,.0f}"


def check_metric(metric: Metric, is_numeric: bool, target: str = "the target") -> None:
    """Raise one sentence where a metric cannot be measured on a target."""
    if (metric.needs == "numbers") != is_numeric:
        kind = "numbers" if is_numeric else "classes"
        fits = [name for name, one in METRICS.items() if (one.needs == "numbers") == is_numeric]
        raise RequestError(f"{metric.name} is no metric of {kind}, which {target} holds; choose {', '.join(fits)}.")


# -- whether a model says anything ------------------------------------------------------------------------------------


def evidence(metric: Metric, y: Array, answer: Array, base: Array) -> float:
    """Return a z-value: how much better than a constant answer a model is on rows that it was not trained on.

    Rows are compared one by one (a paired test), or, for orders, the Mann-Whitney statistic by its own variance; so a
    few parts with many rows are enough to see a difference.

    Parameters
    ----------
    metric : Metric
    y : array
        Test targets.
    answer, base : arrays
        What the model answers, and what the constant answers.
    """
    if metric.needs == "scores":
        return _order_z(y, answer)
    ours, theirs = (_row_costs(metric, y, one) for one in (answer, base))
    gain = theirs - ours
    spread = float(gain.std(ddof=1)) if len(gain) > 1 else 0.0
    return float(gain.mean() / (spread / np.sqrt(len(gain)))) if spread > 0 else 0.0


def _row_costs(metric: Metric, y: Array, answer: Array) -> Array:
    if metric.needs == "numbers":
        return np.abs(y - answer) if metric.name == "absolute_error" else (y - answer) ** 2
    if metric.needs == "probabilities":
        p = answer[np.arange(len(y)), y]
        return -np.log(np.maximum(p, _FLOOR)) if metric.name == "log_loss" else (1.0 - p) ** 2
    wrong = (answer != y).astype(float)
    if metric.name == "error":
        return wrong
    counts = np.bincount(y)
    return wrong * len(y) / (np.count_nonzero(counts) * counts[y])


def _order_z(y: Array, scores: Array) -> float:
    pairs = [(y == 1, scores)] if scores.ndim == 1 else [(y == k, scores[:, k]) for k in np.unique(y)]
    found = []
    for positive, own in pairs:
        n, m = int(positive.sum()), int((~positive).sum())
        if n and m:
            found.append((0.5 - _auc(positive, own)) / np.sqrt((n + m + 1) / (12.0 * n * m)))
    return float(np.sum(found) / np.sqrt(len(found))) if found else 0.0


def together(z: list[float]) -> float:
    """Return the one-sided p-value of z-values of parts that share no test row (Stouffer's method)."""
    return float(stats.norm.sf(np.sum(z) / np.sqrt(len(z)))) if z else float("nan")
