"""``bblr predict`` from end to end: load the model, read block by block, write."""

from __future__ import annotations

import csv
import io
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console

from bblr._atomic import whole_file
from bblr._settings import SettingError, check_writable, escaped
from bblr.cli.running import (
    DONE,
    about_the_file,
    blocks_of,
    check_unseen,
    guarded,
    opened,
    say,
    writing,
)
from bblr.io.columns.cell_values import inert
from bblr.io.model import SavedModel
from bblr.io.results import Results
from bblr.io.tables.blocks import Block, Reader

__all__ = ["PredictJob", "run_predict"]


@dataclass(frozen=True)
class PredictJob:
    """The settings of ``bblr predict``, as they were typed.

    See ``bblr predict --help`` for what each of them means.
    """

    saved: Path
    data: Path
    out: Path | None
    proba: bool
    unseen: str
    ignore_extra: bool
    json: Path | None

    def prepared(self, messages: Console) -> tuple[SavedModel, Reader]:
        """Check every setting and load the model; nothing is written."""
        check_unseen(self.unseen)
        if self.out is not None:
            check_writable("out", self.out, (".csv",))
            if any(_same(self.out, path) for path in (self.data, self.saved)):
                raise SettingError("out", f"{str(self.out)!r} is read from; choose another place")
        model = opened(self.saved, messages)
        if self.proba and not model.has_probabilities:
            raise SettingError(
                "proba", f"does not go with {type(model.classifier).__name__}; leave it out"
            )
        return model, Reader(model.layout, self.unseen, self.ignore_extra)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def run_predict(job: PredictJob) -> int:
    """Carry out ``bblr predict``.

    Returns
    -------
    int
        Exit status: 0 done, 2 a setting or a file cannot be used, 130 interrupted.
    """

    def work(messages: Console) -> None:
        results = Results("predict", job.json)
        if results.is_piped and job.out is None:
            raise SettingError("json", "- and predictions both go to standard output; give --out")
        model, reader = job.prepared(messages)
        watched = job.out is None and _is_terminal()
        start, rows, counts = time.perf_counter(), 0, Counter[Any]()
        with writing("stdout" if job.out is None else "out"), _output(job.out) as file:
            for block in blocks_of(reader, job.data, messages, printing=job.out is None):
                with about_the_file():
                    labels = model.predict(block.X).tolist()
                    text = _text(model, block, labels, job.proba, header=rows == 0)
                file.write((escaped(text) if watched else text).encode())
                counts.update(labels)
                rows += block.X.shape[0]
        where, seconds = (
            "" if job.out is None else f" Wrote {job.out}",
            time.perf_counter() - start,
        )
        say(messages, f"{rows:,} row{'s' * (rows != 1)} in {seconds:.1f} s.{where}")
        classes = model.classes.tolist()
        results.save(
            {
                "model": job.saved.name,
                "data": job.data.name,
                "out": None if job.out is None else str(job.out),
                "rows": rows,
                "seconds": seconds,
                "classes": classes,
                "predicted": [counts[label] for label in classes],
            }
        )

    partly = job.out is None
    stopped = "Stopped; not all rows were written." if partly else "Stopped; nothing was written."
    try:
        return guarded(work, stopped)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; without this Python would complain when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


@contextmanager
def _output(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as file:
        yield file


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _text(model: SavedModel, block: Block, labels: list[Any], proba: bool, *, header: bool) -> str:
    """Return the lines for a block: the label and, where wanted, a probability a class."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    if header:
        names = [f"proba_{label}" for label in model.classes.tolist()] if proba else []
        writer.writerow(["label", *names])
    cells = [inert(label) for label in labels]
    if proba:
        table = model.predict_proba(block.X).tolist()
        writer.writerows([cell, *row] for cell, row in zip(cells, table, strict=True))
    else:
        writer.writerows([cell] for cell in cells)
    return text.getvalue()
