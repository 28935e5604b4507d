"""The linear Beta-Bernoulli classifier with SLAM: it chooses its own meta-parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from bblr._checks import (
    CONSTRAINTS,
    LARGEST,
    all_or_nothing,
    check_numbers,
    check_parameters,
)
from bblr.designs import ScaledDesign
from bblr.inputs import Training, adapter_of
from bblr.linear.fitted import ProbabilisticLinearClassifier
from bblr.losses import BetaBernoulli, Plateaus
from bblr.solvers import Annealing, Solution, Stage
from bblr.training.callbacks import with_callbacks
from bblr.training.cross_validation import (
    Path,
    Trial,
    Validation,
    held_out_link,
    learned_plateaus,
)
from bblr.training.folds import FEW, make_folds
from bblr.training.marginal import (
    Unknown,
    first_objective,
    leverage_limit,
    settle,
)
from bblr.training.monitor import FitMonitor
from bblr.training.probabilities import SCORINGS, Calibrated
from bblr.training.search import Slam
from bblr.training.start import (
    LOOSE,
    PRIORS,
    Fitted,
    anneal,
    make_descent,
    make_objective,
    make_start,
    penalty_of,
    robust_start,
    warn_if_flat,
)

Floats = NDArray[np.float64]

# Penalties to try, as multiples of the estimated one.
_L2_FACTORS = (16.0, 4.0, 1.0, 0.25)
# The least of many cross-validated errors is partly luck: a choice must beat the default by this
# many standard errors.
_EVIDENCE = 1.0


class BBLRClassifierCV(ProbabilisticLinearClassifier):
    """Beta-Bernoulli logistic regression that tunes itself by cross-validation (SLAM).

    The model is that of :class:`BBLRClassifier`, for any number of classes. Plateaus, penalty and
    the schedule of gamma are chosen for accuracy on held-out parts of the training data; then the
    link from scores to probabilities is fitted to held-out scores. Decisions thus come from the
    plateaus that decide best, and probabilities from those that predict best.

    Parameters
    ----------
    prior : str, Plateaus, default="tuned"
        Plateaus in training.

        - "tuned": chosen by cross-validation;
        - "empirical": the counts of the classes (the paper's BBLR3);
        - "learned": the plateaus of greatest likelihood on held-out scores, by their gradients,
          started from the held-out error rates; penalty and schedule are then chosen anew (BBLR4);
        - the others as in :class:`BBLRClassifier`.
    l2s : "auto" or tuple of float, default="auto"
        Penalties to try; while the weakest of them is the best, weaker ones are tried as well.
        "auto" stands for 16, 4, 1 and 1/4 times the one that the marginal likelihood suggests.
    gamma_limit : float, default=8
        Largest gamma to try.
    leverage : {"tuned"}, float or None, default="tuned"
        Bound on the reach of far-off rows, as in :class:`BBLRClassifier`. "tuned" starts from
        its "auto" and gives it up where held-out rows speak clearly for that.
    scoring : {"accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc"}, \
default="accuracy"
        What the choice is made for, on held-out rows; with more than two classes "roc_auc" is the
        mean of each class against the rest.
    noise_free_proba : bool, default=False
        As in :class:`BBLRClassifier`.
    cv : int, splitter or iterable, default=5
        Folds. An integer means stratified folds in random order, fewer where a class has not as
        many examples, and three divisions of the data where there are fewer than 1,000 examples.
        Rows in order of time or in groups want a splitter that respects it, such as
        ``TimeSeriesSplit()``, or ``GroupKFold()`` with `groups` in ``fit``.
    n_jobs : int or None, default=None
        Folds to work on at the same time, by joblib. With None the folds of a small dense table
        run on threads.
    solver : {"auto", "fisher", "lbfgs"}, default="auto"
        Descent at each gamma.
    tol, max_iter, fit_intercept, class_weight
        As in :class:`BBLRClassifier`.
    device : str or None, default=None
        Where to compute: "cuda", "cuda:1", ... asks for a GPU by way of PyTorch, "cpu" for PyTorch
        on the CPU. By default tensors are worked on where they are if scikit-learn's array-API
        dispatch is on, and everything else by NumPy. Results come back as what X is.
    random_state : int, RandomState or None, default=None
        Seed of the division into folds.
    verbose : int, default=0
        Print one line per step of the search.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, in the units of X; one row per class if there are more than two.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept; with two classes, the decision changes at a score of 0.
    classes_ : ndarray of shape (n_classes,)
        Classes, of two the positive one last.
    gamma_ : float
        Chosen last gamma.
    l2_ : float
        Chosen penalty.
    leverage_ : float or None
        Chosen bound on the reach of far-off rows.
    prior_ : Plateaus
        Plateaus in training.
    link_ : Link
        The map from scores to probabilities, fitted to held-out scores.
    trials_ : list of Trial
        Every path tried, with its cross-validated error, or what `scoring` makes of it. Of a path
        that was given up before it had seen all folds, the error is relative to the best path.
    path_ : list of Stage
        The final fit, one row per gamma.
    n_iter_ : int
        Iterations of the final fit.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are strings.

    See Also
    --------
    BBLRClassifier : The same model with meta-parameters given.

    Notes
    -----
    What :class:`BBLRClassifier` would do stands unless the best trial beats it on held-out
    examples by a standard error of the paired difference.

    Examples
    --------
    >>> from bblr import BBLRClassifierCV
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = BBLRClassifierCV(cv=3, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    _many = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "prior": [StrOptions({"tuned", *PRIORS}), Plateaus],
        "l2s": [StrOptions({"auto"}), "array-like"],
        "leverage": [*CONSTRAINTS["leverage"], StrOptions({"tuned"})],
        "scoring": [StrOptions(set(SCORINGS))],
        "solver": [StrOptions({"auto", "fisher", "lbfgs"})],
    }

    def __init__(
        self,
        prior: Any = "tuned",
        *,
        l2s: Any = "auto",
        gamma_limit: float = 8.0,
        leverage: Any = "tuned",
        scoring: str = "accuracy",
        noise_free_proba: bool = False,
        cv: Any = 5,
        n_jobs: int | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.l2s = l2s
        self.gamma_limit = gamma_limit
        self.leverage = leverage
        self.scoring = scoring
        self.noise_free_proba = noise_free_proba
        self.cv = cv
        self.n_jobs = n_jobs
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the meta-parameters and fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), path or Shards
            Training rows; on disk, as in :class:`BBLRClassifier`, where they are large.
        y : array-like of shape (n_samples,) or str
            Classes; of a directory of Parquet files also the name of their column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row: 2 is a row that occurs twice, 0 one that does not occur.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters that keep them together.

        Returns
        -------
        self
            Fitted estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from bblr import BBLRClassifierCV
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = BBLRClassifierCV(cv=3, random_state=0).fit(X, X[:, 0] > 0)
        >>> bool(model.score(X, X[:, 0] > 0) > 0.9)
        True
        """
        check_parameters(self)
        self._penalties(1.0)
        with adapter_of(self, X) as rows:
            training = rows.training(y, sample_weight, streamed=True)
            return self._fit(
                training, FitMonitor(self, *rows.callback_data(y, sample_weight)), groups
            )

    def _fit(self, training: Training, monitor: FitMonitor, groups: Any = None) -> Self:
        design = ScaledDesign(training.design, training.weight, bool(self.fit_intercept))
        n_scores = BetaBernoulli(Plateaus.none(len(training.classes))).n_scores
        descent = make_descent(self.solver, design.size, n_scores, self.tol, int(self.max_iter))
        # With many examples, settings can be compared long before a fit has converged.
        coarse = LOOSE if design.design.n_rows >= FEW else 1.0
        labels, weights = design.rows.local(training.y), design.rows.local(training.weight)
        validation = Validation(
            design,
            training.y,
            training.weight,
            make_folds(self.cv, labels, weights, self.random_state, groups),
            replace(descent, tol=coarse * descent.tol),
            monitor,
            self.n_jobs,
            self.scoring,
        )
        with monitor.fitting(3):
            with monitor.search():
                path, trials, validation = self._choose(validation, training)
            objective = make_objective(
                path.prior, path.gammas[0], path.l2, design, training.y, training.weight
            )
            if path.leverage is not None:
                objective = objective.bounded(path.leverage)

            def unpack(estimator: Self, best: Solution, trace: list[Stage]) -> None:
                # With the link of the loss itself until one is fitted to held-out scores.
                best = replace(best, trace=trace, n_iter=sum(stage.n_iter for stage in trace))
                link = Calibrated.of_loss(objective.with_gamma(best.gamma).loss)
                estimator._unpack(objective, best, path, link, trials, training)

            monitor.unpack = unpack
            solution = self._fit_path(path, objective, descent, monitor)
            final: Fitted = objective.with_gamma(solution.gamma)
            warn_if_flat(final, solution.theta)
            if monitor.stopped:
                link = Calibrated.of_loss(final.loss)
            else:
                link = held_out_link(validation, path)
            self._unpack(objective, solution, path, link, trials, training)
        return self

    def _fit_path(
        self, path: Path, objective: Fitted, descent: Any, monitor: FitMonitor
    ) -> Solution:
        start = robust_start(objective, make_start(objective, self.tol), np.zeros(objective.size))
        annealing = Annealing(path.gammas, descent=descent, keep="last", loose=LOOSE)
        with monitor.task("fit on all rows", len(path.gammas) + 1):
            found = anneal(annealing, objective, start, self.tol, monitor)
        return replace(found, trace=monitor.annotated(found.trace))

    def _penalties(self, standing: float) -> tuple[float, ...]:
        if isinstance(self.l2s, str):
            return tuple(factor * standing for factor in _L2_FACTORS)
        return tuple(sorted(check_numbers("l2s", self.l2s, low=0, high=LARGEST), reverse=True))

    def _choose(
        self, validation: Validation, training: Training
    ) -> tuple[Path, list[Trial], Validation]:
        default = self._standing(validation, training)
        if default.leverage is not None:
            reach = validation.design.leverage(default.leverage, training.weight)
            validation = replace(validation, reach=reach)
        path, trials = self._slam(validation, default).choose(self.prior == "tuned")
        if self.prior == "learned" and not validation.monitor.stopped:
            default = default._replace(prior=learned_plateaus(validation, path))
            validation.monitor.log(f"learned plateaus {default.prior}")
            path, more = self._slam(validation, default).choose(False)
            trials += more
        return path, trials, validation

    def _standing(self, validation: Validation, training: Training) -> Path:
        """Return the settings that BBLRClassifier would choose, with given plateaus if any."""
        tuned = self.prior in ("tuned", "learned")
        given = "auto" if tuned else self.prior
        objective = first_objective(given, "auto", 1.0, validation.design, training)
        limit: float | None = self.leverage
        if isinstance(self.leverage, str):
            limit = leverage_limit(objective)
        objective = objective if limit is None else objective.bounded(limit)
        start = robust_start(objective, make_start(objective, self.tol), np.zeros(objective.size))
        unknown = Unknown(True, tuned, self.leverage == "tuned")
        found = settle(objective, start, unknown, training.shares, self.tol).objective
        kept = limit if found.counted is not None else None
        return Path(found.loss.plateaus, penalty_of(found), (1.0,), kept)

    def _slam(self, validation: Validation, default: Path) -> Slam:
        l2s = self._penalties(default.l2)
        nearest = min(l2s, key=lambda l2: abs(np.log(max(l2, 1e-12) / default.l2)))
        return Slam(
            validation,
            default._replace(l2=nearest),
            l2s,
            float(self.gamma_limit),
            self.leverage == "tuned",
            _EVIDENCE,
            validation.monitor,
        )

    def _unpack(
        self,
        objective: Fitted,
        solution: Solution,
        path: Path,
        link: Calibrated,
        trials: list[Trial],
        training: Training,
    ) -> None:
        self.classes_ = training.classes
        coef, intercept = objective.with_gamma(solution.gamma).unpack(solution.theta)
        intercept = intercept + link.shift
        in_kind = training.given.in_kind
        self.coef_, self.intercept_ = in_kind(coef), in_kind(intercept)
        self.trials_ = trials
        self.gamma_ = solution.gamma
        self.l2_ = path.l2
        self.leverage_ = path.leverage
        self.prior_ = path.prior
        self.link_ = link.link
        self.path_ = solution.trace
        self.n_iter_ = max(1, solution.n_iter)
