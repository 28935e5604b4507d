"""Hard-assignment EM for a mixture prior (appendices B and C, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bblr.solvers.fisher import FisherScoring
from bblr.solvers.protocols import Descent, MixedPrior
from bblr.solvers.range_search import RangeSearch
from bblr.solvers.solution import Floats, Solution, require

Objective = TypeVar("Objective", bound=MixedPrior)


@dataclass(frozen=True)
class HardEM:
    """Assign each weight to a cluster, estimate the prior, descend, and assign again.

    When no cluster changes, each weight is probed; a step that gains starts the rounds again.

    Parameters
    ----------
    descent : object
        Minimises the objective under a given prior.
    search : RangeSearch or None
        Probes the weights.
    share : float, default=0.5
        Share of the weights, those nearest to zero, that start in the Laplacian cluster.
    max_rounds : int, default=20
        Most rounds of assignment between two probes.
    max_probes : int, default=1
        Most sweeps of probes.
    """

    descent: Descent = field(default_factory=FisherScoring)
    search: RangeSearch | None = field(default_factory=RangeSearch)
    share: float = 0.5
    max_rounds: int = 20
    max_probes: int = 1

    def minimise(self, objective: MixedPrior, theta0: Floats, **_: Any) -> Solution:
        """Return weights whose clusters do not change any more."""
        return self.settle(objective, theta0)[0]

    def settle(self, objective: Objective, theta0: Floats) -> tuple[Solution, Objective]:
        """Return the solution, and the objective with the prior that was estimated last."""
        require(
            objective, "hard EM", "weights", "with_penalty", "value_gradient", "preconditioner"
        )
        theta = np.array(theta0, dtype=np.float64)
        weights = objective.weights(theta)
        count = len(weights)
        laplacian = np.zeros(count, dtype=bool)
        nearest = np.argsort(np.abs(weights), kind="stable")
        laplacian[nearest[: round(self.share * count)]] = True
        found, objective = self._rounds(objective, theta, laplacian)
        n_iter = found.n_iter
        for _ in range(self.max_probes):
            if self.search is None:
                break
            moved = self.search.minimise(objective, found.theta)
            if moved.n_iter == 0:
                break
            laplacian = objective.penalty.laplacian(objective.weights(moved.theta))
            found, objective = self._rounds(objective, moved.theta, laplacian)
            n_iter += found.n_iter
        return replace(found, n_iter=n_iter), objective

    def _rounds(
        self, objective: Objective, theta: Floats, laplacian: NDArray[np.bool_]
    ) -> tuple[Solution, Objective]:
        n_iter, reason = 0, "round limit"
        for _ in range(self.max_rounds):
            objective = objective.with_penalty(
                objective.penalty.estimated(objective.weights(theta), laplacian)
            )
            found = self.descent.minimise(objective, theta)
            theta = found.theta
            n_iter += found.n_iter
            after = objective.penalty.laplacian(objective.weights(theta))
            if after.all():
                # The likelihood of a mixture has no bound as its scales go to zero together.
                reason = "no weight would be left"
                break
            if np.array_equal(after, laplacian):
                reason = "no cluster changes"
                break
            laplacian = after
        return replace(found, n_iter=n_iter, reason=reason), objective
