"""The paper's gradient descent, with a learning rate that only falls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr.solvers.protocols import Smooth
from bblr.solvers.solution import Floats, Solution, require


@dataclass(frozen=True)
class GradientDescent:
    """Steps of rate 10^-1 ... 10^-6; a rate is left when it no longer pays (appendix A).

    Parameters
    ----------
    rates : tuple of float
        Learning rates, largest first.
    min_gain : float, default=0.1
        A step is kept only if the objective falls by this much (epsilon_L).
    min_gradient : float, default=0.01
        Stop when no entry of the gradient is larger (epsilon_G).
    max_iter : int, default=10_000
        Most steps.
    """

    rates: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    min_gain: float = 0.1
    min_gradient: float = 0.01
    max_iter: int = 10_000

    def minimise(self, objective: Smooth, theta0: Floats, **options: Any) -> Solution:
        """Descend from theta0 until the smallest rate gains too little."""
        require(objective, "gradient descent", "value_gradient")
        theta = np.array(theta0, dtype=np.float64)
        value, gradient, _ = objective.value_gradient(theta)
        n_iter = 0
        for rate in self.rates:
            while n_iter < self.max_iter:
                if np.abs(gradient).max() < self.min_gradient:
                    return Solution(theta, value, float("nan"), "flat gradient", n_iter)
                trial = theta - rate * gradient
                trial_value, trial_gradient, _ = objective.value_gradient(trial)
                n_iter += 1
                if not value - trial_value >= self.min_gain:
                    break
                theta, value, gradient = trial, trial_value, trial_gradient
        reason = "iteration limit" if n_iter >= self.max_iter else "smallest rate gains too little"
        return Solution(theta, value, float("nan"), reason, n_iter)
