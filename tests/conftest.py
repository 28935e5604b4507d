"""Fixtures for all tests."""

import hashlib
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from bblr.datasets import load_uci

# The same examples each time, however slow the machine: new ones are for `python -m tests.fuzz`,
# and `pytest --hypothesis-profile default --hypothesis-seed N`.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parents[1]

HERE = Path(__file__).parent
# Left out by `make test-fast`: what starts processes, walks files or runs whole suites of checks.
SLOW = {
    "audit", "cli", "comparison", "dask", "datasets", "fuzz", "io", "other_libraries", "plotting",
    "research", "structured", "zero_one", "inputs/test_out_of_core.py", "inputs/test_torch.py",
    "kernel/test_kernel_cv.py", "linear/test_conformity.py", "numeric/test_zero_one.py",
    "solvers/test_zero_one.py", "test_docs_site.py", "test_gallery.py", "test_playground.py",
    "test_public_names.py", "test_quickstart.py", "test_release.py", "test_scale.py",
    "training/test_callbacks.py", "training/test_interrupt.py",
}  # fmt: skip


def _is_slow(path: Path) -> bool:
    if not path.is_relative_to(HERE):
        return False
    inside = path.relative_to(HERE)
    return bool(SLOW & {part.as_posix() for part in (inside, *inside.parents)})


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even load what takes long where nothing of it is to be run."""
    unwanted = config.option.markexpr == "not slow" and _is_slow(collection_path)
    return True if unwanted else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long, by folder or file."""
    for item in items:
        if _is_slow(item.path):
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def listening() -> Iterator[None]:
    """Ctrl-C is heard, here and in what is started from here, also where the tests run in the
    background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder of research data, $BBLR_DATA_HOME or ../shared/data; skips where absent."""
    named = os.environ.get("BBLR_DATA_HOME")
    home = Path(named) if named else ROOT.parent / "shared" / "data"
    if not home.is_dir():
        pytest.skip(f"no research data at {home}; set BBLR_DATA_HOME to their folder")
    return home


@pytest.fixture
def trust(monkeypatch):
    """Make a loader take the files in a folder, made up for a test, for the real ones."""

    def trust(name: str, home: Path, address: str | None = None) -> None:
        module = import_module(f"bblr.datasets.{name}")
        files = {}
        for key, file in module._FILES.items():
            path = home / file.name
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            url = f"{address}/{file.name}" if address and file.url else file.url
            files[key] = replace(file, sha256=digest, check=None, url=url)
        monkeypatch.setattr(module, "_FILES", files)

    return trust


@pytest.fixture
def write(tmp_path):
    """Write a text to a file of a name."""

    def write(text, name="table.csv", **options):
        path = tmp_path / name
        path.write_text(text, **options)
        return path

    return write


@pytest.fixture(scope="session")
def noisy_data():
    """Return 200 rows of two overlapping classes, twenty of them far out with the wrong label."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = (X @ [2.0, -1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(200) > 0).astype(int)
    X[:20] = 5.0 * X[:20]
    y[:20] = 1 - y[:20]
    return X, y


@pytest.fixture(scope="module")
def moons():
    """Return 150 rows of two classes with a bent boundary."""
    return make_moons(150, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def pima():
    """Return Pima with standardised features."""
    X, y = load_uci("pima", return_X_y=True)
    return StandardScaler().fit_transform(X), y
