"""A model of a file: a classifier, how its features are made, and what fitted it."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._version import __version__
from bblr.io.tables.table_layout import Layout
from bblr.linear.fit_digest import spreads

__all__ = ["SavedModel", "Scaling", "Typical", "versions"]


@dataclass(frozen=True)
class Scaling:
    """Features brought to one scale, as kernels need them.

    Parameters
    ----------
    shift : ndarray of shape (n_features,) or None
        Taken off first; None for sparse features.
    scale : ndarray of shape (n_features,)
        Divided by then.
    """

    shift: NDArray[np.float64] | None
    scale: NDArray[np.float64]

    def apply(self, X: Any) -> Any:
        """Return scaled features."""
        if self.shift is None:
            import scipy.sparse as sp

            return sp.csr_matrix(X @ sp.diags_array(1.0 / self.scale))
        return (X - self.shift) / self.scale


@dataclass(frozen=True)
class Typical:
    """The features of the training rows, in short.

    Parameters
    ----------
    mean, spread : ndarray of shape (n_features,)
        Their means and standard deviations.
    """

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, X: Any) -> Typical:
        """Return those of some rows, which may be sparse."""
        return cls(np.asarray(X.mean(axis=0)).ravel(), spreads(X))


@dataclass(frozen=True)
class SavedModel:
    """A classifier and how to make its features from a file.

    Parameters
    ----------
    classifier : estimator
        A fitted classifier of bblr.
    layout : TableLayout or SvmlightLayout
        The columns of the training file.
    rows : int
        Rows of the training file.
    scaling : Scaling or None, default=None
        What is done to the features before the classifier sees them.
    versions : dict of str to str, optional
        Versions of what fitted it; by default those here.
    typical : Typical or None, default=None
        What training rows are like, to explain others by.

    Examples
    --------
    >>> from bblr import BBLRClassifier
    >>> from bblr.io import SavedModel
    >>> from bblr.io.tables.table_layout import SvmlightLayout
    >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model = SavedModel(classifier, SvmlightLayout(1, False), rows=4)
    >>> model.classes, model.has_probabilities
    (array([0, 1]), True)
    """

    classifier: Any
    layout: Layout
    rows: int
    scaling: Scaling | None = None
    versions: dict[str, str] = field(default_factory=lambda: versions())
    typical: Typical | None = None

    @property
    def classes(self) -> np.ndarray:
        """The classes, sorted."""
        return np.asarray(self.classifier.classes_)

    @property
    def has_probabilities(self) -> bool:
        """Whether the classifier tells probabilities."""
        return hasattr(self.classifier, "predict_proba")

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each encoded row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features as the layout makes them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.io import SavedModel
        >>> from bblr.io.tables.table_layout import SvmlightLayout
        >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model = SavedModel(classifier, SvmlightLayout(1, False), rows=4)
        >>> model.predict([[0.0], [3.0]]).tolist()
        [0, 1]
        """
        return self.classifier.predict(self._scaled(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each encoded row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features as the layout makes them.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes`.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.io import SavedModel
        >>> from bblr.io.tables.table_layout import SvmlightLayout
        >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model = SavedModel(classifier, SvmlightLayout(1, False), rows=4)
        >>> bool(model.predict_proba([[99.0]])[0, 1] > 0.5)
        True
        """
        return self.classifier.predict_proba(self._scaled(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of each encoded row, in the classifier's own units.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features as the layout makes them.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one score, positive where the second is predicted; of more a score
            each.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.io import SavedModel
        >>> from bblr.io.tables.table_layout import SvmlightLayout
        >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model = SavedModel(classifier, SvmlightLayout(1, False), rows=4)
        >>> (model.decision_function([[0.0], [3.0]]) > 0).tolist()
        [False, True]
        """
        return self.classifier.decision_function(self._scaled(X))

    def _scaled(self, X: Any) -> Any:
        return X if self.scaling is None else self.scaling.apply(X)

    def version_warning(self) -> str | None:
        """Say which versions differ from those here enough to matter; None where none does.

        Returns
        -------
        str or None
            A sentence that names them.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> from bblr.io import SavedModel
        >>> from bblr.io.tables.table_layout import SvmlightLayout
        >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model = SavedModel(classifier, SvmlightLayout(1, False), rows=4)
        >>> model.version_warning() is None
        True
        """
        here = versions()
        differing = [
            f"{name} {then} (here {here.get(name, 'none')})"
            for name, then in self.versions.items()
            if not _alike(name, then, here.get(name, ""))
        ]
        if not differing:
            return None
        return f"the model was fitted with {', '.join(differing)}; fit it again if results differ"


def versions() -> dict[str, str]:
    """Versions of what a saved model hangs on."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"bblr": __version__, "python": python_version(), **packages}


def _alike(name: str, then: str, now: str) -> bool:
    if name == "bblr":
        return then == now
    return name == "python" or then.split(".")[:2] == now.split(".")[:2]
