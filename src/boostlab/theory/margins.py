"""Margins of a vote: how they are distributed, in numbers and as a curve, for any set of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.ensemble.vote import VoteBound as LoudestVote
from boostlab.theory.bound import Array, check_values
from boostlab.theory.models import vote_of

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


def normalised_margins(model: Any, X: Any, y: Any) -> Array:
    """Return the margins divided by the loudest vote possible, which lie in [-1, 1].

    That is `model.margins(X, y)`, except where a vote is not a plain weighted sum (WeightBoost): there every row's
    margin is divided by the sum of what the rounds said about that row, sum_t alpha_t g_t(x).

    Parameters
    ----------
    model : fitted booster
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)

    Returns
    -------
    array of shape (n_rows,)

    Examples
    --------
    >>> from boostlab import WeightBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> model = WeightBoostClassifier(n_estimators=20).fit(X, y)
    >>> bool(normalised_margins(model, X, y).max() > model.margins(X, y).max())
    True
    """
    if vote_of(model).rule.additive:
        return np.asarray(model.margins(X, y))
    *_, margins = staged_margins(model, X, y)
    return margins


def margins_of(model: Any, X: Any, y: Any) -> Array:
    """Return the normalised margins of a model, or margins that were given in its place."""
    if hasattr(model, "fit") and not hasattr(model, "margins"):
        vote_of(model)  # says that it has none
    if not hasattr(model, "margins"):
        return np.asarray(model, dtype=np.float64)
    if X is None or y is None:
        raise ValueError("Margins of models need rows and labels; give X and y, or arrays of margins.")
    return normalised_margins(model, X, y)


def staged_margins(model: Any, X: Any, y: Any) -> Iterator[Array]:
    """Yield the normalised margins after every round, in one pass.

    Parameters
    ----------
    model : fitted booster
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)

    Yields
    ------
    array of shape (n_rows,)

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    >>> *_, last = staged_margins(model, X, y)
    >>> bool(np.allclose(last, model.margins(X, y)))
    True
    """
    ensemble = vote_of(model)
    table = model._table(X)
    codes = model._codes(y, table.n_rows)
    loudest, said, before = LoudestVote(ensemble.rule.comes_back), np.zeros(len(codes)), np.zeros(len(codes))
    rows = np.arange(len(codes))
    for r, F in zip(ensemble.rounds, ensemble.staged_scores(table), strict=True):
        limit = loudest.add(r)
        if F.ndim == 1:
            margins = np.where(codes == 1, F, -F)
        else:
            others = F.copy()
            others[rows, codes] = -np.inf
            margins = (F[rows, codes] - others.max(axis=1)) / ensemble.rule.apart
        if ensemble.rule.additive:
            yield margins / limit if limit > 0 else margins
        else:
            said += np.abs(margins - before)
            before = margins
            yield margins / np.where(said > 0, said, 1.0)


@dataclass(frozen=True)
class MarginStatistics:
    """What a sample of margins looks like.

    Attributes
    ----------
    n : int
        Number of rows.
    error : float
        Share of margins <= 0.
    minimum, mean, sd, median, skewness : float
        The standard deviation has n in its denominator; average and median margin are Reyzin and Schapire's summaries.
    quantiles : mapping from float to float
        The largest margin below which (or at which) lies at most that share, by linear interpolation.
    """

    n: int
    error: float
    minimum: float
    mean: float
    sd: float
    median: float
    skewness: float
    quantiles: Mapping[float, float]


def margin_statistics(margins: npt.ArrayLike, quantiles: tuple[float, ...] = QUANTILES) -> MarginStatistics:
    """Return the statistics of a sample of margins.

    Parameters
    ----------
    margins : array-like of shape (n,)
        Normalised or not.
    quantiles : tuple of float
        Which quantiles to give.

    Returns
    -------
    MarginStatistics

    Examples
    --------
    >>> found = margin_statistics([-0.5, 0.0, 0.5, 1.0])
    >>> found.error, found.mean, found.median
    (0.5, 0.25, 0.25)
    """
    v = check_values(margins, "margins", -np.inf, np.inf)
    mean, sd = float(v.mean()), float(v.std())
    skewness = float(np.mean(((v - mean) / sd) ** 3)) if sd > 0 else 0.0
    at = {float(q): float(np.quantile(v, q)) for q in quantiles}
    return MarginStatistics(len(v), float(np.mean(v <= 0)), float(v.min()), mean, sd, float(np.median(v)), skewness, at)


def margin_curve(margins: npt.ArrayLike) -> tuple[Array, Array]:
    """Return the cumulative distribution: the margins in increasing order, and the share of rows at most so large.

    Parameters
    ----------
    margins : array-like of shape (n,)

    Returns
    -------
    values : array
        The distinct margins.
    shares : array
        The empirical distribution function at them.

    Examples
    --------
    >>> margin_curve([0.5, -1.0, 0.5, 1.0])
    (array([-1. ,  0.5,  1. ]), array([0.25, 0.75, 1.  ]))
    """
    v = check_values(margins, "margins", -np.inf, np.inf)
    values, counts = np.unique(v, return_counts=True)
    return values, np.cumsum(counts) / len(v)


def margin_share(margins: npt.ArrayLike, theta: float) -> float:
    """Return P_S[theta], the share of margins that are at most theta.

    Parameters
    ----------
    margins : array-like of shape (n,)
    theta : float

    Returns
    -------
    float

    Examples
    --------
    >>> margin_share([0.1, 0.2, 0.3, 0.4], 0.2)
    0.5
    """
    return float(np.mean(check_values(margins, "margins", -np.inf, np.inf) <= theta))


def margin_table(models: Mapping[str, Any], X: Any = None, y: Any = None) -> list[dict[str, Any]]:
    """Return a row of margin statistics for every model, as on the EBBoost slides (mean and sd), and more.

    Parameters
    ----------
    models : mapping from str to fitted booster, or from str to array of margins
    X : array-like of shape (n_rows, n_features), optional
    y : array-like of shape (n_rows,), optional

    Returns
    -------
    list of dict
        One a model, with the same keys: a frame is `pandas.DataFrame(margin_table(...))` away.

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, EBBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> models = {"AdaBoost": AdaBoostClassifier(), "EBBoost": EBBoostClassifier()}
    >>> table = margin_table({name: model.fit(X, y) for name, model in models.items()}, X, y)
    >>> [row["model"] for row in table], table[1]["sd"] < table[0]["sd"]
    (['AdaBoost', 'EBBoost'], True)
    """
    rows = []
    for name, model in models.items():
        found = asdict(margin_statistics(margins_of(model, X, y)))
        quantiles = found.pop("quantiles")
        rows.append({"model": name, **found, **{f"q{100 * q:g}": v for q, v in quantiles.items()}})
    return rows
