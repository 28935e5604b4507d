import numpy as np
import scipy.sparse as sp

from bblr.datasets._duplicates import across, not_in, within


def test_rows_are_compared_by_value_not_by_storage():
    explicit = sp.csr_matrix((np.array([1.0, 0.0]), np.array([1, 0]), np.array([0, 2])))
    wide = sp.csr_matrix(np.array([[0.0, 1.0], [0.0, 2.0]]))
    wide.indices = wide.indices.astype(np.int64)
    assert not_in(wide, explicit).tolist() == [False, True]
    assert not_in(wide, np.array([[-0.0, 1.0]], dtype=np.float32)).tolist() == [False, True]
    assert explicit.nnz == 2


def test_counts_are_those_of_brute_force():
    rng = np.random.default_rng(0)
    train, test = rng.integers(0, 2, (40, 5)), rng.integers(0, 3, (30, 5))
    rows = [[tuple(row) for row in part] for part in (train, test)]
    expected = {
        "train": 40 - len(set(rows[0])),
        "test": 30 - len(set(rows[1])),
        "across": sum(row in rows[0] for row in rows[1]),
    }
    assert across(train, sp.csc_matrix(test)) == expected
    assert within(train) == expected["train"] > 0
    assert within(train[:0]) == 0
