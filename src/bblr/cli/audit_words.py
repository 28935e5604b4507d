"""What an audit found, in two sentences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bblr.audit import LabelErrors

__all__ = ["FlipRate", "estimate", "evidence", "flip_rates", "plural"]

# Lower rates are not worth a line.
_LEAST_RATE = 0.001


class FlipRate(NamedTuple):
    """The share of a true class that was given the label of another one."""

    true: Any
    given: Any
    rate: float


def flip_rates(found: LabelErrors) -> list[FlipRate]:
    """Return the rates between classes that are worth telling, the highest first."""
    if found.flip_rates is None or found.classes is None or found.n_errors == 0:
        return []
    rates = found.flip_rates.copy()
    np.fill_diagonal(rates, 0.0)
    order = np.argsort(-rates, axis=None, kind="stable")
    names = found.classes.tolist()
    pairs = [divmod(i, len(names)) for i in order.tolist()]
    return [
        FlipRate(names[k], names[g], float(rates[k, g]))
        for k, g in pairs
        if rates[k, g] >= _LEAST_RATE
    ]


def plural(count: int, one: str, many: str) -> str:
    """Return a number with the word that goes with it."""
    return f"{count:,} {one if count == 1 else many}"


def estimate(found: LabelErrors, of: str = "") -> str:
    """Say how many labels are wrong by estimate, without the full stop."""
    if found.n_errors == 0:
        return f"No label{of} looks wrong"
    verb = "is" if found.n_errors == 1 else "are"
    return f"An estimated {found.n_errors:,} of {len(found.scores):,} labels{of} {verb} wrong"


def evidence(found: LabelErrors) -> str:
    """Say how many rows have more evidence than even; nothing where no label looks wrong."""
    if found.n_errors == 0:
        return ""
    count = int(found.wrong_plateau.sum())
    if count:
        return f"{plural(count, 'row is', 'rows are')} more likely wrong than right"
    # The probabilities of many rows add up, though that of each is small.
    return (
        f"for {'no row' if found.n_errors == 1 else 'none of them'} is the evidence more than even"
    )
