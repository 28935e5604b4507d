"""Claims about kernel classifiers: errors and support vectors against a kernel SVM."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from bblr.comparison.cells import CLEAN, Condition
from bblr.datasets import UCI_NAMES
from research.claims import claim
from research.claims.embedded import compare
from research.core.cases import Measured, Run, available
from research.core.parts import Parts
from research.core.thresholds import Threshold
from research.paper.exhibits.kernel_exhibits import KERNEL, SPARSE_KERNEL
from research.studies.sparsity import GrowthPoint, trec07p_parts
from research.studies.sparsity_job import points_table

BASELINE, DENSE, SPARSE, MIXTURE = "SVC", "KBBLR", "KBBLR-B", "KBBLR-GL"
KERNEL_METHODS = (BASELINE, DENSE, SPARSE, MIXTURE)
# What the paper prints of them: errors in percent, and vectors.
PAPER: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    DENSE: (KERNEL.figures(DENSE), (nan,) * len(UCI_NAMES)),
    **{
        name: (SPARSE_KERNEL.figures(name), SPARSE_KERNEL.figures(name, "vectors"))
        for name in (BASELINE, MIXTURE)
    },
}
NOISE = Condition(0.1, "uniform-one-class", "training")
_SIZES = (250, 500, 1000, 2000, 4000, 8000, 16_000)
# Small training sets differ; their figures are means over this many.
_REPEATS = 3
_FEW = 4000
_CENTRE_ROWS = 20_000
_CENTRE_COUNTS = (300, 1000)


def _table(found: pd.DataFrame) -> Any:
    """Return the error in percent and the mean number of vectors by data set and method."""
    grouped = found.groupby(["data", "method"])
    sums: Any = grouped[["errors", "n_test"]].sum()
    frame = pd.DataFrame(
        {"error": 100.0 * sums["errors"] / sums["n_test"], "vectors": grouped["vectors"].mean()}
    )
    return frame.unstack().loc[list(UCI_NAMES)]


def _notes(table: Any) -> list[str]:
    notes = [" " * 18 + "".join(f"{name:>14}" for name in UCI_NAMES) + f"{'total':>9}"]
    for method in KERNEL_METHODS:
        errors, vectors = table["error"][method], table["vectors"][method]
        notes.append(_note(method, errors, vectors))
        if method in PAPER:
            notes.append(_note("  paper", *PAPER[method]))
    return notes


def _note(name: str, errors: Iterable[float], vectors: Iterable[float]) -> str:
    pairs = zip(errors, vectors, strict=False)
    cells = "".join(f"{error:8.2f} /{count:4.0f}" for error, count in pairs)
    return f"{name:18}{cells}{sum(errors):9.2f}".replace(" nan", "    ")


# The figures of each data set, and their limits.
_LIMITS = {
    "KBBLR, points above SVC": 0.5,
    "backward, points above KBBLR": 0.5,
    "backward, vectors": 25,
    "backward, vectors / SVC's": 1 / 3,
}
_TOTAL = Threshold("total: KBBLR, points above SVC", "<=", 0.2)


def _figures(table: Any) -> dict[str, float]:
    error, vectors = table["error"], table["vectors"]
    above = error[DENSE] - error[BASELINE]
    ratio = vectors[SPARSE] / vectors[BASELINE]
    columns = (above, error[SPARSE] - error[DENSE], vectors[SPARSE], ratio)
    figures = {
        f"{name}: {figure}": column[name]
        for figure, column in zip(_LIMITS, columns, strict=True)
        for name in UCI_NAMES
    }
    return {**figures, _TOTAL.figure: above.sum()}


for _name, _condition, _about in (
    ("kernel-uci", CLEAN, "Kernel classifiers on the embedded sets: error, vectors against SVC"),
    ("kernel-uci-noisy", NOISE, "The same with 10 % uniform outliers in the training folds"),
):

    @claim(
        _name,
        _about,
        *(Threshold(f"{d}: {f}", "<=", limit) for d in UCI_NAMES for f, limit in _LIMITS.items()),
        _TOTAL,
    )
    def _errors_and_vectors(run: Run, condition: Condition = _condition) -> Measured:
        table = _table(pd.DataFrame(compare(run, (condition,), KERNEL_METHODS)))
        details = {kind: table[kind].to_dict() for kind in ("error", "vectors")}
        return Measured(_figures(table), _notes(table), details)


def trec07p_normalised(seed: int) -> Parts:
    """Read TREC07p with rows of length 1, in random order; the last 10,000 are the test part."""
    return available(lambda: trec07p_parts(seed)[1])


def _fewer(count: int) -> str:
    return f"{count} centres: test error / that of centres drawn evenly"


def _above(n: int) -> str:
    return f"n = {n:,}: a third of SVC's vectors, points above SVC"


@claim(
    "kernel-growth",
    "Vectors and error on TREC07p as the training set grows, against a tuned SVC",
    *(Threshold(_above(n), "<=", 0.25) for n in _SIZES),
)
def _growth(run: Run) -> Measured:
    tasks = []
    for k in range(_REPEATS):
        table, parts = available(lambda: trec07p_parts(run.seed + k))  # noqa: B023
        shared: Any = {"data": table.name, "fingerprint": table.fingerprint, "parts": parts}
        tasks += [
            GrowthPoint(n=n, seed=run.seed + k, **shared)
            for n in reversed(_SIZES)
            if n <= _FEW or k == 0
        ]
    means = run.frame(tasks).groupby("n", as_index=False).mean(numeric_only=True)
    above = means["third_error"] - means["svc_error"]
    figures = {_above(n): gap for n, gap in zip(means["n"], above, strict=True)}
    notes = points_table(means).to_string(index=False).split("\n")
    return Measured(figures, notes, {"points": means.to_dict("records")})


@claim(
    "kernel-centres",
    "Centres drawn as KernelBBLRClassifier draws them, against an even draw, on TREC07p",
    *(Threshold(_fewer(count), "<", 1.0) for count in _CENTRE_COUNTS),
)
def _centres(run: Run) -> Measured:
    """Compare ways to draw centres at fixed width and penalty, without any elimination."""
    from bblr.designs.gram.kernel_function import Gram, KernelFunction
    from bblr.kernel.fit import KernelProblem
    from bblr.kernel.kernel_setup import scale_width
    from bblr.losses import Plateaus
    from bblr.training.cross_validation import Path

    path = Path(Plateaus.binary(0.05, 0.9), 0.003, (1.0,), None)
    errors: dict[str, list[float]] = {}
    for seed in range(run.seed, run.seed + _REPEATS):
        parts = trec07p_normalised(seed).first(_CENTRE_ROWS)
        X, y = parts.X_train, np.where(parts.y_train > 0, 1.0, -1.0)
        ones = np.ones(len(y))
        function = KernelFunction("rbf", 4.0 * scale_width(X, ones))
        problem = KernelProblem(Gram(function, X), y, ones, True, True, 1e9)
        for count in _CENTRE_COUNTS:
            rng = np.random.default_rng(seed)
            drawn = {
                "evenly": rng.choice(len(y), count, replace=False),
                "by pivots": problem.spread_centres(ones, count, rng),
                "by pivots and pulls": problem.centres(count, path, rng),
            }
            for name, centres in drawn.items():
                fitted = problem.fit(problem.basis(centres, rng), path)
                vectors = X[fitted.basis.centres]
                raw = function(parts.X_test, vectors) @ fitted.weights + fitted.intercept
                wrong = float(np.mean((raw > 0) != (parts.y_test > 0)))
                errors.setdefault(f"{count} centres drawn {name}", []).append(100.0 * wrong)
    mean = {name: float(np.mean(values)) for name, values in errors.items()}
    notes = [f"{name}: test error {value:.2f} %" for name, value in mean.items()]
    figures = {
        _fewer(count): mean[f"{count} centres drawn by pivots and pulls"]
        / mean[f"{count} centres drawn evenly"]
        for count in _CENTRE_COUNTS
    }
    return Measured(figures, notes, {"errors %": errors})
