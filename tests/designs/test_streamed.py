"""Sources of rows that stay on disk: what is read of them, when, and how they are pickled."""

import pickle

import numpy as np
import pytest

from bblr.designs import Shards, StreamedDesign
from bblr.designs.stream import mapped, parquet
from bblr.designs.stream.mapped import MappedRows, backing_map
from tests.designs.cases import SOURCES, saved

N, D = 103, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1, 10, 0.1, 1, 1] + [0, 1e4, 0, -3, 0]
X[RNG.random((N, D)) < 0.2] = 0.0
X[:, 4] = 0.1  # constant, and no sum of it is exact


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that there are many."""
    monkeypatch.setattr(mapped, "BLOCK_BYTES", 8 * D * 11)
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 8 * D * 11)
    monkeypatch.setattr(mapped, "_COLUMNS", 2)
    monkeypatch.setattr(parquet, "_COLUMNS", 2)
    monkeypatch.setattr(parquet, "_OPEN_COLUMN", 0)


@pytest.fixture(params=SOURCES)
def make(request, tmp_path):
    return lambda array: SOURCES[request.param](tmp_path, array)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sources_have_the_shape_and_the_numbers_of_the_array(make, dtype):
    A = X.astype(dtype)
    source = make(A)
    assert (source.shape, source.dtype) == (A.shape, dtype)
    assert len(list(source.blocks())) >= 5
    for rows, block in source.blocks():
        np.testing.assert_array_equal(block, A[rows])
    for j in range(D):
        np.testing.assert_array_equal(source.column(j), A[:, j])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.float16, ">f8", np.int64])
def test_other_numbers_become_floats_block_by_block(make, dtype):
    A = (RNG.random((N, D)) * 3).astype(dtype)
    source = make(A)
    assert source.dtype == np.float64
    assert all(block.shape[0] <= 11 for _, block in source.blocks())
    design, coef = StreamedDesign(source), np.linspace(-1, 1, 2 * D).reshape(2, D)
    np.testing.assert_array_equal(design.table(), A.astype(np.float64))
    np.testing.assert_allclose(design.scores(coef, np.ones(2)), A @ coef.T + 1, rtol=1e-12)
    np.testing.assert_allclose(design.rmatvec(np.ones(N)), A.sum(axis=0, dtype=float), rtol=1e-12)


def test_only_blocks_with_needed_rows_are_read(make):
    source = make(X)
    needed = np.array([15, 16, 18])
    found = list(source.blocks(needed))
    assert 1 <= len(found) < len(list(source.blocks()))
    kept = np.concatenate([np.arange(rows.start, rows.stop) for rows, _ in found])
    assert np.isin(needed, kept).all()
    for rows, block in source.blocks(needed):
        np.testing.assert_array_equal(block, X[rows])


def test_sources_are_pickled_by_their_place(make):
    source = make(X)
    blob = pickle.dumps(source)
    assert len(blob) < 2500 < X.nbytes
    np.testing.assert_array_equal(StreamedDesign(pickle.loads(blob)).table(), X)


def test_a_map_of_a_file_that_is_gone_is_read_but_not_pickled(tmp_path):
    source = MappedRows(saved(tmp_path / "X.npy", X))
    (tmp_path / "X.npy").unlink()
    np.testing.assert_array_equal(StreamedDesign(source).table(), X)
    with pytest.raises(FileNotFoundError, match="n_jobs=None"):
        pickle.dumps(source)


def test_a_map_without_a_file_name_is_pickled_by_its_numbers(tmp_path):
    with open(tmp_path / "raw", "wb+") as file:
        file.write(X.tobytes())
        file.flush()
        raw = np.memmap(file, np.float64, "r", 0, X.shape)
    raw.filename = None
    again = pickle.loads(pickle.dumps(MappedRows(raw)))
    np.testing.assert_array_equal(StreamedDesign(again).table(), X)


def test_raw_maps_with_an_offset(tmp_path):
    (tmp_path / "raw").write_bytes(b"x" * 5001 + X.tobytes())
    raw = np.memmap(tmp_path / "raw", np.float64, "r", 5001, X.shape)
    for source in (MappedRows(raw), pickle.loads(pickle.dumps(MappedRows(raw[7:])))):
        np.testing.assert_array_equal(StreamedDesign(source).table(), X[-source.shape[0] :])


def test_what_was_written_to_a_map_stays(tmp_path):
    np.save(tmp_path / "X.npy", X)
    written = np.load(tmp_path / "X.npy", mmap_mode="r+")
    written[50] = 7.0
    source = MappedRows(written)
    for _ in range(2):
        np.testing.assert_array_equal(StreamedDesign(source).table()[50], 7.0)
    np.testing.assert_array_equal(written[50], 7.0)


def test_copy_on_write_maps_and_copies_are_no_maps(tmp_path):
    np.save(tmp_path / "X.npy", X)
    assert backing_map(np.load(tmp_path / "X.npy", mmap_mode="c")) is None
    read_only = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert backing_map(read_only[3:]) is read_only
    assert backing_map(np.asarray(read_only)) is read_only
    assert backing_map(read_only[[1, 2]]) is None
    assert backing_map(read_only + 1) is None
    assert backing_map(X) is None


def test_some_rows_are_taken_into_memory(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(900, 4))
    (tmp_path / "rows").mkdir()
    for k, part in enumerate(np.array_split(X, 3)):
        np.save(tmp_path / "rows" / f"part-{k}.npy", part)
    design = StreamedDesign(Shards(tmp_path / "rows"))
    rows = np.array([0, 5, 299, 300, 650, 899])
    np.testing.assert_array_equal(design.taken(rows).X, X[rows])
    monkeypatch.setattr("bblr.designs.stream.streamed._MOST_TAKEN", 100)
    assert design.taken(rows) is None
