"""One fit of the zero-one classifier: a start, a solver, and the best hyperplane found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from bblr.designs import ScaledDesign, make_design
from bblr.inputs import Training
from bblr.linear.fitted import Floats
from bblr.linear.sla import GAMMAS, SEARCH, anneal_sigmoid
from bblr.losses import Sigmoid, ZeroOne
from bblr.objective import Objective
from bblr.penalties import Gaussian
from bblr.solvers.zero_one import (
    Boxes,
    BranchAndBound,
    CombinatorialApproximation,
    CombinatorialSearch,
    Enumeration,
    LineSearch,
    Progress,
    VertexSearch,
    ZeroOneProblem,
    separate,
    separating,
    sweep,
)
from bblr.solvers.zero_one.proofs.exact import MAX_SIZE
from bblr.training.monitor import FitMonitor
from bblr.zero_one.starts import (
    StopEarly,
    Timed,
    annealed_start,
    joined,
    middle_of_cell,
    rough_start,
    support_vector_start,
    unit_normal,
)

# Multiplications for a Newton step up to which a first sweep takes milliseconds at most.
_EARLY = 1_000_000

# From parameters to the normal of a hyperplane and its intercept.
Plane = Callable[[Floats], tuple[Floats, float]]
# A hyperplane, and by how much its loss may exceed a bound and still be proved optimal.
Found = tuple[Floats, float, float]


@dataclass(frozen=True, eq=False)
class Run:
    """The state of one fit.

    Parameters
    ----------
    solver : str
        Name of the solver.
    fit_intercept : bool
        Whether there is an intercept.
    n_jobs : int or None
        Threads of the solver.
    training : Training
        The training rows.
    progress : Progress
        Time limit, and the best solution so far.
    monitor : FitMonitor
        Reports each step, and may stop the fit.
    random_state : int, RandomState or None
        Seed of the random numbers.
    unpack : callable
        Sets the fitted attributes, from the estimator, normal, intercept, slack and this run.
    """

    solver: str
    fit_intercept: bool
    n_jobs: int | None
    training: Training
    progress: Progress
    monitor: FitMonitor
    random_state: Any
    unpack: Callable[[Any, Floats, float, float, Run], None]

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random numbers; to seed them takes as long as a first sweep, which needs none."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return np.random.default_rng(seed)

    def on_table(self) -> Found:
        """Return the best hyperplane for a table of the distinct rows."""
        training, progress = self.training, self.progress
        local = training.design.rows.local
        problem = ZeroOneProblem.from_data(
            training.design.table(), local(training.y), local(training.weight), self.fit_intercept
        )
        if len(problem.weight) == 0:
            # Every row contradicts an equal one, so all classifiers have the same loss.
            theta = np.random.default_rng(0).standard_normal(problem.size)
            progress.found(theta, problem.base)
            progress.raise_bound(problem.base)
            progress.reason = "every classifier has the same loss"
            return *problem.unpack(theta), problem.slack
        work = max(problem.rows.shape) * problem.size**2
        if self.solver in ("search", "mip") and work <= _EARLY:
            self._begin(problem)
        clean = self._separate_table(problem)
        if clean is not None:
            return self._separated(clean, problem.unpack, problem.slack)
        # The start is computed in standard units, so that squares do not overflow.
        points = problem.rows[:, : training.design.n_features] * problem.label[:, None]
        design = self._scaled(make_design(points), problem.weight)
        if self.solver == "sla":
            rows = problem.label, problem.weight

            def plane(theta: Floats) -> Any:
                return problem.unpack(joined(*design.plane(theta), problem.fit_intercept))

            theta = self._sla(design, *rows, problem.base, plane, problem.slack)
            theta = joined(*design.plane(theta), problem.fit_intercept)
        else:
            start = self._start(problem, design)
            progress.found(start, problem.loss(start))
            self._keep(problem.unpack, problem.slack)
            theta = self._solve_table(problem, start)
        with self.monitor.task("polish"):
            theta = middle_of_cell(problem, theta)
        progress.found(theta, problem.loss(theta))
        progress.raise_bound(problem.base)
        return *problem.unpack(theta), problem.slack

    def on_rows(self) -> Found:
        """Return the best hyperplane for rows that are too many for a table."""
        y, weight = self.training.y, self.training.weight
        design = self._scaled(self.training.design, weight)
        clean = self._separate_rows(design)
        if clean is not None:
            return self._separated(clean, design.plane, 0.0)
        if self.solver == "sla":
            theta = self._sla(design, y, weight, 0.0, design.plane, 0.0)
        else:
            objective = Objective(ZeroOne(), Gaussian(0.0), design, y, weight)
            with self.monitor.task("start"):
                start = annealed_start(design, y, weight)
            self.progress.found(start, objective.errors(start))
            self._keep(design.plane, 0.0)
            theta = self._solve(LineSearch(), objective, start, "search")
        return *design.plane(theta), 0.0

    def _separate_table(self, problem: ZeroOneProblem) -> Floats | None:
        """Return parameters without an error, where the rows are found to be separable."""
        # Enumeration refuses large problems, separable or not.
        refused = self.solver == "exact" and problem.size > MAX_SIZE
        if problem.base > 0 or refused:
            return None
        rows = np.vstack([problem.rows, problem.light]) if len(problem.light) else problem.rows
        with self.monitor.task("separation"):
            found = separating(rows, self.progress)
            y, weight = self.training.y, self.training.weight
            for theta in found:
                # Checked by the predictions of the classifier, in the units of the user.
                raw = self._distances(problem.unpack(theta))
                wrong = self.training.design.rows.errors(ZeroOne(), y, raw, weight)
                if wrong == 0 and problem.loss(theta) == 0:
                    return theta
        return None

    def _separate_rows(self, design: ScaledDesign) -> Floats | None:
        """Return parameters without an error for rows that are too many for a table."""
        training = self.training
        local = training.design.rows.local
        counted = np.flatnonzero(local(training.weight) > 0)
        y = local(training.y)[counted]

        def take(chosen: NDArray[np.intp]) -> Floats:
            some = np.asarray(training.design.some_rows(counted[chosen]))
            return np.ascontiguousarray(design.coordinates(some).T) * y[chosen, None]

        def score(theta: Floats) -> Floats:
            return np.asarray(y * local(self._distances(design.plane(theta)))[counted])

        with self.monitor.task("separation"):
            return separate(len(counted), design.size, take, score, self.progress)

    def _distances(self, plane: tuple[Floats, float]) -> Any:
        coef, intercept = unit_normal(*plane)
        return self.training.design.scores(coef[None], np.array([intercept]))

    def _separated(self, theta: Floats, plane: Plane, slack: float) -> Found:
        """Return a hyperplane that makes no error, which is optimal."""
        self.progress.found(theta, 0.0)
        self._keep(plane, slack)
        self.progress.reason = "linearly separable"
        return *plane(theta), slack

    def _scaled(self, design: Any, weight: Any) -> ScaledDesign:
        return ScaledDesign(design, weight, self.fit_intercept, z_score=self.solver == "sla")

    def _begin(self, problem: ZeroOneProblem) -> None:
        """Note what a rough fit and a line search along each direction find."""
        with self.monitor.task("first sweep"):
            start = rough_start(problem)
            self.progress.found(start, problem.loss(start))
            self._keep(problem.unpack, problem.slack)
            sweep(problem, start, self.progress)

    def _start(self, problem: ZeroOneProblem, design: ScaledDesign) -> Floats:
        with self.monitor.task("start"):
            if self.solver in ("pcs", "csa", "bnb"):
                return support_vector_start(problem)
            start = annealed_start(design, problem.label, problem.weight)
            return joined(*design.plane(start), problem.fit_intercept)

    def _keep(self, plane: Plane, slack: float) -> None:
        """Keep the best solution so far, in case the fit is interrupted."""

        def unpack(estimator: Any, _best: Any, _trace: Any) -> None:
            self.unpack(estimator, *plane(np.asarray(self.progress.theta)), slack, self)
            if self.monitor.interrupted:
                estimator.reason_ = "interrupted"

        self.monitor.unpack, self.monitor.best = unpack, self.progress

    def _solve_table(self, problem: ZeroOneProblem, start: Floats) -> Floats:
        if self.solver == "mip":
            # A good incumbent speeds up the proof, and a search takes only seconds.
            start = self._solve(VertexSearch(legs=3), problem, start, "search", self.n_jobs)
        solvers = {
            "search": VertexSearch,
            "pcs": CombinatorialSearch,
            "csa": CombinatorialApproximation,
            "bnb": BranchAndBound,
            "mip": Boxes,
            "exact": Enumeration,
        }
        solver: Any = solvers[self.solver]()
        return self._solve(solver, problem, start, self.solver, self.n_jobs)

    def _solve(
        self, solver: Any, problem: Any, start: Floats, name: str, n_jobs: int | None = None
    ) -> Floats:
        """Return the best parameters that a solver finds, reporting each step."""
        monitor, progress, steps = self.monitor, self.progress, getattr(solver, "n_steps", None)
        with (
            monitor.task(name, steps),
            progress.reported(lambda: monitor.step("step"), counted=steps is not None),
        ):
            found = solver.minimise(problem, start, progress, rng=self.rng, n_jobs=n_jobs)
        return np.asarray(found.theta)

    def _sla(
        self,
        design: ScaledDesign,
        y: Floats,
        weight: Floats,
        base: float,
        plane: Plane,
        slack: float,
    ) -> Floats:
        progress = self.progress
        objective = Objective(Sigmoid(2.0), Gaussian(0.0), design, y, weight)

        def look() -> bool:
            self._keep(plane, slack)
            return self.monitor.stopped

        try:
            timed = Timed(objective, progress, base)
            with progress.reported(look, counted=False):
                solution = anneal_sigmoid(timed, GAMMAS, SEARCH, self.monitor)
            progress.found(solution.theta, base + objective.errors(solution.theta))
            stopped = self.monitor.stopped
            progress.reason = "stopped by a callback" if stopped else "annealing ended"
        except StopEarly as stop:
            progress.reason = str(stop)
        return np.asarray(progress.theta)
