"""What was learned, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bblr.io.columns.column_kinds import Column, NumberColumn
from bblr.io.model import SavedModel

__all__ = ["describe", "filled"]

_MOST = 10


def describe(model: SavedModel, y: np.ndarray, errors: int, seconds: float) -> Iterator[str]:
    """Yield lines on the data, the classifier and its training errors.

    Parameters
    ----------
    model : SavedModel
        The model.
    y : ndarray of shape (rows,)
        The labels it was fitted to.
    errors : int
        How many of them it gets wrong.
    seconds : float
        How long the fit took.
    """
    layout = model.layout
    target = "" if layout.target is None else f", target {layout.target!r}"
    yield f"{model.rows:,} rows, {layout.n_features:,} features{target}"
    yield from filled(layout.columns)
    classes, counts = np.unique(y, return_counts=True)
    shown = [f"{k} ({n:,})" for k, n in zip(classes.tolist(), counts.tolist(), strict=True)]
    more = ", …" if len(shown) > _MOST else ""
    yield f"{len(classes)} classes: {', '.join(shown[:_MOST])}{more}"
    scaled = ", features scaled for the kernel" if model.scaling is not None else ""
    yield f"{type(model.classifier).__name__} in {seconds:.1f} s{scaled}"
    chosen = list(_chosen(model.classifier))
    if chosen:
        yield "  " + ", ".join(chosen)
    yield f"{errors:,} training errors ({100 * errors / model.rows:.2f} %)"


def filled(columns: Sequence[Column]) -> Iterator[str]:
    """Yield a line on the columns with missing values, if there are any."""
    gappy = [column for column in columns if column.missing]
    if gappy:
        shown = ", ".join(
            f"{c.name!r} ({c.fill:g})" if isinstance(c, NumberColumn) else repr(c.name)
            for c in gappy[:_MOST]
        )
        more = f", … ({len(gappy)} columns in all)" if len(gappy) > _MOST else ""
        yield f"missing values marked and, in numbers, filled by the median: {shown}{more}"


def _chosen(classifier: Any) -> Iterator[str]:
    penalty = getattr(classifier, "l2_", getattr(classifier, "l2", None))
    if penalty is not None:
        yield f"l2 {penalty:g}"
    prior = getattr(classifier, "prior_", None)
    if prior is not None:
        # Of two classes those of the positive one; of more, one pair where all are the same.
        lows = prior.low[1:] if prior.is_symmetric or len(prior.low) == 2 else prior.low
        lows = lows[:1] if prior.is_symmetric else lows[:_MOST]
        shown = ", ".join(f"{low:.3g} and {low + prior.b:.3g}" for low in lows)
        yield f"plateaus {shown}{' …' if 1 < len(lows) < len(prior.low) else ''}"
    for name in ("gamma_", "leverage_", "kernel_gamma_"):
        value = getattr(classifier, name, None)
        if value is not None:
            yield f"{name.strip('_').replace('_', ' ')} {value:.4g}"
    if hasattr(classifier, "support_"):
        yield f"{len(classifier.support_):,} support vectors"
    if hasattr(classifier, "lower_bound_"):
        proof = ", the least there can be" if classifier.optimal_ else ""
        yield f"loss {classifier.zero_one_loss_:g}, at least {classifier.lower_bound_:g}{proof}"
