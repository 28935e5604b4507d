"""Rows that stay on disk give what the same rows give in memory."""

import pickle

import numpy as np
import pytest

from bblr.designs import DenseDesign, Shards, StreamedDesign, mapped, parquet
from bblr.designs.mapped import MappedRows, backing_map
from bblr.losses import BetaBernoulli, Hinge

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


def saved(path, array):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def shards(folder, array, cuts, order="C"):
    for k, part in enumerate(np.split(array, cuts)):
        np.save(folder / f"part-{k:02d}.npy", np.array(part, order=order))
    return Shards(folder)


def parquet_shards(folder, array, cuts, group):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    for k, part in enumerate(np.split(array, cuts)):
        part = part.astype(part.dtype.newbyteorder("="))
        table = pa.table({f"x{j}": part[:, j] for j in range(part.shape[1])})
        write_table(table, folder / f"part-{k:02d}.parquet", row_group_size=group)
    return Shards(folder)


SOURCES = {
    "C": lambda path, A: MappedRows(saved(path / "X.npy", A)),
    "F": lambda path, A: MappedRows(saved(path / "X.npy", np.asfortranarray(A))),
    "skipping": lambda path, A: MappedRows(saved(path / "X.npy", np.repeat(A, 2, axis=0))[::2]),
    "backwards": lambda path, A: MappedRows(
        saved(path / "X.npy", A[::-1, ::-1].copy())[::-1, ::-1]
    ),
    "part": lambda path, A: MappedRows(
        saved(path / "X.npy", np.pad(A, [(9, 2), (3, 4)]))[9:-2, 3:-4]
    ),
    "bare view": lambda path, A: MappedRows(np.asarray(saved(path / "X.npy", A))),
    "one shard": lambda path, A: shards(path, A, []),
    "shards, one empty": lambda path, A: shards(path, A, [1, 40, 40, 70]),
    "column-major shards": lambda path, A: shards(path, A, [50], "F"),
    "Parquet, small groups": lambda path, A: parquet_shards(path, A, [30, 30], 7),
    "Parquet, large groups": lambda path, A: parquet_shards(path, A, [30], 60),
}


@pytest.fixture(params=SOURCES)
def make(request, tmp_path):
    return lambda array: SOURCES[request.param](tmp_path, array)


def flat(value):
    return [v for v in value if v is not None] if isinstance(value, tuple) else [value]


def calls(rng):
    y, weight = rng.choice([-1.0, 1.0], N), rng.random(N)
    weight[:25] = 0.0  # whole blocks that do not count
    coef, centre = rng.normal(size=D), rng.normal(size=D)
    scale, rows = rng.uniform(1, 2, D), np.array([4, 102, 18, 17, 60])
    many = rng.normal(size=(3, D)), rng.normal(size=3)
    loss, classes = BetaBernoulli.binary(0.1, 0.8, 2.0), rng.integers(0, 3, N)
    softmax = BetaBernoulli(Plateaus((0.1, 0.1, 0.2)), 1.5)
    return {
        "scores": (coef, 0.3),
        "pull": (weight,),
        "value_gradient": (coef, 0.3, y, weight, loss),
        "value_gradient of a loss without kernels": (coef, 0.3, y, weight, Hinge()),
        "many_scores": many,
        "many_value_gradient": (*many, classes, weight, softmax),
        "table": (),
        "column": (3,),
        "moments": (weight,),
        "square_norm": (centre, scale),
        "curvature": (rows, weight[rows], centre),
        "square_pull": (weight, centre),
        "probe": (y, 2, 0.5, np.linspace(-1, 1, 9), y, weight, loss),
    }


def assert_alike(streamed, dense, rtol):
    for name, args in calls(np.random.default_rng(2)).items():
        method = name.split()[0]
        found, expected = getattr(streamed, method)(*args), getattr(dense, method)(*args)
        for mine, theirs in zip(flat(found), flat(expected), strict=True):
            size = np.abs(theirs).max()
            np.testing.assert_allclose(mine, theirs, rtol, rtol * size, err_msg=name)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_streamed_is_dense(make, dtype):
    A = X.astype(dtype)
    source = make(A)
    assert source.shape == A.shape
    assert source.dtype == dtype
    assert len(list(source.blocks())) >= 5
    assert_alike(StreamedDesign(source), DenseDesign(A), 1e-10)
    assert_alike(StreamedDesign(source).narrowed(), DenseDesign(A, narrow=True), 2e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.float16, ">f8", np.int64])
def test_other_numbers_become_floats_block_by_block(make, dtype):
    A = (RNG.random((N, D)) * 3).astype(dtype)
    source = make(A)
    assert source.dtype == np.float64
    assert all(block.shape[0] <= 11 for _, block in source.blocks())
    assert_alike(StreamedDesign(source), DenseDesign(A.astype(np.float64)), 1e-10)


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
    monkeypatch.setattr("bblr.designs.streamed._MOST_TAKEN", 100)
    assert design.taken(rows) is None
