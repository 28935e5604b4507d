from __future__ import annotations

import numpy as np
import pytest

from bblr.experiments.audit_choice import GAMMAS, SETS, main, precisions


@pytest.mark.parametrize("name", SETS)
def test_sets_are_the_same_each_time_and_hold_all_classes(name):
    (X, y), (again, labels) = SETS[name](), SETS[name]()
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert np.isfinite(X).all() and np.bincount(y).min() > 40


def test_command_prints_a_mean_for_each_setting(capsys):
    pytest.importorskip("cleanlab")
    main(["--draws", "1", "--jobs", "1", "--data", "iris", "wine"])
    title, *rows = capsys.readouterr().out.splitlines()
    assert "precision" in title and len(rows) == 1 + 2 * len(GAMMAS)
    one, two = precisions("iris", 0), precisions("wine", 0)
    for row, label in zip(rows, one, strict=True):
        assert row.startswith(label)
        assert float(row.split()[-1]) == pytest.approx((one[label] + two[label]) / 2, abs=6e-4)
    assert min(one.values()) > 0.5, "most flips of iris are found"
