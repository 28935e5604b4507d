"""CertificateDisplay: the best loss found and the proved bound over time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bblr.plotting._arguments import (
    check_style,
    check_text,
    finite,
    fitted_attribute,
    same_length,
)
from bblr.plotting._base import BaseDisplay, shown_label, style, whole_numbers

# Shorter times are drawn here: on a logarithmic axis they would take up most of the space.
EARLIEST = 1e-3


class CertificateDisplay(BaseDisplay):
    """The least zero-one loss found and the greatest lower bound proved, over time.

    Where the two meet, the classifier is optimal, and its last point is filled.

    Parameters
    ----------
    seconds : array-like of shape (n_moments,)
        Time of each improvement, in rising order.
    losses : array-like of shape (n_moments,)
        Least loss found so far.
    bounds : array-like of shape (n_moments,)
        Greatest lower bound proved so far.
    optimal : bool or None, default=None
        Whether the last loss is proved optimal; None means if the bound equals it.
    estimator_name : str or None, default=None
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure of the axes.
    line_ : matplotlib Line2D
        The losses.
    bound_line_ : matplotlib Line2D or None
        The bounds above 0, or None if there are none.
    end_ : matplotlib Line2D
        The last loss.

    Examples
    --------
    >>> from bblr import ZeroOneClassifier
    >>> from bblr.datasets import load_uci
    >>> from bblr.plotting import CertificateDisplay
    >>> X, y = load_uci("breast", return_X_y=True)
    >>> model = ZeroOneClassifier("mip", time_limit=120, random_state=0).fit(X, y)
    >>> display = CertificateDisplay.from_estimator(model)
    >>> float(display.losses[-1]), float(display.bounds[-1]), display.optimal
    (11.0, 11.0, True)
    """

    def __init__(
        self,
        seconds: Any,
        losses: Any,
        bounds: Any,
        *,
        optimal: bool | None = None,
        estimator_name: str | None = None,
    ) -> None:
        self.seconds = finite("seconds", seconds)
        self.losses = finite("losses", losses)
        self.bounds = finite("bounds", bounds)
        same_length({"seconds": self.seconds, "losses": self.losses, "bounds": self.bounds})
        if (np.diff(self.seconds) < 0).any():
            raise ValueError("seconds must rise; sort the moments by time.")
        self.optimal = bool(self.bounds[-1] >= self.losses[-1] if optimal is None else optimal)
        self.estimator_name = check_text("estimator_name", estimator_name)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        bound_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw losses and bounds.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend, `estimator_name` if None.
        bound_kwargs : dict or None, default=None
            Passed to Matplotlib's ``step`` for the bounds, after `kwargs`.
        **kwargs : dict
            Passed to Matplotlib's ``step`` for both lines.

        Returns
        -------
        self
            With the axes, figure and lines as attributes.

        Examples
        --------
        >>> from bblr.plotting import CertificateDisplay
        >>> display = CertificateDisplay([0.1, 1.0], losses=[9, 7], bounds=[3, 7])
        >>> display.plot(name="mip").ax_.get_legend().get_texts()[0].get_text()
        'mip (7, proved optimal)'
        """
        check_style(bound_kwargs, "bound_kwargs")
        name = self._begin(ax, name, kwargs)
        from bblr.plotting._ticks import plain_logarithmic

        label = None if name is None else f"{name} ({self._outcome})"
        look = style({"solid_capstyle": "butt"}, {"label": label, **kwargs})
        x = np.maximum(self.seconds, EARLIEST)
        (self.line_,) = self.ax_.step(x, self.losses, where="post", **look)
        colour = self.line_.get_color()
        self._draw_bounds(x, colour, {**kwargs, **(bound_kwargs or {})})
        order = self.line_.get_zorder() + 10
        (self.end_,) = self.ax_.plot(
            x[-1], self.losses[-1], "o", color=colour, zorder=order,
            markerfacecolor=colour if self.optimal else self.ax_.get_facecolor(),
        )  # fmt: skip
        plain_logarithmic(self.ax_)
        whole_numbers(self.ax_, np.concatenate([self.losses, self.bounds]))
        self.ax_.set_xlabel("Seconds")
        if self.bound_line_ is not None:
            self.ax_.set_ylabel("Training errors (solid), lower bound (dashed)")
        elif not self.ax_.get_ylabel():
            self.ax_.set_ylabel("Training errors")
        if shown_label(self.line_):
            self.ax_.legend(loc="best")
        return self

    @property
    def _outcome(self) -> str:
        loss, bound = self.losses[-1], self.bounds[-1]
        return f"{loss:g}, proved optimal" if self.optimal else f"{loss:g}, bound {bound:g}"

    def _draw_bounds(self, x: Any, colour: Any, given: dict[str, Any]) -> None:
        self.bound_line_ = None
        proved = self.bounds > 0
        if proved.any():
            look = style({"linestyle": "--", "color": colour}, {**given, "label": None})
            (self.bound_line_,) = self.ax_.step(
                x[proved], self.bounds[proved], where="post", **look
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: Any = None,
        name: str | None = None,
        bound_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the losses and bounds of a fitted ZeroOneClassifier over time.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted ZeroOneClassifier.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend; that of the solver if None.
        bound_kwargs : dict or None, default=None
            Passed to Matplotlib's ``step`` for the bounds, after `kwargs`.
        **kwargs : dict
            Passed to Matplotlib's ``step`` for both lines.

        Returns
        -------
        CertificateDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr import ZeroOneClassifier
        >>> from bblr.plotting import CertificateDisplay
        >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0], [2, 2]], [0, 0, 1, 1, 0]
        >>> model = ZeroOneClassifier("exact").fit(X, y)
        >>> float(CertificateDisplay.from_estimator(model, color="black").losses[-1])
        1.0
        """
        model = fitted_attribute(cls, estimator, "trace_", "fit a ZeroOneClassifier")
        display = cls(
            *np.array(model.trace_, dtype=np.float64).T,
            optimal=model.optimal_,
            estimator_name=model.solver if name is None else name,
        )
        return display.plot(ax, bound_kwargs=bound_kwargs, **kwargs)
