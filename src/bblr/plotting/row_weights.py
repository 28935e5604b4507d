"""WeightDisplay: how much each training row counted, by its margin."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bblr.plotting._arguments import check_text, finite, fitted_attribute, same_length
from bblr.plotting._base import BaseDisplay, add_legend, style
from bblr.plotting._costs import Costs

# A row that counts less than this is one that the fit has largely given up.
_LITTLE = 0.5


class WeightDisplay(BaseDisplay):
    """What counted: the weight of each row at the end of the fit against its margin.

    Rows far on the wrong side, at the left, have lost their weight to a plateau; rows below the
    others at the same margin have lost it to the bound on leverage.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        By how much the label of each row scores above the others; negative where it is not
        predicted.
    weights : array-like of shape (n_samples,)
        Weights, between 0 and 1.
    estimator_name : str or None, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes.
    figure_ : matplotlib Figure
        Figure of the axes.
    line_ : matplotlib Line2D
        The points.

    Examples
    --------
    >>> from bblr import BBLRClassifier
    >>> from bblr.datasets import load_uci
    >>> from bblr.plotting import WeightDisplay
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> display = WeightDisplay.from_estimator(BBLRClassifier("robust", l2=3.0).fit(X, y), X, y)
    >>> bool(display.weights[display.margins < -1].max() < display.weights.max() / 10)
    True
    """

    def __init__(self, margins: Any, weights: Any, *, estimator_name: str | None = None) -> None:
        self.margins = finite("margins", margins)
        self.weights = finite("weights", weights)
        same_length({"margins": self.margins, "weights": self.weights})
        self.estimator_name = check_text("estimator_name", estimator_name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the rows.

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
            With the axes, figure and line as attributes.

        Examples
        --------
        >>> from bblr.plotting import WeightDisplay
        >>> WeightDisplay([-3.0, 1.0], [0.1, 0.9]).plot(color="black").line_.get_color()
        'black'
        """
        name = self._begin(ax, name, kwargs)
        if name is not None:
            little = int((self.weights < _LITTLE).sum())
            name = f"{name}: {little:,} of {len(self.weights):,} rows count less than half"
        look = {"marker": "o", "linestyle": "none", "markersize": 4, "alpha": 0.5, "label": name}
        (self.line_,) = self.ax_.plot(self.margins, self.weights, **style(look, kwargs))
        self.ax_.axvline(0.0, color="0.6", linewidth=1.0, zorder=0)
        self.ax_.set(xlabel="Margin of the label", ylabel="Weight in training", ylim=(-0.03, 1.03))
        add_legend(self.ax_)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the training rows of a fitted classifier.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted classifier with ``training_weights``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows, as `estimator` takes them.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights in the fit.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend; that of the class if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for the points.

        Returns
        -------
        WeightDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.datasets import load_uci
        >>> from bblr.plotting import WeightDisplay
        >>> X, y = load_uci("heart", return_X_y=True)
        >>> display = WeightDisplay.from_estimator(BBLRClassifier().fit(X, y), X, y, color="black")
        >>> len(display.weights)
        270
        """
        remedy = "use BBLRClassifier, BBLRClassifierCV or their kernel forms"
        model = fitted_attribute(cls, estimator, "training_weights", remedy)
        if len(getattr(estimator, "steps", ())) > 1:
            X = estimator[:-1].transform(X)
        weights = np.asarray(model.training_weights(X, y, sample_weight))
        decision = np.asarray(model.decision_function(X))
        margins, _ = Costs(model.link_, model.classes_).examples(decision, np.asarray(y))
        display = cls(
            margins, weights, estimator_name=type(model).__name__ if name is None else name
        )
        return display.plot(ax, **kwargs)
