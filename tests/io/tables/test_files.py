"""Files that are read: CSV, Parquet and svmlight, with labels of any kind."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bblr.datasets import load_uci
from bblr.io import read_table
from tests.io.tables.tables import BASIC, fails


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


def test_fifty_levels_are_a_category_and_fifty_one_free_text(write):
    def table(n):
        return "word,y\n" + "".join(f"w{i:02d},{i % 2}\n" for i in range(n)) * 2

    assert read_table(write(table(50)))[0].shape == (100, 50)
    with pytest.warns(UserWarning, match="column 'word' treated as free text"):
        X, _, names = read_table(write(table(51)))
    assert X.shape == (102, 30) and names[-1] == "word text 30"
    assert read_table(write(table(51)), category=["word"])[0].shape == (102, 51)


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


@pytest.mark.parametrize("cell", ["", "?", "NA", "nan"])
def test_missing_values_are_marked_and_filled(write, cell):
    text = f"n,t,f,y\n1,u,true,0\n{cell},v,false,1\n3,{cell},true,1\n8,u,{cell},0\n"
    X, _, names = read_table(write(text))
    assert names == ["n", "n missing", "t=v", "t missing", "f", "f missing"]
    np.testing.assert_array_equal(X[:, 0], [1, 3, 3, 8])  # the median of 1, 3 and 8
    np.testing.assert_array_equal(X[:, 2], [0, 1, 0, 0])
    np.testing.assert_array_equal(X[:, 4], [1, 0, 1, 1])
    for column, row in ((1, 1), (3, 2), (5, 3)):
        np.testing.assert_array_equal(X[:, column], np.arange(4) == row)


@pytest.mark.parametrize("index", [range(3), range(1, 4), ["u", "v", "w"]])
@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_an_index_without_a_name_is_left_out(write, tmp_path, index, sep):
    frame = pd.read_csv(write(BASIC)).set_axis(list(index))
    # A table that was written and read twice has an index among its named columns.
    for columns in (["a", "b", "label"], ["Unnamed: 0", "b", "label"]):
        frame.set_axis(columns, axis=1).to_csv(tmp_path / "export.csv", sep=sep)
        X, y, names = read_table(tmp_path / "export.csv")
        assert names == columns[:2]
        assert_array_equal(X, frame[["a", "b"]])
        assert y.tolist() == ["yes", "no", "yes"]


def test_an_index_beside_numbers_for_names(write, tmp_path):
    pd.DataFrame([[1.5, 0], [2, 1], [3, 1]]).to_csv(tmp_path / "export.csv")
    X, y, names = read_table(tmp_path / "export.csv")
    assert (X.ravel().tolist(), y.tolist(), names) == ([1.5, 2, 3], [0, 1, 1], ["0"])
    fails(write(",2.5,1\n3,4,0\n"), "first line holds only numbers")


def test_dropped_columns_need_not_make_sense(write):
    text = "id,a,y\n" + "".join(f"row {i},{i % 7},{i % 2}\n" for i in range(60))
    with pytest.warns(
        UserWarning, match="'id' has a different text in every row .* use text='id'"
    ):
        assert read_table(write(text))[2] == ["a"]
    X, _, names = read_table(write(text), drop=["id"])
    assert names == ["a"]
    np.testing.assert_array_equal(X[:, 0], np.arange(60) % 7)


@pytest.mark.parametrize(
    "cells",
    [("007", "7"), ("01", "02"), ("+1", "+01"), (2**53, f"{2**53 + 1}.0"), (2**63, 2**63 + 1),
     (2**64, 2**64 + 1)],
)  # fmt: skip
def test_labels_that_numbers_would_merge_are_texts(write, cells):
    rows = "".join(f"{i},{cells[i % 2]}\n" for i in range(8))
    _, y, _ = read_table(write("a,y\n" + rows))
    assert sorted(set(y.tolist())) == sorted(map(str, cells))


def test_labels_of_several_files_are_not_merged(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,7\n2,8\n3,7\n4,8\n")
    (tmp_path / "b.csv").write_text("a,y\n4,007\n5,008\n6,007\n7,008\n")
    _, y, _ = read_table([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert y.tolist() == [*["7", "8"] * 2, *["007", "008"] * 2]


def test_labels_beyond_63_bits_in_parquet(tmp_path):
    labels = np.array([2**63, 2**63 + 1] * 4, dtype=np.uint64)
    pd.DataFrame({"a": range(8), "y": labels}).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")[1].tolist() == labels.tolist()
