"""A kernel problem: how its centres are drawn, and how it is fitted and scored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import equal_rows
from bblr._numeric.tensors import as_numpy
from bblr.designs import ScaledDesign
from bblr.designs.gram.centres import (
    RANK_TOL,
    Basis,
    centre_basis,
    check_definite,
    choose_centres,
    spectral_basis,
)
from bblr.designs.gram.kernel_design import kernel_design
from bblr.designs.gram.kernel_function import Gram
from bblr.losses import BetaBernoulli, Plateaus
from bblr.penalties import Penalty
from bblr.solvers import LBFGS, Annealing, FisherScoring, Solution, Stage
from bblr.solvers.solution import stopped
from bblr.training.cross_validation import Path
from bblr.training.folds import Fold
from bblr.training.monitor import FitMonitor
from bblr.training.start import (
    LOOSE,
    Fitted,
    gaussian,
    make_objective,
    robust_start,
)

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Up to this many rows, every row is a centre by default.
ALL_CENTRES = 2000
# Default number of centres for more rows.
SOME_CENTRES = 1000
# Size of a rough first fit that locates the decision boundary.
_PILOT_CENTRES = 256
_PILOT_ROWS = 4000
# Candidate rows per centre.
_ROWS_PER_CENTRE = 8
# Least relative weight of rows far from the boundary, since the first fit may be wrong.
_FLOOR = 0.01
# Rows on which an unknown kernel is checked to be positive semi-definite.
_ROWS_TO_CHECK = 300
# Up to this many features a Newton step is cheap.
_MAX_NEWTON = 100
# Sampled rows per feature from which features are decorrelated.
_ROWS_PER_FEATURE = 4


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """The training rows of positive weight under one kernel.

    Parameters
    ----------
    gram : Gram
        The kernel of the rows.
    y, weight : ndarray of shape (n_rows,)
        Labels -1 and +1, or class numbers with many classes, and weights.
    rkhs : bool
        Whether the penalty is on the norm of the function rather than on its weights.
    fit_intercept : bool
        Whether there is an intercept.
    cache_bytes : float
        Memory for features.
    descent : LBFGS
        Descent of a stage; Newton steps take its place where there are few features.
    """

    gram: Gram
    y: NDArray[Any]
    weight: Floats
    rkhs: bool
    fit_intercept: bool
    cache_bytes: float
    descent: LBFGS = field(default_factory=LBFGS)

    def at_width(self, kernel_gamma: float) -> KernelProblem:
        """Return the problem with a kernel of that inverse width."""
        function = replace(self.gram.function, gamma=kernel_gamma)
        return replace(self, gram=self.gram.like(function, self.gram.X))

    def on_rows(self, rows: Rows) -> KernelProblem:
        """Return the problem of some of the rows."""
        gram = self.gram
        X = gram.X[rows]
        if gram.function.name == "precomputed":
            X = X[:, rows]
        return replace(
            self, gram=gram.like(gram.function, X), y=self.y[rows], weight=self.weight[rows]
        )

    def objective(
        self, basis: Basis, prior: Plateaus, penalty: Penalty, *, uncorrelated: bool = True
    ) -> Fitted:
        """Return the objective in the coordinates of a basis."""
        features = kernel_design(self.gram, basis, self.cache_bytes)
        design = ScaledDesign(
            features, self.weight, self.fit_intercept, plain=True, uncorrelated=uncorrelated
        )
        y, weight = design.rows.vector(self.y), design.rows.vector(self.weight)
        objective = make_objective(prior, 1.0, 0.0, design, y, weight)
        return objective.with_penalty(penalty)

    def full_basis(self, tol: float = RANK_TOL) -> Basis:
        """Return the basis with every row a centre, without directions below `tol`."""
        rows = self.distinct(np.arange(self.gram.n_rows))
        return spectral_basis(self.gram, rows, self.rkhs, tol)

    def basis(self, centres: Rows, rng: np.random.Generator | None) -> Basis:
        """Return a basis over some of the rows, from a sample of rows if there is a generator."""
        if not self.rkhs:
            centres = self.distinct(centres)
        count = _ROWS_PER_FEATURE * len(centres)
        return centre_basis(self.gram, centres, self._sample(count, rng), self.rkhs)

    def _sample(self, count: int, rng: np.random.Generator | None) -> Rows:
        n = self.gram.n_rows
        if rng is None or count >= n:
            return np.arange(n)
        return np.sort(rng.choice(n, count, replace=False))

    def distinct(self, rows: Rows) -> Rows:
        """Return the first of each set of equal rows, in their order.

        A centre that occurs twice would be penalised half as much.
        """
        return rows[np.sort(equal_rows(self.gram.X[rows])[0])]

    def spread_centres(self, share: Floats, count: int, rng: np.random.Generator) -> Rows:
        """Return centres by randomly pivoted Cholesky, in proportion to `share`."""
        n = self.gram.n_rows
        share = share + _FLOOR * float(share.max())
        if self.rkhs and not self.gram.function.definite:
            # Its own generator: the draws below must not depend on how a kernel is given.
            some = np.random.default_rng(0).permutation(n)[:_ROWS_TO_CHECK]
            check_definite(self.gram, some)
        rows, own = np.arange(n), share
        few = n <= ALL_CENTRES  # of many rows all would take long to compare
        if few:
            rows, own = self._one_of_equal(rows, own)
        among = _ROWS_PER_CENTRE * count
        if among < len(rows):
            drawn = np.sort(rng.choice(len(rows), among, replace=False, p=own / own.sum()))
            rows, own = rows[drawn], own[drawn]
        if not few:
            rows, own = self._one_of_equal(rows, own)
        chosen = choose_centres(self.gram, rows, own, count, rng)
        left = ~np.isin(rows, chosen)
        rest, own = rows[left], own[left]
        if self.rkhs or len(chosen) >= count or len(rest) == 0:
            return chosen
        # The kernel has rank too low for more pivots; draw the others at random.
        more = min(count - len(chosen), len(rest))
        drawn = rng.choice(rest, more, replace=False, p=own / own.sum())
        return np.concatenate([chosen, drawn])

    def _one_of_equal(self, rows: Rows, share: Floats) -> tuple[Rows, Floats]:
        """Let one of equal rows stand for all: which label comes first must not matter."""
        first, place = equal_rows(self.gram.X[rows])
        own = np.bincount(place, share).astype(np.float64)
        order = np.argsort(first)
        return rows[first[order]], own[order]

    def centres(self, count: int, path: Path, rng: np.random.Generator) -> Rows:
        """Return centres, drawn mostly where a rough first fit has large residuals.

        In the exact solution the weight of a row is its residual over the penalty: rows far on
        the right side, and outliers on a plateau, have almost none.
        """
        pilot = self._sample(_PILOT_ROWS, rng)
        problem = self.on_rows(pilot)
        some = problem.spread_centres(problem.weight, min(_PILOT_CENTRES, count), rng)
        basis = problem.basis(some, rng)
        fitted = problem.fit(basis, path._replace(gammas=(1.0,)))
        raw = self._scores(pilot[basis.centres], fitted.weights, fitted.intercept)
        return self.spread_centres(self.weighted_residuals(fitted.objective.loss, raw), count, rng)

    def fit_dense(
        self,
        path: Path,
        limit: int | None,
        rng: np.random.Generator,
        monitor: FitMonitor | None = None,
    ) -> KernelFit:
        """Return the fit over at most `limit` centres, or over all rows where it is None."""
        monitor = monitor or FitMonitor()
        with monitor.task("centres"):
            if limit is None:
                basis = self.full_basis()
            else:
                basis = self.basis(self.centres(limit, path, rng), rng)
        monitor.log(f"{len(basis.centres)} centres among {self.gram.n_rows} rows")
        return self.fit(basis, path, monitor)

    def fit(self, basis: Basis, path: Path, monitor: FitMonitor | None = None) -> KernelFit:
        """Walk through the gammas of a path in the coordinates of a basis."""
        large = basis.transform.shape[1] > _MAX_NEWTON
        penalty = gaussian(path.l2, BetaBernoulli(path.prior))
        objective = self.objective(basis, path.prior, penalty, uncorrelated=large)
        stage: Any = self.descent
        if not large and objective.n_scores == 1:
            stage = FisherScoring(tol=stage.tol, max_iter=stage.max_iter)
        theta = np.zeros(objective.size)
        # Under most kernels all rows have the same length, and none has more leverage.
        if np.ptp(self.gram.diagonal) > 1e-9 * float(self.gram.diagonal.max()):
            start = replace(stage, tol=LOOSE * stage.tol)
            theta = robust_start(objective.with_gamma(path.gammas[0]), start, theta)

        def fitted(solution: Solution) -> KernelFit:
            return KernelFit(basis, objective.with_gamma(solution.gamma), solution)

        tell = (monitor or FitMonitor()).stage_callback(path.gammas)
        annealing = Annealing(path.gammas, descent=stage, keep="last", loose=LOOSE)
        solution = annealing.minimise(
            objective, theta, callback=lambda stage, best: tell(stage, fitted(best))
        )
        return fitted(solution)

    def held_out(self, fold: Fold, fitted: KernelFit) -> Held:
        """Score a fit to the training rows of a fold on its held-out rows."""
        centres = fold.train[fitted.basis.centres]
        raw = self.gram.block(fold.test, centres) @ fitted.weights + fitted.intercept
        return self.scored(fitted.objective.loss, raw, fold.test)

    def scored(self, loss: BetaBernoulli, raw: Floats, rows: Rows) -> Held:
        """Return errors, loss and decision values of raw scores of some of the rows."""
        y, weight = self.y[rows], self.weight[rows]
        errors, value = weight @ loss.wrong(y, raw), weight @ loss.value(y, raw)
        return Held(float(errors), float(value), loss.decision(raw))

    def weighted_residuals(self, loss: BetaBernoulli, raw: Floats) -> Floats:
        """Return the weighted absolute residual of each row, summed over classes."""
        residual = np.abs(loss.value_gradient(self.y, raw)[1])
        return self.weight * residual.reshape(len(residual), -1).sum(axis=1)

    def smallest_class(self) -> int:
        """Return the number of rows of the smallest class."""
        return int(np.unique(self.y, return_counts=True)[1].min())

    def _scores(self, centres: Rows, weights: Floats, intercept: float | Floats) -> Floats:
        step = max(1, 2**22 // max(1, len(centres)))
        parts = [
            self.gram.block(slice(s, s + step), centres) @ weights
            for s in range(0, self.gram.n_rows, step)
        ]
        return np.concatenate(parts) + intercept


class Held(NamedTuple):
    """Errors, loss and decision values on held-out rows."""

    errors: float
    loss: float
    decision: Floats


class KernelFit(NamedTuple):
    """A basis, the objective on it, and where the solver ended."""

    basis: Basis
    objective: Fitted
    solution: Solution

    def with_stop_note(self, cut: bool) -> KernelFit:
        """Return the fit, with a note in its last stage if a callback stopped it."""
        if not cut:
            return self
        *before, last = self.solution.trace
        return self._replace(solution=replace(self.solution, trace=[*before, stopped(last)]))

    def after(self, trace: list[Stage]) -> KernelFit:
        """Return the fit, with the stages that led to it."""
        n_iter = sum(stage.n_iter for stage in trace)
        return self._replace(solution=replace(self.solution, trace=trace, n_iter=n_iter))

    @property
    def _by_score(self) -> Floats:
        """Parameters, a row for each score."""
        return self.objective.by_score(self.solution.theta)

    @property
    def weights(self) -> Floats:
        """Weight of each centre; with many classes, one column per class."""
        transform = as_numpy(self.basis.transform)
        weights = transform @ self._by_score[:, : transform.shape[1]].T
        found: Floats = self.objective.loss.layout.joined(weights)
        return found

    @property
    def intercept(self) -> Any:
        """Intercept of the raw scores; with many classes, one per class."""
        own = self._by_score[:, -1] if self.objective.design.fit_intercept else 0.0
        found = own * np.ones(self.objective.n_scores)
        return float(found[0]) if len(found) == 1 else found

    @property
    def raw(self) -> Floats:
        """Raw scores of the rows."""
        return self.objective.rows.local(self.objective.scores(self.solution.theta))
