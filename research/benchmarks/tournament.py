"""All rivals at one kind of work: times in turns, with what they get wrong beside them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from research.benchmarks.cases import Measured
from research.benchmarks.made import Parts
from research.benchmarks.rivals import Rival
from research.benchmarks.timing import race, shown_ratio, shown_seconds

__all__ = ["ERROR", "TRAINING_ERROR", "tournament"]

ERROR = "held-out error, %"
TRAINING_ERROR = "training error, %"
LIMIT = "stopped at its limit of iterations"
# Enough for every class to occur, and too few to take time.
TRIED = 300


def _fit(make: Callable[[int], Any], X: Any, y: Any) -> tuple[Any, bool]:
    """Fit a rival; also tell whether its limit of iterations stopped it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make(X.shape[0]).fit(X, y)
    return model, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def tournament(
    rivals: Sequence[Rival],
    missing: Mapping[str, str],
    parts: Parts,
    repeats: int,
    *,
    score: str = ERROR,
) -> Measured:
    """Fit every rival in turns and put its time over that of the first beside its error.

    Parameters
    ----------
    rivals : sequence of Rival
        Who races; the first is ours.
    missing : mapping of str to str
        Who does not, and why.
    parts : Parts
        Rows to fit, and rows to count errors on: nobody wins by stopping early.
    repeats : int
        Fits of each.
    score : str, default=ERROR
        What the errors are called.

    Returns
    -------
    Measured
        No figures; the table is in its notes and, as ``table``, in its details.
    """
    for rival in rivals:
        # Compiled code is loaded before the clock runs.
        _fit(rival.make, parts.X[:TRIED], parts.y[:TRIED])
    fits = {r.name: lambda r=r: _fit(r.make, parts.X, parts.y) for r in rivals}
    timings = race(fits, repeats)
    ours = timings[rivals[0].name].best
    table: list[dict[str, Any]] = []
    for rival in rivals:
        timing = timings[rival.name]
        model, stopped = timing.result
        wrong = np.mean(np.asarray(model.predict(parts.X_test)) != parts.y_test)
        table.append(
            {
                "rival": rival.name,
                "settings": rival.settings,
                "seconds": round(timing.best, 6),
                "ratio": round(timing.best / ours, 6),
                "error": round(100.0 * float(wrong), 3),
                "stopped": stopped,
                "runs": [round(s, 6) for s in timing.seconds],
            }
        )
    details = {
        "shape": list(parts.X.shape),
        "score": score,
        "table": table,
        "missing": dict(missing),
    }
    return Measured({}, _notes(table, missing, score), details)


def _notes(table: list[dict[str, Any]], missing: Mapping[str, str], score: str) -> list[str]:
    width = max(len(row["rival"]) for row in table)
    head = f"{'':<{width}}  {'time':>9}  {'/ ours':>7}  {score:>18}"
    rows = [
        f"{row['rival']:<{width}}  {shown_seconds(row['seconds']):>9}"
        f"  {shown_ratio(row['ratio']):>7}  {row['error']:>18.2f}"
        f"{'  ' + LIMIT if row['stopped'] else ''}"
        for row in table
    ]
    return [head, *rows, *(f"{name}: {reason}" for name, reason in missing.items())]
