"""Files that are read, with a warning where something else may be meant."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from bblr.io import read_table
from bblr.io.columns.column_choice import numbers_rows


@pytest.fixture
def write(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def read_with_warnings(path, *needles, **options):
    """One warning names the path and everything in `needles`."""
    with pytest.warns(UserWarning) as caught:
        found = read_table(path, **options)
    assert len(caught) == 1
    for needle in (str(path), *needles):
        assert needle in str(caught[0].message)
    return found


# --- decimal commas ---------------------------------------------------------------------------


@pytest.mark.parametrize("sep", [";", "\t"])
def test_decimal_commas_are_read(write, sep):
    text = "a;b;c;y\n7;1,234;u;0\n93,5;-2,5E+03;v;0\n;+0,5;u;1\n2,25;3;u;1\n".replace(";", sep)
    X, y, names = read_with_warnings(write(text), "decimal commas", "columns 'a', 'b'")
    assert names == ["a", "a missing", "b", "c=v"]
    assert_array_equal(X[:, 0], [7, 93.5, 7, 2.25])
    assert_array_equal(X[:, 2], [1.234, -2500, 0.5, 3])
    assert y.tolist() == [0, 0, 1, 1]


def test_a_table_is_the_same_with_commas_and_points(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.integers(9, size=40) / 8})
    frame["y"] = np.where(frame["a"] > 0, "u", "v")
    frame.to_csv(tmp_path / "points.csv", index=False)
    frame.to_csv(tmp_path / "commas.csv", index=False, sep=";", decimal=",")
    points = read_table(tmp_path / "points.csv")
    commas = read_with_warnings(tmp_path / "commas.csv", "columns 'a', 'b'")
    np.testing.assert_allclose(commas[0], points[0], rtol=1e-15)
    assert_array_equal(commas[1], points[1])


@pytest.mark.parametrize(
    "text",
    [
        "a;y\n1,234;0\n2,500;1\n10,000;1\n",  # thousands, perhaps
        "a;b;y\n1,5;1.5;0\n2,5;2;1\n3,5;1;1\n",  # points elsewhere
        "a;y\n1,5;0\n2.5;1\n3,5;1\n",  # and here
        "a;y\n1,5;0\n2,5;1\nx;1\n4,5;1\n",
        "a;y\n1.234,5;0\n2.500;1\n",  # and thousands
        "a;y\n1.23,5;0\n2,5;1\n3,5;1\n",
        'a,y\n"1,5",0\n"2,5",1\n3,1\n',  # separated by commas
    ],
)
def test_commas_that_may_mean_something_else_are_refused(write, text):
    with pytest.raises(ValueError, match=r"column 'a' looks like numbers, but .* decimal point"):
        read_table(write(text))


def test_points_may_separate_thousands_beside_decimal_commas(write):
    text = "a;y\n1.234,50;0\n-1.234.567,5;1\n99,90;1\n7;0\n"
    X, _, _ = read_with_warnings(write(text), "column 'a'")
    assert X.ravel().tolist() == [1234.5, -1234567.5, 99.9, 7]


def test_labels_with_commas_stay_text(write):
    text = "a;y\n1,5;1,2\n2,5;1,3\n3;1,2\n4;1,3\n"
    assert read_with_warnings(write(text), "column 'a'")[1].tolist() == ["1,2", "1,3"] * 2


# --- blanks and letter case -------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_blanks_around_texts_do_not_count(tmp_path, ending):
    frame = pd.DataFrame({"t": ["u ", "u", " v", "v"], "y": ["spam", "spam ", " ham", "ham\t"]})
    path = tmp_path / f"t.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    X, y, names = read_table(path)
    assert y.tolist() == ["spam", "spam", "ham", "ham"]
    assert names == ["t=v"] and X.ravel().tolist() == [0, 0, 1, 1]


def test_a_label_of_blanks_is_missing(write):
    with pytest.raises(ValueError, match=r"1 missing value\(s\), in data row 2;"):
        read_table(write('a,y\n1,u\n2,"  "\n3,v\n4,u\n'))


def test_texts_that_differ_in_letter_case_are_named(write):
    text = "a,y\n" + "1,spam\n2,Spam\n3,ham\n4,SPAM \n" * 2
    _, y, _ = read_with_warnings(write(text), "classes in target column 'y'", "'SPAM' and 'Spam'")
    assert sorted(set(y.tolist())) == ["SPAM", "Spam", "ham", "spam"]
    text = "a,y\nNew York,0\nnew  york,1\nBonn,1\n"
    read_with_warnings(write(text), "texts in column 'a'", "'New York' and 'new  york'")


@pytest.mark.parametrize("cells", ["5% 10% 7.5%", "$5 $1,037 -$9", "1,5€ 2€ 3€"])
def test_numbers_with_signs_are_named(write, cells):
    text = "a;y\n" + "".join(f"{cell};{i % 2}\n" for i, cell in enumerate(cells.split()))
    read_with_warnings(
        write(text), "'a' is treated as text, with a category for each of its 3 values"
    )
    read_table(write(text), category=["a"])  # who says so need not be told
    for sign in "%$€":
        text = text.replace(sign, "u")
    read_table(write(text))


# --- numbers of rows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "numbers",
    [
        np.arange(60),
        np.arange(60)[::-1] * 17 + 5,
        np.random.default_rng(0).permutation(60) + 1000,
        np.random.default_rng(0).permutation(100)[:60],
        np.array([-(2**63), *range(58), 2**63 - 1]),
    ],
    ids=["rising", "falling", "shuffled", "a sample", "wide"],
)
def test_a_column_that_numbers_the_rows_is_named(tmp_path, numbers):
    frame = pd.DataFrame({"id": numbers, "a": np.arange(60) % 7, "y": np.arange(60) % 2})
    frame.to_csv(path := tmp_path / "t.csv", index=False)
    found = read_with_warnings(path, "'id' seems to number the rows", "use number='id'")
    assert found[2] == read_table(path, drop=["id"])[2] == ["a"]
    X, _, names = read_table(path, number=["id"])
    assert names == ["id", "a"] and X[:, 0].tolist() == numbers.astype(float).tolist()
    frame.assign(no=numbers)[["id", "a", "no", "y"]].to_csv(path, index=False)
    read_with_warnings(path, "columns 'id', 'no' seem", "number=['id', 'no']")


@pytest.mark.parametrize(
    "numbers",
    [
        np.arange(60) / 2,
        np.arange(60) // 2,
        np.random.default_rng(0).permutation(1000)[:60],
        np.random.default_rng(0).integers(0, 119, 60),
        np.array([None, *range(59)], dtype=object),
    ],
    ids=["floats", "twice", "sparse", "by chance", "gaps"],
)
def test_other_numbers_are_not(tmp_path, numbers):
    frame = pd.DataFrame({"id": numbers, "y": np.arange(60) % 2})
    frame.to_csv(path := tmp_path / "t.csv", index=False)
    read_table(path)
    frame = pd.DataFrame({"id": np.arange(29), "y": np.arange(29) % 2})
    frame.to_csv(path, index=False)
    read_table(path)


def test_dates_in_several_formats_are_named(write):
    text = "a;y\n1.2.2026;0\n31.12.25;1\n9.9.2024;0\n"
    read_with_warnings(
        write(text), "'a' is treated as text, with a category for each", "dates in one format"
    )
    read_table(write(text.replace("6", "u").replace("2", "v")))


@pytest.mark.parametrize("mark", ["?", "NA", "", "null"])
def test_texts_that_stand_for_nothing_are_gaps_in_every_format(tmp_path, mark):
    frame = pd.DataFrame({"t": ["u", mark, "v", "w"], "y": ["a", "b", "a", "b"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    one, two = (read_table(tmp_path / f"t.{ending}") for ending in ("csv", "parquet"))
    np.testing.assert_array_equal(one[0], two[0])
    assert one[2] == two[2] and any("missing" in name for name in one[2])


def test_cells_that_are_lists_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"t": [[1], [2, 3], [4], [5]], "y": list("abab")}).to_parquet(path)
    with pytest.raises(ValueError, match="column 't' is of type object"):
        read_table(path)


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=60).map(np.array))
def test_numbers_of_rows_all_differ(values):
    if numbers_rows(values):
        assert len(set(values.tolist())) == len(values) >= 30
