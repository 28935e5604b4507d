"""The kernel Beta-Bernoulli classifier with cross-validated settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from bblr._checks import all_or_nothing, check_numbers, check_parameters
from bblr._numeric.threads import one_blas_thread_for_rows
from bblr.inputs import Training
from bblr.kernel.expansion import KernelClassifier
from bblr.kernel.fit import KernelFit, KernelProblem
from bblr.kernel.kernel_search import (
    MANY,
    KernelSearch,
    choose_path,
    places_in,
    widths_to_try,
)
from bblr.kernel.kernel_setup import (
    KERNEL_CONSTRAINTS,
    centre_limit,
    kernel_training,
    make_problem,
)
from bblr.kernel.sparsify import HeldOut, Sparsify
from bblr.losses import Plateaus
from bblr.solvers import Stage
from bblr.training.callbacks import with_callbacks
from bblr.training.cross_validation import Path, Validation, held_out_link
from bblr.training.folds import Fold, make_folds, makes_folds
from bblr.training.monitor import FitMonitor
from bblr.training.probabilities import SCORINGS, Calibrated, fit_link, shared_weight
from bblr.training.start import PRIORS, resolve_prior


class Chosen(NamedTuple):
    """The result of the search, and what the final fit needs from it."""

    width: float
    path: Path
    validation: Validation
    sparsify: Sparsify | None


class KernelBBLRClassifierCV(KernelClassifier):
    """Kernel Beta-Bernoulli classifier with width, penalty, plateaus and vectors cross-validated.

    Width and penalty are chosen on a grid, then plateaus and the schedule of gamma, then the
    number of support vectors, all by cross-validation; the link from scores to probabilities is
    fitted to held-out scores.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "laplacian", "cosine", "precomputed"} or callable, \
default="rbf"
        The kernel, as in :class:`KernelBBLRClassifier`.
    kernel_gammas : "auto" or sequence of float, default="auto"
        Inverse widths to try; "auto" is 1/64, 1/32, ... 8 times "scale".
    degree, coef0 : float, default=3, 0
        Parameters of "poly".
    prior : str or Plateaus, default="tuned"
        Plateaus in training: "tuned" starts from "mild" and changes them where the held-out error
        is clearly lower; "learned" takes those of greatest likelihood on held-out scores; the
        others as in :class:`KernelBBLRClassifier`.
    l2s : sequence of float, default=(30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01)
        Penalties to try.
    penalty : {"rkhs", "ridge"}, default="rkhs"
        As in :class:`KernelBBLRClassifier`.
    sparsity : {"backward", "gauss-laplace"} or None, default=None
        As in :class:`KernelBBLRClassifier`. For "backward" the number of vectors is chosen by
        cross-validation, for "gauss-laplace" the share that starts in the narrow cluster.
    max_vectors : int or None, default=None
        Maximum number of vectors of a sparse fit. With "backward" and up to 3,000 rows, width and
        penalty are then chosen for that number: few vectors need a wider kernel and a weaker
        penalty.
    max_centers : int, "auto" or None, default="auto"
        As in :class:`KernelBBLRClassifier`.
    gamma_limit : float, default=2
        Largest gamma to try.
    scoring : {"accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc"}, \
default="accuracy"
        The score to optimise, as in :class:`BBLRClassifierCV`.
    cv : int, splitter or iterable, default=5
        Folds. An integer means shuffled stratified folds, no more than the smallest class has
        rows, repeated three times where there are fewer than 1,000 rows.
    n_jobs : int or None, default=None
        Widths or folds to run in parallel, by joblib.
    tol, max_iter, fit_intercept, class_weight, cache_size
        As in :class:`KernelBBLRClassifier`.
    device : str or None, default=None
        PyTorch device to compute on: "cuda", "cuda:1", ... or "cpu". By default, tensors are
        processed on their own device if scikit-learn's array-API dispatch is on, and all other
        input with NumPy. Results have the type of X.
    random_state : int, RandomState or None, default=None
        Seed for the folds, samples and centres.
    verbose : int, default=0
        Print one line per step of the search.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_
        As in :class:`KernelBBLRClassifier`.
    kernel_gamma_, l2_, gamma_ : float
        Chosen inverse width, penalty and last gamma.
    prior_ : Plateaus
        Plateaus in training.
    link_ : Link
        The map from scores to probabilities, fitted to held-out scores.
    grid_ : list of GridCell
        Each width and penalty with its cross-validated error and loss.
    refined_ : list of GridCell
        Cells refined on a larger sample, with their held-out error and loss; from 6,000 rows on.
    trials_ : list of Trial
        Plateaus and schedules tried at the chosen width.
    sparsity_path_ : list of tuple
        For "backward", each number of vectors with its cross-validated error and loss, starting
        with the dense fit; for "gauss-laplace", each initial share with its error and loss. With
        more than 3,000 rows they come from one held-out part.
    dense_dual_coef_ : ndarray of shape (n_centres,)
        Weights of all centres, before any was dropped; sparse fits only.
    path_ : list of Stage
        The stages of the final fit, one per gamma.
    n_iter_ : int
        Iterations of the final fit.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are strings.

    See Also
    --------
    KernelBBLRClassifier : The same model with given settings.

    Notes
    -----
    With more than 3,000 rows the search runs on a stratified sample of that size. With more than
    6,000 rows, the best width and penalty and their narrower and weaker neighbours are then
    compared on up to 20,000 rows, a fifth of them held out.

    Examples
    --------
    >>> from bblr import KernelBBLRClassifierCV
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelBBLRClassifierCV(sparsity="backward", cv=3, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), bool(model.n_support_.sum() < 30)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        "kernel_gammas": [StrOptions({"auto"}), "array-like"],
        "prior": [StrOptions({"tuned", *PRIORS}), Plateaus],
        "scoring": [StrOptions(set(SCORINGS))],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_gammas: Any = "auto",
        degree: float = 3,
        coef0: float = 0.0,
        prior: Any = "tuned",
        l2s: Any = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01),
        penalty: str = "rkhs",
        sparsity: str | None = None,
        max_vectors: int | None = None,
        max_centers: Any = "auto",
        gamma_limit: float = 2.0,
        scoring: str = "accuracy",
        cv: Any = 5,
        n_jobs: int | None = None,
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
        self.kernel_gammas = kernel_gammas
        self.degree = degree
        self.coef0 = coef0
        self.prior = prior
        self.l2s = l2s
        self.penalty = penalty
        self.sparsity = sparsity
        self.max_vectors = max_vectors
        self.max_centers = max_centers
        self.gamma_limit = gamma_limit
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the settings by cross-validation and fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, or (n_samples, n_samples) their kernel if that is precomputed.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row: 2 is the same as the row twice, 0 the same as leaving it out.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters that use them.

        Returns
        -------
        self
            Fitted estimator.

        Examples
        --------
        >>> from sklearn.datasets import make_circles
        >>> from bblr import KernelBBLRClassifierCV
        >>> X, y = make_circles(100, factor=0.3, noise=0.1, random_state=0)
        >>> model = KernelBBLRClassifierCV(l2s=(1.0, 0.1), cv=3, random_state=0).fit(X, y)
        >>> model.l2_ in (1.0, 0.1), model.score(X, y)
        (True, 1.0)
        """
        check_parameters(self)
        l2s = tuple(sorted(check_numbers("l2s", self.l2s, low=0), reverse=True))
        training = kernel_training(self, X, y, sample_weight)
        given = self._given_folds(training, groups)
        problem, rows = self._make_problem(training, given)
        random = check_random_state(self.random_state)
        monitor = FitMonitor(self, X, y, sample_weight)
        search = KernelSearch.of(
            self, problem, rows, given, len(training.y), random, monitor, groups
        )
        for name in ("refined_", "sparsity_path_", "dense_dual_coef_"):
            self.__dict__.pop(name, None)
        with (
            one_blas_thread_for_rows(len(problem.y)),
            monitor.fitting(3 if self.sparsity is None else 4),
        ):
            with monitor.search():
                chosen = self._choose(search, problem, l2s, len(training.classes))
            path, final = chosen.path, problem.at_width(chosen.width)
            self.l2_ = path.l2

            def unpack(estimator: Self, best: KernelFit, trace: list[Stage]) -> None:
                # With the link of the loss: there are no held-out scores yet.
                estimator._unpack_expansion(best.after(trace), final, rows, training)

            monitor.unpack = unpack
            fitted, held = self._fit_chosen(chosen, final, random, monitor)
            link = None if monitor.stopped else _fit_link(chosen.validation, path, held)
            self._unpack_expansion(fitted, final, rows, training, link)
        return self

    def _choose(
        self, search: KernelSearch, problem: KernelProblem, l2s: Any, n_classes: int
    ) -> Chosen:
        """Choose width, penalty, plateaus and schedule by cross-validation."""
        widths = widths_to_try(self.kernel_gammas, self.kernel, problem)
        monitor = search.monitor
        part = search.problem
        standing = "mild" if self.prior in ("tuned", "learned") else self.prior
        prior = resolve_prior(standing, part.y, part.weight, n_classes, part.fit_intercept)
        self.grid_ = search.grid(widths, l2s, prior)
        repeats = search.held_out / float(part.weight.sum())
        best = search.best_cell(self.grid_, search.held_out / repeats)
        default = Path(prior, best.l2, (1.0,), None)
        if makes_folds(self.cv) and len(problem.y) > MANY and not monitor.stopped:
            refined = replace(search, problem=problem)
            best, self.refined_ = refined.refine(best, widths, l2s, default, self.max_centers)
        validation = search.validation(best.kernel_gamma, prior)
        path, self.trials_ = choose_path(
            validation, default._replace(l2=best.l2), self.prior, float(self.gamma_limit)
        )
        if self.sparsity is None:
            return Chosen(best.kernel_gamma, path, validation, None)
        limit = centre_limit(self.max_centers, len(problem.y))
        sparsify = Sparsify(search, self.sparsity, self.max_vectors, len(problem.y), limit)
        width = best.kernel_gamma
        if not monitor.stopped:
            width, path = sparsify.suited_to_size(width, path, widths, l2s)
        return Chosen(width, path, validation, sparsify)

    def _fit_chosen(
        self, chosen: Chosen, problem: KernelProblem, random: Any, monitor: FitMonitor
    ) -> tuple[KernelFit, HeldOut | None]:
        path, sparsify = chosen.path, chosen.sparsify
        rng = np.random.default_rng(random.randint(2**31 - 1))
        limit = centre_limit(self.max_centers, problem.gram.n_rows)
        with monitor.task("fit on all rows", len(path.gammas) + 1):
            dense = problem.fit_dense(path, limit, rng, monitor)
        dense = dense._replace(
            solution=replace(dense.solution, trace=monitor.annotated(dense.solution.trace))
        )
        if sparsify is None:
            return dense, None
        self.dense_dual_coef_ = dense.weights
        if monitor.stopped:
            return dense, None
        rng = np.random.default_rng(random.randint(2**31 - 1))
        with monitor.task("drop vectors", None):
            fitted, held, self.sparsity_path_ = sparsify.fit(
                problem, dense, chosen.width, path, rng
            )
        return fitted.with_stop_note(monitor.stopped), held

    def _given_folds(self, training: Training, groups: Any) -> list[Fold] | None:
        if makes_folds(self.cv):
            return None
        return make_folds(self.cv, training.y, training.weight, None, groups)

    def _make_problem(
        self, training: Training, given: list[Fold] | None
    ) -> tuple[KernelProblem, NDArray[np.intp]]:
        n_rows = len(training.y)
        apart = None if given is None else places_in(given, n_rows)
        problem, rows = make_problem(self, training, 1.0, apart)
        if given is None and problem.smallest_class() < 2:
            # A class of one repeated row can be held out only while its rows are not merged.
            return make_problem(self, training, 1.0, np.arange(n_rows))
        return problem, rows


def _fit_link(validation: Validation, path: Path, held: HeldOut | None) -> Calibrated:
    if held is None:
        return held_out_link(validation, path)
    decision, rows = held
    weight = shared_weight(validation.weight, rows)
    free = validation.design.fit_intercept
    return fit_link(decision, validation.y[rows], weight, free=free)
