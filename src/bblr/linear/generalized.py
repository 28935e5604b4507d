"""Any loss with any penalty, as a linear classifier."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bblr._checks import (
    CONSTRAINTS,
    LARGEST,
    all_or_nothing,
    check_numbers,
    check_parameters,
)
from bblr.designs import ScaledDesign
from bblr.inputs import Training, adapter_of
from bblr.linear.fitted import Floats, LinearBinaryClassifier
from bblr.losses import Loss, get_loss
from bblr.objective import Objective
from bblr.penalties import Gaussian, Penalty
from bblr.solvers import Annealing, Solution, Stage
from bblr.training.callbacks import with_callbacks
from bblr.training.monitor import FitMonitor
from bblr.training.start import LOOSE, make_descent

__all__ = ["GeneralizedLinearClassifier"]


def _has_probability(classifier: Any) -> bool:
    loss = classifier.loss
    found = get_loss(loss) if isinstance(loss, str) else loss
    return bool(getattr(found, "has_probability", False))


class GeneralizedLinearClassifier(LinearBinaryClassifier):
    """A linear classifier made of a loss, a penalty and a solver.

    Minimises sum_i weight_i * loss(y_i, scores_i) + penalty(weights), sharpening the loss step by
    step where it has a gamma. Features are centred and scaled implicitly, as in
    :class:`BBLRClassifier`, so that a penalty means the same for metres and millimetres.

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        A loss of :mod:`bblr.losses`, one of your own, or the name of one in
        ``bblr.losses.LOSSES``. With more than two classes it must have a score for each, as
        ``BetaBernoulli(Plateaus.symmetric(w, n_classes))`` has.
    penalty : float or Penalty, default=1.0
        A penalty of ``bblr.penalties`` or one of your own; a number is the strength of
        ``Gaussian``.
    gammas : sequence of float or None, default=None
        Sharpness of each stage, for a loss that has a gamma; None is its own, alone.
    leverage : float or None, default=None
        Bound on the leverage of far rows, as in :class:`BBLRClassifier`.
    solver : {"auto", "fisher", "lbfgs"} or object, default="auto"
        Descent of each stage, or an object with a ``minimise(objective, theta0)`` that returns a
        ``Solution``.
    tol : float, default=1e-4
        Tolerance of a stage.
    max_iter : int, default=100
        Most Newton steps of a stage; five times as many of L-BFGS.
    fit_intercept : bool, default=True
        Whether there are intercepts, which are never penalised.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the examples by class.
    device : str or None, default=None
        Where to compute with torch, such as "cuda".
    verbose : int, default=0
        Print a line for each stage.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, in the units of X.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts of the decision.
    classes_ : ndarray of shape (n_classes,)
        Classes.
    loss_ : Loss
        The loss at its last gamma.
    path_ : list of Stage
        For each gamma: objective, training errors, steps, why it stopped.
    n_iter_ : int
        Steps over all stages.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    BBLRClassifier : Chooses plateaus and penalty by itself.

    Examples
    --------
    >>> from bblr import GeneralizedLinearClassifier, Plateaus
    >>> from bblr.datasets import load_uci
    >>> from bblr.losses import BetaBernoulli
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> hinge = GeneralizedLinearClassifier("ramp", gammas=(1.0, 2.0), solver="lbfgs").fit(X, y)
    >>> hinge.score(X, y) > 0.8
    True
    >>> loss = BetaBernoulli(Plateaus.symmetric(0.2))
    >>> GeneralizedLinearClassifier(loss, penalty=3.0).fit(X, y).predict_proba(X).shape
    (270, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "penalty": [
            Interval(Real, 0, LARGEST, closed="both"),
            HasMethods(["value", "gradient", "curvature", "along"]),
        ],
        "solver": [StrOptions({"auto", "fisher", "lbfgs"}), HasMethods("minimise")],
    }

    def __init__(
        self,
        loss: Any = "logistic",
        *,
        penalty: Any = 1.0,
        gammas: Any = None,
        leverage: float | None = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.gammas = gammas
        self.leverage = leverage
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = getattr(self.loss, "n_scores", 1) > 1
        return tags

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), path or Shards
            Training rows, as :class:`BBLRClassifier` takes them.
        y : array-like of shape (n_samples,) or str
            Classes; of a directory of Parquet files also the name of their column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        self
            Fitted estimator.

        Examples
        --------
        >>> from bblr import GeneralizedLinearClassifier
        >>> X = [[0.0], [1.0], [2.0], [3.0]]
        >>> GeneralizedLinearClassifier("hinge", solver="lbfgs").fit(X, [0, 0, 1, 1]).predict(X)
        array([0, 0, 1, 1])
        """
        check_parameters(self)
        loss = self._loss()
        self._check_gammas(loss)
        penalty = Gaussian(float(self.penalty)) if isinstance(self.penalty, Real) else self.penalty
        with adapter_of(self, X) as rows:
            training = rows.training(y, sample_weight, streamed=True)
            monitor = FitMonitor(self, *rows.callback_data(y, sample_weight))
            return self._fit(training, monitor, loss, penalty)

    def _fit(self, training: Training, monitor: FitMonitor, loss: Loss, penalty: Penalty) -> Self:
        if len(training.classes) != loss.n_classes:
            raise ValueError(
                f"loss must have as many classes as y: {type(loss).__name__} has "
                f"{loss.n_classes}, y holds {len(training.classes)}. Take, for instance, "
                f"BetaBernoulli(Plateaus.symmetric(0.1, {len(training.classes)}))."
            )
        design = ScaledDesign(training.design, training.weight, bool(self.fit_intercept))
        objective = Objective(loss, penalty, design, training.y, training.weight)
        if self.leverage is not None:
            objective = objective.bounded(float(self.leverage))
        own = getattr(loss, "gamma", 1.0)
        gammas = (own,) if self.gammas is None else tuple(float(g) for g in self.gammas)
        descent = self.solver
        if isinstance(descent, str):
            descent = make_descent(
                descent, objective.size, objective.n_scores, self.tol, int(self.max_iter)
            )
        annealing = Annealing(gammas, descent=descent, keep="last", loose=LOOSE)

        def unpack(estimator: Self, best: Solution, trace: list[Stage]) -> None:
            best = replace(best, trace=trace, n_iter=sum(stage.n_iter for stage in trace))
            estimator._unpack(best, objective, training)

        with monitor.fitting(len(gammas), unpack):
            start = np.zeros(objective.size)
            solution = annealing.minimise(
                objective, start, callback=monitor.stage_callback(gammas)
            )
            self._unpack(solution, objective, training)
        return self

    def _unpack(self, solution: Solution, objective: Objective[Loss], training: Training) -> None:
        final = objective.with_gamma(solution.gamma)
        coef, intercept = final.unpack(solution.theta)
        self.classes_ = training.classes
        in_kind = training.given.in_kind
        self.coef_, self.intercept_ = in_kind(coef), in_kind(intercept)
        self.loss_ = final.loss
        self.path_ = solution.trace
        self.n_iter_ = max(1, solution.n_iter)

    @available_if(_has_probability)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, where the loss is that of a likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        >>> from bblr import GeneralizedLinearClassifier
        >>> model = GeneralizedLinearClassifier("logistic").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
        >>> (model.predict_proba([[9.0]]) > 0.5).tolist()
        [[False, True]]
        """
        check_is_fitted(self)
        rows, form = adapter_of(self, X), self.loss_.layout
        back = tuple(-shift for shift in self.loss_.shift)
        raw = form.shifted(rows.here(self.decision_function(X)), back)
        return rows.in_kind(form.table(self.loss_.probability(raw)))

    @available_if(_has_probability)
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        >>> from bblr import GeneralizedLinearClassifier
        >>> model = GeneralizedLinearClassifier("logistic").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
        >>> (model.predict_log_proba([[9.0]]) > -0.5).tolist()
        [[False, True]]
        """
        rows = adapter_of(self, X)
        # Where the sigmoid is 0 to all digits.
        with np.errstate(divide="ignore"):
            return rows.in_kind(np.log(rows.here(self.predict_proba(X))))

    def _loss(self) -> Loss:
        if isinstance(self.loss, str):
            try:
                return get_loss(self.loss)
            except ValueError as error:
                raise ValueError(str(error).replace("name must", "loss must", 1)) from None
        if not isinstance(self.loss, Loss):
            raise ValueError(
                f"loss must be the name of a loss or a Loss of bblr.losses; got {self.loss!r}."
            )
        return self.loss

    def _check_gammas(self, loss: Loss) -> None:
        if self.gammas is not None:
            check_numbers("gammas", self.gammas, low=1 / LARGEST, high=LARGEST)
            if not hasattr(loss, "gamma"):
                raise ValueError(
                    f"gammas must be None: the {loss.name} loss has no gamma to sharpen."
                )
