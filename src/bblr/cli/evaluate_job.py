"""``bblr evaluate`` from end to end: load the model, read block by block, tell the scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bblr._atomic import whole_file
from bblr._settings import SettingError, check_writable
from bblr.cli.running import (
    about_the_file,
    blocks_of,
    check_unseen,
    guarded,
    opened,
    say,
    writing,
)
from bblr.evaluation.calibration import calibration_gaps
from bblr.io.model import SavedModel, versions
from bblr.io.tables.blocks import Block, Reader
from bblr.io.tables.labels_in import class_codes, label_kind

__all__ = ["EvaluateJob", "run_evaluate"]

_MOST_CLASSES = 12


@dataclass(frozen=True)
class EvaluateJob:
    """The settings of ``bblr evaluate``, as they were typed.

    See ``bblr evaluate --help`` for what each of them means.
    """

    saved: Path
    data: Path
    target: str | None
    out: Path | None
    unseen: str
    ignore_extra: bool

    def prepared(self, messages: Console) -> tuple[SavedModel, Reader]:
        """Check every setting and load the model; nothing is written."""
        check_unseen(self.unseen)
        if self.out is not None:
            check_writable("json", self.out, (".json",))
        model = opened(self.saved, messages)
        layout = model.layout
        if layout.target is None:
            if self.target is not None:
                raise SettingError(
                    "target", "does not go with svmlight, whose labels stand in front of each row"
                )
            return model, Reader(layout, self.unseen, self.ignore_extra)
        target = layout.target if self.target is None else self.target
        if target in [column.name for column in layout.columns]:
            raise SettingError("target", f"{target!r} is a feature of the model; name another")
        text = label_kind(model.classes) == "text"
        return model, Reader(layout, self.unseen, self.ignore_extra, target, text)


def run_evaluate(job: EvaluateJob) -> int:
    """Carry out ``bblr evaluate``.

    Returns
    -------
    int
        Exit status: 0 done, 2 a setting or a file cannot be used, 130 interrupted.
    """

    def work(messages: Console) -> None:
        model, reader = job.prepared(messages)
        tally = Tally(len(model.classes))
        for block in blocks_of(reader, job.data, messages):
            with about_the_file():
                _count(tally, model, block, job.data)
        scores, results = tally.scores(), Console()
        for line in _lines(scores, model.classes.tolist()):
            say(results, line)
        if job.out is not None:
            record = _record(job, model, scores)
            with writing("json"), whole_file(job.out) as file:
                file.write((json.dumps(record, indent=2) + "\n").encode())
            say(results, f"Wrote {job.out}")

    return guarded(work, "Stopped; nothing was written.")


def _count(tally: Tally, model: SavedModel, block: Block, path: Path) -> None:
    truth = class_codes(np.asarray(block.y), model.classes, str(path), block.first_row)
    predicted = np.searchsorted(model.classes, model.predict(block.X))
    tally.add(truth, predicted, model.predict_proba(block.X) if model.has_probabilities else None)


def _lines(scores: Scores, classes: list[Any]) -> Iterator[str]:
    yield f"rows               {scores.rows:,}"
    yield f"errors             {scores.errors:,}"
    yield f"accuracy           {scores.accuracy:.4f}"
    if scores.log_loss is not None:
        yield f"log-loss           {scores.log_loss:.4f}"
        yield f"calibration error  {scores.calibration_error:.4f}"
    names = [str(label) for label in classes]
    if len(names) > _MOST_CLASSES:
        yield "recall"
        yield from (
            f"  {name}  {_share(recall)}"
            for name, recall in zip(names, scores.recall, strict=True)
        )
        return
    width = max(6, *(len(name) for name in names), len(f"{scores.rows:,}"))
    yield "class (down) by prediction (across)"
    yield "  ".join([" " * width, *(f"{name:>{width}}" for name in names), "recall"])
    for name, row, recall in zip(names, scores.confusion.tolist(), scores.recall, strict=True):
        counts = (f"{count:{width},}" for count in row)
        yield "  ".join([f"{name:>{width}}", *counts, _share(recall)])


def _share(recall: float | None) -> str:
    return "  none" if recall is None else f"{recall:6.4f}"


def _record(job: EvaluateJob, model: SavedModel, scores: Scores) -> dict[str, Any]:
    return {
        "versions": versions(),
        "model": {
            "file": job.saved.name,
            "classifier": type(model.classifier).__name__,
            "versions": model.versions,
        },
        "data": job.data.name,
        "classes": model.classes.tolist(),
        **scores.as_dict(),
    }


_BINS = 15


@dataclass(frozen=True)
class Scores:
    """How predictions compare with labels.

    Parameters
    ----------
    rows, errors : int
        Rows, and those decided wrongly.
    confusion : ndarray of shape (n_classes, n_classes)
        Rows by their class (down) and the class predicted (across).
    log_loss, calibration_error : float or None
        None where the classifier tells no probabilities.
    """

    rows: int
    errors: int
    confusion: np.ndarray
    log_loss: float | None
    calibration_error: float | None

    @property
    def accuracy(self) -> float:
        """Share of rows decided rightly."""
        return 1.0 - self.errors / self.rows

    @property
    def recall(self) -> list[float | None]:
        """Share of each class decided rightly; None where a class has no rows."""
        counts = self.confusion.sum(axis=1)
        return [
            float(self.confusion[k, k] / count) if count else None
            for k, count in enumerate(counts)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the scores in JSON's types."""
        return {
            "rows": self.rows,
            "errors": self.errors,
            "accuracy": self.accuracy,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "recall": self.recall,
            "confusion": self.confusion.tolist(),
        }


@dataclass
class Tally:
    """Adds up what the scores need.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    """

    n_classes: int
    _confusion: np.ndarray = field(init=False)
    _loss: float | None = field(default=None, init=False)
    _gaps: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self._confusion = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        self._gaps = np.zeros(_BINS)

    def add(self, truth: np.ndarray, predicted: np.ndarray, proba: np.ndarray | None) -> None:
        """Count a block: classes by number, and the probabilities where there are any."""
        np.add.at(self._confusion, (truth, predicted), 1)
        if proba is not None:
            # As scikit-learn does it: a probability of 0 costs as much as the least number can.
            own = np.clip(proba[np.arange(len(truth)), truth], np.finfo(np.float64).eps, 1.0)
            self._loss = (self._loss or 0.0) - float(np.log(own).sum())
            self._gaps += calibration_gaps(truth, proba, _BINS)

    def scores(self) -> Scores:
        """Return the scores of all blocks."""
        rows = int(self._confusion.sum())
        errors = rows - int(np.trace(self._confusion))
        if self._loss is None:
            return Scores(rows, errors, self._confusion, None, None)
        calibration = float(np.abs(self._gaps).sum() / rows)
        return Scores(rows, errors, self._confusion, self._loss / rows, calibration)
