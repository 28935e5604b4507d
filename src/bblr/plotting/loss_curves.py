"""LossDisplay: losses and probabilities as functions of the margin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from bblr._numeric.tensors import as_numpy
from bblr.losses import LOSSES, Loss, get_loss
from bblr.plotting._arguments import check_text, finite, fitted_attribute, same_length
from bblr.plotting._base import BaseDisplay, shown_label, style
from bblr.plotting._costs import POINTS, Costs

KINDS = ("loss", "probability")


class LossDisplay(BaseDisplay):
    """Losses, or the probabilities behind them, as functions of the margin.

    The margin is y times the score for labels -1 and +1. With many classes, it is the score of the
    true class minus the scores of the others, which are taken to be equal.

    Parameters
    ----------
    margins : array-like of shape (n_points,)
        Margins at which the curves are evaluated.
    curves : mapping of str to array-like of shape (n_points,)
        The curves by their labels.
    kind : {"loss", "probability"}, default="loss"
        What the curves are.
    examples : tuple of array-like of shape (n_samples,) or None, default=None
        Margins and heights of examples to mark.
    estimator_name : str or None, default=None
        Name for the legend, added before the labels of the curves.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        The curves.
    examples_ : matplotlib Line2D or None
        The marks of the examples.

    Examples
    --------
    >>> from bblr.losses import get_loss
    >>> from bblr.plotting import LossDisplay
    >>> display = LossDisplay.from_losses(["hinge", get_loss("sigmoid").sharpened(4.0)])
    >>> list(display.curves)
    ['hinge', 'sigmoid, γ = 4']
    """

    def __init__(
        self,
        margins: Any,
        curves: Mapping[str, Any],
        *,
        kind: str = "loss",
        examples: tuple[Any, Any] | None = None,
        estimator_name: str | None = None,
    ) -> None:
        self.margins = finite("margins", margins)
        if not isinstance(curves, Mapping) or not all(isinstance(key, str) for key in curves):
            raise TypeError(f"curves must map labels to curves, got {curves!r:.60}.")
        self.curves = {
            label: finite(f"curves[{label!r}]", curve) for label, curve in curves.items()
        }
        if not self.curves:
            raise ValueError("curves must hold at least one curve, got none.")
        for label, curve in self.curves.items():
            same_length({"margins": self.margins, f"curves[{label!r}]": curve})
        self.kind = _check_kind(kind)
        self.examples = None if examples is None else _check_examples(examples)
        self.estimator_name = check_text("estimator_name", estimator_name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend, `estimator_name` if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for every curve.

        Returns
        -------
        self
            With the axes, figure and lines as attributes.

        Examples
        --------
        >>> from bblr.plotting import LossDisplay
        >>> display = LossDisplay([-1, 0, 1], {"hinge": [2, 1, 0]})
        >>> display.plot(linestyle="--").ax_.get_xlabel()
        'Margin'
        """
        name = self._begin(ax, name, kwargs)
        self.lines_ = []
        for label, curve in self.curves.items():
            label = ", ".join(part for part in (name, label) if part)
            self.lines_ += self.ax_.plot(self.margins, curve, **style({"label": label}, kwargs))
        self.examples_ = None
        if self.examples is not None:
            self._mark_examples()
        what = "Loss" if self.kind == "loss" else "Probability of the true class"
        self.ax_.set(xlabel="Margin", ylabel=what)
        if any(shown_label(line) for line in self.ax_.get_lines()):
            self.ax_.legend(loc="best")
        return self

    def _mark_examples(self) -> None:
        margins, heights = self.examples or ((), ())
        where: Any = np.clip(margins, self.margins.min(), self.margins.max())
        (self.examples_,) = self.ax_.plot(
            where, heights, linestyle="none", marker="|", markersize=11, color="black", alpha=0.35,
            label=f"{len(where):,} examples", zorder=self.lines_[-1].get_zorder() + 1,
        )  # fmt: skip

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "loss",
        margins: Any = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the loss that corresponds to the ``link_`` of a fitted estimator.

        There is one curve per class, or a single one if all plateaus are equal.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with a ``link_``: any of the classifiers with probabilities.
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or None, default=None
            Examples to mark on the curve, with `y`; misfits lie on the plateau to the left, and
            examples beyond the curve are drawn at its ends. With many classes an example lies on
            the curve, or below it where the scores of the other classes differ.
        y : array-like of shape (n_samples,) or None, default=None
            Their classes.
        kind : {"loss", "probability"}, default="loss"
            What to draw.
        margins : array-like or None, default=None
            Margins at which to evaluate the curves; if None, a range around 0 that covers the
            slope and the examples.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend; that of the class if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for every curve.

        Returns
        -------
        LossDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.datasets import load_uci
        >>> from bblr.plotting import LossDisplay
        >>> X, y = load_uci("heart", return_X_y=True)
        >>> model = BBLRClassifier("empirical").fit(X, y)
        >>> display = LossDisplay.from_estimator(model, X, y, kind="probability")
        >>> list(display.curves)
        ['class 0', 'class 1']
        """
        _check_kind(kind)
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together.")
        remedy = "fit a classifier of bblr with predict_proba, or use LossDisplay.from_losses"
        model = fitted_attribute(cls, estimator, "link_", remedy)
        costs = Costs(model.link_, as_numpy(model.classes_))
        examples = None
        if X is not None:
            examples = costs.examples(as_numpy(estimator.decision_function(X)), as_numpy(y))
        if margins is None:
            margins = costs.margins(None if examples is None else examples[0])
        margins = finite("margins", margins)
        curves = costs.curves(margins)
        if kind == "probability":
            curves = {label: np.exp(-curve) for label, curve in curves.items()}
            examples = None if examples is None else (examples[0], np.exp(-examples[1]))
        name = type(model).__name__ if name is None else name
        display = cls(margins, curves, kind=kind, examples=examples, estimator_name=name)
        return display.plot(ax, **kwargs)

    @classmethod
    def from_losses(
        cls,
        losses: Any = None,
        *,
        kind: str = "loss",
        margins: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw registered or given losses of a positive example.

        Parameters
        ----------
        losses : iterable of str or Loss, mapping of str to Loss, or None, default=None
            Names of ``bblr.losses.LOSSES``, or losses; the keys of a mapping are the labels. None
            draws all registered losses, or those of them that have a probability.
        kind : {"loss", "probability"}, default="loss"
            What to draw.
        margins : array-like or None, default=None
            Margins at which to evaluate the curves; from -4 to 4 if None.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for every curve.

        Returns
        -------
        LossDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr.plotting import LossDisplay
        >>> display = LossDisplay.from_losses(kind="probability")
        >>> list(display.curves)
        ['logistic', 'beta-bernoulli, γ = 1']
        """
        _check_kind(kind)
        probable = kind == "probability"
        if losses is None:
            losses = [loss for loss in LOSSES.values() if loss.has_probability or not probable]
        margins = np.linspace(-4.0, 4.0, POINTS) if margins is None else margins
        margins = finite("margins", margins)
        curves = {}
        for label, loss in _labelled(losses).items():
            if probable and not loss.has_probability:
                have = ", ".join(n for n, other in LOSSES.items() if other.has_probability)
                raise ValueError(
                    f"kind='probability' needs losses that have one, and {label!r} has none; "
                    f"choose among {have}."
                )
            curves[label] = (
                loss.probability(margins) if probable else loss.value(np.ones(1), margins)
            )
        return cls(margins, curves, kind=kind).plot(ax, **kwargs)


def _check_kind(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"kind must be 'loss' or 'probability', got {kind!r}.")
    return kind


def _check_examples(examples: Any) -> tuple[Any, Any]:
    if not isinstance(examples, tuple | list) or len(examples) != 2:
        raise TypeError(f"examples must be a pair, margins and heights, got {examples!r:.60}.")
    margins, heights = (finite("examples", column) for column in examples)
    same_length({"examples[0]": margins, "examples[1]": heights})
    return margins, heights


def _labelled(losses: str | Loss | Iterable[Any] | Mapping[str, Loss]) -> dict[str, Loss]:
    if isinstance(losses, str | Loss):
        losses = [losses]
    if not isinstance(losses, Iterable):
        raise TypeError(f"losses must be names, losses or a mapping, got {losses!r:.60}.")
    labels = list(losses) if isinstance(losses, Mapping) else None
    found = [_loss(loss) for loss in (losses.values() if isinstance(losses, Mapping) else losses)]
    if not found:
        raise ValueError("losses must hold at least one loss; None draws the whole registry.")
    labels = [_label(loss) for loss in found] if labels is None else labels
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ValueError(
            f"losses holds {twice!r} twice; give a mapping of labels to losses to tell them apart."
        )
    return dict(zip(labels, found, strict=True))


def _loss(loss: Any) -> Loss:
    if isinstance(loss, str):
        return get_loss(loss)
    if not isinstance(loss, Loss) or loss.n_scores > 1:
        raise TypeError(
            f"losses must be names of bblr.losses.LOSSES or losses of two classes, "
            f"got {loss!r:.60}."
        )
    return loss


def _label(loss: Loss) -> str:
    sharp = hasattr(loss, "gamma")
    return f"{loss.name}, γ = {getattr(loss, 'gamma'):g}" if sharp else loss.name  # noqa: B009
