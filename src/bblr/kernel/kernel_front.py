"""The front door of the kernel estimators: parameters in, a problem out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bblr._checks import check_choice, check_number
from bblr._numeric.arrays import square_norms
from bblr.designs.gram.kernel_function import KERNELS, Gram, KernelFunction
from bblr.inputs.front import Training
from bblr.kernel.fit import ALL_CENTRES, SOME_CENTRES, KernelProblem
from bblr.kernel.merged_rows import merged_rows

Floats = NDArray[np.float64]

SPARSITIES = ("backward", "gauss-laplace")
PENALTIES = ("rkhs", "ridge")
# Below this the inverse of a variance is not a number, and rows are as good as equal.
_LEAST_VARIANCE = 1e-290
# Centres to start an elimination from, for each vector that shall be left.
_POOL_FACTOR = 2.5
_LEAST_POOL = 256


def check_kernel_parameters(estimator: Any) -> None:
    """Check the parameters that both kernel classifiers have."""
    check_choice("penalty", estimator.penalty, PENALTIES)
    if estimator.sparsity is not None:
        check_choice("sparsity", estimator.sparsity, SPARSITIES)
    if estimator.max_vectors is not None:
        check_number("max_vectors", estimator.max_vectors, low=1, integer=True)
    if isinstance(estimator.max_centers, str):
        check_choice("max_centers", estimator.max_centers, ("auto",))
    elif estimator.max_centers is not None:
        check_number("max_centers", estimator.max_centers, low=1, integer=True)
    check_number("tol", estimator.tol, low=0, strict=True)
    check_number("max_iter", estimator.max_iter, low=1, integer=True)
    check_number("cache_size", estimator.cache_size, low=0)


def centre_limit(max_centers: Any, n_rows: int, vectors: int | None = None) -> int | None:
    """Return how many centres to draw; None where every row is one.

    Where few of them are wanted in the end, fewer do to begin with.
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
    estimator: Any, training: Training, kernel_gamma: Any, *, merge: bool = True
) -> tuple[KernelProblem, NDArray[np.intp]]:
    """Return the problem of the rows of positive weight, and their numbers.

    Where rows are few, equal ones are merged unless the caller needs each.
    """
    function = resolve_kernel(
        estimator.kernel, kernel_gamma, estimator.degree, estimator.coef0, training.X,
        training.weight,
    )  # fmt: skip
    problem = KernelProblem(
        _gram(function, training),
        training.y,
        training.weight,
        # The mixture is a prior on the weights, and so is what it starts from.
        estimator.penalty == "rkhs" and estimator.sparsity != "gauss-laplace",
        bool(estimator.fit_intercept),
        1e6 * float(estimator.cache_size),
    )
    rows = np.flatnonzero(training.weight > 0)
    if merge and len(rows) <= ALL_CENTRES:
        rows, weight = merged_rows(training.X, training.y, training.weight)
        return replace(problem.on_rows(rows), weight=weight), rows
    return (problem if len(rows) == len(training.y) else problem.on_rows(rows)), rows


def _gram(function: KernelFunction, training: Training) -> Gram:
    if training.device is None:
        return Gram(function, training.X)
    from bblr.designs.torch.tensor_kernel import DeviceGram

    return DeviceGram(function, training.X, training.device)


def resolve_kernel(
    kernel: Any, kernel_gamma: Any, degree: Any, coef0: Any, X: Any, weight: Floats
) -> KernelFunction:
    """Return the kernel that the parameters of an estimator stand for."""
    if not callable(kernel):
        if not isinstance(kernel, str):
            raise ValueError(
                f"kernel must be one of {', '.join(map(repr, KERNELS))} or a callable; "
                f"got {kernel!r}."
            )
        check_choice("kernel", kernel, KERNELS)
    check_number("degree", degree, low=1, integer=True)
    check_number("coef0", coef0, low=-np.inf)
    if isinstance(kernel_gamma, str):
        check_choice("kernel_gamma", kernel_gamma, ("scale", "auto"))
        width = 1.0 / X.shape[1]
        if kernel_gamma == "scale":
            width = scale_width(X, weight, kernel)
    else:
        check_number("kernel_gamma", kernel_gamma, low=0, strict=True)
        width = float(kernel_gamma)
    return KernelFunction(kernel, width, float(degree), float(coef0))


def scale_width(X: Any, weight: Floats, kernel: Any = "rbf") -> float:
    """Return 1 / (n_features * variance of all entries), as SVC's gamma="scale".

    The Laplacian kernel takes distances, not their squares: its width has the standard deviation.
    """
    weight = weight / float(weight.max())
    total = float(weight.sum()) * X.shape[1]
    sparse = issparse(X)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.float64(weight @ np.asarray(X.sum(axis=1)).ravel()) / total
        if sparse:
            variance = float(weight @ square_norms(X) / total - mean**2)
        else:
            variance = float(weight @ square_norms(X - X.dtype.type(mean)) / total)
    if not np.isfinite(variance) and kernel in ("linear", "cosine", "precomputed"):
        return 1.0  # they have no width; what they cannot do themselves they say
    if not np.isfinite(variance):
        raise ValueError(
            "X holds numbers too large to be squared, and kernel_gamma='scale' needs their "
            "variance. Divide X by a constant, for instance with a StandardScaler."
        )
    if variance < _LEAST_VARIANCE:
        return 1.0
    laplacian = isinstance(kernel, str) and kernel == "laplacian"
    return 1.0 / (X.shape[1] * (np.sqrt(variance) if laplacian else variance))
