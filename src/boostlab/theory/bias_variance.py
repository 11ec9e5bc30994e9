"""Bias and variance of the 0/1 loss over repeated training sets: Kohavi and Wolpert's, and Domingos's."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from boostlab.theory.bound import Array


@dataclass(frozen=True)
class KohaviWolpert:
    """error = bias2 + variance + noise, means over the test rows.

    Attributes
    ----------
    error, bias2, variance, noise : float
    by_row : array of shape (n_rows, 3)
        bias2, variance and noise of every row.
    """

    error: float
    bias2: float
    variance: float
    noise: float
    by_row: Array


@dataclass(frozen=True)
class Domingos:
    """error = bias + net variance (without noise in the labels), means over the test rows.

    Attributes
    ----------
    error : float
    bias : float
        Share of rows whose main prediction (the most frequent; of equals the first class) is wrong.
    unbiased_variance : float
        How often single predictions differ from the main one where that is right: this adds to the error.
    biased_variance : float
        How often they are right where the main one is wrong: this lowers the error.
    net_variance : float
        unbiased_variance - biased_variance.
    variance : float
        How often predictions differ from the main one, over all rows.
    by_row : array of shape (n_rows, 2)
        Bias (0 or 1) and variance of every row.
    """

    error: float
    bias: float
    unbiased_variance: float
    biased_variance: float
    net_variance: float
    variance: float
    by_row: Array


def kohavi_wolpert(predictions: npt.ArrayLike, y: npt.ArrayLike, unbiased: bool = False) -> KohaviWolpert:
    """Return Kohavi and Wolpert's decomposition.

    At a row, bias2 = (1/2) sum_k (P(Y = k) - P(Yhat = k))^2, variance = (1/2)(1 - sum_k P(Yhat = k)^2), noise =
    (1/2)(1 - sum_k P(Y = k)^2); their sum is the error, exactly.  With one label a row the noise is zero.

    Parameters
    ----------
    predictions : array-like of shape (n_repeats, n_rows)
        Predicted labels, one line a training set.
    y : array-like of shape (n_rows,)
        True labels.
    unbiased : bool, default=False
        Correct bias2 and variance for the finite number R of repeats: sum_k p_k (1 - p_k) / (2 (R - 1)) moves from the
        first to the second.  Needs two repeats.

    Returns
    -------
    KohaviWolpert

    References
    ----------
    Kohavi & Wolpert 1996, Bias plus variance decomposition for zero-one loss functions.

    Examples
    --------
    >>> found = kohavi_wolpert([["a", "b"], ["a", "a"]], ["a", "a"])
    >>> found.error, found.bias2, found.variance
    (0.25, 0.125, 0.125)
    """
    shares, truth, _ = _frequencies(predictions, y)
    repeats = np.asarray(predictions).shape[0]
    bias2 = 0.5 * ((truth - shares) ** 2).sum(axis=1)
    variance = 0.5 * (1 - (shares**2).sum(axis=1))
    noise = 0.5 * (1 - (truth**2).sum(axis=1))
    if unbiased:
        if repeats < 2:
            raise ValueError("The unbiased form needs predictions from at least two training sets.")
        shift = (shares * (1 - shares)).sum(axis=1) / (2 * (repeats - 1))
        bias2, variance = bias2 - shift, variance + shift
    by_row = np.stack([bias2, variance, noise], axis=1)
    means = [float(mean) for mean in by_row.mean(axis=0)]
    return KohaviWolpert(sum(means), means[0], means[1], means[2], by_row)


def domingos(predictions: npt.ArrayLike, y: npt.ArrayLike) -> Domingos:
    """Return Domingos's decomposition, for labels without noise.

    The main prediction of a row is the most frequent one; bias B = [main != y], variance V = P(Yhat != main).  Where
    B = 0 variance adds to the error; where B = 1 the part of it that hits the true label lowers the error.

    Parameters
    ----------
    predictions : array-like of shape (n_repeats, n_rows)
        Predicted labels, one line a training set.
    y : array-like of shape (n_rows,)
        True labels.

    Returns
    -------
    Domingos

    References
    ----------
    Domingos 2000, A unified bias-variance decomposition for zero-one and squared loss.

    Examples
    --------
    >>> found = domingos([[1, 0], [1, 1], [0, 0]], [1, 1])
    >>> found.bias, round(found.unbiased_variance, 3), round(found.biased_variance, 3)
    (0.5, 0.167, 0.167)
    """
    shares, _, codes = _frequencies(predictions, y)
    rows = np.arange(len(codes))
    main = shares.argmax(axis=1)
    right = shares[rows, codes]
    biased = main != codes
    variance = 1 - shares[rows, main]
    adds = float(np.where(biased, 0.0, variance).mean())
    helps = float(np.where(biased, right, 0.0).mean())  # predictions that differ from the main one and are right
    by_row = np.stack([biased.astype(np.float64), variance], axis=1)
    bias = float(biased.mean())
    return Domingos(float(1 - right.mean()), bias, adds, helps, adds - helps, float(variance.mean()), by_row)


@dataclass(frozen=True)
class BiasVariance:
    """Both decompositions, and the predictions they were made of.

    Attributes
    ----------
    kohavi_wolpert : KohaviWolpert
    domingos : Domingos
    predictions : array of shape (n_repeats, n_test)
    y : array of shape (n_test,)
    test : array of int
        Which rows of the pool were tested on.
    """

    kohavi_wolpert: KohaviWolpert
    domingos: Domingos
    predictions: Array
    y: Array
    test: Array


def bias_variance(
    estimator: Any,
    X: Any,
    y: npt.ArrayLike,
    *,
    n_repeats: int = 50,
    test_size: float = 0.3,
    train_size: float = 0.5,
    n_jobs: int | None = None,
    progress: bool | None = None,
    random_state: Any = None,
) -> BiasVariance:
    """Return how much of a classifier's error is bias and how much variance, over repeated training sets.

    A share of the rows is put aside for testing; every repeat trains a clone on a random part of the others.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Of any kind.
    X : array-like or frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    n_repeats : int, default=50
        Number of training sets, at least two.
    test_size : float in (0, 1), default=0.3
        Share of the rows to test on.
    train_size : float in (0, 1), default=0.5
        Share of the other rows that every training set draws, without replacement.
    n_jobs : int, optional
        Number of processes (joblib).
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal only.
    random_state : int, RandomState or None, default=None
        Seed of the training sets, and of estimators that have a `random_state`.

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(600, random_state=0)
    >>> few, many = (
    ...     bias_variance(AdaBoostClassifier(n_estimators=T), X, y, n_repeats=10, random_state=0) for T in (1, 50)
    ... )
    >>> many.kohavi_wolpert.bias2 < few.kohavi_wolpert.bias2
    True
    """
    from joblib import Parallel, delayed

    labels = np.asarray(y)
    for name, share in (("test_size", test_size), ("train_size", train_size)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"{name}={share!r} is not possible; it is a share of the rows, between 0 and 1.")
    if n_repeats < 2:
        raise ValueError(f"n_repeats={n_repeats!r} is not enough; variance needs at least two training sets.")
    rng = check_random_state(random_state)
    order = rng.permutation(len(labels))
    n_test = max(1, round(test_size * len(labels)))
    test, pool = np.sort(order[:n_test]), order[n_test:]
    size = max(1, round(train_size * len(pool)))
    work = [(rng.choice(pool, size, replace=False), int(rng.randint(2**31))) for _ in range(n_repeats)]
    X_test = _safe_indexing(X, test)
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_predictions)(estimator, _safe_indexing(X, rows), labels[rows], X_test, seed) for rows, seed in work
    )
    with _bar(n_repeats, progress) as watch:
        predictions = np.array(list(watch(jobs)))
    truth = labels[test]
    return BiasVariance(kohavi_wolpert(predictions, truth), domingos(predictions, truth), predictions, truth, test)


def _predictions(estimator: Any, X: Any, y: Array, X_test: Any, seed: int) -> Array:
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return np.asarray(model.fit(X, y).predict(X_test))


@contextmanager
def _bar(total: int, wanted: bool | None) -> Iterator[Any]:
    """Give a function that passes work through and counts it on a progress bar, where one is wanted."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield iter
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("training sets"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        line = bar.add_task("", total=total)

        def watch(work: Iterable[Any]) -> Iterator[Any]:
            for done in work:
                bar.advance(line)
                yield done

        yield watch


def _frequencies(predictions: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """Return P(Yhat = k) by frequency, P(Y = k) (0 or 1), and the true class indices."""
    made, labels = np.asarray(predictions), np.asarray(y)
    if made.ndim != 2 or labels.shape != made.shape[1:] or not made.size:
        raise ValueError(
            f"predictions must have one line a training set and one column a label of y; the shapes are {made.shape} "
            f"and {labels.shape}."
        )
    classes, codes = np.unique(np.concatenate([made.ravel(), labels]), return_inverse=True)
    codes = codes.reshape(-1)
    said, true = codes[: made.size].reshape(made.shape), codes[made.size :]
    shares = np.stack([(said == k).mean(axis=0) for k in range(len(classes))], axis=1)
    return shares, np.eye(len(classes))[true], true
