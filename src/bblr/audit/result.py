"""The result of a label audit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LabelErrors"]


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """The result of :func:`~bblr.find_label_errors`.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Log-odds that the label of each row is wrong.
    suggested : ndarray of shape (n_samples,)
        The most probable class of each row other than its label.
    flip_rates : ndarray of shape (n_classes, n_classes), default=None
        Estimated share of each true class (rows) that was given each label (columns); the diagonal
        holds the shares of right labels.
    classes : ndarray of shape (n_classes,), default=None
        The classes, in the order of the rates.
    given : ndarray of shape (n_samples,), default=None
        The labels that were audited.

    Attributes
    ----------
    probability : ndarray of shape (n_samples,)
        Probability that the label of each row is wrong.
    wrong_plateau : ndarray of bool, shape (n_samples,)
        The rows on the wrong plateau: their labels are more likely wrong than right.
    n_errors : int
        Estimated number of wrong labels: the sum of the probabilities, rounded.
    class_errors : ndarray of int, shape (n_classes,)
        The same, by the class of the label.
    ranking : ndarray of shape (n_samples,)
        Row indices, most probable errors first.
    indices : ndarray of shape (n_errors,)
        Rows estimated to be wrong: the first `class_errors` of each class in the ranking.

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
    flip_rates: NDArray[np.float64] | None = None
    classes: NDArray[Any] | None = None
    given: NDArray[Any] | None = None

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
    def class_errors(self) -> NDArray[np.intp]:
        """Estimated number of wrong labels among those of each class."""
        n_classes = 1 if self.classes is None else len(self.classes)
        expected = np.bincount(self._codes, self.probability, minlength=n_classes)
        # The largest remainders are rounded up, so that the sum is n_errors.
        whole = np.floor(expected)
        left = self.n_errors - int(whole.sum())
        whole[np.argsort(whole - expected, kind="stable")[:left]] += 1
        return whole.astype(np.intp)

    @cached_property
    def ranking(self) -> NDArray[np.intp]:
        """Row indices, most probable errors first; ties in the order of rows."""
        return np.argsort(-self.scores, kind="stable")

    @cached_property
    def indices(self) -> NDArray[np.intp]:
        """Rows estimated to be wrong, in the order of the ranking."""
        codes = self._codes[self.ranking]
        named = np.zeros(len(codes), dtype=bool)
        for code, count in enumerate(self.class_errors):
            named[np.flatnonzero(codes == code)[:count]] = True
        return self.ranking[named]

    def to_frame(self) -> pd.DataFrame:
        """Return a table of all rows, most probable errors first.

        Returns
        -------
        DataFrame
            Indexed by ``row``, the index of the row in the data; with its ``label`` (where
            `given` is known), the ``suggested`` one, the ``probability`` that the label is wrong,
            and the ``score``, its log-odds.

        Examples
        --------
        >>> import numpy as np
        >>> from bblr.audit import LabelErrors
        >>> found = LabelErrors(np.array([-4.0, 3.0, -5.0]), np.array(["b", "a", "b"]))
        >>> found.to_frame().head(1).round(2)
            suggested  probability  score
        row
        1           a         0.95    3.0
        """
        import pandas as pd

        columns = {
            "label": self.given,
            "suggested": self.suggested,
            "probability": self.probability,
            "score": self.scores,
        }
        known = {name: column for name, column in columns.items() if column is not None}
        return pd.DataFrame(known).rename_axis("row").iloc[self.ranking]

    @property
    def _codes(self) -> NDArray[np.intp]:
        if self.classes is None or self.given is None:
            return np.zeros(len(self.scores), dtype=np.intp)
        return np.searchsorted(self.classes, self.given)

    def __repr__(self) -> str:
        n = len(self.scores)
        return (
            f"LabelErrors({self.n_errors} of {n} labels estimated wrong, "
            f"{int(self.wrong_plateau.sum())} rows on the wrong plateau)"
        )
