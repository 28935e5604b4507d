"""Claims about kernels: how records become figures."""

import pandas as pd
import pytest

from bblr.datasets import UCI_NAMES
from research.claims import CLAIMS
from research.claims.kernel import (
    BASELINE,
    DENSE,
    KERNEL_METHODS,
    SPARSE,
    _figures,
    _notes,
    _table,
)


@pytest.fixture
def records():
    """Two folds of ten rows for each method and set; the sparse one errs once more."""
    errors = {BASELINE: 2, DENSE: 1, SPARSE: 2, "KBBLR-GL": 3}
    vectors = {BASELINE: 90, DENSE: 100, SPARSE: 9, "KBBLR-GL": 30}
    rows = [
        {"method": m, "data": name, "errors": errors[m], "n_test": 10, "vectors": vectors[m] + k}
        for m in KERNEL_METHODS
        for name in UCI_NAMES
        for k in (0, 2)
    ]
    return pd.DataFrame(rows)


def test_rates_and_vectors_are_means(records):
    table = _table(records)
    assert table["error"][BASELINE]["heart"] == pytest.approx(20.0)
    assert table["vectors"][BASELINE]["heart"] == pytest.approx(91.0)
    assert table["vectors"][SPARSE]["pima"] == pytest.approx(10.0)


def test_every_threshold_has_its_figure(records):
    figures = _figures(_table(records))
    for name in ("kernel-uci", "kernel-uci-noisy"):
        assert {t.figure for t in CLAIMS[name].thresholds} == set(figures)
    assert figures["total: KBBLR, points above SVC"] == pytest.approx(-40.0)
    assert figures["liver: backward, points above KBBLR"] == pytest.approx(10.0)
    assert figures["liver: backward, vectors / SVC's"] == pytest.approx(10 / 91)


def test_notes_stand_beside_the_paper(records):
    notes = _notes(_table(records))
    assert len(notes) == 1 + len(KERNEL_METHODS) + 3
    assert "2.83 / 127" in notes[-1] and notes[-1].endswith("71.49")
    assert "2.98" in "".join(notes)
