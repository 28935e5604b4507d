"""Saved models: the classes they are made of, and which versions of them can be read.

Every estimator says in its state which bblr saved it. The state is the format: a minor version
may change it, and what it can still read stands in `READABLE`.
"""

from __future__ import annotations

import re
from typing import Any

from sklearn.base import BaseEstimator

from bblr._version import __version__

__all__ = ["READABLE", "TRUSTED_TYPES", "VERSION", "Versioned", "check_version"]

# Where the version stands in the state of an estimator.
VERSION = "_bblr_version"
# Minor versions whose models are the same as ours.
READABLE = ("0.2",)

# Every class that a fitted estimator may hold, and no other: a reader that makes objects of these
# alone can be given a file of anyone. Their places are part of the format.
TRUSTED_TYPES: tuple[str, ...] = (
    "bblr.designs.kernel_function.KernelFunction",
    "bblr.kernel.kernel_search.Cell",
    "bblr.training.cross_validation.Path",
    "bblr.training.cross_validation.Trial",
    "bblr.linear.dask_classifiers.DaskBBLRClassifier",
    "bblr.linear.dask_classifiers.DaskBBLRClassifierCV",
    "bblr.kernel.kernel_classifier.KernelBBLRClassifier",
    "bblr.kernel.kernel_classifier_cv.KernelBBLRClassifierCV",
    "bblr.linear.classifier.BBLRClassifier",
    "bblr.linear.classifier_cv.BBLRClassifierCV",
    "bblr.training.link.Link",
    "bblr.training.link.Step",
    "bblr.linear.sla.SLAClassifier",
    "bblr.zero_one.zero_one_classifier.ZeroOneClassifier",
    "bblr.losses.plateaus.Plateaus",
    "bblr.solvers.fisher.FisherScoring",
    "bblr.solvers.gradient_descent.GradientDescent",
    "bblr.solvers.lbfgs.LBFGS",
    "bblr.solvers.range_search.RangeSearch",
    "bblr.solvers.solution.Stage",
    "bblr.solvers.zero_one.progress.Moment",
    "bblr.solvers.zero_one_line.ZeroOneCoordinates",
    "bblr.solvers.zero_one_line.ZeroOneSearch",
    "bblr.structured.calibration.Calibration",
    "bblr.structured.factors.Evidence",
    "bblr.structured.joint.JointModel",
    # Support vectors of sparse rows.
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)


def check_version(saved: Any) -> None:
    """Raise a ValueError unless models of this version of bblr can be read here.

    Examples
    --------
    >>> from bblr._saved import check_version
    >>> check_version("0.2.0")
    >>> check_version("99.1.0")
    Traceback (most recent call last):
    ValueError: the model was saved by bblr 99.1.0, which is later than bblr ... here; ...
    """
    saved_minor, own_minor = _minor(saved), _minor(__version__)
    if saved_minor is not None and saved_minor > own_minor:
        raise ValueError(
            f"the model was saved by bblr {saved}, which is later than bblr {__version__} here; "
            f"install bblr {saved} or later, or fit the model again"
        )
    if saved_minor is None or ".".join(map(str, saved_minor)) not in READABLE:
        by = "a bblr without a version" if saved is None else f"bblr {saved}"
        raise ValueError(
            f"the model was saved by {by}, and bblr {__version__} here reads those of "
            f"{', '.join(READABLE)}; install the version that saved it, or fit the model again"
        )


def _minor(version: Any) -> Any:
    found = re.match(r"(\d{1,9})\.(\d{1,9})(?!\d)", version) if isinstance(version, str) else None
    return None if found is None else (int(found[1]), int(found[2]))


class Versioned(BaseEstimator):
    """An estimator whose pickles, and whatever else takes its state, carry the version."""

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_version(state.get(VERSION))
        super().__setstate__({key: state[key] for key in state if key != VERSION})
