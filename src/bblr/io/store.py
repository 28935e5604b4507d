"""Saved models: a line with a checksum of the rest, a header in JSON, and the classifier.

The classifier is a pickle, since that is how scikit-learn's classifiers are stored. An ordinary
pickle may call any function when it is loaded; this one is loaded by a reader that knows the
classes a model is made of and plain arrays, and refuses everything else by name.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bblr._atomic import whole_file
from bblr._saved import TRUSTED_TYPES, check_version
from bblr._version import __version__
from bblr.io.layout import layout_from_dict
from bblr.io.model import SavedModel, Scaling

__all__ = ["ModelFileError", "load_model", "save_model"]

_MAGIC = "bblr-model"
_FORMAT = 1
_MOST_FIRST = 128
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
    """A file that holds no model that can be used here.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr.io import ModelFileError, load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.txt")
    ...     _ = path.write_text("no model")
    ...     try:
    ...         load_model(path)
    ...     except ModelFileError as error:
    ...         print("Refused:", error)
    Refused: ...notes.txt is no model; name a file that bblr fit wrote
    """


def save_model(model: SavedModel, path: str | os.PathLike[str]) -> None:
    """Write a model; the file is there whole or not at all.

    Parameters
    ----------
    model : SavedModel
        What to write.
    path : str or path-like
        The file; one that is there is replaced.

    Raises
    ------
    ModelFileError
        If the classifier holds an object that `load_model` would refuse.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr import BBLRClassifier
    >>> from bblr.io import SavedModel, load_model, save_model
    >>> from bblr.io.layout import SvmlightLayout
    >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.bblr")
    ...     save_model(SavedModel(classifier, SvmlightLayout(1, False), rows=4), path)
    ...     load_model(path).rows
    4
    """
    payload = pickle.dumps((model.classifier, _scaling_parts(model.scaling)), protocol=5)
    try:
        _Reader(io.BytesIO(payload)).load()
    except _Foreign as foreign:
        raise ModelFileError(
            f"the classifier holds {foreign}, which a model file cannot; set its parameters to "
            "numbers, texts and objects of bblr, or save it by skops or joblib"
        ) from None
    header = {
        "classifier": type(model.classifier).__name__,
        "classes": model.classes.tolist(),
        "rows": model.rows,
        "layout": model.layout.as_dict(),
        "versions": model.versions,
    }
    rest = f"{json.dumps(header)}\n".encode() + payload
    with whole_file(Path(path)) as file:
        file.write(f"{_MAGIC} {_FORMAT} {hashlib.sha256(rest).hexdigest()}\n".encode())
        file.write(rest)


def _scaling_parts(scaling: Scaling | None) -> tuple[Any, Any] | None:
    return None if scaling is None else (scaling.shift, scaling.scale)


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model.

    Parameters
    ----------
    path : str or path-like
        A file that `save_model` or ``bblr fit`` wrote.

    Returns
    -------
    SavedModel
        The model.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, comes from a version that cannot be read here, or
        names code that is no part of a model.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr import BBLRClassifier
    >>> from bblr.io import SavedModel, load_model, save_model
    >>> from bblr.io.layout import SvmlightLayout
    >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.bblr")
    ...     save_model(SavedModel(classifier, SvmlightLayout(1, False), rows=4), path)
    ...     model = load_model(path)
    >>> model.predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """
    path = Path(path)
    with path.open("rb") as file:
        digest = _check_format(file.readline(_MOST_FIRST), path)
        rest = file.read()
    if hashlib.sha256(rest).hexdigest() != digest:
        raise _damaged(path)
    stored, _, payload = rest.partition(b"\n")
    try:
        header = json.loads(stored)
        layout, rows = layout_from_dict(header["layout"]), int(header["rows"])
        found = {str(name): str(number) for name, number in header["versions"].items()}
        saved_by = found["bblr"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(path) from None
    try:
        check_version(saved_by)
    except ValueError as error:
        raise ModelFileError(f"{path} cannot be read: {error}") from None
    classifier, scaling = _unpickle(payload, path, found)
    return SavedModel(classifier, layout, rows, scaling, found)


def _check_format(first: bytes, path: Path) -> str:
    """Return the checksum of what follows the first line."""
    words = first.decode("ascii", errors="replace").split()
    if len(words) < 2 or words[0] != _MAGIC or not words[1].isdecimal() or int(words[1]) < 1:
        raise ModelFileError(f"{path} is no model; name a file that bblr fit wrote")
    if int(words[1]) > _FORMAT:
        raise ModelFileError(
            f"{path} has format {words[1]}, and this version of bblr ({__version__}) reads up to "
            f"{_FORMAT}; install a later bblr, or fit the model again"
        )
    if len(words) != 3:
        raise _damaged(path)
    return words[2]


def _damaged(path: Path) -> ModelFileError:
    return ModelFileError(f"{path} is damaged or cut short; copy it again, or fit the model again")


def _unpickle(payload: bytes, path: Path, found: dict[str, str]) -> Any:
    try:
        classifier, parts = _Reader(io.BytesIO(payload)).load()
        classifier.classes_  # noqa: B018
        scaling = None if parts is None else Scaling(*parts)
    except _Foreign as foreign:
        raise ModelFileError(
            f"{path} names {foreign}, which is no part of a model; do not trust this file"
        ) from None
    except Exception as error:
        saved = ", ".join(f"{name} {number}" for name, number in found.items())
        raise ModelFileError(
            f"{path} was fitted with {saved} and cannot be read here ({error}); install these "
            "versions, or fit the model again"
        ) from error
    return classifier, scaling


class _Foreign(Exception):
    """A class or function that is no part of a model."""


class _Reader(pickle.Unpickler):
    """Finds the classes that models are made of and plain arrays, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ARRAYS:
            home, name = _ARRAYS[module, name]
            core = "_core" if hasattr(np, "_core") else "core"
            return getattr(import_module(f"numpy.{core}.{home}"), name)
        if (module, name) in _PLAIN or f"{module}.{name}" in TRUSTED_TYPES:
            return super().find_class(module, name)
        raise _Foreign(f"{module}.{name}")
