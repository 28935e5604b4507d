"""What a loss is: the cost of one example, given its label and its raw score or scores."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bblr.losses.fused import FusedLoss, FusedSoftmax
from bblr.losses.margins import Floats, margin


@dataclass(frozen=True)
class Loss:
    """The loss of labels and raw scores, row by row; it never sees the features.

    With two classes a row has one score and a label of -1 or +1; with more it has a score for each
    class, and its label is a class number. A subclass writes ``value_gradient``, and whatever of
    the rest differs. One that has a field ``gamma`` can be sharpened.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from bblr.losses import Loss
    >>> @dataclass(frozen=True)
    ... class Exponential(Loss):
    ...     name = "exponential"
    ...
    ...     def value_gradient(self, y, raw):
    ...         value = np.exp(-np.asarray(y) * raw)
    ...         return value, -np.asarray(y) * value
    >>> Exponential().value([1, -1], [0.0, 1.0]).round(2)
    array([1.  , 2.72])
    """

    name: ClassVar[str]
    """Key of the loss in the registry."""

    has_probability: ClassVar[bool] = False
    """Whether the loss is the negative logarithm of a probability."""

    def value(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels, -1 or +1.
        raw : array-like of shape (n_samples,)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs.

        Examples
        --------
        >>> from bblr.losses import Hinge
        >>> Hinge().value([1, -1], [0.25, 0.25])
        array([0.75, 1.25])
        """
        return self.value_gradient(y, raw)[0]

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels, -1 or +1.
        raw : array-like of shape (n_samples,)
            Raw scores.

        Returns
        -------
        value : ndarray of shape (n_samples,)
            Costs.
        gradient : ndarray of shape (n_samples,)
            Derivative of each cost by its own raw score.

        Examples
        --------
        >>> from bblr.losses import Squared
        >>> Squared().value_gradient([1, -1], [0.5, 0.5])
        (array([0.25, 2.25]), array([-1.,  3.]))
        """
        raise NotImplementedError(f"{type(self).__name__} must write value_gradient")

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example as gamma grows without bound.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels, -1 or +1.
        raw : array-like of shape (n_samples,)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs; those of the loss itself where it has no gamma.

        Examples
        --------
        >>> from bblr.losses import Sigmoid
        >>> Sigmoid().limit([1, 1, 1], [-0.1, 0.0, 0.1])
        array([1. , 0.5, 0. ])
        """
        return self.value(y, raw)

    def probability(self, raw: Any) -> Floats:
        """Return the probability of the positive class.

        Parameters
        ----------
        raw : array-like of shape (n_samples,)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Probabilities.

        Raises
        ------
        TypeError
            If the loss is no negative logarithm of a probability (``has_probability`` tells).

        Examples
        --------
        >>> from bblr.losses import Logistic
        >>> Logistic().probability([-2.0, 0.0, 2.0]).round(2)
        array([0.12, 0.5 , 0.88])
        """
        raise TypeError(f"The {self.name} loss has no probability of its own.")

    def curvature(self, raw: Any) -> Floats:
        """Return a non-negative curvature per example that does not depend on its label.

        For a likelihood this is the Fisher information. Solvers use it to precondition only.

        Parameters
        ----------
        raw : array-like of shape (n_samples,)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Curvatures; ones where a loss knows nothing better.

        Examples
        --------
        >>> from bblr.losses import Logistic
        >>> Logistic().curvature([0.0, 4.0]).round(3)
        array([0.25 , 0.018])
        """
        return np.ones_like(np.asarray(raw, dtype=np.float64))

    def sharpened(self, gamma: float) -> Self:
        """Return the same loss at another gamma; a loss without one returns itself.

        Parameters
        ----------
        gamma : float
            Sharpness, a positive number.

        Returns
        -------
        Loss
            A loss of the same class.

        Examples
        --------
        >>> from bblr.losses import Hinge, Sigmoid
        >>> Sigmoid().sharpened(8.0), Hinge().sharpened(8.0)
        (Sigmoid(gamma=8.0), Hinge())
        """
        if any(field.name == "gamma" for field in fields(self)):
            return replace(self, gamma=gamma)  # type: ignore[call-arg]
        return self

    def without_plateaus(self) -> Loss:
        """Return the convex loss that this one is without a bound on what an outlier costs.

        Returns
        -------
        Loss
            The loss itself where it has no plateaus.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli
        >>> BetaBernoulli.binary(0.2, 0.6, gamma=4.0).without_plateaus().plateaus.low
        (0.0, 0.0)
        """
        return self

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
        if decision.ndim < 2:
            return ~(margin(y, decision) > 0)
        codes, rows = np.asarray(y, dtype=np.intp), np.arange(len(decision))
        own = decision[rows, codes]
        others = decision.copy()
        others[rows, codes] = -np.inf
        return ~(own > others.max(axis=1))

    def decision(self, raw: Any) -> Floats:
        """Return the scores that decide: the raw ones plus `shift`.

        Parameters
        ----------
        raw : array-like of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of the shape of raw
            Positive where the positive one of two classes is predicted; of more, the class of the
            largest one is.

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
        raw, shift = np.asarray(raw, dtype=np.float64), np.array(self.shift)
        if raw.ndim < 2:
            return raw + shift[0]
        # Two classes may have a column each: half of what tells them apart goes to either.
        return raw + (shift if len(shift) > 1 else np.array([-0.5, 0.5]) * shift)

    def predicted(self, raw: Any) -> NDArray[np.intp]:
        """Return the number of the class that each row is given.

        Parameters
        ----------
        raw : array-like of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Class numbers; of two classes the positive one is 1.

        Examples
        --------
        >>> from bblr.losses import Logistic
        >>> Logistic().predicted([-1.0, 2.0])
        array([0, 1])
        """
        decision = self.decision(raw)
        return (decision > 0).astype(np.intp) if decision.ndim < 2 else decision.argmax(axis=1)

    def fisher(self, raw: Floats, weight: Floats) -> Floats:
        """Return `curvature` times the weight of each row.

        Parameters
        ----------
        raw : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.
        weight : ndarray of shape (n_samples,)
            Weights.

        Returns
        -------
        ndarray of the shape of raw
            Weighted curvatures.

        Examples
        --------
        >>> import numpy as np
        >>> from bblr.losses import Logistic
        >>> Logistic().fisher(np.zeros(2), np.array([1.0, 4.0]))
        array([0.25, 1.  ])
        """
        found = self.curvature(raw)
        return found * (weight if found.ndim == 1 else weight[:, None])

    def positive_curvature(self, y: Any, raw: Floats, weight: Floats) -> Floats:
        """Return the weight of each row times a curvature of its loss that is never negative.

        Newton steps use it in place of the second derivative.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        raw : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.
        weight : ndarray of shape (n_samples,)
            Weights.

        Returns
        -------
        ndarray of the shape of raw
            Weighted curvatures; those of `fisher` where a loss knows nothing better.

        Examples
        --------
        >>> import numpy as np
        >>> from bblr.losses import BetaBernoulli
        >>> loss = BetaBernoulli.binary(0.2, 0.6)
        >>> scores = np.array([0.5, -9.0])
        >>> loss.positive_curvature(np.ones(2), scores, np.ones(2)).round(3)    # outliers drop out
        array([0.109, 0.   ])
        """
        return self.fisher(raw, weight)

    def along(
        self, y: Any, raw: Floats, change: Floats, k: int, steps: Floats, weight: Floats
    ) -> Floats:
        """Return the weighted loss with score k moved by each of the steps times a change.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        raw : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.
        change : ndarray of shape (n_samples,)
            What one step adds to the score of each row.
        k : int
            Which score moves; 0 where a row has but one.
        steps : ndarray of shape (n_steps,)
            The steps.
        weight : ndarray of shape (n_samples,)
            Weights.

        Returns
        -------
        ndarray of shape (n_steps,)
            Losses.

        Examples
        --------
        >>> import numpy as np
        >>> from bblr.losses import Hinge
        >>> one = np.ones(1)
        >>> Hinge().along(one, 0 * one, one, 0, np.array([0.0, 0.5, 2.0]), one)
        array([1. , 0.5, 0. ])
        """
        unit = 1.0 if raw.ndim == 1 else np.eye(raw.shape[1])[k]
        column = change if raw.ndim == 1 else change[:, None]
        return np.array([float(self.value(y, raw + s * column * unit) @ weight) for s in steps])

    @property
    def n_scores(self) -> int:
        """How many scores a row has: 1 with two classes."""
        return 1

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(2, self.n_scores)

    @property
    def shift(self) -> tuple[float, ...]:
        """What turns raw scores into those that decide, when added to them."""
        return (0.0,) * self.n_scores

    @property
    def fused(self) -> FusedLoss | FusedSoftmax | None:
        """The loss as the fused kernels know it, or None."""
        return None
