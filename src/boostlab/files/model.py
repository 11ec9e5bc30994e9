"""A fitted booster as what `model.json` says and a set of arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from boostlab import __version__
from boostlab.contract import Rule
from boostlab.data.columns import Columns
from boostlab.data.table import MOST_BINS
from boostlab.ensemble import Ensemble
from boostlab.estimators import REGISTRY, REGRESSORS
from boostlab.estimators.base import Booster
from boostlab.estimators.params import check_params
from boostlab.files import values, voters
from boostlab.files.problems import JOBLIB, Problem, need, shown
from boostlab.voters import DecisionStump, DecisionTree, VoterPool

Array = npt.NDArray[Any]

LEARNERS: dict[str, Any] = {cls.__name__: cls for cls in (DecisionStump, DecisionTree, VoterPool)}
FIELDS = {
    "boostlab",
    "class",
    "params",
    "n_features",
    "feature_names",
    "columns",
    "one_number_a_vote",
    "stop_reason",
    "history",
    "settled",
}
CLASSES, BASELINE = "classes", "baseline"  # what a classifier's, and what a regressor's file holds of y
DROPPED = {"callbacks"}  # loaded as None
MOST_JOBS = 1024


# -- to a file -------------------------------------------------------------------------------------------------------


def pack(model: Booster) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what to write for a fitted booster.

    Parameters
    ----------
    model : Booster
        Fitted, of a class in the registry.
    """
    name = type(model).__name__
    if not isinstance(model, Booster) or _known().get(name) is not type(model):
        raise Problem("it is not one of boostlab's own boosters", JOBLIB)
    check_is_fitted(model, "n_estimators_")
    _check_unchanged(model)
    columns: Columns | None = model._columns
    setting = voters.Setting(
        model._ensemble.rule,
        model._n_classes,
        model.n_features_in_,
        {} if columns is None else columns.n_categories,
    )
    arrays, single = voters.pack(model._ensemble.rounds, setting)
    arrays["importances"] = np.asarray(model.feature_importances_, np.float64)
    for i, column in enumerate(model.history_.values()):
        arrays[f"history_{i}"] = _history_column(column)
    names = getattr(model, "feature_names_in_", None)
    header = {
        "boostlab": __version__,
        "class": name,
        "params": _pack_params(model),
        **_pack_targets(model),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(n) for n in names],
        "columns": None if columns is None else _pack_columns(columns),
        "one_number_a_vote": single,
        "stop_reason": str(model.stop_reason_),
        "history": list(model.history_),
        "settled": {k: values.encode(v, k) for k, v in getattr(model, "_settled", {}).items()},
    }
    return header, arrays


def _known() -> dict[str, type]:
    """Return the boosters that a file may hold."""
    return {name: entry.cls for name, entry in (REGISTRY | REGRESSORS).items()}


def _pack_targets(model: Any) -> dict[str, Any]:
    if model._numeric:
        return {BASELINE: values.encode(model.baseline_, "baseline_")}
    return {CLASSES: values.encode_array(model.classes_, "classes_")}


def _check_unchanged(model: Booster) -> None:
    """Refuse parameters that no longer make the rule by which the model votes."""
    try:
        check_params(model)
        same = model._rule() == model._ensemble.rule
    except ValueError as error:
        raise Problem(f"its parameters are no longer possible ({str(error).rstrip('.')})", "set them back") from error
    if not same:
        raise Problem("its parameters changed since it was fitted", "set them back, or fit it again")


def _pack_params(model: Booster) -> dict[str, Any]:
    params = {k: v for k, v in model.get_params(deep=False).items() if k not in DROPPED}
    if callable(params["scoring"]):
        raise Problem("scoring is a function, which a model file cannot store", 'set scoring="error" before saving')
    if not isinstance(params["random_state"], int | np.integer):
        params["random_state"] = None  # a generator is where chance has got to, not a setting
    stored = {k: values.encode(v, k) for k, v in params.items() if k != "estimator"}
    return {"estimator": _pack_learner(params["estimator"]), **stored}


def _pack_learner(learner: Any) -> Any:
    if learner is None or isinstance(learner, str):
        return learner
    name = type(learner).__name__
    if LEARNERS.get(name) is not type(learner):
        raise Problem(f"its estimator is of the kind {name!r}, and only boostlab's own can be stored", JOBLIB)
    params = learner.get_params(deep=False)
    if params.get("voters") is not None:
        raise Problem("its VoterPool holds voters of your own, which a model file cannot store", JOBLIB)
    return {"learner": name, "params": {k: values.encode(v, f"{name}.{k}") for k, v in params.items()}}


def _pack_columns(columns: Columns) -> dict[str, Any]:
    names: list[Any] | None = None
    if columns.names is not None:
        names = [n if type(n) in (str, int) else str(n) for n in columns.names]  # only ever shown
    categories: list[Any] = []
    for j, seen in enumerate(columns.categories):
        categories.append(None if seen is None else [values.encode(v, columns.name(j)) for v in seen])
    return {"names": names, "categories": categories}


def _history_column(column: Any) -> Array:
    a = np.asarray(column)
    try:
        return a if a.dtype in (np.dtype(bool), np.dtype(np.int64)) else a.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise Problem("history_ holds something that is not a number", JOBLIB) from error


# -- from a file -----------------------------------------------------------------------------------------------------


def unpack(header: Mapping[str, Any], arrays: dict[str, Array]) -> Booster:
    """Return the fitted booster, after checking all that its methods rely on.

    Parameters
    ----------
    header : mapping
        What `model.json` says.
    arrays : dict
        The arrays it lists.
    """
    targets = header.keys() & {CLASSES, BASELINE}
    need(len(targets) == 1 and header.keys() - targets == FIELDS, "entries of model.json are missing or unknown")
    names = header["history"]
    need(_are(names, str) and len(set(names)) == len(names), "the history has no names")
    listed = {*voters.LAYOUT, "importances", *(f"history_{i}" for i in range(len(names)))}
    need(arrays.keys() == listed, "arrays are missing or unknown")
    model = _unpack_params(header["class"], header["params"], header["boostlab"])
    model._settled = _unpack_settled(header["settled"], model)
    _unpack_targets(header, model)
    rule = _rule_of(model)  # which may depend on the number of classes
    d = header["n_features"]
    need(type(d) is int and d >= 1, "the number of features")
    columns = _unpack_columns(header["columns"], d)
    n_categories = {} if columns is None else columns.n_categories
    single = header["one_number_a_vote"]
    need(type(single) is bool, "the kind of votes")
    importances = arrays["importances"]
    need(importances.dtype == np.float64 and importances.shape == (d,), "importances and features differ in number")
    need(((importances >= 0) & (importances <= 1 + 1e-9)).all(), "an importance that is not a share")
    setting = voters.Setting(rule, model._n_classes, d, n_categories)
    rounds = voters.unpack(arrays, single, setting)
    history = {name: arrays[f"history_{i}"] for i, name in enumerate(names)}
    need(all(a.ndim == 1 and len(a) >= len(rounds) for a in history.values()), "the history is shorter than the vote")
    need(len({len(a) for a in history.values()}) <= 1, "the history's columns differ in length")
    facts = {name: a.astype(np.float64).tolist() for name, a in history.items()}
    for t, r in enumerate(rounds):
        r.facts.update({name: column[t] for name, column in facts.items() if column[t] == column[t]})
    seen = header["feature_names"]
    if seen is not None:
        need(_are(seen, str) and len(seen) == d, "names and features differ in number")
        model.feature_names_in_ = np.array(seen, dtype=object)
    need(isinstance(header["stop_reason"], str), "the stop reason")
    model.n_features_in_ = d
    model._columns = columns
    model._keep(Ensemble(rule, rounds, model._n_classes), history, header["stop_reason"])
    model.feature_importances_ = importances
    return model


def _are(items: Any, *types: type) -> bool:
    return isinstance(items, list) and all(type(v) in types for v in items)


def _unpack_params(name: Any, stored: Any, written_by: Any) -> Booster:
    need(isinstance(name, str) and isinstance(stored, dict), "the class or its parameters are missing")
    newer = f"upgrade boostlab, if the file was written by a newer one (it says {shown(written_by)})"
    if name not in _known():
        raise Problem(f"it holds a {shown(name)}, which is not a booster of boostlab {__version__}", newer)
    cls: Any = _known()[name]
    unknown = stored.keys() - (set(cls._get_param_names()) - DROPPED)
    if unknown:
        raise Problem(f"it sets {shown(min(unknown))}, which is not a parameter of {name}", newer)
    params = {k: values.decode(v) for k, v in stored.items() if k != "estimator"}
    model: Booster = cls(estimator=_unpack_learner(stored.get("estimator")), **params)
    need(isinstance(model.scoring, str), "scoring is not text")
    need(model.random_state is None or type(model.random_state) is int, "random_state is not a number")
    _rule_of(model)
    need(model.n_jobs is None or model.n_jobs <= MOST_JOBS, f"n_jobs is above {MOST_JOBS}")
    return model


def _rule_of(model: Booster) -> Rule:
    """Return the rule that the parameters make, if they are possible."""
    try:
        check_params(model)
        return model._rule()
    except ValueError as error:
        raise Problem(f"its content is damaged ({str(error).rstrip('.')})") from error


def _unpack_settled(stored: Any, model: Booster) -> dict[str, Any]:
    """Return what the data decided at fit: numbers that their parameters could be, and columns of numbers."""
    need(isinstance(stored, dict) and stored.keys() <= set(model._settles), "what the data decided")
    settled = {name: values.decode(v) for name, v in stored.items()}
    for name, value in settled.items():
        if isinstance(value, dict):
            need(all(isinstance(k, str) and _is_column(c) for k, c in value.items()), f"the columns of {name}")
            need(len({len(c) for c in value.values()}) == 1, f"the columns of {name} differ in length")
        else:
            need(type(value) is float, f"{name} is not a number")
            check = next((f.metadata["check"] for f in fields(model) if f.name == name), None)
            need(check is not None and check.test(value), f"{name} is {value:g}")
    return settled


def _is_column(c: Any) -> bool:
    return isinstance(c, np.ndarray) and c.dtype == np.float64 and bool(np.isfinite(c).all())


def _unpack_learner(stored: Any) -> Any:
    if stored is None or isinstance(stored, str):
        return stored
    need(isinstance(stored, dict) and stored.keys() == {"learner", "params"}, "the estimator")
    name, params = stored["learner"], stored["params"]
    need(isinstance(name, str) and name in LEARNERS and isinstance(params, dict), "the estimator")
    need(params.get("voters") is None, "a pool with voters of its own")
    need(params.keys() <= set(LEARNERS[name]._get_param_names()), "the estimator's parameters")
    return LEARNERS[name](**{k: values.decode(v) for k, v in params.items()})


def _unpack_targets(header: Mapping[str, Any], model: Any) -> None:
    need((BASELINE if model._numeric else CLASSES) in header, "a classifier without classes, or a regressor with some")
    if model._numeric:
        model.baseline_ = values.decode(header[BASELINE])
        need(type(model.baseline_) is float and abs(model.baseline_) <= voters.LARGEST_SCORE, "the baseline")
        return
    classes = model.classes_ = values.decode_array(header[CLASSES])
    need(len(classes) == 2 or (len(classes) > 2 and model._multiclass), "the number of classes")
    try:
        ascending = bool((classes[1:] > classes[:-1]).all())
    except TypeError:  # of different kinds
        ascending = False
    need(ascending, "the classes are not in order")


def _unpack_columns(stored: Any, d: int) -> Columns | None:
    if stored is None:
        return None
    need(isinstance(stored, dict) and stored.keys() == {"names", "categories"}, "the columns")
    names, categories = stored["names"], stored["categories"]
    need(names is None or (_are(names, str, int) and len(names) == d), "names and columns differ in number")
    need(isinstance(categories, list) and len(categories) == d, "categories and columns differ in number")
    read: list[list[Any] | None] = []
    for seen in categories:
        need(seen is None or (isinstance(seen, list) and len(seen) <= MOST_BINS), "the categories of a column")
        read.append(None if seen is None else [values.scalar(v) for v in seen])
        known = read[-1] or []
        need(len(set(known)) == len(known) and all(v == v for v in known), "a category that is there twice")
    return Columns(read, names)
