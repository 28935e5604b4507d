"""Saved models: two lines to read, a header in JSON, and the classifier.

The classifier is a pickle, since that is how scikit-learn's classifiers are stored. An ordinary
pickle may call any function when it is loaded; this one is loaded by a reader that knows the
classes of bblr and plain arrays, and refuses everything else by name.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._atomic import whole_file
from bblr._version import __version__
from bblr.files.layout import Layout, layout_from_dict

__all__ = ["ModelFileError", "SavedModel", "Scaling", "load_model", "save_model"]

_MAGIC = "bblr-model"
_FORMAT = 1
_MOST_HEADER = 1 << 27
_ROOMS = ("estimators", "losses", "priors", "designs", "solvers")
# NumPy 2 renamed its core; the same arrays are written by either name.
_ARRAYS = {
    (f"numpy.{core}.{module}", name): (module, name)
    for core in ("core", "_core")
    for module, name in (
        ("multiarray", "_reconstruct"),
        ("multiarray", "scalar"),
        ("numeric", "_frombuffer"),
    )
}
_PLAIN = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("scipy.sparse._csr", "csr_matrix"),
    ("scipy.sparse._csr", "csr_array"),
}


class ModelFileError(ValueError):
    """A file that holds no model that can be used here."""


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
    versions : dict of str to str
        Versions of what fitted it; by default those here.
    """

    classifier: Any
    layout: Layout
    rows: int
    scaling: Scaling | None = None
    versions: dict[str, str] = field(default_factory=lambda: versions())

    @property
    def classes(self) -> np.ndarray:
        """The classes, sorted."""
        return np.asarray(self.classifier.classes_)

    @property
    def has_probabilities(self) -> bool:
        """Whether the classifier tells probabilities."""
        return hasattr(self.classifier, "predict_proba")

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each encoded row."""
        return self.classifier.predict(self._scaled(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each encoded row."""
        return self.classifier.predict_proba(self._scaled(X))

    def _scaled(self, X: Any) -> Any:
        return X if self.scaling is None else self.scaling.apply(X)

    def version_warning(self) -> str | None:
        """Say which versions differ from those here enough to matter; None where none does."""
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


def save_model(model: SavedModel, path: Path) -> None:
    """Write a model; the file is there whole or not at all."""
    payload = pickle.dumps((model.classifier, _scaling_parts(model.scaling)), protocol=5)
    header = {
        "classifier": type(model.classifier).__name__,
        "classes": model.classes.tolist(),
        "rows": model.rows,
        "layout": model.layout.as_dict(),
        "versions": model.versions,
        "bytes": len(payload),
        "sha256": hashlib.sha256(payload).hexdigest(),
    }
    with whole_file(path) as file:
        file.write(f"{_MAGIC} {_FORMAT}\n{json.dumps(header)}\n".encode())
        file.write(payload)


def _scaling_parts(scaling: Scaling | None) -> tuple[Any, Any] | None:
    return None if scaling is None else (scaling.shift, scaling.scale)


def load_model(path: Path) -> SavedModel:
    """Read a model.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, comes from a later version, or names code that is
        no part of a model.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr import BBLRClassifier
    >>> from bblr.files import SavedModel, load_model, save_model
    >>> from bblr.files.layout import SvmlightLayout
    >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.bblr")
    ...     save_model(SavedModel(classifier, SvmlightLayout(1, False), rows=4), path)
    ...     model = load_model(path)
    >>> model.predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """
    with path.open("rb") as file:
        first = file.readline(64)
        stored, payload = file.readline(_MOST_HEADER), file.read()
    _check_format(first, path)
    try:
        header = json.loads(stored)
        sound = len(payload) == header["bytes"]
        sound &= hashlib.sha256(payload).hexdigest() == header["sha256"]
        layout, rows = layout_from_dict(header["layout"]), int(header["rows"])
        found = {str(name): str(number) for name, number in header["versions"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(path) from None
    if not sound:
        raise _damaged(path)
    classifier, parts = _unpickle(payload, path, found)
    scaling = None if parts is None else Scaling(*parts)
    return SavedModel(classifier, layout, rows, scaling, found)


def _check_format(first: bytes, path: Path) -> None:
    words = first.decode("ascii", errors="replace").split()
    if len(words) != 2 or words[0] != _MAGIC or not words[1].isdecimal():
        raise ModelFileError(f"{path} is no model; name a file that bblr fit wrote")
    if int(words[1]) > _FORMAT:
        raise ModelFileError(
            f"{path} has format {words[1]}, and this version of bblr ({__version__}) reads up to "
            f"{_FORMAT}; install a later bblr, or fit the model again"
        )


def _damaged(path: Path) -> ModelFileError:
    return ModelFileError(f"{path} is damaged or cut short; copy it again, or fit the model again")


def _unpickle(payload: bytes, path: Path, found: dict[str, str]) -> Any:
    try:
        classifier, parts = _Reader(io.BytesIO(payload)).load()
        classifier.classes_  # noqa: B018
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}") from None
    except Exception as error:
        saved = ", ".join(f"{name} {number}" for name, number in found.items())
        raise ModelFileError(
            f"{path} was fitted with {saved} and cannot be read here ({error}); install these "
            "versions, or fit the model again"
        ) from error
    return classifier, parts


class _Reader(pickle.Unpickler):
    """Finds the classes of bblr's rooms and plain arrays, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ARRAYS:
            home, name = _ARRAYS[module, name]
            core = "_core" if hasattr(np, "_core") else "core"
            return getattr(import_module(f"numpy.{core}.{home}"), name)
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        parts = module.split(".")
        if parts[0] == "bblr" and len(parts) > 1 and parts[1] in _ROOMS and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__.split(".")[0] == "bblr":
                return found
        raise ModelFileError(
            f"names {module}.{name}, which is no part of a model; do not trust this file"
        )
