"""One table in every format, encoding and packing reads the same."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from bblr.io import read_table
from tests.io.tables.tables import fails

N = 40
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "größe": RNG.normal(size=N).round(4),
        "town": RNG.choice(["Köln", "Paris", "Łódź"], N),
        "when": pd.date_range("2024-01-30 07:30", periods=N, freq="7h"),
        "ok": RNG.random(N) < 0.5,
        "kind": RNG.choice(["ja", "nein"], N),
    }
)
LATIN = TABLE.replace("Łódź", "Århus")


def zipped(content, *names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names or ("t.csv",):
            archive.writestr(name, content)
    return file.getvalue()


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(content)
    return sink.getvalue().to_pybytes()


def quiet(*arguments, **options):
    with pytest.warns(UserWarning, match="dates in column 'when'"):
        return read_table(*arguments, **options)


def same(found, expected):
    assert_array_equal(found[0], expected[0])
    assert_array_equal(found[1], expected[1])
    assert found[2] == expected[2]


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.csv"
    TABLE.to_csv(path, index=False)
    return quiet(path)


@pytest.mark.parametrize("name", ["t.csv.packed", "t", "t.csv"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zipped, zstd])
def test_packed_csv(tmp_path, plain, pack, name):
    path = tmp_path / name
    path.write_bytes(pack(TABLE.to_csv(index=False).encode()))
    same(quiet(path), plain)


@pytest.mark.parametrize("pack", [gzip.compress, zipped, zstd])
def test_packed_binary_files_are_sniffed(tmp_path, plain, pack):
    file = io.BytesIO()
    TABLE.to_parquet(file)
    for content in (file.getvalue(), TABLE.to_csv(index=False, sep="|").encode()):
        name = "member" if pack is zipped else "t.packed"
        (tmp_path / name).write_bytes(pack(content, "t") if pack is zipped else pack(content))
        same(quiet(tmp_path / name), plain)


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path, plain, encoding, end):
    text = TABLE.to_csv(index=False, lineterminator=end)
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    same(quiet(tmp_path / "t.csv"), plain)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_windows_text_is_read_with_a_note(tmp_path, encoding):
    LATIN.to_csv(tmp_path / "utf.csv", index=False)
    LATIN.to_csv(tmp_path / "win.csv", index=False, encoding=encoding)
    with pytest.warns(UserWarning, match="not UTF-8, so read as Windows"):
        found = quiet(tmp_path / "win.csv")
    same(found, quiet(tmp_path / "utf.csv"))


@pytest.mark.parametrize("ending", ["feather", "arrow", "parquet", "bin"])
def test_arrow_files(tmp_path, plain, ending):
    path = tmp_path / f"t.{ending}"
    TABLE.to_parquet(path) if ending == "parquet" else TABLE.to_feather(path)
    same(quiet(path), plain)


def test_excel(tmp_path, plain):
    pytest.importorskip("openpyxl")
    TABLE.to_excel(tmp_path / "t.xlsx", index=False)
    same(quiet(tmp_path / "t.xlsx"), plain)
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        TABLE.to_excel(book, sheet_name="data", index=False, startrow=2)
        TABLE.head(2).to_excel(book, sheet_name="other")
    with pytest.warns(UserWarning, match="read from sheet 'data' of 2"):
        same(quiet(tmp_path / "two.xlsx"), plain)


def test_excel_without_openpyxl_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(zipped(b"<Types/>", "[Content_Types].xml"))
    fails(tmp_path / "t.xlsx", "openpyxl", "pip install 'bblr[excel]'", error=ImportError)


def test_excel_headers_are_checked_as_in_csv(tmp_path):
    pytest.importorskip("openpyxl")
    for cells, needle in (
        ([["a", "a", "y"], [1, 2, 0]], "'a' occurs more than once"),
        ([["a", None, "y"], [1, 2, 0]], "column 2 has no name"),
        ([["a", "b", "y"]], "holds no rows"),
        ([], "empty"),
    ):
        pd.DataFrame(cells).to_excel(tmp_path / "t.xlsx", index=False, header=False)
        fails(tmp_path / "t.xlsx", needle)


def test_standard_input(monkeypatch, plain):
    for content in (TABLE.to_csv(index=False).encode(), zstd(TABLE.to_csv(index=False).encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        same(quiet("-"), plain)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(ValueError, match="standard input is empty"):
        read_table("-")


def test_several_files_of_one_layout(tmp_path, plain):
    TABLE[:15].to_csv(tmp_path / "a.csv", index=False)
    TABLE[15:30][TABLE.columns[::-1]].to_parquet(tmp_path / "b.parquet", index=False)
    TABLE[30:].to_csv(tmp_path / "c.csv.gz", index=False, sep="\t")
    files = [tmp_path / name for name in ("a.csv", "b.parquet", "c.csv.gz")]
    same(quiet(files, target="kind"), plain)
    TABLE[15:].rename(columns={"ok": "oh"}).to_csv(files[0].with_name("d.csv"), index=False)
    with pytest.raises(
        ValueError, match=r"d\.csv has no column 'ok', a column 'oh', unlike .*a\.csv"
    ):
        read_table([files[0], files[0].with_name("d.csv")])
    (tmp_path / "e.svm").write_text("1 1:2\n0 1:3\n")
    with pytest.raises(ValueError, match=r"e\.svm is a svmlight file, and .*a\.csv is not"):
        read_table([files[0], tmp_path / "e.svm"])
    with pytest.raises(ValueError, match=r"a\.csv is a csv file, and .*e\.svm is not"):
        read_table([tmp_path / "e.svm", files[0]])


def test_several_svmlight_files(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n0 1:3\n")
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress(b"1 3:1\n0 2:4\n"))
    X, y, names = read_table([tmp_path / "a.svm", tmp_path / "b.svm.gz"])
    assert_array_equal(X.toarray(), [[2, 0, 0], [3, 0, 0], [0, 0, 1], [0, 4, 0]])
    assert y.tolist() == [1, 0, 1, 0] and names == ["x1", "x2", "x3"]


@pytest.mark.parametrize("cell", ['5" disk', 'a"b"c'])
def test_quotes_within_cells_are_read(tmp_path, cell):
    text = f"a,b,y\n1,{cell},0\n2,x,1\n3,{cell},1\n4,x,0\n"
    (tmp_path / "t.csv").write_text(text)
    assert read_table(tmp_path / "t.csv")[0][:, 0].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("row", ['1,"x,y"', '1,"x\ny",2,3', '1,"x""y",2,3', "1", '"1,2,0"'])
def test_wrong_rows_are_found_among_quotes(tmp_path, row):
    good = '1,"x, ""y""",0\n2,"two\nlines",1\n' * 30
    (tmp_path / "t.csv").write_text(f"a,b,y\n{good}{row}\n{good}")
    fails(tmp_path / "t.csv", f"line {92 + row.count(chr(10))}", "cells, but the header has 3")


def test_quotes_within_the_header_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('size 5",b,y\n1,2,0\n2,3,1\n3,1,1\n')
    assert read_table(path)[2] == ['size 5"', "b"]
    path.write_text('"two\nlines",b,y\n1,2,0\n2,3,1\n3,1\n')
    fails(path, "line 5: 2 cells")


def test_no_file():
    with pytest.raises(ValueError, match="no file to read"):
        read_table([])
