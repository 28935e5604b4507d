"""The linear Beta-Bernoulli classifier with SLAM: it chooses its own meta-parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bblr._checks import LARGEST, all_or_nothing, check_jobs, check_number, check_numbers
from bblr.designs import ScaledDesign
from bblr.estimators._callbacks import with_callbacks
from bblr.estimators._front import Training, validate_training
from bblr.estimators._linear import ProbabilisticLinearClassifier
from bblr.estimators._slam import Slam
from bblr.estimators._training import (
    DEFAULT_L2,
    GAMMA_MANY,
    GAMMA_TWO,
    LOOSE,
    ROBUST,
    STANDING,
    AnyObjective,
    AnyPrior,
    anneal,
    check_prior_name,
    even_prior,
    make_descent,
    make_objective,
    make_start,
    own_link,
    resolve_any_prior,
    robust_start,
    unpack,
)
from bblr.estimators._validation import FEW, Path, Trial, Validation, fit_link, make_folds
from bblr.estimators._watch import Watch
from bblr.losses import BetaPrior
from bblr.solvers import Annealing, Solution, Stage

Floats = NDArray[np.float64]

_DEFAULT_GAMMAS = (1.0, 2.0, 4.0, 8.0)
_LEVERAGE = 3.0
# With few examples the least of many cross-validated errors is mostly luck, and a choice must beat
# the default by this many standard errors: fewer where the prior is given, or there are more than
# two classes, and the rest of the default was not made for it. With thousands of examples luck
# moves the error by little.
_EVIDENCE_TUNED = 2.0
_EVIDENCE_GIVEN = 1.0


class BBLRClassifierCV(ProbabilisticLinearClassifier):
    """Beta-Bernoulli logistic regression that tunes itself by cross-validation (SLAM).

    More than two classes are fitted by the Dirichlet-discrete model, as in
    :class:`BBLRClassifier`.

    Plateaus, penalty and the schedule of gamma are chosen for accuracy on held-out parts of the
    training data; then the link from scores to probabilities is fitted to held-out scores. So the
    decisions come from the plateaus that decide best, and the probabilities from the ones that
    predict best.

    Parameters
    ----------
    prior : str, BetaPrior or DirichletPrior, default="tuned"
        Plateaus in training.

        - "tuned": chosen by cross-validation;
        - "empirical": the counts of the classes (the paper's BBLR3);
        - "learned": the plateaus of greatest likelihood on held-out scores, by their gradients,
          started from the held-out error rates; penalty and schedule are then chosen anew (BBLR4);
        - the others as in :class:`BBLRClassifier`.
    l2s : tuple of float, default=(0.1, 0.3, 1, 3, 10, 30)
        Penalties to try; while the weakest of them is the best, weaker ones are tried as well.
    gamma_limit : float, default=8
        Largest gamma to try.
    leverage : {"tuned"}, float or None, default="tuned"
        Bound on the reach of far-off rows, as in :class:`BBLRClassifier`. "tuned" starts from 3
        and gives it up where held-out rows speak clearly for that.
    cv : int, splitter or iterable, default=5
        Folds. An integer means stratified folds in random order, fewer where a class has not as
        many examples, and three divisions of the data where there are fewer than 2,000 examples.
    n_jobs : int or None, default=None
        Folds to work on at the same time, by joblib.
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
        Print a line a step of the search.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, in the units of X; a row a class where there are more than two.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept; of two classes, the decision changes at a score of 0.
    classes_ : ndarray of shape (n_classes,)
        Classes, of two the positive one last.
    gamma_ : float
        Chosen last gamma.
    l2_ : float
        Chosen penalty.
    leverage_ : float or None
        Chosen bound on the reach of far-off rows.
    prior_ : BetaPrior or DirichletPrior
        Plateaus in training.
    link_ : Link or ManyLink
        The map from scores to probabilities, fitted to held-out scores.
    trials_ : list of Trial
        Every path tried, with its cross-validated error.
    path_ : list of Stage
        The final fit, a row a gamma.
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
    A default stands unless the best trial beats it on held-out examples: the prior asked for, or
    a = 0.1, b = 0.8 (a = 0.2, b = 0.6 from 2,000 examples on), l2 = 3, gamma = 1, 2, 4, 8 (1, 2
    for more than two classes) and leverage = 3. With 2,000 examples or more any margin will do;
    with fewer it takes two standard errors where the plateaus of two classes are tuned, one
    otherwise.

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

    def __init__(
        self,
        prior: Any = "tuned",
        *,
        l2s: Any = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
        gamma_limit: float = 8.0,
        leverage: Any = "tuned",
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the meta-parameters and fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), path or Shards
            Training rows; on disk, as in :class:`BBLRClassifier`, where they are large.
        y : array-like of shape (n_samples,) or str
            Classes; of a directory of Parquet files also the name of their column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row: 2 is a row that occurs twice, 0 one that does not occur.

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
        self._check_parameters()
        training = validate_training(self, X, y, sample_weight, self.class_weight, stream=True)
        return self._fit(training, Watch(self, X, y, sample_weight))

    def _fit(self, training: Training, watch: Watch) -> Self:
        design = ScaledDesign(training.design, training.weight, bool(self.fit_intercept))
        many = len(training.classes) > 2
        descent = make_descent(self.solver, design.size, self.tol, int(self.max_iter), many=many)
        # Many examples tell settings apart long before the last digits of a fit.
        coarse = LOOSE if design.design.n_rows >= FEW else 1.0
        labels, weights = design.rows.local(training.y), design.rows.local(training.weight)
        validation = Validation(
            design,
            training.y,
            training.weight,
            make_folds(self.cv, labels, weights, self.random_state),
            replace(descent, tol=coarse * descent.tol),
            watch,
            self.n_jobs,
        )
        with watch.over(3):
            with watch.search():
                path, trials = self._choose(validation, len(training.classes))
            objective = make_objective(
                path.prior, path.gammas[0], path.l2, design, training.y, training.weight
            )
            if path.leverage is not None:
                objective = objective.bounded(path.leverage)

            def unpack(estimator: Self, best: Solution, trace: list[Stage]) -> None:
                # With the link of the loss itself while there is none of held-out scores.
                best = replace(best, trace=trace, n_iter=sum(stage.n_iter for stage in trace))
                link = own_link(objective.with_gamma(best.gamma).loss)
                estimator._unpack(objective, best, path, link, trials, training)

            watch.unpack = unpack
            solution = self._fit_path(path, objective, descent, watch)
            link = own_link(objective.with_gamma(solution.gamma).loss)
            if not watch.stopped:
                link = fit_link(validation, path)
            self._unpack(objective, solution, path, link, trials, training)
        return self

    def _fit_path(
        self, path: Path, objective: AnyObjective, descent: Any, watch: Watch
    ) -> Solution:
        start = robust_start(
            objective, make_start(objective, self.tol), np.zeros(objective.size)
        )
        annealing = Annealing(path.gammas, descent=descent, keep="last", loose=LOOSE)
        with watch.task("fit on all rows", len(path.gammas) + 1):
            found = anneal(annealing, objective, start, self.tol, watch)
        return replace(found, trace=watch.noted(found.trace))

    def _penalties(self) -> tuple[float, ...]:
        return tuple(sorted(check_numbers("l2s", self.l2s, low=0, high=LARGEST), reverse=True))

    def _check_parameters(self) -> None:
        check_prior_name(self.prior)
        self._penalties()
        check_number("gamma_limit", self.gamma_limit, low=1, high=LARGEST)
        if isinstance(self.leverage, str) and self.leverage != "tuned":
            raise ValueError(f"leverage must be 'tuned', a number or None; got {self.leverage!r}.")
        if self.leverage is not None and not isinstance(self.leverage, str):
            check_number("leverage", self.leverage, low=0, strict=True)
        check_number("tol", self.tol, low=0, strict=True)
        check_jobs(self.n_jobs)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        if self.solver not in ("auto", "fisher", "lbfgs"):
            raise ValueError(
                f"solver must be one of 'auto', 'fisher', 'lbfgs'; got {self.solver!r}."
            )

    def _choose(self, validation: Validation, n_classes: int) -> tuple[Path, list[Trial]]:
        l2s = self._penalties()
        given = self.prior
        if self.prior in ("tuned", "learned"):
            given = even_prior(STANDING if len(validation.y) < FEW else ROBUST, n_classes)
        prior = resolve_any_prior(given, validation.y, validation.weight, n_classes)
        last = min(float(self.gamma_limit), GAMMA_TWO if n_classes == 2 else GAMMA_MANY)
        gammas = tuple(g for g in _DEFAULT_GAMMAS if g <= last)
        path, trials = self._slam(validation, prior, gammas, l2s).choose(self.prior == "tuned")
        if self.prior == "learned" and not validation.watch.stopped:
            link = fit_link(validation, path, even=False)
            validation.watch.say(f"learned plateaus {link.prior}")
            path, more = self._slam(validation, link.prior, gammas, l2s).choose(False)
            trials += more
        return path, trials

    def _slam(
        self,
        validation: Validation,
        prior: AnyPrior,
        gammas: tuple[float, ...],
        l2s: tuple[float, ...],
    ) -> Slam:
        tuned = self.leverage == "tuned"
        nearest = min(l2s, key=lambda l2: abs(np.log(max(l2, 1e-12) / DEFAULT_L2)))
        default = Path(prior, nearest, gammas, _LEVERAGE if tuned else self.leverage)
        tuned_pair = self.prior == "tuned" and isinstance(prior, BetaPrior)
        evidence = _EVIDENCE_TUNED if tuned_pair else _EVIDENCE_GIVEN
        if len(validation.y) >= FEW:
            evidence = 0.0
        limit, watch = float(self.gamma_limit), validation.watch
        return Slam(validation, default, l2s, limit, tuned, evidence, watch)

    def _unpack(
        self,
        objective: AnyObjective,
        solution: Solution,
        path: Path,
        link: Any,
        trials: list[Trial],
        training: Training,
    ) -> None:
        self.classes_ = training.classes
        coef, intercept = unpack(objective.with_gamma(solution.gamma), solution.theta)
        self.coef_, self.intercept_ = training.like_rows(coef), training.like_rows(intercept)
        self.trials_ = trials
        self.gamma_ = solution.gamma
        self.l2_ = path.l2
        self.leverage_ = path.leverage
        self.prior_ = path.prior
        self.link_ = link
        self.path_ = solution.trace
        self.n_iter_ = max(1, solution.n_iter)
