"""Boosters side by side on a table in memory: the study of `boostlab compare`, from Python."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from boostlab.comparison.design import MOST_ROWS, conclude, design
from boostlab.comparison.metrics import Metric, find_metric
from boostlab.comparison.request import check_classes, check_settings, seconds_of
from boostlab.comparison.result import Comparison
from boostlab.data.input_tables import Reader
from boostlab.studies.request import RequestError
from boostlab.studies.runner import run
from boostlab.studies.store import Store
from boostlab.tables.model import raw_sheet
from boostlab.tables.table import LabelledTable, understand


def compare(
    X: Any,
    y: Any = None,
    boosters: Sequence[str] | None = None,
    *,
    target: str | None = None,
    metric: str | None = None,
    with_peers: bool = True,
    folds: int = 5,
    repeats: int = 1,
    rounds: int | None = None,
    noise: float | Sequence[float] = 0.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    budget: float | str = math.inf,
    store: str | os.PathLike[str] | None = None,
    max_rows: int = MOST_ROWS,
) -> Comparison:
    """Compare boosters by nested cross-validation, all on the same splits.

    The number of rounds, the size of the trees and the main parameter of every booster are chosen on the training rows
    of every split.  A booster that fails is reported, and the others go on.  Ctrl-C ends the comparison and returns
    what there is.

    Parameters
    ----------
    X : array, frame, sparse matrix of shape (n_rows, n_features), or path
        With `y` whatever a booster's `fit` takes: numbers, categories, missing values.  Without it a frame or the name
        of a file, whose columns are understood as `boostlab compare` does.
    y : array-like of shape (n_rows,), optional
        Class labels of any kind, or numbers to predict.
    boosters : sequence of str, optional
        Names with or without "Classifier", in any case; ["all"] is all that can take the classes; None is a choice that
        suits the table.
    target : str, optional
        The column to predict, where there is no `y`.
    metric : str, optional
        What to tune and rank by: "error", "log_loss", "roc_auc", "average_precision", "balanced_error", "f1", "brier";
        for numbers "squared_error" or "absolute_error".  None is what fits the target.
    with_peers : bool, default=True
        Whether yardsticks of other libraries take part.
    folds : int, default=5
        Number of parts, each the test set once.
    repeats : int, default=1
        How often to divide the rows anew.
    rounds : int, optional
        The largest number of rounds; None is 200.
    noise : float or sequence of float, default=0.0
        Shares of the labels to flip in the training parts, below 0.5; test labels stay as they are.  Every split is
        used at every level.
    random_state : int, default=0
        Seed of the splits, the flips and the boosters.
    n_jobs : int, optional
        Number of workers; None is one, which knows boosters of your own, too; -1 is one on every core.
    budget : float or str, default=inf
        Seconds, or a time such as "5m", after which no training is begun for another split; those in the making have a
        tenth of it to end (a worker's first has all the time it needs).  What is finished is returned.  The seconds
        that compiling takes on first use are not counted.
    store : path, optional
        A file that keeps what is finished, and in which it is found again; None forgets it.
    max_rows : int, default=100000
        Of a larger table so many rows are drawn for the comparison; the best booster is fitted to all rows.

    Returns
    -------
    Comparison
        `ranking` is a frame, `best_estimator_` the recommended booster fitted to all rows, `report(path)` writes a page
        for the browser; `rankings` are one a level of noise, `advice` says what to choose, and `print` shows it.

    Examples
    --------
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> result = compare(X, y, ["AdaBoost", "MadaBoost"], folds=2, rounds=20, noise=[0.0, 0.2], with_peers=False)
    >>> [round(ranking.noise, 1) for ranking in result.rankings], result.rankings[0].standings[0].error < 0.2
    ([0.0, 0.2], True)
    """
    levels = [float(level) for level in np.atleast_1d(noise)]
    check_settings(
        folds=folds, repeats=repeats, rounds=rounds, noise=levels, random_state=random_state, max_rows=max_rows
    )
    measure = None if metric is None else find_metric(metric)
    if isinstance(budget, str):
        budget = seconds_of(budget)
    if not isinstance(budget, Real) or not budget >= 0:
        raise RequestError(f'budget={budget!r} is not possible; give a number of seconds, or a time such as "5m".')
    table, given = _table(X, y, target, measure, folds)
    if not table.is_numeric:
        check_classes(np.array(table.classes)[table.y], folds)
    plan = design(
        table,
        boosters,
        folds=folds,
        repeats=repeats,
        rounds=rounds,
        noise=levels,
        seed=random_state,
        metric=measure,
        with_peers=with_peers,
        max_rows=max_rows,
    )
    with _store(store) as cells:
        ran = run(plan.study, cells, jobs=1 if n_jobs is None else n_jobs, budget=float(budget))
    return replace(conclude(plan, ran), given=given)


def _table(
    X: Any, y: Any, target: str | None, metric: Metric | None, folds: int
) -> tuple[LabelledTable, tuple[Any, Any] | None]:
    """Return the table, and X and y where a booster is to be fitted to them as they are."""
    if y is None:
        name = Path(X).stem.partition(".")[0] if isinstance(X, str | os.PathLike) else "your table"
        numeric = None if metric is None else metric.needs == "numbers"
        return understand(raw_sheet(X).sheet(), name, target, folds=folds, numeric=numeric), None
    if target is not None:
        raise RequestError("target names a column of X and y is one by itself; give one of them.")
    reader = Reader()
    numbers = reader.numbers(X, first=True)
    labels = column_or_1d(y, warn=True)
    check_consistent_length(numbers, labels)
    categorical = [] if reader._columns is None else list(reader._columns.n_categories)
    names = tuple(map(str, getattr(X, "columns", ())))
    if metric is not None and metric.needs == "numbers":
        y = np.asarray(labels, float)
        return LabelledTable("your table", numbers, y, (), categorical, feature_names=names), (X, y)
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    shown = tuple(map(str, classes.tolist()))
    return LabelledTable("your table", numbers, codes, shown, categorical, feature_names=names), (X, labels)


@contextmanager
def _store(path: str | os.PathLike[str] | None) -> Iterator[Store]:
    if path is not None:
        with Store(path) as store:
            yield store
        return
    with TemporaryDirectory() as folder, Store(Path(folder, "cells.sqlite")) as store:
        yield store
