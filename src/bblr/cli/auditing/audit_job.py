"""``bblr audit`` from end to end: check the settings, read, audit, write the table and report."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import make_pipeline

from bblr._atomic import whole_file
from bblr._bars import Bar
from bblr._settings import SettingError, as_options, check_writable
from bblr.audit import LabelErrors, find_label_errors
from bblr.cli.auditing.audit_reasons import Reason, reasons
from bblr.cli.auditing.audit_report import estimate, evidence, flip_rates, render_audit
from bblr.cli.auditing.audited import Audited, read_audited
from bblr.cli.fit_job import build_classifier, fitting, scaling_of
from bblr.cli.fit_summary import filled, shown_classes
from bblr.cli.running import guarded, say_notes, writing
from bblr.io.columns.cell_values import inert
from bblr.io.model import SavedModel, Typical
from bblr.io.results import Results
from bblr.io.tables.training_table import ColumnChoices

__all__ = ["AuditJob", "run_audit"]

# What ranked best on other data than those of the claim; see docs/audit.md.
USUAL = "BBLRClassifier"
_HEADER = ("row", "label", "suggested", "probability", "against")
_MOST = 10
# Folds of an audit.
_FITS = 5


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
    with_columns: bool
    json: Path | None

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
        classifier, results = job.prepared(), Results("audit", job.json)
        data = read_audited(job.data, job.columns)
        say_notes(messages, data.notes)
        start = time.perf_counter()
        with Bar(messages, "Auditing", estimate=True) as bar:
            found = _audit(job, classifier, data, messages, bar)
            bar.tell(_FITS / (_FITS + 1), "looking for reasons")
            why = reasons(data, found, _whole_model(classifier, data))
        seconds = time.perf_counter() - start
        how = "in sample" if job.in_sample else "out of fold"
        method = f"{type(classifier).__name__}, {how}"
        page = render_audit(data, found, why, method, job.out.name)
        for path, text in ((job.out, _table(job, data, found, why)), (job.report, page)):
            with writing("out"), whole_file(path) as file:
                file.write(text.encode())
        results.say(_lines(data, found, f"{method}, in {seconds:.1f} s"))
        results.say([f"Wrote {job.out} and {job.report}"])
        results.save(_record(job, data, found, why) | {"seconds": seconds})

    return guarded(work, "Stopped; nothing was written.")


class FitCounter(TransformerMixin, BaseEstimator):
    """A step that changes nothing and tells of each fit.

    Parameters
    ----------
    tell : callable
        Called when a fit begins; a function, so that copies of the step share it.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def fit(self, X: Any, y: Any = None) -> FitCounter:
        """Tell of it."""
        self.tell()
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows as they are."""
        return X


def _audit(
    job: AuditJob, classifier: Any, data: Audited, messages: Console, bar: Bar
) -> LabelErrors:
    steps, begun = [], [0]

    def tell() -> None:
        searching = type(classifier).__name__.endswith("CV") and begun[0] == 0
        bar.tell(begun[0] / (_FITS + 1), "search" if searching else f"fit {begun[0] + 1}")
        begun[0] += 1

    # A function of this process cannot count fits in another one.
    if job.jobs == 1:
        steps.append(FitCounter(tell))
    if "Kernel" in type(classifier).__name__:
        from sklearn.preprocessing import MaxAbsScaler, StandardScaler

        steps.append(MaxAbsScaler() if hasattr(data.X, "toarray") else StandardScaler())
    model = make_pipeline(*steps, classifier) if steps else classifier
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


def _whole_model(classifier: Any, data: Audited) -> SavedModel:
    """Return a model of all rows, whose columns give reasons."""
    scaling = scaling_of(data.X) if "Kernel" in type(classifier).__name__ else None
    X = data.X if scaling is None else scaling.apply(data.X)
    with warnings.catch_warnings():  # those of the folds have been told
        warnings.simplefilter("ignore")
        model = clone(classifier).fit(X, data.y)
    return SavedModel(model, data.layout, len(data.y), scaling, typical=Typical.of(data.X))


def _lines(data: Audited, found: LabelErrors, how: str) -> Iterator[str]:
    n, target = len(data.y), data.layout.target
    of = "" if target is None else f", target {target!r}"
    yield f"{n:,} rows, {data.X.shape[1]:,} features{of}"
    yield from filled(data.layout.columns)
    yield shown_classes(data.y)
    yield how
    share = f" ({100 * found.n_errors / n:.1f} %)" if found.n_errors else ""
    yield "; ".join(filter(None, [f"{estimate(found)}{share}", evidence(found)]))
    told = [f"{100 * r.rate:.1f} % of {r.true} as {r.given}" for r in flip_rates(found)]
    if told:
        yield f"labelled wrongly: {', '.join(told[:_MOST])}{', …' if told[_MOST:] else ''}"
    # As in the table and the report; `indices` picks within each class.
    first = found.ranking[: min(found.n_errors, _MOST)]
    if len(first):
        rows = ", ".join(f"{i + 1} ({data.y[i]}, not {found.suggested[i]}?)" for i in first)
        yield f"look first at data {'row' if len(first) == 1 else 'rows'} {rows}"
        yield "check before you change any: where classes overlap, hard rows look wrong too"


def _table(job: AuditJob, data: Audited, found: LabelErrors, why: dict[int, list[Reason]]) -> str:
    """Return a line a row, the most probable errors first."""
    frame = found.to_frame()
    rows = frame.index.to_numpy()
    table = frame.reset_index()[["row", "label", "suggested"]].assign(row=rows + 1)
    table["probability"] = [f"{p:.4g}" for p in frame["probability"]]
    table["against"] = [
        "; ".join(f"{reason.column}={reason.value}" for reason in why.get(i, ()))
        for i in rows.tolist()
    ]
    if job.with_columns and data.own is not None:
        own = data.own.iloc[rows].reset_index(drop=True)
        own.columns = _own_names(list(own.columns))
        table = table.join(own)
    table = table.rename(columns=inert)
    for name in table.columns[table.dtypes.map(lambda kind: kind.kind == "O")]:
        table[name] = table[name].map(inert)
    return str(table.to_csv(index=False, lineterminator="\n"))


def _record(
    job: AuditJob, data: Audited, found: LabelErrors, why: dict[int, list[Reason]]
) -> dict[str, Any]:
    classes, counts = np.unique(data.y, return_counts=True)
    return {
        "data": data.name,
        "out": str(job.out),
        "report": str(job.report),
        "rows": len(data.y),
        "features": data.X.shape[1],
        "target": data.layout.target,
        "classes": classes,
        "class_rows": counts,
        "classifier": job.classifier or USUAL,
        "in_sample": job.in_sample,
        "wrong_labels": found.n_errors,
        "more_likely_wrong": int(found.wrong_plateau.sum()),
        "flip_rates": found.flip_rates,
        "suspects": [
            {
                "row": i + 1,
                "label": data.y[i],
                "suggested": found.suggested[i],
                "probability": float(found.probability[i]),
                "against": [reason._asdict() for reason in why.get(i, ())],
            }
            for i in found.indices.tolist()
        ],
        "notes": [as_options(note) for note in data.notes],
    }


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
