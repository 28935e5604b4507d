"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder of research data, $BBLR_DATA_HOME or ../shared/data; skips where absent."""
    named = os.environ.get("BBLR_DATA_HOME")
    home = Path(named) if named else ROOT.parent / "shared" / "data"
    if not home.is_dir():
        pytest.skip(f"no research data at {home}; set BBLR_DATA_HOME to their folder")
    return home
