"""Files that are refused: the message names the file, the place and the remedy."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from bblr.io import read_table
from bblr.io.tables.opening import opened_data
from bblr.io.tables.svmlight_rows import svmlight_blocks
from tests.io.tables.tables import BASIC, fails


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
    fails(write("b,,y\n0,1,0\n1,2,1\n"), "column 2 has no name")
    fails(write(",b,,y\n0,0,1,0\n1,1,2,1\n"), "column 3 has no name")
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


def test_columns_to_drop_that_are_not_there(write):
    for name, needle in {"z": "is not a column", "a": "is the target"}.items():
        with pytest.raises(ValueError, match=f"^drop='{name}' {needle}"):
            read_table(write(BASIC), target="a", drop=[name])
    with pytest.raises(ValueError, match=r"^drop='x1': .*no names"):
        read_table(write("1 1:2\n-1 1:3\n", "t.svm"), drop=["x1"])


def test_missing_label(write):
    fails(write("a,y\n1,0\n2,\n3,1\n"), "'y'", "1 missing", "last column", "in data row 2;")
    gaps = "".join(f"1,{'' if row in (5, 17) else row % 2}\n" for row in range(1, 30))
    fails(write("a,y\n" + gaps), "2 missing", "in data rows 5, 17;")
    fails(write("a,y\n1,0\n1,1\n" + "1,\n" * 6), "in data rows 3, 4, 5, 6, 7, …;")


@pytest.mark.parametrize("cell", ["inf", "-inf"])
def test_infinite_labels(write, cell):
    fails(write(f"a,y\n1,0\n2,1\n3,{cell}\n4,1\n"), "'y'", "1 infinite", "data row 3")
    fails(write(f"0 1:2\n1 1:3\n{cell} 1:2\n0 1:1\n", "t.svm"), "1 infinite", "data row 3")


def test_large_labels_are_not_mangled(write):
    _, y, _ = read_table(write("a,y\n1,1e20\n2,0\n3,0\n"))
    assert y.tolist() == [1e20, 0.0, 0.0]
    _, y, _ = read_table(write(f"a,y\n1,{2.0**53 - 1}\n2,0.0\n3,0.0\n"))
    assert y.dtype == np.int64 and y[0] == 2**53 - 1


def test_infinite_feature(write):
    fails(write("a,y\n1,0\ninf,1\n"), "'a'", "1 infinite")
    fails(write("1 1:inf\n-1 1:3\n", "t.svm"), "x1", "infinite")


@pytest.mark.parametrize("bad", ["oops", "1,5,0", "1.23,5"])
def test_stray_text_among_numbers(write, bad):
    fails(write(f"a;y\n1;0\n2;1\n3;1\n{bad};0\n"), "'a'", repr(bad), "data row 4")


@pytest.mark.parametrize("text", ["a,y\n1,2.5\n2,0\n3,2.5\n", "2.5 1:1\n0 1:2\n2.5 1:3\n"])
def test_labels_that_are_not_whole_are_a_quantity(write, text):
    name = "t.csv" if "," in text else "t.svm"
    fails(write(text, name), "not whole (2.5)", "classes are text, whole numbers or true/false")


def test_all_unusable_columns_are_named_at_once(write, tmp_path):
    frame = pd.DataFrame(
        {
            "ok": np.arange(60.0),
            "span": pd.to_timedelta(np.arange(60), unit="D"),
            "Fee": [1.0, np.inf] * 30,
            "y": np.arange(60) % 2,
        }
    )
    frame.to_parquet(path := tmp_path / "t.parquet")
    spare = ["span", "Fee"]
    fails(path, "2 columns", "'span' (type timedelta", "'Fee' (30 infinite)", f"drop={spare!r}")
    assert read_table(path, drop=spare)[2] == ["ok"]
    text = "fee;size;y\n" + "".join(f"inf;{1 + i},500;{i % 2}\n" for i in range(60)) + "0;1;1\n"
    needle = "'size' (commas of decimals or of thousands, '1,500' (first in data row 1))"
    fails(write(text), needle, "drop=['fee']")


def test_nothing_left_to_learn_from(write):
    text = "id,one,none,y\n" + "".join(f"{i},7,,{i % 2}\n" for i in range(60))
    reasons = ("'id' seems to number", "'one' has only one", "'none' has")
    fails(write(text), "no column is left", *reasons)


def test_dates_are_no_labels(tmp_path):
    path = tmp_path / "t.parquet"
    days = pd.to_datetime(["2020-01-01", "2020-01-02"])
    pd.DataFrame({"day": days, "y": [0, 1]}).to_parquet(path)
    fails(path, "'day'", "datetime64", target="day")


def test_number_of_classes(write):
    fails(write("a,y\n1,x\n2,x\n"), "'y'", "one class only ('x')", "last column")
    fails(write("y,a\n1,0\n2,1\n3,0\n"), "'y'", "3 classes in 3 rows (1, 2, 3)", target="y")
    fails(write("y,a\n" + "".join(f"{i},0\n" for i in range(9))), "9 classes", "…", target="y")
    assert read_table(write("a,y\n" + "1,x\n2,y\n3,z\n" * 2))[1].tolist() == ["x", "y", "z"] * 2
    fails(write("1 1:2\n1 1:3\n", "t.svm"), "one class only")


def test_malformed_svmlight_names_the_line(write):
    fails(write("1 1:2\n-1 1=3\n", "t.svm"), "line 2", "1=3", "index:value")
    fails(write("# nothing\n", "t.svm"), "no rows")


def test_malformed_parquet(write):
    fails(write("PAR1 not really", "t.parquet"), "not a sound Parquet file")


def test_other_workbooks_and_archives(tmp_path):
    for name, needle in {"t.ods": "OpenDocument workbook", "t.zip": "zip of 2 files ('a'"}.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in ("mimetype",) if name == "t.ods" else ("a", "b"):
                archive.writestr(member, "something")
        fails(tmp_path / name, needle)
    (tmp_path / "t.xls").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    fails(tmp_path / "t.xls", "is an old Excel workbook; save it as .xlsx or CSV")


def test_workbooks_that_are_none(tmp_path):
    pytest.importorskip("openpyxl")
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    fails(tmp_path / "t.xlsx", "is not a sound Excel workbook")
    (tmp_path / "text.xlsx").write_text("a,y\n1,2\n")
    fails(tmp_path / "text.xlsx", "is not a sound Excel workbook")


@pytest.mark.parametrize("magic", [b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0"])
def test_packed_files_that_are_cut_short(tmp_path, magic):
    (tmp_path / "cut.csv").write_bytes(magic + b" cut short")
    fails(tmp_path / "cut.csv", "damaged or cut short")


def test_zips_with_a_password_or_an_unknown_method(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("t.csv", "a,y\n1,0\n2,1\n")
    content = bytearray(file.getvalue())
    central = content.index(b"PK\x01\x02")
    for offset, value, needle in ((6, 1, "password"), (8, 99, "compression")):
        forged = bytearray(content)
        forged[offset] = forged[central + offset + 2] = value
        (tmp_path / "t.zip").write_bytes(forged)
        fails(tmp_path / "t.zip", needle, "unpack it first")


def test_binary_files(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,y\n1,0\n\0\1,1\n")
    fails(tmp_path / "t.csv", "is not a text file")
    (tmp_path / "t.feather").write_bytes(b"ARROW1 not really")
    fails(tmp_path / "t.feather", "not a sound Arrow file")


def test_a_first_line_without_end(write):
    fails(write('"' + "x" * 200_000 + "\n1,2\n"), "line 1", "check the quotes")


@pytest.mark.parametrize("index", ["2000000000", "16777217", "99999999999", "0" * 9 + "9" * 5_000])
def test_indices_too_large_for_a_model(write, index):
    rows = "# 99999999999:1\n" + "".join(f"{i % 2} 1:{i} 16777216:1\n" for i in range(6))
    with opened_data(write(rows, "t.svm")) as file:
        assert [part.X.shape for part in svmlight_blocks(file, None)] == [(6, 2**24 + 1)]
    fails(write(f"{rows}1 qid:99999999999 {index}:1\n", "t.svm"), "line 8: index", "without gaps")


def test_more_classes_than_a_model_can_have(write):
    lines = [f"{i % 7},{i // 2}\n" for i in range(20_000)]
    fails(write("a,y\n" + "".join(lines)), "10,000 classes", "name the column with target=")
    fails(
        write("".join(f"{i // 2} 1:{i % 7}\n" for i in range(20_000)), "t.svm"),
        "10,000 classes, and a file may have 1,000",
    )
    _, y, _ = read_table(write("a,y\n" + "".join(lines[:2_000])))
    assert len(set(y)) == 1_000
