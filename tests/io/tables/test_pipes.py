"""Files that come through a pipe, where nobody can go back, and headers of any length."""

import csv
import gzip
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bblr.io import read_table
from tests.cli.conftest import bblr, fitted

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@pytest.fixture
def piped(tmp_path):
    """Return the path of a pipe through which a content comes, in small portions."""
    writers = []

    def make(content: bytes, name: str = "pipe") -> Path:
        path = tmp_path / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)

        def write() -> None:
            with path.open("wb", buffering=0) as file:
                for part in (content[:1], content[1:7], content[7:]):
                    file.write(part)

        writers.append(threading.Thread(target=write, daemon=True))
        writers[-1].start()
        return path

    yield make
    for writer in writers:
        writer.join(10)


@pytest.mark.parametrize("name", ["train.csv", "train.parquet", "train.svm", "train.csv.gz"])
def test_pipes_read_as_files(folder, piped, name):
    content = Path(name.removesuffix(".gz")).read_bytes()
    Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    X, y, names = read_table(name)
    found = read_table(piped(Path(name).read_bytes()))
    assert_array_equal(found[1], y)
    assert found[2] == names and (found[0] != X).sum() == 0


def test_an_empty_pipe_is_called_empty(piped):
    with pytest.raises(ValueError, match="pipe is empty"):
        read_table(piped(b""))


def test_commands_read_pipes(folder, piped):
    content, model = Path("train.csv").read_bytes(), fitted()
    for command in ("predict", "evaluate", "explain"):
        told = [bblr(command, model, data) for data in ("train.csv", piped(content))]
        assert told[0].exit_code == told[1].exit_code == 0, told[1].stderr
        assert told[0].stdout == told[1].stdout
    assert bblr("audit", piped(content), "--in-sample").exit_code == 0
    result = bblr("compare", piped(content), "--methods", "majority", "--folds", "2", "--jobs", 1)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("mark", [",", "\t"])
def test_headers_may_be_longer_than_a_cell(write, mark):
    names = [f"gene {j:0500d}" for j in range(300)]
    header = mark.join([*names, "y"])
    assert len(header) > csv.field_size_limit()
    values = np.random.default_rng(0).integers(0, 9, (6, 300))
    lines = [mark.join(map(str, (*row, i % 2))) for i, row in enumerate(values)]
    X, _, found = read_table(write("\n".join([header, *lines]) + "\n"), number=names)
    assert found == names
    assert_array_equal(X, values)
    # A row too short is still named, and the limit of others is as it was.
    with pytest.raises(ValueError, match="line 3: 2 cells"):
        read_table(write(f"{header}\n{lines[0]}\n1{mark}0\n"))
    assert csv.field_size_limit() == 131_072
