"""Files are there whole or not at all, whoever else writes to the same place."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from bblr._atomic import whole_file
from bblr.io import load_model, save_model
from bblr.linear import BBLRClassifier


def test_threads_that_save_to_one_path_lose_nothing(tmp_path):
    path, start = tmp_path / "model.bblr", Barrier(4)
    models = [BBLRClassifier(l2=float(k + 1)).fit([[0.0], [1.0]], [0, 1]) for k in range(4)]

    def save(model):
        start.wait(30)
        for _ in range(20):
            save_model(model, path)
            assert load_model(path).l2 in {1.0, 2.0, 3.0, 4.0}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, models))
    assert [each.name for each in tmp_path.iterdir()] == ["model.bblr"]


def test_a_writer_that_never_ends_is_in_nobodys_way(tmp_path):
    path = tmp_path / "table.csv"
    stuck = whole_file(path)
    stuck.__enter__().write(b"half")
    with whole_file(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert stuck.__exit__(RuntimeError, RuntimeError(), None) is not True


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("n" * 255)
    with whole_file(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"before")
    with pytest.raises(RuntimeError), whole_file(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 1
