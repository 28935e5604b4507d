"""Starts for the zero-one solvers, and helpers for their solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs import ScaledDesign, make_design
from bblr.losses import BetaBernoulli, Plateaus
from bblr.objective import Objective
from bblr.penalties import Gaussian
from bblr.solvers.zero_one import Progress, ZeroOneProblem, widest
from bblr.training.start import make_solver, make_start, robust_start

Floats = NDArray[np.float64]

# Largest table for which a linear programme finds the middle of a cell.
_MIDDLE = 200_000
# The annealed fit that the solvers start from.
_START_GAMMAS = (1.0, 2.0, 4.0, 8.0)
# The rough one takes half the time.
_ROUGH_GAMMAS = (1.0, 8.0)
_START_L2 = 1.0
_START_PLATEAUS = Plateaus.binary(0.2, 0.6)


def joined(coef: Floats, intercept: float, fit_intercept: bool) -> Floats:
    """Return weights and intercept as one vector of parameters."""
    return np.append(coef, intercept) if fit_intercept else coef


def unit_normal(coef: Floats, intercept: float) -> tuple[Floats, float]:
    """Return the same hyperplane with a normal of length one, so that scores are distances."""
    # In two steps, since the square of a large weight may overflow.
    largest = float(np.abs(coef).max(initial=0.0))
    if largest == 0:
        return coef, float(np.sign(intercept))
    coef, intercept = coef / largest, intercept / largest
    length = float(np.linalg.norm(coef))
    return coef / length, intercept / length


def annealed_start(design: ScaledDesign, y: Floats, weight: Floats) -> Floats:
    """Return the parameters of an annealed Beta-Bernoulli fit, on its decision threshold."""
    objective = _smooth(design, y, weight)
    start = robust_start(objective, make_start(objective, 1e-4), np.zeros(design.size))
    solver = make_solver("auto", _START_GAMMAS, objective, 1e-4, 100)
    return np.asarray(solver.minimise(objective, start).theta)


def rough_start(problem: ZeroOneProblem) -> Floats:
    """Return the parameters of a fit in two stages, from zero."""
    # The rows have units and signs no longer.
    design = ScaledDesign(make_design(problem.rows), problem.weight, False, plain=True)
    objective = _smooth(design, np.ones(len(problem.rows)), problem.weight)
    solver = make_solver("auto", _ROUGH_GAMMAS, objective, 1e-4, 100)
    return np.asarray(solver.minimise(objective, np.zeros(design.size)).theta)


def _smooth(design: ScaledDesign, y: Floats, weight: Floats) -> Objective[BetaBernoulli]:
    loss = BetaBernoulli(_START_PLATEAUS, _START_GAMMAS[0])
    return Objective(loss, Gaussian(_START_L2), design, y, weight)


def support_vector_start(problem: ZeroOneProblem) -> Floats:
    """Return the parameters of a linear SVM, the start of Nguyen and Sanner."""
    from sklearn.svm import LinearSVC

    if np.all(problem.label == problem.label[0]):
        # Only one class is left.
        return problem.rows.sum(axis=0)
    machine = LinearSVC(dual="auto", fit_intercept=False, max_iter=10_000, random_state=0)
    # The intercept is a column of the rows, penalised like the others.
    machine.fit(problem.rows * problem.label[:, None], problem.label, problem.weight)
    return np.asarray(machine.coef_[0], dtype=np.float64)


def middle_of_cell(problem: ZeroOneProblem, theta: Floats) -> Floats:
    """Return the middle of the cell of theta, where rounding is least likely to change labels."""
    if problem.rows.size > _MIDDLE:
        return theta
    right = problem.rows @ theta > 0
    if not right.any():
        return theta
    centre, margin = widest(problem.rows[right])
    if margin > 0 and problem.loss(centre) <= problem.loss(theta):
        theta = centre
    if np.any(problem.ties @ theta == 0):
        # A random step, too short to reach another row, breaks the ties.
        step = np.random.default_rng(0).standard_normal(len(theta))
        moved = theta + 1e-3 * max(margin, 1e-9) * step / np.linalg.norm(step)
        theta = moved if problem.loss(moved) <= problem.loss(theta) else theta
    return theta


class StopEarly(Exception):
    """Stops a solver that checks neither the time nor the loss; its message is the reason."""


class Timed:
    """An objective that checks the time limit and records the best parameters evaluated."""

    def __init__(self, objective: Any, progress: Progress, base: float) -> None:
        self._objective, self._progress, self._base = objective, progress, base

    def __getattr__(self, name: str) -> Any:
        """Return what the objective has."""
        return getattr(self._objective, name)

    def with_gamma(self, gamma: float) -> Timed:
        """Return the same objective with the loss sharpened."""
        return Timed(self._objective.with_gamma(gamma), self._progress, self._base)

    def with_loss(self, loss: Any) -> Timed:
        """Return the same objective under another loss."""
        return Timed(self._objective.with_loss(loss), self._progress, self._base)

    def value_gradient(self, theta: Floats) -> Any:
        """Return the objective, its gradient and the raw scores."""
        done = self._objective.value_gradient(theta)
        self._look(theta, done[2])
        return done

    def probes(self, theta: Floats, js: Any, steps: Floats, raw: Any = None) -> Any:
        """Return the objective with each of the steps added to each of the parameters."""
        if self._progress.expired:
            self._look(theta, self._objective.scores(theta) if raw is None else raw)
        return self._objective.probes(theta, js, steps, raw)

    def _look(self, theta: Floats, raw: Floats) -> None:
        self._progress.found(theta, self._base + self._objective.errors(theta, raw))
        if self._progress.loss <= self._base:
            raise StopEarly("no avoidable errors left")
        if self._progress.expired:
            raise StopEarly(self._progress.limit)
