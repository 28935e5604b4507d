"""Support vectors and errors as the training set grows, against a kernel SVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bblr.comparison.methods import INNER_FOLDS
from bblr.comparison.records import Record
from bblr.comparison.sources import Table, make_table
from bblr.comparison.tasks import Task
from research.core.parts import Parts

__all__ = ["GrowthPoint", "trec07p_parts", "tuned_kernel", "tuned_svc", "with_vectors"]

# Widths as multiples of "scale", for both classifiers.
WIDTHS = tuple(2.0**power for power in range(-5, 6))
# Penalties for the one, costs for the other, are the same range of strengths.
COSTS = tuple(2.0**power for power in range(-4, 15, 2))
PENALTIES = tuple(1.0 / cost for cost in COSTS)
# Rows on which width and strength of the SVM are chosen, as in KernelBBLRClassifierCV.
TUNING_ROWS = 3000
REFINING_ROWS = 20_000
_TEST_ROWS = 10_000
PATH_SIZES = (724, 512, 362, 256, 181, 128, 90, 64, 45, 32, 23, 16, 11, 8, 6, 4, 3, 2)


def trec07p_parts(seed: int) -> tuple[Table, Parts]:
    """Read TREC07p with rows of length 1, in random order; the last 10,000 are the test part."""
    from bblr.datasets import fetch_trec07p

    X, y = fetch_trec07p(return_X_y=True)
    table = make_table("trec07p", X, y)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = table.X[order], table.y[order]
    parts = Parts(X[:-_TEST_ROWS], y[:-_TEST_ROWS], X[-_TEST_ROWS:], y[-_TEST_ROWS:])
    return table, parts


def error(model: Any, parts: Parts) -> float:
    """Return the test error in percent."""
    return 100.0 * float(np.mean(model.predict(parts.X_test) != parts.y_test))


def tuned_svc(
    X: Any,
    y: Any,
    seed: int,
    *,
    widths: Sequence[float] | None = None,
    costs: Sequence[float] | None = None,
) -> Any:
    """Return an untrained SVM with C and width chosen by cross-validation, on a sample of many.

    Parameters
    ----------
    X, y : array-like
        Training rows.
    seed : int
        Decides the folds.
    widths, costs : sequence of float or None
        Multiples of "scale" and values of C to try, in rising order; WIDTHS and COSTS if None.
    """
    from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
    from sklearn.svm import SVC

    from bblr.kernel.kernel_setup import scale_width

    scale = scale_width(X, np.ones(X.shape[0]))
    gammas = [scale * width for width in widths or WIDTHS]
    tried = list(costs or COSTS)
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    chosen = _best(X, y, tried, gammas, folds, TUNING_ROWS, seed)
    if len(y) > 2 * TUNING_ROWS:
        # A second look at narrower widths and weaker penalties on many more rows.
        i, j = tried.index(chosen["C"]), gammas.index(chosen["gamma"])
        fifth = StratifiedShuffleSplit(1, test_size=0.2, random_state=seed)
        near = tried[i : i + 3], gammas[j : j + 3]
        chosen = _best(X, y, *near, fifth, REFINING_ROWS, seed)
    return SVC(cache_size=500, **chosen)


def _best(
    X: Any, y: Any, costs: list[float], widths: list[float], splits: Any, rows: int, seed: int
) -> dict[str, float]:
    from sklearn.model_selection import GridSearchCV, train_test_split
    from sklearn.svm import SVC

    if len(y) > rows:
        X, _, y, _ = train_test_split(X, y, train_size=rows, stratify=y, random_state=seed)
    grid = {"C": costs, "gamma": widths}
    search = GridSearchCV(SVC(cache_size=500), grid, cv=splits, refit=False).fit(X, y)
    return dict(search.best_params_)


def tuned_kernel(
    X: Any,
    y: Any,
    seed: int,
    *,
    widths: Sequence[float] | None = None,
    costs: Sequence[float] | None = None,
    **options: Any,
) -> Any:
    """Return a fitted KernelBBLRClassifierCV that tried the same widths and strengths.

    Its penalties are 1 / C for each of the costs, PENALTIES if None.
    """
    from bblr import KernelBBLRClassifierCV
    from bblr.kernel.kernel_setup import scale_width

    scale = scale_width(X, np.ones(X.shape[0]))
    model = KernelBBLRClassifierCV(
        kernel_gammas=[scale * width for width in widths or WIDTHS],
        l2s=[1.0 / cost for cost in costs] if costs else PENALTIES,
        random_state=seed,
        **options,
    )
    return model.fit(X, y)


def with_vectors(model: Any, count: int | None, seed: int) -> Any:
    """Return an untrained classifier with a tuned one's settings and that many vectors."""
    from bblr import KernelBBLRClassifier

    return KernelBBLRClassifier(
        kernel_gamma=model.kernel_gamma_,
        l2=model.l2_,
        prior=model.prior_,
        gamma_max=max(1.0, model.gamma_),
        sparsity=None if count is None else "backward",
        max_vectors=count,
        random_state=seed,
    )


@dataclass(frozen=True, kw_only=True)
class GrowthPoint(Task):
    """Sparse kernel BBLR against an SVM, both tuned, on the first rows of a training part.

    The record has vectors and test error in percent of the SVM (``svc_vectors``, ``svc_error``),
    of kernel BBLR with the number of vectors that it chose (``vectors``, ``error``), and with at
    most a third of the SVM's (``third_vectors``, ``third_error``).

    Parameters
    ----------
    n : int
        Training rows.
    fingerprint : str
        A hash of the data.
    whole : bool
        Whether to add the error at each number of vectors, ``path``, that of all centres,
        ``dense_error``, and the ``weights`` before and after both ways of making a fit sparse.
    parts : Parts
        Training and test part.
    """

    method: str = "KBBLR-B"
    n: int
    fingerprint: str
    whole: bool = False
    parts: Parts = field(compare=False, repr=False)

    def work(self) -> Record:
        """Tune and fit."""
        parts, seed = self.parts.first(self.n), self.seed
        X, y = parts.X_train, parts.y_train
        svc = tuned_svc(X, y, seed).fit(X, y)
        count = int(svc.n_support_.sum())
        own = tuned_kernel(X, y, seed, sparsity="backward")
        third = tuned_kernel(X, y, seed, sparsity="backward", max_vectors=max(1, count // 3))
        found: Record = {}
        for prefix, model in (("svc_", svc), ("", own), ("third_", third)):
            found[f"{prefix}vectors"] = int(model.n_support_.sum())
            found[f"{prefix}error"] = error(model, parts)
        if self.whole:
            model = tuned_kernel(X, y, seed)
            found["dense_error"] = error(model, parts)
            found["weights"] = _weights(parts, model, found["vectors"], seed)
            found["path"] = _path(parts, model, seed)
        return found


def _path(parts: Parts, model: Any, seed: int) -> list[tuple[int, float]]:
    """Return the test error at each number of vectors, with a tuned classifier's settings."""
    path = []
    for size in PATH_SIZES:
        if size < len(parts.y_train):
            few = with_vectors(model, size, seed).fit(parts.X_train, parts.y_train)
            path.append((int(few.n_support_.sum()), error(few, parts)))
    return path


def _weights(parts: Parts, model: Any, count: int, seed: int) -> dict[str, Any]:
    """Return the weights under both ways of making a fit sparse, with a tuned one's settings."""
    backward = with_vectors(model, count, seed)
    mixture = with_vectors(model, count, seed).set_params(
        sparsity="gauss-laplace", max_vectors=None
    )
    found = {}
    for label, sparse in (("Gauss-Laplace", mixture), ("backward", backward)):
        sparse.fit(parts.X_train, parts.y_train)
        before, after = sparse.dense_dual_coef_, sparse.dual_coef_[0]
        found[label] = {"before": before.round(6).tolist(), "after": after.round(6).tolist()}
    return found
