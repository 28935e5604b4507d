"""How KernelBBLRClassifierCV chooses width, penalty and path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._checks import check_numbers
from bblr.inputs import Training
from bblr.kernel.fit import ALL_CENTRES, KernelProblem
from bblr.kernel.kernel_search import (
    REFINING_ROWS,
    TUNING_CENTRES,
    TUNING_ROWS,
    GridCell,
    KernelSearch,
    given_folds,
    stratified_sample,
)
from bblr.kernel.kernel_setup import centre_limit, scale_width
from bblr.kernel.sparsify import Sparsify
from bblr.losses import Plateaus
from bblr.training.cross_validation import Path, Trial, Validation, learned_plateaus
from bblr.training.folds import make_folds, makes_folds
from bblr.training.monitor import Watch
from bblr.training.search import Slam

# With more rows than this, width and penalty are refined on a larger sample.
MANY = 2 * TUNING_ROWS
# Widths to try, as multiples of "scale".
_WIDTHS = tuple(2.0**k for k in range(-6, 4))
# Kernels that have no width.
_WIDTHLESS = ("linear", "cosine", "precomputed")
# Errors within this many standard errors of the least are ties, which the loss breaks.
_TIED = 0.5
# Standard errors by which plateaus or a schedule must beat the default.
_EVIDENCE = 2.0


class Chosen(NamedTuple):
    """The result of the search, and what the final fit needs from it."""

    width: float
    path: Path
    validation: Validation
    sparsify: Sparsify | None


def widths_to_try(kernel_gammas: Any, kernel: Any, problem: KernelProblem) -> tuple[float, ...]:
    """Return the inverse widths to try, in rising order."""
    if not isinstance(kernel_gammas, str):
        widths = check_numbers("kernel_gammas", kernel_gammas, low=0, strict=True)
        return tuple(sorted(widths))
    if callable(kernel) or kernel in _WIDTHLESS:
        return (1.0,)
    scale = scale_width(problem.gram.X, problem.weight, kernel)
    return tuple(scale * factor for factor in _WIDTHS)


def make_search(
    estimator: Any,
    problem: KernelProblem,
    rows: NDArray[np.intp],
    training: Training,
    random: Any,
    watch: Watch,
    groups: Any,
) -> KernelSearch:
    """Return the cross-validation of an estimator, on a sample where there are many rows."""
    part, cv = problem, estimator.cv
    if makes_folds(cv):
        if len(problem.y) > TUNING_ROWS:
            part = problem.on_rows(stratified_sample(problem.y, TUNING_ROWS, random))
        folds = make_folds(cv, part.y, part.weight, random, groups)
    else:
        folds = given_folds(cv, training, rows, random, groups)
    return KernelSearch(
        part,
        folds,
        TUNING_CENTRES if len(part.y) > ALL_CENTRES else None,
        int(random.randint(2**31 - 1)),
        None if part.gram.device is not None else estimator.n_jobs,
        watch,
        estimator.scoring,
    )


def best_cell(cells: Sequence[GridCell], count: float, watch: Watch) -> GridCell:
    """Return the cell of least loss among those whose error over `count` rows ties."""
    least = min(cell.error for cell in cells)
    tied = least + _TIED * np.sqrt(least / count)
    best = min((cell for cell in cells if cell.error <= tied), key=lambda c: c.loss)
    watch.say(
        f"width and penalty: {len(cells)} trials, error {100 * best.error:.2f} % at "
        f"kernel_gamma={best.kernel_gamma:.3g}, l2={best.l2:g}"
    )
    return best


def refine(
    search: KernelSearch,
    best: GridCell,
    widths: tuple[float, ...],
    l2s: tuple[float, ...],
    prior: Plateaus,
    max_centers: Any,
) -> tuple[GridCell, list[GridCell]]:
    """Return the best of narrower widths and weaker penalties on many more rows, and all of them.

    What suits a sample is too smooth for all rows, which carry more detail.
    """
    i, j = widths.index(best.kernel_gamma), l2s.index(best.l2)
    pairs = [(w, l2) for w in widths[i : i + 3] for l2 in l2s[j : j + 3]]
    rows = min(len(search.problem.y), REFINING_ROWS)
    cells = search.hold_out(pairs, prior, REFINING_ROWS, centre_limit(max_centers, rows))
    return best_cell(cells, rows / 5, search.watch), cells


def choose_path(
    validation: Validation, default: Path, prior: Any, gamma_limit: float
) -> tuple[Path, list[Trial]]:
    """Choose plateaus and schedule at the chosen width and penalty; also return the trials."""
    path, watch = default, validation.watch
    if watch.stopped:
        return path, []
    if prior == "learned":
        path = path._replace(prior=learned_plateaus(validation, path))
        watch.say(f"learned plateaus {path.prior}")
    if prior != "tuned" and gamma_limit <= 1:
        return path, []
    slam = Slam(validation, path, (path.l2,), gamma_limit, False, _EVIDENCE, watch)
    return slam.choose(prior == "tuned")
