import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bblr.datasets import load_uci, read_table

BASIC = "a,b,label\n1,2.5,yes\n3,4,no\n5,-6e-1,yes\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="table.csv", **options):
        path = tmp_path / name
        path.write_text(text, **options)
        return path

    return write


def fails(path, *needles, target=None, error=ValueError):
    """The message names the path and everything in `needles`."""
    with pytest.raises(error) as caught:
        read_table(path, target=target)
    for needle in (str(path), *needles):
        assert needle in str(caught.value)


# --- what is read ---------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t", "t.DATA"])
def test_csv_with_any_separator_and_ending(write, mark, name):
    X, y, names = read_table(write(BASIC.replace(",", mark), name))
    assert_array_equal(X, [[1, 2.5], [3, 4], [5, -0.6]])
    assert X.dtype == np.float64
    assert y.tolist() == ["yes", "no", "yes"]
    assert names == ["a", "b"]


def test_target_by_name_and_by_default(write):
    path = write("c,a\n0,1\n1,0\n1,1\n")
    X, y, names = read_table(path, target="c")
    assert (X.ravel().tolist(), y.tolist(), names) == ([1, 0, 1], [0, 1, 1], ["a"])
    X, y, names = read_table(path)
    assert (X.ravel().tolist(), y.tolist(), names) == ([0, 1, 1], [1, 0, 1], ["c"])


@pytest.mark.parametrize(
    ("cells", "kind", "labels"),
    [
        (("1", "-1"), "i", [1, -1]),
        (("1.0", "0.0"), "i", [1, 0]),
        (("0.5", "1.5"), "f", [0.5, 1.5]),
        (("True", "False"), "b", [True, False]),
        (("spam", "ham"), "U", ["spam", "ham"]),
    ],
)
def test_label_kinds(write, cells, kind, labels):
    _, y, _ = read_table(write("a,y\n1,{}\n2,{}\n".format(*cells)))
    assert y.dtype.kind == kind
    assert y.tolist() == labels


def test_quotes_blanks_bom_and_line_ends(write):
    text = '"a, b", c ,label\r\n\r\n1, 2,"x\r\ny"\r\n3, 4,z\r\n\r\n'
    X, y, names = read_table(write(text, encoding="utf-8-sig", newline=""))
    assert names == ["a, b", "c"]
    assert_array_equal(X, [[1, 2], [3, 4]])
    assert len(set(y.tolist())) == 2


def test_one_hot(write):
    text = "size,fur,ok,y\nS,long,True,0\nM,short,False,1\nL,short,True,0\n"
    X, _, names = read_table(write(text))
    assert names == ["size=L", "size=M", "size=S", "fur=short", "ok"]
    assert_array_equal(X, [[0, 0, 1, 0, 1], [0, 1, 0, 1, 0], [1, 0, 0, 1, 1]])


def test_fifty_levels_pass_and_fifty_one_do_not(write):
    def table(n):
        return "word,y\n" + "".join(f"w{i:02d},{i % 2}\n" for i in range(n))

    assert read_table(write(table(50)))[0].shape == (50, 50)
    fails(write(table(51)), "'word'", "51", "50")


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.bin"])
def test_parquet_reads_as_its_csv(tmp_path, write, name):
    frame = pd.read_csv(write(BASIC)).assign(kind=pd.Categorical(["u", "v", "w"]))
    frame = frame[["a", "b", "kind", "label"]]
    frame.to_parquet(tmp_path / name)
    frame.to_csv(tmp_path / "again.csv", index=False)
    for got, expected in zip(
        read_table(tmp_path / name), read_table(tmp_path / "again.csv"), strict=True
    ):
        assert_array_equal(got, expected)


def test_parquet_category_and_nullable_labels(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2], "y": pd.Categorical([7, 9])}).to_parquet(path)
    assert read_table(path)[1].tolist() == [7, 9]
    pd.DataFrame({"a": [1, 2], "y": pd.array([7, 9], dtype="Int64")}).to_parquet(path)
    assert read_table(path)[1].tolist() == [7, 9]


@pytest.mark.parametrize("name", ["t.svm", "t.svmlight", "t.libsvm", "t.txt", "t"])
def test_svmlight(tmp_path, name):
    X, y = load_uci("heart", return_X_y=True)
    path = tmp_path / name
    dump_svmlight_file(X, 2 * y - 1, str(path), zero_based=False)
    X_read, y_read, names = read_table(path)
    assert sparse.issparse(X_read) and X_read.format == "csr"
    assert_array_equal(X_read.toarray(), X)
    assert y_read.dtype == np.int64
    assert_array_equal(y_read, 2 * y - 1)
    assert names == [f"x{j}" for j in range(1, 14)]


def test_svmlight_with_comments_is_sniffed(write):
    X, y, _ = read_table(write("# made by hand\n+1 1:0.5 3:2 # first\n-1 2:1e-3\n", "t.txt"))
    assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 1e-3, 0]])
    assert y.tolist() == [1, -1]


def test_embedded_csv_reads_as_load_uci():
    from importlib import resources

    with resources.as_file(resources.files("bblr.datasets.data") / "liver.csv") as path:
        X, y, names = read_table(path)
    table = load_uci("liver")
    assert_array_equal(X, table.data)
    assert_array_equal(y, table.target)
    assert names == table.feature_names


# --- what is refused ------------------------------------------------------------------------


def test_missing_file_names_its_neighbours(write):
    path = write(BASIC, "heart.csv")
    fails(path.with_name("haert.csv"), "heart.csv beside it", error=FileNotFoundError)
    fails(path.with_name("nowhere") / "t.csv", "check the spelling", error=FileNotFoundError)


def test_folder(tmp_path):
    fails(tmp_path, "folder", error=IsADirectoryError)


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.parquet", "t.svm"])
def test_empty_file(write, name):
    fails(write("", name), "empty")


@pytest.mark.parametrize("text", ["\n\n", "  \n"])
def test_blank_file(write, text):
    fails(write(text), "empty")


def test_header_only(write):
    fails(write("a,b,y\n"), "no rows")


@pytest.mark.parametrize(("row", "cells"), [("1,2", "2 cells"), ("1,2,0,9", "4 cells")])
def test_ragged_rows_name_the_line(write, row, cells):
    fails(write(f"a,b,y\n1,2,0\n\n{row}\n3,4,1\n"), "line 4", cells, "header has 3")


def test_unclosed_quote(write):
    fails(write('a,y\n1,"x\n2,z\n'), "line", "quotes")


def test_no_header(write):
    fails(write("1,2.5,-1\n3,4,1\n"), "first line holds only numbers", "header")


def test_unnamed_and_repeated_columns(write):
    fails(write(",a,y\n0,1,0\n1,2,1\n"), "column 1 has no name")
    fails(write("a,a,y\n0,1,0\n1,2,1\n"), "'a' occurs more than once")


def test_one_column(write):
    fails(write("a b y\n1 2 0\n2 3 1\n"), "1 column(s)", "separated by commas")


def test_target_not_there(write):
    path = write("weight,Class,y\n1,0,0\n2,1,1\n")
    fails(path, "target='klass'", "did you mean 'Class'", "'weight'", "'y'", target="klass")
    with pytest.raises(ValueError, match="its columns are") as caught:
        read_table(path, target="zzz")
    assert "did you mean" not in str(caught.value)


def test_target_with_svmlight(write):
    fails(write("1 1:2\n-1 1:3\n", "t.svm"), "target='y'", "leave target out", target="y")


@pytest.mark.parametrize("cell", ["", "?", "NA", "nan"])
def test_missing_feature(write, cell):
    fails(write(f"a,b,y\n1,{cell},0\n2,{cell},1\n3,1,1\n"), "'b'", "2 missing", "3 rows", "fill")


def test_missing_label(write):
    fails(write("a,y\n1,0\n2,\n3,1\n"), "'y'", "1 missing", "last column")


def test_infinite_feature(write):
    fails(write("a,y\n1,0\ninf,1\n"), "'a'", "1 infinite")
    fails(write("1 1:inf\n-1 1:3\n", "t.svm"), "x1", "infinite")


@pytest.mark.parametrize("bad", ["oops", "1,5"])
def test_stray_text_among_numbers(write, bad):
    fails(write(f"a;y\n1;0\n2;1\n3;1\n{bad};0\n"), "'a'", repr(bad), "data row 4")


def test_decimal_commas(write):
    fails(write("a;y\n1,5;0\n2,5;1\n"), "'a'", "decimal point")


def test_dates(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"]), "y": [0, 1]}).to_parquet(
        path
    )
    fails(path, "'day'", "datetime64")
    fails(path, "'day'", "datetime64", target="day")


def test_number_of_classes(write):
    fails(write("a,y\n1,x\n2,x\n"), "'y'", "one class only ('x')", "last column")
    fails(write("y,a\n1,0\n2,1\n3,0\n"), "'y'", "3 classes (1, 2, 3)", target="y")
    fails(write("y,a\n" + "".join(f"{i},0\n" for i in range(9))), "9 classes", "…", target="y")
    fails(write("1 1:2\n1 1:3\n", "t.svm"), "one class only")


def test_malformed_svmlight_names_the_line(write):
    fails(write("1 1:2\n-1 1=3\n", "t.svm"), "line 2", "1=3", "index:value")
    fails(write("# nothing\n", "t.svm"), "no rows")


def test_malformed_parquet(write):
    fails(write("PAR1 not really", "t.parquet"), "not a sound Parquet file")


def test_packed_and_binary_files(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(BASIC.encode()))
    fails(path, "gzip", "unpack")
    path = tmp_path / "t.csv"
    path.write_bytes("a,y\nß,0\n".encode("latin-1"))
    fails(path, "UTF-8")
