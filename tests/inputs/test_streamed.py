"""Classifiers on memory maps and shards: the same fits, and errors that say what is wrong."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import ShuffleSplit

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    Shards,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.designs import StreamedDesign
from bblr.designs.stream import mapped, parquet
from bblr.inputs import disk

N, D = 400, 4
X, TWO = make_classification(N, D, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
THREE = np.where(X[:, 0] > 0.8, 2, TWO)
NAMES = [f"x{j}" for j in range(D)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Every map is large, and blocks have a few rows."""
    for module in (mapped, parquet):
        monkeypatch.setattr(module, "BLOCK_BYTES", 8 * D * 37)
    monkeypatch.setattr(disk, "LEAST_BYTES", 0)


def map_of(path, array=X, order="C"):
    np.save(path / "X.npy", np.array(array, order=order))
    return np.load(path / "X.npy", mmap_mode="r")


def npy_of(path, array=X):
    for k, part in enumerate(np.split(array, [90, 90, 300])):
        np.save(path / f"X-{k}.npy", part)
    return path


def parquet_of(path, y=TWO, **columns):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    for k, rows in enumerate(np.split(np.arange(N), [90, 90, 300])):
        data = {name: X[rows, j] for j, name in enumerate(NAMES)}
        data |= {"label": np.asarray(y)[rows]}
        data |= {name: [values[i] for i in rows] for name, values in columns.items()}
        write_table(pa.table(data), path / f"X-{k}.parquet", row_group_size=50)
    return path


INPUTS = {
    "map": map_of,
    "column-major map": lambda path: map_of(path, order="F"),
    "every other row": lambda path: map_of(path, np.repeat(X, 2, axis=0))[::2],
    "npy directory": npy_of,
    "npy directory by its name": lambda path: str(npy_of(path)),
    "npy shards": lambda path: Shards(npy_of(path)),
    "Parquet": lambda path: Shards(parquet_of(path), columns=NAMES),
}


@pytest.fixture(params=INPUTS)
def stored(request, tmp_path):
    return INPUTS[request.param](tmp_path)


@pytest.fixture
def streamed(monkeypatch):
    """How many designs of a fit were streamed: a test that streams nothing shows nothing."""
    seen = []
    original = disk.streamed_training
    monkeypatch.setattr(disk, "streamed_training", lambda *a: seen.append(1) or original(*a))
    return seen


def objective(model):
    return model.path_[-1].value


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_fit_is_the_one_in_memory(stored, y, streamed):
    names = getattr(stored, "feature_names", None)
    weight = np.where(np.arange(N) < 80, 0.0, 1.0 + np.arange(N) % 3)
    mine = BBLRClassifier(leverage=3.0).fit(stored, y, weight)
    theirs = BBLRClassifier(leverage=3.0).fit(X, y, weight)
    assert len(streamed) == 1
    assert objective(mine) == pytest.approx(objective(theirs), rel=1e-8)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-5)
    for method in ("decision_function", "predict_proba", "predict"):
        found = getattr(mine, method)(stored)
        assert type(found) is np.ndarray
        if names is None:
            np.testing.assert_allclose(found, getattr(mine, method)(X), rtol=1e-12)
    assert mine.n_features_in_ == D
    assert hasattr(mine, "feature_names_in_") is (names is not None)


@pytest.mark.parametrize("solver", ["fisher", "lbfgs", "sla", "search"])
def test_every_solver_streams(tmp_path, solver):
    settings = {"solver": solver, "random_state": 0}
    rows = slice(60 if solver == "search" else N)
    mine = BBLRClassifier(**settings).fit(map_of(tmp_path)[rows], TWO[rows])
    theirs = BBLRClassifier(**settings).fit(X[rows], TWO[rows])
    assert objective(mine) == pytest.approx(objective(theirs), rel=1e-8)


@pytest.mark.parametrize(
    ("kind", "n_jobs"), [("map", None), ("map", 2), ("npy directory", 2), ("Parquet", 2)]
)
def test_cross_validation_streams(tmp_path, n_jobs, kind, streamed):
    folds = ShuffleSplit(2, random_state=0)
    settings = {"cv": folds, "prior": "robust", "gamma_limit": 2.0, "leverage": None}
    mine = BBLRClassifierCV(n_jobs=n_jobs, **settings).fit(INPUTS[kind](tmp_path), TWO)
    theirs = BBLRClassifierCV(**settings).fit(X, TWO)
    assert streamed
    assert objective(mine) == pytest.approx(objective(theirs), rel=1e-8)
    assert [t.error for t in mine.trials_] == pytest.approx([t.error for t in theirs.trials_])


def test_small_maps_are_arrays_as_before(tmp_path, monkeypatch, streamed):
    monkeypatch.setattr(disk, "LEAST_BYTES", X.nbytes)
    BBLRClassifier().fit(map_of(tmp_path), TWO)
    assert not streamed


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float16, ">f4"])
def test_maps_of_other_numbers(tmp_path, dtype, streamed):
    numbers = (X * 20 + 100).clip(0, 120).astype(dtype)
    mine = BBLRClassifier().fit(map_of(tmp_path, numbers), TWO)
    assert streamed
    theirs = BBLRClassifier().fit(numbers.astype(np.float64), TWO)
    assert objective(mine) == pytest.approx(objective(theirs), rel=1e-8)


def test_labels_in_a_column(tmp_path):
    words = np.array(["no", "yes"])[TWO]
    model = BBLRClassifier().fit(parquet_of(tmp_path, words), "label")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == NAMES
    theirs = BBLRClassifier().fit(X, words)
    assert objective(model) == pytest.approx(objective(theirs), rel=1e-8)
    # The label, and any other column the model does not know, is left unread.
    np.testing.assert_array_equal(model.predict(tmp_path), theirs.predict(X))
    labels = Shards(tmp_path, label="label").labels()
    np.testing.assert_array_equal(labels, words)
    assert model.score(tmp_path, labels) == theirs.score(X, words)


def test_columns_of_a_dictionary_as_labels(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    words = pa.array(np.array(["a", "b"])[TWO]).dictionary_encode()
    write_table(pa.table({"x": X[:, 0], "label": words}), tmp_path / "one.parquet")
    model = BBLRClassifier().fit(tmp_path / "one.parquet", "label")
    assert model.classes_.tolist() == ["a", "b"]


def test_a_fitted_model_holds_no_rows(stored):
    model = BBLRClassifier().fit(stored, TWO)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert b"X.npy" not in pickle.dumps(model) and b"X-0" not in pickle.dumps(model)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("save", [map_of, npy_of])
def test_numbers_that_are_none_are_refused(tmp_path, bad, save):
    model = BBLRClassifier().fit(X, TWO)
    spoilt = X.copy()
    spoilt[200, 1] = bad
    what = "NaN" if np.isnan(bad) else "infinity"
    weight = np.ones(N)
    weight[200] = 0.0  # as in memory, even where a row does not count
    with pytest.raises(ValueError, match=f"Input X contains {what}[^$]*among the rows"):
        BBLRClassifier().fit(save(tmp_path, spoilt), TWO, weight)
    with pytest.raises(ValueError, match=f"Input X contains {what}"):
        model.predict(tmp_path / "X.npy" if save is map_of else tmp_path)


def test_a_failed_fit_leaves_the_model_as_it_was(tmp_path):
    model = BBLRClassifier().fit(X, TWO)
    spoilt = np.column_stack([X, np.full(N, np.nan)])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(map_of(tmp_path, spoilt), TWO)
    assert model.n_features_in_ == D


@pytest.mark.parametrize("rows", [N - 1, N + 1])
def test_labels_must_be_as_many_as_rows(tmp_path, rows):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BBLRClassifier().fit(npy_of(tmp_path), np.arange(rows) % 2)


def test_missing_labels_are_refused(tmp_path):
    with pytest.raises(ValueError, match="requires y"):
        BBLRClassifier().fit(npy_of(tmp_path), None)
    with pytest.raises(ValueError, match="y must be an array of classes"):
        BBLRClassifier().fit(map_of(tmp_path), "label")
    (tmp_path / "X.npy").unlink()
    with pytest.raises(ValueError, match="columns have no names"):
        BBLRClassifier().fit(tmp_path, "label")


def test_other_features_than_in_the_fit(tmp_path):
    model = BBLRClassifier().fit(X[:, :3], TWO)
    with pytest.raises(ValueError, match="X has 4 features, but BBLRClassifier is expecting 3"):
        model.predict(npy_of(tmp_path))


def test_names_are_compared_with_those_of_the_fit(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    folder = Shards(parquet_of(tmp_path / "a"), columns=["x3", "x1"])
    model = BBLRClassifier().fit(folder, TWO)
    np.testing.assert_array_equal(
        model.predict(tmp_path / "a"), (X[:, [3, 1]] @ model.coef_[0] + model.intercept_ > 0)
    )
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(npy_of(tmp_path / "b", X[:, :2]))
    plain = BBLRClassifier().fit(X, TWO)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        plain.predict(Shards(tmp_path / "a", columns=NAMES))
    other = BBLRClassifier().fit(Shards(tmp_path / "a", label="label"), TWO)
    other.feature_names_in_ = np.array([*NAMES[:3], "height"], dtype=object)
    with pytest.raises(ValueError, match=r"X-0\.parquet has no column named 'height'"):
        other.predict(tmp_path / "a")


@pytest.mark.parametrize("make", [ZeroOneClassifier, SLAClassifier, KernelBBLRClassifier])
def test_classifiers_that_need_memory_say_so(tmp_path, make):
    with pytest.raises(TypeError, match=f"{make.__name__} needs all rows in memory"):
        make().fit(npy_of(tmp_path), TWO)


def test_shards_stay_off_devices(tmp_path):
    pytest.importorskip("torch")
    with pytest.raises(TypeError, match="with device set needs all rows in memory"):
        BBLRClassifier(device="cpu").fit(npy_of(tmp_path), TWO)


def test_a_kernel_model_refuses_shards_in_predict(tmp_path):
    with pytest.raises(TypeError, match="needs all rows in memory"):
        KernelBBLRClassifier().fit(X[:50], TWO[:50]).predict(npy_of(tmp_path))


@pytest.mark.parametrize("make", [ZeroOneClassifier, SLAClassifier])
def test_linear_models_of_other_kinds_predict_shards(tmp_path, make):
    settings = {"time_limit": 1.0} if make is ZeroOneClassifier else {}
    model = make(**settings).fit(X[:60], TWO[:60])
    np.testing.assert_array_equal(model.predict(npy_of(tmp_path)), model.predict(X))


def test_memory_maps_work_where_nothing_streams(tmp_path):
    mapped_rows = map_of(tmp_path)[:60]
    assert KernelBBLRClassifier().fit(mapped_rows, TWO[:60]).score(mapped_rows, TWO[:60]) > 0.6


def test_a_shard_that_goes_away_during_a_fit(tmp_path, monkeypatch):
    folder, original = npy_of(tmp_path), StreamedDesign.moments

    def moments(self, weight):
        (folder / "X-2.npy").unlink()
        return original(self, weight)

    monkeypatch.setattr(StreamedDesign, "moments", moments)
    with pytest.raises(FileNotFoundError, match=r"X-2\.npy"):
        BBLRClassifier().fit(folder, TWO)


def test_a_shard_that_changes_during_a_fit(tmp_path, monkeypatch):
    folder, original = npy_of(tmp_path), StreamedDesign.moments

    def moments(self, weight):
        np.save(folder / "X-2.npy", X[:7])
        return original(self, weight)

    monkeypatch.setattr(StreamedDesign, "moments", moments)
    with pytest.raises(ValueError, match=r"X-2\.npy has changed"):
        BBLRClassifier().fit(folder, TWO)


def test_pyarrow_is_asked_for_by_name(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'bblr\[parquet\]'"):
        Shards(tmp_path)


def test_there_is_no_partial_fit():
    assert not hasattr(BBLRClassifier, "partial_fit")
