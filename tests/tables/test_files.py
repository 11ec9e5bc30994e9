"""Tables in files: what is read, and what is refused in one sentence."""

import gzip
import sys
from decimal import Decimal

import numpy as np
import pytest

from boostlab.studies import RequestError
from boostlab.tables.files import read


@pytest.fixture
def file(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_numbers_words_and_missing_cells(file):
    sheet = read(file('size,sort,both\n1.5,b,1\n ?,"a, or c",x\n-3e2,NA,\nnone,none,2\n'))
    size, sort, both = sheet.columns
    np.testing.assert_array_equal(size.numbers, [1.5, np.nan, -300.0, np.nan])
    assert sort.numbers is None
    assert sort.words == ("b", "a, or c", "", "none")  # none is a word among words, and no number among numbers
    assert both.words == ("1", "x", "", "2")
    assert (size.n_missing, sort.n_missing, sort.n_distinct, sheet.n_rows) == (2, 1, 3, 4)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "x,y\n1,a\n2,b\n"),
        ("a.csv", "x;y\r\n1;a\r\n2;b\r\n"),
        ("a.csv", "\n\nx|y\n1|a\n\n2|b"),
        ("a.tsv", "x\ty\n1\ta\n2\tb\n"),
        ("a.csv.gz", gzip.compress(b"x,y\n1,a\n2,b\n", mtime=0)),
        ("a.txt", "\ufeffx,y\n1,a\n2,b\n"),
        ("a.csv", "x,y\n1,a\n2,b\n".encode("utf-16")),
    ],
)
def test_kinds_of_text(file, name, content):
    x, y = read(file(content, name)).columns
    assert (x.name, x.numbers.tolist(), y.name, y.words) == ("x", [1.0, 2.0], "y", ("a", "b"))


def test_decimal_commas_where_semicolons_part_the_columns(file):
    sheet = read(file("x;y\n3,5;1\n-0,25;2\n"))
    assert sheet.columns[0].numbers.tolist() == [3.5, -0.25]
    assert read(file('x,y\n"3,5",1\n"4,5",2\n')).columns[0].numbers is None


def test_infinite_is_missing(file):
    assert read(file("x,y\n1,inf\n2,3\n")).columns[1].n_missing == 1


def test_a_file_without_a_header(file):
    sheet = read(file("1,2,0\n3,4,1\n"))
    assert [c.name for c in sheet.columns] == ["column 1", "column 2", "column 3"]
    assert sheet.n_rows == 2
    assert "taken as a row" in sheet.remarks[0]
    words = read(file("b,30.83,u,?,+\na,58.67,u,3,-\nb,1.5,u,3,+\n"))
    assert (words.columns[0].words, words.columns[3].n_missing) == (("b", "a", "b"), 1)
    assert "holds values, not names, so it is taken as a row" in words.remarks[0]
    mixed = read(file("b,30.83,u\na,58.67,u\n"))
    assert [c.name for c in mixed.columns] == ["b", "30.83", "u"]
    assert "though it holds numbers (30.83): if it is a row, put a line of names before it" in mixed.remarks[0]
    assert not read(file("name,age\na,58\n")).remarks


def test_an_encoding_can_be_named(file):
    path = file("città,y\nè,1\nà,2\n".encode("latin-1"))
    with pytest.raises(RequestError, match=r"is not UTF-8 text; save it as UTF-8, or name .* --encoding latin-1\.$"):
        read(path)
    assert read(path, "latin-1").columns[0].words == ("è", "à")
    with pytest.raises(RequestError, match="There is no encoding 'latin-nine'"):
        read(path, "latin-nine")


VALUES = {
    "x": [1, None, 3],
    "f": [0.5, 1.5, 2.5],
    "b": [True, False, None],
    "s": ["u", None, "v"],
    "price": [Decimal("1.25"), None, Decimal("3.50")],
}


def by_polars(path):
    pytest.importorskip("polars").DataFrame(VALUES).write_parquet(path)


def by_pyarrow(path):
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(sys.modules["pyarrow"].table(VALUES), path)


@pytest.mark.parametrize("write", [by_polars, by_pyarrow], ids=["from polars", "from pyarrow"])
@pytest.mark.parametrize("reader", ["polars", "pyarrow"])
def test_parquet(tmp_path, reader, write, monkeypatch):
    pytest.importorskip(reader)
    path = tmp_path / "a.parquet"
    write(path)
    if reader == "pyarrow":
        monkeypatch.setitem(sys.modules, "polars", None)
    x, f, b, s, price = read(path).columns
    np.testing.assert_array_equal(x.numbers, [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(price.numbers, [1.25, np.nan, 3.5])
    assert (f.numbers.tolist(), b.words, s.words) == ([0.5, 1.5, 2.5], ("True", "False", ""), ("u", "", "v"))


@pytest.mark.parametrize("reader", ["polars", "pyarrow"])
def test_parquet_that_is_none(file, reader, monkeypatch):
    pytest.importorskip(reader)
    if reader == "pyarrow":
        monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(RequestError, match=r"a\.parquet cannot be read as Parquet \(.+\)\.$"):
        read(file("x,y\n1,2\n", "a.parquet"))


def test_a_panic_of_polars_is_a_sentence(file, monkeypatch):
    class PanicError(BaseException):
        """As polars raises it for some damaged files."""

    def read_parquet(path):
        raise PanicError("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(pytest.importorskip("polars"), "read_parquet", read_parquet)
    with pytest.raises(RequestError, match=r"cannot be read as Parquet \(called"):
        read(file("x", "a.parquet"))


def test_codes_with_an_underscore_are_words_and_lines_of_blanks_are_none(file):
    sheet = read(file("code,y\n1_2,a\n1_3,b\n   \n"))
    assert sheet.n_rows == 2
    assert sheet.columns[0].words == ("1_2", "1_3")
    assert [column.name for column in read(file(" \n\ta\n1\t2\n")).columns] == ["column 1", "a"]


def test_parquet_without_a_reader(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RequestError, match="needs polars or pyarrow, and neither is installed; pip install polars"):
        read(file("x", "a.parquet"))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "\n \n", "is empty"),
        ("a.csv", b"\xef\xbb\xbf", "is empty"),
        ("a.csv", "\n".encode("utf-16"), "is empty"),
        ("a.csv", "x" * 200_000, "is not a table"),
        ("a.csv", "x,y\n", "has a header and no rows"),
        ("a.csv", "hello\nworld\n", "is not a table: its first line has one cell"),
        ("a.csv", "x,y\n1,2\n1,2,3\n", "line 3 has 3 cells where the first has 2"),
        ("a.csv", 'x,y\n\n"1\n2",2\n1,2,3\n', "line 5 has 3 cells where the first has 2"),
        ("a.csv", "x,y,x\n1,2,3\n", "has 2 columns named 'x'"),
        ("a.csv", '"x\n1",y,"x 1"\n1,2,3\n', "has 2 columns named 'x 1'"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not a table: it does not hold text"),
        ("a.csv.gz", b"\x1f\x8bnonsense", "cannot be read"),
        ("a.csv.gz", gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:-20], "cannot be read"),
        ("a.xlsx", b"PK", "cannot be read as an Excel workbook"),
        ("a.ods", b"PK", "is not a kind of file that is read here"),
        ("a.parquet", b"PAR1 and then nothing", "cannot be read as Parquet"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(file, name, content, sentence):
    if name == "a.parquet":
        pytest.importorskip("polars")
    with pytest.raises(RequestError, match=sentence) as caught:
        read(file(content, name))
    assert "\n" not in str(caught.value)


def test_names_that_are_nearly_right(tmp_path, file):
    file("x,y\n1,2\n", "titanic.csv")
    with pytest.raises(RequestError, match=r"There is no file .*titanik.csv; did you mean .*titanic.csv\?"):
        read(tmp_path / "titanik.csv")
    with pytest.raises(RequestError, match="check the name and the folder"):
        read(tmp_path / "no" / "such.csv")
    with pytest.raises(RequestError, match="is a folder"):
        read(tmp_path)
