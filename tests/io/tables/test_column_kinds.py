"""What columns are taken for, and how to say otherwise."""

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bblr.io import read_table
from bblr.io.columns.cell_values import is_number
from bblr.io.columns.table_encoder import TableEncoder
from tests.cli.conftest import FAST, bblr

N = 90
RNG = np.random.default_rng(0)


def encoded(values, **options):
    encoder = TableEncoder(**options).fit(pd.DataFrame({"a": values}))
    return encoder, encoder.transform(pd.DataFrame({"a": values}))


# --- dates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y",
     "%d-%b-%Y", "%b %d, %Y", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p",
     "%Y-%m-%d %H:%M:%S+02:00"],
)  # fmt: skip
def test_dates_in_any_one_format(form):
    days = pd.Series(pd.date_range("2023-11-05", periods=N, freq="17h"))
    if ":" not in form:
        days = days.dt.normalize()
    encoder, X = encoded(days.dt.strftime(form))
    names = encoder.get_feature_names_out().tolist()
    days -= pd.Timedelta(hours=2) if "+02" in form else pd.Timedelta(0)
    assert names[:5] == ["a days", "a year", "a month", "a day", "a weekday"]
    assert (names[5:] == ["a hour"]) == (":" in form)
    np.testing.assert_array_equal(X[:, 2], days.dt.month)
    np.testing.assert_array_equal(X[:, 4], days.dt.day_of_week)
    np.testing.assert_allclose(np.diff(X[:, 0]), days.diff()[1:].dt.total_seconds() / 86400)


def test_days_before_months_where_no_other_reading_fits():
    cells = ["03/04/2020", "05/06/2020", "25/06/2020"]
    assert encoded(cells)[1][:, 2].tolist() == [3, 5, 25]
    assert encoded([*cells[:2], "06/25/2020"])[1][:, 2].tolist() == [4, 6, 25]


@pytest.mark.parametrize(
    "values",
    [
        pd.date_range("2024-01-01", periods=N, tz="Europe/Berlin"),
        [dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(N)],
        [dt.datetime(2024, 1, 1, i % 24) for i in range(N)],
    ],
    ids=["zone", "date", "datetime"],
)
def test_dates_that_are_no_texts(values):
    encoder, X = encoded(values)
    assert "a days" in encoder.get_feature_names_out()
    text = pd.Series(values).astype(str)
    np.testing.assert_array_equal(X, encoder.transform(pd.DataFrame({"a": text})))


@pytest.mark.parametrize(
    "cells",
    [["10-20", "20-30", "30-40"], ["1.2.3", "2.1.0", "1.10.2"], ["10:30", "11:00", "9:15"],
     ["2020-01-01", "soon", "2020-01-03"], ["May", "June", "July"]],
)  # fmt: skip
def test_what_only_looks_like_dates_is_a_category(cells):
    assert len(encoded(cells * 30)[0].columns_[0].levels) == 3


def test_gaps_among_dates():
    days = pd.Series(pd.date_range("2024-01-01", periods=5)).mask(np.arange(5) == 4)
    encoder, X = encoded(days)
    assert encoder.get_feature_names_out()[-1] == "a missing" and X[4, -1] == 1
    np.testing.assert_array_equal(X[4, :-1], np.median(X[:4, :-1], axis=0))


# --- texts ------------------------------------------------------------------------------------


def test_texts_that_are_alike_get_alike_features():
    towns = [f"{stem}{i}" for i in range(20) for stem in ("harbour ", "mountain ", "valley ")] * 3
    encoder, X = encoded(towns)
    # Only directions in which texts differ, none of rounding errors.
    assert 10 < X.shape[1] <= 30 and X.std(axis=0).min() > 1e-3
    new = pd.DataFrame({"a": ["harbour 99", "valley of kings", "", "ÿ", None]})
    found = encoder.transform(new)
    assert np.isfinite(found).all() and not found[2].any() and not found[4].any()
    centre = [X[k::3].mean(axis=0) for k in range(3)]
    assert np.argmin(np.linalg.norm(centre - found[0], axis=1)) == 0
    assert np.argmin(np.linalg.norm(centre - found[1], axis=1)) == 2


def test_names_are_left_out_and_sentences_are_not():
    names = [f"Smith{i}, Anna" for i in range(N)]
    frame = pd.DataFrame({"who": names, "said": [f"this is claim number {i}" for i in range(N)]})
    encoder = TableEncoder().fit(frame)
    assert [(left.name, left.why) for left in encoder.left_out_] == [("who", "names")]
    assert encoder.get_feature_names_out()[0] == "said text 1"
    assert "who text 1" in TableEncoder(text=["who"]).fit(frame).get_feature_names_out()


def test_long_texts_take_little_memory():
    cells = [f"word{i} " * 20_000 if i == 3 else f"word{i} and {i}" for i in range(200)] * 2
    assert encoded(cells)[1].shape[0] == 400


# --- left out, and said otherwise -------------------------------------------------------------


def test_constant_and_empty_columns_are_left_out():
    frame = pd.DataFrame({"n": 3, "t": "x", "none": None, "gap": [1.0, None], "a": [1, 2]})
    encoder = TableEncoder().fit(frame)
    assert {left.name: left.why for left in encoder.left_out_} == {
        "n": "constant", "t": "constant", "none": "empty",
    }  # fmt: skip
    assert encoder.get_feature_names_out().tolist() == ["gap", "gap missing", "a"]
    assert any("columns 'n', 't' have only one value" in note for note in encoder.notes_)


@pytest.mark.parametrize("given", [["b,c"], ["b", "c"], ["b, c"], "b,c", ["b,c,"[:-1]]])
def test_columns_by_commas_or_one_by_one(write, given):
    path = write("a,b,c,y\n1,2,3,0\n2,3,4,1\n3,4,5,1\n")
    assert read_table(path, drop=given)[2] == ["a"]


def test_a_name_with_a_comma(write):
    path = write('a;"b,c";b;y\n1;2;3;0\n2;3;4;1\n3;4;5;1\n')
    assert read_table(path, drop=["b,c"])[2] == ["a", "b"]
    assert read_table(path, drop=["b,c", "b"])[2] == ["a"]


def test_every_kind_can_be_said(write):
    text = "n,zip,day,note,y\n" + "".join(
        f"{i},{i % 3:03d},{20240101 + i % 28},{'u' if i % 2 else 'v'},{i % 2}\n" for i in range(N)
    )
    options = {"number": ["n"], "category": ["zip"], "date": ["day"], "text": ["note"]}
    with pytest.warns(UserWarning, match="free text|dates in"):
        X, _, names = read_table(write(text), **options)
    assert names[:4] == ["n", "zip=000", "zip=001", "zip=002"]
    assert names[4:7] == ["day days", "day day", "day weekday"]
    assert names[7] == "note text 1" and X.shape == (N, len(names))


def test_what_is_said_must_be_there_and_make_sense(write):
    path = write("day,a,y\nx,1,0\ny,2,1\nz,3,1\n")
    for options, needle in (
        ({"text": ["dya"]}, "text='dya' is not a column of .*did you mean 'day'"),
        ({"date": ["day"]}, "'day' holds no dates in one format .*by text='day'"),
        ({"number": ["day"]}, "'day' looks like numbers, but 'x' .* is not one"),
        ({"text": ["a"], "category": ["a"]}, "text='a' is the category too; choose one"),
        ({"text": ["y"]}, "text='y' is the target too"),
        ({"drop": ["a,z"]}, "drop='z' is not a column"),
    ):
        with pytest.raises(ValueError, match=needle):
            read_table(path, **options)
    many = "c,y\n" + "".join(f"t{i},{i % 2}\n" for i in range(1001))
    with pytest.raises(ValueError, match="1,001 different values, and a category at most 1,000"):
        read_table(write(many), category=["c"])


# --- what frames may hold ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "int64[pyarrow]", "double[pyarrow]", "uint8", "float32"]
)
def test_numbers_of_every_type(dtype):
    values = pd.Series([3, 1, 2, 1] * 10).astype(dtype)
    np.testing.assert_array_equal(encoded(values)[1][:, 0], [3, 1, 2, 1] * 10)
    if dtype not in ("uint8", "float32"):
        gappy = values.mask(np.arange(40) == 0)
        np.testing.assert_array_equal(encoded(gappy)[1][0], [1, 1])


@pytest.mark.parametrize("dtype", ["str", "string", "string[pyarrow]", "category", object])
def test_texts_of_every_type(dtype):
    values = pd.Series(["u", "v", "w", None] * 5).astype(dtype)
    encoder, X = encoded(values)
    assert encoder.get_feature_names_out().tolist() == ["a=u", "a=v", "a=w", "a missing"]
    np.testing.assert_array_equal(X[:4], np.eye(4))


@pytest.mark.parametrize("dtype", ["bool", "boolean", "bool[pyarrow]", object])
def test_flags_of_every_type(dtype):
    encoder, X = encoded(pd.Series([True, False, True] * 5).astype(dtype))
    assert encoder.columns_[0].kind == "flag" and X[:3, 0].tolist() == [1, 0, 1]


def test_odd_objects():
    assert encoded([Decimal("1.5"), Decimal("2"), None])[1][:2, 0].tolist() == [1.5, 2]
    assert encoded([10**30 * (i + 1) for i in range(40)])[1][0, 0] == 1e30
    for values in (
        [[1], [2]],
        [{"a": 1}, {"a": 2}],
        [b"x", b"y"],
        [1j, 2j],
        [dt.time(1), dt.time(2)],
    ):
        with pytest.raises(ValueError, match=r"column 'a' is of type .* by drop='a'"):
            encoded(values)
    assert encoded([1, "x", "u"] * 3)[0].columns_[0].levels == ("1", "u", "x")


def test_huge_whole_numbers_in_csv(write):
    path = write("a,y\n" + "".join(f"{10**25 + 10**20 * (i % 60)},{i % 2}\n" for i in range(120)))
    assert read_table(path)[0].max() == pytest.approx(10**25 + 59 * 10**20)


def test_the_encoder_is_a_transformer():
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    frame = pd.DataFrame({0: RNG.normal(size=N), "t": RNG.choice(["u", "v"], N)})
    y = (frame[0] > 0).to_numpy()
    model = clone(make_pipeline(TableEncoder(unseen="zero"), LogisticRegression())).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert model[:-1].get_feature_names_out().tolist() == ["0", "t=v"]
    assert model.predict(frame.assign(t="w")).shape == (N,)
    strict = clone(model[0]).set_params(unseen="error").fit(frame)
    with pytest.raises(ValueError, match="column 't' holds 'w' in data row 0"):
        strict.transform(frame.assign(t="w"))


# --- numbers as Python writes them, and pandas does not -----------------------------------------


@given(
    st.text("0123456789+-.eE_ infatyINFx１²,\N{NO-BREAK SPACE}\N{MINUS SIGN}", min_size=1)
    | st.sampled_from(["inf", "-Infinity", "1e400", "1.", ".5", "1e", "1_0", "１２", "nan", "0x1"])
)
def test_a_text_is_a_number_where_pandas_says_so(text):
    text = text.strip()
    number = pd.to_numeric(pd.Series([text], dtype=object), errors="coerce").notna().all()
    assert is_number(text) == number


@pytest.mark.parametrize("cell", ["1_000", "１２", "1 000", "12\N{NO-BREAK SPACE}000"])
def test_a_cell_that_only_looks_like_a_number_is_named(folder, cell):
    rows = RNG.normal(size=(40, 2)).round(3).astype(object)
    lines = [f"{a},{b},{'yes' if a > 0 else 'no'}" for a, b in rows.tolist()]
    Path("right.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    lines[20] = f"{cell},{lines[20].partition(',')[2]}"
    Path("wrong.csv").write_text("\n".join(["a,b,y", *lines]) + "\n", "utf-8")
    named = re.escape(repr(cell))
    with pytest.raises(
        ValueError, match=rf"column 'a' looks like .*{named} \(first in data row 21"
    ):
        read_table("wrong.csv")
    assert read_table("wrong.csv", category=["a"])[0].shape[1] > 30
    assert bblr("fit", "right.csv", "--model", "m.bblr", *FAST).exit_code == 0
    result = bblr("predict", "m.bblr", "wrong.csv")
    assert result.exit_code == 2
    assert f"column 'a' holds {cell!r} in data row 21, but the model learned" in result.stderr


def test_digits_of_other_scripts_are_no_decimal_commas(write):
    rows = "".join(f"{i},5;{'１,２' if i == 3 else '2,7'};{i % 2}\n" for i in range(8))
    with pytest.raises(ValueError, match="'１,２'"):
        read_table(write("a;b;y\n" + rows, encoding="utf-8"), number=["b"])
