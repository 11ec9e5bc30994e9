"""Named data sets: where they are looked for, what is checked, and what is said when something is wrong."""

import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import dump_svmlight_file, load_wine
from sklearn.utils import Bunch

from boostlab import AdaBoostClassifier
from boostlab.datasets import DatasetError, cache_folder, catalogue, content_hash, facts, load, names, where

SMALL = catalogue.Facts(
    name="small",
    file="small.csv.gz",
    rows=6,
    features=3,
    class_counts={"no": 4, "yes": 2},
    feature_names=["size", "sort", "code"],
    categorical_columns=["sort"],
    missing_cells=2,
    train_rows=4,
    content="",
    sha256=None,
    openml=7,
    source="made up",
    licence="none",
    notes="A toy.",
)
CELLS = [
    ("1.5", "b", "1", "train", "no"),
    ("", "a", "2", "train", "yes"),
    ("-2", "", "1", "train", "no"),
    ("0", "none", "3", "train", "no"),
    ("7", "a", "2", "test", "yes"),
    ("3", "b", "2", "test", "no"),
]
X = np.array([[1.5, 1, 1], [np.nan, 0, 2], [-2, np.nan, 1], [0, 2, 3], [7, 0, 2], [3, 1, 2]])
Y = np.array([row[-1] for row in CELLS])
WORDS = {"sort": ("a", "b", "none")}


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    """An empty data folder, an empty cache, no way out, and one more data set."""
    for variable, name in (("BOOSTLAB_DATA", "data"), ("BOOSTLAB_CACHE", "cache")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    known = catalogue._catalogue() | {"small": replace(SMALL, content=content_hash(X, Y, {"sort": WORDS["sort"]}))}
    monkeypatch.setattr(catalogue, "_catalogue", lambda: known)
    return tmp_path


def unreachable(**_):
    raise OSError("no network\nand more")


def write(path: Path, rows=CELLS, header=("size", "sort", "code", "split", "target")):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(",".join(row) + "\n" for row in (header, *rows))


# -- what is found ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["data", "cache"])
def test_a_file_becomes_numbers_categories_labels_and_a_split(folders, place):
    write(folders / place / "small.csv.gz")
    found = load("small")
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == Y.tolist()
    assert dict(found.categories) == WORDS
    assert found.categorical_features == [1]
    assert found.test_rows.tolist() == [False] * 4 + [True] * 2
    assert found.source == str(folders / place / "small.csv.gz") == str(where("small").path)
    assert where("small").place == {"data": "data folder", "cache": "cache"}[place]
    with pytest.raises(ValueError, match="read-only"):
        found.X[0, 0] = 5


def test_the_data_folder_comes_before_the_cache(folders):
    for place in ("cache", "data"):
        write(folders / place / "small.csv.gz")
    assert load("small").source == str(folders / "data" / "small.csv.gz")


def test_a_frame_has_categories(folders):
    write(folders / "data" / "small.csv.gz")
    frame = load("small").frame()
    assert frame["sort"].tolist()[:2] == ["b", "a"]
    assert frame["sort"].isna().tolist() == [False, False, True, False, False, False]
    assert list(frame["sort"].cat.categories) == ["a", "b", "none"]


def test_array_and_frame_give_the_same_model(folders):
    write(folders / "data" / "small.csv.gz")
    found = load("small")
    by_position = AdaBoostClassifier(categorical_features=found.categorical_features).fit(found.X, found.y)
    by_dtype = AdaBoostClassifier().fit(found.frame(), found.y)
    np.testing.assert_array_equal(by_position.decision_function(found.X), by_dtype.decision_function(found.frame()))


@pytest.mark.parametrize("name", ["wdbc", "wine", "digits"])
def test_scikit_learns_sets_are_value_by_value_those_of_the_files(name):
    found = load(name)
    known = facts(name)
    assert found.source == where(name).place == "scikit-learn"
    assert found.content == known.content
    assert found.X.shape == (known.rows, known.features)
    assert Counter(map(str, found.y.tolist())) == known.class_counts


def test_sparse_rows_and_pictures(folders, monkeypatch):
    rng = np.random.default_rng(0)
    table = csr_matrix(rng.integers(0, 2, (5, 4)).astype(float))
    y = np.array([1, -1, 1, -1, -1])
    dump_svmlight_file(table, y, str(folders / "plain.svm"), zero_based=False)
    with gzip.open(folders / "data" / "rows.svm.gz", "wb") as file:
        file.write((folders / "plain.svm").read_bytes())
    images = rng.integers(0, 256, (5, 28, 28)).astype(np.uint8)
    np.savez(folders / "data" / "pictures.npz", images=images, labels=np.arange(5).astype(np.uint8))
    flat = images.reshape(5, -1)
    known = {
        "rows": replace(SMALL, name="rows", file="rows.svm.gz", features=4, content=content_hash(table, y, {})),
        "pictures": replace(
            SMALL, name="pictures", file="pictures.npz", features=784, content=content_hash(flat, np.arange(5), {})
        ),
    }
    monkeypatch.setattr(catalogue, "_catalogue", lambda: known)
    assert issparse(load("rows").X)
    np.testing.assert_array_equal(load("rows").X.toarray(), table.toarray())
    assert load("rows").frame().shape == (5, 4)
    np.testing.assert_array_equal(load("pictures").X, flat)
    assert load("pictures").X.dtype == np.uint8


# -- what goes wrong -------------------------------------------------------------------------------------------------


def one_sentence(error) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert text.endswith((".", "?"))
    return text


def test_a_miss_names_the_ways(folders):
    with pytest.raises(DatasetError) as error:
        load("small")
    text = one_sentence(error)
    for word in ("small.csv.gz", "BOOSTLAB_DATA", str(folders / "data"), str(folders / "cache"), "OpenML", "number 7"):
        assert word in text
    assert "OSError: no network" in text
    assert "and more" not in text
    assert where("small") is None


def test_a_miss_says_what_is_wrong_with_the_folder(monkeypatch, folders):
    monkeypatch.delenv("BOOSTLAB_DATA")
    with pytest.raises(DatasetError, match="not set now"):
        load("a5a")
    monkeypatch.setenv("BOOSTLAB_DATA", str(folders / "nowhere"))
    with pytest.raises(DatasetError, match="nowhere, not a folder"):
        load("a5a")


def test_a_set_that_is_not_at_openml_does_not_ask_it(monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: pytest.fail("asked"))
    with pytest.raises(DatasetError) as error:
        load("a5a")
    assert "OpenML" not in one_sentence(error)


def test_nothing_is_downloaded_if_not_wanted(monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: pytest.fail("asked"))
    with pytest.raises(DatasetError, match="which was not asked"):
        load("small", download=False)


def test_an_unknown_name_has_a_neighbour():
    with pytest.raises(DatasetError, match="did you mean 'spambase'"):
        load("spam_base")
    with pytest.raises(DatasetError, match="boostlab datasets"):
        load("qqq")


def truncated(path):
    path.write_bytes(path.read_bytes()[:-20])


def garbage(path):
    path.write_bytes(b"not a gzip file at all")


def flipped_byte(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


def empty(path):
    path.write_bytes(b"")


def ragged(path):
    write(path, [*CELLS[:5], CELLS[5][:4]])


def no_target(path):
    write(path, header=("size", "sort", "code", "split", "label"))


def words_for_numbers(path):
    write(path, [("many", *CELLS[0][1:]), *CELLS[1:]])


@pytest.mark.parametrize("damage", [truncated, garbage, flipped_byte, empty, ragged, no_target, words_for_numbers])
def test_a_damaged_file_is_one_sentence(folders, damage):
    path = folders / "data" / "small.csv.gz"
    write(path)
    damage(path)
    with pytest.raises(DatasetError, match=r"cannot be read \(.+\); delete it and get it again") as error:
        load("small")
    assert str(path) in one_sentence(error)


@pytest.mark.parametrize(
    "rows",
    [CELLS[:5], [("1.4", *CELLS[0][1:]), *CELLS[1:]], [(*CELLS[0][:4], "yes"), *CELLS[1:]], CELLS[::-1]],
    ids=["a row less", "another value", "another label", "another order"],
)
def test_other_data_under_the_name_are_refused(folders, rows):
    write(folders / "data" / "small.csv.gz", rows)
    with pytest.raises(DatasetError, match="is not the data set 'small' that is meant here") as error:
        load("small")
    one_sentence(error)


def test_another_split_is_refused(folders):
    write(folders / "data" / "small.csv.gz", [*CELLS[:3], (*CELLS[3][:3], "test", "no"), *CELLS[4:]])
    with pytest.raises(DatasetError, match="says of the official split of the data set 'small' is wrong") as error:
        load("small")
    one_sentence(error)


# -- OpenML ----------------------------------------------------------------------------------------------------------


def openml(**changes):
    """What scikit-learn would return of a copy with other names: code is nominal there, sort has another order."""
    data = X.copy()
    data[:, 1] = [0, 1, np.nan, 2, 1, 0]
    data[:, 2] -= 1
    bunch = Bunch(
        data=data,
        target=np.array(["'N'", "'Y'", "'N'", "'N'", "'Y'", "'N'"], object),
        feature_names=["Size", "SORT", "Code"],
        categories={"SORT": ["b", "a", "none"], "Code": ["1", "2", "3"]},
    )
    bunch.update(changes)
    return bunch


def test_openmls_copy_is_brought_into_our_form_and_cached(folders, monkeypatch):
    asked = []
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **how: asked.append(how) or openml())
    first, second = load("small"), load("small", download=False)
    assert [how["data_id"] for how in asked] == [7]
    for found in (first, second):
        np.testing.assert_array_equal(found.X, X)
        assert found.y.tolist() == Y.tolist(), "classes are known by their counts"
        assert found.source == "OpenML, number 7"
        assert found.test_rows.tolist() == [False] * 4 + [True] * 2, "value by value ours, so the split holds"
    kept = [path.name for path in (folders / "cache").rglob("*") if path.is_file()]
    assert kept == ["small.csv.gz"]
    assert where("small").path == next((folders / "cache").rglob("small.csv.gz"))


def test_columns_in_another_order_are_found_by_name(monkeypatch):
    bunch = openml()
    bunch.update(data=bunch.data[:, ::-1], feature_names=bunch.feature_names[::-1])
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: bunch)
    np.testing.assert_array_equal(load("small").X, X)


def test_a_copy_with_other_values_has_no_split_and_says_so(monkeypatch):
    data = openml().data
    data[0, 0] = 1.25
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: openml(data=data))
    found = load("small")
    assert found.test_rows is None
    assert "not compared one by one" in found.notes
    assert found.content != facts("small").content


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"data": X[:5], "target": Y[:5]}, "5 rows and 3 columns"),
        ({"target": np.array(["N"] * 5 + ["Y"], object)}, "its classes are others"),
        ({"data": np.nan_to_num(openml().data)}, "0 missing values, not 2"),
        ({"categories": openml().categories | {"Size": list("abcdefgh")}, "data": np.abs(openml().data)}, "numbers"),
    ],
)
def test_another_table_at_openml_is_refused(folders, monkeypatch, changes, why):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: openml(**changes))
    with pytest.raises(DatasetError, match=why) as error:
        load("small")
    assert "BOOSTLAB_DATA" in one_sentence(error)
    assert not [path for path in (folders / "cache").rglob("*") if path.is_file()]


def test_equally_frequent_classes_must_have_our_names(monkeypatch):
    known = replace(facts("small"), class_counts={"no": 3, "yes": 3})
    monkeypatch.setattr(catalogue, "_catalogue", lambda: {"small": known})
    target = np.array(["N", "Y"] * 3, object)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: openml(target=target))
    with pytest.raises(DatasetError, match="its classes are others"):
        load("small")
    target = np.array(["No", "YES"] * 3, object)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: openml(target=target))
    assert load("small").y.tolist() == ["no", "yes"] * 3


def test_mnist_is_cut_out_of_openmls(folders, monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.repeat(np.arange(10), 1200), rng.integers(0, 10, 48_000)]).astype(str)
    data = np.zeros((60_010, 784), np.uint8)
    data[:60_000, 0] = np.arange(60_000) % 251
    labels = np.concatenate([labels, np.full(10, "0")])
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: Bunch(data=data, target=labels))
    found = load("mnist_10k")
    assert found.X.shape == (10_000, 784)
    assert set(np.bincount(found.y)) == {1000}
    np.testing.assert_array_equal(found.X[:1001, 0], [*(np.arange(1000) % 251), 1200 % 251])


def test_an_unwritable_cache_is_one_sentence(folders, monkeypatch):
    (folders / "file").write_text("in the way")
    monkeypatch.setenv("BOOSTLAB_CACHE", str(folders / "file"))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: openml())
    with pytest.raises(DatasetError, match="Error") as error:
        load("small")
    one_sentence(error)


# -- the catalogue and the folders -----------------------------------------------------------------------------------


def test_the_catalogue_is_consistent():
    for name in names():
        known = facts(name)
        assert sum(known.class_counts.values()) == known.rows, name
        assert len(known.feature_names) in (0, known.features), name
        assert set(known.categorical_columns) <= set(known.feature_names), name
        assert len(known.content) == 64 or name == "small", name
        assert known.licence
        assert known.notes


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, Path("/x/boostlab")),
        ("linux", {}, Path("/home/me/.cache/boostlab")),
        ("darwin", {}, Path("/home/me/Library/Caches/boostlab")),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/boostlab/Cache")),
        ("win32", {"BOOSTLAB_CACHE": "/mine"}, Path("/mine")),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch, platform, variables, expected):
    for name in ("BOOSTLAB_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    assert cache_folder() == expected


def test_the_hash_sees_values_order_and_shape_only():
    wine = load_wine().data
    assert content_hash(wine) == content_hash(np.asfortranarray(wine))
    assert content_hash(csr_matrix(X[:, 2:])) != content_hash(X[:, 2:]), "stored another way, trained another way"
    assert content_hash(np.array([[0.0]])) == content_hash(np.array([[-0.0]]))
    assert content_hash(np.array([[1.0, 2.0]])) != content_hash(np.array([[1.0], [2.0]]))
    assert content_hash(wine, [1]) != content_hash(wine, [2])
