"""What cells are kept as: JSON for numbers, compressed NumPy archives for arrays, never a pickle."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def to_text(value: Mapping[str, Any]) -> str:
    """Return JSON values, and NumPy's numbers and arrays among them, as one line.

    Parameters
    ----------
    value : mapping
        What to write.

    Returns
    -------
    str

    Examples
    --------
    >>> to_text({"rounds": np.int64(3), "errors": np.array([0.5, 0.25])})
    '{"errors":[0.5,0.25],"rounds":3}'
    """
    return json.dumps(value, sort_keys=True, default=_plain, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be stored; use numbers, texts, lists and mappings.")


def pack(arrays: Mapping[str, Array]) -> bytes | None:
    """Return arrays as one compressed archive; None where there are none.

    Parameters
    ----------
    arrays : mapping from str to array
        Arrays of numbers or texts.

    Returns
    -------
    bytes or None

    Examples
    --------
    >>> unpack(pack({"predictions": np.array([0, 1], np.int8)}))
    {'predictions': array([0, 1], dtype=int8)}
    """
    if not arrays:
        return None
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise TypeError(f"The array {name!r} of an outcome holds objects; store numbers.")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{name: np.asarray(array) for name, array in arrays.items()})  # type: ignore[arg-type]
    return buffer.getvalue()


def unpack(packed: bytes | None) -> dict[str, Array]:
    """Return the arrays of an archive.

    Parameters
    ----------
    packed : bytes or None
        What `pack` returned.

    Returns
    -------
    dict from str to array
    """
    if packed is None:
        return {}
    with np.load(io.BytesIO(packed), allow_pickle=False) as archive:
        return dict(archive.items())
