"""What a loss is: the cost of one example, given its label and its raw score."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.fused import FusedLoss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """An elementwise loss of labels y in {-1, +1} and raw scores; it never sees the features.

    A subclass writes ``value_gradient`` and ``limit``, and whatever of the rest differs. One that
    has a field ``gamma`` can be sharpened.

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
        >>> value, gradient = Squared().value_gradient([1, -1], [0.5, 0.5])
        >>> value, gradient
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

    def wrong(self, y: Any, raw: Any) -> NDArray[np.bool_]:
        """Return which examples are errors, strictly: a score on the threshold is one.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels, -1 or +1.
        raw : array-like of shape (n_samples,)
            Raw scores.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True for an error.

        Examples
        --------
        >>> from bblr.losses import Logistic
        >>> Logistic().wrong([1, 1, -1], [0.5, 0.0, 0.5])
        array([False,  True,  True])
        """
        return ~(margin(y, self.decision(raw)) > 0)

    def decision(self, raw: Any) -> Floats:
        """Return the scores that decide: positive where the positive class is predicted.

        Parameters
        ----------
        raw : array-like of shape (n_samples,)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Raw scores less `threshold`.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli
        >>> BetaBernoulli(a=0.1, b=0.6).decision([0.0, 2.0]).round(2)
        array([-0.69,  1.31])
        """
        return np.asarray(raw, dtype=np.float64) - self.threshold

    @property
    def threshold(self) -> float:
        """Raw score at which the decision changes."""
        return 0.0

    @property
    def fused(self) -> FusedLoss | None:
        """The loss as the fused kernels know it, or None."""
        return None


def margin(y: Any, raw: Any) -> Floats:
    """Return z = y * raw as float64, the quantity the symmetric losses depend on."""
    return np.asarray(y, dtype=np.float64) * np.asarray(raw, dtype=np.float64)


def check_gamma(gamma: float) -> None:
    """Raise a ValueError unless gamma is a positive, finite number."""
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be a positive, finite number, got {gamma!r}.")
