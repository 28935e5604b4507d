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
from bblr._settings import SettingError, as_options, check_writable
from bblr.cli.fit_summary import (
    coefficient_lines,
    coefficients,
    describe,
    settings_in_numbers,
)
from bblr.cli.fit_warnings import Caution, cautions
from bblr.cli.held_out_check import HeldOut, held_out
from bblr.cli.running import about_the_file, guarded, say, say_notes, writing
from bblr.io.model import SavedModel, Scaling, Typical
from bblr.io.results import Results
from bblr.io.store import save_model
from bblr.io.tables.training_table import ColumnChoices, TrainingTable, read_training

__all__ = ["CLASSIFIERS", "FitJob", "build_classifier", "fitting", "run_fit", "scaling_of"]

# One that is fitted around another needs that one first: Python is the place for it.
CLASSIFIERS = tuple(
    name for name in bblr.__all__ if "Classifier" in name and name != "RobustClassifier"
)
_LARGEST_SEED = 2**32 - 1
_WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class FitJob:
    """The settings of ``bblr fit``, as they were typed.

    See ``bblr fit --help`` for what each of them means.
    """

    data: tuple[Path, ...]
    columns: ColumnChoices
    model: Path
    classifier: str
    params: tuple[str, ...]
    seed: int
    check: bool
    force: bool
    json: Path | None

    def prepared(self) -> Any:
        """Check every setting and return the classifier to fit; nothing is read or written."""
        classifier = build_classifier(self.classifier, self.params, self.seed)
        check_writable("model", self.model, (".bblr",))
        if self.model.exists() and not self.force:
            raise SettingError(
                "model", f"{str(self.model)!r} already exists; choose another name or use --force"
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
                f"{name!r} is not a parameter of {classifier}; {hint}choose from "
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
        classifier, results = job.prepared(), Results("fit", job.json)
        with about_the_file():
            training = read_training(job.data, job.columns)
        say_notes(messages, training.notes)
        _check_counts(training.y, job.classifier)
        scaling = scaling_of(training.X) if "Kernel" in job.classifier else None
        X = training.X if scaling is None else scaling.apply(training.X)
        start = time.perf_counter()
        _fit(classifier, X, training.y, messages)
        seconds = time.perf_counter() - start
        checked = HeldOut("no held-out figures: --no-check was given", None)
        if job.check:
            checked = held_out(classifier, X, training.y, job.seed, messages)
        typical = Typical.of(training.X)
        model = SavedModel(classifier, training.layout, len(training.y), scaling, typical=typical)
        predicted = classifier.predict(X)
        warned = list(cautions(model, training.X, training.y, predicted, checked.scores))
        with writing("model"):
            save_model(model, job.model)
        found = _record(job, model, training, checked, warned)
        errors = int(np.sum(predicted != training.y))
        found |= {"seconds": seconds, "training_errors": errors}
        results.say(describe(model, training.y, seconds))
        results.say(_checked_lines(checked, errors, len(training.y)))
        results.say(coefficient_lines(found["coefficients"]))
        for caution in warned:
            say(messages, f"Warning: {caution.message}")
        results.say([f"Wrote {job.model}"])
        results.save(found)

    return guarded(work, "Stopped; nothing was written.")


def _fit(classifier: Any, X: Any, y: np.ndarray, messages: Console) -> None:
    """Fit a classifier to all rows, and show how far it has got."""
    with Bar(messages, "Fitting") as bar, fitting(classifier, messages):
        called_back = hasattr(classifier, "set_callbacks")
        if called_back:
            classifier.set_callbacks(FitBar(bar))
        classifier.fit(X, y)
        if called_back:
            classifier.set_callbacks()  # a bar has no place in a model


def _checked_lines(checked: HeldOut, errors: int, rows: int) -> Iterator[str]:
    yield checked.how
    if checked.scores is not None:
        yield from (f"  {line}" for line in checked.scores.overall())
    word = "error" if errors == 1 else "errors"
    yield f"{errors:,} training {word} ({100 * errors / rows:.2f} %)"


def _record(
    job: FitJob,
    model: SavedModel,
    training: TrainingTable,
    checked: HeldOut,
    warned: Sequence[Caution],
) -> dict[str, Any]:
    classes, counts = np.unique(training.y, return_counts=True)
    scores = None if checked.scores is None else checked.scores.as_dict()
    return {
        "data": [str(path) for path in job.data],
        "model": str(job.model),
        "rows": model.rows,
        "features": model.layout.n_features,
        "target": model.layout.target,
        "classes": classes,
        "class_rows": counts,
        "classifier": job.classifier,
        "settings": settings_in_numbers(model.classifier),
        "held_out": None if scores is None else {"how": checked.how, **scores},
        "coefficients": coefficients(model),
        "notes": [as_options(note) for note in training.notes],
        "warnings": [caution._asdict() for caution in warned],
    }


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


def scaling_of(X: Any) -> Scaling:
    """Learn what brings the features to one scale: z-scores, or division where sparse."""
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    if sp.issparse(X):
        return Scaling(None, MaxAbsScaler().fit(X).scale_)
    scaler = StandardScaler().fit(X)
    return Scaling(scaler.mean_, scaler.scale_)
