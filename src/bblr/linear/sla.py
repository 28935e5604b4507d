"""SLA: the sigmoid loss and the settings of Nguyen and Sanner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from bblr._checks import CONSTRAINTS, POSITIVE, all_or_nothing, check_parameters
from bblr.designs import ScaledDesign
from bblr.inputs import Training, adapter_of
from bblr.linear.fitted import LinearBinaryClassifier
from bblr.losses import Logistic, Sigmoid, ZeroOne
from bblr.objective import Objective
from bblr.penalties import Gaussian
from bblr.solvers import (
    Annealing,
    FisherScoring,
    GradientDescent,
    RangeSearch,
    Solution,
    Stage,
    geometric,
)
from bblr.training.callbacks import with_callbacks
from bblr.training.monitor import FitMonitor

# Eighteen penalties from 2^-10 to 2^10 for the logistic fits that SLA starts from.
_START_COSTS = 2.0 ** np.linspace(-10, 10, 18)
# Gammas and range search of their experiments.
GAMMAS = (2.0, 20.0, 200.0)
SEARCH = RangeSearch(8.0, 0.2, 0.1, first=True)

# Steps of a range search on either side.
_MOST_STEPS = 100_000


class SLAClassifier(LinearBinaryClassifier):
    """Smooth loss approximation: the sigmoid loss annealed towards the zero-one loss.

    The algorithm of Nguyen and Sanner (2013) with the settings of their published experiments:
    gamma = 2, 20, 200; search radius 8, 4, 2; grid 0.2, 0.1, 0.05; gradient descent at rates
    10^-1 ... 10^-6; a step counts if it gains 0.1. It starts from the best of eighteen logistic
    fits by training error and ends with a coordinate search of the zero-one loss itself (radius
    10, step 0.05). Features are z-scored; nothing is penalised.

    Parameters
    ----------
    gamma_min, gamma_max, gamma_growth : float, default=2, 200, 10
        Sharpness of the first and the last stage, and the factor between stages.
    radius : float, default=8
        Radius of the first range search; it halves from stage to stage.
    spacing : float, default=0.2
        Grid of the first range search; it halves too.
    min_gain : float, default=0.1
        Gain of the smooth loss from which a step counts.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the examples by class, 1 for those that a dict leaves out. A
        class of weight 0 is left out of the fit, as are examples of weight 0.
    verbose : int, default=0
        Print one line per stage.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights, in the units of X.
    intercept_ : ndarray of shape (1,)
        Intercept.
    classes_ : ndarray of shape (2,)
        Classes, the positive one last.
    gamma_ : float
        Sharpness of the stage with the fewest training errors.
    path_ : list of Stage
        For each gamma, and for the last search: loss, training errors, steps, why it stopped.
    n_iter_ : int
        Steps over all stages.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Two departures: a score of exactly 0 counts as an error, where theirs counts it as correct, and
    the intercept of the logistic fits is not penalised.

    Examples
    --------
    >>> from bblr import SLAClassifier
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("liver", return_X_y=True)
    >>> SLAClassifier().fit(X, y).score(X, y) > 0.7
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "radius": [POSITIVE],
        "spacing": [POSITIVE],
        "min_gain": [POSITIVE],
    }

    def __init__(
        self,
        *,
        gamma_min: float = 2.0,
        gamma_max: float = 200.0,
        gamma_growth: float = 10.0,
        radius: float = 8.0,
        spacing: float = 0.2,
        min_gain: float = 0.1,
        class_weight: Any = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_min = gamma_min
        self.gamma_max = gamma_max
        self.gamma_growth = gamma_growth
        self.radius = radius
        self.spacing = spacing
        self.min_gain = min_gain
        self.class_weight = class_weight
        self.verbose = verbose

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        self
            Fitted estimator.

        Examples
        --------
        >>> from bblr import SLAClassifier
        >>> X = [[0.0], [1.0], [2.0], [3.0]]
        >>> SLAClassifier().fit(X, [0, 0, 1, 1]).predict(X).tolist()
        [0, 0, 1, 1]
        """
        self._check_parameters()
        training = adapter_of(self, X).training(y, sample_weight)
        design = ScaledDesign(training.design, training.weight, True, z_score=True)
        objective = Objective(
            Sigmoid(float(self.gamma_min)), Gaussian(0.0), design, training.y, training.weight
        )
        gammas = geometric(self.gamma_min, self.gamma_max, self.gamma_growth)
        search = RangeSearch(
            float(self.radius), float(self.spacing), float(self.min_gain), first=True
        )

        def unpack(estimator: Self, best: Solution, trace: list[Stage]) -> None:
            best = replace(best, trace=trace, n_iter=sum(stage.n_iter for stage in trace))
            estimator._unpack(best, design, training)

        monitor = FitMonitor(self, X, y, sample_weight)
        with monitor.fitting(len(gammas) + 2, unpack):
            solution = anneal_sigmoid(objective, gammas, search, monitor)
            self._unpack(solution, design, training)
        return self

    def _unpack(self, solution: Solution, design: ScaledDesign, training: Training) -> None:
        coef, intercept = design.unpack(solution.theta[None])
        self.classes_ = training.classes
        self.coef_ = training.given.in_kind(coef)
        self.intercept_ = training.given.in_kind(intercept)
        self.gamma_ = solution.gamma
        self.path_ = solution.trace
        self.n_iter_ = max(1, solution.n_iter)

    def _check_parameters(self) -> None:
        check_parameters(self)
        if self.radius > _MOST_STEPS * self.spacing:
            raise ValueError(
                f"spacing must be at least a {_MOST_STEPS:,}th of radius, got "
                f"spacing={self.spacing} and radius={self.radius}."
            )


def anneal_sigmoid(
    objective: Any, gammas: tuple[float, ...], search: RangeSearch, monitor: FitMonitor
) -> Solution:
    """Run SLA on an objective of sigmoid loss: start, stages, and the last coordinate search."""
    with monitor.task("logistic starts"):
        start = _best_logistic(objective)
    annealed = Annealing(
        gammas,
        descent=GradientDescent(min_gain=search.min_gain),
        search=search,
        keep="best",
        max_rounds=1000,
    ).minimise(objective, start, callback=monitor.stage_callback(gammas))
    if monitor.stopped:
        return annealed
    with monitor.task("zero-one sweeps"):
        last = _zero_one_probe(objective, annealed.theta)
    stage = Stage(np.inf, last.value, last.value, last.n_iter, last.reason)
    monitor.log_stage(stage)
    return replace(
        annealed,
        theta=last.theta,
        errors=last.value,
        n_iter=annealed.n_iter + last.n_iter,
        trace=[*annealed.trace, stage],
    )


def _best_logistic(objective: Objective[Sigmoid]) -> Any:
    """Return the parameters of the logistic fit with the fewest training errors."""
    theta, best, best_errors = np.zeros(objective.size), None, np.inf
    for cost in _START_COSTS:
        fit = Objective(
            Logistic(), Gaussian(1.0 / cost), objective.design, objective.y, objective.weight
        )
        theta = FisherScoring(tol=1e-6).minimise(fit, theta).theta
        errors = fit.errors(theta)
        if errors < best_errors:
            best, best_errors = theta, errors
    return best


def _zero_one_probe(objective: Objective[Sigmoid], theta: Any) -> Solution:
    """Sweep the coordinates of the zero-one loss until no step on the grid gains."""
    counted = objective.with_loss(ZeroOne())
    search = RangeSearch(radius=10.0, spacing=0.05, min_gain=1e-6)
    n_iter = 0
    while True:
        found = search.minimise(counted, theta)
        n_iter += found.n_iter
        theta = found.theta
        if found.n_iter == 0:
            return Solution(theta, found.value, found.value, found.reason, n_iter)
