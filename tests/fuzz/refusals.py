"""What a refusal must be: an error of ours that names what is wrong."""

from __future__ import annotations

import linecache
import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

import bblr

FITTED, REFUSED = "fitted", "refused"

# Words of which an error that names what is wrong has one; NumPy calls a random_state a seed.
_NAMES = re.compile(
    r"\b(X|y|data|features?|labels?|class(es)?|target|samples?|array|columns?|dtype|type|"
    r"numeric|numbers?|string|weights?|sample_weight|cv|groups?|similarities|pairs|containers|"
    r"shape|DataFrame|matrix|seed)\b",
    re.IGNORECASE,
)

# scikit-learn's checks of what it is given; what NumPy and pandas raise inside them is theirs too.
# The folder of a checkout may have the name of the package, too.
_OURS = str(Path(bblr.__file__).parent)
_CHECKS = re.compile(r"sklearn.(utils|model_selection)")


class Wrong(AssertionError):
    """Something that may not be."""


@contextmanager
def no_warnings() -> Iterator[None]:
    """Let no warning through but scikit-learn's on the shape of y."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataConversionWarning)
        yield


def refusal(error: BaseException, params: Any) -> str:
    """Return that a case was refused, or raise what is wrong with the refusal."""
    # Text for X is a path; where nothing is there, that is the clearest thing to say.
    if not isinstance(error, ValueError | TypeError | FileNotFoundError):
        raise Wrong(f"{type(error).__name__} instead of a refusal: {error}") from error
    if isinstance(error, np.linalg.LinAlgError | UnicodeError):
        raise Wrong(f"{type(error).__name__} from the depth: {error}") from error
    frames = traceback.extract_tb(error.__traceback__)
    while not frames[-1].filename.startswith(_OURS) and not _CHECKS.search(frames[-1].filename):
        if not any(_CHECKS.search(frame.filename) for frame in frames):
            raise Wrong(f"an error from the depth at {frames[-1]}: {error}") from error
        frames.pop()
    line = linecache.getline(frames[-1].filename, frames[-1].lineno or 0)
    if frames[-1].filename.startswith(_OURS) and "raise" not in line:
        raise Wrong(f"an error of Python's own at {frames[-1]}: {error}") from error
    message = str(error)
    named = _NAMES.search(message) or any(name in message for name in params)
    if not named or len(message) < 15:
        raise Wrong(f"a refusal that does not say what is wrong: {message}") from error
    return REFUSED
