"""``bblr fit`` from end to end: check the settings, read, fit, save, tell."""

from __future__ import annotations

import ast
import difflib
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console

import bblr
from bblr._bars import Bar, FitBar
from bblr._settings import SettingError, check_writable
from bblr.cli.fit_summary import describe
from bblr.cli.running import about_the_file, guarded, say, say_notes, writing
from bblr.io.model import SavedModel, Scaling
from bblr.io.store import save_model
from bblr.io.tables.table_layout import TrainingTable, read_training

__all__ = ["CLASSIFIERS", "FitJob", "build_classifier", "fitting", "run_fit"]

CLASSIFIERS = tuple(name for name in bblr.__all__ if "Classifier" in name)
_LARGEST_SEED = 2**32 - 1
_WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class FitJob:
    """The settings of ``bblr fit``, as they were typed.

    See ``bblr fit --help`` for what each of them means.
    """

    data: Path
    target: str | None
    model: Path
    classifier: str
    params: tuple[str, ...]
    seed: int
    force: bool
    drop: tuple[str, ...] = ()

    def prepared(self) -> Any:
        """Check every setting and return the classifier to fit; nothing is read or written."""
        classifier = build_classifier(self.classifier, self.params, self.seed)
        check_writable("model", self.model, (".bblr",))
        if self.model.exists() and not self.force:
            raise SettingError(
                "model", f"{str(self.model)!r} is there already; choose another or give --force"
            )
        return classifier


def build_classifier(name: str, params: Sequence[str], seed: int) -> Any:
    """Check what was typed and return the classifier it stands for."""
    if not 0 <= seed <= _LARGEST_SEED:
        raise SettingError("seed", f"must be at least 0 and at most {_LARGEST_SEED}, got {seed}")
    if name not in CLASSIFIERS:
        raise SettingError(
            "classifier", f"{name!r} is unknown; choose from {', '.join(CLASSIFIERS)}"
        )
    classifier = getattr(bblr, name)()
    known = classifier.get_params(deep=False)
    values = _params(name, params, known)
    if "random_state" in known:
        values["random_state"] = seed
    return classifier.set_params(**values)


def _params(classifier: str, texts: Sequence[str], known: dict[str, Any]) -> dict[str, Any]:
    params = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise SettingError("param", f"{text!r} must have the form NAME=VALUE")
        if name == "random_state":
            raise SettingError("param", "random_state is set by --seed; give that instead")
        if name in params:
            raise SettingError("param", f"{name!r} is given twice; give it once")
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise SettingError(
                "param",
                f"{name!r} is no parameter of {classifier}; {hint}choose from "
                f"{', '.join(sorted(known))}",
            )
        params[name] = parsed(value)
    return params


def parsed(value: str) -> Any:
    """Read a number, a list, a dict, true, false or none; anything else is text.

    Examples
    --------
    >>> from bblr.cli.fit_job import parsed
    >>> parsed("3"), parsed("0.1, 1"), parsed("none"), parsed("weak"), parsed("'3'")
    (3, (0.1, 1), None, 'weak', '3')
    """
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def run_fit(job: FitJob) -> int:
    """Carry out ``bblr fit``.

    Returns
    -------
    int
        Exit status: 0 done, 2 a setting or a file cannot be used, 130 interrupted.
    """

    def work(messages: Console) -> None:
        classifier = job.prepared()
        with about_the_file():
            training = read_training(job.data, job.target, job.drop)
        say_notes(messages, training.notes)
        _check_counts(training.y, job.classifier)
        scaling = _scaling(training) if "Kernel" in job.classifier else None
        X = training.X if scaling is None else scaling.apply(training.X)
        start = time.perf_counter()
        with Bar(messages, "Fitting") as bar, fitting(classifier, messages):
            called_back = hasattr(classifier, "set_callbacks")
            if called_back:
                classifier.set_callbacks(FitBar(bar))
            classifier.fit(X, training.y)
            if called_back:
                classifier.set_callbacks()  # a bar has no place in a model
        seconds = time.perf_counter() - start
        errors = int(np.sum(classifier.predict(X) != training.y))
        model = SavedModel(classifier, training.layout, len(training.y), scaling)
        with writing("model"):
            save_model(model, job.model)
        results = Console()
        for line in describe(model, training.y, errors, seconds):
            say(results, line)
        say(results, f"Wrote {job.model}")

    return guarded(work, "Stopped; nothing was written.")


def _check_counts(y: np.ndarray, classifier: str) -> None:
    """Raise an error where a class has a single row and the classifier must hold some out."""
    classes, counts = np.unique(y, return_counts=True)
    if classifier.endswith("CV") and counts.min() == 1:
        name = classes[np.argmin(counts)]
        row = int(np.flatnonzero(y == name)[0]) + 1
        raise SettingError(
            "data",
            f"cannot be used: class {name.item()!r} has a single row, data row {row}, and "
            f"{classifier} needs one to fit and another to hold out; correct its label if it is "
            f"misspelt, remove the row, or give --classifier {classifier.removesuffix('CV')}",
        )


@contextmanager
def fitting(classifier: Any, messages: Console) -> Iterator[None]:
    """Turn errors of a fit into errors of the setting they are about; show its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except SettingError:
            raise
        except (ValueError, TypeError) as error:
            message = " ".join(str(error).split())
            name = type(classifier).__name__
            # Messages about a parameter start with its name; those of scikit-learn are "The 'l2'
            # parameter of BBLRClassifier must be ...".
            about = re.match(r"(?:The ')?(\w+)", message)
            if about and about[1] in classifier.get_params(deep=False):
                message = message.replace(f"The '{about[1]}' parameter of {name}", about[1], 1)
                raise SettingError("param", message) from error
            raise SettingError(
                "classifier", f"{name} cannot be fitted to these data: {message}"
            ) from error
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        say(messages, f"Warning: {text}")


def _scaling(training: TrainingTable) -> Scaling:
    """Learn what brings the features to one scale: z-scores, or division where sparse."""
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    if sp.issparse(training.X):
        return Scaling(None, MaxAbsScaler().fit(training.X).scale_)
    scaler = StandardScaler().fit(training.X)
    return Scaling(scaler.mean_, scaler.scale_)
