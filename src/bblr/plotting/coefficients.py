"""CoefficientDisplay: the coefficients that count most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from bblr._checks import check_number
from bblr._numeric.tensors import as_numpy
from bblr.linear.fit_digest import spreads
from bblr.plotting._arguments import Floats, check_text, fitted_attribute
from bblr.plotting._base import BaseDisplay, style


class CoefficientDisplay(BaseDisplay):
    """The coefficients of a linear classifier that count most, the largest on top.

    Parameters
    ----------
    coefficients : array-like of shape (n_features,) or (n_classes, n_features)
        Weights; of two classes towards the second, and a row a class of more.
    feature_names : sequence of str
        A name for each feature.
    labels : sequence of str or None, default=None
        What each row of weights speaks for: of two classes the second one.
    by_spread : bool, default=False
        Whether the weights are those of a standard deviation of each feature, for the label of
        the axis.
    max_features : int, default=15
        How many features to draw at most.
    estimator_name : str or None, default=None
        Name for the legend, of two classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        The points of each row of weights.
    shown_ : list of str
        The features drawn, from top to bottom.

    Examples
    --------
    >>> from bblr import BBLRClassifier
    >>> from bblr.datasets import load_uci
    >>> from bblr.plotting import CoefficientDisplay
    >>> data = load_uci("heart", as_frame=True)
    >>> model = BBLRClassifier().fit(data.data, data.target)
    >>> CoefficientDisplay.from_estimator(model, data.data, max_features=3).shown_
    ['major_vessels', 'thal', 'chest_pain']
    """

    def __init__(
        self,
        coefficients: Any,
        feature_names: Any,
        *,
        labels: Any = None,
        by_spread: bool = False,
        max_features: int = 15,
        estimator_name: str | None = None,
    ) -> None:
        table = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
        if table.ndim != 2 or not np.isfinite(table).all():
            raise ValueError(
                "coefficients must be finite numbers, one a feature or a row of them a class; got "
                f"shape {np.shape(coefficients)}."
            )
        self.coefficients: Floats = table
        self.feature_names = [str(name) for name in feature_names]
        if len(self.feature_names) != table.shape[1]:
            raise ValueError(
                f"feature_names must hold {table.shape[1]} names, one a feature; got "
                f"{len(self.feature_names)}."
            )
        self.labels = None if labels is None else [str(label) for label in labels]
        if self.labels is not None and len(self.labels) != len(table):
            raise ValueError(
                f"labels must hold {len(table)}, one a row of coefficients; got "
                f"{len(self.labels)}."
            )
        check_number("max_features", max_features, low=1, integer=True)
        self.by_spread = bool(by_spread)
        self.max_features = max_features
        self.estimator_name = check_text("estimator_name", estimator_name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the coefficients.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend, `estimator_name` if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for the points.

        Returns
        -------
        self
            With the axes, figure and lines as attributes.

        Examples
        --------
        >>> from bblr.plotting import CoefficientDisplay
        >>> CoefficientDisplay([0.5, -2.0], ["age", "dose"]).plot().shown_
        ['dose', 'age']
        """
        name = self._begin(ax, name, kwargs)
        size = np.abs(self.coefficients).max(axis=0)
        order = np.argsort(-size, kind="stable")[: self.max_features]
        self.shown_ = [self.feature_names[j] for j in order]
        places = np.arange(len(order))[::-1]
        many = len(self.coefficients) > 1
        self.lines_ = []
        for k, row in enumerate(self.coefficients[:, order]):
            label = self.labels[k] if many and self.labels is not None else name
            look = style({"marker": "o", "linestyle": "none", "label": label}, kwargs)
            (line,) = self.ax_.plot(row, places, **look)
            if not many:
                self.ax_.hlines(places, 0.0, row, color=line.get_color(), linewidth=2.0)
            self.lines_.append(line)
        self.ax_.axvline(0.0, color="0.6", linewidth=1.0, zorder=0)
        self.ax_.set_yticks(places, self.shown_)
        self.ax_.grid(axis="y", alpha=0.2)
        of = (
            "Coefficient, for a standard deviation"
            if self.by_spread
            else "Coefficient, for a unit"
        )
        towards = f", towards {self.labels[0]}" if self.labels and not many else ""
        self.ax_.set(xlabel=of + towards, ylabel="Feature")
        if many or name is not None:
            self.ax_.legend(loc="best")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = 15,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the coefficients of a fitted linear classifier.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted classifier with ``coef_``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows such as those of training, as `estimator` takes them: coefficients are then
            those of a standard deviation of each feature, and otherwise of a unit.
        feature_names : sequence of str or None, default=None
            Names of what the classifier itself sees; known if it was fitted to a data frame.
        max_features : int, default=15
            How many features to draw at most.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend; none if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for the points.

        Returns
        -------
        CoefficientDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.datasets import load_uci
        >>> from bblr.plotting import CoefficientDisplay
        >>> data = load_uci("heart", as_frame=True)
        >>> model = BBLRClassifier().fit(data.data, data.target)
        >>> CoefficientDisplay.from_estimator(model, data.data, color="black").ax_.get_xlabel()
        'Coefficient, for a standard deviation, towards 1'
        """
        model = fitted_attribute(cls, estimator, "coef_", "kernel classifiers have none")
        steps = estimator[:-1] if len(getattr(estimator, "steps", ())) > 1 else None
        if X is not None and steps is not None:
            X = steps.transform(X)
        if feature_names is None:
            feature_names = getattr(model, "feature_names_in_", None)
        if feature_names is None and steps is not None:
            feature_names = steps.get_feature_names_out()
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(model.n_features_in_)]
        coef = as_numpy(model.coef_)
        display = cls(
            coef if X is None else coef * spreads(X),
            feature_names,
            labels=as_numpy(model.classes_).tolist()[-len(coef) :],
            by_spread=X is not None,
            max_features=max_features,
            estimator_name=name,
        )
        return display.plot(ax, **kwargs)
