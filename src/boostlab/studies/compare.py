"""Boosters side by side: the same splits, the same noise, one cell a fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from boostlab.datasets import flip_labels
from boostlab.estimators import REGISTRY
from boostlab.estimators.base import BoostingClassifier
from boostlab.studies.request import able, check_request, choose
from boostlab.studies.result import Cell, Comparison

Array = npt.NDArray[Any]


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
    on_cell: Callable[[Comparison], None] | None = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare boosters by repeated stratified cross-validation, all on the same splits.

    Boosters are fitted one after the other, so that their times can be compared, and once for two rounds before the
    clock runs, so that nobody is charged for compiling.  A booster that fails is reported, and the others go on.
    Ctrl-C ends the comparison and returns what there is.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Numbers.
    y : array-like of shape (n_rows,)
        Class labels of any kind.
    boosters : sequence of str, optional
        Names with or without "Classifier", in any case; None is all registered boosters.
    folds : int, default=5
        Number of parts, each the test set once.
    repeats : int, default=1
        How often to divide the rows anew.
    rounds : int, optional
        The largest number of rounds; None leaves every booster its own default.
    noise : float or sequence of float, default=0.0
        Shares of the labels to flip in the training parts, below 0.5; test labels stay as they are.  Every split is
        used at every level.
    random_state : int, default=0
        Seed of the splits, the flips and the boosters.
    on_cell : callable, optional
        Called as f(comparison) after every fit, with the comparison so far; the new cell is its last.
    n_jobs : int, optional
        Number of threads of every fit; None is all cores.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> result = compare(X, y, ["AdaBoost", "LogitBoost"], folds=2, rounds=20, noise=[0.0, 0.2])
    >>> len(result.cells), max(s.error for s in result.ranking(noise=0.0)) < 0.2
    (8, True)
    """
    X, y = check_X_y(X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    check_classification_targets(y)
    levels = [float(level) for level in np.atleast_1d(noise)]
    check_request(y, folds=folds, repeats=repeats, rounds=rounds, noise=levels, random_state=random_state)
    names, left_out = able(choose(boosters), len(np.unique(y)))
    result = Comparison(names, levels, folds, repeats, left_out)
    limit = {} if rounds is None else {"n_estimators": rounds}
    warm: set[str] = set()
    splits = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=random_state).split(X, y)
    try:
        for number, (train, test) in enumerate(splits):
            repeat, fold = divmod(number, folds)
            flips, seed = map(int, np.random.SeedSequence([random_state, repeat, fold]).generate_state(2))
            params = {**limit, "random_state": seed, "n_jobs": n_jobs}
            for level in levels:
                split = _Split(X[train], flip_labels(y[train], level, flips), X[test], y[test])
                for name in names:
                    if name not in warm:
                        warm.add(name)
                        _try(name, {**params, "n_estimators": 2}, split, Cell(name, level, repeat, fold))
                    result.cells.append(_try(name, params, split, Cell(name, level, repeat, fold)))
                    if on_cell is not None:
                        on_cell(result)
    except KeyboardInterrupt:
        result.interrupted = True
    return result


@dataclass(frozen=True)
class _Split:
    X: Array
    y: Array  # as the boosters see them: some may be flipped
    X_test: Array
    y_test: Array  # the truth


def _try(name: str, params: dict[str, Any], split: _Split, cell: Cell) -> Cell:
    """Fit and test one booster; whatever goes wrong is written into the cell, and so is every warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = REGISTRY[name].cls(**params)
            start = time.perf_counter()
            model.fit(split.X, split.y)
            cell = replace(
                cell,
                seconds=time.perf_counter() - start,
                rounds=model.n_estimators_,
                stop_reason=model.stop_reason_,
                error=float(np.mean(model.predict(split.X_test) != split.y_test)),
            )
        except Exception as problem:
            reason = (str(problem).strip() or "no reason given").splitlines()[0]
            cell = replace(cell, failure=f"{type(problem).__name__}: {reason}")
    if cell.stop_reason.startswith("interrupted"):
        raise KeyboardInterrupt  # the engine answers Ctrl-C by ending the fit; here it means the whole comparison
    said = [str(w.message) for w in caught]
    if cell.stop_reason.startswith("max_rounds") and _ends_by_itself(name):
        said.append(f"cut off at {cell.rounds} rounds, before its own rule said stop")
    return replace(cell, remarks=tuple(dict.fromkeys(said)))


def _ends_by_itself(name: str) -> bool:
    """Whether a booster has a clock or an optimum to reach: its default limit is then larger, and meant as a safeguard.

    Cut off early, such a booster looks worse than it is, which a table must say.
    """
    cls: Any = REGISTRY[name].cls
    return bool(cls.n_estimators > BoostingClassifier.n_estimators)
