"""A classifier around another one that allows for wrong labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import process_routing

from bblr._checks import AT_LEAST_1, CONSTRAINTS, all_or_nothing, check_parameters
from bblr.audit.delegation import Delegation
from bblr.audit.flips import Flips, estimate_flips
from bblr.audit.held_out import Labelled, labelled, make_folds, trained, with_fixed_settings
from bblr.audit.mixture import symmetric_flips
from bblr.audit.models import Floats, check_estimator, check_learns, routing_enabled, takes_weights
from bblr.audit.panel import panel_scores
from bblr.audit.refits import (
    METHODS,
    WEIGHTED,
    Refit,
    given_refit,
    own_probability,
    with_all_classes,
)
from bblr.training.folds import Fold

__all__ = ["RobustClassifier"]


class RobustClassifier(Delegation, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Any classifier, trained so that wrong labels do little harm.

    Every row is scored by models that were trained without it: by the classifier and, where rows
    are numbers, by a linear and a smooth one. The scores give a flip matrix, the rates at which
    each class was given the label of each other, and for every row the probability of each class
    given its label. The classifier is then fitted once more with labels and weights that allow
    for them. Where the labels give no evidence of noise, that is a plain fit.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``predict_proba`` or ``decision_function``, including pipelines; it is
        cloned.
    method : {"auto", "replace", "soft", "weights", "leave_out"}, default="auto"
        What the last fit is given: the likeliest label of each row, with a weight that says how
        much likelier it is than by chance ("replace"); each row once for each class, with its
        probability as weight ("soft"), which suits probabilities; the labels as given, with the
        probability that each is right as weight ("weights"); or only the labels that are more
        likely right than wrong, weighted by how much more likely, if the classifier takes weights
        ("leave_out"). "auto" is "leave_out".
    noise : "auto", float or array-like of shape (n_classes, n_classes), default="auto"
        The flip matrix: estimated, known to be one rate of wrong labels for all classes, or known,
        with the share of each true class (rows) that was given each label (columns).
    cv : int, splitter or iterable, default=5
        Folds, as in :func:`~bblr.find_label_errors`.
    n_rounds : int, default=1
        Rounds of scores and estimates. From the second on, the folds are trained with labels and
        weights that allow for what was found; each takes as long as the first.
    n_jobs : int or None, default=None
        Folds to run in parallel, by joblib. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed for the folds.

    Attributes
    ----------
    estimator_ : classifier
        The last fit.
    flip_matrix_ : ndarray of shape (n_classes, n_classes)
        P(label | true class), a row for each true class. The identity where no noise was found.
    label_quality_ : ndarray of shape (n_samples,)
        Probability that the label of each training row is right.
    kept_ : ndarray of bool, shape (n_samples,)
        Whether each training row kept its label: all do where no noise was found, otherwise those
        whose label is more likely right than wrong, or at least as likely as any other.
    method_ : str
        The method used: the one that "auto" stands for, or "none" where no noise was found.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features, where the classifier tells it.
    feature_names_in_ : ndarray of str
        Names of the features, where the classifier tells them.

    See Also
    --------
    find_label_errors : The same estimate, to review labels by hand.

    Notes
    -----
    ``predict``, ``predict_proba`` and ``score`` are about the true class: the flip matrix is
    inverted, by Bayes' rule, on the labels of the last fit. For probabilities of the label that
    would be given, noise included, take ``predict_proba(X) @ flip_matrix_``.

    ``fit`` takes five fits of four fifths of the rows, one of all, and an estimate of a few
    hundredths of a second. Noise can hardly be told from classes that overlap; :doc:`/robust` says
    when it pays.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bblr import RobustClassifier
    >>> from bblr.evaluation import add_noise
    >>> X, y = load_digits(return_X_y=True)
    >>> X, given = add_noise(X, y, protocol="label-flip", fraction=0.3, random_state=0)
    >>> inner = LogisticRegression(C=0.01, max_iter=2000)
    >>> model = RobustClassifier(inner, random_state=0).fit(X[:1000], given[:1000])
    >>> plain = inner.fit(X[:1000], given[:1000])
    >>> plain.score(X[1000:], y[1000:]) < 0.87, model.score(X[1000:], y[1000:]) > 0.9
    (True, True)
    >>> round(1 - float(model.flip_matrix_.diagonal().mean()), 1)     # 30 % were wrong
    0.3
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "method": [StrOptions({"auto", *METHODS})],
        "noise": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left"), "array-like"],
        "cv": "no_validation",
        "n_rounds": [AT_LEAST_1],
        "n_jobs": CONSTRAINTS["n_jobs"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "auto",
        noise: Any = "auto",
        cv: Any = 5,
        n_rounds: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.noise = noise
        self.cv = cv
        self.n_rounds = n_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any
    ) -> Self:
        """Estimate the noise, then fit the classifier with it in mind.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows in memory, in any form that the classifier accepts.
        y : array-like of shape (n_samples,)
            Labels, two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, passed on to the classifier, to the last step of a pipeline.
        groups : array-like of shape (n_samples,), default=None
            Groups, for a splitter as `cv` that needs them.
        **params : dict
            What else the classifier's ``fit`` takes; what has a value for each row is divided with
            the rows. With metadata routing enabled, what has been requested.

        Returns
        -------
        RobustClassifier
            Itself.

        Examples
        --------
        >>> from sklearn.model_selection import GroupKFold
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from bblr import RobustClassifier
        >>> from bblr.datasets import load_uci
        >>> X, y = load_uci("breast", return_X_y=True)
        >>> groups = [i // 7 for i in range(len(y))]
        >>> model = RobustClassifier(DecisionTreeClassifier(max_depth=4), cv=GroupKFold(5))
        >>> len(model.fit(X, y, groups=groups).label_quality_) == len(y)
        True
        """
        check_parameters(self)
        check_estimator(self.estimator)
        check_learns(self.estimator)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        method = self._method()
        data = labelled(X, y, sample_weight, self.estimator)
        data, groups = self._routed(data, sample_weight, groups, params)
        known = None if isinstance(self.noise, str) else self._known(len(data.classes))
        folds = make_folds(self.cv, data, self.random_state, groups)
        estimator, refit = with_fixed_settings(self.estimator, data), None
        for _ in range(self.n_rounds):
            flips = self._estimate(estimator, data, folds, refit, known)
            refit = _training_set(flips, data, method, takes_weights(self.estimator))
        model = trained(self.estimator, data, refit or given_refit(data.codes, data.weight))
        self._keep(model, data, flips, method if refit else "none")
        return self

    def _method(self) -> str:
        if self.method in WEIGHTED and not takes_weights(self.estimator):
            raise ValueError(
                f"method={self.method!r} needs sample_weight, which "
                f"{type(self.estimator).__name__} does not take, or has not requested; use "
                "method='leave_out' or 'replace'."
            )
        return "leave_out" if self.method == "auto" else self.method

    def _routed(
        self, data: Labelled, sample_weight: Any, groups: Any, params: dict[str, Any]
    ) -> tuple[Labelled, Any]:
        """Return the rows with what the classifier is to be given, and groups for the folds."""
        if not routing_enabled():
            return data._replace(params=params), groups
        given = {"sample_weight": sample_weight, "groups": groups}
        given = {name: value for name, value in given.items() if value is not None}
        routed = process_routing(self, "fit", **given, **params)
        inner = dict(routed.estimator.fit)
        weight = inner.pop("sample_weight", None)
        if weight is not None and sample_weight is None:
            # It came by another name.
            data = labelled(data.X, data.y, weight, self.estimator)
        elif weight is None:
            data = data._replace(weight=None)
        return data._replace(params=inner), routed.splitter.split.get("groups")

    def _known(self, n_classes: int) -> Floats:
        """Return the flip matrix that `noise` states."""
        if isinstance(self.noise, Real):
            rate, most = float(self.noise), (n_classes - 1) / n_classes
            if rate >= most:
                raise ValueError(
                    f"noise must be less than {most:g} with {n_classes} classes, or labels say "
                    f"nothing; got {self.noise!r}."
                )
            return symmetric_flips(rate / most, n_classes)
        try:
            flips = np.asarray(self.noise, dtype=np.float64)
        except (TypeError, ValueError):
            flips = np.empty(0)
        sound = flips.shape == (n_classes, n_classes) and bool(np.isfinite(flips).all())
        if not sound or flips.min() < 0 or not np.allclose(flips.sum(axis=1), 1.0, atol=1e-6):
            raise ValueError(
                f"noise must be a rate, or a matrix of {n_classes} rows and columns with the "
                "shares of each class that were given each label, which sum to 1 in each row; got "
                f"{self.noise!r}."
            )
        if np.allclose(flips, flips[0]):
            raise ValueError(
                "noise must not have the same shares in each row, or labels say nothing; got "
                f"{self.noise!r}."
            )
        return flips

    def _estimate(
        self,
        estimator: Any,
        data: Labelled,
        folds: list[Fold],
        refit: Refit | None,
        known: Floats | None,
    ) -> Flips:
        scores = panel_scores(estimator, data, folds, self.n_jobs, refit)
        weight = np.ones(len(data.y)) if data.weight is None else data.weight
        return estimate_flips(scores, data.codes, weight, known)

    def _keep(self, model: Any, data: Labelled, flips: Flips, method: str) -> None:
        self.estimator_, self.classes_, self.method_ = model, data.classes, method
        self.label_quality_ = own_probability(flips.posterior, data.codes)
        self.flip_matrix_ = flips.rates if flips.found else np.eye(len(data.classes))
        wrong = (self.label_quality_ < 0.5) & (self.label_quality_ < flips.posterior.max(axis=1))
        self.kept_ = ~wrong if flips.found else np.ones(len(data.y), dtype=bool)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
            elif hasattr(self, name):
                delattr(self, name)


def _training_set(flips: Flips, data: Labelled, method: str, weighs: bool) -> Refit | None:
    """Return what to train on, or None for the labels as given."""
    if not flips.found:
        return None
    refit = METHODS[method](flips.posterior, data.codes, weighs).weighted(data.weight)
    return with_all_classes(refit, data.codes, data.weight, np.arange(len(data.codes)))
