"""Limited-memory BFGS, preconditioned by the Fisher information."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy

from bblr._numeric.threads import one_blas_thread
from bblr.solvers.line_search import ARMIJO, TRIES, WOLFE, evaluate, wolfe_step
from bblr.solvers.protocols import Preconditioned
from bblr.solvers.solution import Floats, Solution, compiled, require

# BLAS hands vectors from this length on to several threads.
_LONG = 10_000

Pair = tuple[Floats, Floats, float]
"""A step, the change of the gradient along it, and one over their product."""


@dataclass(frozen=True)
class LBFGS:
    """Quasi-Newton descent whose first guess of the inverse Hessian is the Fisher information.

    With that guess neither the iteration nor the test for convergence depends on the units of the
    features: the test is half the squared Newton step, the decrease a quadratic model promises.

    Parameters
    ----------
    tol : float, default=1e-4
        Stop when the promised decrease falls below ``tol * (1 + |value|)``, or
        ``tol * (w + |value|)`` where no row has a weight above ``w < 1``.
    max_iter : int, default=500
        Most iterations.
    memory : int, default=10
        Pairs of steps and gradient changes to remember.
    """

    tol: float = 1e-4
    max_iter: int = 500
    memory: int = 10

    def minimise(
        self,
        objective: Preconditioned,
        theta0: Floats,
        *,
        precondition: Callable[[Floats], Floats] | None = None,
        pairs: Sequence[Pair] = (),
        **_: Any,
    ) -> Solution:
        """Descend from theta0 to a local minimum, from a first guess of the inverse Hessian.

        `pairs` are those of an earlier descent on nearly the same objective.
        """
        require(objective, "L-BFGS", "value_gradient", "preconditioner")
        start = np.array(theta0, dtype=np.float64)
        rules = self.tol, self.max_iter, 1.0, ARMIJO, WOLFE, TRIES, 0.0
        found = compiled(objective, "lbfgs_descent", start, precondition, rules, self.memory)
        if found is not None:
            return found
        # Short vectors get no second thread anyhow, and long ones gain nothing by it.
        with one_blas_thread(len(start)) if len(start) >= _LONG else nullcontext():
            return self._descend(objective, start, precondition, deque(pairs, self.memory))

    def _descend(
        self,
        objective: Preconditioned,
        start: Floats,
        precondition: Callable[[Floats], Floats] | None,
        pairs: deque[Pair],
    ) -> Solution:
        here = evaluate(objective, start)
        if precondition is None:
            precondition = objective.preconditioner(here.theta, here.raw)
        reason, n_iter = "iteration limit", 0
        while n_iter < self.max_iter:
            direction = -_two_loop(here.gradient, pairs, precondition)
            promised = -0.5 * float(direction @ here.gradient)
            if promised <= self.tol * (objective.unit + abs(here.value)):
                reason = "converged"
                break
            there = wolfe_step(objective, here, direction)
            n_iter += 1
            if there is None:
                if not pairs:
                    reason = "no descent within rounding"
                    break
                pairs.clear()
                continue
            step, change = there.theta - here.theta, there.gradient - here.gradient
            product = float(step @ change)
            if product > 1e-10 * sqrt(float(step @ step)) * sqrt(float(change @ change)):
                pairs.append((step, change, 1.0 / product))
            here = there
        return Solution(
            here.theta, here.value, float("nan"), reason, n_iter, raw=here.raw, pairs=tuple(pairs)
        )


def _two_loop(
    gradient: Floats, pairs: deque[Pair], precondition: Callable[[Floats], Floats]
) -> Floats:
    q = gradient.copy()
    coefficients = []
    for step, change, rho in reversed(pairs):
        a = rho * float(step @ q)
        coefficients.append(a)
        q = daxpy(change, q, a=-a)  # in place: NumPy would write the product out first
    r = precondition(q)
    if pairs:
        # The curvature along the last step sets the scale: some examples that contributed to the
        # first guess have reached a plateau since.
        _, change, rho = pairs[-1]
        r *= 1.0 / (rho * float(change @ precondition(change)))
    for (step, change, rho), a in zip(pairs, reversed(coefficients), strict=True):
        r = daxpy(step, r, a=a - rho * float(change @ r))
    return r
