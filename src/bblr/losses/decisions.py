"""From scores to decisions: the class predicted for a row, and whether it is an error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.layouts import Layout, layout, layout_of
from bblr._numeric.tensors import floats
from bblr.losses.fused import FusedLoss
from bblr.losses.fused_softmax import FusedSoftmax
from bblr.losses.margins import Floats


class Decisions:
    """Decisions made with the scores of a loss, which may move the boundary by a `shift`."""

    # Number of scores per row: one with two classes.
    n_scores: int = 1
    # The loss as the fused kernels know it, if they do.
    fused: FusedLoss | FusedSoftmax | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(2, self.n_scores)

    @property
    def layout(self) -> Layout:
        """How the scores of a row are laid out."""
        return layout_of(self.n_scores)

    @property
    def shift(self) -> tuple[float, ...]:
        """What turns raw scores into those that decide, when added to them."""
        return (0.0,) * self.n_scores

    def wrong(self, y: Any, raw: Any) -> NDArray[np.bool_]:
        """Return which examples are errors, strictly: a tie is one.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        raw : array-like of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True for an error.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli, Logistic, Plateaus
        >>> Logistic().wrong([1, 1, -1], [0.5, 0.0, 0.5])
        array([False,  True,  True])
        >>> loss = BetaBernoulli(Plateaus.symmetric(0.3, 3))
        >>> loss.wrong([0, 0], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
        array([False,  True])
        """
        decision = self.decision(raw)
        form = layout(decision)
        wrong: NDArray[np.bool_] = form.is_wrong(form.labels(y), decision)
        return wrong

    def decision(self, raw: Any) -> Floats:
        """Return the scores that decide: the raw ones plus `shift`.

        Parameters
        ----------
        raw : array-like of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of the shape of raw
            With two classes, positive where the positive class is predicted; with more, the class
            of the largest score is.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli, Plateaus
        >>> BetaBernoulli.binary(a=0.1, b=0.6).decision([0.0, 2.0]).round(2)
        array([-0.69,  1.31])
        >>> loss = BetaBernoulli(Plateaus((0.2, 0.1, 0.1)))
        >>> loss.probability([[0.0, 0.3, 0.0]]).round(2)        # the plateaus outweigh the score
        array([[0.38, 0.34, 0.28]])
        >>> loss.decision([[0.0, 0.3, 0.0]]).round(2)
        array([[ 0.  , -0.04, -0.34]])
        """
        raw = floats(raw)
        decision: Floats = layout(raw).shifted(raw, self.shift)
        return decision

    def predicted(self, raw: Any) -> NDArray[np.intp]:
        """Return the class number predicted for each row.

        Parameters
        ----------
        raw : array-like of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Class numbers; with two classes the positive one is 1.

        Examples
        --------
        >>> from bblr.losses import Logistic
        >>> Logistic().predicted([-1.0, 2.0])
        array([0, 1])
        """
        decision = self.decision(raw)
        numbers: NDArray[np.intp] = layout(decision).predicted(decision)
        return numbers
