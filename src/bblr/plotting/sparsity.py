"""SparsityDisplay: error and loss against the number of vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bblr._checks import check_number
from bblr._numeric.tensors import as_numpy
from bblr.plotting._arguments import (
    check_subset,
    check_text,
    finite,
    fitted_attribute,
    positive,
    same_length,
)
from bblr.plotting._base import ErrorCurve, logarithmic


class SparsityDisplay(ErrorCurve):
    """Error and loss of a kernel classifier against its number of vectors.

    Errors are drawn on the left scale, the loss, dashed, on the right one.

    Parameters
    ----------
    n_vectors : array-like of shape (n_sizes,)
        Numbers of vectors.
    errors : array-like of shape (n_sizes,)
        Error at each number.
    losses : array-like of shape (n_sizes,) or None, default=None
        Loss at each; None draws the errors alone.
    chosen : int or None, default=None
        The chosen number of vectors, to be marked.
    subset : {"training", "held-out"} or None, default=None
        Rows on which errors and losses were computed, for the labels.
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
        Axes of the loss, on the right of `ax_`.
    loss_line_ : matplotlib Line2D or None
        The loss.
    chosen_line_ : matplotlib Line2D or None
        The mark of the chosen number.

    Examples
    --------
    >>> from bblr import KernelBBLRClassifier
    >>> from bblr.plotting import SparsityDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelBBLRClassifier(sparsity="backward", random_state=0).fit(X, y)
    >>> display = SparsityDisplay.from_estimator(model)
    >>> int(display.n_vectors[0]), bool(display.chosen == model.n_support_.sum())
    (200, True)
    """

    def __init__(
        self,
        n_vectors: Any,
        errors: Any,
        losses: Any = None,
        *,
        chosen: int | None = None,
        subset: str | None = None,
        estimator_name: str | None = None,
    ) -> None:
        self.n_vectors = positive("n_vectors", finite("n_vectors", n_vectors))
        self.errors = finite("errors", errors)
        self.losses = None if losses is None else finite("losses", losses)
        same_length({"n_vectors": self.n_vectors, "errors": self.errors, "losses": self.losses})
        if chosen is not None:
            check_number("chosen", chosen, low=1, integer=True)
        self.chosen = chosen
        self.subset = check_subset(subset)
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
            Passed to Matplotlib's ``plot`` for both lines.

        Returns
        -------
        self
            With the axes, figure and lines as attributes.

        Examples
        --------
        >>> from bblr.plotting import SparsityDisplay
        >>> display = SparsityDisplay([100, 50, 25], errors=[8, 8, 11], chosen=50)
        >>> display.plot(color="black").line_.get_color()
        'black'
        """
        name = self._begin(ax, name, kwargs)
        if name is not None and self.chosen is not None:
            name = f"{name} ({self.chosen:,} vectors)"
        self._draw(self.n_vectors, self.errors, self.losses, name, kwargs)
        logarithmic(self.ax_, self.n_vectors)
        self.chosen_line_ = None
        if self.chosen is not None:
            colour = self.line_.get_color()
            self.chosen_line_ = self.ax_.axvline(self.chosen, color=colour, ls=":", lw=1.2)
        of = f"{self.subset} " if self.subset else ""
        self._label("Support vectors", f"{of}error".capitalize(), f"{of}loss".capitalize())
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the refits of a fit with ``sparsity="backward"``.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted KernelBBLRClassifier, with figures on training rows, or KernelBBLRClassifierCV,
            with figures on held-out rows.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; new ones if None.
        name : str or None, default=None
            Name for the legend; that of the class if None.
        **kwargs : dict
            Passed to Matplotlib's ``plot`` for both lines.

        Returns
        -------
        SparsityDisplay
            The display, drawn.

        Examples
        --------
        >>> from bblr import KernelBBLRClassifier
        >>> from bblr.plotting import SparsityDisplay
        >>> from sklearn.datasets import make_moons
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> model = KernelBBLRClassifier(sparsity="backward", max_vectors=8).fit(X, y)
        >>> SparsityDisplay.from_estimator(model, color="black").chosen
        8
        """
        remedy = "fit a KernelBBLRClassifier or KernelBBLRClassifierCV with sparsity='backward'"
        model = fitted_attribute(cls, estimator, "sparsity_path_", remedy)
        if getattr(model, "sparsity", None) != "backward":
            raise TypeError(
                f"{cls.__name__} needs numbers of vectors, and the sparsity_path_ of this "
                f"{type(model).__name__}(sparsity={model.sparsity!r}) has none; {remedy}."
            )
        table = np.array(model.sparsity_path_, dtype=np.float64)
        display = cls(
            *table.T,
            chosen=int(as_numpy(model.n_support_).sum()),
            subset="held-out" if hasattr(model, "cv") else "training",
            estimator_name=type(model).__name__ if name is None else name,
        )
        return display.plot(ax, **kwargs)
