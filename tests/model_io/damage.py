"""A process of its own that loads hundreds of damaged files, so that a crash of the interpreter would be noticed.

    python -W error tests/files/damage.py FOLDER SEED NUMBER

FOLDER holds models (*.boost) and for each a table of the same name (*.npy); writes the scores of whole files (*.out),
and prints how many of the damaged ones loaded and were refused.
"""

from __future__ import annotations

import io
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

INTEGERS = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 5, 7, 255, 256, 65536, 2**31, 2**40, 2**62, 2**63 - 1]
FLOATS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e160, 1e99, 5e-324, -0.0, 0.0, 1.0, -1.0, 0.5]
NUMBERS = ["-1", "0", "1", "2", "3", "4", "17", "1000000", "1e308", "1e999", "NaN", "-0.5", "true", "null", "9" * 5000]


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: list[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def flip(data: bytes, rng: np.random.Generator, most: int = 4) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.integers(1, most + 1)):
        at = rng.integers(len(changed))
        changed[at] = rng.integers(256) if rng.random() < 0.5 else changed[at] ^ (1 << rng.integers(8))
    return bytes(changed)


def raw_flips(data, rng):
    """Bytes changed anywhere; the archive's checksums find most of them."""
    return flip(data, rng, 3)


def header_flips(data, rng):
    """Bytes changed in the zip archive's own directory at the end, where sizes and offsets are."""
    start = data.rindex(b"PK\x01\x02") - rng.integers(0, 2000)
    return data[:start] + flip(data[start:], rng, 2)


def truncations(data, rng):
    cut = rng.integers(len(data))
    return data[:cut] if rng.random() < 0.7 else data[:cut] + data[cut + rng.integers(1, 400) :]


def member_flips(data, rng):
    """Bytes changed inside a member, with checksums that fit."""
    members = members_of(data)
    name = rng.choice(list(members)) if rng.random() < 0.8 else "model.json"
    members[name] = flip(members[name], rng)
    return zipped(list(members.items()))


def edited_values(data, rng):
    """Numbers of an array replaced by nasty ones: indices out of range, NaN, huge votes."""
    members = members_of(data)
    listed = json.loads(members["model.json"])["arrays"]
    full = [n for n, a in listed.items() if np.prod(a["shape"]) > 0]
    for name in rng.choice(full, rng.integers(1, 3)):
        dtype = np.dtype(listed[name]["dtype"])
        content = members[f"{name}.npy"]
        size = int(np.prod(listed[name]["shape"]))
        a = np.frombuffer(content[-size * dtype.itemsize :], dtype).copy()
        at = rng.integers(size)
        pick = {"f": FLOATS, "i": INTEGERS, "u": range(8), "b": [False, True]}[dtype.kind]
        a[at] = pick[rng.integers(len(pick))]
        if rng.random() < 0.2:
            a = rng.permutation(a)
        members[f"{name}.npy"] = content[: len(content) - a.nbytes] + a.tobytes()
    return zipped(list(members.items()))


def edited_json(data, rng):
    members = members_of(data)
    text = members["model.json"].decode()
    spots = list(re.finditer(r"(?<![\w\"])-?\d[\d.e+-]*|true|false|null", text))
    spot = spots[rng.integers(len(spots))]
    new = NUMBERS[rng.integers(len(NUMBERS))]
    members["model.json"] = (text[: spot.start()] + new + text[spot.end() :]).encode()
    return zipped(list(members.items()))


def swapped(data, rng):
    """Members that change places, go missing, come twice or come as strangers."""
    members = members_of(data)
    names = list(members)
    a, b = rng.choice(names, 2, replace=False)
    kind = rng.integers(4)
    if kind == 0:
        members[a], members[b] = members[b], members[a]
    elif kind == 1:
        del members[a]
    elif kind == 2:
        members["../stranger.npy"] = members[b]
    content = list(members.items())
    if kind == 3:
        directory = zipped(content)
        return directory.replace(str(a).encode(), str(b).encode()) if len(a) == len(b) else directory[::-1]
    return zipped(content)


def shape_lies(data, rng):
    """A shape that the list, the array's own header and its bytes agree upon, but the model does not."""
    from boostlab.model_io.archive import _npy_header

    members = members_of(data)
    header = json.loads(members["model.json"])
    full = [n for n, a in header["arrays"].items() if np.prod(a["shape"]) > 0]
    name = str(rng.choice(full))
    listed = header["arrays"][name]
    size = int(np.prod(listed["shape"])) * np.dtype(listed["dtype"]).itemsize
    content = members[f"{name}.npy"][-size:]
    shape = list(listed["shape"])
    if rng.random() < 0.5:
        shape[0] = int(rng.integers(shape[0]))
    elif rng.random() < 0.5:
        shape = [int(n) for n in rng.permutation([*shape, 1][:3])]
    else:
        shape[0] += int(rng.integers(1, 4))
    n = int(np.prod(shape)) * np.dtype(listed["dtype"]).itemsize
    listed["shape"] = shape
    told = _npy_header(listed["dtype"], tuple(shape)) if rng.random() < 0.9 else b"\x93NUMPY\x01\x00v\x00"
    members[f"{name}.npy"] = told + (content * 5)[:n]
    members["model.json"] = json.dumps(header).encode()
    return zipped(list(members.items()))


def size_lies(data, rng):
    """Sizes in the zip directory that promise far more than there is."""
    changed = bytearray(data)
    at = [m.start() for m in re.finditer(b"PK\x01\x02", data)]
    at = at[rng.integers(len(at))]
    size = int(rng.choice([2**31, 2**32 - 1, 10**6]))
    struct.pack_into("<I", changed, at + int(rng.choice([20, 24])), size)
    return bytes(changed)


WAYS = [
    raw_flips,
    header_flips,
    truncations,
    member_flips,
    edited_values,
    edited_values,
    edited_json,
    swapped,
    shape_lies,
    size_lies,
]


def use(model, X: np.ndarray) -> None:
    """Ask everything that reads the loaded numbers."""
    F, P, labels = model.decision_function(X), model.predict_proba(X), model.predict(X)
    results = [F, P]
    if hasattr(model, "staged_decision_function"):  # boosters, but not what is made of several
        stages = list(model.staged_decision_function(X))
        results += [*stages, *model.staged_predict_proba(X), model.margins(X, labels), model.feature_importances_]
        if stages and hasattr(model._ensemble, "bound"):
            assert np.abs(stages[-1] - F).max(initial=0.0) <= 1e-9 * model._ensemble.bound
    assert set(labels.tolist()) <= set(model.classes_.tolist())
    assert np.abs(P.sum(axis=1) - 1).max(initial=0.0) < 1e-6
    for r in results:
        assert np.isfinite(np.asarray(r, float)).all()
    logarithms = model.predict_log_proba(X)
    assert (logarithms <= 1e-6).all()
    repr(model)
    model.get_params()


def main(folder: str, seed: int, number: int) -> None:
    from boostlab.model_io import ModelFileError, load

    rng = np.random.default_rng(seed)
    models = []
    for path in Path(folder).glob("*.boost"):
        X = np.load(path.with_suffix(".npy"), allow_pickle=True)
        models.append((path.read_bytes(), X))
        path.with_suffix(".out").write_bytes(load(path).decision_function(X).tobytes())
    place = Path(folder, "damaged")
    counts = {"loaded": 0, "refused": 0}
    for i in range(number):
        data, X = models[rng.integers(len(models))]
        way = WAYS[i % len(WAYS)]
        place.write_bytes(way(data, rng))
        try:
            model = load(place)
        except ModelFileError as error:
            said = str(error)
            assert said.startswith(f"Cannot load {str(place)!r}: "), said
            assert said.endswith("."), said
            assert "; " in said, said
            assert "\n" not in said, said
            assert len(said) < 500 + len(str(place)), said
            counts["refused"] += 1
            continue
        try:
            if X.shape[1] == model.n_features_in_:
                use(model, X)
        except BaseException as error:
            raise AssertionError(f"{way.__name__}, case {i}: a loaded model fails") from error
        counts["loaded"] += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
