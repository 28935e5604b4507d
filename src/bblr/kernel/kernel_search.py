"""Cross-validation of kernel fits over width, penalty, plateaus, schedule and sparsity.

The folds share one basis per width. A held-out row is a row of weight zero, and by the representer
theorem a row of weight zero gets no weight in the expansion either: the fit is that of the
training part of the fold, although its features are computed once for all folds. (Under the ridge
penalty it may get some: a fold then sees the features of held-out rows, never their labels.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from bblr._checks import check_numbers
from bblr.designs.gram.centres import Basis
from bblr.kernel.fit import ALL_CENTRES, Floats, Held, KernelFit, KernelProblem
from bblr.kernel.kernel_setup import centre_limit, scale_width
from bblr.kernel.sparse_fit import Elimination, gauss_laplace
from bblr.losses import Plateaus
from bblr.penalties import Gaussian
from bblr.training.cross_validation import Path, Trial, Validation, learned_plateaus
from bblr.training.folds import Fold, make_folds
from bblr.training.monitor import FitMonitor
from bblr.training.probabilities import row_losses
from bblr.training.search import Slam
from bblr.training.start import gaussian

# Rows on which width and penalty are chosen; more hardly change the choice.
TUNING_ROWS = 3000
TUNING_CENTRES = 400
# Rows on which they are refined, and the number of vectors is chosen.
REFINING_ROWS = 20_000
_LEAST_OF_A_CLASS = 10
# Directions this weak, relative to the strongest, vanish under any penalty worth trying.
_RANK_TOL = 1e-8
# Folds on which the initial share of the Laplacian cluster is chosen: its fits are slow.
_SHARE_FOLDS = 2
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


class GridCell(NamedTuple):
    """One width and penalty, and its cross-validated error and loss."""

    kernel_gamma: float
    l2: float
    error: float
    loss: float


@dataclass(frozen=True, eq=False)
class KernelSearch:
    """Cross-validation of a kernel classifier on its training rows.

    Parameters
    ----------
    problem : KernelProblem
        The training rows; the width of its kernel is a placeholder.
    folds : sequence of Fold
        Folds; each row may be held out several times.
    centres : int or None
        Centres to draw; None where every row is one.
    seed : int
        Seed of the draws.
    n_jobs : int or None
        Widths or folds to run in parallel.
    monitor : FitMonitor
        Reports progress over widths and folds.
    scoring : str
        What to minimise, one of `SCORINGS`.
    """

    problem: KernelProblem
    folds: Sequence[Fold]
    centres: int | None
    seed: int
    n_jobs: int | None = None
    monitor: FitMonitor = field(default_factory=FitMonitor)
    scoring: str = "accuracy"

    @classmethod
    def of(
        cls,
        estimator: Any,
        problem: KernelProblem,
        rows: NDArray[np.intp],
        given: Sequence[Fold] | None,
        n_rows: int,
        random: Any,
        monitor: FitMonitor,
        groups: Any,
    ) -> KernelSearch:
        """Return the cross-validation of an estimator, on a sample where there are many rows.

        `rows` are the numbers of those of the problem among all `n_rows`, of which `given` folds
        tell.
        """
        part = problem
        if given is not None:
            folds = _among(rows, given, n_rows)
        else:
            if len(problem.y) > TUNING_ROWS:
                part = problem.on_rows(stratified_sample(problem.y, TUNING_ROWS, random))
            folds = make_folds(estimator.cv, part.y, part.weight, random, groups)
        return cls(
            part,
            folds,
            TUNING_CENTRES if len(part.y) > ALL_CENTRES else None,
            int(random.randint(2**31 - 1)),
            None if part.gram.device is not None else estimator.n_jobs,
            monitor,
            estimator.scoring,
        )

    def pooled(self, parts: Sequence[Held], folds: Sequence[Fold]) -> Held:
        """Return the score to minimise and the mean loss over all held-out rows."""
        total = self._weight(folds)
        decision = np.concatenate([part.decision for part in parts])
        if self.scoring == "accuracy":
            error = sum(part.errors for part in parts) / total
        else:
            rows = np.concatenate([fold.test for fold in folds])
            weight = self.problem.weight[rows]
            losses = row_losses(self.scoring, decision, self.problem.y[rows], weight)
            error = float(weight @ losses) / float(weight.sum())
        return Held(error, sum(part.loss for part in parts) / total, decision)

    @property
    def _unwatched(self) -> KernelSearch:
        """A copy for other processes, without the monitor, which holds all of the data."""
        return replace(self, monitor=FitMonitor())

    def basis(self, problem: KernelProblem) -> Basis:
        """Return the coordinates in which all folds are fitted."""
        if self.centres is None:
            return problem.full_basis(_RANK_TOL)
        rng = np.random.default_rng(self.seed)
        return problem.basis(problem.spread_centres(problem.weight, self.centres, rng), rng)

    def grid(
        self, widths: Sequence[float], l2s: Sequence[float], prior: Plateaus
    ) -> list[GridCell]:
        """Return the cross-validated error of each width and penalty."""
        arguments = [(self._unwatched, width, l2s, prior) for width in widths]
        done = self.monitor.in_parallel(
            "choose width and penalty", "width", _width_cells, arguments, self.n_jobs
        )
        return [cell for cells in done for cell in cells]

    def best_cell(self, cells: Sequence[GridCell], count: float) -> GridCell:
        """Return the cell of least loss among those whose error over `count` rows ties."""
        least = min(cell.error for cell in cells)
        tied = least + _TIED * np.sqrt(least / count)
        best = min((cell for cell in cells if cell.error <= tied), key=lambda c: c.loss)
        self.monitor.log(
            f"width and penalty: {len(cells)} trials, error {100 * best.error:.2f} % at "
            f"kernel_gamma={best.kernel_gamma:.3g}, l2={best.l2:g}"
        )
        return best

    def refine(
        self,
        best: GridCell,
        widths: tuple[float, ...],
        l2s: tuple[float, ...],
        path: Path,
        max_centers: Any,
    ) -> tuple[GridCell, list[GridCell]]:
        """Return the best of narrower widths and weaker penalties on many more rows, and all.

        What suits a sample is too smooth for all rows, which carry more detail. Centres are drawn
        as in a fit.
        """
        i, j = widths.index(best.kernel_gamma), l2s.index(best.l2)
        pairs = list(product(widths[i : i + 3], l2s[j : j + 3]))
        rows = min(len(self.problem.y), REFINING_ROWS)
        fold, centres, cells = self._one_fifth(), centre_limit(max_centers, rows), []
        with self.monitor.task("look again", len(pairs)):
            for width, l2 in pairs:
                problem, rng = self.problem.at_width(width), np.random.default_rng(self.seed)
                part = problem.on_rows(fold.train)
                fitted = part.fit_dense(path._replace(l2=l2), centres, rng)
                held = self.pooled([problem.held_out(fold, fitted)], [fold])
                cells.append(GridCell(width, l2, held.errors, held.loss))
                if self.monitor.step("width and penalty"):
                    break
        return self.best_cell(cells, rows / 5), cells

    def hold_out_sizes(
        self, kernel_gamma: float, path: Path, sizes: tuple[int, ...], centres: int
    ) -> Iterator[Held]:
        """Yield the scores of the dense fit and of each size on a held-out fifth of a sample."""
        fold, rng = self._one_fifth(), np.random.default_rng(self.seed)
        problem = self.problem.at_width(kernel_gamma)
        part = problem.on_rows(fold.train)
        dense = part.fit_dense(path, centres, rng)
        for held in _held_out_sizes(problem, part, fold, dense, path, sizes, rng):
            yield self.pooled([held], [fold])

    def _one_fifth(self) -> Fold:
        """Return a fold that holds out a fifth of a large sample of rows."""
        y = self.problem.y
        chosen = np.arange(len(y))
        if len(y) > REFINING_ROWS:
            chosen = stratified_sample(y, REFINING_ROWS, self.seed)
        test = chosen[stratified_sample(y[chosen], len(chosen) // 5, self.seed)]
        return Fold(np.setdiff1d(chosen, test), test)

    def validation(self, kernel_gamma: float, prior: Plateaus) -> Validation:
        """Return the folds at one width, for paths of any plateaus, penalty and gammas."""
        problem = self.problem.at_width(kernel_gamma)
        objective = problem.objective(self.basis(problem), prior, Gaussian(1.0))
        rows = objective.y, objective.weight
        return Validation(
            objective.design, *rows, self.folds, problem.descent, self.monitor, self.n_jobs,
            self.scoring,
        )  # fmt: skip

    def sizes(self, kernel_gamma: float, path: Path, sizes: tuple[int, ...]) -> list[Held]:
        """Return the held-out scores of backward elimination to each of the sizes."""
        return self._over_folds("sizes", self.folds, _fold_sizes, kernel_gamma, path, sizes)

    def shares(self, kernel_gamma: float, path: Path, shares: tuple[float, ...]) -> list[Held]:
        """Return the held-out scores of each initial share of the Laplacian cluster."""
        folds = self.share_folds()
        return self._over_folds("shares", folds, _fold_shares, kernel_gamma, path, shares)

    def _over_folds(
        self, what: str, folds: Sequence[Fold], work: Callable[..., Any], *of: Any
    ) -> list[Held]:
        arguments = [(self._unwatched, fold, *of) for fold in folds]
        done = self.monitor.in_parallel(f"choose {what}", "fold", work, arguments, self.n_jobs)
        return [self.pooled(each, folds) for each in zip(*done, strict=True)]

    def share_folds(self) -> Sequence[Fold]:
        """Return the folds on which shares are compared."""
        return self.folds[:_SHARE_FOLDS]

    @property
    def held_out(self) -> float:
        """Weight of all held-out rows."""
        return self._weight(self.folds)

    def _weight(self, folds: Sequence[Fold]) -> float:
        return sum(float(self.problem.weight[fold.test].sum()) for fold in folds)


def _width_cells(
    search: KernelSearch, width: float, l2s: Sequence[float], prior: Plateaus
) -> list[GridCell]:
    problem = search.problem.at_width(width)
    whole = problem.objective(search.basis(problem), prior, Gaussian(1.0))
    rows = whole.rows
    cells = []
    for l2 in l2s:
        parts = []
        for fold in search.folds:
            kept = rows.only(whole.weight, fold.train)
            objective = replace(whole, penalty=gaussian(l2, whole.loss), weight=kept)
            found = problem.descent.minimise(objective, np.zeros(objective.size))
            raw = rows.local(found.raw)[fold.test]
            parts.append(problem.scored(whole.loss, raw, fold.test))
        held = search.pooled(parts, search.folds)
        cells.append(GridCell(width, l2, held.errors, held.loss))
    return cells


def stratified_sample(y: Floats, count: int, random: Any) -> NDArray[np.intp]:
    """Return the indices of about `count` rows, stratified, with ten or more of each class."""
    rng = check_random_state(random)
    chosen = []
    for rows in (np.flatnonzero(y == label) for label in np.unique(y)):
        share = max(round(count * len(rows) / len(y)), min(len(rows), _LEAST_OF_A_CLASS))
        chosen.append(rng.permutation(rows)[:share])
    return np.sort(np.concatenate(chosen))


def fold_fit(
    search: KernelSearch, fold: Fold, width: float, path: Path
) -> tuple[KernelProblem, KernelProblem, KernelFit]:
    """Return the problem at a width, that of the training rows of a fold, and its dense fit."""
    problem = search.problem.at_width(width)
    part = problem.on_rows(fold.train)
    return problem, part, part.fit(search.basis(part), path)


def _held_out_sizes(
    problem: KernelProblem,
    part: KernelProblem,
    fold: Fold,
    dense: KernelFit,
    path: Path,
    sizes: tuple[int, ...],
    rng: np.random.Generator,
) -> Iterator[Held]:
    yield problem.held_out(fold, dense)
    elimination = Elimination(part, path, rng)
    for fitted in elimination.to_sizes(elimination.pool(dense), sizes):
        yield problem.held_out(fold, fitted)


def _fold_sizes(
    search: KernelSearch, fold: Fold, width: float, path: Path, sizes: tuple[int, ...]
) -> list[Held]:
    problem, part, dense = fold_fit(search, fold, width, path)
    rng = np.random.default_rng(search.seed)
    return list(_held_out_sizes(problem, part, fold, dense, path, sizes, rng))


def _fold_shares(
    search: KernelSearch, fold: Fold, width: float, path: Path, shares: tuple[float, ...]
) -> list[Held]:
    problem, part, dense = fold_fit(search, fold, width, path)
    fits = (gauss_laplace(part, dense, path, share, None) for share in shares)
    return [problem.held_out(fold, fitted) for fitted in fits]


def places_in(folds: Sequence[Fold], n_rows: int) -> NDArray[np.intp]:
    """Return a number for each row, the same for rows that all folds treat alike."""
    times = [np.bincount(part, minlength=n_rows) for fold in folds for part in fold]
    return np.unique(np.column_stack(times), axis=0, return_inverse=True)[1].ravel()


def _among(rows: NDArray[np.intp], folds: Sequence[Fold], n_rows: int) -> list[Fold]:
    """Return folds as indices into `rows`, in rising order."""
    place = np.full(n_rows, -1)
    place[rows] = np.arange(len(rows))
    return [
        Fold(*(np.sort(found[found >= 0]) for found in (place[train], place[test])))
        for train, test in folds
    ]


def widths_to_try(kernel_gammas: Any, kernel: Any, problem: KernelProblem) -> tuple[float, ...]:
    """Return the inverse widths to try, in rising order."""
    if not isinstance(kernel_gammas, str):
        widths = check_numbers("kernel_gammas", kernel_gammas, low=0, strict=True)
        return tuple(sorted(widths))
    if callable(kernel) or kernel in _WIDTHLESS:
        return (1.0,)
    scale = scale_width(problem.gram.X, problem.weight, kernel)
    return tuple(scale * factor for factor in _WIDTHS)


def choose_path(
    validation: Validation, default: Path, prior: Any, gamma_limit: float
) -> tuple[Path, list[Trial]]:
    """Choose plateaus and schedule at the chosen width and penalty; also return the trials."""
    path, monitor = default, validation.monitor
    if monitor.stopped:
        return path, []
    if prior == "learned":
        path = path._replace(prior=learned_plateaus(validation, path))
        monitor.log(f"learned plateaus {path.prior}")
    if prior != "tuned" and gamma_limit <= 1:
        return path, []
    slam = Slam(validation, path, (path.l2,), gamma_limit, False, _EVIDENCE, monitor)
    return slam.choose(prior == "tuned")
