"""What an audit of labels has found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["LabelErrors"]


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """What :func:`~bblr.find_label_errors` has found; rows are counted from 0.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Log-odds that the label of each row is wrong.
    suggested : ndarray of shape (n_samples,)
        The likeliest class of each row, its label apart: what to write where that is wrong.

    Attributes
    ----------
    probability : ndarray of shape (n_samples,)
        Probability that the label of each row is wrong.
    wrong_plateau : ndarray of bool, shape (n_samples,)
        The rows on the wrong plateau: their labels are more likely wrong than right.
    n_errors : int
        Estimated number of wrong labels: the sum of the probabilities, rounded.
    ranking : ndarray of shape (n_samples,)
        All rows, the most evident errors first.
    indices : ndarray of shape (n_errors,)
        The first `n_errors` rows of the ranking.

    Examples
    --------
    >>> import numpy as np
    >>> from bblr.audit import LabelErrors
    >>> found = LabelErrors(np.array([-4.0, 3.0, -5.0]), np.array(["b", "a", "b"]))
    >>> found.ranking, found.n_errors, found.indices
    (array([1, 0, 2]), 1, array([1]))
    """

    scores: NDArray[np.float64]
    suggested: NDArray[Any]

    @cached_property
    def probability(self) -> NDArray[np.float64]:
        """Probability that the label of each row is wrong."""
        return np.asarray(expit(self.scores))

    @property
    def wrong_plateau(self) -> NDArray[np.bool_]:
        """Rows whose label is more likely wrong than right."""
        return self.scores > 0

    @property
    def n_errors(self) -> int:
        """Estimated number of wrong labels."""
        return round(float(self.probability.sum()))

    @cached_property
    def ranking(self) -> NDArray[np.intp]:
        """All rows, the most evident errors first; of equals the first row first."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def indices(self) -> NDArray[np.intp]:
        """The first `n_errors` rows of the ranking."""
        return self.ranking[: self.n_errors]

    def __repr__(self) -> str:
        n = len(self.scores)
        return (
            f"LabelErrors({self.n_errors} of {n} labels estimated wrong, "
            f"{int(self.wrong_plateau.sum())} rows on the wrong plateau)"
        )
