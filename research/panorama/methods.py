"""The methods of the panorama, by name: ours and the baselines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from typing import Any

import bblr
from bblr import BBLRClassifier, BBLRClassifierCV
from research.panorama.baselines import (
    CleanedLogistic,
    TunedLogistic,
    TunedSVM,
    make_boosting,
    make_forest,
)

__all__ = [
    "BASELINE", "LINEAR", "LOADED_SOURCE", "METHODS", "OURS", "QUICK_METHODS", "Method",
    "fingerprint", "own_sources",
]  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A classifier and what must be known to plan its fits.

    Parameters
    ----------
    name : str
        What the user types and the records and tables hold.
    build : callable
        Returns an untrained classifier.
    text : str
        What it is, for the report.
    pace : float
        Seconds to expect for a million numbers of the training part; for each class if there are
        more than two.
    start : float
        Seconds to expect of the smallest table.
    ours : bool, default=False
        Whether it is what the targets are about.
    linear : bool, default=True
        Whether its decisions are linear.
    dense_only : bool, default=False
        Whether it cannot take sparse rows.
    package : str, default="scikit-learn"
        The distribution it comes from.
    """

    name: str
    build: Callable[[], Any]
    text: str
    pace: float
    start: float
    ours: bool = False
    linear: bool = True
    dense_only: bool = False
    package: str = "scikit-learn"

    @property
    def absent(self) -> str:
        """Why it cannot be fitted here; empty where it can."""
        if self.package == "cleanlab" and find_spec("cleanlab") is None:
            return "cleanlab is not installed (pip install cleanlab)"
        return ""

    def expected_seconds(self, numbers: int, classes: int) -> float:
        """Guess the time of a fit to so many numbers other than zero."""
        return self.start + self.pace * numbers / 1e6 * (classes if classes > 2 else 1)


_ENTRIES = (
    Method("BBLR", BBLRClassifier, "BBLRClassifier()", 0.15, 0.05, True, package="bblr"),
    Method(
        "BBLRCV", lambda: BBLRClassifierCV(random_state=0), "BBLRClassifierCV()", 7.0, 1.5, True,
        package="bblr",
    ),
    Method("LR", TunedLogistic, "logistic regression, C chosen from ten", 0.4, 0.15),
    Method("SVM", TunedSVM, "linear SVM, C chosen from ten, Platt scaling", 8.0, 0.2),
    Method(
        "CL", CleanedLogistic,
        "cleanlab's CleanLearning with logistic regression, C chosen from ten", 0.5, 0.15,
        package="cleanlab",
    ),
    Method(
        "HGB", make_boosting, "histogram gradient boosting", 1.2, 0.2, linear=False,
        dense_only=True,
    ),
    Method("RF", make_forest, "random forest of 200 trees", 9.0, 0.3, linear=False),
)  # fmt: skip
METHODS = {method.name: method for method in _ENTRIES}
BASELINE = "LR"
OURS = tuple(name for name, method in METHODS.items() if method.ours)
LINEAR = tuple(name for name, method in METHODS.items() if method.linear)
QUICK_METHODS = (*OURS, BASELINE)
PACKAGES = ("numpy", "scipy", "scikit-learn")
HERE = Path(__file__).parent
# A baseline and its measures are made here; its training part is in the key of a result anyway.
BASELINE_SOURCES = (HERE / "baselines.py", HERE / "scores.py")
# These only report.
_ASIDE = {"__main__.py", "report.py", "results.py", "targets.py"}


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
    ours = [path for path in sorted(HERE.glob("*.py")) if path.name not in _ASIDE]
    return [*sorted(Path(bblr.__file__).parent.rglob("*.py")), *ours]


def _hash(paths: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.parent.name}/{path.name}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:20]


# Taken when a process starts: files may change while it runs, but not what it has loaded.
LOADED_SOURCE = _hash(own_sources())
