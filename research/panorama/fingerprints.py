"""What a result hangs on apart from the data: versions of packages and the source itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from platform import python_version

import bblr
from research.panorama.methods import Method

__all__ = ["LOADED_SOURCE", "fingerprint", "own_sources"]

PACKAGES = ("numpy", "scipy", "scikit-learn")
HERE = Path(__file__).parent
# A baseline and its measures are made here; its training part is in the key of a result anyway.
BASELINE_SOURCES = (HERE / "baselines.py", HERE / "scores.py")


def fingerprint(method: Method) -> dict[str, str]:
    """Return versions and a hash of source, which change when a method's results may.

    Those of our methods change with the library and with this package, those of a baseline with
    its own few lines and the package it comes from: baselines need not be run again after every
    change of ours.
    """
    found = {"python": python_version(), **{name: version(name) for name in PACKAGES}}
    if method.ours:
        numba = {"numba": version("numba"), "bblr": bblr.__version__}
        return {**found, **numba, "source": _hash(own_sources())}
    return {
        **found,
        method.package: version(method.package),
        "source": _hash(BASELINE_SOURCES),
    }


def own_sources() -> list[Path]:
    """Return the files of the library and of this package, without those that only report."""
    return [*sorted(Path(bblr.__file__).parent.rglob("*.py")), *sorted(HERE.glob("*.py"))]


def _hash(paths: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.parent.name}/{path.name}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:20]


# Taken when a process starts: files may change while it runs, but not what it has loaded.
LOADED_SOURCE = _hash(own_sources())
