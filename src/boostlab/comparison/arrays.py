"""Boosters side by side on a table in memory: the study of `boostlab compare`, from Python."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from boostlab.comparison.design import Comparison, conclude, design
from boostlab.comparison.request import check_classes, check_settings
from boostlab.comparison.table import LabelledTable
from boostlab.data.input_tables import Reader
from boostlab.studies.request import RequestError
from boostlab.studies.runner import run
from boostlab.studies.store import Store


def compare(
    X: Any,
    y: Any,
    boosters: Sequence[str] | None = None,
    *,
    folds: int = 5,
    repeats: int = 1,
    rounds: int | None = None,
    noise: float | Sequence[float] = 0.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    budget: float = math.inf,
    store: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare boosters by nested cross-validation, all on the same splits.

    The number of rounds, the size of the trees and the main parameter of every booster are chosen on the training rows
    of every split.  A booster that fails is reported, and the others go on.  Ctrl-C ends the comparison and returns
    what there is.

    Parameters
    ----------
    X : array, frame or sparse matrix of shape (n_rows, n_features)
        Whatever a booster's `fit` takes: numbers, categories, missing values.
    y : array-like of shape (n_rows,)
        Class labels of any kind.
    boosters : sequence of str, optional
        Names with or without "Classifier", in any case; ["all"] is all that can take the classes; None is a choice that
        suits the table.
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
    budget : float, default=inf
        Seconds after which no training is begun for another split; what is finished is returned.  The seconds that
        compiling takes on first use are not counted.
    store : path, optional
        A file that keeps what is finished, and in which it is found again; None forgets it.

    Returns
    -------
    Comparison
        Its `rankings` are one a level of noise; `advice` says what to choose, and `print` shows it.

    Examples
    --------
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> result = compare(X, y, ["AdaBoost", "MadaBoost"], folds=2, rounds=20, noise=[0.0, 0.2])
    >>> [round(ranking.noise, 1) for ranking in result.rankings], result.rankings[0].standings[0].error < 0.2
    ([0.0, 0.2], True)
    """
    levels = [float(level) for level in np.atleast_1d(noise)]
    check_settings(folds=folds, repeats=repeats, rounds=rounds, noise=levels, random_state=random_state)
    if not isinstance(budget, Real) or not budget >= 0:
        raise RequestError(f"budget={budget!r} is not possible; give a number of seconds, such as 300.")
    table = _table(X, y)
    check_classes(np.array(table.classes)[table.y], folds)
    plan = design(table, boosters, folds=folds, repeats=repeats, rounds=rounds, noise=levels, seed=random_state)
    with _store(store) as cells:
        return conclude(plan, run(plan.study, cells, jobs=1 if n_jobs is None else n_jobs, budget=budget))


def _table(X: Any, y: Any) -> LabelledTable:
    reader = Reader()
    numbers = reader.numbers(X, first=True)
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    check_consistent_length(numbers, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    categorical = [] if reader._columns is None else list(reader._columns.n_categories)
    return LabelledTable("your table", numbers, codes, tuple(map(str, classes.tolist())), categorical)


@contextmanager
def _store(path: str | os.PathLike[str] | None) -> Iterator[Store]:
    if path is not None:
        with Store(path) as store:
            yield store
        return
    with TemporaryDirectory() as folder, Store(Path(folder, "cells.sqlite")) as store:
        yield store
