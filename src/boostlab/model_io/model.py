"""A fitted booster as what `model.json` says and a set of arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from boostlab import __version__
from boostlab.boosters.registry import known, load_learner
from boostlab.calibration.costs import cost_matrix
from boostlab.calibration.maps import KINDS as MAPS
from boostlab.calibration.maps import Calibration
from boostlab.contract.voter import LARGEST_SCORE, LEARNERS
from boostlab.data.frames import Columns
from boostlab.data.table import MOST_BINS
from boostlab.model_io import reduction, values, vote
from boostlab.model_io.problems import IMPORT, JOBLIB, Problem, need, shown
from boostlab.reductions.training import binary

Array = npt.NDArray[Any]

FIELDS = {
    "boostlab",
    "class",
    "params",
    "n_features",
    "feature_names",
    "columns",
}
CALIBRATION = "calibration"
CLASSES, BASELINE = "classes", "baseline"  # what a classifier's, and what a regressor's file holds of y
DROPPED = {"callbacks"}  # loaded as None
MOST_JOBS = 1024


# -- to a file -------------------------------------------------------------------------------------------------------


def pack(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what to write for a fitted booster.

    Parameters
    ----------
    model : Booster
        Fitted, of a class in the registry.
    """
    name = type(model).__name__
    if known(name) is not type(model):
        raise Problem("it is not one of boostlab's own boosters", JOBLIB)
    check_is_fitted(model, "n_estimators_")
    _check_unchanged(model)
    entries, arrays = (reduction if reduction.is_reduced(model) else vote).pack(model)
    header = {
        "boostlab": __version__,
        "class": name,
        "params": pack_params(model),
        **_pack_targets(model),
        **pack_table(model, model._columns),
        **_pack_calibration(model),
        **entries,
    }
    return header, arrays


def _pack_calibration(model: Any) -> dict[str, Any]:
    """Return the maps from scores to probabilities, where there are any: older versions could not read them."""
    if model.__dict__.get("_calibration") is None:
        return {}
    maps = [[values.encode_array(a, "calibrate") for a in f.numbers] for f in model._calibration.maps]
    return {CALIBRATION: {"kind": model._calibration.maps[0].kind, "maps": maps}}


def _unpack_calibration(model: Any, stored: Any) -> None:
    kinds = {"sigmoid": 1, "isotonic": 2, "venn-abers": 3}  # how many arrays a map has
    need(isinstance(stored, dict) and stored.keys() == {"kind", "maps"} and stored["kind"] in kinds, "the calibration")
    kind, listed = stored["kind"], stored["maps"]
    width = 1 if model._n_classes == 2 else model._n_classes
    need(not model._numeric and isinstance(listed, list) and len(listed) == width, "the calibration of some classes")
    maps = []
    for given in listed:
        need(isinstance(given, list) and len(given) == kinds[kind], "the arrays of a calibration")
        numbers = tuple(values.decode_array(a) for a in given)
        need(
            all(a.dtype == np.float64 and np.isfinite(a).all() for a in numbers), "a calibration that holds no numbers"
        )
        sizes = [len(a) for a in numbers]
        need(
            {"sigmoid": sizes == [2], "isotonic": len({*sizes}) == 1, "venn-abers": sizes[1:] == [sizes[0] + 1] * 2}[
                kind
            ],
            "the arrays of a calibration differ in length",
        )
        need(kind == "sigmoid" or (np.diff(numbers[0]) >= 0).all(), "scores of a calibration that are not in order")
        need(kind == "sigmoid" or all(((p >= 0) & (p <= 1)).all() for p in numbers[1:]), "a probability that is none")
        need(kind != "isotonic" or sizes[0] > 0, "a calibration without scores")
        maps.append(MAPS[kind].of(numbers))
    model._calibration = Calibration(maps)
    if model.cost is not None:
        try:
            model.cost_matrix_ = cost_matrix(model.cost, model.classes_)
        except (ValueError, TypeError) as error:
            raise Problem(f"its content is damaged ({str(error).rstrip('.')})") from error


def pack_table(model: Any, columns: Columns | None) -> dict[str, Any]:
    """Return what to write of the table that a model was fitted to.

    Parameters
    ----------
    model : estimator
        Fitted.
    columns : Columns, optional
        How its categories are read.
    """
    names = getattr(model, "feature_names_in_", None)
    return {
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(n) for n in names],
        "columns": None if columns is None else _pack_columns(columns),
    }


def _pack_targets(model: Any) -> dict[str, Any]:
    if model._numeric:
        return {BASELINE: values.encode(model.baseline_, "baseline_")}
    return {CLASSES: values.encode_array(model.classes_, "classes_")}


def _check_unchanged(model: Any) -> None:
    """Refuse parameters that no longer make the rule by which the model votes."""
    try:
        model._possible_rule()
        same = all(now._rule() == then._ensemble.rule for now, then in _votes(model))
    except ValueError as error:
        raise Problem(f"its parameters are no longer possible ({str(error).rstrip('.')})", "set them back") from error
    if not same:
        raise Problem("its parameters changed since it was fitted", "set them back, or fit it again")


def _votes(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the booster that the parameters make now, and the one that was fitted, for every vote of the model."""
    if not reduction.is_reduced(model):
        yield model, model
        return
    for one in model.estimators_:
        now = binary(model)
        now._settled = one._settled
        yield now, one


def pack_params(model: Any) -> dict[str, Any]:
    """Return the parameters of a booster as values of JSON.

    Parameters
    ----------
    model : Booster
        Of a class in the registry.
    """
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


# -- from a file -----------------------------------------------------------------------------------------------------


def unpack(header: Mapping[str, Any], arrays: dict[str, Array]) -> Any:
    """Return the fitted booster, after checking all that its methods rely on.

    Parameters
    ----------
    header : mapping
        What `model.json` says.
    arrays : dict
        The arrays it lists.
    """
    targets = header.keys() & {CLASSES, BASELINE}
    parts = {reduction.FIELD} if reduction.FIELD in header else vote.FIELDS
    if reduction.FIELD not in header:
        header = {**vote.ADDED, **header}
    header = dict(header)
    calibration = header.pop(CALIBRATION, None)
    entries = FIELDS | parts
    need(len(targets) == 1 and header.keys() - targets == entries, "entries of model.json are missing or unknown")
    model = unpack_params(header["class"], header["params"], header["boostlab"])
    _unpack_targets(header, model)
    unpack_table(header, model)
    if reduction.FIELD in header:
        reduction.unpack(model, header[reduction.FIELD], dict(arrays))
    else:
        need(model._reduction(model._n_classes) is None, "one vote where there should be several")
        vote.unpack(model, {name: header[name] for name in vote.FIELDS}, arrays)
    asked = not model._numeric and model._how() is not None
    need((calibration is not None) == asked, "a calibration is missing, or there is one that was not asked for")
    if calibration is not None:
        _unpack_calibration(model, calibration)
    return model


def unpack_table(header: Mapping[str, Any], model: Any) -> None:
    """Tell a model of the table that it was fitted to.

    Parameters
    ----------
    header : mapping
        What `model.json` says.
    model : estimator
        Which reads tables.
    """
    d = header["n_features"]
    need(type(d) is int and d >= 1, "the number of features")
    model.n_features_in_ = d
    model._columns = _unpack_columns(header["columns"], d)
    seen = header["feature_names"]
    if seen is not None:
        need(vote.are(seen, str) and len(seen) == d, "names and features differ in number")
        model.feature_names_in_ = np.array(seen, dtype=object)


def unpack_params(name: Any, stored: Any, written_by: Any) -> Any:
    """Return an unfitted booster.

    Parameters
    ----------
    name, stored
        Its class, and what `pack_params` returned.
    written_by
        The version that wrote the file, for messages.
    """
    need(isinstance(name, str) and isinstance(stored, dict), "the class or its parameters are missing")
    newer = f"upgrade boostlab, if the file was written by a newer one (it says {shown(written_by)})"
    cls: Any = known(name)
    if cls is None:
        raise Problem(f"it holds a {shown(name)}, which is not a booster of boostlab {__version__}", newer)
    unknown = stored.keys() - (set(cls._get_param_names()) - DROPPED)
    if unknown:
        raise Problem(f"it sets {shown(min(unknown))}, which is not a parameter of {name}", newer)
    params = {k: values.decode(v) for k, v in stored.items() if k != "estimator"}
    model: Any = cls(estimator=_unpack_learner(stored.get("estimator")), **params)
    need(isinstance(model.scoring, str), "scoring is not text")
    need(model.random_state is None or type(model.random_state) is int, "random_state is not a number")
    vote.rule_of(model)
    need(model.n_jobs is None or model.n_jobs <= MOST_JOBS, f"n_jobs is above {MOST_JOBS}")
    return model


def _unpack_learner(stored: Any) -> Any:
    if stored is None or isinstance(stored, str):
        return stored
    need(isinstance(stored, dict) and stored.keys() == {"learner", "params"}, "the estimator")
    name, params = stored["learner"], stored["params"]
    need(isinstance(name, str) and isinstance(params, dict), "the estimator")
    if name not in LEARNERS:
        load_learner(name)
    if name not in LEARNERS:
        raise Problem(f"the estimator it was trained with, {shown(name)}, is not known here", IMPORT)
    need(params.get("voters") is None, "a pool with voters of its own")
    need(params.keys() <= set(LEARNERS[name]._get_param_names()), "the estimator's parameters")
    return LEARNERS[name](**{k: values.decode(v) for k, v in params.items()})


def _unpack_targets(header: Mapping[str, Any], model: Any) -> None:
    need((BASELINE if model._numeric else CLASSES) in header, "a classifier without classes, or a regressor with some")
    if model._numeric:
        model.baseline_ = values.decode(header[BASELINE])
        need(type(model.baseline_) is float and abs(model.baseline_) <= LARGEST_SCORE, "the baseline")
        return
    model.classes_ = unpack_classes(header[CLASSES])


def unpack_classes(stored: Any) -> Array:
    """Return the labels, if they are in order.

    Parameters
    ----------
    stored
        An array value.
    """
    classes = values.decode_array(stored)
    need(len(classes) >= 2, "the number of classes")
    try:
        ascending = bool((classes[1:] > classes[:-1]).all())
    except TypeError:  # of different kinds
        ascending = False
    need(ascending, "the classes are not in order")
    return classes


def _unpack_columns(stored: Any, d: int) -> Columns | None:
    if stored is None:
        return None
    need(isinstance(stored, dict) and stored.keys() == {"names", "categories"}, "the columns")
    names, categories = stored["names"], stored["categories"]
    need(names is None or (vote.are(names, str, int) and len(names) == d), "names and columns differ in number")
    need(isinstance(categories, list) and len(categories) == d, "categories and columns differ in number")
    read: list[list[Any] | None] = []
    for seen in categories:
        need(seen is None or (isinstance(seen, list) and len(seen) <= MOST_BINS), "the categories of a column")
        read.append(None if seen is None else [values.scalar(v) for v in seen])
        values_ = read[-1] or []
        need(len(set(values_)) == len(values_) and all(v == v for v in values_), "a category that is there twice")
    return Columns(read, names)
