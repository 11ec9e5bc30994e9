"""Yardsticks: what people use otherwise, at its defaults, on the same splits."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from boostlab.studies.plan import Method
from boostlab.studies.progress import report

HOW = "yardstick"
_MUCH = 5_000_000  # cells of a table from which on the slow ones are left out
_MOST_CATEGORIES = 255
_STEP = 10  # trees of a forest between two reports

Build = Callable[[list[int], bool, Any, int], Any]  # categorical columns, numbers?, X, seed


def _histograms(categorical: list[int], is_numeric: bool, X: Any, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if is_numeric else HistGradientBoostingClassifier
    small = [j for j in categorical if np.nanmax(X[:, j], initial=0) < _MOST_CATEGORIES]
    return kind(categorical_features=small or None, random_state=seed)


def _forest(categorical: list[int], is_numeric: bool, X: Any, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return (RandomForestRegressor if is_numeric else RandomForestClassifier)(n_jobs=1, random_state=seed)


def _linear(categorical: list[int], is_numeric: bool, X: Any, seed: int) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    model = RidgeCV(np.logspace(-3, 3, 7)) if is_numeric else LogisticRegression(max_iter=1000)
    numbers = [j for j in range(X.shape[1]) if j not in set(categorical)]
    prepare = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), numbers),
            ("categories", OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=100), categorical),
        ]
    )
    return make_pipeline(prepare, model)


def _lightgbm(categorical: list[int], is_numeric: bool, X: Any, seed: int) -> Any:
    import lightgbm

    kind = lightgbm.LGBMRegressor if is_numeric else lightgbm.LGBMClassifier
    return kind(n_jobs=1, random_state=seed, verbose=-1)


def _xgboost(categorical: list[int], is_numeric: bool, X: Any, seed: int) -> Any:
    import xgboost

    kind = xgboost.XGBRegressor if is_numeric else xgboost.XGBClassifier
    return kind(n_jobs=1, random_state=seed, verbosity=0)


def _ebm(categorical: list[int], is_numeric: bool, X: Any, seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingRegressor if is_numeric else ExplainableBoostingClassifier
    return kind(n_jobs=1, random_state=seed)


_BUILD: dict[str, Build] = {
    "HistGradientBoosting": _histograms,
    "random forest": _forest,
    "linear model": _linear,
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "EBM": _ebm,
}
_PACKAGES = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "EBM": "interpret"}
_SLOW = ("random forest", "EBM")
# How long one takes where a search of AdaBoost with one hold-out takes 1, measured on adult and on 100,000 rows of a
# larger table; on smaller tables, where the search trains three times, a third of that.
_EFFORTS = {"HistGradientBoosting": 0.35, "random forest": 1.5, "linear model": 0.1, "LightGBM": 0.25, "XGBoost": 0.15}
NAMES = {name.casefold().replace(" ", ""): name for name in _BUILD}


def peers(n_cells: int, is_sparse: bool = False, hold_out: bool = False) -> list[Method]:
    """Return the yardsticks that are installed and fast enough for a table.

    Parameters
    ----------
    n_cells : int
        Rows times columns.
    is_sparse : bool, default=False
        Whether the table is a sparse matrix, which none of them is asked to take.
    hold_out : bool, default=False
        Whether boosters choose by one hold-out and not by three parts, so that yardsticks take long beside them.

    Returns
    -------
    list of Method

    Examples
    --------
    >>> [method.name for method in peers(1000)][:3]
    ['HistGradientBoosting', 'random forest', 'linear model']
    """
    if is_sparse:
        return []
    there = [name for name in _BUILD if name not in _PACKAGES or find_spec(_PACKAGES[name]) is not None]
    share = 1.0 if hold_out else 1.0 / 3.0
    return [
        Method(name, "", {"yardstick": name}, how=HOW, effort=share * _EFFORTS.get(name, 1.0))
        for name in there
        if n_cells <= _MUCH or name not in _SLOW
    ]


def build(name: str, categorical: list[int], is_numeric: bool, X: Any, seed: int) -> Any:
    """Return a yardstick that is not fitted.

    Parameters
    ----------
    name : str
        As `peers` has it.
    categorical : list of int
        The columns of categories.
    is_numeric : bool
        Whether numbers are predicted.
    X : array
        The training rows.
    seed : int
    """
    return _BUILD[name](categorical, is_numeric, X, seed)


def is_peer(method: Method) -> bool:
    """Whether a method is a yardstick and no booster of ours."""
    return method.how == HOW


def fit_in_steps(model: Any, X: Any, y: Any) -> None:
    """Fit a yardstick; a forest, the slowest, some trees at a time: it tells how far it is, and can be given up.

    Parameters
    ----------
    model : estimator
        From `build`.
    X, y : array-like
        Training rows.
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if not isinstance(model, RandomForestClassifier | RandomForestRegressor):
        model.fit(X, y)
        return
    trees = model.n_estimators
    for n in range(_STEP, trees + 1, _STEP):  # the same forest: every tree has its own seed
        model.set_params(n_estimators=n, warm_start=n > _STEP).fit(X, y)
        report(n, trees)
