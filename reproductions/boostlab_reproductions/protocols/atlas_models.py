"""How the atlas trains its models: boosters and what people use otherwise, by one small interface.

`fitted` trains a candidate of a method; what it returns answers with probabilities, with the errors after every round
where there are rounds, and with the size of the saved model.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.boosters import REGISTRY
from boostlab.studies.plan import Method

Array = npt.NDArray[Any]

TREES = 100  # of a forest
RUN = "run"  # of a control: which start weights, no parameter of the model
MOST_PAIRED = 100  # columns among which EBM looks for interactions
EBM_REDUCED = {"outer_bags": 2, "max_rounds": 200, "learning_rate": 0.1, "interactions": 0}
MOST_STEPS = 20_000  # of EBM: rounds times columns


@dataclass(frozen=True, eq=False)
class ContenderRows:
    """Rows of a table: numbers, with categories as the places of their words, NaN where missing."""

    X: Array
    y: Array
    categorical: tuple[int, ...] = ()

    def take(self, rows: Array) -> ContenderRows:
        """Return some rows."""
        return ContenderRows(self.X[rows], self.y[rows], self.categorical)


@dataclass(frozen=True, eq=False)
class TrainedContender:
    """A trained model; its labels are 0 to k - 1, and `labels` says which classes these are."""

    model: Any
    labels: Array
    seconds: float
    errors: (
        Callable[[ContenderRows], Array] | None
    )  # wrong rows after every round; None: it has no rounds to choose from
    input: Callable[[Array], Any]
    save: Callable[[Any], int]  # bytes of the saved model

    def scores(self, X: Array, n_classes: int) -> tuple[Array, Array]:
        """Return probabilities, and what ranks best: the scores of two classes, else the probabilities."""
        table = self.input(X)
        p = np.zeros((len(X), n_classes))
        p[:, self.labels] = np.asarray(self.model.predict_proba(table), float)
        if n_classes == 2 and hasattr(self.model, "decision_function"):  # probabilities may all be rounded to 1
            return p, np.asarray(self.model.decision_function(table), float)
        return p, p

    def predict(self, X: Array) -> Array:
        """Return the classes."""
        said = np.asarray(self.model.predict(self.input(X))).ravel().astype(int)
        return np.asarray(self.labels[said])

    @property
    def rounds(self) -> int:
        """The number of rounds; 0 for what has none."""
        return int(getattr(self.model, "n_estimators_", 0) or 0)

    @property
    def stop(self) -> str:
        """Why training ended, where the model says it."""
        return str(getattr(self.model, "stop_reason_", "")).split(":")[0]


def fitted(
    method: Method,
    values: Mapping[str, Any],
    rounds: int | None,
    rows: ContenderRows,
    seed: int,
    held_out: ContenderRows | None = None,
    weight: Array | None = None,
) -> TrainedContender:
    """Train a candidate of a method.

    Parameters
    ----------
    method : Method
        A booster of ours, or a peer (its `params["peer"]`).
    values : mapping
        A value of every parameter of the grid; none for the defaults.
    rounds : int or None
        At most so many rounds; None is the library's default.
    rows : ContenderRows
        What trains.
    seed : int
        Of the model.
    held_out : ContenderRows, optional
        Rows on which libraries that count errors while they train shall count them.
    weight : array, optional
        Of the rows, for a control from other start weights.
    """
    labels, y = np.unique(rows.y, return_inverse=True)
    peer = method.params.get("peer")
    fixed = {name: value for name, value in method.params.items() if name != "peer"}
    settings = _Settings(dict(values), fixed, rounds, list(rows.categorical), len(labels), rows.X.shape[1], seed)
    if peer is None:
        params = {**method.params, **values, **({} if rounds is None else {"n_estimators": rounds})}
        params.pop(RUN, None)
        made = _own(method.booster, params, settings)
    else:
        made = _PEERS[peer](settings)
    table = made.input(rows.X)
    more = {} if weight is None else {"sample_weight": weight}
    if held_out is not None and made.watch is not None:
        more = made.watch(made.input(held_out.X), np.searchsorted(labels, held_out.y))
    start = process_time()
    made.model.fit(table, y, **made.options, **more)
    seconds = process_time() - start
    errors = None if made.errors is None else partial(_count, made.errors, made, labels)
    return TrainedContender(made.model, labels, seconds, errors, made.input, made.save)


def _count(errors: Callable[[Any, Any, Array], Array], made: _Made, labels: Array, rows: ContenderRows) -> Array:
    """Return how many rows are wrong after every round."""
    return errors(made.model, made.input(rows.X), np.searchsorted(labels, rows.y))


@dataclass(frozen=True)
class _Settings:
    values: dict[str, Any]
    fixed: dict[str, Any]
    rounds: int | None
    categorical: list[int]
    n_classes: int
    n_columns: int
    seed: int

    def named(self, **names: str) -> dict[str, Any]:
        """Return the values under the names that a library has for them."""
        return {names.get(name, name): value for name, value in self.values.items()}

    def up_to(self, name: str) -> dict[str, Any]:
        """Return the number of rounds under a library's name, if it is not the default."""
        return {} if self.rounds is None else {name: self.rounds}


@dataclass(frozen=True)
class _Made:
    """A model that is not fitted, and how it is used."""

    model: Any
    save: Callable[[Any], int]
    input: Callable[[Array], Any] = lambda X: X
    options: Mapping[str, Any] = field(default_factory=dict)
    errors: Callable[[Any, Any, Array], Array] | None = None
    watch: Callable[[Any, Array], dict[str, Any]] | None = None


def _staged(model: Any, X: Any, y: Array) -> Array:
    """Return how many rows are wrong after every round."""
    wrong = [int(np.count_nonzero(np.asarray(said).ravel() != y)) for said in model.staged_predict(X)]
    return np.array(wrong or [int(np.count_nonzero(np.asarray(model.predict(X)).ravel() != y))])


def _pickled(model: Any) -> int:
    return len(pickle.dumps(model))


def _in_a_file(write: Callable[[Any, str], Any], suffix: str) -> Callable[[Any], int]:
    def size(model: Any) -> int:
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"model{suffix}"
            write(model, str(path))
            return path.stat().st_size

    return size


_OUR_FILE = _in_a_file(lambda model, path: model.save(path), ".boost")


def _own(booster: str, params: Mapping[str, Any], s: _Settings) -> _Made:
    """Return a booster of ours."""
    categorical = s.categorical or "from_dtype"
    model = REGISTRY[booster].cls(**params, categorical_features=categorical, n_jobs=1, random_state=s.seed)
    return _Made(model, _OUR_FILE, errors=_staged)


def _auto(s: _Settings) -> _Made:
    from boostlab import AutoBoostClassifier

    model = AutoBoostClassifier(categorical_features=s.categorical or "from_dtype", n_jobs=1, random_state=s.seed)
    return _Made(model, lambda auto: _OUR_FILE(auto.best_estimator_))


def _xgboost(s: _Settings) -> _Made:
    import xgboost

    kinds = ["c" if j in s.categorical else "q" for j in range(s.n_columns)]
    measure = "error" if s.n_classes == 2 else "merror"
    params: dict[str, Any] = {
        "enable_categorical": bool(s.categorical),
        "feature_types": kinds if s.categorical else None,
    }
    if s.values:
        params |= {"grow_policy": "lossguide", "max_depth": 0, "tree_method": "hist", "eval_metric": measure}
    model = xgboost.XGBClassifier(
        **params,
        **s.named(max_leaf_nodes="max_leaves"),
        **s.up_to("n_estimators"),
        n_jobs=1,
        random_state=s.seed,
        verbosity=0,
    )
    return _Made(
        model,
        lambda m: len(m.get_booster().save_raw("ubj")),
        errors=lambda m, X, y: _shares(m.evals_result()["validation_0"][measure], y),
        watch=lambda X, y: {"eval_set": [(X, y)], "verbose": False},
    )


def _lightgbm(s: _Settings) -> _Made:
    import lightgbm

    measure = "binary_error" if s.n_classes == 2 else "multi_error"
    model = lightgbm.LGBMClassifier(
        **s.named(max_leaf_nodes="num_leaves"), **s.up_to("n_estimators"), n_jobs=1, random_state=s.seed, verbose=-1
    )
    return _Made(
        model,
        lambda m: len(m.booster_.model_to_string().encode()),
        options={"categorical_feature": s.categorical} if s.categorical else {},
        errors=lambda m, X, y: _shares(m.evals_result_["valid_0"][measure], y),
        watch=lambda X, y: {"eval_set": [(X, y)], "eval_metric": measure},
    )


def _shares(shares: Iterable[float], y: Array) -> Array:
    """Return how many rows are wrong, given the shares that a library counted."""
    return np.rint(np.asarray(list(shares)) * len(y)).astype(int)


def _histograms(s: _Settings) -> _Made:
    from sklearn.ensemble import HistGradientBoostingClassifier

    searched = {"early_stopping": False} if s.values else {}
    model = HistGradientBoostingClassifier(
        categorical_features=s.categorical or None, **s.values, **s.up_to("max_iter"), **searched, random_state=s.seed
    )
    return _Made(model, _pickled, errors=_staged)


def _catboost(s: _Settings) -> _Made:
    import catboost

    # Below 200 rounds the library combines no categories and takes one Newton step a leaf, so that the first rounds of
    # a long run, which are what is chosen, are not the model of a short run.
    kept = {"max_ctr_complexity": 4, "leaf_estimation_iterations": 10 if s.n_classes == 2 else 1}
    model = catboost.CatBoostClassifier(
        **s.named(max_depth="depth"), **s.up_to("iterations"), **(kept if s.fixed.get("as_in_long_runs") else {}),
        thread_count=1, random_seed=s.seed, verbose=0, allow_writing_files=False, cat_features=s.categorical or None,
    )  # fmt: skip
    return _Made(
        model,
        _in_a_file(lambda m, path: m.save_model(path), ".cbm"),
        input=lambda X: _words(X, s.categorical),
        errors=_staged,
    )


def _ebm(s: _Settings) -> _Made:
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["nominal" if j in s.categorical else "continuous" for j in range(s.n_columns)]
    settings = {**EBM_REDUCED, **s.named(max_leaf_nodes="max_leaves")}
    settings["max_rounds"] = min(settings["max_rounds"], MOST_STEPS // s.n_columns)
    if not 2 <= s.n_columns <= MOST_PAIRED:
        settings["interactions"] = 0
    model = ExplainableBoostingClassifier(**settings, feature_types=kinds, n_jobs=1, random_state=s.seed)
    return _Made(model, _pickled, input=lambda X: _words(X, s.categorical))


def _forest(s: _Settings) -> _Made:
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(TREES, **s.values, n_jobs=1, random_state=s.seed)
    return _Made(_columns(model, s, scaled=False), _pickled)


def _logistic(s: _Settings) -> _Made:
    from sklearn.linear_model import LogisticRegression

    strength = float(s.values.get("strength", 1.0))
    return _Made(_columns(LogisticRegression(C=1.0 / strength, max_iter=1000), s, scaled=True), _pickled)


def _columns(model: Any, s: _Settings, scaled: bool) -> Any:
    """Return a pipeline: one column a category, means for gaps, and, where asked for, columns of one scale."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    fill = SimpleImputer(keep_empty_features=True)
    numbers = [j for j in range(s.n_columns) if j not in set(s.categorical)]
    steps = [("numbers", make_pipeline(fill, StandardScaler()) if scaled else fill, numbers)]
    steps += [("categories", OneHotEncoder(handle_unknown="ignore"), s.categorical)] if s.categorical else []
    return make_pipeline(ColumnTransformer(steps), model)


def _words(X: Array, categorical: list[int]) -> Any:
    """Return the table with its categories as words, as some libraries want them."""
    if not categorical:
        return X
    table = X.astype(object)
    for j in categorical:
        table[:, j] = ["?" if np.isnan(v) else f"c{int(v)}" for v in X[:, j]]
    return table


_PEERS: dict[str, Callable[[_Settings], _Made]] = {
    "AutoBoost": _auto,
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "HistGradientBoosting": _histograms,
    "CatBoost": _catboost,
    "EBM": _ebm,
    "random forest": _forest,
    "logistic regression": _logistic,
}
