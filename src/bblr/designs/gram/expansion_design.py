"""A fitted sum of similarities to vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from bblr._numeric.threads import one_blas_thread
from bblr.designs.gram.kernel_function import KernelFunction

Floats = NDArray[np.float64]

# Numbers in a block of similarities.
_BLOCK = 4 * 2**20


class Expansion(NamedTuple):
    """Weighted sums of similarities to vectors: the scores of a kernel classifier.

    Parameters
    ----------
    function : KernelFunction
        The kernel.
    support : ndarray of shape (n_vectors,)
        Numbers of the vectors among the training rows, for a kernel that is given.
    vectors : {ndarray, sparse matrix} of shape (n_vectors, n_features)
        The vectors.
    weights : ndarray of shape (n_vectors, n_scores)
        Their weights.
    intercept : ndarray of shape (n_scores,)
        What is added to each score.
    """

    function: KernelFunction
    support: NDArray[np.intp]
    vectors: Any
    weights: Floats
    intercept: Floats

    @property
    def sparse(self) -> Any:
        """Formats of sparse rows that the kernel takes."""
        return False if self.function.name == "precomputed" else "csr"

    def scores(self, X: Any) -> Floats:
        """Return the scores of an array or a sparse matrix, one column per score."""
        # Whoever limits BLAS in another thread limits it here: the same bits with any limit.
        with one_blas_thread(max(X.shape[0], len(self.weights))):
            return self._scores(X)

    def _scores(self, X: Any) -> Floats:
        if self.function.name == "precomputed":
            chosen = X[:, self.support]
            return np.asarray(chosen @ self.weights + self.intercept, dtype=np.float64)
        sparse = issparse(X)
        if sparse != issparse(self.vectors) and callable(self.function.name):
            # A callable gets what it got in training.
            X = X.toarray() if sparse else csr_array(X)
        out = np.tile(self.intercept, (X.shape[0], 1))
        step = max(1, _BLOCK // max(1, len(self.weights)))
        for s in range(0, X.shape[0] if len(self.weights) else 0, step):
            out[s : s + step] += self.function(X[s : s + step], self.vectors) @ self.weights
        return out
