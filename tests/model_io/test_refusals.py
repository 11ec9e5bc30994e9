"""What cannot be loaded is refused with one sentence that names the file, the cause and the cure."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest

from boostlab.model_io import ModelFileError, load, save
from boostlab.model_io.archive import _npy_header


@pytest.fixture
def zoo_files(zoo_bytes, tmp_path):
    for name, data in zoo_bytes.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.fixture(scope="module")
def zoo_bytes(zoo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    for name, fitted, _ in zoo:
        save(fitted, folder / name)
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def refusal(path):
    """Load, and return the sentence of the refusal."""
    with pytest.raises(ModelFileError) as caught:
        load(path)
    said = str(caught.value)
    assert said.startswith(f"Cannot load {str(path)!r}: ")
    assert said.endswith(".")
    assert "; " in said
    assert "\n" not in said
    return said


def unzipped(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rezipped(path, members, **how):
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, **({"compress_type": how["compression"]} if how else {}))
    return path


def edited(path, **entries):
    """Change entries of model.json."""
    members = unzipped(path)
    members["model.json"] = json.dumps({**json.loads(members["model.json"]), **entries}).encode()
    return rezipped(path, members)


def poked(path, name, at, value):
    """Change one number of an array."""
    members = unzipped(path)
    a = np.load(io.BytesIO(members[f"{name}.npy"]))
    a[at] = value
    shape = a.shape
    members[f"{name}.npy"] = _npy_header(a.dtype.str, shape) + a.tobytes()
    return rezipped(path, members)


# -- load: not a model -----------------------------------------------------------------------------------------------


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^There is no model file .*none.boost'; check the path, .*\.$"):
        load(tmp_path / "none.boost")


def test_a_folder(tmp_path):
    assert "it is a folder" in refusal(tmp_path)


def test_an_unreadable_path(file):
    assert "cannot be read" in refusal(str(file / "below"))
    assert "cannot be read" in refusal("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "not a plain file" in refusal(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "it is empty"),
        (b"feature,label\n1,2\n", "not a boostlab model file"),
        (pickle.dumps({"a": 1}), "not a boostlab model file"),
        (b"PK\x03\x04" + bytes(100), "cut short or damaged"),
    ],
)
def test_a_foreign_file(content, cause, tmp_path):
    (tmp_path / "x").write_bytes(content)
    assert cause in refusal(tmp_path / "x")


def test_a_foreign_archive(tmp_path):
    assert "without model.json" in refusal(rezipped(tmp_path / "a", {"readme.txt": b"hello"}))
    assert "does not say 'boostlab model'" in refusal(rezipped(tmp_path / "b", {"model.json": b'{"format": "onnx"}'}))
    assert "does not say 'boostlab model'" in refusal(rezipped(tmp_path / "c", {"model.json": b"[1]"}))
    assert "is not JSON" in refusal(rezipped(tmp_path / "d", {"model.json": b"{'a': 1}"}))
    assert "is not JSON" in refusal(rezipped(tmp_path / "e", {"model.json": b"[" * 200_000}))
    assert "says one thing twice" in refusal(rezipped(tmp_path / "f", {"model.json": b'{"a": 1, "a": 2}'}))
    assert "holds the number '1e999'" in refusal(rezipped(tmp_path / "g", {"model.json": b'{"a": 1e999}'}))


def test_a_newer_version(file):
    said = refusal(edited(file, version=2, boostlab="9.0", surprises=[1, 2]))
    assert "format version 2, written by boostlab '9.0'" in said
    assert said.endswith("upgrade boostlab to load it.")


def test_an_older_file_has_neither_settled_nor_coefficients_of_classes(file, model):
    members = unzipped(file)
    header = json.loads(members["model.json"])
    del header["settled"]
    for name in ("class_alpha", "class_decay"):
        del header["arrays"][name], members[f"{name}.npy"]
    members["model.json"] = json.dumps(header).encode()
    old = load(rezipped(file, members))
    X = np.random.default_rng(0).normal(size=(20, model.n_features_in_))
    assert old.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    members["class_alpha.npy"] = b""
    assert "differ" in refusal(rezipped(file, members))


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1", None])
def test_a_strange_version(version, file):
    assert "format version" in refusal(edited(file, version=version))


def test_every_truncation_is_noticed(file, tmp_path):
    data = file.read_bytes()
    for length in range(0, len(data), len(data) // 60):
        (tmp_path / "cut").write_bytes(data[:length])
        refusal(tmp_path / "cut")


# -- load: archives that lie -----------------------------------------------------------------------------------------


def test_compressed_members_are_refused_unread(file):
    members = unzipped(file)
    members["round_alpha.npy"] = bytes(10**7)  # ten megabytes that would take ten kilobytes
    assert "is compressed" in refusal(rezipped(file, members, compression=zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize("both", [False, True])
def test_sizes_beyond_the_file_are_refused(both, file):
    data = bytearray(file.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 2**31)
    if both:
        struct.pack_into("<I", data, at + 20, 2**31)
    file.write_bytes(data)
    assert ("more bytes than it has" if both else "has two sizes") in refusal(file)


def test_shapes_beyond_the_file_are_refused(file):
    listed = json.loads(unzipped(file)["model.json"])["arrays"]
    for shape in ([2**40], [2**31, 2**31, 4], [-1], [5.0], [1, 1, 1, 5], "5", [True]):
        assert "shape" in refusal(edited(file, arrays={**listed, "round_alpha": {"dtype": "<f8", "shape": shape}}))
    assert "size it should" in refusal(edited(file, arrays={**listed, "round_alpha": {"dtype": "<f8", "shape": [6]}}))


def test_a_pickle_in_an_array_is_refused(file):
    class Bomb:
        def __reduce__(self):
            return os.abort, ()

    members = unzipped(file)
    out = io.BytesIO()
    np.save(out, np.array([Bomb()] * 5, object), allow_pickle=True)
    members["round_alpha.npy"] = out.getvalue()
    rezipped(file, members)
    assert "size it should" in refusal(file)
    listed = json.loads(members["model.json"])["arrays"]
    assert "has the type '|O'" in refusal(edited(file, arrays={**listed, "round_alpha": {"dtype": "|O", "shape": [5]}}))


def test_an_array_must_be_what_is_listed(file):
    members = unzipped(file)
    members["round_alpha.npy"] = members["round_alpha.npy"].replace(b"'<f8'", b"'<i8'")
    assert "is not the array that model.json lists" in refusal(rezipped(file, members))


def test_members_must_be_those_listed(file):
    members = unzipped(file)
    rezipped(file, {**members, "../../etc/passwd": b"x"})
    assert "members and list of arrays differ" in refusal(file)
    del members["round_alpha.npy"]
    assert "members and list of arrays differ" in refusal(rezipped(file, members))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_comes_twice(file):
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(zipfile.ZipInfo("model.json"), b"{}")
    assert "same name" in refusal(file)


def test_an_encrypted_member(file):
    data = bytearray(file.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(data)
    assert "encrypted" in refusal(file)


def test_truth_values_must_be_zero_or_one(file):
    members = unzipped(file)
    members["stump_has_missing.npy"] = members["stump_has_missing.npy"][:-1] + b"\x37"
    assert "not true or false" in refusal(rezipped(file, members))


# -- load: models that cannot be -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "cause"),
    [
        ({"class": "os.system"}, "is not a booster"),
        ({"class": 3}, "the class"),
        ({"params": {"nonsense": 1}}, "'nonsense', which is not a parameter"),
        ({"params": {"callbacks": None}}, "'callbacks', which is not a parameter"),
        ({"params": {"n_estimators": -1}}, "n_estimators=-1 is not possible"),
        ({"params": {"n_jobs": 10**6}}, "n_jobs is above"),
        ({"params": {"scoring": None}}, "scoring"),
        ({"params": {"random_state": 0.5}}, "random_state"),
        ({"params": {"algorithm": "real", "fixed_step": 0.1}}, "fixed_step is for"),
        ({"params": {"estimator": {"learner": "Popen", "params": {}}}}, "the estimator"),
        ({"params": {"estimator": {"learner": "VoterPool", "params": {"voters": [1]}}}}, "voters of its own"),
        ({"params": {"estimator": {"learner": "VoterPool", "params": {"__class__": 1}}}}, "estimator's parameters"),
        ({"params": {"class_weight": {"object": 1}}}, "unknown kind"),
        ({"params": {"class_weight": {"map": [1]}}}, "without pairs"),
        ({"params": {"class_weight": {"map": [[[1], 2]]}}}, "where a number or text"),
        ({"classes": {"array": "<i8", "values": [1]}}, "number of classes"),
        ({"classes": {"array": "<i8", "values": [0, 1, 2]}}, "a vote for a class that does not exist"),
        ({"classes": {"array": "<i8", "values": [1, 0]}}, "not in order"),
        ({"classes": {"array": "<i8", "values": [1, 1]}}, "not in order"),
        ({"classes": {"array": "object", "values": [1, "a"]}}, "not in order"),
        ({"classes": {"array": "<i8", "values": [0, 2**70]}}, "OverflowError"),
        ({"classes": {"array": "|u1", "values": [0, 1.5]}}, "not of the type"),
        ({"classes": {"array": "<f2", "values": [0.0, 1e9]}}, "cannot hold"),
        ({"classes": {"array": "<U1", "values": ["a", "bb"]}}, "cannot hold"),
        ({"classes": {"array": "<U99999999", "values": ["a", "b"]}}, "too long"),
        ({"classes": {"array": "|O", "values": ["a", "b"]}}, "labels of the type"),
        ({"classes": {"array": "<i8", "values": [0, None]}}, "neither number nor text"),
        ({"classes": [0, 1]}, "labels is missing"),
        ({"n_features": 10**15}, "importances and features"),
        ({"n_features": 5}, "importances and features"),
        ({"n_features": 0}, "number of features"),
        ({"feature_names": ["a"]}, "names and features"),
        ({"feature_names": [1, 2, 3, 4, 5, 6]}, "names and features"),
        ({"columns": {"names": None, "categories": [None] * 5}}, "categories and columns"),
        ({"columns": {"names": ["a"], "categories": [None] * 6}}, "names and columns"),
        ({"columns": {"names": None, "categories": [None] * 5 + [[1, 1.0]]}}, "there twice"),
        ({"columns": {"names": None, "categories": [None] * 5 + [[{"float": "nan"}]]}}, "there twice"),
        ({"columns": {"names": None, "categories": [None] * 5 + [[None]]}}, "where a number or text"),
        ({"columns": {"names": None, "categories": [["a", "b"]] * 6}}, "a threshold on a categorical column"),
        ({"one_number_a_vote": False}, "stump_votes"),
        ({"one_number_a_vote": 1}, "kind of votes"),
        ({"history": ["alpha"]}, "arrays are missing"),
        ({"history": ["alpha", "alpha", "error", "objective", "seconds"]}, "history has no names"),
        ({"stop_reason": 1}, "stop reason"),
        ({"extra": 1}, "missing or unknown"),
    ],
    ids=str,
)
def test_entries_that_cannot_be(entries, cause, file):
    assert cause in refusal(edited(file, **entries))


@pytest.mark.parametrize(
    ("which", "name", "at", "value", "cause"),
    [
        ("stumps", "stump_feature", 0, 6, "column that does not exist"),
        ("stumps", "stump_feature", 0, -1, "column that does not exist"),
        ("stumps", "stump_cut", 0, -2, "impossible cut"),
        ("stumps", "stump_threshold", 0, np.nan, "without a threshold"),
        ("stumps", "stump_votes", (0, 0, 0), np.inf, "a stump's vote"),
        ("stumps", "stump_votes", (0, 2, 0), 0.25, "neither side"),
        ("stumps", "round_alpha", 2, np.nan, "a coefficient"),
        ("stumps", "round_decay", 2, np.inf, "a coefficient"),
        ("stumps", "round_decay", slice(None), 1e60, "scores of round"),
        ("stumps", "round_reweighs", 0, True, "coefficients of some rounds"),
        ("stumps", "round_tuple", 0, 2, "wrong number of voters"),
        ("stumps", "voter_kind", 0, 4, "unknown kind"),
        ("stumps", "voter_kind", 0, 1, "differ in number"),
        ("stumps", "voter_kind", 0, 3, "differ in number"),
        ("stumps", "importances", 0, np.nan, "not a share"),
        ("lp", "alphas", 0, np.nan, "a coefficient"),
        ("lp", "round_reweighs", 0, False, "coefficients of some rounds"),
        ("pool", "pool_sign", 0, 0.0, "no sign"),
        ("pool", "pool_sign", 0, float("nan"), "a pool member's sign is not a number"),
        ("pool", "pool_index", 0, -1, "no number"),
        ("pool", "stump_feature", 0, 99, "column that does not exist"),
        ("categories", "category_feature", 0, 3, "wrong column or number"),
        ("categories", "category_size", 0, 10**9, "wrong column or number"),
        ("categories", "category_votes", 0, np.nan, "category stump's vote"),
        ("three", "round_reweighs", 0, True, "one score a class"),
        ("three", "round_tuple", 0, 3, "wrong number of voters"),
        ("ovr", "class_alpha", (2, 1), np.nan, "a coefficient"),
        ("ovr", "class_decay", slice(None), 1e60, "scores of round"),
        ("trees", "node_feature", 0, 7, "column that does not exist"),
        ("trees", "node_feature", 0, -2, "column that does not exist"),
        ("trees", "node_threshold", 0, np.nan, "without a threshold"),
        ("trees", "node_children", (0, 0), 0, "hang together"),
        ("trees", "node_children", (0, 0), 2, "hang together"),
        ("trees", "node_children", (0, 0), 2**40, "hang together"),
        ("trees", "node_children", (0, 0), -1, "hang together"),
        ("trees", "node_categories", 0, 10**6, "wrong number of categories"),
        ("trees", "node_votes", slice(None), 1e200, "a leaf's vote"),
        ("trees", "node_gain", 0, -1.0, "negative gain"),
        ("trees", "node_gain", 0, np.inf, "a split's gain"),
        ("trees", "tree_size", 0, 0, "without nodes"),
        ("trees", "tree_size", 0, 2**62, "without nodes"),
        ("trees", "tree_size", 0, 1, "trees and nodes"),
        ("reduced", "code", (0, 0), 0, "its code is damaged"),
        ("reduced", "code", (0, 0), 5, "its code is damaged"),
        ("reduced", "sizes", 0, np.nan, "sizes of the problems"),
        ("reduced", "shares", 1, 1.0, "sizes of the problems"),
        ("reduced", "problem_1_round_alpha", 0, np.nan, "a coefficient"),
    ],
)
def test_numbers_that_cannot_be(which, name, at, value, cause, zoo_files):
    assert cause in refusal(poked(zoo_files / which, name, at, value))


def test_a_tree_that_runs_in_a_circle(zoo_files):
    path = zoo_files / "trees"
    children = np.load(path)["node_children"]
    deep = int(np.flatnonzero(children[:10, 0] > 2)[0])  # an inner node below the root
    swapped = children[[0, deep]][::-1]
    members = unzipped(path)
    children[[0, deep]] = swapped
    members["node_children.npy"] = _npy_header("<i8", children.shape) + children.tobytes()
    said = refusal(rezipped(path, members))
    assert "in a circle" in said
