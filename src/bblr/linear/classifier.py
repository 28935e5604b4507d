"""The linear Beta-Bernoulli classifier."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from bblr._checks import CONSTRAINTS, LARGEST, all_or_nothing, check_parameters
from bblr._numeric.tensors import as_numpy
from bblr.designs import ScaledDesign
from bblr.inputs import Training, adapter_of
from bblr.linear.fitted import ProbabilisticLinearClassifier
from bblr.losses import BetaBernoulli
from bblr.solvers import Annealing, Solution, Stage, ZeroOneSearch, geometric
from bblr.training.callbacks import with_callbacks
from bblr.training.compiled.small_fit import fit_small
from bblr.training.marginal import Settled, Unknown, first_objective, leverage_limit
from bblr.training.marginal import settle as settled
from bblr.training.monitor import FitMonitor
from bblr.training.probabilities import Calibrated, calibrated
from bblr.training.sampled import Settle, anneal_from_start
from bblr.training.start import (
    GAMMA_MANY,
    GAMMA_TWO,
    LOOSE,
    SOLVERS,
    Fitted,
    anneal,
    learn,
    make_descent,
    make_learner,
    make_solver,
    penalty_of,
    settled_like,
    warn_if_flat,
)

Floats = NDArray[np.float64]

# Below this penalty the training optimum is searched for, if the data are small enough.
_SEARCH_L2 = 0.01
_SEARCH_SIZE = 50_000


class BBLRClassifier(ProbabilisticLinearClassifier):
    """Beta-Bernoulli logistic regression: a linear classifier that outliers cannot sway.

    The logistic function is replaced by mu = a + b * sigmoid(gamma * f(x)), the posterior mean of
    a Beta-Bernoulli model. Its negative logarithm has plateaus, so an outlier or a wrong label can
    cost only so much; training sharpens it step by step towards the zero-one loss.

    With more than two classes, P(k) = w * theta_k + (1 - w) * softmax_k(gamma * f(x)).

    Nothing needs tuning: penalty and plateaus are those that the marginal likelihood of the data
    suggests, so that clean data get almost no plateaus and noisy labels get high ones.
    Probabilities come from a link fitted to leave-one-out scores.

    Parameters
    ----------
    prior : {"auto", "robust", "mild", "weak", "empirical", "learned"}, Plateaus, default="auto"
        Plateaus of the model, mu = w * theta + (1 - w) * sigmoid. A name chooses the weight w;
        the mean theta is the share of each class, so that rare classes keep their place.

        - "auto": the rates of labels that have nothing to do with their row, estimated together
          with the penalty;
        - "robust": w = 0.4;
        - "mild": w = 0.1;
        - "weak": one pseudo-count per class against 100 examples, close to logistic regression;
        - "empirical": the counts of the classes (the paper's BBLR2), so w = 1/2;
        - "learned": the plateaus and gamma of greatest likelihood on the training data (BBLR4).
    l2 : float or "auto", default="auto"
        Strength of the Gaussian penalty on the weights of the standardised features. "auto" is
        the one of greatest marginal likelihood; with more than 1,500 parameters for each class,
        an eighth of the mean squared length of a row. The intercept is not penalised.
    gamma_min : float, default=1
        Sharpness of the first stage of training.
    gamma_max : float or "auto", default="auto"
        Sharpness of the last stage. With ``l2="auto"``, "auto" is 1: a penalty that suits the
        data sets the sharpness as well, since raising gamma weakens it by the square of gamma.
        With a penalty of your own it is 8 for two classes and 2 for more.
    gamma_growth : float, default=2
        Factor from stage to stage.
    leverage : float, "auto" or None, default="auto"
        Rows whose squared distance from the centre of the features exceeds this many times the
        median count less, by the square of the excess. The plateaus bound what a row costs; this
        bounds how far it reaches. "auto" is 3, or what 15 % of the rows exceed if that is more
        (None with a search for training errors); None counts all rows alike.
    noise_free_proba : bool, default=False
        Whether ``predict_proba`` gives the probability of the true class, the plateaus taken out,
        instead of the probability of the label as it would be recorded. Better where labels are
        noisy and the classes lie apart, worse where they overlap.
    solver : {"auto", "fisher", "lbfgs", "sla", "search"} or object, default="auto"
        How each stage is solved.

        - "fisher": Fisher scoring, for two classes and up to some thousand features;
        - "lbfgs": preconditioned L-BFGS, for any number of features;
        - "sla": gradient descent and range search as the paper has them;
        - "search": Fisher scoring with range search at every stage, then exact zero-one line
          searches: the least training loss, slow, for small data;
        - "auto": "fisher" or "lbfgs" by the number of features; but "search" where `l2` is below
          0.01 and the data are small, since that asks for the least training loss.

        An object with a ``minimise(objective, theta0)`` method is used for each stage.
    tol : float, default=1e-4
        The last stage ends when it promises to lower the objective by less than this share.
    max_iter : int, default=100
        Most iterations of a stage.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the examples by class, 1 for those that a dict leaves out. A
        class of weight 0 is left out of the fit, as are examples of weight 0.
    warm_start : bool, default=False
        Start from the last fit, if it had the same features and classes.
    device : str or None, default=None
        Where PyTorch computes, "cuda" or "cpu". By default tensors are worked on where they are
        if scikit-learn's array-API dispatch is on, and everything else by NumPy.
    random_state : int, RandomState or None, default=None
        Seed of the zero-one search.
    verbose : int, default=0
        Print one line per stage.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, in the units of X; one row per class if there are more than two.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept; with two classes, the decision changes at a score of 0.
    classes_ : ndarray of shape (n_classes,)
        Classes, of two the positive one last.
    gamma_ : float
        Sharpness at which the weights were fitted.
    prior_ : Plateaus
        Plateaus in training.
    l2_ : float
        Penalty.
    leverage_ : float or None
        Bound on the reach of far-off rows.
    link_ : Link
        The map from scores to probabilities, fitted to leave-one-out scores.
    path_ : list of Stage
        For each gamma: objective, training errors, iterations and why it stopped. Where rows are
        many, all but the last are those of a sample of rows, scaled up.
    n_iter_ : int
        Iterations over all stages.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are strings.

    See Also
    --------
    BBLRClassifierCV : Chooses plateaus, penalty and schedule by cross-validation.

    Notes
    -----
    The penalty is MacKay's: effective parameters divided by squared weights. The plateaus are
    found by expectation and maximisation on leave-one-out scores (docs/defaults.md). Features are
    centred and scaled internally, without a copy of X, so the result does not depend on their
    units. Columns that are mostly zero keep their zero.

    Examples
    --------
    >>> from bblr import BBLRClassifier
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = BBLRClassifier().fit(X, y)
    >>> model.predict_proba(X[:2]).round(1)
    array([[0.9, 0.1],
           [0.7, 0.3]])
    """

    _many = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "l2": [Interval(Real, 0, LARGEST, closed="both"), StrOptions({"auto"})],
        "gamma_max": [*CONSTRAINTS["gamma_max"], StrOptions({"auto"})],
        "leverage": [*CONSTRAINTS["leverage"], StrOptions({"auto"})],
        "solver": [StrOptions(set(SOLVERS)), HasMethods("minimise")],
    }

    def __init__(
        self,
        prior: Any = "auto",
        *,
        l2: Any = "auto",
        gamma_min: float = 1.0,
        gamma_max: Any = "auto",
        gamma_growth: float = 2.0,
        leverage: Any = "auto",
        noise_free_proba: bool = False,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.l2 = l2
        self.gamma_min = gamma_min
        self.gamma_max = gamma_max
        self.gamma_growth = gamma_growth
        self.leverage = leverage
        self.noise_free_proba = noise_free_proba
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), path or Shards
            Training rows. float32 and float64 arrays of either order and CSR matrices are used as
            they are, without a copy. A memory map of more than 64 MiB and a directory of ``.npy``
            or Parquet files are read a block at a time, in every pass.
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
        >>> from bblr import BBLRClassifier
        >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> model = BBLRClassifier().fit(X, ["no", "no", "yes", "yes"], sample_weight=[1, 2, 2, 1])
        >>> model.predict(X).tolist()
        ['no', 'no', 'yes', 'yes']
        """
        check_parameters(self)
        with adapter_of(self, X) as rows:
            training = rows.training(y, sample_weight, streamed=True)
            return self._fit(training, FitMonitor(self, *rows.callback_data(y, sample_weight)))

    def _fit(self, training: Training, monitor: FitMonitor) -> Self:
        n_classes = len(training.classes)
        design = ScaledDesign(training.design, training.weight, bool(self.fit_intercept))
        objective = first_objective(self.prior, self.l2, float(self.gamma_min), design, training)
        self.leverage_ = self._leverage(objective)
        if self.leverage_ is not None:
            objective = objective.bounded(self.leverage_)
        gammas, learned = self._gammas(n_classes), self.prior == "learned"
        unknown = Unknown(self.l2 == "auto", self.prior == "auto", self.leverage == "auto")
        warm, annealing = self._warm(objective, training), self._annealing(objective, gammas)
        if warm is None and not learned and monitor.is_silent:
            small = fit_small(objective, annealing, unknown, training.shares, self.tol)
            if small is not None:
                warn_if_flat(small.objective, small.solution.theta)
                self._unpack(*small, training)
                return self
        now, about = [objective], list[Any]([None])

        def settle(objective: Fitted, theta: Floats) -> Settled:
            found = Settled(objective, theta)
            if unknown and not monitor.stopped:
                with monitor.task("choose penalty and plateaus"):
                    found = settled(objective, theta, unknown, training.shares, self.tol)
                objective = found.objective
                if self.verbose:
                    low = np.round(objective.loss.low, 3).tolist()
                    settings = f"l2 {penalty_of(objective):.4g}, plateaus {low}"
                    monitor.log(f"{settings} after {found.rounds} rounds")
                now[0] = settled_like(now[0], objective)
                if objective.counted is None:
                    self.leverage_ = None
            about[0] = found.about
            return found

        def unpack(estimator: Self, best: Solution, trace: list[Stage]) -> None:
            best = replace(best, trace=trace, n_iter=sum(stage.n_iter for stage in trace))
            final = now[0].with_gamma(best.gamma)
            estimator._unpack(best, final, Calibrated.of_loss(final.loss), training)

        # Besides the stages: estimation of the settings, the link, and a second annealing.
        with monitor.fitting(len(gammas) + 3 + learned + self._searches(objective), unpack):
            solution, objective = self._solve(objective, warm, annealing, monitor, settle)
            final: Fitted = objective.with_gamma(solution.gamma)
            if learned and not monitor.stopped:
                relearn = partial(self._relearn, monitor)
                solution, final = learn(final, solution, relearn, monitor, self.gamma_growth)
            warn_if_flat(final, solution.theta)
            if monitor.stopped:
                link = Calibrated.of_loss(final.loss)
            else:
                with monitor.task("calibrate"):
                    descent = make_descent(
                        "auto", final.size, final.n_scores, LOOSE * self.tol, int(self.max_iter)
                    )
                    link = calibrated(final, solution, descent, about[0])
            self._unpack(solution, final, link, training)
        return self

    def _leverage(self, objective: Fitted) -> float | None:
        if self.leverage is None:
            return None
        if self.leverage != "auto":
            return float(self.leverage)
        # A search for the fewest training errors must count them all.
        return None if self._searches(objective) else leverage_limit(objective)

    def _gammas(self, n_classes: int) -> tuple[float, ...]:
        last = self.gamma_max
        if last == "auto":
            last = GAMMA_TWO if n_classes == 2 else GAMMA_MANY
            # An estimated penalty sets the sharpness; there is nothing left to anneal.
            last = max(self.gamma_min, 1.0 if self.l2 == "auto" else last)
        return geometric(self.gamma_min, last, self.gamma_growth)

    def _warm(self, objective: Fitted, training: Training) -> Floats | None:
        """Return the parameters of an earlier fit for a warm start."""
        design = objective.design
        same = (
            self.warm_start
            and hasattr(self, "coef_")
            and self.coef_.shape[1] == len(design.scale)
            and np.array_equal(as_numpy(self.classes_), as_numpy(training.classes))
        )
        if not same:
            return None
        coef, intercept = as_numpy(self.coef_), as_numpy(self.intercept_)
        earlier = objective.with_loss(BetaBernoulli(self.prior_, self.gamma_))
        return earlier.pack(coef, intercept)

    def _searches(self, objective: Fitted) -> bool:
        """Whether to search the zero-one loss."""
        small = objective.size * objective.n_rows <= _SEARCH_SIZE
        little = self.l2 != "auto" and self.l2 < _SEARCH_L2
        return (self.solver == "auto" and little and small) or self.solver == "search"

    def _annealing(self, objective: Fitted, gammas: tuple[float, ...]) -> Annealing:
        solver = "search" if self._searches(objective) else self.solver
        return make_solver(solver, gammas, objective, self.tol, int(self.max_iter))

    def _solve(
        self,
        objective: Fitted,
        warm: Floats | None,
        annealing: Annealing,
        monitor: FitMonitor,
        settle: Settle,
    ) -> tuple[Solution, Fitted]:
        if warm is None and self.solver != "sla":
            solution, objective = anneal_from_start(
                annealing, objective, self.tol, monitor, settle
            )
        else:
            start = np.zeros(objective.size) if warm is None else warm
            here = settle(objective, start)
            objective = here.objective
            solution = anneal(annealing, objective, here.theta, self.tol, monitor)
        if not self._searches(objective) or monitor.stopped:
            return solution, objective
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        sharp: Fitted = objective.with_gamma(solution.gamma)
        with monitor.task("zero-one search"):
            rng = np.random.default_rng(seed)
            found = ZeroOneSearch().minimise(sharp, solution.theta, rng=rng)
        stage = Stage(sharp.loss.gamma, found.value, found.errors, found.n_iter, found.reason)
        monitor.log_stage(stage)
        n_iter = solution.n_iter + found.n_iter
        found = replace(found, n_iter=n_iter, gamma=solution.gamma, trace=[*solution.trace, stage])
        return found, objective

    def _relearn(self, monitor: FitMonitor, objective: Fitted, theta: Floats) -> Solution:
        stage = make_learner(self.solver, objective, self.tol, int(self.max_iter))
        return stage.minimise(
            objective, theta, callback=monitor.stage_callback(stage.gammas, keep=False)
        )

    def _unpack(
        self,
        solution: Solution,
        objective: Fitted,
        calibrated: Calibrated,
        training: Training,
    ) -> None:
        self.classes_ = training.classes
        coef, intercept = objective.unpack(solution.theta)
        intercept = intercept + calibrated.shift
        in_kind = training.given.in_kind
        self.coef_, self.intercept_ = in_kind(coef), in_kind(intercept)
        self.link_ = calibrated.link
        self.prior_, self.gamma_ = objective.loss.plateaus, objective.loss.gamma
        self.l2_ = penalty_of(objective)
        self.path_ = solution.trace
        self.n_iter_ = max(1, solution.n_iter)
