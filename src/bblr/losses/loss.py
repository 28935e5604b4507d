"""What a loss is: the cost of one example, given its label and its raw score or scores."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from bblr._numeric.layouts import layout
from bblr._numeric.tensors import beside, by_numpy, is_tensor, namespace
from bblr.losses.decisions import Decisions
from bblr.losses.fused_line import along_grid
from bblr.losses.margins import Floats, check_gamma

# Numbers in a temporary table of steps by rows: few kernels on a GPU, and on a CPU a cache.
_TABLE_ON_DEVICE, _TABLE = 2**24, 2**15


@dataclass(frozen=True)
class Loss(Decisions):
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

    takes_tensors: ClassVar[bool] = False
    """Whether its methods take torch tensors as well as arrays."""

    def __post_init__(self) -> None:
        check_gamma(getattr(self, "gamma", 1.0))

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters alone: what follows from them is not saved."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

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
        same = getattr(self, "gamma", gamma) == gamma
        return self if same else replace(self, gamma=gamma)  # type: ignore

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
        if self.fused is None or is_tensor(raw):
            found = self.curvature(raw)
            return found * layout(found).by_row(weight)
        return self.fused.fisher(raw, weight)

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
        if self.fused is None:
            return self.fisher(raw, weight)
        if is_tensor(raw):
            return by_numpy(self.positive_curvature, y, raw, weight)
        return self.fused.positive_curvature(y, raw, weight)

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
        found = None if is_tensor(raw) else along_grid(self.fused, raw, change, y, weight, steps)
        if found is not None:
            return found
        xp, costs = namespace(raw), beside(np.zeros(len(steps)), raw)
        some = max(1, (_TABLE_ON_DEVICE if is_tensor(raw) else _TABLE) // max(1, len(raw)))
        for s in range(0, len(steps), some):
            at = beside(steps[s : s + some], raw)
            moved = xp.cat([raw] * len(at))
            layout(raw).score(moved, k)[:] += (at[:, None] * change).reshape(-1)
            values = self.value(xp.cat([y] * len(at)), moved)
            costs[s : s + some] = values.reshape(len(at), -1) @ weight
        return costs
