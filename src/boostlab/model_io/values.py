"""Parameters, labels and categories as JSON.

None, truth values, text, whole and finite numbers and lists are JSON's own; everything else is an object with a key
that says what it is: `float` (not finite), `tuple`, `map`, or `array` (of one dimension, with its NumPy type).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.model_io.problems import JOBLIB, Problem, need, shown

Array = npt.NDArray[Any]

_NUMBERS = {"b": bool, "i": int, "u": int, "f": float}
_TYPE = re.compile(r"\|b1|[|<][iu]1|<[iu][248]|<f[248]|<U[0-9]{1,8}|object")
_MOST_TEXT = 2**26  # bytes of an array of text


def encode(value: Any, what: str) -> Any:
    """Return a value as JSON; a NumPy number becomes the Python number it equals.

    Parameters
    ----------
    value
        What to store.
    what : str
        What it is, for the message if it cannot be stored.
    """
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and (math.isnan(value) or float(value) == value):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, Mapping):
        return {"map": [[encode(k, what), encode(v, what)] for k, v in value.items()]}
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return encode_array(value, what)
    if isinstance(value, tuple):
        return {"tuple": [encode(v, what) for v in value]}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [encode(v, what) for v in value]
    raise Problem(f"{what} holds {shown(value)}, which a model file cannot store", JOBLIB)


def decode(stored: Any) -> Any:
    """Return the value that `encode` stored."""
    if isinstance(stored, list):
        return [decode(v) for v in stored]
    if not isinstance(stored, dict):
        return stored
    if stored.keys() == {"array", "values"}:
        return decode_array(stored)
    need(len(stored) == 1, f"a value of the unknown kind {shown(stored)}")
    kind, content = next(iter(stored.items()))
    if kind == "float" and content in ("inf", "-inf", "nan"):
        return float(content)
    need(kind in ("tuple", "map") and isinstance(content, list), f"a value of the unknown kind {shown(stored)}")
    if kind == "tuple":
        return tuple(decode(v) for v in content)
    need(all(isinstance(pair, list) and len(pair) == 2 for pair in content), "a map without pairs")
    return {_key(k): decode(v) for k, v in content}


def _key(stored: Any) -> Any:
    """Return a stored key of a map: one value, or a tuple of them."""
    if isinstance(stored, dict) and stored.keys() == {"tuple"} and isinstance(stored["tuple"], list):
        return tuple(scalar(v) for v in stored["tuple"])
    return scalar(stored)


def scalar(stored: Any) -> Any:
    """Return a stored value that must be one number, text or truth value."""
    value = decode(stored)
    need(isinstance(value, bool | int | float | str), f"{shown(value)} where a number or text should be")
    return value


def encode_array(a: Array, what: str) -> dict[str, Any]:
    """Return an array of labels as its type and values."""
    kind = "object" if a.dtype == object else a.dtype.newbyteorder("<").str
    if not _TYPE.fullmatch(kind):
        raise Problem(f"{what} has the type {a.dtype}, which a model file cannot store", JOBLIB)
    values = [encode(v, what) for v in a.tolist()]
    if not all(isinstance(v, bool | int | float | str) for v in values):
        raise Problem(f"{what} holds values other than finite numbers and text", JOBLIB)
    return {"array": kind, "values": values}


def decode_array(stored: Any) -> Array:
    """Return the array that `encode_array` stored: the same type (in native byte order) and the same values."""
    need(isinstance(stored, dict) and stored.keys() == {"array", "values"}, "a list of labels is missing")
    kind, values = stored["array"], stored["values"]
    need(isinstance(kind, str) and _TYPE.fullmatch(kind), f"labels of the type {shown(kind)}")
    need(isinstance(values, list), "a list of labels is missing")
    need(all(isinstance(v, bool | int | float | str) for v in values), "a label is neither number nor text")
    if kind == "object":
        a = np.empty(len(values), object)
        a[:] = values
        return a
    dtype = np.dtype(kind)
    need(all(type(v) is _NUMBERS.get(dtype.kind, str) for v in values), f"labels that are not of the type {kind}")
    need(dtype.kind != "U" or dtype.itemsize * len(values) <= _MOST_TEXT, "labels that are too long")
    with np.errstate(over="ignore"):
        a = np.array(values, dtype.newbyteorder("="))
    need(a.tolist() == values, f"labels that the type {kind} cannot hold")
    return a
