"""A table of three classes with every kind of column, in every format."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from bblr.cli import app

FAST = ("--classifier", "BBLRClassifier", "--param", "gamma_max=1")


def make_frame(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = np.array(["cat", "dog", "owl"])[rng.integers(3, size=n)]
    shift = pd.Series(kind).map({"cat": 0.0, "dog": 2.0, "owl": 4.0}).to_numpy()
    return pd.DataFrame(
        {
            "weight": shift + rng.normal(size=n),
            "legs": rng.integers(2, 5, size=n),
            "fur": rng.choice(["long", "short"], size=n),
            "home": rng.choice(["barn, old", "1", "tree"], size=n),
            "tame": rng.random(size=n) < 0.5,
            "kind": kind,
        }
    )


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """A folder with a training and a test table in each format."""
    home = tmp_path_factory.mktemp("tables")
    for name, frame in {"train": make_frame(90, 0), "test": make_frame(70, 1)}.items():
        frame.to_csv(home / f"{name}.csv", index=False)
        frame.to_parquet(home / f"{name}.parquet", row_group_size=16)
        X = frame[["weight", "legs", "tame"]].to_numpy(dtype=float)
        y = frame["kind"].map({"cat": -1, "dog": 0, "owl": 7})
        dump_svmlight_file(X, y, str(home / f"{name}.svm"), zero_based=False)
    return home


@pytest.fixture
def folder(tables, tmp_path, monkeypatch):
    """A working folder with a copy of the tables."""
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bblr(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


_SAVED: dict[str, bytes] = {}


def fitted(data="train.csv"):
    """The name of a model in the working folder, fitted to one of the tables or another file."""
    model = Path("model.bblr")
    if data in _SAVED:
        model.write_bytes(_SAVED[data])
        return model.name
    result = bblr("fit", data, "--model", model, *FAST, "--force")
    assert result.exit_code == 0, result.stderr
    if data.startswith("train."):
        _SAVED[data] = model.read_bytes()
    return model.name
