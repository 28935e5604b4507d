"""What was learned, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bblr._numeric.tensors import as_numpy
from bblr.io.columns.column_kinds import Column, DateColumn, NumberColumn, TextColumn
from bblr.io.model import SavedModel
from bblr.linear.fit_digest import chosen_settings, joint_effects, largest_coefficients

__all__ = [
    "coefficient_lines",
    "coefficients",
    "describe",
    "filled",
    "settings_in_numbers",
    "shown_classes",
]

_MOST = 10


def describe(model: SavedModel, y: np.ndarray, seconds: float) -> Iterator[str]:
    """Yield lines on the data and the classifier.

    Parameters
    ----------
    model : SavedModel
        The model.
    y : ndarray of shape (rows,)
        The labels it was fitted to.
    seconds : float
        How long the fit took.
    """
    layout = model.layout
    target = "" if layout.target is None else f", target {layout.target!r}"
    yield f"{model.rows:,} rows, {layout.n_features:,} features{target}"
    yield from filled(layout.columns)
    yield shown_classes(y)
    scaled = ", features scaled for the kernel" if model.scaling is not None else ""
    yield f"{type(model.classifier).__name__} in {seconds:.1f} s{scaled}"
    chosen = ", ".join(
        f"{name} {value}" for name, value in chosen_settings(model.classifier).items()
    )
    if chosen:
        yield f"  {chosen}"


def shown_classes(y: np.ndarray) -> str:
    """Return a line on the classes and how many rows each has."""
    classes, counts = np.unique(y, return_counts=True)
    shown = [f"{k} ({n:,})" for k, n in zip(classes.tolist(), counts.tolist(), strict=True)]
    return f"{len(classes)} classes: {', '.join(shown[:_MOST])}{', …' if shown[_MOST:] else ''}"


def filled(columns: Sequence[Column]) -> Iterator[str]:
    """Yield a line on the columns with missing values, if there are any."""
    gappy = [column for column in columns if column.missing]
    if gappy:
        shown = ", ".join(
            f"{c.name!r} (median {c.fill:g})" if isinstance(c, NumberColumn) else repr(c.name)
            for c in gappy[:_MOST]
        )
        more = f", … ({len(gappy)} columns in all)" if len(gappy) > _MOST else ""
        yield f"missing values get an indicator, and numbers their median: {shown}{more}"


def coefficients(model: SavedModel, most: int = _MOST) -> list[dict[str, Any]]:
    """Return the coefficients that count most, for scripts; none of a kernel classifier.

    Parameters
    ----------
    model : SavedModel
        The model.
    most : int, default=10
        How many at most.
    """
    if not hasattr(model.classifier, "coef_"):
        return []
    coef, names, units = model.classifier.coef_, model.layout.feature_names, _units(model)
    spread = None if model.typical is None else model.typical.spread
    texts = {} if spread is None else model.layout.texts
    if texts:
        counts = {start: count for start, (_, count) in texts.items()}
        coef, spread = joint_effects(as_numpy(coef) * spread, counts), np.ones(len(names))
        for start, (name, count) in texts.items():
            names[start], units[start] = name, f"{count} text features"
    found = largest_coefficients(coef, model.classes, names, spread, most)
    original = dict(zip(model.classes.tolist()[-len(coef) :], model.classifier.coef_, strict=True))
    return [
        {
            "feature": each.feature,
            "unit": units[each.place],
            "towards": each.label,
            "coefficient": None
            if each.place in texts
            else float(original[each.label][each.place]),
            "per_standard_deviation": None if spread is None else each.effect,
        }
        for each in found
    ]


def _units(model: SavedModel) -> list[str]:
    """Return, for each feature, what a coefficient counts once for."""
    units: list[str] = []
    for column in model.layout.columns:
        if isinstance(column, DateColumn):
            units += ["per day" if part == "days" else f"per {part}" for part in column.parts]
        else:
            whole = isinstance(column, TextColumn) or getattr(column, "kind", "") == "number"
            units += ["per unit" if whole else "if true"] * len(column.names)
        units += ["if true"] * column.missing
    return units or ["per unit"] * model.layout.n_features


def coefficient_lines(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of coefficients."""
    if not found:
        return
    classes = list(dict.fromkeys(str(each["towards"]) for each in found))
    # Of two classes all are towards the same one.
    several = len(classes) > 1
    title = "largest coefficients" if several else f"largest coefficients, towards {classes[0]}"
    rows = [(title, *["towards"] * several, "", "", "per standard deviation")]
    for each in found:
        effect = each["per_standard_deviation"]
        whole = each["coefficient"] is None
        last = "" if effect is None else f"{effect:{'' if whole else '+'}.3f}"
        label = [str(each["towards"])] * several
        value = "" if whole else f"{each['coefficient']:+.4g}"
        rows.append((f"  {each['feature']}", *label, value, each["unit"], last))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def settings_in_numbers(classifier: Any) -> dict[str, Any]:
    """Return what a fit chose or was given, for scripts."""
    names = ("l2_", "l2", "gamma_", "leverage_", "kernel_gamma_", "zero_one_loss_")
    found = {
        name.strip("_"): getattr(classifier, name)
        for name in names[::-1]
        if hasattr(classifier, name)
    }
    prior = getattr(classifier, "prior_", None)
    if prior is not None:
        found["plateaus"] = [[low, low + prior.b] for low in prior.low]
    return {key: value for key, value in found.items() if not isinstance(value, str)}
