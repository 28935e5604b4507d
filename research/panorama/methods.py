"""The methods of the panorama, by name: ours and the baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from bblr import BBLRClassifier, BBLRClassifierCV
from research.panorama.baselines import (
    CleanedLogistic,
    TunedLogistic,
    TunedSVM,
    make_boosting,
    make_forest,
)

__all__ = ["BASELINE", "LINEAR", "METHODS", "OURS", "QUICK_METHODS", "Method"]


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


METHODS = {
    method.name: method
    for method in (
        Method("BBLR", BBLRClassifier, "BBLRClassifier()", 0.15, 0.05, True, package="bblr"),
        Method(
            "BBLRCV",
            lambda: BBLRClassifierCV(random_state=0),
            "BBLRClassifierCV()",
            7.0,
            1.5,
            True,
            package="bblr",
        ),
        Method("LR", TunedLogistic, "logistic regression, C chosen from ten", 0.4, 0.15),
        Method("SVM", TunedSVM, "linear SVM, C chosen from ten, Platt scaling", 8.0, 0.2),
        Method(
            "CL",
            CleanedLogistic,
            "cleanlab's CleanLearning with logistic regression, C chosen from ten",
            0.5,
            0.15,
            package="cleanlab",
        ),
        Method(
            "HGB",
            make_boosting,
            "histogram gradient boosting",
            1.2,
            0.2,
            linear=False,
            dense_only=True,
        ),
        Method("RF", make_forest, "random forest of 200 trees", 9.0, 0.3, linear=False),
    )
}
BASELINE = "LR"
OURS = tuple(name for name, method in METHODS.items() if method.ours)
LINEAR = tuple(name for name, method in METHODS.items() if method.linear)
QUICK_METHODS = (*OURS, BASELINE)
