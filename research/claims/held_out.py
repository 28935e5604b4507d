"""Claims on research data with a test part of their own: web8 and TREC07p."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bblr.comparison.sources import Table
from research.claims import claim
from research.core.cases import Measured, Run, available
from research.core.thresholds import Relation, Threshold
from research.paper.fits import Protocol, fits
from research.paper.library import Library

LIBRARY = Library()
# BBLRClassifierCV() and BBLRClassifier().
OURS, DEFAULT = "BBLR", "BBLR0"
_ERROR = "test error, %"
_FEWER = "test errors, % fewer than tuned LR"
_ABOVE = "test error, points above the better of tuned LR and SVM"


def load(data: str) -> Table:
    """Load a data set of the paper that is available, or skip the claim."""
    return available(lambda: LIBRARY.table(data))


def _claim(
    name: str,
    about: str,
    threshold: tuple[str, Relation, float],
    data: str,
    methods: tuple[str, ...],
    measure: Callable[[Any], float],
) -> None:
    """Claim something of the test errors of methods on the division that data come with."""

    def held_out(run: Run) -> Measured:
        shared: Any = {"fingerprint": load(data).fingerprint, "seed": run.seed, "library": LIBRARY}
        tasks = [task for m in methods for task in fits(Protocol(folds=0), data, m, **shared)]
        found: Any = run.frame(tasks).set_index("method")
        found["rate"] = 100.0 * found["errors"] / found["n_test"]
        notes = [
            f"{method}: {row.errors} errors ({row.rate:.2f} %) in {row.seconds:.1f} s"
            for method, row in found.iterrows()
        ]
        sizes = {size: int(found[size].iloc[0]) for size in ("n_train", "n_test")}
        models = found[["errors", "rate", "seconds"]].to_dict("index")
        details = {"seed": run.seed, **sizes, "models": models}
        return Measured({threshold[0]: measure(found)}, notes, details)

    claim(name, about, Threshold(*threshold))(held_out)


def _fewer(found: Any) -> float:
    return 100.0 * (1.0 - found["errors"][OURS] / found["errors"]["LR"])


_claim(
    "web8",
    "BBLRClassifierCV on web8, official split (its test rows all stand in the training part)",
    (_ERROR, "<=", 0.88),
    "web8",
    (OURS, "LR"),
    lambda found: found["rate"][OURS],
)
_claim(
    "web8-leak-free",
    "BBLRClassifierCV on web8 without the training rows that occur in the test part",
    (_ABOVE, "<=", 0.0),
    "web8-leak-free",
    (OURS, "LR", "SVM"),
    lambda found: found["rate"][OURS] - found["rate"][["LR", "SVM"]].min(),
)
_claim(
    "web8-default",
    "BBLRClassifier() on web8, official split",
    (_ERROR, "<=", 1.0),
    "web8",
    (DEFAULT,),
    lambda found: found["rate"][DEFAULT],
)
_claim(
    "trec07p-random",
    "BBLRClassifierCV on TREC07p, a random fifth to test",
    (_FEWER, ">=", 6.0),
    "trec07p-random",
    (OURS, "LR"),
    _fewer,
)
_claim(
    "trec07p-delivery",
    "BBLRClassifierCV on TREC07p in the order of delivery, the last fifth to test",
    (_FEWER, ">=", 10.0),
    "trec07p-delivery",
    (OURS, "LR"),
    _fewer,
)
