import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from bblr.datasets import load_uci
from bblr.evaluation import NOISE_PROTOCOLS, add_noise

UNIFORM = ("uniform-one-class", "uniform-random")


def data(n=60, d=3, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * 10.0 ** np.arange(d) - 5.0).astype(dtype)
    return X, np.where(np.arange(n) % 3, 1, -1)


def box(X):
    low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    return low - (high - low) / 2, high + (high - low) / 2


# --- the uniform protocols ------------------------------------------------------------------


@settings(max_examples=60)
@given(
    n=st.integers(2, 90),
    d=st.integers(1, 4),
    percent=st.integers(0, 100),
    protocol=st.sampled_from(UNIFORM),
    seed=st.integers(0, 2**32 - 1),
)
def test_uniform_keeps_the_clean_rows_and_stays_in_its_box(n, d, percent, protocol, seed):
    X, y = data(n, d, seed=seed)
    X_before, y_before = X.copy(), y.copy()
    X_noisy, y_noisy, index = add_noise(
        X,
        y,
        protocol=protocol,
        fraction=percent / 100,
        random_state=seed,
        return_index=True,
    )
    n_noise = n * percent // 100
    assert X_noisy.shape == (n + n_noise, d) and y_noisy.shape == (n + n_noise,)
    assert_array_equal(X_noisy[:n], X)
    assert_array_equal(y_noisy[:n], y)
    assert_array_equal(index, np.arange(n, n + n_noise))
    low, high = box(X)
    slack = 1e-12 * (high - low)
    assert np.all(X_noisy[n:] >= low - slack) and np.all(X_noisy[n:] <= high + slack)
    assert set(y_noisy[n:].tolist()) <= set(y.tolist())
    assert_array_equal(X, X_before)
    assert_array_equal(y, y_before)


@pytest.mark.parametrize("protocol", UNIFORM)
def test_noise_fills_the_box(protocol):
    X, y = data(20_000)
    X_noisy, _ = add_noise(X, y, protocol=protocol, fraction=1.0, random_state=0)
    low, high = box(X)
    unit = (X_noisy[len(X) :] - low) / (high - low)
    assert np.all(unit.min(axis=0) < 1e-3) and np.all(unit.max(axis=0) > 1 - 1e-3)
    assert np.allclose(unit.mean(axis=0), 0.5, atol=0.01)
    assert np.allclose(unit.var(axis=0), 1 / 12, atol=0.002)
    assert np.allclose(np.corrcoef(unit.T), np.eye(3), atol=0.03)


def test_one_class_takes_the_larger_label():
    X, y = data()
    y_noisy = add_noise(X, y, fraction=0.5)[1]
    assert set(y_noisy[len(y) :].tolist()) == {1}
    names = np.where(y == 1, "healthy", "ill")
    assert set(add_noise(X, names, fraction=0.5)[1][len(y) :].tolist()) == {"ill"}


def test_one_class_is_the_class_nguyen_and_sanner_label_plus_one():
    X, y = load_uci("pima", return_X_y=True)
    X_noisy, y_noisy = add_noise(X, y, random_state=0)
    assert len(X_noisy) == 768 + 76
    assert set(y_noisy[768:].tolist()) == {1}


def test_random_labels_are_fair_and_cover_many_classes():
    X, _ = data(9_000)
    y = np.array(["a", "b", "c"])[np.minimum(np.arange(9_000) // 100, 2)]
    y_noisy = add_noise(X, y, protocol="uniform-random", fraction=1.0, random_state=1)[1]
    _, counts = np.unique(y_noisy[9_000:], return_counts=True)
    assert np.all(np.abs(counts - 3_000) < 200)


def test_uniform_protocols_share_their_points():
    X, y = data()
    one, random = (add_noise(X, y, protocol=p, random_state=3)[0] for p in UNIFORM)
    assert_array_equal(one, random)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_dtype_is_kept(dtype):
    X, y = data(dtype=dtype)
    X_noisy, y_noisy = add_noise(X, y.astype(np.int8), random_state=0)
    assert X_noisy.dtype == dtype
    assert y_noisy.dtype == np.int8


def test_whole_numbers_get_the_noise_of_their_floats():
    X, y = data()
    X = X.astype(int)
    X_noisy = add_noise(X, y, random_state=0)[0]
    assert X_noisy.dtype == np.float64
    assert_array_equal(X_noisy, add_noise(X.astype(float), y, random_state=0)[0])


def test_constant_feature_stays_constant():
    X, y = data()
    X[:, 1] = 7.0
    assert_array_equal(add_noise(X, y)[0][:, 1], 7.0)


# --- label-flip -----------------------------------------------------------------------------


@settings(max_examples=60)
@given(n=st.integers(2, 90), percent=st.integers(0, 100), seed=st.integers(0, 2**32 - 1))
def test_flip_turns_exactly_so_many_labels(n, percent, seed):
    X, y = data(n)
    y = np.where(y == 1, "yes", "no")
    before = y.copy()
    X_same, y_flipped, index = add_noise(
        X,
        y,
        protocol="label-flip",
        fraction=percent / 100,
        random_state=seed,
        return_index=True,
    )
    assert X_same is X
    assert_array_equal(np.flatnonzero(y_flipped != y), index)
    assert len(index) == n * percent // 100
    assert set(y_flipped.tolist()) <= {"yes", "no"}
    assert_array_equal(y, before)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, pd.DataFrame, pl.DataFrame])
def test_flip_hands_any_X_through(make):
    X, y = data()
    X = make(X)
    assert add_noise(X, y, protocol="label-flip")[0] is X


def test_flipped_labels_of_many_classes_become_any_other():
    y = np.array(["a", "b", "c", "d"] * 500)
    _, flipped, index = add_noise(
        np.zeros((2000, 1)), y, protocol="label-flip", fraction=0.3, random_state=0,
        return_index=True,
    )  # fmt: skip
    assert len(index) == 600
    np.testing.assert_array_equal(np.flatnonzero(flipped != y), index)
    for label in "abcd":
        counts = [int(((y == label) & (flipped == other)).sum()) for other in "abcd"]
        others = [n for n, other in zip(counts, "abcd", strict=True) if other != label]
        assert min(others) > 25


# --- all protocols --------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", NOISE_PROTOCOLS)
def test_seeds(protocol):
    def noise(state):
        X, y = data()
        X_noisy, y_noisy = add_noise(X, y, protocol=protocol, fraction=0.5, random_state=state)
        return X_noisy.tobytes() + y_noisy.tobytes()

    assert noise(5) == noise(5) == noise(np.random.RandomState(5))
    assert noise(5) != noise(6)
    assert noise(np.random.default_rng(5)) == noise(np.random.default_rng(5))
    assert noise(None) != noise(None)


@pytest.mark.parametrize("protocol", NOISE_PROTOCOLS)
def test_no_noise(protocol):
    X, y = data()
    X_same, y_same, index = add_noise(X, y, protocol=protocol, fraction=0, return_index=True)
    assert_array_equal(X_same, X)
    assert_array_equal(y_same, y)
    assert len(index) == 0


@pytest.mark.parametrize("fraction", [0.29, 0.57, 0.58])
def test_rounding_does_not_lose_a_row(fraction):
    X, y = data(100)
    assert fraction * 100 != round(fraction * 100)
    assert len(add_noise(X, y, fraction=fraction)[0]) == 100 + round(fraction * 100)


@pytest.mark.parametrize("protocol", UNIFORM)
def test_pandas_gives_what_arrays_give(protocol):
    X, y = data()
    frame = pd.DataFrame(X, columns=["p", "q", "r"], index=np.arange(60) * 7 + 1)
    frame = frame.assign(q=frame.q.astype(np.float32), r=frame.r.astype(int))
    series = pd.Series(np.where(y == 1, "b", "a"), index=frame.index, name="kind")
    X_noisy, y_noisy = add_noise(frame, series, protocol=protocol, random_state=2)
    X_array, y_array = add_noise(
        frame.to_numpy(), series.to_numpy(), protocol=protocol, random_state=2
    )
    assert list(X_noisy.columns) == ["p", "q", "r"]
    assert [str(t) for t in X_noisy.dtypes] == ["float64", "float32", "float64"]
    np.testing.assert_allclose(X_noisy, X_array, rtol=1e-6)
    assert y_noisy.name == "kind" and y_noisy.dtype == series.dtype
    assert_array_equal(y_noisy, y_array)
    assert_array_equal(X_noisy.index, np.arange(66))
    assert_array_equal(y_noisy.index, np.arange(66))


def test_flipped_series_keeps_its_index_and_categories():
    X, y = data()
    series = pd.Series(y, index=np.arange(60)[::-1]).astype("category")
    flipped = add_noise(X, series, protocol="label-flip", random_state=0)[1]
    assert flipped.dtype == series.dtype
    assert_array_equal(flipped.index, series.index)
    assert (flipped.astype(int) != series.astype(int)).sum() == 6


def test_lists_and_polars_are_taken():
    X, y = data()
    expected = add_noise(X, y, random_state=0)
    for X_given, y_given in [(X.tolist(), y.tolist()), (pl.DataFrame(X), pl.Series(y))]:
        for got, want in zip(add_noise(X_given, y_given, random_state=0), expected, strict=True):
            assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocol": "gaussian"}, r"protocol='gaussian'.*'uniform-one-class'"),
        ({"fraction": -0.1}, r"fraction=-0\.1"),
        ({"fraction": 1.5}, r"fraction=1\.5"),
        ({"fraction": float("nan")}, "fraction=nan"),
        ({"fraction": "0.1"}, "fraction='0.1'"),
        ({"y": np.ones(60)}, r"y holds one class only \(1.0\)"),
        ({"X": None, "protocol": "label-flip"}, "X must hold rows, got NoneType"),
        ({"y": np.where(np.arange(60) == 3, np.nan, np.arange(60) % 2)}, "y holds missing"),
        ({"y": []}, "y is empty"),
        ({"y": np.zeros((60, 2))}, r"y must have shape \(n,\)"),
        ({"y": np.arange(59) % 2}, "X has 60 rows and y 59"),
        ({"X": sparse.eye(60, format="csr")}, r"X is sparse.*toarray.*label-flip"),
        ({"X": np.arange(60.0)}, "X must have two dimensions"),
        ({"X": np.full((60, 1), np.nan)}, "X holds nan"),
        ({"X": np.full((60, 1), "a")}, "X must hold numbers"),
        ({"X": np.resize([-1.7e308, 1.7e308], (60, 1))}, "rescale"),
        ({"protocol": "label-flip", "y": np.arange(59) % 2}, "X has 60 rows and y 59"),
    ],
)
def test_errors_name_the_parameter(change, message):
    X, y = data()
    given = {"X": X, "y": y, **change}
    with pytest.raises(ValueError, match=message):
        add_noise(given.pop("X"), given.pop("y"), **given)
