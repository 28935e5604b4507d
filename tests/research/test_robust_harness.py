"""What the harness of robust fits reckons, on made-up records."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from research.core.thresholds import MET, MISSED, verdict_table
from research.panorama.scores import pack
from research.robust import BOOSTED, CONDITIONS, METHODS, errors, times, verdicts


def made(ours, n=200):
    """Return records in which plain fits err on 40 rows, cleanlab on 30 and ours on so many."""
    rows = []
    for inner in BOOSTED:
        for condition in CONDITIONS:
            for method, count in zip(METHODS, (40, ours, 30), strict=True):
                wrong = np.arange(n) < count
                rows.append({
                    "inner": inner, "condition": condition, "data": "a", "seed": 0, "rows": 2400,
                    "method": method, "n_test": n, "errors": count, "wrong": pack(wrong),
                    "fit_seconds": {"plain": 1.0, "ours": 6.0, "CleanLearning": 10.0}[method],
                    "touched": 0.01, "rate_error": 0.02,
                })  # fmt: skip
    return pd.DataFrame(rows)


def test_errors_and_times():
    table, ratios = errors(made(10)), times(made(10))
    assert table.loc[("HGB", "flip40")].tolist() == pytest.approx([20.0, 5.0, 15.0])
    assert ratios.loc["LightGBM"].tolist() == [1.0, 6.0, 10.0]


def test_targets_are_met_and_missed():
    assert {verdict.status for verdict in verdicts(made(10))} == {MET}
    missed = [verdict.name for verdict in verdicts(made(41)) if verdict.status == MISSED]
    # All but time, flip rates and rows touched.
    assert len(missed) == 2 * 2 * len(CONDITIONS) + 1


def test_figures_can_be_read_on_a_narrow_terminal():
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(verdict_table(verdicts(made(41))))
    lines = console.export_text().splitlines()
    assert "LightGBM, clean" in lines[2] and max(map(len, lines)) <= 80
    # A word a line would take more.
    assert len(lines) <= 4 * len(list(verdicts(made(41))))
