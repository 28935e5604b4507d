"""Range search: probe each coordinate to leave a local minimum (Algorithm 2, stage 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr.solvers.protocols import Probed
from bblr.solvers.solution import Floats, Solution, require


@dataclass(frozen=True)
class RangeSearch:
    """Try the steps -radius ... radius, `spacing` apart, on every parameter.

    Parameters
    ----------
    radius : float, default=8
        Longest step, R.
    spacing : float, default=0.2
        Distance between steps, epsilon_S.
    min_gain : float, default=0.1
        A step counts only if the objective falls by this much, epsilon_L.
    first : bool, default=False
        Stop at the first step that gains, the shortest of the first coordinate that has one, as
        the paper's algorithm does. Otherwise take the best step of each coordinate in turn.
    """

    radius: float = 8.0
    spacing: float = 0.2
    min_gain: float = 0.1
    first: bool = False

    def minimise(self, objective: Probed, theta0: Floats, **_: Any) -> Solution:
        """Make one sweep over the parameters; ``n_iter`` counts the steps taken."""
        require(objective, "range search", "probes", "scores", "value", "shifted")
        theta = np.array(theta0, dtype=np.float64)
        raw = objective.scores(theta)
        value = objective.value(theta, raw)
        half = max(1, int(self.radius / self.spacing * (1 + 1e-9)))
        steps = np.arange(-half, half + 1, dtype=np.float64) * self.spacing
        taken, j = 0, 0
        while j < len(theta):
            # Parameters that are evaluated together count up to the first that gains: the sweep
            # is the same for any size of a batch.
            some = range(j, min(j + getattr(objective, "batch", 1), len(theta)))
            for j, costs in zip(some, objective.probes(theta, some, steps, raw), strict=True):
                gains = value - costs
                gains[half] = -np.inf  # staying is no step
                k = self._choose(gains, half)
                if k is not None:
                    theta[j] += steps[k]
                    raw = objective.shifted(raw, j, steps[k])
                    value -= float(gains[k])
                    taken += 1
                    break
            j += 1
            if self.first and taken:
                break
        reason = "step taken" if taken else "no step gains"
        return Solution(theta, value, float("nan"), reason, taken)

    def _choose(self, gains: Floats, half: int) -> int | None:
        if not self.first:
            k = int(np.argmax(gains))
            return k if gains[k] >= self.min_gain else None
        order = np.argsort(np.abs(np.arange(-half, half + 1) - 0.25), kind="stable")
        paying = order[gains[order] >= self.min_gain]
        return int(paying[0]) if len(paying) else None
