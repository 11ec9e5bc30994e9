"""One zip archive that holds `model.json` and plain arrays, nothing else.

Members are stored, not compressed, so a file never needs more memory than its own size; `model.json` names every array
with its type and shape, and an array whose member is not exactly that is refused before memory is asked for.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.model_io.disk import LARGEST
from boostlab.model_io.problems import FRESH, Problem, need, shown

Array = npt.NDArray[Any]
Header = dict[str, Any]

FORMAT = "boostlab model"
VERSION = 1
JSON = "model.json"
DTYPES = ("<f8", "<i8", "|u1", "|b1")  # of arrays; nothing that could hold an object
_FOREIGN = "give a file written by a booster's save method"


def to_bytes(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Return the archive; the same model gives the same bytes.

    Parameters
    ----------
    header : mapping
        What `model.json` shall say beside the format, its version and the arrays.
    arrays : mapping
        The arrays by name, each of a type in `DTYPES` (of any byte order).
    """
    little = {name: _little(a) for name, a in arrays.items()}
    listed = {name: {"dtype": a.dtype.str, "shape": list(a.shape)} for name, a in little.items()}
    whole = {"format": FORMAT, "version": VERSION, **header, "arrays": listed}
    members = {JSON: json.dumps(whole, indent=1, allow_nan=False).encode("ascii")}
    for name, a in little.items():
        members[f"{name}.npy"] = _npy_header(a.dtype.str, a.shape) + a.tobytes()
    if sum(len(m) + 512 for m in members.values()) > LARGEST:
        raise Problem("the model is larger than a model file can be (4 GiB)", "use joblib.dump for this one")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)  # dated 1980
            info.create_system, info.external_attr = 3, 0o644 << 16  # on every system
            archive.writestr(info, content)
    return out.getvalue()


def from_bytes(data: bytes) -> tuple[Header, dict[str, Array]]:
    """Return `model.json` and the arrays it lists, of native byte order.

    Parameters
    ----------
    data : bytes
        The whole file.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:
        if data.startswith(b"PK\x03\x04"):
            raise Problem("it is cut short or damaged") from error
        raise Problem("it is not a boostlab model file" if data else "it is empty", _FOREIGN) from error
    with archive:
        members = {info.filename: info for info in archive.infolist()}
        need(len(members) == len(archive.infolist()), "two members have the same name")
        if JSON not in members:
            raise Problem(f"it is a zip archive without {JSON}", _FOREIGN)
        sizes = sum(_stored_size(info) for info in members.values())
        need(sizes <= len(data), "its members claim more bytes than it has")
        header = _parse(_content(archive, members[JSON]))
        listed = header.pop("arrays", None)
        need(isinstance(listed, dict), "the list of arrays is missing")
        need(members.keys() == {JSON, *(f"{name}.npy" for name in listed)}, "members and list of arrays differ")
        return header, {n: _array(archive, members[f"{n}.npy"], listed[n], len(data)) for n in listed}


def _stored_size(info: zipfile.ZipInfo) -> int:
    need(info.compress_type == zipfile.ZIP_STORED, f"{shown(info.filename)} is compressed")
    need(not info.flag_bits & 1, f"{shown(info.filename)} is encrypted")
    need(0 <= info.file_size == info.compress_size, f"{shown(info.filename)} has two sizes")
    return info.file_size


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(info)  # which compares names, sizes and checksums
    except Exception as error:
        raise Problem(f"its member {shown(info.filename)} is damaged") from error


def _parse(text: bytes) -> Header:
    """Return `model.json`, if it is one and of a version that can be read."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        need(len(found) == len(pairs), f"{JSON} says one thing twice")
        return found

    def finite(digits: str) -> float:
        x = float(digits)
        need(math.isfinite(x), f"{JSON} holds the number {shown(digits)}")
        return x

    try:
        header = json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=finite)
    except (ValueError, RecursionError) as error:
        raise Problem(f"its member {JSON} is not JSON", FRESH) from error
    if not isinstance(header, dict) or header.pop("format", None) != FORMAT:
        raise Problem(f"it is a zip archive whose {JSON} does not say {FORMAT!r}", _FOREIGN)
    version = header.pop("version", None)
    need(type(version) is int and version >= 1, f"format version {shown(version)}")
    if version > VERSION:
        raise Problem(
            f"it has the format version {shown(version)}, written by boostlab {shown(header.get('boostlab'))}, "
            f"and this boostlab reads versions up to {VERSION}",
            "upgrade boostlab to load it",
        )
    return header


# -- arrays ----------------------------------------------------------------------------------------------------------


def _little(a: Array) -> Array:
    a = np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<"))
    assert a.dtype.str in DTYPES, a.dtype
    return a


def _npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the .npy header (version 1.0) of an array in C order, padded to a multiple of 64 bytes."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, listed: Any, most: int) -> Array:
    """Return one array: its member must be the header that the listed type and shape make, and as many bytes."""
    name = shown(info.filename)
    need(isinstance(listed, dict) and listed.keys() == {"dtype", "shape"}, f"{name} is listed without type or shape")
    dtype, shape = listed["dtype"], listed["shape"]
    need(dtype in DTYPES, f"{name} has the type {shown(dtype)}")
    need(isinstance(shape, list) and len(shape) <= 3, f"{name} has the shape {shown(shape)}")
    need(all(type(n) is int and 0 <= n <= most for n in shape), f"{name} has the shape {shown(shape)}")
    start = _npy_header(dtype, tuple(shape))
    kind = np.dtype(dtype)
    need(info.file_size == len(start) + math.prod(shape) * kind.itemsize, f"{name} does not have the size it should")
    content = _content(archive, info)
    need(content.startswith(start), f"{name} is not the array that {JSON} lists")
    if dtype == "|b1":
        need(np.frombuffer(content, np.uint8, offset=len(start)).max(initial=0) <= 1, f"{name} is not true or false")
    return np.frombuffer(content, kind, offset=len(start)).reshape(shape).astype(kind.newbyteorder("="))
