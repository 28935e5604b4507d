"""What every adapter promises: to know its own kind, to read it right, to give back in kind."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from bblr import BBLRClassifier, KernelBBLRClassifier, Shards, SLAClassifier, ZeroOneClassifier
from bblr.dask import DaskBBLRClassifier
from bblr.inputs import ADAPTERS, adapter_of, disk
from bblr.inputs.cluster import DaskAdapter
from bblr.inputs.disk import MapAdapter, ShardAdapter
from bblr.inputs.frames import FrameAdapter
from bblr.inputs.in_memory import ArrayAdapter
from bblr.inputs.torch_tensors import DeviceAdapter, ReadTensorAdapter, TensorAdapter

N = 30
X = np.random.default_rng(0).normal(size=(N, 3)).round(2) * [1.0, 0.0, 5.0]
Y = np.array(["no", "yes", "perhaps"])[np.arange(N) % 3]
WEIGHT = np.arange(N) % 4 * 1.0
NAMES = ["a", "b", "c"]


def tensor(rows=X):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.tensor(rows)


def mapped(folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def shards(folder):
    np.save(folder / "1.npy", X[:7])
    np.save(folder / "2.npy", X[7:])
    return folder


def parquet(folder):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame(X, columns=NAMES).to_parquet(folder / "1.parquet")
    return str(folder)


def device(**options):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    return BBLRClassifier(device="cpu", **options)


# Name: rows in a folder, who asks, and the adapter; None where nobody recognises what is read.
KINDS = {
    "array": (lambda _: X.copy(), BBLRClassifier, ArrayAdapter),
    "float32": (lambda _: X.astype(np.float32), BBLRClassifier, ArrayAdapter),
    "CSR": (lambda _: sparse.csr_matrix(X), BBLRClassifier, ArrayAdapter),
    "CSC": (lambda _: sparse.csc_array(X), BBLRClassifier, ArrayAdapter),
    "view": (lambda _: X.copy()[:], BBLRClassifier, None),
    "list": (lambda _: X.tolist(), BBLRClassifier, None),
    "tensor without dispatch": (lambda _: tensor(), BBLRClassifier, ReadTensorAdapter),
    "pandas": (
        lambda _: pytest.importorskip("pandas").DataFrame(X, columns=NAMES),
        BBLRClassifier,
        FrameAdapter,
    ),
    "Polars": (
        lambda _: pytest.importorskip("polars").DataFrame(X, schema=NAMES),
        BBLRClassifier,
        FrameAdapter,
    ),
    "map": (mapped, BBLRClassifier, MapAdapter),
    "view of a map": (lambda folder: mapped(folder)[:, :], BBLRClassifier, MapAdapter),
    "path": (shards, BBLRClassifier, ShardAdapter),
    "Shards": (lambda folder: Shards(shards(folder)), BBLRClassifier, ShardAdapter),
    "Parquet": (parquet, BBLRClassifier, ShardAdapter),
    "tensor": (lambda _: tensor(), BBLRClassifier, TensorAdapter),
    "tensor for a device": (lambda _: tensor(), device, TensorAdapter),
    "array for a device": (lambda _: X.copy(), device, DeviceAdapter),
    "map for a device": (mapped, device, None),
    "path with a device": (shards, device, None),
}
READ = {
    "view": ArrayAdapter,
    "list": ArrayAdapter,
    "map for a device": DeviceAdapter,
    "path with a device": ShardAdapter,
}


@pytest.fixture(autouse=True)
def every_map_is_large(monkeypatch):
    monkeypatch.setattr(disk, "LEAST_BYTES", 0)


@pytest.fixture(params=KINDS)
def kind(request, tmp_path, monkeypatch):
    """Rows of a kind, who asks, the one adapter that recognises them, and that which reads."""
    make, estimator, one = KINDS[request.param]
    if request.param == "tensor":
        # config_context checks what scipy has read from the environment long ago.
        monkeypatch.setattr(
            "bblr.inputs.torch_tensors.get_config", lambda: {"array_api_dispatch": True}
        )
    return make(tmp_path), estimator(), one, one or READ[request.param]


def fitted(estimator, rows):
    """Say that the estimator has seen such rows."""
    estimator.n_features_in_ = 3
    if isinstance(rows, str) or (hasattr(rows, "columns") and not isinstance(rows, Shards)):
        estimator.feature_names_in_ = np.array(NAMES, dtype=object)


def results(values):
    return values.numpy() if hasattr(values, "numpy") else np.asarray(values)


def test_one_adapter_recognises_its_kind(kind):
    rows, estimator, one, reader = kind
    recognised = [adapter for adapter in ADAPTERS if adapter.recognises(estimator, rows)]
    assert recognised == [one] or one is None
    assert type(adapter_of(estimator, rows)) is reader


@pytest.mark.parametrize("y", [Y, np.where(Y == "no", 7, 3)], ids=["three", "two"])
def test_training_rows_are_the_rows(kind, y):
    rows, estimator, _, reader = kind
    given = adapter_of(estimator, rows)
    if reader is ShardAdapter and estimator.device is not None:
        with pytest.raises(TypeError, match="with device set needs all rows in memory"):
            given.training(y, WEIGHT, streamed=True)
        return
    with given:
        training = given.training(y, WEIGHT, streamed=True)
        local = training.design.rows.local
        dtype = getattr(rows, "dtype", None)
        exact = X.astype(np.float32) if dtype == np.float32 else X
        assert_array_equal(training.design.table(), exact)
        assert_array_equal(local(training.weight), WEIGHT)
        classes, codes = np.unique(y, return_inverse=True)
        assert_array_equal(training.classes, classes)
        assert_array_equal(local(training.y), 2.0 * codes - 1.0 if len(classes) == 2 else codes)
        assert_array_equal(training.totals, np.bincount(codes, WEIGHT))
        assert estimator.n_features_in_ == 3
        assert list(getattr(estimator, "feature_names_in_", NAMES)) == NAMES


def test_rows_to_score_are_the_rows(kind):
    rows, estimator, _, _ = kind
    fitted(estimator, rows)
    coef, intercept = np.array([[1.0, 2.0, -0.5]]), np.array([0.25])
    given = adapter_of(estimator, rows)
    exact = X.astype(np.float32) if getattr(rows, "dtype", None) == np.float32 else X
    np.testing.assert_allclose(given.rows().table(), exact)
    found = given.scores(coef, intercept)
    np.testing.assert_allclose(results(found), exact @ coef[0] + 0.25, rtol=1e-6, atol=1e-9)
    many = given.scores(np.vstack([coef, -coef]), np.array([0.25, 0.0]))
    np.testing.assert_allclose(results(many)[:, 1], -(exact @ coef[0]), rtol=1e-6, atol=1e-9)


def test_results_come_back_in_kind(kind):
    rows, estimator, _, reader = kind
    fitted(estimator, rows)
    given = adapter_of(estimator, rows)
    wanted = type(rows) if reader is TensorAdapter else np.ndarray
    found = given.scores(np.ones((1, 3)), np.zeros(1))
    for values in (found, given.in_kind(np.arange(3.0))):
        assert type(values) is wanted
    assert type(given.chosen(np.array([4, 5]), 1 * (found > 0))) is wanted
    words = given.chosen(np.array(["no", "yes"]), 1 * (found > 0))
    assert type(words) is np.ndarray and set(words.tolist()) <= {"no", "yes"}
    assert type(given.here(found)) is np.ndarray
    assert given.here(None) is None
    if reader is not ShardAdapter:
        with pytest.raises(ValueError, match="only a directory of Parquet files has columns"):
            given.labels("name")


def test_who_compares_rows_gets_a_matrix(kind):
    rows, estimator, _, reader = kind
    estimator = KernelBBLRClassifier(device=estimator.device)
    given = adapter_of(estimator, rows)
    if reader is ShardAdapter:
        with pytest.raises(TypeError, match="KernelBBLRClassifier needs all rows in memory"):
            given.matrix_training(Y, None, ["csr"])
        return
    training = given.matrix_training(Y, None, ["csr"])
    assert type(training.X) is np.ndarray or training.X.format == "csr"
    dense = training.X.toarray() if sparse.issparse(training.X) else training.X
    exact = X.astype(np.float32) if getattr(rows, "dtype", None) == np.float32 else X
    assert_array_equal(dense, exact)
    assert type(training.y) is np.ndarray


@pytest.mark.parametrize("estimator", [SLAClassifier(), ZeroOneClassifier()])
def test_who_needs_all_rows_reads_a_map_as_an_array(estimator, tmp_path):
    rows = mapped(tmp_path)
    training = adapter_of(estimator, rows).training(Y == "no", None)
    assert type(training.design).__name__ == "DenseDesign"
    (tmp_path / "X.npy").unlink()
    with pytest.raises(TypeError, match="needs all rows in memory"):
        adapter_of(estimator, shards(tmp_path)).training(Y == "no", None)


def test_the_cluster_is_for_who_has_a_client():
    rows = X.copy()
    given = adapter_of(DaskBBLRClassifier(), rows)
    assert type(given) is DaskAdapter
    assert [a for a in ADAPTERS if a.recognises(DaskBBLRClassifier(), rows)] == [DaskAdapter]
    with given, pytest.raises((TypeError, RuntimeError), match=r"X must be a Dask array|no Dask"):
        given.training(Y, None)


def test_labels_in_files_are_not_told_to_callbacks(tmp_path):
    given = adapter_of(BBLRClassifier(), tmp_path)
    assert given.callback_data("label", None) == ()
    assert given.callback_data(Y, None) == (tmp_path, Y, None)
