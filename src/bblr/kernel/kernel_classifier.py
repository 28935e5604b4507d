"""The kernel Beta-Bernoulli classifier, dense or sparse."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from bblr._checks import AT_LEAST_0, all_or_nothing, check_parameters
from bblr._numeric.threads import one_blas_thread_for_rows
from bblr.kernel.expansion import KernelClassifier
from bblr.kernel.fit import KernelFit, KernelProblem
from bblr.kernel.held_out_fit import learned_prior, validated_shares
from bblr.kernel.kernel_setup import (
    KERNEL_CONSTRAINTS,
    centre_limit,
    kernel_training,
    make_problem,
)
from bblr.kernel.sparse_fit import SHARES, Elimination, gauss_laplace, training_figures
from bblr.solvers import Stage, geometric
from bblr.training.callbacks import with_callbacks
from bblr.training.cross_validation import Path
from bblr.training.monitor import FitMonitor
from bblr.training.start import resolve_prior


class KernelBBLRClassifier(KernelClassifier):
    """Beta-Bernoulli logistic regression with a kernel, optionally with few support vectors.

    The score is f(x) = sum_j a_j K(x, z_j) + c over centres z_j among the training rows, and the
    probability mu = a + b * sigmoid(gamma * f(x)), as in :class:`BBLRClassifier`. Fitted
    attributes have the names of ``sklearn.svm.SVC``.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "laplacian", "cosine", "precomputed"} or callable, \
default="rbf"
        The kernel. With "precomputed", X holds the kernel itself: (n_samples, n_samples) for
        ``fit``, (n_samples, n_training_samples) to predict. A callable gets two sets of rows and
        returns the matrix of their similarities.
    kernel_gamma : {"scale", "auto"} or float, default="scale"
        Inverse width of "rbf" and "laplacian", factor of "poly": "scale" is 1 over the sum of the
        variances of the columns, which for standardised columns is SVC's; "auto" is
        1 / n_features. (`gamma_min` and `gamma_max` are the sharpness of the loss.)
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0
        Constant of "poly".
    prior : {"mild", "robust", "weak", "empirical", "learned"} or Plateaus, default="mild"
        Plateaus of the model: "mild" is a = 0.05, b = 0.9; "learned" are those of greatest
        likelihood on the scores of five held-out folds; the others are those of
        :class:`BBLRClassifier`.
    l2 : float, default=0.3
        Strength of the penalty.
    penalty : {"rkhs", "ridge"}, default="rkhs"
        "rkhs" penalises the norm of the function, l2 / 2 * a'Ka; "ridge" the weights,
        l2 / 2 * a'a, as the paper does, which also allows kernels that are not positive
        semi-definite.
    sparsity : {"backward", "gauss-laplace"} or None, default=None
        How to reduce the number of vectors.

        - None: keep all centres;
        - "backward": backward elimination, which repeatedly drops the least useful vectors and
          refits;
        - "gauss-laplace": the paper's mixture prior on the weights with hard-assignment EM; the
          weights of the narrow cluster are dropped and the others refitted. It implies
          ``penalty="ridge"``.
    max_vectors : int or None, default=None
        Maximum number of vectors of a sparse fit. None lets "backward" drop vectors until the
        objective has risen by 1 %, and sets no limit for "gauss-laplace".
    max_centers : int, "auto" or None, default="auto"
        Maximum number of centres. "auto" takes all rows up to 2,000 and 1,000 of more, or two and
        a half times `max_vectors`; None takes all, with memory quadratic in n_samples. Centres
        are drawn by randomly pivoted Cholesky factorisation, mostly where a rough first fit has
        large residuals.
    laplace_share : float or "validated", default="validated"
        Share of the weights that "gauss-laplace" starts in the narrow cluster; "validated" chooses
        it by the error on a held-out quarter of the rows.
    gamma_min, gamma_max, gamma_growth : float, default=1, 1, 2
        Sharpness of the first and last stage of training, and the factor between stages.
    tol : float, default=1e-4
        Relative decrease of the objective, as predicted by a quadratic model, below which the last
        stage stops.
    max_iter : int, default=100
        Maximum number of iterations of a stage, times five for L-BFGS.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    class_weight : dict, "balanced" or None, default=None
        Weight factors by class; 1 for classes missing from a dict. Classes and rows of weight 0
        are left out of the fit.
    cache_size : float, default=1000
        Memory for similarities in MB; what does not fit is recomputed in each pass.
    device : str or None, default=None
        PyTorch device to compute on: "cuda", "cuda:1", ... or "cpu". By default, tensors are
        processed on their own device if scikit-learn's array-API dispatch is on, and all other
        input with NumPy. Results have the type of X.
    random_state : int, RandomState or None, default=None
        Seed for drawing centres, and the rows held out for `prior` and `laplace_share`.
    verbose : int, default=0
        Print one line per stage.

    Attributes
    ----------
    support_ : ndarray of shape (n_vectors,)
        Indices of the support vectors in the training rows.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_vectors, n_features)
        Support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (1, n_vectors)
        Their weights.
    intercept_ : ndarray of shape (1,)
        Intercept; the decision changes at a score of 0.
    classes_ : ndarray of shape (2,)
        Classes, the positive one last.
    kernel_gamma_ : float
        Inverse width of the kernel.
    gamma_ : float
        Sharpness at which the weights were fitted.
    prior_ : Plateaus
        Plateaus.
    link_ : Link
        The map from scores to probabilities.
    dense_dual_coef_ : ndarray of shape (n_centres,)
        Weights of all centres, before any was dropped; sparse fits only.
    sparsity_path_ : list of tuple
        For "backward", the number of vectors, training error and mean loss of each refit, starting
        with all centres.
    path_ : list of Stage
        For each gamma: objective, training errors, iterations and stopping reason.
    n_iter_ : int
        Iterations over all stages.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are strings.

    See Also
    --------
    KernelBBLRClassifierCV : Chooses width, penalty, plateaus and the number of vectors.

    Notes
    -----
    The kernel uses X as it is: put a ``StandardScaler`` before it where features have different
    units.

    Examples
    --------
    >>> from bblr import KernelBBLRClassifier
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelBBLRClassifier(sparsity="backward", max_vectors=8, random_state=0).fit(X, y)
    >>> model.support_vectors_.shape
    (8, 2)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        "l2": [AT_LEAST_0],
        "laplace_share": [Interval(Real, 0, 1, closed="left"), StrOptions({"validated"})],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        prior: Any = "mild",
        l2: float = 0.3,
        penalty: str = "rkhs",
        sparsity: str | None = None,
        max_vectors: int | None = None,
        max_centers: Any = "auto",
        laplace_share: Any = "validated",
        gamma_min: float = 1.0,
        gamma_max: float = 1.0,
        gamma_growth: float = 2.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        cache_size: float = 1000,
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.coef0 = coef0
        self.prior = prior
        self.l2 = l2
        self.penalty = penalty
        self.sparsity = sparsity
        self.max_vectors = max_vectors
        self.max_centers = max_centers
        self.laplace_share = laplace_share
        self.gamma_min = gamma_min
        self.gamma_max = gamma_max
        self.gamma_growth = gamma_growth
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, or (n_samples, n_samples) their kernel if that is precomputed.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row: 2 is the same as the row twice, 0 the same as leaving it out.

        Returns
        -------
        self
            Fitted estimator.

        Examples
        --------
        >>> from sklearn.datasets import make_circles
        >>> from bblr import KernelBBLRClassifier
        >>> X, y = make_circles(100, factor=0.3, noise=0.1, random_state=0)
        >>> KernelBBLRClassifier().fit(X, y).score(X, y)
        1.0
        """
        check_parameters(self)
        training = kernel_training(self, X, y, sample_weight)
        problem, rows = make_problem(self, training, self.kernel_gamma)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        for name in ("dense_dual_coef_", "sparsity_path_"):
            self.__dict__.pop(name, None)
        n_classes = len(training.classes)
        prior = resolve_prior(
            self.prior, problem.y, problem.weight, n_classes, problem.fit_intercept
        )
        gammas = geometric(self.gamma_min, self.gamma_max, self.gamma_growth)
        path = Path(prior, float(self.l2), gammas, None)
        learns, drops = self.prior == "learned", self.sparsity is not None
        dense: KernelFit | None = None

        def unpack(estimator: Self, best: KernelFit, trace: list[Stage]) -> None:
            estimator._unpack_expansion(best.after(trace), problem, rows, training)
            if drops:
                estimator.dense_dual_coef_ = (dense or best).weights

        monitor = FitMonitor(self, X, y, sample_weight)
        with (
            one_blas_thread_for_rows(len(problem.y)),
            monitor.fitting(len(gammas) + 1 + learns + drops, unpack),
        ):
            if learns and problem.smallest_class() > 1:
                fit_part = partial(self._fit_dense, rng)
                learned = learned_prior(problem, path, n_classes, fit_part, rng, monitor)
                path = path._replace(prior=learned)
            fitted = dense = self._fit_dense(rng, problem, path, monitor)
            if drops and not monitor.stopped:
                with monitor.task("drop vectors", None):
                    fitted = self._drop(problem, dense, path, rng, monitor)
                fitted = fitted.with_stop_note(monitor.stopped)
            self._unpack_expansion(fitted, problem, rows, training)
            if drops:
                self.dense_dual_coef_ = dense.weights
        return self

    def _fit_dense(
        self,
        rng: np.random.Generator,
        problem: KernelProblem,
        path: Path,
        monitor: FitMonitor | None = None,
    ) -> KernelFit:
        wanted = self.max_vectors if self.sparsity == "backward" else None
        limit = centre_limit(self.max_centers, problem.gram.n_rows, wanted)
        return problem.fit_dense(path, limit, rng, monitor)

    def _drop(
        self,
        problem: KernelProblem,
        dense: KernelFit,
        path: Path,
        rng: np.random.Generator,
        monitor: FitMonitor,
    ) -> KernelFit:
        """Return the fit with fewer vectors."""
        most = self.max_vectors
        if self.sparsity == "backward":
            elimination = Elimination(problem, path, rng, monitor, [training_figures(dense)])
            self.sparsity_path_ = elimination.refits
            if most is None:
                return elimination.to_rise(dense)
            return next(elimination.to_sizes(elimination.pool(dense, most), (most,)))

        def mixture(part: KernelProblem, full: KernelFit, share: float) -> KernelFit:
            return gauss_laplace(part, full, path, share, most)

        share = self.laplace_share
        if share != "validated" or problem.smallest_class() < 2:
            return mixture(problem, dense, 0.5 if share == "validated" else float(share))
        fit_part = partial(self._fit_dense, rng)
        promise = validated_shares(problem, path, fit_part, mixture, rng, monitor)
        fitted, k = promise.kept(partial(mixture, problem, dense))
        monitor.log(f"{SHARES[k]:g} of the weights start in the narrow cluster")
        return fitted
