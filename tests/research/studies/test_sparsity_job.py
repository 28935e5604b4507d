"""``bblr sparsity``: what it prints, draws and writes, and what it refuses."""

from __future__ import annotations

import re

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bblr.cli import app
from bblr.comparison.records import read_records
from bblr.comparison.sources import Table
from research.core.parts import Parts
from research.studies import sparsity
from research.studies.sparsity import with_vectors
from research.studies.sparsity_job import chosen_sizes, draw, split_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a table of two moons, and grids small enough for a test."""
    from sklearn.datasets import make_moons

    X, y = make_moons(210, noise=0.25, random_state=0)
    rows = [f"{a:.3f},{b:.3f},{'yes' if k else 'no'}" for (a, b), k in zip(X, y, strict=True)]
    (tmp_path / "moons.csv").write_text("a,b,label\n" + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sparsity, "WIDTHS", (0.5, 2.0))
    monkeypatch.setattr(sparsity, "COSTS", (1.0, 10.0))
    monkeypatch.setattr(sparsity, "PENALTIES", (1.0, 0.1))
    monkeypatch.setattr(sparsity, "PATH_SIZES", (16, 8, 4))
    return tmp_path


def bblr(*arguments):
    return CliRunner().invoke(app, ["sparsity", *map(str, arguments)])


def test_table_figure_and_records(folder):
    result = bblr("moons.csv", "--jobs", 1, "--plot", "figure.png")
    assert result.exit_code == 0, result.stderr
    assert "moons: 140 training rows of 2 features, 70 test rows" in result.stdout
    rows = re.findall(r"^(\d+) +\d+ +[\d.]+ +\d+ +[\d.]+ +\d+ +[\d.]+ *$", result.stdout, re.M)
    assert rows == ["70", "140"]
    assert matplotlib.image.imread("figure.png").shape[:2] == (1050, 1650)
    points = {record["n"]: record for record in read_records(folder / "figure.jsonl").values()}
    assert sorted(points) == [70, 140]
    for point in points.values():
        assert point["third_vectors"] <= max(1, point["svc_vectors"] // 3)
        assert point["vectors"] < point["n"]
    assert [size for size, _ in points[140]["path"]] == [16, 8, 4]
    assert list(points[140]["weights"]) == ["Gauss-Laplace", "backward"]
    assert points[140]["versions"]["bblr"]


@pytest.mark.parametrize(
    ("rows", "most", "sizes"),
    [
        ("100,60", 140, [60, 100]),
        (None, 140, [70, 140]),
        (None, 50_000, [250 * 2**k for k in range(7)]),
    ],
)
def test_sizes(rows, most, sizes):
    assert chosen_sizes(rows, most) == sizes


def test_research_data_that_are_not_there(folder, monkeypatch):
    monkeypatch.setenv("BBLR_DATA_HOME", str(folder))
    result = bblr("trec07p")
    assert result.exit_code == 2
    assert "trec07p/X.npz" in result.stderr
    assert not (folder / "sparsity.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing.csv",), "data"),
        (("moons.csv", "--rows", "many"), "rows must be whole numbers"),
        (("moons.csv", "--rows", "10"), "rows must lie between 60 and 140"),
        (("moons.csv", "--rows", "60,500"), "rows must lie between"),
        (("moons.csv", "--jobs", 0), "jobs must be at least 1"),
        (("moons.csv", "--seed", -1), "seed"),
        (("moons.csv", "--plot", "figure.gif"), "plot must name"),
        (("moons.csv", "--records", "none/out.jsonl"), "records needs a folder"),
        (("moons.csv", "--target", "size"), "target"),
    ],
)
def test_bad_settings_are_named_and_nothing_is_written(folder, arguments, message):
    result = bblr(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["moons.csv"]


def test_the_split_is_scaled_by_the_training_part_alone():
    rng = np.random.default_rng(0)
    table = Table("t", rng.normal(5, 3, size=(90, 2)), (np.arange(90) % 2).astype(np.int64))
    parts = split_table(table, 0)
    assert len(parts.y_test) == 30
    np.testing.assert_allclose(parts.X_train.mean(axis=0), 0, atol=1e-12)
    assert abs(parts.X_test.mean()) > 1e-6


def test_settings_of_a_tuned_classifier_are_kept():
    from sklearn.datasets import make_moons

    from bblr import KernelBBLRClassifierCV

    X, y = make_moons(100, noise=0.2, random_state=0)
    tuned = KernelBBLRClassifierCV(
        cv=3, kernel_gammas=(2.0,), l2s=(0.1,), prior="mild", gamma_limit=1.0, random_state=0
    ).fit(X, y)
    again = with_vectors(tuned, None, 0).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), tuned.decision_function(X), atol=1e-6)
    few = with_vectors(tuned, 5, 0).fit(X, y)
    assert len(few.support_) == 5


def test_svg_figure(tmp_path):
    weights = {"backward": {"before": np.linspace(-1, 1, 200).tolist(), "after": [-2.0, 0.5]}}
    last = {"path": [(8, 9.0), (4, 30.0), (2, 50.0)], "dense_error": 9.0, "weights": weights}
    points = [
        {"n": n, "svc_vectors": n / 2, "svc_error": 10.0, "vectors": 8, "error": 9.0,
         "third_error": 9.5, **last}
        for n in (100, 200)
    ]  # fmt: skip
    draw(pd.DataFrame(points), "Sparsity on nothing", tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "<svg" in text


def test_first_rows():
    parts = Parts(np.arange(6)[:, None], np.arange(6), np.zeros((2, 1)), np.zeros(2))
    assert parts.first(2).y_train.tolist() == [0, 1]
