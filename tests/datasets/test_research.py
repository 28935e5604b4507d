import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from bblr.datasets._research import leak_free, read_trec07p, read_web8


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with data of the same form, in little; BBLR_DATA_HOME names it."""
    (tmp_path / "web8").mkdir()
    (tmp_path / "web8" / "w8a").write_text("-1 2:1 300:1\n+1 \n+1 5:1\n-1 7:1\n+1 7:1\n")
    (tmp_path / "web8" / "w8a.t").write_text("-1 7:1\n-1 \n")
    (tmp_path / "trec07p").mkdir()
    counts = sp.csr_matrix(np.array([[3, 0, 4], [0, 2, 0]], dtype=np.int32))
    sp.save_npz(tmp_path / "trec07p" / "X.npz", counts)
    np.save(tmp_path / "trec07p" / "y.npy", np.array([1, -1], dtype=np.int8))
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path))
    return tmp_path


def test_web8_drops_rows_of_zeros(home):
    X_train, y_train, X_test, y_test = read_web8()
    assert X_train.format == X_test.format == "csr"
    assert X_train.shape == (4, 300) and X_test.shape == (1, 300)
    assert y_train.tolist() == [-1, 1, -1, 1] and y_test.tolist() == [-1]
    assert y_train.dtype == np.int64
    assert X_train[0].nonzero()[1].tolist() == [1, 299]


def test_leak_free_drops_equal_features_whatever_the_label(home):
    X_train, y_train, X_test, _ = read_web8()
    X, y = leak_free(X_train, y_train, X_test)
    assert_array_equal(X.toarray(), X_train[:2].toarray())
    assert y.tolist() == [-1, 1]
    assert X_train.shape[0] == 4


def test_leak_free_compares_values_not_storage():
    explicit = sp.csr_matrix((np.array([1.0, 0.0]), np.array([1, 0]), np.array([0, 2])))
    wide = sp.csr_matrix(np.array([[0.0, 1.0], [0.0, 2.0]]))
    wide.indices = wide.indices.astype(np.int64)
    X, y = leak_free(wide, np.array([1, -1]), explicit)
    assert X.toarray().tolist() == [[0.0, 2.0]] and y.tolist() == [-1]


def test_trec07p_rows_have_length_one(home):
    X, y = read_trec07p()
    assert X.format == "csr" and X.dtype == np.float64
    assert_allclose(X.toarray(), [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]])
    assert y.tolist() == [1, -1] and y.dtype == np.int64


def test_an_argument_goes_before_the_variable(home, tmp_path, monkeypatch):
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path / "elsewhere"))
    assert read_trec07p(home)[0].shape == (2, 3)
    assert read_web8(str(home))[0].shape == (4, 300)


@pytest.mark.parametrize(
    ("read", "name"),
    [(read_web8, "w8a"), (read_web8, "w8a.t"), (read_trec07p, "X.npz"), (read_trec07p, "y.npy")],
)
def test_a_missing_file_is_named_with_the_remedy(home, read, name):
    folder = "web8" if name.startswith("w8a") else "trec07p"
    (home / folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{folder}.{name}.*BBLR_DATA_HOME.*{name}"):
        read()


@pytest.mark.parametrize("value", [None, ""])
@pytest.mark.parametrize("read", [read_web8, read_trec07p])
def test_no_folder_named(monkeypatch, read, value):
    if value is None:
        monkeypatch.delenv("BBLR_DATA_HOME", raising=False)
    else:
        monkeypatch.setenv("BBLR_DATA_HOME", value)
    with pytest.raises(FileNotFoundError, match="no folder is named: set BBLR_DATA_HOME"):
        read()


def test_web8_itself(data_home):
    X_train, y_train, X_test, y_test = read_web8(data_home)
    assert X_train.shape == (45546, 300) and X_test.shape == (13699, 300)
    assert y_train.shape == (45546,) and y_test.shape == (13699,)
    X, y = leak_free(X_train, y_train, X_test)
    assert X.shape == (25264, 300) and y.shape == (25264,)
    assert leak_free(X_test, y_test, X_train)[0].shape[0] == 0


def test_trec07p_itself(data_home):
    X, y = read_trec07p(data_home)
    assert X.shape == (75399, 256)
    assert np.bincount(y + 1).tolist() == [25220, 0, 50179]
    assert_allclose(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 1.0)
