"""What kernel classifiers share once they are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from bblr._numeric.tensors import as_numpy, is_tensor
from bblr.designs.gram.kernel_function import KernelFunction
from bblr.inputs.front import Training, is_precomputed, validate_rows
from bblr.inputs.stream import refuse_shards
from bblr.inputs.torch_front import device_decision, like, uses_torch
from bblr.kernel.fit import KernelFit
from bblr.linear.fitted import ProbabilisticClassifier, finite_scores
from bblr.training.laplace import class_codes

Floats = NDArray[np.float64]

# Numbers in a block of similarities.
_BLOCK = 4 * 2**20


class KernelClassifier(ProbabilisticClassifier):
    """Weighted sums of similarities to support vectors, and a link to probabilities."""

    _many = True
    kernel: Any
    kernel_gamma_: float
    _function: KernelFunction
    support_: NDArray[np.intp]
    support_vectors_: Any
    dual_coef_: Floats
    intercept_: Floats

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not is_precomputed(self.kernel)
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row: ``similarities @ dual_coef_.T + intercept_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score; with ``kernel="precomputed"`` their similarities to all training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one score, positive where the second is predicted; of more a score
            each.
        """
        check_is_fitted(self)
        refuse_shards(self, X)
        precomputed = self._function.name == "precomputed"
        if uses_torch(self, X) and not callable(self._function.name) and not precomputed:
            decision = device_decision(self, X)
            return decision if decision.shape[1] > 1 else decision[:, 0]
        given = X if uses_torch(self, X) else None
        X = as_numpy(X) if is_tensor(X) else X
        X = validate_rows(self, X, False if precomputed else "csr")
        with np.errstate(over="ignore", invalid="ignore"):
            decision = finite_scores(like(self._decision(X, precomputed), given))
        return decision if decision.shape[1] > 1 else decision[:, 0]

    def _decision(self, X: Any, precomputed: bool) -> Floats:
        weights, intercept = as_numpy(self.dual_coef_).T, as_numpy(self.intercept_)
        if precomputed:
            chosen = X[:, as_numpy(self.support_)]
            return np.asarray(chosen @ weights + intercept, dtype=np.float64)
        vectors = self.support_vectors_
        vectors = as_numpy(vectors) if is_tensor(vectors) else vectors
        sparse = issparse(X)
        if sparse != issparse(vectors) and callable(self._function.name):
            # A callable gets what it got in training.
            X = X.toarray() if sparse else csr_array(X)
        out = np.tile(intercept, (X.shape[0], 1))
        step = max(1, _BLOCK // max(1, len(weights)))
        for s in range(0, X.shape[0] if len(weights) else 0, step):
            out[s : s + step] += self._function(X[s : s + step], vectors) @ weights
        return out

    def _unpack_expansion(
        self,
        fitted: KernelFit,
        function: KernelFunction,
        rows: NDArray[np.intp],
        data: Training,
        shift: Any = 0.0,
    ) -> None:
        """Set the vectors with a weight; `rows` are the numbers of the rows that were fitted.

        `shift` is added to the decision values, as the link asks for.
        """
        self._function = function
        self.kernel_gamma_ = function.gamma
        weights = fitted.weights
        if weights.ndim == 1:
            weights = weights[:, None]
        used = np.flatnonzero(weights.any(axis=1))
        order = used[np.argsort(rows[fitted.basis.centres[used]])]
        support = rows[fitted.basis.centres[order]]
        precomputed = function.name == "precomputed"
        vectors = np.empty((0, 0)) if precomputed else data.X[support]
        loss = fitted.objective.loss
        codes = class_codes(data.y[support], loss.n_scores)
        self.support_ = data.like_rows(support)
        self.dual_coef_ = data.like_rows(np.ascontiguousarray(weights[order].T))
        self.support_vectors_ = data.like_rows(vectors)
        self.n_support_ = data.like_rows(np.bincount(codes, minlength=len(data.classes)))
        self.intercept_ = data.like_rows(fitted.intercept + np.array(loss.shift) + shift)
        self.classes_ = data.classes
        self.path_ = fitted.solution.trace
        self.n_iter_ = max(1, fitted.solution.n_iter)
