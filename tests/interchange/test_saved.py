"""Models that released versions saved: they load and predict the same, or are refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bblr import __version__
from bblr._saved import READABLE
from bblr.cli import app
from bblr.io import load_model
from bblr.skops import TRUSTED_TYPES
from tests.interchange.make_saved import FILES, HOME, NAMES
from tests.interchange.models import outputs
from tests.interchange.test_skops import groups

VERSIONS = sorted(path.name for path in HOME.iterdir())


def readable(version: str) -> bool:
    return ".".join(version.split(".")[:2]) in READABLE


def by_pickle(version: str) -> Any:
    return pickle.loads((HOME / version / "models.pickle").read_bytes())


def by_skops(version: str) -> Any:
    sio = pytest.importorskip("skops.io")
    return sio.load(HOME / version / "models.skops", trusted=TRUSTED_TYPES)


def test_this_version_is_among_them():
    assert any(version.split(".")[:2] == __version__.split(".")[:2] for version in VERSIONS)


@pytest.mark.parametrize("load", [by_pickle, by_skops])
@pytest.mark.parametrize("version", VERSIONS)
def test_saved_models_predict_what_they_did(version, load):
    if not readable(version):
        with pytest.raises(ValueError, match=f"saved by bblr {version}"):
            load(version)
        return
    models = load(version)
    with np.load(HOME / version / "expected.npz") as expected:
        for name in NAMES:
            labels, values = outputs(models[name], expected[f"{name}: rows"])
            assert labels.tolist() == expected[f"{name}: labels"].tolist()
            # Other processors round otherwise.
            np.testing.assert_allclose(values, expected[f"{name}: values"], rtol=1e-9, atol=1e-9)
        joint = np.concatenate(models["joint"].predict_proba(groups()))
        np.testing.assert_allclose(joint, expected["joint"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("version", VERSIONS)
def test_saved_files_predict_what_they_did(tmp_path, version, name):
    home = HOME / version
    out = tmp_path / "new.csv"
    command = ["predict", home / f"{name}.bblr", home / "new.csv", "--proba", "--out", out]
    result = CliRunner().invoke(app, [str(word) for word in command])
    if not readable(version):
        assert result.exit_code == 2 and f"saved by bblr {version}" in result.stderr
        return
    assert result.exit_code == 0, result.stderr
    before, after = (path.read_text().splitlines() for path in (home / f"{name}.csv", out))
    assert after[0] == before[0] and len(after) == len(before)
    for old, new in zip(before[1:], after[1:], strict=True):
        assert new.split(",")[0] == old.split(",")[0]
        assert [float(cell) for cell in new.split(",")[1:]] == pytest.approx(
            [float(cell) for cell in old.split(",")[1:]], abs=1e-9
        )
    assert load_model(home / f"{name}.bblr").classes.tolist() == ["cat", "dog"]
