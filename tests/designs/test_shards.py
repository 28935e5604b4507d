"""What a directory of shards may hold, and what is said of others."""

import numpy as np
import pytest

from bblr import Shards

X = np.arange(12.0).reshape(4, 3)


def write_parquet(path, **columns):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    table = columns.pop("table", None)
    write_table(pa.table(columns) if table is None else table, path)


def whole(shards):
    return np.concatenate([block.copy() for _, block in shards.blocks()])


def test_files_are_taken_in_the_order_of_their_names(tmp_path):
    for name, value in (("b", 2.0), ("a", 1.0), ("c", 3.0)):
        np.save(tmp_path / f"{name}.npy", np.full((2, 1), value))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".a.npy.crc").touch()
    (tmp_path / "_y.npy").touch()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "more.npy").mkdir()
    shards = Shards(tmp_path)
    assert [file.name for file in shards.files] == ["a.npy", "b.npy", "c.npy"]
    np.testing.assert_array_equal(whole(shards).ravel(), [1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(shards.column(0), [1, 1, 2, 2, 3, 3])
    assert "3 files, shape=(6, 1)" in repr(shards)


def test_numbers_without_leading_zeros_are_refused(tmp_path):
    for k in (2, 9, 10):
        np.save(tmp_path / f"rows-{k}.npy", X)
    with pytest.raises(ValueError, match=r"rows-10\.npy before rows-2\.npy: .*leading zeros"):
        Shards(tmp_path)
    for k in (2, 9):
        (tmp_path / f"rows-{k}.npy").rename(tmp_path / f"rows-{k:02d}.npy")
    assert Shards(tmp_path).shape == (12, 3)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds no .npy and no .parquet files"),
        ({"a.npy": X, "b.parquet": b""}, "both .npy and .parquet"),
        ({"a.npy": X, "b.npy": X[:, :2]}, "same columns: .*a.npy has 3, .*b.npy has 2"),
        ({"a.npy": X, "y.npy": X[:, 0]}, r"y.npy must hold a table .* shape \(4,\)"),
        ({"a.npy": X, "b.npy": b"nonsense"}, "b.npy is not a sound .npy file"),
        ({"a.npy": X, "b.npy": b""}, "b.npy is not a sound .npy file"),
        ({"a.npy": X + 1j}, "a.npy must hold real numbers, got complex128"),
        ({"a.npy": X.astype(str)}, "a.npy must hold real numbers"),
        ({"a.npy": np.zeros(3, [("x", float)])[:, None]}, "a.npy must hold real numbers"),
        ({"a.npy": X.astype("M8[s]")}, "a.npy must hold real numbers"),
        ({"a.npy": X[:0]}, "holds no rows"),
        ({"a.npy": X[:, :0]}, "holds no columns"),
        ({"a.parquet": b"nonsense"}, "a.parquet is not a sound Parquet file"),
    ],
)
def test_unsound_directories_are_named(tmp_path, files, message):
    for name, content in files.items():
        if isinstance(content, bytes):
            (tmp_path / name).write_bytes(content)
        else:
            np.save(tmp_path / name, content)
    with pytest.raises(ValueError, match=message):
        Shards(tmp_path)


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[{}]], dtype=object))
    with pytest.raises(ValueError, match=r"a\.npy is not a sound"):
        Shards(tmp_path)


def test_a_truncated_file_is_named(tmp_path):
    np.save(tmp_path / "a.npy", X)
    whole_file = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(whole_file[:-8])
    with pytest.raises(ValueError, match=r"a\.npy is not a sound"):
        Shards(tmp_path)


def test_a_damaged_header_is_named(tmp_path):
    np.save(tmp_path / "a.npy", X)
    content = bytearray((tmp_path / "a.npy").read_bytes())
    for place in range(8, 80):
        for byte in (0, content[place] ^ 1):
            damaged = bytes([*content[:place], byte, *content[place + 1 :]])
            (tmp_path / "a.npy").write_bytes(damaged)
            try:
                Shards(tmp_path)
            except ValueError as error:
                assert "a.npy" in str(error)


@pytest.mark.parametrize("metadata", ['{"index_columns" []}', "[1, 2]"])
def test_what_pandas_wrote_must_be_sound(tmp_path, metadata):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"u": [1.0, 2.0]}).replace_schema_metadata({"pandas": metadata})
    write_parquet(tmp_path / "a.parquet", table=table)
    with pytest.raises(ValueError, match=r"a\.parquet is not a sound Parquet file: what pandas"):
        Shards(tmp_path)


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing at .*absent"):
        Shards(tmp_path / "absent")


def test_parquet_by_names(tmp_path):
    write_parquet(tmp_path / "a.parquet", u=[1, 2], v=[0.5, 1.5], on=[True, False], c=["p", "q"])
    write_parquet(tmp_path / "b.parquet", v=[2.5], u=[3], c=["p"], on=[True])
    shards = Shards(tmp_path, label="c")
    assert shards.feature_names == ("u", "v", "on")
    np.testing.assert_array_equal(whole(shards), [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]])
    assert shards.labels().tolist() == ["p", "q", "p"]
    chosen = Shards(tmp_path, columns=["v"])
    assert chosen.dtype == np.float64
    np.testing.assert_array_equal(whole(chosen), [[0.5], [1.5], [2.5]])


def test_names_that_begin_alike_are_told_apart(tmp_path):
    """pyarrow takes a dot for a step into a structure."""
    write_parquet(tmp_path / "a.parquet", **{"u": [1.0], "u.v": [2.0], "u.w": [3.0]})
    np.testing.assert_array_equal(whole(Shards(tmp_path, columns=["u.w", "u"])), [[3.0, 1.0]])
    np.testing.assert_array_equal(Shards(tmp_path).column(0), [1.0])


@pytest.mark.parametrize("rows_a_block", [1, 1000])
def test_missing_values_name_column_and_file(tmp_path, monkeypatch, rows_a_block):
    monkeypatch.setattr("bblr.designs.stream.parquet.BLOCK_BYTES", 8 * rows_a_block)
    monkeypatch.setattr("bblr.designs.stream.parquet._OPEN_COLUMN", 0)
    write_parquet(tmp_path / "a.parquet", u=[1.0, None, 3.0], c=["p", None, "q"])
    shards = Shards(tmp_path, label="c")
    with pytest.raises(ValueError, match=r"NaN: column 'u' of .*a.parquet has missing"):
        whole(shards)
    with pytest.raises(ValueError, match=r"column 'c' of .*a.parquet has missing"):
        shards.labels()
    with pytest.raises(ValueError, match=r"column 'u' of .*a.parquet has missing"):
        shards.column(0)


@pytest.mark.parametrize("kind", ["text", "category", "list", "date", "decimal"])
def test_columns_of_other_things_are_named(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    from datetime import date
    from decimal import Decimal

    column = {
        "text": pa.array(["1", "2"]),
        "category": pa.array(["p", "q"]).dictionary_encode(),
        "list": pa.array([[1], [2]]),
        "date": pa.array([date(2020, 1, 1)] * 2),
        "decimal": pa.array([Decimal("1.5")] * 2),
    }[kind]
    write_parquet(tmp_path / "a.parquet", u=[1.0, 2.0], odd=column)
    with pytest.raises(ValueError, match=r"Column 'odd' of .*a.parquet does not hold numbers"):
        Shards(tmp_path)
    assert Shards(tmp_path, columns=["u"]).shape == (2, 1)


def test_parquet_files_must_have_the_same_columns(tmp_path):
    write_parquet(tmp_path / "a.parquet", u=[1.0], v=[1.0])
    write_parquet(tmp_path / "b.parquet", u=[1.0])
    with pytest.raises(ValueError, match=r"b.parquet has no column named 'v', which X needs"):
        Shards(tmp_path)
    write_parquet(tmp_path / "b.parquet", u=[1.0], v=[1.0], w=[1.0])
    with pytest.raises(ValueError, match=r"same columns: .*b.parquet has 'w'"):
        Shards(tmp_path)
    with pytest.raises(ValueError, match=r"a.parquet has no column named 'w', which y names"):
        Shards(tmp_path, label="w")


def test_settings_that_make_no_sense(tmp_path):
    write_parquet(tmp_path / "a.parquet", u=[1.0])
    with pytest.raises(ValueError, match="columns must be a list"):
        Shards(tmp_path, columns="u")
    with pytest.raises(ValueError, match="label must name"):
        Shards(tmp_path).labels()
    with pytest.raises(ValueError, match="holds no columns"):
        Shards(tmp_path, label="u")


def test_an_index_of_pandas_is_no_column(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": [1.0, 2.0]}, index=[5, 7])
    frame.to_parquet(tmp_path / "a.parquet")
    assert Shards(tmp_path).feature_names == ("u",)


def test_numbers_are_in_order_among_files_of_other_names(tmp_path):
    for name in ("part-2", "part-10", "rest"):
        np.save(tmp_path / f"{name}.npy", np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"part-10.npy before part-2.npy: number them"):
        Shards(tmp_path)
