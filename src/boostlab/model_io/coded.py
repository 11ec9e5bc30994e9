"""A `PairwiseClassifier` or `ECOCClassifier` of boosters as what `model.json` says and a set of arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from boostlab import __version__
from boostlab.boosters.registry import find, known
from boostlab.data.binned import Binned
from boostlab.data.input_tables import Reader
from boostlab.data.sample import SIDES
from boostlab.data.table import Table
from boostlab.model_io import model as boosters
from boostlab.model_io import reduction, values
from boostlab.model_io.problems import JOBLIB, Problem, need

Array = npt.NDArray[Any]

KNOWN = ("PairwiseClassifier", "ECOCClassifier")
INNER = "estimator"  # the booster inside: its class and parameters
FIELDS = boosters.FIELDS | {boosters.CLASSES, INNER, reduction.FIELD}


def is_coded(model: Any) -> bool:
    """Return whether a model is a classifier made of binary ones, by a code."""
    return bool(getattr(model, "_coded", False))


def pack(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what to write for a fitted classifier made of boosters.

    Parameters
    ----------
    model : CodedClassifier
        Fitted.
    """
    name, inner = type(model).__name__, model.estimator
    if name not in KNOWN or find(name) is not type(model):
        raise Problem("it is not one of boostlab's own classifiers", JOBLIB)
    check_is_fitted(model, "estimators_")
    if known(type(inner).__name__) is not type(inner):
        raise Problem(
            f"its estimator is a {type(inner).__name__!r}, and only boostlab's boosters can be stored", JOBLIB
        )
    if inner._how() is not None:
        raise Problem("its estimator is calibrated, which a model file of several boosters cannot store", JOBLIB)
    _check_unchanged(model)
    params = {k: v for k, v in model.get_params(deep=False).items() if k != INNER}
    params = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in params.items()}  # a code, or an order
    if not isinstance(params.get("random_state"), int | np.integer):
        params = {k: None if k == "random_state" else v for k, v in params.items()}
    entries, arrays = reduction.pack_problems(model.estimators_, model._decoding)
    header = {
        "boostlab": __version__,
        "class": name,
        "params": {k: values.encode(v, k) for k, v in params.items()},
        INNER: {"class": type(inner).__name__, "params": boosters.pack_params(inner)},
        boosters.CLASSES: values.encode_array(model.classes_, "classes_"),
        **boosters.pack_table(model, model.estimators_[0]._columns),
        **entries,
    }
    return header, arrays


def _check_unchanged(model: Any) -> None:
    """Refuse parameters that no longer make what was fitted."""
    try:
        model.estimator._possible_rule()
        for one in model.estimators_:
            now = clone(model.estimator)
            now.classes_, now._settled = SIDES, one._settled
            need(now._rule() == one._ensemble.rule, "")
        need(model._decoder() == model._decoding.decoder, "")
    except (ValueError, Problem) as error:
        raise Problem("its parameters changed since it was fitted", "set them back, or fit it again") from error


def unpack(header: Mapping[str, Any], arrays: dict[str, Array]) -> Any:
    """Return the fitted classifier, after checking all that its methods rely on.

    Parameters
    ----------
    header : mapping
        What `model.json` says; its class is in `KNOWN`.
    arrays : dict
        The arrays it lists.
    """
    need(header.keys() == FIELDS, "entries of model.json are missing or unknown")
    cls: Any = find(header["class"])
    stored, inner = header["params"], header[INNER]
    need(isinstance(inner, dict) and inner.keys() == {"class", "params"}, "the estimator")
    booster: Any = boosters.unpack_params(inner["class"], inner["params"], header["boostlab"])
    need(not booster._numeric, "the estimator is no classifier")
    need(isinstance(stored, dict) and stored.keys() <= set(cls._get_param_names()) - {INNER}, "the parameters")
    model = cls(booster, **{k: values.decode(v) for k, v in stored.items()})
    model.classes_ = classes = boosters.unpack_classes(header[boosters.CLASSES])
    reader = Reader(booster.categorical_features)
    boosters.unpack_table(header, reader)
    model._seen = seen = Binned(Table(np.empty((0, reader.n_features_in_))), reader, booster.max_bins)
    model.n_features_in_ = seen.n_features_in_
    if hasattr(seen, "feature_names_in_"):
        model.feature_names_in_ = seen.feature_names_in_

    def make() -> Any:
        one = clone(booster)
        one.classes_ = SIDES
        boosters.unpack_table(header, one)
        return one

    code = "ovo" if header["class"] == "PairwiseClassifier" else ""
    try:
        decoder = model._decoder()
        model.estimators_, form = reduction.parted(header[reduction.FIELD], arrays, len(classes), code, decoder, make)
        model._decoding = model._told(form)
    except (TypeError, ValueError) as error:
        raise Problem(f"its parameters are damaged ({str(error).rstrip('.')})") from error
    return model
