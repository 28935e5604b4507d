"""ReliabilityDisplay: observed frequencies against predicted probabilities."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bblr._numeric.tensors import as_numpy
from bblr.evaluation.calibration import Bins, as_columns, check_bins, hits, reliability_bins
from bblr.plotting._arguments import Floats, check_text, finite, fitted, positive, same_length
from bblr.plotting._base import BaseDisplay, style

_PERFECT = "Perfectly calibrated"
# Markers of successive curves on the same axes, and the opacity of their points.
_MARKERS = ("o", "s", "^", "D", "v", "p")
_FILL = 0.25
# Diameter of the largest point.
_SIZE = 10.0


class ReliabilityDisplay(BaseDisplay):
    """Observed frequency against predicted probability, in bins.

    Like scikit-learn's ``CalibrationDisplay``, for any number of classes, and with the size of
    each point showing the number of examples in the bin. The legend gives the mean gap between
    frequency and probability, weighted by examples.

    Parameters
    ----------
    prob_true : array-like of shape (n_bins,)
        Observed frequency of the event in each bin.
    prob_pred : array-like of shape (n_bins,)
        Its mean predicted probability.
    counts : array-like of shape (n_bins,)
        Examples in each bin.
    event : str, default="the event"
        The event, for the labels.
    estimator_name : str or None, default=None
        Name for the legend.

    Attributes
    ----------
    gap : float
        Mean distance between `prob_true` and `prob_pred`, weighted by examples.
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure of the axes.
    line_ : matplotlib Line2D
        The curve.
    points_ : matplotlib PathCollection
        The bins. Curves on the same axes have markers of different shapes.

    See Also
    --------
    bblr.evaluation.expected_calibration_error : The mean gap for ``kind="confidence"``.

    Examples
    --------
    >>> from bblr import BBLRClassifierCV
    >>> from bblr.datasets import load_uci
    >>> from bblr.plotting import ReliabilityDisplay
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = BBLRClassifierCV(random_state=0).fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2], n_bins=5)
    >>> int(display.counts.sum()), bool(display.gap < 0.15)
    (135, True)
    """

    def __init__(
        self,
        prob_true: Any,
        prob_pred: Any,
        counts: Any,
        *,
        event: str = "the event",
        estimator_name: str | None = None,
    ) -> None:
        self.prob_true = _shares("prob_true", prob_true)
        self.prob_pred = _shares("prob_pred", prob_pred)
        self.counts = positive("counts", finite("counts", counts))
        same_length(
            {"prob_true": self.prob_true, "prob_pred": self.prob_pred, "counts": self.counts}
        )
        self.gap = Bins(self.prob_pred, self.prob_true, self.counts).gap
        self.event = check_text("event", event) or "the event"
        self.estimator_name = check_text("estimator_name", estimator_name)

    def plot(
        self, ax: Any = None, *, name: str | None = None, ref_line: bool = True, **kwargs: Any
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend, `estimator_name` if None.
        ref_line : bool, default=True
            Whether to draw the line of perfect calibration.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for the curve; `marker` and `markersize` are those of
            the points, the size that of the largest.

        Returns
        -------
        self
            With the axes, figure and lines as attributes.

        Examples
        --------
        >>> from bblr.plotting import ReliabilityDisplay
        >>> display = ReliabilityDisplay([0.2, 0.7], [0.1, 0.8], [30, 10])
        >>> display.plot(ref_line=False).ax_.get_xlabel()
        'Predicted probability of the event'
        """
        name = self._begin(ax, name, kwargs)
        if ref_line and _PERFECT not in self.ax_.get_legend_handles_labels()[1]:
            self.ax_.plot([0, 1], [0, 1], color="grey", ls=":", label=_PERFECT, zorder=1)
        label = None if name is None else f"{name} (gap {self.gap:.3f})"
        marker = _MARKERS[len(self.ax_.collections) % len(_MARKERS)]
        # The line has a marker for the legend only, where points have one size.
        look = {**style({"label": label, "marker": marker}, kwargs), "markevery": []}
        (self.line_,) = self.ax_.plot(self.prob_pred, self.prob_true, **look)
        self._draw_points(look.get("markersize", _SIZE))
        self.ax_.set(
            xlabel=f"Predicted probability of {self.event}",
            ylabel=f"Observed frequency of {self.event}",
            xlim=(-0.03, 1.03),
            ylim=(-0.03, 1.03),
        )
        if self.ax_.get_legend_handles_labels()[1]:
            self.ax_.legend(loc="upper left")
        return self

    def _draw_points(self, size: float) -> None:
        from matplotlib.colors import to_rgba
        from matplotlib.markers import MarkerStyle

        line = self.line_
        edge = to_rgba(line.get_color(), line.get_alpha())
        filled = MarkerStyle(line.get_marker()).is_filled()
        look: dict[str, Any] = {"color": [edge]}
        if filled:
            look = {"facecolors": [(*edge[:3], _FILL * edge[3])], "edgecolors": [edge]}
        self.points_ = self.ax_.scatter(
            self.prob_pred,
            self.prob_true,
            s=size**2 * np.sqrt(self.counts / self.counts.max()),
            marker=line.get_marker(),
            zorder=line.get_zorder() + 1,
            **look,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 15,
        strategy: str = "uniform",
        kind: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw how well a fitted classifier is calibrated on some rows.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``predict_proba``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that it was not fitted to.
        y : array-like of shape (n_samples,)
            Their classes.
        n_bins : int, default=15
            Bins over [0, 1]; those without examples are left out.
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or of equal count.
        kind : {"auto", "class", "confidence"}, default="auto"
            The event, as in `from_predictions`.
        pos_label : label or None, default=None
            The class for ``kind="class"``; the last of the sorted labels if None.
        name : str or None, default=None
            Name for the legend; that of the class if None.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        ref_line : bool, default=True
            Whether to draw the line of perfect calibration.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for the curve; `marker` and `markersize` are those of
            the points, the size that of the largest.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.plotting import ReliabilityDisplay
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BBLRClassifier().fit(X[::2], y[::2])
        >>> ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2]).event
        'the predicted class'
        """
        model = fitted(estimator, "fit a BBLRClassifier, or any classifier with predict_proba")
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"{cls.__name__} needs an estimator with predict_proba, and "
                f"{type(model).__name__} has none; wrap it in sklearn's CalibratedClassifierCV."
            )
        return cls.from_predictions(
            as_numpy(y),
            as_numpy(estimator.predict_proba(X)),
            labels=as_numpy(estimator.classes_),
            n_bins=n_bins,
            strategy=strategy,
            kind=kind,
            pos_label=pos_label,
            name=type(model).__name__ if name is None else name,
            ax=ax,
            ref_line=ref_line,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        labels: Any = None,
        n_bins: int = 15,
        strategy: str = "uniform",
        kind: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw how well predicted probabilities are calibrated.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The true classes.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            For two classes the probability of the larger label; otherwise one column per class,
            in the sorted order of the labels.
        labels : array-like of shape (n_classes,) or None, default=None
            All labels; needed if a class does not occur in `y_true`.
        n_bins : int, default=15
            Bins over [0, 1]; those without examples are left out.
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or of equal count.
        kind : {"auto", "class", "confidence"}, default="auto"
            The event: that a row belongs to `pos_label`, or that the most probable class is the
            true one. "auto" is the first for two classes or where `pos_label` is given, and the
            second for more.
        pos_label : label or None, default=None
            The class for ``kind="class"``; the last of the sorted labels if None.
        name : str or None, default=None
            Name for the legend.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        ref_line : bool, default=True
            Whether to draw the line of perfect calibration.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for the curve; `marker` and `markersize` are those of
            the points, the size that of the largest.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr.plotting import ReliabilityDisplay
        >>> y, p = [0, 0, 0, 1, 1, 1, 1, 0], [0.2] * 4 + [0.8] * 4
        >>> display = ReliabilityDisplay.from_predictions(y, p)
        >>> display.prob_true
        array([0.25, 0.75])
        >>> round(display.gap, 3)
        0.05
        """
        check_bins(n_bins)
        if kind not in ("auto", "class", "confidence"):
            raise ValueError(f"kind must be 'auto', 'class' or 'confidence', got {kind!r}.")
        column, table, classes = as_columns(y_true, y_prob, labels, "y_prob")
        if kind == "auto":
            kind = "confidence" if pos_label is None and len(classes) > 2 else "class"
        if kind == "class":
            k, event = _class_column(classes, pos_label)
            bins = reliability_bins(column == k, table[:, k], n_bins, strategy)
        else:
            event = "the predicted class"
            bins = reliability_bins(*hits(column, table), n_bins, strategy)
        display = cls(bins.observed, bins.predicted, bins.size, event=event, estimator_name=name)
        return display.plot(ax, ref_line=ref_line, **kwargs)


def _class_column(classes: Any, pos_label: Any) -> tuple[int, str]:
    if pos_label is None:
        return len(classes) - 1, f"class {classes[-1]}"
    known = classes.tolist()
    try:
        return known.index(pos_label), f"class {pos_label}"
    except ValueError:
        raise ValueError(
            f"pos_label={pos_label!r:.60} is none of the classes {', '.join(map(str, known))}."
        ) from None


def _shares(name: str, values: Any) -> Floats:
    shares = finite(name, values)
    if ((shares < 0) | (shares > 1)).any():
        raise ValueError(
            f"{name} must lie between 0 and 1, got {shares.min():g} to {shares.max():g}."
        )
    return shares
