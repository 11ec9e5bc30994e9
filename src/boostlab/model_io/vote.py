"""One vote, its history and what the data decided, as entries of `model.json` and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Rule
from boostlab.contract.voter import Setting
from boostlab.ensemble.vote import Ensemble
from boostlab.explain.forest import NotAdditive, forest_of
from boostlab.model_io import values, voters
from boostlab.model_io.problems import JOBLIB, Problem, need

Array = npt.NDArray[Any]

FIELDS = {"one_number_a_vote", "stop_reason", "history", "settled", "voter_kinds"}
SHARES = "low_share"  # how training rows part at the nodes, for explanations; older files do not have it
OPTIONAL = {"voter_kinds"}  # written only where there are other kinds than the first ones
ADDED: dict[str, Any] = {"settled": {}, "voter_kinds": []}  # what older files do not have, and what they meant


def pack(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what to write of a fitted booster's vote.

    Parameters
    ----------
    model : Booster
        Fitted, with one vote.
    """
    columns = model._columns
    n_categories = {} if columns is None else columns.n_categories
    setting = Setting(model._ensemble.rule, model._n_classes, model.n_features_in_, n_categories)
    arrays, single, further = voters.pack(model._ensemble.rounds, setting)
    arrays["importances"] = np.asarray(model.feature_importances_, np.float64)
    model._settle_shares()
    if model.__dict__.get("_low_share") is not None:
        arrays[SHARES] = np.asarray(model._low_share, np.float64)
    for i, column in enumerate(model.history_.values()):
        arrays[f"history_{i}"] = _history_column(column)
    entries = {
        "one_number_a_vote": single,
        "stop_reason": str(model.stop_reason_),
        "history": list(model.history_),
        "settled": {k: values.encode(v, k) for k, v in getattr(model, "_settled", {}).items()},
    }
    if further:  # which older versions could not read
        entries["voter_kinds"] = further
    return entries, arrays


def _history_column(column: Any) -> Array:
    a = np.asarray(column)
    try:
        return a if a.dtype in (np.dtype(bool), np.dtype(np.int64)) else a.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise Problem("history_ holds something that is not a number", JOBLIB) from error


def unpack(model: Any, entries: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Give a booster its vote, after checking all that its methods rely on.

    Parameters
    ----------
    model : Booster
        With its parameters, targets, number of features and columns.
    entries, arrays
        What `pack` returned.
    """
    arrays = voters.completed(arrays)
    names = entries["history"]
    need(are(names, str) and len(set(names)) == len(names), "the history has no names")
    further = entries.get("voter_kinds", [])
    need(are(further, str) and len({*voters.FIRST_KINDS, *further}) == 4 + len(further), "the kinds of voters")
    stored = {name for layout in voters.layouts(further).values() for name in layout}
    listed = {*stored, "importances", *(f"history_{i}" for i in range(len(names))), *({SHARES} & arrays.keys())}
    need(arrays.keys() == listed, "arrays are missing or unknown")
    model._settled = _unpack_settled(entries["settled"], model)
    rule = rule_of(model)  # which may depend on the number of classes
    d, columns, single = model.n_features_in_, model._columns, entries["one_number_a_vote"]
    need(type(single) is bool, "the kind of votes")
    importances = arrays["importances"]
    need(importances.dtype == np.float64 and importances.shape == (d,), "importances and features differ in number")
    need(((importances >= 0) & (importances <= 1 + 1e-9)).all(), "an importance that is not a share")
    setting = Setting(rule, model._n_classes, d, {} if columns is None else columns.n_categories, single)
    rounds = voters.unpack(dict(arrays), setting, further)
    history = {name: arrays[f"history_{i}"] for i, name in enumerate(names)}
    need(all(a.ndim == 1 and len(a) >= len(rounds) for a in history.values()), "the history is shorter than the vote")
    need(len({len(a) for a in history.values()}) <= 1, "the history's columns differ in length")
    facts = {name: a.astype(np.float64).tolist() for name, a in history.items()}
    for t, r in enumerate(rounds):
        r.facts.update({name: column[t] for name, column in facts.items() if column[t] == column[t]})
    need(isinstance(entries["stop_reason"], str), "the stop reason")
    model._keep(Ensemble(rule, rounds, model._n_classes), history, entries["stop_reason"])
    if SHARES in arrays:
        model._low_share = _checked_shares(model, arrays[SHARES])
    model.feature_importances_ = importances


def _checked_shares(model: Any, shares: Array) -> Array:
    """Return the shares, if they are one number a node."""
    try:
        nodes = len(forest_of(model._ensemble).feature)
    except NotAdditive as error:
        raise Problem("its content is damaged (shares of a vote that has none)") from error
    need(shares.dtype == np.float64 and shares.shape == (nodes,), "shares and nodes differ in number")
    need(((shares >= 0) & (shares <= 1)).all(), "a share that is none")
    return shares


def are(items: Any, *types: type) -> bool:
    """Return whether something is a list of values of these types."""
    return isinstance(items, list) and all(type(v) in types for v in items)


def rule_of(model: Any) -> Rule:
    """Return the rule that the parameters make, if they are possible."""
    try:
        rule: Rule = model._possible_rule()
        return rule
    except ValueError as error:
        raise Problem(f"its content is damaged ({str(error).rstrip('.')})") from error


def _unpack_settled(stored: Any, model: Any) -> dict[str, Any]:
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
