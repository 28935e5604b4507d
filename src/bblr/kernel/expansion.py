"""What fitted kernel classifiers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bblr._numeric.layouts import layout_of
from bblr._numeric.tensors import as_numpy, local
from bblr.designs.gram.expansion_design import Expansion
from bblr.designs.gram.kernel_function import KernelFunction
from bblr.inputs import Training, adapter_of
from bblr.kernel.fit import Floats, KernelFit, KernelProblem
from bblr.kernel.kernel_setup import is_precomputed
from bblr.linear.fitted import ProbabilisticClassifier
from bblr.training.link import Link
from bblr.training.probabilities import Calibrated


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
            With two classes one score, positive where the second is predicted; with more, one
            score per class.
        """
        check_is_fitted(self)
        expansion = Expansion(
            self._function,
            as_numpy(self.support_),
            local(self.support_vectors_),
            as_numpy(self.dual_coef_).T,
            as_numpy(self.intercept_),
        )
        decision = adapter_of(self, X).kernel_scores(expansion)
        found: Floats = layout_of(decision.shape[1]).joined(decision)
        return found

    def _unpack_expansion(
        self,
        fitted: KernelFit,
        problem: KernelProblem,
        rows: NDArray[np.intp],
        data: Training,
        calibrated: Calibrated | None = None,
    ) -> None:
        """Set the fitted attributes; `rows` are the indices of the rows that were fitted.

        Without a calibrated link, the link of the loss is used.
        """
        function, loss = problem.gram.function, fitted.objective.loss
        link, shift = calibrated or (Link.of_loss(loss), 0.0)
        self._function = function
        self.kernel_gamma_ = function.gamma
        self.link_, self.prior_, self.gamma_ = link, loss.plateaus, loss.gamma
        weights = fitted.weights.reshape(len(fitted.weights), -1)
        used = np.flatnonzero(weights.any(axis=1))
        order = used[np.argsort(rows[fitted.basis.centres[used]])]
        support = rows[fitted.basis.centres[order]]
        precomputed = function.name == "precomputed"
        vectors = np.empty((0, 0)) if precomputed else data.X[support]
        in_kind = data.given.in_kind
        codes = loss.layout.codes(data.y[support])
        self.support_ = in_kind(support)
        self.dual_coef_ = in_kind(np.ascontiguousarray(weights[order].T))
        self.support_vectors_ = in_kind(vectors)
        self.n_support_ = in_kind(np.bincount(codes, minlength=len(data.classes)))
        self.intercept_ = in_kind(fitted.intercept + np.array(loss.shift) + shift)
        self.classes_ = data.classes
        self.path_ = fitted.solution.trace
        self.n_iter_ = max(1, fitted.solution.n_iter)
