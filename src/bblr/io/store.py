"""Model files: a zip of ``model.json`` and ``arrays/*.npy``, and a checksum at its end.

Nothing in a file is code, and none is run to read it: JSON, arrays of numbers, and the names of
types that stand in a table here (``bblr.io.registry``). Members are not compressed, so arrays
take no more memory than the length of the file a few times over.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bblr._atomic import whole_file
from bblr._version import __version__
from bblr.io.model import SavedModel
from bblr.io.tree import NUMBERS, from_tree, to_tree

__all__ = ["ModelFileError", "load_model", "save_model"]

_FORMAT = 1
_JSON = "model.json"
# Objects made of JSON take up to 50 times its length.
_MOST_JSON = 16 * 2**20
_MOST_ARRAY_HEADER = 256
# Of all arrays of texts together, at 4 bytes a letter.
_MOST_LETTERS = 2**25
# The comment of the zip: the SHA-256 of all that stands before its digits.
_SEAL = b"sha256:"
_DIGITS = 64


class ModelFileError(ValueError):
    """A file that holds no model that can be used here, or a model that no file can hold.

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
    Refused: ...notes.txt is not a model; name a file that bblr fit or save_model wrote
    """


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model; the file is there whole or not at all.

    Parameters
    ----------
    model : SavedModel or estimator
        A model of a file, or any fitted estimator of bblr.
    path : str or path-like
        The file; one that is there is replaced.

    Raises
    ------
    ModelFileError
        If the model is not fitted, or holds an object that a file cannot: a callable, tensors, a
        solver or a splitter that is not bblr's.

    See Also
    --------
    load_model : Reads it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr import BBLRClassifier
    >>> from bblr.io import load_model, save_model
    >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.bblr")
    ...     save_model(classifier, path)
    ...     bool((load_model(path).coef_ == classifier.coef_).all())
    True
    """
    try:
        content = _packed(model)
        _unpacked(content)
    except Exception as error:
        raise ModelFileError(
            f"the model cannot be saved: {error}; fit it, set its parameters to numbers, texts "
            "and objects of bblr, or save it by joblib"
        ) from error
    with whole_file(Path(path)) as file:
        file.write(content)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model.

    Parameters
    ----------
    path : str or path-like
        A file that `save_model` or ``bblr fit`` wrote.

    Returns
    -------
    SavedModel or estimator
        What was saved; of ``bblr fit`` a SavedModel. It predicts the same, to the last digit.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, has a later format, or holds anything but what
        training makes. No code in it is run, whoever wrote it.
    OSError
        If it cannot be opened.

    See Also
    --------
    save_model : Writes it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr import BBLRClassifier
    >>> from bblr.io import SavedModel, load_model, save_model
    >>> from bblr.io.tables.table_layout import SvmlightLayout
    >>> classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.bblr")
    ...     save_model(SavedModel(classifier, SvmlightLayout(1, False), rows=4), path)
    ...     model = load_model(path)
    >>> model.predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """
    content = Path(path).read_bytes()
    if not content.startswith(b"PK"):
        raise ModelFileError(
            f"{path} is not a model; name a file that bblr fit or save_model wrote"
        )
    if content[-_DIGITS:] != _digest(content):
        raise ModelFileError(
            f"{path} is damaged or cut short; copy it again, or fit the model again"
        )
    try:
        return _unpacked(content)
    except _LaterFormat as later:
        raise ModelFileError(
            f"{path} has format {later}, and bblr {__version__} here reads {_FORMAT}; install a "
            "later bblr, or fit the model again"
        ) from None
    except Exception as error:
        # Whatever a forger thought of: there is one way in, and one answer.
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(
            f"{path} is not a sound model ({reason}); do not trust it, or fit the model again"
        ) from error


class _LaterFormat(Exception):
    """A format that this version does not know."""


def _digest(content: bytes) -> bytes:
    """Return the digits that end a file."""
    return hashlib.sha256(memoryview(content)[:-_DIGITS]).hexdigest().encode()


def _packed(model: Any) -> bytes:
    arrays: list[NDArray[Any]] = []
    tree = {
        "format": _FORMAT,
        "written_by": f"bblr {__version__}",
        "model": to_tree(model, arrays),
    }
    text = json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False).encode()
    if len(text) > _MOST_JSON:
        raise ValueError(f"its names and history take {len(text):,} bytes, over {_MOST_JSON:,}")
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_STORED) as members:
        # ZipInfo has a date of its own, so that equal models are equal files.
        members.writestr(ZipInfo(_JSON), text)
        for number, array in enumerate(arrays):
            member = io.BytesIO()
            npy.write_array(member, array, version=(1, 0), allow_pickle=False)
            members.writestr(ZipInfo(_name(number)), member.getbuffer())
        members.comment = _SEAL + b"0" * _DIGITS
    content = file.getvalue()
    return content[:-_DIGITS] + _digest(content)


def _name(number: int) -> str:
    return f"arrays/{number}.npy"


def _unpacked(content: bytes) -> Any:
    with ZipFile(io.BytesIO(content)) as members:
        left = {member.filename: member for member in members.infolist()}
        if len(left) != len(members.infolist()):
            raise ValueError("two members have one name")
        if any(member.compress_type != ZIP_STORED for member in left.values()):
            raise ValueError("a member is compressed")
        # Members may overlap, and then yield more than the file holds.
        if sum(member.file_size for member in left.values()) > len(content):
            raise ValueError("its members are longer than the file")
        if left[_JSON].file_size > _MOST_JSON:
            raise ValueError(f"{_JSON} is longer than {_MOST_JSON:,} bytes")
        text = members.read(left.pop(_JSON)).decode()
        tree = json.loads(text, object_pairs_hook=_Objects(), parse_constant=_no_json)
        if isinstance(tree["format"], int) and tree["format"] > _FORMAT:
            raise _LaterFormat(tree["format"])
        if tree["format"] != _FORMAT or tree.keys() != {"format", "written_by", "model"}:
            raise ValueError(f"{_JSON} does not say what it holds")
        model = from_tree(
            tree["model"], lambda number: _array(members.read(left.pop(_name(number))))
        )
        if left:
            raise ValueError(f"no part of a model is {min(left)!r}")
    if not isinstance(model, SavedModel) and not hasattr(model, "n_features_in_"):
        raise ValueError("it is not fitted")
    return model


class _Objects:
    """Makes the objects of one JSON text, which ask for no more letters than are allowed.

    An array of texts has room for the longest in every place: a few kilobytes may ask for
    gigabytes.
    """

    def __init__(self) -> None:
        self._letters = 0

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands there twice")
        texts = found.get("texts")
        if isinstance(texts, list):
            longest = max((len(each) for each in texts if isinstance(each, str)), default=0)
            self._letters += len(texts) * longest
            if self._letters > _MOST_LETTERS:
                raise ValueError(f"its arrays of texts have more than {_MOST_LETTERS:,} letters")
        return found


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _array(member: bytes) -> NDArray[Any]:
    """Read an array of numbers; what its header says must be what follows."""
    file = io.BytesIO(member)
    if npy.read_magic(file) != (1, 0):
        raise ValueError("an array has another format")
    shape, fortran, dtype = npy.read_array_header_1_0(file, max_header_size=_MOST_ARRAY_HEADER)
    if dtype.kind not in NUMBERS or dtype.itemsize > 8 or dtype.subdtype is not None:
        raise ValueError(f"an array holds {dtype}, not numbers")
    # Before an array is made: a header may promise more than there is memory.
    if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != len(member) - file.tell():
        raise ValueError("an array is not as long as it says")
    flat = np.frombuffer(member, dtype, offset=file.tell()).astype(dtype.newbyteorder("="))
    return flat.reshape(shape, order="F" if fortran else "C")
