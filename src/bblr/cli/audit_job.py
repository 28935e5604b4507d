"""``bblr audit`` from end to end: check the settings, read, audit, write the table and report."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from sklearn.pipeline import make_pipeline

from bblr._atomic import whole_file
from bblr._settings import SettingError, check_writable
from bblr.audit import LabelErrors, find_label_errors
from bblr.cli.audit_report import estimate, evidence, flip_rates, render_audit
from bblr.cli.fit_job import build_classifier, fitting
from bblr.cli.fit_summary import filled
from bblr.cli.running import about_the_file, guarded, say, say_notes, writing
from bblr.datasets import load_uci
from bblr.io.tables import formats
from bblr.io.tables.columns_in import Column
from bblr.io.tables.labels_in import check_classes
from bblr.io.tables.reading import learn_file
from bblr.io.tables.table_layout import read_training

__all__ = ["EMBEDDED", "AuditJob", "Audited", "read_audited", "run_audit"]

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
    target: str | None
    drop: tuple[str, ...]
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
        data = read_audited(job.data, job.target, job.drop)
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


if TYPE_CHECKING:
    import pandas as pd


EMBEDDED = ("breast", "heart", "liver", "pima")


@dataclass(frozen=True)
class Audited:
    """Rows, labels, and what a person sees of a row.

    Parameters
    ----------
    name : str
        What the report calls the data.
    X : ndarray or sparse matrix of shape (rows, features)
        Features.
    y : ndarray of shape (rows,)
        Labels.
    own : DataFrame or None
        The columns as they stand in the source, all but the label; None for svmlight.
    target : str or None
        The column of the label.
    columns : tuple of Column, default=()
        How the columns of a table became features.
    notes : tuple of str, default=()
        What was perhaps not meant as it was read.
    """

    name: str
    X: Any
    y: np.ndarray
    own: pd.DataFrame | None
    target: str | None
    columns: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()


def read_audited(data: str, target: str | None, drop: Sequence[str]) -> Audited:
    """Load an embedded set by name, or a CSV, Parquet or svmlight file."""
    if data in EMBEDDED:
        for setting, given in {"target": target, "drop": drop}.items():
            if given:
                raise SettingError(
                    setting, f"only goes with a file; leave it out, {data!r} knows its columns"
                )
        found = load_uci(data, as_frame=True)
        y = found.target.to_numpy()
        return Audited(data, found.data.to_numpy(dtype=float), y, found.data, found.target.name)
    path = Path(data)
    if not path.exists():
        raise SettingError(
            "data",
            f"{data!r} is neither an embedded data set ({', '.join(EMBEDDED)}) nor a file; "
            "check the name or the path",
        )
    with about_the_file():
        formats.check_file(path)
        kind = formats.file_format(path)
        if kind == "svmlight":
            rows = read_training(path, target, drop)
            return Audited(path.name, rows.X, rows.y, None, None)
        frame, split = learn_file(path, kind, target, drop)
        y = check_classes(split.y, split.what, ": name the column with --target")
        own = frame.drop(columns=split.target)
        return Audited(path.name, split.X, y, own, split.target, split.columns, split.notes)
