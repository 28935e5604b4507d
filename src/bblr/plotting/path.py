"""PathDisplay: errors and objective along gamma."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bblr.plotting._arguments import (
    Floats,
    check_subset,
    check_text,
    finite,
    fitted_attribute,
    one_dimensional,
    positive,
    same_length,
)
from bblr.plotting._base import SOLID, ErrorCurve, logarithmic, whole_numbers


class PathDisplay(ErrorCurve):
    """Errors and objective at each gamma of an annealed fit.

    Errors are drawn on the left scale, the objective, dashed, on the right one. As gamma grows the
    loss approaches the zero-one loss, so objectives at different gammas are not comparable:
    compare errors along a path, and objectives of fits at the same gamma.

    A fit keeps its training errors, not the weights at every gamma. For errors on other rows, fit
    classifiers with ``gamma_max=gamma`` and draw them on the same axes with ``subset="held-out"``.

    Parameters
    ----------
    gammas : array-like of shape (n_stages,)
        Gamma of each stage; infinity, the zero-one loss itself, is drawn last.
    errors : array-like of shape (n_stages,)
        Errors, weighted by row.
    values : array-like of shape (n_stages,) or None, default=None
        Objective; None draws the errors alone.
    subset : {"training", "held-out"} or None, default="training"
        Rows on which errors were counted, for the labels.
    estimator_name : str or None, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the errors.
    figure_ : matplotlib Figure
        Figure of the axes.
    line_ : matplotlib Line2D
        The errors.
    loss_ax_ : matplotlib Axes or None
        Axes of the objective, on the right of `ax_`.
    loss_line_ : matplotlib Line2D or None
        The objective.

    Examples
    --------
    >>> from bblr import BBLRClassifier
    >>> from bblr.datasets import load_uci
    >>> from bblr.plotting import PathDisplay
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = BBLRClassifier("robust", l2=3.0).fit(X, y)
    >>> display = PathDisplay.from_estimator(model)
    >>> display.gammas
    array([1., 2., 4., 8.])
    """

    def __init__(
        self,
        gammas: Any,
        errors: Any,
        values: Any = None,
        *,
        subset: str | None = "training",
        estimator_name: str | None = None,
    ) -> None:
        self.gammas = positive("gammas", one_dimensional("gammas", gammas))
        self.errors = finite("errors", errors)
        self.values = None if values is None else finite("values", values)
        same_length({"gammas": self.gammas, "errors": self.errors, "values": self.values})
        self.subset = check_subset(subset)
        self.estimator_name = check_text("estimator_name", estimator_name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend, `estimator_name` if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for both lines.

        Returns
        -------
        self
            With the axes, figure and lines as attributes.

        Examples
        --------
        >>> from bblr.plotting import PathDisplay
        >>> display = PathDisplay([1, 2, 4], errors=[12, 9, 8], estimator_name="mine")
        >>> display.plot(color="black").line_.get_color()
        'black'
        """
        name = self._begin(ax, name, kwargs)
        if name is not None and self.subset == "held-out":
            name = f"{name}, held-out"
        x = _places(self.gammas)
        self._draw(x, self.errors, self.values, name, kwargs)
        logarithmic(self.ax_, x[np.isfinite(self.gammas)])
        whole_numbers(self.ax_, self.errors)
        for place, height in zip(x, self.errors, strict=True):
            if place not in self.gammas:
                self.ax_.annotate(
                    "γ = ∞", (place, height), xytext=(4, 8), textcoords="offset points",
                    ha="right",
                )  # fmt: skip
        what = f"{self.subset} errors".capitalize() if self.subset else "Errors"
        before = self.ax_.get_ylabel().removesuffix(SOLID)
        if before.endswith("rrors") and before != what:
            what = "Errors"
        self._label("γ", what, "Objective")
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the path of a fitted estimator.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with a ``path_``: any of the annealed classifiers.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend; that of the class if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for both lines.

        Returns
        -------
        PathDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr import SLAClassifier
        >>> from bblr.datasets import load_uci
        >>> from bblr.plotting import PathDisplay
        >>> X, y = load_uci("liver", return_X_y=True)
        >>> model = SLAClassifier().fit(X, y)
        >>> PathDisplay.from_estimator(model, color="black").gammas
        array([  2.,  20., 200.,  inf])
        """
        remedy = "fit a BBLRClassifier, a KernelBBLRClassifier, one of their CV forms or SLA"
        model = fitted_attribute(cls, estimator, "path_", remedy)
        gammas, values, errors = (
            np.array([getattr(stage, field) for stage in model.path_], dtype=np.float64)
            for field in ("gamma", "value", "errors")
        )
        name = type(model).__name__ if name is None else name
        return cls(gammas, errors, values, estimator_name=name).plot(ax, **kwargs)


def _places(gammas: Floats) -> Floats:
    """Return the position of each gamma; infinity is one step beyond the largest."""
    finite = np.unique(gammas[np.isfinite(gammas)])
    if len(finite) == 0:
        return np.ones_like(gammas)
    step = finite[-1] / finite[-2] if len(finite) > 1 else 2.0
    return np.where(np.isfinite(gammas), gammas, step * finite[-1])
