"""Texts of any kind as a few numbers: weighted counts of their parts, projected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TextFeatures", "learn_texts"]

# Parts of words are counted in so many buckets, and that of at most so many numbers are made.
_BUCKETS = 2**14
_MOST_FEATURES = 30
# Singular values below this share of the largest are rounding errors of single precision.
_LEAST_VARIED = 1e-4
# Different texts to learn from, up to twice as many.
_LEARNED = 10_000


@dataclass(frozen=True)
class TextFeatures:
    """Sequences of 3 and 4 characters, counted by hash, weighted by rarity and projected.

    Parameters
    ----------
    buckets : ndarray of int64, shape (parts,)
        The hashes that occurred in training, rising.
    idf : ndarray of shape (parts,)
        The inverse document frequency of each.
    components : ndarray of float32, shape (features * parts,)
        The directions in which training texts differ most, one after the other.
    """

    buckets: NDArray[np.int64]
    idf: NDArray[np.float64]
    components: NDArray[np.float32]

    @property
    def n_features(self) -> int:
        """How many numbers a text becomes."""
        return len(self.components) // len(self.idf)

    @property
    def is_sound(self) -> bool:
        """Whether the parts fit each other."""
        buckets, parts = self.buckets, len(self.idf)
        rising = parts > 0 and bool(np.all(buckets[1:] > buckets[:-1]))
        known = rising and buckets[0] >= 0 and buckets[-1] < _BUCKETS
        return known and len(buckets) == parts and len(self.components) == parts * self.n_features

    def apply(self, texts: pd.Series) -> np.ndarray:
        """Return the features of texts; an empty one has zeros.

        Parameters
        ----------
        texts : Series of str
            The texts.
        """
        from sklearn.preprocessing import normalize

        which, different = texts.factorize()
        counts = _counts(different)[:, self.buckets]
        weighted = normalize(counts.multiply(self.idf).tocsr())
        components = self.components.reshape(self.n_features, -1).astype(np.float64)
        return np.asarray(weighted @ components.T)[which]


def _counts(texts: Any) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(
        analyzer="char_wb",
        ngram_range=(3, 4),
        n_features=_BUCKETS,
        norm=None,
        alternate_sign=False,
    )
    return vectorizer.transform(texts)


def learn_texts(texts: pd.Series) -> TextFeatures | None:
    """Learn the features of a column; None where its texts have nothing to tell them apart.

    Parameters
    ----------
    texts : Series of str
        The texts of the training rows.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    different = texts.unique()
    counts = _counts(different[:: max(1, len(different) // _LEARNED)])
    buckets = np.unique(counts.indices).astype(np.int64)
    weighting = TfidfTransformer()
    weighted = weighting.fit_transform(counts[:, buckets])
    most = min(_MOST_FEATURES, weighted.shape[0] - 1, weighted.shape[1] - 1)
    if most < 1:
        return None
    found = TruncatedSVD(most, random_state=0).fit(weighted)
    # A few words that come again and again span fewer directions; the rest would be rounding
    # errors, which a classifier would scale up to the size of the others.
    varied = found.singular_values_ > _LEAST_VARIED * found.singular_values_[0]
    components = found.components_[varied].astype(np.float32)
    return TextFeatures(buckets, weighting.idf_, components.ravel())
