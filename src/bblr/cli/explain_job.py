"""``bblr explain`` from end to end: what a model goes by, or why it decides a row as it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console

from bblr._settings import SettingError
from bblr.cli.fit_summary import coefficient_lines, coefficients, filled, settings_in_numbers
from bblr.cli.running import (
    about_the_file,
    blocks_of,
    check_unseen,
    guarded,
    opened,
    shown_cell,
)
from bblr.io.columns.column_kinds import NumberColumn
from bblr.io.contributions import (
    column_names,
    contributions,
    explainable,
    margins,
    turning_points,
)
from bblr.io.model import SavedModel
from bblr.io.results import Results
from bblr.io.tables.blocks import Block, Reader
from bblr.io.tables.labels_in import label_kind
from bblr.linear.fit_digest import chosen_settings

__all__ = ["ExplainJob", "run_explain"]

_MOST_COEFFICIENTS = 30
# Columns of a row, the others together: rows of words have very many.
_MOST_COLUMNS = 1_000
# Values that would change a decision are told of so few columns, and not beyond so many
# standard deviations from the mean.
_TURNS, _FAR = 3, 3.0
# Beyond this, digits after the point say nothing.
_HUGE = 1e6


@dataclass(frozen=True)
class ExplainJob:
    """The settings of ``bblr explain``, as they were typed.

    See ``bblr explain --help`` for what each of them means.
    """

    saved: Path
    data: Path | None
    rows: tuple[int, ...]
    top: int
    unseen: str
    ignore_extra: bool
    json: Path | None

    def prepared(self, messages: Console) -> SavedModel:
        """Check every setting and load the model; nothing is written."""
        check_unseen(self.unseen)
        if self.top < 1:
            raise SettingError("top", f"must be at least 1, got {self.top}")
        if self.rows and self.data is None:
            raise SettingError("row", "needs a file with rows; name it after the model")
        if min(self.rows, default=1) < 1:
            raise SettingError("row", f"counts from 1, without the header, got {min(self.rows)}")
        model = opened(self.saved, messages)
        problem = explainable(model)
        if problem is not None:
            raise SettingError("saved", f"{str(self.saved)!r} {problem}")
        return model


def run_explain(job: ExplainJob) -> int:
    """Carry out ``bblr explain``.

    Returns
    -------
    int
        Exit status: 0 done, 2 a setting or a file cannot be used, 130 interrupted.
    """

    def work(messages: Console) -> None:
        results = Results("explain", job.json)
        model = job.prepared(messages)
        found = _model_record(job, model)
        if job.data is None:
            results.say(_model_lines(model, found))
        else:
            found |= {"data": job.data.name, "explained": _explained(job, model, messages)}
            for row in found["explained"]:
                results.say(_row_lines(row, job.top))
        results.save(found)

    return guarded(work, "Stopped; nothing was written.")


def _model_record(job: ExplainJob, model: SavedModel) -> dict[str, Any]:
    return {
        "model": job.saved.name,
        "classifier": type(model.classifier).__name__,
        "training_rows": model.rows,
        "features": model.layout.n_features,
        "target": model.layout.target,
        "classes": model.classes,
        "settings": settings_in_numbers(model.classifier),
        "coefficients": coefficients(model, _MOST_COEFFICIENTS),
    }


def _model_lines(model: SavedModel, found: dict[str, Any]) -> Iterator[str]:
    target = "" if model.layout.target is None else f", target {model.layout.target!r}"
    size = f"{model.rows:,} training rows, {found['features']:,} features"
    yield f"{found['classifier']}, {size}{target}"
    yield from filled(model.layout.columns)
    yield f"{len(model.classes)} classes: {', '.join(map(str, model.classes.tolist()))}"
    settings = ", ".join(f"{k} {v}" for k, v in chosen_settings(model.classifier).items())
    if settings:
        yield f"  {settings}"
    yield from coefficient_lines(found["coefficients"])
    if not found["coefficients"]:
        yield "no coefficients: a kernel weighs rows, not columns; give a file to explain its rows"


def _explained(job: ExplainJob, model: SavedModel, messages: Console) -> list[dict[str, Any]]:
    assert job.data is not None
    numbers = job.rows or (1,)
    X, blocks, labels = _read(job, model, messages)
    whole = X.shape[0]
    if max(numbers) > whole:
        raise SettingError("row", f"{max(numbers)} is not there: {job.data} has {whole:,} rows")
    with about_the_file():
        weights = _weights(model, X, labels)
        return [_row(model, X, blocks, n - 1, labels, weights) for n in numbers]


def _read(
    job: ExplainJob, model: SavedModel, messages: Console
) -> tuple[Any, list[Block], np.ndarray | None]:
    """Return all rows, encoded: the bound on leverage compares them with each other."""
    assert job.data is not None
    target, text = model.layout.target, label_kind(model.classes) == "text"
    reader = Reader(
        model.layout, job.unseen, job.ignore_extra, target, text, optional=target is not None
    )
    blocks = list(blocks_of(reader, job.data, messages))
    parts = [block.X for block in blocks]
    X = sp.vstack(parts, "csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    known = [block.y for block in blocks if block.y is not None]
    return X, blocks, np.concatenate(known) if len(known) == len(blocks) else None


def _weights(model: SavedModel, X: Any, labels: np.ndarray | None) -> np.ndarray | None:
    """Return how much each row would have counted in training, where that can be said."""
    if labels is None or not hasattr(model.classifier, "training_weights"):
        return None
    if not hasattr(model.classifier, "gamma_") or not np.isin(labels, model.classes).all():
        return None
    scaled = X if model.scaling is None else model.scaling.apply(X)
    return np.asarray(model.classifier.training_weights(scaled, labels))


def _row(
    model: SavedModel,
    X: Any,
    blocks: list[Block],
    i: int,
    labels: np.ndarray | None,
    weights: np.ndarray | None,
) -> dict[str, Any]:
    """Return all there is to say of one row."""
    x, classes = X[i : i + 1], model.classes.tolist()
    decision = np.ravel(model.decision_function(x))
    scores = np.array([-decision[0], decision[0]]) if len(decision) == 1 else decision
    order = np.argsort(-scores, kind="stable")
    pair = order[:1], order[1:2]
    assert model.typical is not None
    typical = model.typical.mean[np.newaxis]
    parts = contributions(model, x, *pair)[0]
    names, values = column_names(model), _values(blocks, i)
    ranked = np.argsort(-np.abs(parts), kind="stable").tolist()
    return {
        "row": i + 1,
        "predicted": classes[order[0]],
        "probability": model.predict_proba(x)[0] if model.has_probabilities else None,
        "runner_up": classes[order[1]],
        "margin": float(margins(model, x, *pair)[0]),
        "average_margin": float(margins(model, typical, *pair)[0]),
        "in_log_odds": hasattr(getattr(model.classifier, "link_", None), "gamma"),
        "columns": len(names),
        "adds_up": hasattr(model.classifier, "coef_"),
        "contributions": [
            {"column": names[j], "value": values.get(names[j]), "contribution": parts[j]}
            for j in ranked[:_MOST_COLUMNS]
        ],
        "rest": float(parts[ranked[_MOST_COLUMNS:]].sum()),
        "turning_points": [
            turn
            for turn in _turns(model, x, int(order[0]), int(order[1]), parts)
            if values.get(turn["column"]) != "missing"
        ],
        "label": None if labels is None else labels[i].item(),
        "training_weight": None if weights is None else float(weights[i]),
    }


def _values(blocks: list[Block], i: int) -> dict[str, str]:
    """Return the cells of a row as texts."""
    block = next(block for block in reversed(blocks) if block.first_row <= i + 1)
    if block.frame is None:
        return {}
    cells = block.frame.loc[i + 1]
    return {str(name): shown_cell(cell) for name, cell in cells.items()}


def _turns(
    model: SavedModel, x: Any, towards: int, against: int, parts: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Yield numbers at which the decision would change, of the columns that count most."""
    if not hasattr(model.classifier, "coef_") or not model.layout.columns or model.scaling:
        return
    assert model.typical is not None
    points = turning_points(model, np.asarray(x)[0], towards, against)
    starts = np.cumsum([0, *model.layout.widths[:-1]])
    reach = _FAR * model.typical.spread
    near = np.abs(points - model.typical.mean) <= reach
    told = 0
    for j in np.argsort(-np.abs(parts), kind="stable").tolist():
        column, k = model.layout.columns[j], starts[j]
        number = isinstance(column, NumberColumn) and column.kind == "number"
        if number and near[k] and told < _TURNS:
            told += 1
            yield {"column": column.name, "now": float(x[0, k]), "then": float(points[k])}


def _signed(number: float) -> str:
    return f"{number:+.3f}" if abs(number) < _HUGE else f"{number:+.4g}"


def _row_lines(row: dict[str, Any], top: int) -> Iterator[str]:
    chance = "" if row["probability"] is None else f", probability {max(row['probability']):.4f}"
    yield f"data row {row['row']}: {row['predicted']}{chance}"
    yield (
        f"score {_signed(row['margin'])} for {row['predicted']} against {row['runner_up']}; "
        f"0 is the boundary, the average training row has {_signed(row['average_margin'])}"
    )
    shown = row["contributions"][:top]
    names = [
        each["column"] if each["value"] is None else f"{each['column']} = {each['value']}"
        for each in shown
    ]
    wide = max(map(len, names))
    for name, each in zip(names, shown, strict=True):
        yield f"  {name:<{wide}}  {_signed(each['contribution'])}"
    more = row["columns"] - top
    if more > 0:
        rest = row["rest"] + sum(each["contribution"] for each in row["contributions"][top:])
        yield f"  {f'and {more:,} more':<{wide}}  {_signed(rest)}"
    if not row["adds_up"]:
        yield "(each as if that column alone were as in the average row; they need not add up)"
    for turn in row["turning_points"]:
        then, now = f"{turn['column']} = {turn['then']:.4g}", f"now {turn['now']:g}"
        yield f"it would be {row['runner_up']} at {then} ({now})"
    if row["label"] is not None:
        weight = row["training_weight"]
        told = "" if weight is None else f"; it would count {weight:.2f} of a row in training"
        right = "as predicted" if row["label"] == row["predicted"] else "not as predicted"
        yield f"labelled {row['label']}, {right}{told}"
