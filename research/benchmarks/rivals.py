"""The rivals, an adapter each, with the settings they race with.

Everyone races with its own defaults: strength, tolerance and limit of iterations. Where a rival
states its strength by the row (skglm), it gets what C = 1 means to the others. What a rival does
to X before it starts is on its clock, as it is on ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC, LinearSVC

from bblr import BBLRClassifier, KernelBBLRClassifier

__all__ = ["KERNEL", "LINEAR", "OURS", "Rival", "racing"]

OURS = "bblr"


@dataclass(frozen=True)
class Rival:
    """A classifier that races.

    Parameters
    ----------
    name : str
        As tables show it.
    settings : str
        What is not a default, in words; empty where everything is.
    make : callable
        Makes an untrained classifier for so many rows.
    fits : str
        The kinds of work it can do, in words: "dense", "sparse", "wide" (more features than a
        square matrix of them is worth), "many" (classes), "kernel".
    module : str
        What must be installed, if it is not a dependency of bblr.
    """

    name: str
    settings: str
    make: Callable[[int], Any]
    fits: str
    module: str = ""

    def missing(self) -> str:
        """Say what is not installed; empty where it can race."""
        if self.module and find_spec(self.module) is None:
            return f"{self.module} is not installed (pip install '.[bench]')"
        return ""


class Liblinear(ClassifierMixin, BaseEstimator):
    """liblinear's own Python interface as a classifier: L2 logistic regression, primal."""

    def __init__(self, options: str = "-s 0 -c 1 -B 1 -q") -> None:
        self.options = options

    def fit(self, X: Any, y: Any) -> Liblinear:
        from liblinear.liblinearutil import parameter, problem, train

        self.classes_, codes = np.unique(y, return_inverse=True)
        # It reads sparse rows only; its own way from a dense array is ten times slower.
        model = train(problem(codes.astype(float), sparse.csr_matrix(X)), parameter(self.options))
        order = np.array(model.get_labels(), dtype=int)
        columns = 1 if len(order) == 2 else len(order)
        weights = np.ctypeslib.as_array(model.w, shape=(X.shape[1] + 1, columns)).copy()
        self.coef_, self.intercept_, self.order_ = weights[:-1], weights[-1], order
        return self

    def predict(self, X: Any) -> Any:
        scores = X @ self.coef_ + self.intercept_
        best = (scores[:, 0] <= 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[self.order_[best]]


def _skglm(rows: int) -> Any:
    from skglm import SparseLogisticRegression

    return SparseLogisticRegression(alpha=1.0 / rows, l1_ratio=0.0)


def _logistic(solver: str, fits: str) -> Rival:
    return Rival(
        f"LogisticRegression {solver}",
        "" if solver == "lbfgs" else f'solver="{solver}"',
        lambda rows: LogisticRegression(solver=solver, random_state=0),
        fits,
    )


LINEAR = (
    Rival(OURS, "", lambda rows: BBLRClassifier(), "dense sparse wide many"),
    _logistic("lbfgs", "dense sparse wide many"),
    _logistic("liblinear", "dense sparse wide"),
    _logistic("newton-cholesky", "dense sparse many"),
    _logistic("saga", "dense sparse wide many"),
    Rival("LinearSVC", "", lambda rows: LinearSVC(random_state=0), "dense sparse wide many"),
    Rival(
        "SGDClassifier",
        'loss="modified_huber"',
        lambda rows: SGDClassifier(loss="modified_huber", random_state=0),
        "dense sparse wide many",
    ),
    Rival(
        "liblinear-official",
        "-s 0 -c 1 -B 1",
        lambda rows: Liblinear(),
        "dense sparse wide many",
        "liblinear",
    ),
    Rival(
        "skglm",
        "SparseLogisticRegression(alpha=1/n, l1_ratio=0)",
        _skglm,
        "dense sparse wide many",
        "skglm",
    ),
)

KERNEL = (
    Rival(OURS, "KernelBBLRClassifier()", lambda rows: KernelBBLRClassifier(), "kernel"),
    Rival(
        f"{OURS} sparse",
        'KernelBBLRClassifier(sparsity="backward")',
        lambda rows: KernelBBLRClassifier(sparsity="backward", random_state=0),
        "kernel",
    ),
    Rival("SVC", "", lambda rows: SVC(), "kernel"),
)


def racing(rivals: tuple[Rival, ...], kind: str) -> tuple[list[Rival], dict[str, str]]:
    """Return those that can do a kind of work, and why the others of them are not installed."""
    able = [rival for rival in rivals if kind in rival.fits.split()]
    missing = {rival.name: rival.missing() for rival in able if rival.missing()}
    return [rival for rival in able if rival.name not in missing], missing
