"""BnB, branch and bound over labels (Nguyen and Sanner, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr.solvers.zero_one.certificates import contradictory, widest
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution


class _Branch(NamedTuple):
    """Labels of the first rows of the order (+1 right, -1 wrong), their loss, a theta for them."""

    labels: NDArray[np.int8]
    loss: float
    theta: Floats


@dataclass(frozen=True)
class BranchAndBound:
    """Give labels to the points one by one, in depth, those farthest from the start first.

    A point gets the label of the start first and the other one later. A branch ends where its
    errors reach the best known, or where linear programming shows that no hyperplane gives these
    labels; a label whose opposite is impossible, as inside the convex hull of its class, is
    thereby forced. An impossible branch is cut off only with a proof in whole-number arithmetic.
    """

    def minimise(
        self, problem: ZeroOneProblem, theta0: Floats, progress: Progress, **_: Any
    ) -> ZeroOneSolution:
        """Search from theta0 until every branch has ended or the time is up."""
        progress.found(theta0, problem.loss(theta0))
        scores = problem.rows @ theta0
        lengths = np.maximum(np.linalg.norm(problem.rows, axis=1), 1e-300)
        order = np.argsort(-np.abs(scores) / lengths, kind="stable")
        first = np.where(scores > 0, 1, -1).astype(np.int8)
        stack = [_Branch(np.empty(0, np.int8), problem.base, np.array(theta0))]
        doubtful = np.inf
        while stack:
            stopped = progress.stop()
            if stopped:
                return progress.solution(stopped)
            node = stack.pop()
            if node.loss >= progress.loss:
                continue
            depth = len(node.labels)
            if depth == len(order):
                loss = problem.loss(node.theta)
                progress.found(node.theta, loss)
                # Rounding may hide the theta of a branch that was not proved empty.
                doubtful = min(doubtful, node.loss if loss > node.loss else np.inf)
                continue
            row = order[depth]
            for label in (-first[row], first[row]):
                child = _child(problem, order, node, np.int8(label), progress.loss)
                if child is not None:
                    stack.append(child)
        progress.raise_bound(min(progress.loss, doubtful))
        return progress.solution("every branch ended")


def _child(
    problem: ZeroOneProblem,
    order: NDArray[np.intp],
    node: _Branch,
    label: np.int8,
    limit: float,
) -> _Branch | None:
    """Return the node with one more label, or None where it cannot lead below the limit."""
    row = order[len(node.labels)]
    loss = node.loss + (problem.weight[row] if label < 0 else 0.0)
    if loss >= limit:
        return None
    labels = np.append(node.labels, label)
    if label * (problem.rows[row] @ node.theta) > 0:
        return _Branch(labels, loss, node.theta)
    chosen = order[: len(labels)]
    theta, margin = widest(labels[:, None] * problem.rows[chosen])
    if margin <= 1e-9 and contradictory(
        labels[:, None] * problem.rows[chosen], labels[:, None] * problem.given[chosen]
    ):
        return None
    return _Branch(labels, loss, theta)
