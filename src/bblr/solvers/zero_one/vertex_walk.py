"""Search for the least zero-one loss: annealed walks over vertices, and exact line searches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr._numeric.threads import num_threads
from bblr._numeric.vertices import vertex_walk
from bblr._numeric.zero_one import exact_line
from bblr.solvers.zero_one.certificates import widest
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution

_NUMBERS_A_BATCH = 20_000_000
_QUICK_LOOKS = 10
_QUICK_STEPS = 50
# Linear programmes over more numbers than this are left out.
_REPAIR_SIZE = 50_000


@dataclass(frozen=True)
class VertexSearch:
    """Several annealed walks from vertex to vertex of the arrangement, side by side.

    Walks do not hear of each other, so the search is the same for the same seed whatever the
    number of threads, unless the time limit cuts it short.

    Parameters
    ----------
    walks : int, default=2
        Walks.
    legs : int, default=10
        Legs of each walk; the temperature falls from leg to leg.
    steps : int, default=4000
        Steps of a leg.
    hot, cold : float, default=1.0, 0.15
        First and last temperature, in weights of a typical row.
    """

    walks: int = 2
    legs: int = 10
    steps: int = 4000
    hot: float = 1.0
    cold: float = 0.15

    @property
    def n_steps(self) -> int:
        """Called after each step."""
        return self.legs

    def minimise(
        self,
        problem: ZeroOneProblem,
        theta0: Floats,
        progress: Progress,
        *,
        rng: np.random.Generator,
        n_jobs: int | None = None,
        **_: Any,
    ) -> ZeroOneSolution:
        """Search from theta0."""
        progress.found(theta0, problem.loss(theta0))
        flat = _Flat.of(problem.rows)
        if flat.size < 2:
            for side in (1.0, -1.0):
                theta = flat.back(np.full(flat.size, side))
                progress.found(theta, problem.loss(theta))
            return progress.solution("two classifiers tried")
        generators = rng.spawn(self.walks)
        places = [flat.to(theta0) for _ in range(self.walks)]
        best = [place.copy() for place in places]
        lengths = np.sqrt(np.einsum("ij,ij->i", flat.rows, flat.rows))
        # The median, lest a single heavy row make the walk blind to the others.
        unit = float(np.median(problem.weight))
        heats = unit * self.hot * (self.cold / self.hot) ** (np.arange(self.legs + 1) / self.legs)
        # Steps between two looks at the clock.
        batch = max(1, min(self.steps // 10, _NUMBERS_A_BATCH // flat.rows.size))
        # A few cold steps first: they often find most of what there is in milliseconds.
        for _look in range(_QUICK_LOOKS):
            if progress.expired:
                break
            vertex_walk(
                flat.rows, lengths, problem.weight, places[0], best[0], generators[0],
                min(_QUICK_STEPS, batch), heats[-1], heats[-1],
            )  # fmt: skip
            progress.found(flat.back(best[0]), problem.loss(flat.back(best[0])))
        threads = n_jobs if n_jobs is not None and n_jobs > 0 else num_threads()
        with ThreadPoolExecutor(threads) as pool:
            for leg in range(self.legs):

                def walk(k: int, leg: int = leg) -> None:
                    for _ in range(0, self.steps, batch):
                        if progress.expired:
                            return
                        vertex_walk(
                            flat.rows, lengths, problem.weight, places[k], best[k], generators[k],
                            batch, heats[leg], heats[leg + 1],
                        )  # fmt: skip

                try:
                    list(pool.map(walk, range(self.walks)))
                except BaseException:
                    progress.halt("interrupted")  # the other walks end their leg before long
                    raise
                for theta in best:
                    progress.found(flat.back(theta), problem.loss(flat.back(theta)))
                progress.step()
                if progress.loss <= problem.base or progress.expired:
                    break
        _repair(problem, progress)
        reason = progress.limit if progress.expired else "walks ended"
        done = progress.loss <= problem.base
        return progress.solution("no avoidable errors left" if done else reason)


def sweep(problem: ZeroOneProblem, theta: Floats, progress: Progress) -> None:
    """Go to the best point along each principal direction of the rows in turn, the weakest first.

    Where rows vary least a smooth fit knows least. A line costs one sort, so this finds much of
    what there is before a walk has chosen its first vertex.
    """
    if progress.expired:
        return
    directions = np.linalg.eigh(problem.rows.T @ problem.rows)[1].T
    theta, ones = theta.copy(), np.ones(len(problem.rows))
    score = problem.rows @ theta
    for direction, change in zip(directions, directions @ problem.rows.T, strict=True):
        step, best, here = exact_line(score, change, ones, problem.weight)
        if best < here:
            theta += step * direction
            score += step * change
            progress.found(theta, problem.loss(theta))


def _repair(problem: ZeroOneProblem, progress: Progress) -> None:
    """Add wrong rows to the right ones for as long as linear programming allows.

    Walks find cells next to vertices by small pushes. Where the data are so degenerate that many
    rows pass through one vertex, pushes may miss the best cell next door; this does not.
    """
    if problem.rows.size > _REPAIR_SIZE or progress.theta is None:
        return
    gained = True
    while gained and not progress.expired:
        gained = False
        right = problem.rows @ progress.theta > 0
        for i in np.flatnonzero(~right):
            if progress.expired:
                return
            trial = right.copy()
            trial[i] = True
            theta, margin = widest(problem.rows[trial])
            if margin > 0 and progress.found(theta, problem.loss(theta)):
                gained = True
                break


@dataclass(frozen=True, eq=False)
class _Flat:
    """Rows in coordinates of their own span, of equal strength in every direction.

    The arrangement is the same in any coordinates, but it has vertices only where the rows span
    everything, and only in these coordinates is it plain which rows are independent.
    """

    rows: Floats
    frame: Floats
    strength: Floats

    @classmethod
    def of(cls, rows: Floats) -> _Flat:
        left, strength, frame = np.linalg.svd(rows, full_matrices=False)
        rank = int((strength > 1e-9 * strength.max(initial=0.0)).sum())
        unit = np.sqrt(len(rows))
        flat = np.ascontiguousarray(left[:, :rank] * unit)
        return cls(flat, frame[:rank], strength[:rank] / unit)

    @property
    def size(self) -> int:
        return self.rows.shape[1]

    def to(self, theta: Floats) -> Floats:
        return np.ascontiguousarray(self.strength * (self.frame @ theta))

    def back(self, theta: Floats) -> Floats:
        return np.ascontiguousarray((theta / self.strength) @ self.frame)
