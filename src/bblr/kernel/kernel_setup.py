"""From the parameters and data of a kernel estimator to a problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils._param_validation import StrOptions

from bblr._checks import CONSTRAINTS, POSITIVE
from bblr._numeric.arrays import as_dense, by_distances, column_variances, equal_rows
from bblr.designs.gram.kernel_function import KERNELS, KernelFunction
from bblr.inputs import Training, adapter_of
from bblr.kernel.fit import ALL_CENTRES, SOME_CENTRES, Floats, KernelProblem
from bblr.solvers import LBFGS

# Parameters of both kernel classifiers.
KERNEL_CONSTRAINTS: dict[str, Any] = {
    **CONSTRAINTS,
    "kernel": [StrOptions(set(KERNELS)), callable],
    "kernel_gamma": [StrOptions({"scale", "auto"}), POSITIVE],
    "penalty": [StrOptions({"rkhs", "ridge"})],
    "sparsity": [StrOptions({"backward", "gauss-laplace"}), None],
}
# Below this the inverse of a variance overflows, and rows are practically equal.
_LEAST_VARIANCE = 1e-290
# Centres from which an elimination starts, per vector to be kept.
_POOL_FACTOR = 2.5
_LEAST_POOL = 256
# Rows that give columns an order, at most, and how many numbers of theirs are looked at.
_TELLING, _LOOKS = 1000, 1_000_000


def kernel_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """Validate and encode the arguments of ``fit``.

    Sparse rows become CSR, since rows are selected. A precomputed kernel must be dense.
    """
    rows = adapter_of(estimator, X)
    if not is_precomputed(estimator.kernel):
        return rows.matrix_training(y, sample_weight, ["csr"])
    training = rows.matrix_training(y, sample_weight, False)
    X = training.X
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X must be the square matrix of the kernel of all training rows with "
            f"kernel='precomputed', got an array of shape {X.shape}."
        )
    largest = float(np.abs(X).max(initial=0.0))
    if not np.allclose(X, X.T, rtol=1e-4, atol=1e-6 * largest):
        raise ValueError(
            "X must be symmetric with kernel='precomputed'; (X + X.T) / 2 is symmetric."
        )
    return training


def is_precomputed(kernel: Any) -> bool:
    """Whether X holds the kernel itself."""
    return isinstance(kernel, str) and kernel == "precomputed"


def centre_limit(max_centers: Any, n_rows: int, vectors: int | None = None) -> int | None:
    """Return how many centres to draw; None where every row is one.

    A fit that is to keep few vectors starts from fewer centres.
    """
    if max_centers is None:
        return None
    limit = max_centers
    if limit == "auto":
        limit = SOME_CENTRES if n_rows > ALL_CENTRES else n_rows
        if vectors is not None and n_rows > ALL_CENTRES:
            limit = max(vectors, min(limit, max(_LEAST_POOL, round(_POOL_FACTOR * vectors))))
    return int(limit) if limit < n_rows else None


def make_problem(
    estimator: Any, training: Training, kernel_gamma: Any, apart: Any = None
) -> tuple[KernelProblem, NDArray[np.intp]]:
    """Return the problem of the rows of positive weight, and their numbers.

    Where rows are few their order is that of their values, so that draws do not depend on the one
    in which they are given; and equal rows of a class are merged, unless they differ in `apart`,
    a number for each row.
    """
    kernel, width, X = estimator.kernel, kernel_gamma, training.X
    rows, weight = np.flatnonzero(training.weight > 0), training.weight
    few = len(rows) <= ALL_CENTRES
    if few:
        rows, weight = merged_rows(X, training.y, weight, apart)
    if few and isinstance(kernel, str) and not is_precomputed(kernel):
        X = by_columns(X, rows)
    if width == "scale":
        width = scale_width(X[rows] if few else X, weight, kernel)
    elif width == "auto":
        width = 1.0 / X.shape[1]
    function = KernelFunction(
        kernel, float(width), float(estimator.degree), float(estimator.coef0)
    )
    problem = KernelProblem(
        training.given.gram(function, X),
        training.y,
        training.weight,
        # The mixture is a prior on the weights, and so is that of the fit it starts from.
        estimator.penalty == "rkhs" and estimator.sparsity != "gauss-laplace",
        bool(estimator.fit_intercept),
        1e6 * float(estimator.cache_size),
        LBFGS(tol=estimator.tol, max_iter=5 * int(estimator.max_iter)),
    )
    if few:
        return replace(problem.on_rows(rows), weight=weight), rows
    return (problem if len(rows) == len(training.y) else problem.on_rows(rows)), rows


def merged_rows(
    X: Any, y: Floats, weight: Floats, apart: Any = None
) -> tuple[NDArray[np.intp], Floats]:
    """Return one of each set of equal rows of one class, and the weight of the set.

    Rows of zero weight are left out, and those that differ in `apart` are not of one set. The
    order depends on the values alone, and neither on the order of columns nor on their signs: a
    row of weight 2 and two equal rows give the same fit to the last bit, and so do rows mirrored
    in an axis.
    """
    rows = np.flatnonzero(weight > 0)
    kinds: NDArray[Any] = y[rows]
    if apart is not None:
        kinds = np.unique(np.column_stack([kinds, apart[rows]]), axis=0, return_inverse=True)[1]
    first, place = equal_rows(X[rows], kinds.ravel())
    total = np.bincount(place, weight[rows])
    rows = rows[first]
    order = by_distances(X[rows])
    return rows[order], np.asarray(total[order], dtype=np.float64)


def by_columns(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return X with its columns in an order of their values in rows that have an order.

    Sums over columns are then the same to the last bit in whatever order these are given. Rows far
    from all others have equal eigenvalues, whose vectors the last bit chooses. Of columns that all
    these rows do not tell apart many are zero, and add nothing.
    """
    few = as_dense(X[rows[: max(1, min(_TELLING, _LOOKS // X.shape[1]))]])
    order = np.lexsort(np.abs(few)[::-1])
    X = X[:, order]
    sparse = issparse(X)
    if sparse:
        X.sort_indices()
    return X


def scale_width(X: Any, weight: Floats, kernel: Any = "rbf") -> float:
    """Return 1 over the sum of the variances of the columns.

    This is SVC's gamma="scale" where columns have one mean; it does not change with the signs of
    columns, and one that is constant plays no part. The Laplacian kernel takes distances, not
    their squares: its width has the standard deviations.
    """
    laplacian = isinstance(kernel, str) and kernel == "laplacian"
    with np.errstate(over="ignore", invalid="ignore"):
        variances = column_variances(X, weight / float(weight.max()))
        variance = float((np.sqrt(variances) if laplacian else variances).sum())
    if not np.isfinite(variance) and kernel in ("linear", "cosine", "precomputed"):
        return 1.0  # these have no width
    if not np.isfinite(variance):
        raise ValueError(
            "X holds numbers too large to be squared, and kernel_gamma='scale' needs their "
            "variance. Divide X by a constant, for instance with a StandardScaler."
        )
    return 1.0 / variance if variance >= _LEAST_VARIANCE else 1.0
