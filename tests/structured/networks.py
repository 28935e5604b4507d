"""Small random networks and what listing every labelling says about them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bblr.structured.groups import Group, join


@dataclass(frozen=True, eq=False)
class Problem:
    """Groups with odds, couplings and a penalty."""

    groups: list[Group]
    odds: Any
    couplings: Any
    penalty: float

    @property
    def network(self) -> Any:
        return join(self.groups)


def random_problem(rng, *, most=6, n_groups=1, density=0.5, scale=2.0) -> Problem:
    """Groups of up to `most` members in a few containers, some of them compared."""
    groups = []
    for _ in range(n_groups):
        n = int(rng.integers(0, most + 1))
        containers = rng.integers(0, max(1, n // 2 + 1), size=n)
        every = np.array([(i, j) for i in range(n) for j in range(i)], dtype=int).reshape(-1, 2)
        kept = every[rng.random(len(every)) < density]
        flip = rng.random(len(kept)) < 0.5
        kept[flip] = kept[flip][:, ::-1]
        groups.append(Group(np.zeros((n, 1)), containers, kept, rng.random(len(kept))))
    network = join(groups)
    return Problem(
        groups,
        rng.normal(scale=scale, size=network.n_members),
        rng.normal(scale=scale, size=len(network.pairs)),
        float(rng.exponential(2.0)),
    )


def brute_force(problem: Problem, constraint: str | None, active: Any) -> dict[str, Any]:
    """Score every labelling of every group, one at a time."""
    network = problem.network
    found: dict[str, Any] = {
        "member": np.zeros(network.n_members),
        "both": np.zeros(len(network.pairs)),
        "excess": np.zeros(network.n_groups),
        "log_partition": np.zeros(network.n_groups),
        "best": np.full(network.n_groups, -np.inf),
    }
    for g, (start, stop) in enumerate(zip(network.offsets[:-1], network.offsets[1:], strict=True)):
        inside = [
            (k, a - start, b - start)
            for k, (a, b) in enumerate(network.pairs)
            if start <= a < stop and active[k]
        ]
        weights, states = [], []
        for y in product((0, 1), repeat=stop - start):
            score, excess = score_labels(
                y, problem, network.containers[start:stop], start, inside, constraint
            )
            if score > -np.inf:
                found["best"][g] = max(found["best"][g], score)
                weights.append(np.exp(score))
                states.append((y, excess))
        total = sum(weights)
        found["log_partition"][g] = np.log(total)
        for weight, (y, excess) in zip(weights, states, strict=True):
            found["member"][start:stop] += weight / total * np.array(y)
            found["excess"][g] += weight / total * excess
            for k, a, b in inside:
                found["both"][k] += weight / total * y[a] * y[b]
    return found


def score_labels(y, problem, containers, start, inside, constraint):
    score = sum(problem.odds[start + i] for i in range(len(y)) if y[i])
    score += sum(problem.couplings[k] for k, a, b in inside if y[a] and y[b])
    counts: dict[int, int] = {}
    for i, m in enumerate(containers):
        counts[m] = counts.get(m, 0) + y[i]
    excess = sum(max(count - 1, 0) for count in counts.values())
    if constraint is None:
        return score, 0
    if constraint == "hard":
        return (score, 0) if excess == 0 else (-np.inf, excess)
    return score - problem.penalty * excess, excess


def draw(rng, n_groups=120, size=4, several=0.0, signal=1.2):
    """Groups with one right candidate, now and then a second one, and two containers."""
    groups = []
    for _ in range(n_groups):
        n = int(rng.integers(1, size + 1))
        labels = np.zeros(n, dtype=int)
        labels[rng.integers(n)] = rng.random() < 0.85
        if n > 1 and rng.random() < several:
            labels[:2] = 1
        X = signal * labels[:, None] * [1.0, 0.5] + rng.normal(size=(n, 2))
        index = np.array([(i, j) for i in range(n) for j in range(i)], dtype=int).reshape(-1, 2)
        both = labels[index].all(axis=1)
        close = np.clip(rng.normal(np.where(both, 0.8, 0.4), 0.15), 0, 1)
        names = rng.choice(1000, size=n, replace=False)
        groups.append(Group(X, None, index, close, labels, names))
    return groups
