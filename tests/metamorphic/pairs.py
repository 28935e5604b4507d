"""Pairs of fits that must agree, and how far apart they were."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from tests.metamorphic.problems import draw
from tests.metamorphic.relations import RELATIONS, consistent, gap, most_apart, takes_many_steps

# The pairs of which a descent takes many steps, of any relation.
LONG = "many steps"


class Pairs:
    """What was compared so far.

    Parameters
    ----------
    relations : sequence of str
        The relations to try; all if there are none.
    """

    def __init__(self, relations: Sequence[str] = ()) -> None:
        self.names = list(relations) or list(RELATIONS)
        self.gaps: dict[str, list[float]] = defaultdict(list)
        self.counts: Counter[str] = Counter()
        self.beyond: list[str] = []

    @property
    def tried(self) -> int:
        """How many pairs were compared."""
        return sum(map(len, self.gaps.values()))

    def add(self, seed: int, estimators: tuple[str, ...], most: int) -> Iterator[str]:
        """Compare the problem of a seed in some ways; yield a line for what is wrong."""
        problem, rng = draw(seed, estimators), np.random.default_rng(seed + 1)
        what = f"{seed}: {problem.name}({_told(problem.params)})"
        try:
            if not consistent(problem):
                yield self._wrong(f"{what}: predict is not the argmax of scores or probabilities")
            base = problem.scores
        except ValueError as error:
            yield f"{what} was refused: {str(error)[:150]}"
            return
        assert np.isfinite(base).all(), what
        for name in rng.permutation(self.names)[:most]:
            put = RELATIONS[name](problem, rng)
            if put is None:
                continue
            apart = gap(problem, *put)
            if takes_many_steps(problem, put[0]):
                self.gaps[LONG].append(apart)
                continue
            self.gaps[name].append(apart)
            if not apart <= most_apart(name, problem):
                self.counts[name] += 1
                yield self._wrong(f"{what}: {name} moves scores by {apart:.2g}")

    def _wrong(self, line: str) -> str:
        self.beyond.append(line)
        return line

    def report(self) -> str:
        """Return a table of relations."""
        lines = [f"{'relation':<14} {'pairs':>7} {'largest':>8} {'beyond':>6}"]
        for name in [*self.names, LONG]:
            gaps = np.array(self.gaps[name] or [0.0])
            lines.append(
                f"{name:<14} {len(self.gaps[name]):>7,} {gaps.max():>8.1e} {self.counts[name]:>6}"
            )
        return "\n".join(lines)


def _told(params: dict[str, object]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in params.items())
