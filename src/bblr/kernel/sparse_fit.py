"""Sparse expansions: backward elimination, and the paper's mixture prior."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bblr._numeric.tensors import as_numpy
from bblr.designs.gram.centres import Basis
from bblr.kernel.fit import ALL_CENTRES, SOME_CENTRES, Floats, KernelFit, KernelProblem, Rows
from bblr.penalties import GaussLaplace
from bblr.solvers import GradientDescent, HardEM, RangeSearch, eliminate
from bblr.training.cross_validation import Path
from bblr.training.monitor import FitMonitor

# Candidate shares of the weights that start in the Laplacian cluster, for validation.
SHARES = (0.3, 0.5, 0.7, 0.9)
# Centres to start the elimination from, where every row may be one.
_POOL = 256
# Share of the vectors that each refit keeps; fewer refits where they cost more.
_SHRINK = 0.7
_SHRINK_LARGE = 0.2
_LARGE = 2_000_000
# Range search of Algorithm 3, in units of the largest weight.
_RADIUS = 4.0
_SPACING = 0.1
# Why a fit under the mixture has one vector only.
_LOST = "the mixture left no weight"
# Without max_vectors, vectors are dropped until the objective has risen by this share.
_RISE = 0.01


@dataclass(frozen=True, eq=False)
class Elimination:
    """Backward elimination on one problem.

    Parameters
    ----------
    problem : KernelProblem
        The training rows.
    path : Path
        Plateaus and penalty of the refits, which are made at the last gamma.
    rng : Generator
        Random numbers for the pool.
    monitor : FitMonitor
        Reports each refit, and may stop the elimination.

    Attributes
    ----------
    refits : list of tuple
        The number of vectors, error and mean loss on the training rows of each refit.
    """

    problem: KernelProblem
    path: Path
    rng: np.random.Generator
    monitor: FitMonitor = field(default_factory=FitMonitor)
    refits: list[tuple[int, float, float]] = field(default_factory=list)

    def pool(self, full: KernelFit, wanted: int = 0) -> KernelFit:
        """Return the fit on the centres from which vectors are dropped, twice those wanted."""
        n, count = self.problem.gram.n_rows, len(full.basis.centres)
        enough = min(_POOL, n // 2) if n <= ALL_CENTRES else SOME_CENTRES
        enough = max(enough, 2 * wanted)
        if count <= enough:
            return full
        weighted_residuals = self.problem.weighted_residuals(full.objective.loss, full.raw)
        return self._fit(self.problem.spread_centres(weighted_residuals, enough, self.rng))

    def to_sizes(self, pool: KernelFit, sizes: tuple[int, ...]) -> Iterator[KernelFit]:
        """Drop vectors and refit at each of the sizes, given from large to small."""
        for size in sizes:
            while len(pool.basis.centres) > size and not self.monitor.stopped:
                stop = max(size, self._next(pool))
                for drop in eliminate(*self._model(pool)):
                    if len(drop.kept) <= stop:
                        break
                pool = self._fit(pool.basis.centres[drop.kept])
            yield pool

    def to_rise(self, full: KernelFit) -> KernelFit:
        """Drop vectors while the objective stays close to that of all centres."""
        limit = full.solution.value + _RISE * abs(full.solution.value)
        pool, wanted = self.pool(full), len(full.basis.centres)
        while pool.solution.value > limit and len(pool.basis.centres) < wanted:
            larger = self.pool(full, len(pool.basis.centres))
            if len(larger.basis.centres) <= len(pool.basis.centres):
                break  # the kernel has no more directions
            pool = larger
        while not self.monitor.stopped:
            value, stop, best = pool.solution.value, self._next(pool), None
            for drop in eliminate(*self._model(pool)):
                value += drop.cost
                if value > limit or len(drop.kept) < max(1, stop):
                    break
                best = drop
            if best is None:
                return pool
            smaller = self._fit(pool.basis.centres[best.kept])
            if smaller.solution.value > limit:
                return pool
            pool = smaller
        return pool

    def _next(self, pool: KernelFit) -> int:
        count = len(pool.basis.centres)
        large = count * self.problem.gram.n_rows > _LARGE
        return int((_SHRINK_LARGE if large else _SHRINK) * count)

    def _fit(self, centres: Rows) -> KernelFit:
        basis = self.problem.basis(centres, self.rng)
        fitted = self.problem.fit(basis, self.path._replace(gammas=self.path.gammas[-1:]))
        count = len(fitted.basis.centres)
        self.refits.append(training_figures(fitted))
        self.monitor.log(f"refitted with {count} vectors: objective {fitted.solution.value:.6g}")
        self.monitor.step("refit", fitted)
        return fitted

    def _model(self, fitted: KernelFit) -> tuple[Floats, Any]:
        """Return the weights and the inverse of the second derivatives by them.

        With many classes there is one per class; correlations between classes are ignored.
        """
        T = as_numpy(fitted.basis.transform)
        covariances = [
            _covariance(matrix, T)
            for matrix in fitted.objective.information(fitted.solution.theta)
        ]
        weights = fitted.weights
        return weights, covariances[0] if weights.ndim == 1 else covariances


def _covariance(information: Floats, T: Floats) -> Floats:
    diagonal = np.diag_indices_from(information)
    information[diagonal] += 1e-12 * float(information[diagonal].mean())
    covariance = cho_solve(cho_factor(information), np.eye(len(information)))
    d = T.shape[1]
    return np.asarray(T @ covariance[:d, :d] @ T.T)


def training_figures(fitted: KernelFit) -> tuple[int, float, float]:
    """Return the number of centres, and the error and mean loss of the training rows."""
    objective, solution = fitted.objective, fitted.solution
    total = objective.rows.total(objective.weight)
    cost = solution.value - objective.penalty.value(objective.weights(solution.theta))
    return len(fitted.basis.centres), solution.errors / total, cost / total


class Promise(NamedTuple):
    """What initial shares of the Laplacian cluster achieved on held-out rows.

    Parameters
    ----------
    errors : sequence of float
        Weighted errors with each of the shares.
    weight : float
        Weight of the held-out rows.
    rows : int
        Their number.
    """

    errors: Sequence[float]
    weight: float
    rows: int

    def best(self) -> int:
        """Return the index of the share with the fewest errors; of ties the sparsest."""
        return int(np.flatnonzero(self.errors == np.min(self.errors))[-1])

    def kept(self, mixture: Callable[[float], KernelFit]) -> tuple[KernelFit, int]:
        """Return the fit to all rows that keeps what the best share promised, and its share.

        The mixture can lose all weights on all rows where it kept some on a part of them. Such a
        fit, or one with more errors on its own rows than the best share had on rows it did not
        know, by two standard errors, is another than was chosen: a smaller share takes its place.
        """
        least = float(np.min(self.errors)) / self.weight
        rate = (self.rows * least + 1.0) / (self.rows + 2.0)
        limit = rate + 2.0 * sqrt(rate * (1.0 - rate) / self.rows)
        for k in range(self.best(), -1, -1):
            fitted = mixture(SHARES[k])
            if fitted.solution.reason != _LOST and training_figures(fitted)[1] <= limit:
                break
        return fitted, k


def gauss_laplace(
    problem: KernelProblem, full: KernelFit, path: Path, share: float, max_vectors: int | None
) -> KernelFit:
    """Return the fit under the Gauss-Laplace mixture (Algorithm 3), pruned and refitted.

    The descent is the paper's, which stops early. It has to: a full descent on the mixture would
    drive all but a handful of weights to zero, since no single vector matters much to a row.

    Parameters
    ----------
    problem : KernelProblem
        The training rows.
    full : KernelFit
        The L2-regularised fit to start from.
    path : Path
        Plateaus and penalty of that fit and of the refit, which is made at the last gamma.
    share : float
        Share of the weights that start in the Laplacian cluster.
    max_vectors : int or None
        Keep at most that many, the largest.
    """
    centres = full.basis.centres
    weights = full.weights
    size = float(np.abs(weights).max(initial=0.0)) or 1.0
    basis = Basis(centres, problem.gram.algebra.eye(len(centres)))
    objective = problem.objective(basis, path.prior, GaussLaplace(), uncorrelated=False)
    columns = weights.reshape(len(centres), -1)
    start = columns.T
    if problem.fit_intercept:
        start = np.column_stack([start, np.atleast_1d(full.intercept)])
    search = RangeSearch(radius=_RADIUS * size, spacing=_SPACING * size)
    em = HardEM(GradientDescent(), search, share)
    solution, settled = em.settle(objective.with_gamma(path.gammas[-1]), start.ravel())
    weights = objective.weights(solution.theta)
    # With many classes a vector is dropped if its weights for all of them are.
    mixture: Any = settled.penalty
    free = ~mixture.laplacian(weights).reshape(columns.shape[::-1])
    reach = np.abs(weights).reshape(free.shape).max(axis=0)
    kept = np.flatnonzero(free.any(axis=0))
    if max_vectors is not None and len(kept) > max_vectors:
        kept = np.sort(kept[np.argsort(-reach[kept], kind="stable")[:max_vectors]])
    lost = len(kept) == 0
    if lost:
        kept = np.array([int(np.argmax(reach))])
    last = path._replace(gammas=path.gammas[-1:])
    refit = problem.fit(problem.basis(centres[kept], None), last)
    n_iter = full.solution.n_iter + solution.n_iter + refit.solution.n_iter
    reason = _LOST if lost else refit.solution.reason
    return refit._replace(solution=replace(refit.solution, n_iter=n_iter, reason=reason))
