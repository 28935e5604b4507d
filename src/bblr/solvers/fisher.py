"""Fisher scoring: Newton's method with a curvature that is never negative."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bblr._numeric.threads import one_blas_thread
from bblr.solvers.line_search import ARMIJO, TRIES, WOLFE, evaluate, wolfe_step
from bblr.solvers.protocols import Pathed, Preconditioned
from bblr.solvers.solution import Floats, Solution, compiled, require

# The curvature leaves out what is negative in the second derivative, so a step promises less than
# there is to gain.
_CAUTION = 5.0
# Most steps of a descent that only leads to a starting point.
_FIRST = 20


@dataclass(frozen=True)
class FisherScoring:
    """Newton steps with a non-negative curvature in place of the Hessian.

    The plateaus make the Hessian indefinite. Each example contributes the positive part of its
    second derivative and a share of its Fisher information; examples on a plateau contribute
    neither, so that a small sample of rows represents the others well. A step costs one pass over
    the data and one over the sample. With a few rows hundreds of standard deviations out, this
    takes a tenth of the passes of L-BFGS.

    Parameters
    ----------
    tol : float, default=1e-4
        Stop when five times the promised decrease falls below ``tol * (1 + |value|)``, or
        ``tol * (w + |value|)`` where no row has a weight above ``w < 1``.
    max_iter : int, default=100
        Most iterations.
    kept : float, default=0
        A curvature serves for another step if that promises less than this share of what the
        last one did, and may tell that a descent is done; 0 forms one at every step. On a device
        it makes no difference.
    least : float, default=1e-3
        Least curvature by an intercept where a row has several scores, as a share of the weight of
        all rows. Where nearly all are on plateaus it is next to nothing, and there is no penalty:
        steps hundreds of times too long, and cut, would multiply rounding errors until fits of
        the same rows differ.
    """

    tol: float = 1e-4
    max_iter: int = 100
    kept: float = 0.0
    least: float = 1e-3

    def minimise(self, objective: Preconditioned, theta0: Floats, **_: Any) -> Solution:
        """Descend from theta0 to a local minimum."""
        require(objective, "Fisher scoring", "value_gradient", "preconditioner")
        start = np.array(theta0, dtype=np.float64)
        found = compiled(objective, "newton_descent", start, self.rules)
        if found is not None:
            return found
        # Once for all steps: to limit BLAS and to lift the limit takes as long as a small system.
        with one_blas_thread(len(start)):
            return self._descend(objective, start)

    def _descend(self, objective: Preconditioned, start: Floats) -> Solution:
        here = evaluate(objective, start)
        reason, n_iter = "iteration limit", 0
        precondition, promised = None, 0.0
        while n_iter < self.max_iter:
            before, known = promised, precondition is not None and self.kept > 0.0
            while True:
                if precondition is None or not known:
                    precondition = objective.preconditioner(here.theta, here.raw, self.least)
                direction = -precondition(here.gradient)
                promised = -0.5 * float(direction @ here.gradient)
                done = _CAUTION * promised <= self.tol * (objective.unit + abs(here.value))
                if done or not known or promised < self.kept * before:
                    break
                known = False
            if done:
                reason = "converged"
                break
            n_iter += 1
            there = wolfe_step(objective, here, direction)
            if there is None:
                reason = "no descent within rounding"
                break
            here = there
        return Solution(here.theta, here.value, float("nan"), reason, n_iter, raw=here.raw)

    def small_path(
        self,
        objective: Pathed,
        first_weight: Floats | None,
        gammas: tuple[float, ...],
        scored: Floats,
    ) -> tuple[Floats, Floats]:
        """Anneal over the gammas on a small table in one compiled call.

        Parameters
        ----------
        objective : Objective
            Whose `columns` are there.
        first_weight : ndarray of shape (n_rows,) or None
            Weights of the fit to start from; None starts from zero.
        gammas : tuple of float
            Sharpness of each stage.
        scored : ndarray of shape (n_parameters, n_scored)
            Rows to be scored, a column after the other.

        Returns
        -------
        thetas, raws : ndarray of shape (n_gammas, n_parameters) and (n_gammas, n_scored)
            The parameters at the end of each stage, and the scores there.
        """
        first = replace(self, max_iter=0 if first_weight is None else _FIRST)
        return objective.newton_path(first_weight, gammas, self.rules, first.rules, scored)

    @property
    def rules(self) -> tuple[float, int, float, float, float, int, float]:
        """The rules of a compiled descent: see :class:`bblr.designs.small_tables.Rules`."""
        return self.tol, self.max_iter, _CAUTION, ARMIJO, WOLFE, TRIES, self.kept
