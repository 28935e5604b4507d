"""``bblr audit`` from end to end: check the settings, read, audit, write the table and report."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from sklearn.pipeline import make_pipeline

from bblr._atomic import whole_file
from bblr._settings import SettingError, check_writable
from bblr.audit import LabelErrors, find_label_errors
from bblr.cli.audit_report import estimate, evidence, flip_rates, render_audit
from bblr.cli.audited import Audited, read_audited
from bblr.cli.fit_job import build_classifier, fitting
from bblr.cli.fit_summary import filled
from bblr.cli.running import guarded, say, say_notes, writing
from bblr.io.tables.training_table import ColumnChoices

__all__ = ["AuditJob", "run_audit"]

# What ranked best on other data than those of the claim; see docs/audit.md.
USUAL = "BBLRClassifier"
_HEADER = ("row", "given", "suggested", "probability", "score", "wrong_plateau")
_MOST = 10


@dataclass(frozen=True)
class AuditJob:
    """The settings of ``bblr audit``, as they were typed.

    See ``bblr audit --help`` for what each of them means.
    """

    data: str
    columns: ColumnChoices
    classifier: str | None
    params: tuple[str, ...]
    in_sample: bool
    jobs: int | None
    seed: int
    out: Path

    @property
    def report(self) -> Path:
        """The page beside the table."""
        return self.out.with_suffix(".html")

    def prepared(self) -> Any:
        """Check every setting and return the classifier; nothing is read or written."""
        classifier = build_classifier(self.classifier or USUAL, self.params, self.seed)
        if self.jobs is not None and self.jobs < 1:
            raise SettingError("jobs", f"must be at least 1, got {self.jobs}")
        check_writable("out", self.out, (".csv",))
        check_writable("out", self.report, (".html",))
        source = Path(self.data)
        if self.out.exists() and source.exists() and self.out.samefile(source):
            raise SettingError("out", f"{str(self.out)!r} is read from; choose another place")
        return classifier


def run_audit(job: AuditJob) -> int:
    """Carry out ``bblr audit``.

    Returns
    -------
    int
        Exit status: 0 done, 2 a setting or a file cannot be used, 130 interrupted.
    """

    def work(messages: Console) -> None:
        classifier = job.prepared()
        data = read_audited(job.data, job.columns)
        say_notes(messages, data.notes)
        start = time.perf_counter()
        found = _audit(job, classifier, data, messages)
        seconds = time.perf_counter() - start
        how = "in sample" if job.in_sample else "out of fold"
        method = f"{type(classifier).__name__}, {how}"
        table, page = _table(data, found), render_audit(data, found, method, job.out.name)
        for path, text in ((job.out, table), (job.report, page)):
            with writing("out"), whole_file(path) as file:
                file.write(text.encode())
        results = Console()
        for line in _lines(data, found, f"{method}, in {seconds:.1f} s"):
            say(results, line)
        say(results, f"Wrote {job.out} and {job.report}")

    return guarded(work, "Stopped; nothing was written.")


def _audit(job: AuditJob, classifier: Any, data: Audited, messages: Console) -> LabelErrors:
    model = classifier
    if "Kernel" in type(classifier).__name__:
        from sklearn.preprocessing import MaxAbsScaler, StandardScaler

        model = make_pipeline(
            MaxAbsScaler() if sp.issparse(data.X) else StandardScaler(), classifier
        )
    with fitting(classifier, messages):
        try:
            return find_label_errors(
                model,
                data.X,
                data.y,
                in_sample=job.in_sample,
                n_jobs=job.jobs,
                random_state=job.seed,
            )
        except ValueError as error:
            message = str(error).replace("in_sample=True", "--in-sample")
            # Our messages about labels start with their name.
            if message.startswith("y "):
                raise SettingError("data", f"cannot be used: {message}") from error
            raise


def _lines(data: Audited, found: LabelErrors, how: str) -> Iterator[str]:
    n, target = len(data.y), "" if data.target is None else f", target {data.target!r}"
    yield f"{n:,} rows, {data.X.shape[1]:,} features{target}"
    yield from filled(data.columns)
    classes, counts = np.unique(data.y, return_counts=True)
    shown = [f"{k} ({c:,})" for k, c in zip(classes.tolist(), counts.tolist(), strict=True)]
    yield f"{len(classes)} classes: {', '.join(shown[:_MOST])}{', …' if shown[_MOST:] else ''}"
    yield how
    share = f" ({100 * found.n_errors / n:.1f} %)" if found.n_errors else ""
    yield "; ".join(filter(None, [f"{estimate(found)}{share}", evidence(found)]))
    told = [f"{100 * r.rate:.1f} % of {r.true} as {r.given}" for r in flip_rates(found)]
    if told:
        yield f"labelled wrongly: {', '.join(told[:_MOST])}{', …' if told[_MOST:] else ''}"
    first = found.indices[:_MOST]
    if len(first):
        rows = ", ".join(f"{i + 1} ({data.y[i]}, not {found.suggested[i]}?)" for i in first)
        yield f"look first at data {'row' if len(first) == 1 else 'rows'} {rows}"


def _table(data: Audited, found: LabelErrors) -> str:
    """Return a line a row, the most evident errors first, with the row's own columns."""
    order = found.ranking
    columns = [
        order + 1,
        data.y[order],
        found.suggested[order],
        [f"{p:.4g}" for p in found.probability[order].tolist()],
        [f"{s:.5g}" for s in found.scores[order].tolist()],
        np.where(found.wrong_plateau[order], "true", "false"),
    ]
    names = list(_HEADER)
    if data.own is not None:
        names += _own_names(list(data.own.columns))
        own = data.own.iloc[order]
        columns += [own[name].astype(object).where(own[name].notna(), "") for name in own.columns]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*(_plain(column) for column in columns), strict=True))
    return text.getvalue()


def _own_names(own: list[str]) -> list[str]:
    """Return names for the columns of a file; two of one name could not be told apart."""
    taken, names = {*_HEADER, *own}, []
    for name in own:
        new = name
        if name in _HEADER:
            while new in taken:
                new = f"data_{new}"
            taken.add(new)
        names.append(new)
    return names


def _plain(column: Any) -> list[Any]:
    return column if isinstance(column, list) else column.tolist()
