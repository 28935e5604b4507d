"""``bblr evaluate`` from end to end: load the model, read block by block, tell the scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bblr._settings import SettingError
from bblr.cli.fit_warnings import Caution, never_predicted
from bblr.cli.running import about_the_file, blocks_of, check_unseen, guarded, opened, say
from bblr.evaluation.tally import Scores, Tally
from bblr.io.model import SavedModel, versions
from bblr.io.results import Results
from bblr.io.tables.blocks import Block, Reader
from bblr.io.tables.labels_in import class_codes, label_kind

__all__ = ["EvaluateJob", "run_evaluate"]


@dataclass(frozen=True)
class EvaluateJob:
    """The settings of ``bblr evaluate``, as they were typed.

    See ``bblr evaluate --help`` for what each of them means.
    """

    saved: Path
    data: Path
    target: str | None
    json: Path | None
    unseen: str
    ignore_extra: bool

    def prepared(self, messages: Console) -> tuple[SavedModel, Reader]:
        """Check every setting and load the model; nothing is written."""
        check_unseen(self.unseen)
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
        results = Results("evaluate", job.json)
        model, reader = job.prepared(messages)
        tally = Tally(len(model.classes))
        for block in blocks_of(reader, job.data, messages):
            with about_the_file():
                _count(tally, model, block, job.data)
        scores = tally.scores()
        made = (scores.confusion.sum(axis=0) > 0) | (scores.counts == 0)
        warned = list(never_predicted(model, made, scores))
        results.say(_lines(scores, model.classes.tolist()))
        for caution in warned:
            say(messages, f"Warning: {caution.message}")
        results.save(_record(job, model, scores, warned))

    return guarded(work, "Stopped; nothing was written.")


def _count(tally: Tally, model: SavedModel, block: Block, path: Path) -> None:
    truth = class_codes(np.asarray(block.y), model.classes, str(path), block.first_row)
    predicted = np.searchsorted(model.classes, model.predict(block.X))
    if model.has_probabilities:
        tally.add(truth, predicted, model.predict_proba(block.X))
    else:
        tally.add(truth, predicted, None, model.decision_function(block.X))


def _lines(scores: Scores, classes: list[Any]) -> Iterator[str]:
    yield f"rows               {scores.rows:,}"
    yield f"errors             {scores.errors:,}"
    yield from scores.overall()
    yield from scores.by_class(classes)
    yield from scores.calibrated(classes)


def _record(
    job: EvaluateJob, model: SavedModel, scores: Scores, warned: Sequence[Caution]
) -> dict[str, Any]:
    return {
        "model": job.saved.name,
        "classifier": type(model.classifier).__name__,
        "model_versions": model.versions,
        "versions": versions(),
        "data": job.data.name,
        "classes": model.classes,
        "warnings": [caution._asdict() for caution in warned],
        **scores.as_dict(),
    }
